"""Questions to bash's syntax tree that need no walker: which ranges are words, what a heredoc writes and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specconf.readers.expansion import Scope, heredoc_text
from specconf.readers.source import SourceText
from specconf.readers.wrappers import program_name
from specconf.words import Word

if TYPE_CHECKING:
    from tree_sitter import Node

_NO_WORDS = frozenset(
    {"file_redirect", "heredoc_redirect", "herestring_redirect", "comment", "variable_assignment", "ERROR"}
)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_OUTPUTS = frozenset({">", ">>", ">|"})


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a command writes from its heredoc."""

    name: str
    appends: bool


def descendants(node: Node, kind: str) -> Iterator[Node]:
    """Every node of a kind inside `node`, itself included."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == kind:
            yield current
        stack.extend(current.children)


def word_ranges(node: Node, source: SourceText) -> list[tuple[int, int]]:
    """The byte ranges of the words of a command or array.

    The parser ends a word at some escaped spaces and continued lines: pieces with nothing else between them are one.
    """
    ranges: list[tuple[int, int]] = []
    for child in node.children:
        bracket = node.type == "array" and child.type in {"(", ")"}
        if bracket or child.type in _NO_WORDS or child.start_byte == child.end_byte:
            continue
        if ranges and not _separates(source.slice(ranges[-1][1], child.start_byte)):
            ranges[-1] = (ranges[-1][0], child.end_byte)
        else:
            ranges.append((child.start_byte, child.end_byte))
    return ranges


def _separates(gap: str) -> bool:
    """Whether the text between two pieces ends a word."""
    return _ESCAPED.sub("", gap) != ""


def words_behind_redirects(node: Node, source: SourceText) -> tuple[tuple[int, int], ...]:
    """The words of a command that stand after one of its redirects, which the parser counts to the redirect."""
    ranges: list[tuple[int, int]] = []
    for redirect in node.children_by_field_name("redirect"):
        if redirect.type == "file_redirect":
            first, *others = redirect.children_by_field_name("destination") or [redirect]
            end = first.end_byte
            for word in others:
                if _separates(source.slice(end, word.start_byte)):
                    ranges.append((word.start_byte, word.end_byte))
                elif ranges and ranges[-1][1] == end:
                    ranges[-1] = (ranges[-1][0], word.end_byte)
                end = word.end_byte
        elif redirect.type == "heredoc_redirect":
            ranges += [(word.start_byte, word.end_byte) for word in redirect.children_by_field_name("argument")]
    return tuple(ranges)


def written_file(
    words: Sequence[Word], redirects: Sequence[Node], expand: Callable[[int, int], list[Word]]
) -> WrittenFile | None:
    """The file that `cat > F <<E` or `tee F <<E` writes, when its name is known."""
    if words and program_name(words[0]) == "sudo":
        words = words[1:]
    program = program_name(words[0]) if words else ""
    if program == "tee":
        values = [word.value for word in words[1:]]
        names = [value for value in values if value is not None and not value.startswith("-")]
        return WrittenFile(names[0], appends="-a" in values or "--append" in values) if names else None
    if program != "cat":
        return None
    for redirect in redirects:
        operator = next((child.type for child in redirect.children if child.type in _OUTPUTS), "")
        destination = redirect.child_by_field_name("destination")
        if redirect.type != "file_redirect" or destination is None or not operator:
            continue
        found = expand(destination.start_byte, destination.end_byte)
        if len(found) == 1 and found[0].value is not None:
            return WrittenFile(found[0].value, appends=operator == ">>")
    return None


def heredoc_body(heredoc: Node, source: SourceText, scope: Scope) -> str | None:
    """The text of a heredoc; None when it holds an unknown part. A quoted delimiter makes the body literal."""
    parts = {child.type: child for child in heredoc.children}
    start, body, end = (parts.get(f"heredoc_{part}") for part in ("start", "body", "end"))
    if start is None:
        return None
    if body is None:
        return ""
    if body.has_error:
        return None
    text = source.slice(body.start_byte, end.start_byte if end is not None else body.end_byte)
    if "<<-" in parts:
        text = "\n".join(line.lstrip("\t") for line in text.split("\n"))
    quoted = any(quote in source.text_of(start) for quote in "'\"\\")
    return text if quoted else heredoc_text(text, scope)
