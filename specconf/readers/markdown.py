"""Markdown: the fenced code of a text, each read as a file of its kind. Only on request: prose shows faulty commands, too.

What cannot be read is no deploy file but an illustration, and is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.readers.found import ReadLaunch
from specconf.readers.fragments import Document, Fragment
from specconf.readers.source import Placed, joined
from specconf.readers.templates import Template

_FENCE = pattern(r"(?P<indent>[ \t]*(?:>[ \t]?)?)(?P<mark>`{3,}|~{3,})\s*(?:\{?\.?(?P<kind>[\w+-]*)[^`\n]*)?\s*\Z")
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "shell-session", "shellscript", ""})
_PROMPT = pattern(r"\s*(?:\$|#(?=\s+(?:vllm|docker|python|sglang|trtllm))|\(\w+\)\s*\$)\s+")
_NAMES = {
    "yaml": "fence.yaml", "yml": "fence.yaml", "dockerfile": "Dockerfile", "docker": "Dockerfile", "python": "fence.py",
    "py": "fence.py", "makefile": "Makefile", "make": "Makefile", "powershell": "fence.ps1", "ps1": "fence.ps1",
    "bat": "fence.bat", "batch": "fence.bat", "ini": "fence.service", "systemd": "fence.service",
}  # fmt: skip
# `<MODEL>`, `[OPTIONS]` and `...` are for the reader of the text to fill in.
_PLACEHOLDER = pattern(r"<[A-Za-z][\w ./:-]*>|\[[A-Z][A-Z_ ]+\](?=\s|\Z)|(?<!\S)(?:\.\.\.|…)(?!\S)|\{\{.{0,500}?\}\}")


class _Fence(Struct, frozen=True):
    kind: str
    lines: tuple[Placed, ...]


def launches(document: Document) -> Iterator[ReadLaunch]:
    """The launches in the fences of a text, in order."""
    for fence in _fences(document):
        if not fence.lines:
            continue
        try:
            yield from _in_fence(fence, document)
        except InputError:
            continue  # an excerpt, pseudo-code, or another language


def _fences(document: Document) -> Iterator[_Fence]:
    opened: re.Match[str] | None = None
    lines: list[Placed] = []
    start = 0
    for written in document.text.split("\n"):
        line = document.source.part(start, start + len(written.removesuffix("\r")))
        start += len(written) + 1
        found = _FENCE.match(line.text)
        if opened is None:
            if found:
                opened, lines = found, []
        elif found and not found["kind"] and found["mark"].startswith(opened["mark"]):
            yield _Fence((opened["kind"] or "").lower(), tuple(lines))
            opened = None
        else:
            indent = len(opened["indent"])
            blanks = line.text[:indent].strip(" \t>") == ""
            lines.append(line.part(min(indent, len(line.text)), len(line.text)) if blanks else line)


def _in_fence(fence: _Fence, document: Document) -> list[ReadLaunch]:
    from specconf.readers.launches import in_fragment
    from specconf.readers.registry import detected_format

    if fence.kind in _SHELLS:
        template = Template(_PLACEHOLDER)
        script = template.text(joined(_commands(fence)))
        return in_fragment(Fragment(script=script, holes=template.holes), document.path)
    name = _NAMES.get(fence.kind)
    if name is None:
        return []
    text = _alone(fence)
    chosen = detected_format(name, "\n".join(line.text for line in fence.lines))
    if chosen is None or chosen.name == "engine-yaml":
        return []  # options without an engine's name beside them
    return chosen.read(Document(document.path, text, engine=document.engine))


def _commands(fence: _Fence) -> list[Placed]:
    """The lines that are typed: with prompts, only those behind one and those that continue them."""
    if not any(_PROMPT.match(line.text) for line in fence.lines):
        return list(fence.lines)
    found: list[Placed] = []
    continues = False
    for line in fence.lines:
        prompt = _PROMPT.match(line.text)
        if prompt or continues:
            found.append(line.part(prompt.end(), len(line.text)) if prompt and not continues else line)
        else:
            found.append(line.part(0, 0))
        continues = line.text.endswith("\\") and (continues or prompt is not None)
    return found


def _alone(fence: _Fence) -> str:
    """The whole text with nothing but the fence in it, so that its lines keep their numbers."""
    first = fence.lines[0].span.line
    return "\n" * (first - 1) + "\n".join(line.text for line in fence.lines) + "\n"
