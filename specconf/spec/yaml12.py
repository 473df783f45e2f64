"""YAML 1.2 (and so JSON) text to nodes with places, on PyYAML's parser (libyaml when present) and our own resolver.

Nothing is ever constructed or executed: tags outside the core schema, merge keys, second documents, duplicate keys,
deep nesting and alias bombs are refused by name. This module must stay free of pydantic.
"""

from __future__ import annotations

from typing import Any

import yaml

from specconf.spec.core_schema import TAG_PREFIX, ScalarError, check_characters, resolve_plain, resolve_tagged
from specconf.spec.nodes import Entry, Mapping, Node, Scalar, Sequence, moved
from specconf.spec.problems import Problem, SpecError
from specconf.spec.text import character_at, decode
from specconf.words import Span

MAX_DEPTH = 64
MAX_ALIASED_NODES = 10_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def compose(data: str | bytes, path: str, *, loader: Any = None) -> Node:
    """The one document of a file as nodes; a `SpecError` names everything that is wrong with it."""
    text = decode(data, path)
    composer = _Composer(text, path, loader or _Loader)
    try:
        node = composer.document()
    except yaml.MarkedYAMLError as error:
        raise SpecError([*composer.problems, _syntax_problem(error, text, path)]) from None
    except yaml.YAMLError as error:
        raise SpecError([Problem(Span(path, 1, 1), f"this is not YAML: {error}")]) from None
    finally:
        composer.close()
    if composer.problems:
        raise SpecError(composer.problems)
    return node


