"""Places of a script that hold the words which start an engine although no launch was found there: what may have been missed.

Comments, messages and searches for processes only speak of engines, so they are no such places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from specconf.patterns import pattern
from specconf.readers.expansion import expand
from specconf.readers.found import ReadLaunch
from specconf.readers.programs import MENTION, as_program, match_program, prints_only
from specconf.readers.scope import Scope
from specconf.readers.source import SourceText
from specconf.readers.splitting import split_words
from specconf.readers.syntax import parsed
from specconf.readers.wrappers import ASSIGNMENT, behind_wrappers
from specconf.words import Span, Word

if TYPE_CHECKING:
    from tree_sitter import Node

# Commands that print, search or look at what runs, by their names and by how names of such functions begin.
_SPEAKS = pattern(
    r"(?:echo|printf|cat|e?grep|fgrep|rg|pgrep|pkill|kill|killall|ps|awk|gawk|sed|tr|cut|jq|curl|git|pip|which|type|test|\[|true|false"
    r"|logger|notify-send|man|read|date|head|tail|sort|wc|find|ls|rm|mkdir|cd|export|unset|alias|complete|docker-build)\Z"
    r"|_*(?:log|print|echo|info|warn|err|error|die|fail|usage|help|msg|message|note|say|show|title|header|banner|section|step|debug"
    r"|assert|success|wait|kill|stop|cleanup|check|is_|has_)",
    re.IGNORECASE,
)
_CONDITIONS = frozenset({"test_command", "test_operator", "regex"})
_TEXTS = frozenset({"string", "raw_string", "ansi_c_string", "translated_string", "heredoc_body"})
_MOST_WORDS = 60
_BEGINS = pattern(r"[\n;|&({`]|\b(?:then|do|else)\s")


def unclaimed(text: str, path: str, launches: Iterable[ReadLaunch]) -> list[Span]:
    """The places in a script that would start an engine and that no launch stands on."""
    if MENTION.search(text) is None:
        return []
    taken = set(_lines(path, launches))
    source = SourceText(text, path)
    left = [match for match in MENTION.finditer(text) if source.span_of(match.start(), match.end()).line not in taken]
    if not left:
        return []
    root = parsed(source)
    return [source.span_of(*match.span()) for match in left if _may_start(match, source, root)]


def _lines(path: str, launches: Iterable[ReadLaunch]) -> Iterator[int]:
    """The lines that launches and their words stand on."""
    for item in launches:
        for span in (item.launch.span, *(word.span for word in (*item.launch.argv, *item.orphans))):
            if span is not None and span.path == path:
                yield from range(span.line, max(span.line, span.end_line) + 1)


def _may_start(match: re.Match[str], source: SourceText, root: Node) -> bool:
    offset = len(source.text[: match.start()].encode("utf-8", "surrogatepass"))
    inner: Node | None = root.descendant_for_byte_range(offset, offset + 1)
    around: Node | None = None
    while inner is not None:
        if inner.type == "comment" or inner.type in _CONDITIONS:
            return False
        if around is None and inner.type in _TEXTS:
            around = inner
        if inner.type in ("command", "redirected_statement"):
            command = inner if inner.type == "command" else inner.child_by_field_name("body")
            name = command.child_by_field_name("name") if command is not None else None
            if name is not None and _SPEAKS.match(source.text_of(name)):
                return False
            if inner.type == "command" and around is None:
                return _holds_launch(source.text[source.index(inner.start_byte) :])
            break
        inner = inner.parent
    return _is_launch(_words(_segment(match, source, around)), written=around is not None)


def _segment(match: re.Match[str], source: SourceText, around: Node | None) -> str:
    """The command that a mention is in, as far back as it may begin."""
    start, end = 0, len(source.text)
    if around is not None:
        start, end = source.range_of(around)
        if around.type != "heredoc_body":
            start, end = start + source.text_of(around).find(source.text_of(around).lstrip("$")) + 1, end - 1
    begins = [found.end() for found in _BEGINS.finditer(source.text, start, match.start())]
    return source.text[max([start, *begins]) : end]


def _words(text: str) -> tuple[Word, ...]:
    """The words of the command that a text begins with."""
    words: list[Word] = []
    for start, end in split_words(text, len(text) - len(text.lstrip()))[:_MOST_WORDS]:
        words += expand(text[start:end], None, Scope())
    return tuple(words)


def _holds_launch(text: str) -> bool:
    """Whether an unknown command is given the words of a launch."""
    words = _words(text)
    return any(_is_launch(words[at:], written=False) for at in range(len(words)))


def _is_launch(words: tuple[Word, ...], *, written: bool) -> bool:
    """Whether words start an engine; in a text that is only `written`, with words of its own behind the program's."""
    while words and ASSIGNMENT.match(words[0].text):
        words = words[1:]
    argv = as_program(behind_wrappers(words).words) if words else ()
    found = match_program(argv)
    return found is not None and not prints_only(argv[found.length - 1 :]) and (len(argv) > found.length or not written)
