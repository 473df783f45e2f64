"""Questions to bash's syntax tree that need no walker: what a heredoc holds, and which file it is written to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from specconf.readers.scope import Scope
from specconf.readers.source import Placed, SourceText
from specconf.readers.wrappers import program_name
from specconf.readers.writing import filled_heredoc, without_tabs
from specconf.words import Word

if TYPE_CHECKING:
    from tree_sitter import Node

_ARITHMETIC = re.compile(rb"\(\([^()\n]*<<[^()\n]*\)\)")
_OUTPUTS = frozenset({">", ">>", ">|"})


class WrittenFile(Struct, frozen=True):
    """A file that a command writes from its heredoc."""

    name: str
    appends: bool


def parsed(source: SourceText) -> Node:
    """The syntax tree of a text.

    The grammar takes a shift of bits in a default (`${A:-$((1 << 30))}`) for a heredoc, and then reads nothing to the end: a
    text with errors is parsed again with its shifts as sums, which have the same length.
    """
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    parser = Parser(Language(tree_sitter_bash.language()))
    root = parser.parse(source.data).root_node
    if not root.has_error or not _ARITHMETIC.search(source.data):
        return root
    summed = parser.parse(_ARITHMETIC.sub(lambda match: match[0].replace(b"<<", b"+ "), source.data)).root_node
    return root if summed.has_error else summed


def outermost(node: Node, kinds: frozenset[str]) -> list[Node]:
    """The nodes of some kinds inside `node`, in the order in which they are written; nothing inside of these."""
    found, stack = [], list(reversed(node.children))
    while stack:
        current = stack.pop()
        if current.type in kinds:
            found.append(current)
        else:
            stack.extend(reversed(current.children))
    return found


def descendants(node: Node, kind: str) -> Iterator[Node]:
    """Every node of a kind inside `node`, itself included."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == kind:
            yield current
        stack.extend(current.children)


def broken_parts(root: Node) -> list[Node]:
    """The parts of a tree that the parser could not read, in the order in which they are written."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR" or node.is_missing:
            found.append(node)
        stack.extend(node.children)
    return sorted(found, key=lambda node: node.start_byte)


def written_file(
    words: Sequence[Word], redirects: Sequence[Node], expand: Callable[[int], list[Word]]
) -> WrittenFile | None:
    """The file that `cat > F <<E`, `tee F <<E` or `echo … > F` writes, when its name is known."""
    if words and program_name(words[0]) == "sudo":
        words = words[1:]
    program = program_name(words[0]) if words else ""
    if program == "tee":
        values = [word.value for word in words[1:]]
        names = [value for value in values if value is not None and not value.startswith("-")]
        return WrittenFile(names[0], appends="-a" in values or "--append" in values) if names else None
    if program not in {"cat", "echo", "printf"}:
        return None
    for redirect in redirects:
        operator = next((child.type for child in redirect.children if child.type in _OUTPUTS), "")
        destination = redirect.child_by_field_name("destination")
        if redirect.type != "file_redirect" or destination is None or not operator:
            continue
        found = expand(destination.start_byte)
        if len(found) == 1 and found[0].value is not None:
            return WrittenFile(found[0].value, appends=operator == ">>")
    return None


def heredoc_body(heredoc: Node, source: SourceText, scope: Scope) -> Placed | None:
    """The text of a heredoc, with holes for what is not known in it. A quoted delimiter makes the body literal."""
    parts = {child.type: child for child in heredoc.children}
    start, body, end = (parts.get(f"heredoc_{part}") for part in ("start", "body", "end"))
    if start is None:
        return None
    if body is None:
        return source.part(0, 0)
    first, last = source.range_of(body)
    text = source.part(first, source.index(end.start_byte) if end is not None else last)
    if "<<-" in parts:
        text = without_tabs(text)
    quoted = any(quote in source.text_of(start) for quote in "'\"\\")
    return text if quoted else filled_heredoc(text, scope)
