"""YAML as every format needs it: documents as nodes with places, and scalars that know where each character stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.readers.source import Placed, SourceText
from specconf.words import Span, Word

DEEPEST_NESTING = 100
LARGEST_DOCUMENT = 500_000  # nodes, those behind anchors counted wherever they are used
_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
            " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"}  # fmt: skip
_BREAK = pattern("\r\n|[\n\r\x85\u2028\u2029]")
_KEPT_BREAKS = frozenset("\u2028\u2029")  # any other break is a line feed in the text of a scalar
_WIDTHS = {"x": 2, "u": 4, "U": 8}


class YamlNode:
    """One node: a mapping, a list or a scalar, with its place. Anchors are followed, `<<` merges are looked through."""

    __slots__ = ("node", "source")

    def __init__(self, node: Any, source: SourceText) -> None:
        self.node = node
        self.source = source

    @property
    def kind(self) -> str:
        """`mapping`, `sequence` or `scalar`."""
        return str(self.node.id)

    @property
    def span(self) -> Span:
        """Its place in the file."""
        return self.source.span_of(self.node.start_mark.index, self.node.end_mark.index)

    def __iter__(self) -> Iterator[YamlNode]:
        """The items of a list; nothing for other nodes."""
        if self.kind == "sequence":
            yield from (YamlNode(item, self.source) for item in self.node.value)

    def items(self) -> Iterator[tuple[YamlNode, YamlNode]]:
        """The keys and values of a mapping, its own before those merged in; nothing for other nodes."""
        for key, value in _members(self.node):
            yield YamlNode(key, self.source), YamlNode(value, self.source)

    def get(self, *path: str) -> YamlNode | None:
        """The value at a path of keys, None where one is not there."""
        found: YamlNode | None = self
        for name in path:
            held = _members_by_name(found.node).get(name) if found is not None else None
            found = YamlNode(held, self.source) if held is not None else None
        return found

    @property
    def text(self) -> str | None:
        """A scalar's text, None for other nodes and for null."""
        if self.kind != "scalar" or self.is_null:
            return None
        return str(self.node.value)

    @property
    def is_null(self) -> bool:
        """Whether the scalar is written as null or as nothing."""
        return self.kind == "scalar" and _is_null(self.node)

    @property
    def raw(self) -> str:
        """The node as written."""
        return self.source.text[self.node.start_mark.index : self.node.end_mark.index]

    def word(self) -> Word:
        """A scalar as one known word; any other node as one that is not known."""
        return Word(value=self.text, span=self.span, raw=self.raw.strip())

    def placed(self) -> Placed:
        """A scalar's text with the place of every character."""
        return _placed(self)

    def plain(self) -> Any:
        """The node as Python values, scalars by YAML 1.1 rules as the engines' own loaders read them."""
        import yaml

        if self.kind == "scalar":
            loader = yaml.SafeLoader("")
            try:
                return loader.construct_object(self.node)
            except (yaml.YAMLError, ValueError):
                return self.node.value
            finally:
                loader.dispose()
        if self.kind == "sequence":
            return [item.plain() for item in self]
        return {key.text: value.plain() for key, value in self.items()}


def _members(node: Any) -> list[tuple[Any, Any]]:
    """The keys and values of a mapping, its own before those merged in. Found once for each node: merges of merges would
    else be looked through again wherever one of them is used.
    """
    if node.id != "mapping":
        return []
    known: list[tuple[Any, Any]] | None = getattr(node, "members", None)
    if known is not None:
        return known
    found: list[tuple[Any, Any]] = []
    seen: set[str | None] = set()
    merged: list[Any] = []
    for key, value in node.value:
        if key.id == "scalar" and key.value == "<<":
            merged += value.value if value.id == "sequence" else [value]
            continue
        seen.add(key.value if key.id == "scalar" else None)
        found.append((key, value))
    for other in merged:
        for key, value in _members(other):
            name = key.value if key.id == "scalar" else None
            if name not in seen:
                seen.add(name)
                found.append((key, value))
    node.members = found
    return found


def _members_by_name(node: Any) -> dict[str, Any]:
    """The values of a mapping by their keys' texts, the first of each."""
    known: dict[str, Any] | None = getattr(node, "by_name", None)
    if known is not None:
        return known
    found: dict[str, Any] = {}
    for key, value in _members(node):
        if key.id == "scalar" and not _is_null(key):
            found.setdefault(str(key.value), value)
    if node.id == "mapping":
        node.by_name = found
    return found


def _is_null(node: Any) -> bool:
    # The C loader calls the plain style "", the other one None.
    return not node.style and node.value in ("", "~", "null", "Null", "NULL")


def documents(text: str, path: str) -> list[YamlNode]:
    """The documents of a YAML file, in order. InputError with its place where it is none, or nested too deeply."""
    return placed_documents(SourceText(text, path))


