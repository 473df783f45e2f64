"""Releases that requirements state: `vllm==0.33.0` in a list of them, in a pin beside a launcher, in inline metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specconf.patterns import pattern
from specconf.readers.fragments import Document
from specconf.readers.source import Placed, SourceText
from specconf.readers.stated import Firmness, Stated
from specconf.words import Word

PACKAGES = {"vllm": "vllm", "sglang": "sglang", "tensorrt-llm": "tensorrt-llm", "tensorrt_llm": "tensorrt-llm"}
_CONSTRAINT = r"(?:===?|~=|!=|<=|>=|<|>)\s*[\w.*+!-]+"
_PIN = pattern(
    rf"(?<![\w./-])(?P<name>vllm|sglang|tensorrt[-_]llm)(?:\[[\w\s,.-]*\])?\s*(?P<rule>{_CONSTRAINT}(?:\s*,\s*{_CONSTRAINT})*)",
    re.IGNORECASE,
)
_EXACT = pattern(r"===?\s*(?P<release>[\w.!-]+?)(?:\+[\w.]+)?\Z")
_REQUIRED = pattern(
    r"(?P<name>vllm|sglang|tensorrt[-_]llm)(?:\[[^\]]*\])?(?:@|===?)v?(?P<release>\d[\w.!-]*)(?:\+[\w.]+)?\Z", re.I
)
_SCRIPT = pattern(r"^# /// script[ \t]*\n(?P<body>(?:#(?: .*)?\n)+?)# ///[ \t]*$", re.MULTILINE)
# Files beside a launcher that say what is installed.
BESIDE = ("requirements.txt", "pyproject.toml")


def pins_in(text: Placed, how: str) -> Iterator[Stated]:
    """What the requirements in a text state, in the order in which they are written."""
    for match in _PIN.finditer(text.text):
        engine = PACKAGES[match["name"].lower()]
        exact = _EXACT.match(match["rule"])
        span = text.span_of(match.start(), match.end())
        if exact is not None and "*" not in match["rule"]:
            yield Stated(engine, exact["release"], Firmness.EXACT, how, span)
        else:
            yield Stated(engine, re.sub(r"\s+", "", match["rule"]), Firmness.RANGE, how, span)


def metadata_pins(source: SourceText) -> list[Stated]:
    """The dependencies in a script's inline metadata (PEP 723)."""
    match = _SCRIPT.search(source.text)
    return list(pins_in(source.part(match.start("body"), match.end("body")), "inline metadata")) if match else []


def pins_beside(document: Document) -> list[Stated]:
    """What the files beside a document require; comments are no requirements."""
    folder = document.path.replace("\\", "/").rpartition("/")[0]
    found: list[Stated] = []
    for name in BESIDE:
        text = document.around(name)
        if text is None:
            continue
        source = SourceText(text, f"{folder}/{name}" if folder else name)
        start = 0
        for line in text.split("\n"):
            written = line.partition("#")[0]
            found += pins_in(source.part(start, start + len(written)), name)
            start += len(line) + 1
    return found


def required(words: tuple[Word, ...]) -> tuple[Stated, ...]:
    """What the requirements say that a command is run with: `vllm@0.33.0`, `vllm==0.33.0`, several with commas."""
    found: list[Stated] = []
    for word in words:
        for one in (word.value or "").split(","):
            match = _REQUIRED.match(one.strip())
            if match is not None:
                found.append(
                    Stated(PACKAGES[match["name"].lower()], match["release"], Firmness.EXACT, "pin", word.span)
                )
    return tuple(found)


def by_firmness(stated: list[Stated]) -> tuple[Stated, ...]:
    """The firmest first, otherwise in the order given."""
    order = [Firmness.EXACT, Firmness.FORK, Firmness.RANGE, Firmness.FLOATING]
    return tuple(sorted(stated, key=lambda one: order.index(one.firmness)))
