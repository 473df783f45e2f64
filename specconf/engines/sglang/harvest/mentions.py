"""The messages about speculation, out of those parts of a release's server that speak of it at all.

Parsing everything would take most of a harvest's time, so a class or function that says nothing relevant is left out
first, by its lines: the others keep their line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specconf.errors import HarvestError
from specconf.harvest.archive import Archive
from specconf.harvest.intervals import Row
from specconf.harvest.messages import EAGLE, MTP, NGRAM, SAYERS, message_rows

_FOLDER = "sglang/srt"
# Parts of the server that are tools of its developers, and diffusion models, which accept blocks without a draft.
_LEFT_OUT = ("sglang/srt/debug_utils/", "sglang/srt/kv_canary/", "sglang/srt/dllm/")
RELEVANT = re.compile(
    rf"(?i)specul|draft|{EAGLE}|next_?n\b|{MTP}|{NGRAM}|spec_(?:algo|v2|steps|token|topk|overlap)|spec v[12]"
    r"|dflash|dspark|\bis_standalone\b|(?-i:\bSTANDALONE\b|(?<![A-Za-z])(?:uno|Uno|UNO)(?![a-z]))"
    r"|accept_(?:len|rate|thresh|tokens)|(?:ragged[ _]|target[ -])verify|overlap schedul|overlap_schedule"
)
# The same for text in lower case, by words that are fast to look for.
_WORDS = (
    *(
        "specul",
        "draft",
        "eagle",
        "nextn",
        "next_n",
        "mtp",
        "ngram",
        "spec_",
        "spec v",
        "dflash",
        "dspark",
        "standalone",
    ),
    *("uno", "accept_", "overlap", "verify"),
)
# What is only told, and neither refused nor warned about, is left out.
_SAYERS = {name: kind for name, kind in SAYERS.items() if kind != "info"}
_START = re.compile(r"^[^\s#)\]}'\"]", re.MULTILINE)
_BLOCK = re.compile(r"(?:@|class |def |async def )")


def speculation_messages(archive: Archive, release: str) -> list[Row]:
    """The rows of the messages that speculation's words stand in or around."""
    parts = {file: text for file in archive.below(_FOLDER) if (text := _relevant_part(archive, file))}
    try:
        return message_rows(
            Archive(parts, lambda file: parts[file].encode(), archive.origin), release, RELEVANT, _SAYERS
        )
    except HarvestError:
        whole = Archive(parts, lambda file: archive.text(file).encode(), archive.origin)
        return message_rows(whole, release, RELEVANT, _SAYERS)


def _relevant_part(archive: Archive, file: str) -> str:
    """A file's text without the blocks that are not relevant; empty for a file that has none."""
    if file.startswith(_LEFT_OUT):
        return ""
    text = archive.text(file)
    if RELEVANT.search(file):
        return text
    return "".join(_kept(text)) if _mentions(text) else ""


def _mentions(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _WORDS) and bool(RELEVANT.search(lower))


def _kept(text: str) -> Iterator[str]:
    """The statements at the top level of a text, a class or function that is not relevant as empty lines."""
    for block in _blocks(text):
        balanced = not block.count('"""') % 2 and not block.count("'''") % 2
        if balanced and _BLOCK.match(block) and not _mentions(block):
            yield "\n" * block.count("\n")
        else:
            yield block


def _blocks(text: str) -> Iterator[str]:
    """The text cut before every statement at its top level; decorators stay with what they decorate."""
    start, decorated = 0, False
    for match in _START.finditer(text):
        if not decorated:
            yield text[start : match.start()]
            start = match.start()
        decorated = match[0] == "@"
    yield text[start:]