def placed_documents(source: SourceText) -> list[YamlNode]:
    """The documents in a text that may be a part of a file."""
    import yaml

    # The faster loader does not count a mark at the beginning, and every place would be off by it.
    marked = source.text.startswith("\ufeff")
    loader = yaml.SafeLoader if marked else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        nodes = [node for node in yaml.compose_all(source.text, Loader=loader) if node is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = source.span_of(mark.index, mark.index) if mark is not None else Span(source.path, 1, 1)
        raise InputError(
            f"not YAML: {error.problem or error}", where=Span(source.path, where.line, where.column)
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"not YAML: {error}", where=Span(source.path, 1, 1)) from error
    except RecursionError as error:
        raise InputError("nested too deeply", where=Span(source.path, 1, 1)) from error
    for node in nodes:
        _refuse_depth(node, source)
        _refuse_size(node, source)
    return [YamlNode(node, source) for node in nodes]


def _refuse_depth(root: Any, source: SourceText) -> None:
    """Nesting, and anchors that hold themselves, are followed to a limit; what is met twice is looked at once."""
    seen: set[int] = set()
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > DEEPEST_NESTING:
            raise InputError(f"nested deeper than {DEEPEST_NESTING} levels", where=YamlNode(node, source).span)
        if id(node) in seen:
            if node.id != "scalar" and _holds_itself(node):
                raise InputError("an anchor holds itself", where=YamlNode(node, source).span)
            continue
        seen.add(id(node))
        if node.id == "sequence":
            stack += [(item, depth + 1) for item in node.value]
        elif node.id == "mapping":
            stack += [(part, depth + 1) for pair in node.value for part in pair]


def _refuse_size(root: Any, source: SourceText) -> None:
    """Anchors of anchors can stand for more nodes than any memory holds."""
    sizes: dict[int, int] = {}
    stack = [(root, False)]
    while stack:
        node, entered = stack.pop()
        if id(node) in sizes:
            continue
        parts = _parts(node)
        if not entered and parts:
            stack.append((node, True))
            stack += [(part, False) for part in parts if id(part) not in sizes]
            continue
        sizes[id(node)] = 1 + sum(sizes[id(part)] for part in parts)
        if sizes[id(node)] > LARGEST_DOCUMENT:
            raise InputError("its anchors repeat themselves too often", where=YamlNode(node, source).span)


def _parts(node: Any) -> list[Any]:
    if node.id == "mapping":
        return [part for pair in node.value for part in pair]
    return list(node.value) if node.id == "sequence" else []


def _holds_itself(root: Any) -> bool:
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        parts = _parts(node)
        for part in parts:
            if part is root:
                return True
            if id(part) not in seen:
                seen.add(id(part))
                stack.append(part)
    return False


def _placed(node: YamlNode) -> Placed:
    value = str(node.node.value) if node.kind == "scalar" else ""
    start, end, style = node.node.start_mark.index, node.node.end_mark.index, node.node.style
    text = node.source.text
    if not style and text[start:end] == value:
        return Placed(value, node.source, range(start, end))
    if style == "|":
        found = _literal(text, start, end, value)
    else:
        found = _aligned(text, start + (style in ("'", '"', ">")), end, value, style)
    return Placed(value, node.source, found if found is not None else [start] * len(value))


def _literal(text: str, start: int, end: int, value: str) -> list[int] | None:
    """A literal block: its lines without their indentation."""
    broken = _BREAK.search(text, start)
    if broken is None:
        return None
    header, at = text[start : broken.start()], broken.end()
    body = text[at:end]
    digits = [int(c) for c in header.split("#")[0] if c.isdigit()]
    lines = list(_lines(body))
    first = next((line for line, _ in lines if line.strip(" ")), "")
    # An explicit indentation counts from the parent's, which the first line shows unless it begins with spaces of its own.
    indent = len(first) - len(first.lstrip(" "))
    if digits:
        own = len(value.lstrip("\n")) - len(value.lstrip("\n").lstrip(" "))
        indent -= own
    places: list[int] = []
    shown = ""
    for line, end_of_line in lines:
        cut = min(indent, len(line))
        shown += line[cut:] + (end_of_line if end_of_line in _KEPT_BREAKS else "\n")
        places += [*range(at + cut, at + len(line)), at + len(line)]
        at += len(line) + (len(end_of_line) or 1)
    return places[: len(value)] if shown[: len(value)] == value else None


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The lines of a text as YAML breaks them, each with what breaks it."""
    at = 0
    for match in _BREAK.finditer(text):
        yield text[at : match.start()], match[0]
        at = match.end()
    yield text[at:], ""


def _aligned(text: str, start: int, end: int, value: str, style: str | None) -> list[int] | None:
    """Folded and quoted scalars: what is no white space stands in the text in the same order, escapes apart."""
    header = _BREAK.search(text, start) if style == ">" else None
    at = header.end() if header is not None else start
    places: list[int] = []
    for char in value:
        escaped = style == '"' and text.startswith("\\", at)
        if char.isspace() and not escaped:
            places.append(min(at, end - 1))
            at += at < end and text[at].isspace()
            continue
        while at < end and text[at].isspace():
            at += 1
        if style == '"':
            at = _behind_line_breaks(text, at, end)
        length = _written(text, at, char, style)
        if at >= end or not length:
            return None
        places.append(at)
        at += length
    return places


def _written(text: str, at: int, char: str, style: str | None) -> int:
    """The length with which a character stands at a place; 0 where it is another one."""
    if style == '"' and text.startswith("\\", at):
        decoded, length = _escape(text, at)
        return length if decoded == char else 0
    if style == "'" and char == "'":
        return 2 if text.startswith("''", at) else 0
    return int(text.startswith(char, at))


def _behind_line_breaks(text: str, at: int, end: int) -> int:
    """Behind backslashes at the ends of lines, which join them."""
    while at + 1 < end and text[at] == "\\" and (broken := _BREAK.match(text, at + 1)):
        at = broken.end()
        while at < end and text[at] in " \t":
            at += 1
    return at


def _escape(text: str, at: int) -> tuple[str, int]:
    name = text[at + 1 : at + 2]
    if name in _WIDTHS:
        digits = text[at + 2 : at + 2 + _WIDTHS[name]]
        try:
            return chr(int(digits, 16)), 2 + len(digits)
        except ValueError:
            return "", 0
    return _ESCAPES.get(name, ""), 2