class _Composer:
    """Events to nodes. Problems that do not end the reading are collected; the others are raised."""

    def __init__(self, text: str, path: str, loader: Any) -> None:
        self._path = path
        self._parser = loader(text)
        self._anchors: dict[str, Node | None] = {}
        self._aliased = 0
        self.problems: list[Problem] = []

    def close(self) -> None:
        """Let the parser drop its state."""
        self._parser.dispose()

    def document(self) -> Node:
        """The only document of the stream."""
        self._parser.get_event()
        start = self._parser.get_event()
        if isinstance(start, yaml.StreamEndEvent):
            raise self._empty()
        if start.version is not None and start.version != (1, 2):
            self._problem(start, "a spec is read as YAML 1.2", "remove the %YAML line")
        node = self._node(self._parser.get_event(), 1)
        if isinstance(node, Scalar) and node.plain and not node.text:
            raise self._empty()
        self._parser.get_event()
        after = self._parser.get_event()
        if not isinstance(after, yaml.StreamEndEvent):
            self._problem(after, "a second document starts here, a spec is one", "write one spec per file")
        return node

    def _empty(self) -> SpecError:
        return SpecError(
            [Problem(Span(self._path, 1, 1), "the file is empty", "`specconf: 1` is the first line of a spec")]
        )

    def _node(self, event: Any, level: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, level)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            node: Node = self._scalar(event)
        else:
            self._check_level(event, level)
            sequence = isinstance(event, yaml.SequenceStartEvent)
            self._check_tag(event, "seq" if sequence else "map")
            node = self._sequence(event, level) if sequence else self._mapping(event, level)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _check_level(self, event: Any, level: int, depth: int = 1) -> None:
        if level + depth - 1 > MAX_DEPTH:
            where, message = self._span(event), f"values are nested more than {MAX_DEPTH} levels deep"
            raise SpecError([*self.problems, Problem(where, message, "flatten them")])

    def _scalar(self, event: Any) -> Scalar:
        text, plain, span = event.value, not event.style, self._span(event)
        try:
            if event.tag is not None:
                value = resolve_tagged(event.tag, text)
            elif plain:
                value = resolve_plain(text)
            else:
                value = text
            check_characters(text)
        except ScalarError as error:
            hint = "write it in quotes if text is meant" if plain and event.tag is None else "remove it"
            self.problems.append(Problem(span, str(error), hint))
            value = None
        return Scalar(value, span, text, plain)

    def _sequence(self, event: Any, level: int) -> Sequence:
        items: list[Node] = []
        while not isinstance(inner := self._parser.get_event(), yaml.SequenceEndEvent):
            items.append(self._node(inner, level + 1))
        last = items[-1].span if items else None
        return Sequence(tuple(items), self._collection_span(event, inner, last))

    def _mapping(self, event: Any, level: int) -> Mapping:
        entries: dict[str, Entry] = {}
        last: Span | None = None
        while not isinstance(inner := self._parser.get_event(), yaml.MappingEndEvent):
            key_node = self._node(inner, level + 1)
            node = self._node(self._parser.get_event(), level + 1)
            last = max(key_node.span, node.span)
            key = self._key(key_node)
            if key is None:
                continue
            if key in entries:
                first = entries[key].key_span
                message = f"the key {key!r} is written twice, first at line {first.line}"
                self.problems.append(Problem(key_node.span, message, "keep one of them"))
                continue
            entries[key] = Entry(key, key_node.span, node)
        return Mapping(tuple(entries.values()), self._collection_span(event, inner, last))

    def _key(self, node: Node) -> str | None:
        """The text of a key. Integers count as their decimal digits: an engine's own tables have such keys."""
        if not isinstance(node, Scalar):
            template = isinstance(node, Mapping)
            hint = (
                "a template `{{ … }}` must be filled in before specconf reads the file"
                if template
                else "write one word"
            )
            self.problems.append(Problem(node.span, "a key must be text, not a list or mapping", hint))
            return None
        if node.plain and node.text == "<<":
            message = "merge keys (<<) are not part of YAML 1.2"
            self.problems.append(Problem(node.span, message, "write the keys out"))
            return None
        if isinstance(node.value, str):
            return node.value
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return str(node.value)
        message = (
            f"a key must be text, and {node.text!r} is not" if node.text else "a key is missing in front of the colon"
        )
        self.problems.append(Problem(node.span, message, f'write "{node.text}" in quotes' if node.text else "write it"))
        return None

    def _alias(self, event: Any, level: int) -> Node:
        span = self._span(event)
        if event.anchor not in self._anchors:
            self._problem(
                event, f"*{event.anchor} names no anchor above it", f"write the value, or &{event.anchor} before it"
            )
            return Scalar(None, span)
        node = self._anchors[event.anchor]
        if node is None:
            raise SpecError(
                [*self.problems, Problem(span, f"*{event.anchor} stands inside itself", "write the value out")]
            )
        self._aliased += node.size
        if self._aliased > MAX_ALIASED_NODES:
            message = f"aliases expand to more than {MAX_ALIASED_NODES} values"
            raise SpecError([*self.problems, Problem(span, message, "write the values out")])
        self._check_level(event, level, node.depth)
        return moved(node, span)

    def _check_tag(self, event: Any, kind: str) -> None:
        if event.tag not in (None, "!", TAG_PREFIX + kind):
            self._problem(event, f"the tag {event.tag} is not read here", "remove the tag")

    def _problem(self, event: Any, message: str, hint: str) -> None:
        self.problems.append(Problem(self._span(event), message, hint))

    def _span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        return Span(self._path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def _collection_span(self, start: Any, end: Any, last: Span | None) -> Span:
        """From the first character to the last: a block collection ends where its last value does."""
        span = self._span(start)
        if start.flow_style or last is None:
            mark = end.end_mark
            return Span(self._path, span.line, span.column, mark.line + 1, mark.column + 1)
        return Span(self._path, span.line, span.column, last.end_line, last.end_column)


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, path: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    where = Span(path, line + 1, column + 1, line + 1, column + 2)
    found = character_at(text, line, column)
    problem = error.problem or "unreadable"
    if "surrogate" in problem or "invalid Unicode character escape" in problem:
        return Problem(where, "an escape that is no character", "write the character itself")
    if "nesting depth" in problem:
        return Problem(where, f"values are nested more than {MAX_DEPTH} levels deep", "flatten them")
    if found == "\t" or "\\t" in problem or "tab character" in problem:
        return Problem(where, "a tab is used where YAML wants spaces", "indent with spaces")
    if found in ("@", "`", "%"):
        return Problem(where, f"text cannot start with {found} unless it is quoted", "write it in quotes")
    if problem.startswith("mapping values are not allowed"):
        hint = "write text that holds `: ` in quotes, and indent keys of one mapping alike"
        return Problem(where, "a `key:` is not allowed here", hint)
    context = f" {error.context}" if error.context else ""
    if error.context_mark and error.context_mark.line != line:
        context += f" that starts at line {error.context_mark.line + 1}"
    return Problem(where, f"this is not valid YAML: {problem}{context}", "check quotes, brackets and indentation")
