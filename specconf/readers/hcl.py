"""HCL, the language of Terraform: what stands in a file as values with the place of every character.

Variables with a default and locals of the same file are put in. What nobody can tell from the file (other variables, the
attributes of resources, functions of files) is a character that stands for it (`holes`). Nothing of Terraform's resources is
known here; nothing is computed but what only joins texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from specconf.errors import MissingPackage
from specconf.patterns import pattern
from specconf.readers.source import Placed, SourceText
from specconf.readers.templates import OUTER_HOLES, Template
from specconf.readers.values import Items, Pairs, Scalar, Text, Unknown, Value, last_of_each
from specconf.words import Span

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

DEEPEST = 40
_DEEPEST_NAMES = 8  # values of values
MOST_CHARACTERS = 2_000_000  # that are put in: values that hold each other several times grow without end
_ESCAPE = pattern(r'\\(?:([nrt"\\])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))|\$\$\{|%%\{')
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
# Functions that hand on their first argument as it is written, or as what somebody decodes again.
_SAME = frozenset(
    {"base64encode", "base64gzip", "trimspace", "chomp", "tostring", "tolist", "nonsensitive", "sensitive", "try"}
)


def parsed(source: SourceText) -> Tree:
    """The syntax tree of a file."""
    try:
        import tree_sitter_hcl
    except ImportError as error:
        raise MissingPackage(
            "Terraform files are read with a package of their own", where=Span(source.path), hint="specconf[terraform]"
        ) from error
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_hcl.language())).parse(source.data)


class Block(Struct, frozen=True):
    """A block: its type, its labels and its body as members; a block in it is a list under its type, by its labels."""

    kind: str
    labels: tuple[str, ...]
    body: Pairs


class Reader(Struct):
    """One file, and what its names stand for."""

    source: SourceText
    names: dict[str, Node] = field(default_factory=dict)
    template: Template = field(default_factory=lambda: Template(re.compile(r"(?!)"), first=OUTER_HOLES))
    _written: int = 0

    def blocks(self, root: Node) -> Iterator[Block]:
        """The blocks of the file, its names known."""
        found = [node for body in root.named_children if body.type == "body" for node in body.named_children]
        for node in found:
            kind, labels = self._head(node)
            for name, value in self._attributes(_body(node)):
                if kind == "locals":
                    self.names[f"local.{name}"] = value
                elif kind == "variable" and labels and name == "default":
                    self.names[f"var.{labels[0]}"] = value
        for node in found:
            if node.type == "block":
                yield Block(*self._head(node), self.members(_body(node), node))

    def _head(self, block: Node) -> tuple[str, tuple[str, ...]]:
        heads = [
            self.source.text_of(node).strip('"') for node in block.children if node.type in ("identifier", "string_lit")
        ]
        return (heads[0], tuple(heads[1:])) if heads else ("", ())

    def _attributes(self, body: Node | None) -> Iterator[tuple[str, Node]]:
        for node in body.named_children if body is not None else ():
            if node.type == "attribute" and node.named_child_count > 1:
                yield self.source.text_of(node.named_children[0]), node.named_children[-1]

    def members(self, body: Node | None, outer: Node, depth: int = 0) -> Pairs:
        """A body as members."""
        pairs: list[tuple[Text, Value]] = []
        blocks: dict[str, list[Value]] = {}
        keys: dict[str, Text] = {}
        for node in body.named_children if body is not None and depth < DEEPEST else ():
            if node.type == "attribute" and node.named_child_count > 1:
                pairs.append((self._plain(node.named_children[0]), self.value(node.named_children[-1], depth + 1)))
            elif node.type == "block":
                kind, labels = self._head(node)
                value: Value = self.members(_body(node), node, depth + 1)
                key = self._plain(node.named_children[0])
                for label in reversed(labels):
                    value = Pairs(((Text(_at(label, key.placed), key.span), value),), key.span, key.placed)
                blocks.setdefault(kind, []).append(value)
                keys.setdefault(kind, key)
        pairs += [(keys[kind], Items(tuple(values), keys[kind].span)) for kind, values in blocks.items()]
        return Pairs(last_of_each(pairs), self.source.span(outer), self._part(outer))

    # -- expressions

    def value(self, node: Node, depth: int = 0) -> Value:
        """An expression as a value."""
        if depth > DEEPEST:
            return self._unknown(node)
        inner = node.named_children
        if node.type in ("expression", "literal_value", "template_expr", "collection_value") and len(inner) == 1:
            return self.value(inner[0], depth + 1)
        if node.type in ("string_lit", "quoted_template"):
            start, end = self.source.range_of(node)
            return Text(self._quoted(node, depth), self.source.span_of(start, end), self.source.text[start:end])
        if node.type == "heredoc_template":
            return Text(self._heredoc(node, depth), self.source.span(node), "…")
        if node.type == "numeric_lit":
            return self._number(node)
        if node.type in ("bool_lit", "null_lit"):
            return Scalar(
                {"true": True, "false": False}.get(self.source.text_of(node)), self.source.span(node), self._part(node)
            )
        if node.type == "tuple":
            items = tuple(self.value(item, depth + 1) for item in inner if item.type == "expression")
            return Items(items, self.source.span(node))
        if node.type == "object":
            return self._object(node, depth)
        if node.type == "function_call":
            return self._call(node, depth)
        if inner and inner[0].type == "variable_expr":
            return self._named(node, depth)
        return self._unknown(node)

    def _number(self, node: Node) -> Value:
        try:
            number = json.loads(self.source.text_of(node))
        except ValueError:
            return self._unknown(node)
        return Scalar(number, self.source.span(node), self._part(node))

    def _object(self, node: Node, depth: int) -> Value:
        pairs: list[tuple[Text, Value]] = []
        more = False
        for element in node.named_children:
            if element.type != "object_elem" or element.named_child_count < 2:
                continue
            key = self._key(element.named_children[0], depth)
            if key is None:
                more = True
            else:
                pairs.append((key, self.value(element.named_children[-1], depth + 1)))
        return Pairs(last_of_each(pairs), self.source.span(node), self._part(node), more)

    def _key(self, node: Node, depth: int) -> Text | None:
        """A key of an object: a name stands for itself."""
        if re.fullmatch(r"[A-Za-z_][\w-]*", self.source.text_of(node)):
            return self._plain(node)
        value = self.value(node, depth + 1)
        return value if isinstance(value, Text) else None

    def _call(self, node: Node, depth: int) -> Value:
        name = self.source.text_of(node.named_children[0])
        held = [child for child in node.named_children if child.type == "function_arguments"]
        given = [self.value(child, depth + 1) for child in (held[0].named_children if held else ())]
        if name in ("jsonencode", "yamlencode") and len(given) == 1:
            return Text(self.as_json(given[0], node), self.source.span(node), "{…}")
        if name == "join" and len(given) == 2 and isinstance(given[0], Text) and isinstance(given[1], Items):
            return self._joined(given[0].text, given[1], node)
        if name == "concat" and all(isinstance(one, Items) for one in given):
            lists = [one for one in given if isinstance(one, Items)]
            return Items(tuple(item for one in lists for item in one.items), self.source.span(node))
        return given[0] if name in _SAME and given else self._unknown(node)

    def _joined(self, between: str, items: Items, node: Node) -> Value:
        parts: list[tuple[str, Sequence[int]]] = []
        near = self.source.range_of(node)[0]
        for number, item in enumerate(items.items):
            if number:
                parts.append((between, [parts[-1][1][-1] if parts[-1][1] else near] * len(between)))
            parts.append(self._in_text(item, near))
        return Text(self._text(parts), self.source.span(node), "…")

    def _named(self, node: Node, depth: int) -> Value:
        """A variable or local by its name, with members of it."""
        written = re.sub(r"\s+", "", self.source.text_of(node))
        name, path = ".".join(written.split(".")[:2]), written.split(".")[2:]
        found = self.names.get(name)
        if found is None or self._written > MOST_CHARACTERS:
            return self._unknown(node)
        value = self.value(found, depth + DEEPEST // _DEEPEST_NAMES)
        for key in path:
            inner = value.get(key) if isinstance(value, Pairs) else None
            if inner is None:
                return self._unknown(node)
            value = inner
        return value

    def _unknown(self, node: Node) -> Unknown:
        return Unknown(self.source.text_of(node), self.source.span(node))

    # -- texts

    def _quoted(self, node: Node, depth: int) -> Placed:
        start, end = self.source.range_of(node)
        return self._text(self._pieces(node, start + 1, max(end - 1, start + 1), depth, escapes=True))

    def _heredoc(self, node: Node, depth: int) -> Placed:
        start, end = self.source.range_of(node)
        first = self.source.text.find("\n", start, end) + 1
        last = self.source.text.rfind("\n", start, end) + 1
        pieces = self._pieces(node, first or end, max(first, last), depth, escapes=False)
        text = self._text(pieces)
        return _without_indent(text) if self.source.text.startswith("<<-", start) else text

    def _pieces(
        self, node: Node, start: int, end: int, depth: int, *, escapes: bool
    ) -> Iterator[tuple[str, Sequence[int]]]:
        """The parts of a template with the places of their characters."""
        at = start
        for part in node.named_children:
            if part.type not in ("template_interpolation", "template_directive"):
                continue
            first, last = self.source.range_of(part)
            yield from _literal(self.source.text, at, first, escapes=escapes)
            inner = next((child for child in part.named_children if child.type == "expression"), None)
            if part.type == "template_interpolation" and inner is not None:
                text, places = self._in_text(self.value(inner, depth + 1), first)
                yield text, [first] * len(places)
            else:
                yield self.template.hole(self.source.text[first:last]), [first]
            at = last
        yield from _literal(self.source.text, at, end, escapes=escapes)

    def _in_text(self, value: Value, near: int) -> tuple[str, Sequence[int]]:
        if isinstance(value, Text):
            return value.text, value.placed.at
        if isinstance(value, Scalar):
            text = json.dumps(value.value) if value.value is not None else ""
            return text, [value.at.at[0] if len(value.at.at) else near] * len(text)
        hole = self.template.hole(value.raw if isinstance(value, Unknown) else "…")
        return hole, [near]

    def _text(self, parts: Iterator[tuple[str, Sequence[int]]] | Sequence[tuple[str, Sequence[int]]]) -> Placed:
        text, at = list[str](), list[int]()
        for piece, places in parts:
            text.append(piece)
            at += places
        self._written += len(at)
        return Placed("".join(text), self.source, at)

    def _plain(self, node: Node) -> Text:
        part = self._part(node)
        return Text(part, self.source.span(node), part.text)

    def _part(self, node: Node) -> Placed:
        return self.source.part(*self.source.range_of(node))

    # -- values as JSON

    def as_json(self, value: Value, near: Node) -> Placed:
        """A value as JSON, its texts and their quotes where they are written; what is not known is a hole in quotes."""
        return self._text(list(self.json_parts(value, self.source.range_of(near)[0])))

    def json_parts(self, value: Value, near: int, depth: int = 0) -> Iterator[tuple[str, Sequence[int]]]:
        """The parts of that JSON."""
        if depth > DEEPEST or isinstance(value, Unknown):
            yield from _json_text(
                *self._in_text(value if isinstance(value, Unknown) else Unknown("…", value.span), near), near, near
            )
        elif isinstance(value, Text):
            start = self.source.at(value.span.line, value.span.column)
            end = self.source.at(value.span.end_line, value.span.end_column)
            yield from _json_text(value.text, value.placed.at, start, max(end - 1, start))
        elif isinstance(value, Scalar):
            text = json.dumps(value.value)
            places = list(value.at.at)
            yield text, places if len(places) == len(text) else [places[0] if places else near] * len(text)
        else:
            members = list(value.items) if isinstance(value, Items) else list(value.pairs)
            opened, closed = "[]" if isinstance(value, Items) else "{}"
            near = self.source.at(value.span.line, value.span.column)
            yield opened, [near]
            for number, member in enumerate(members):
                if number:
                    yield ", ", [near, near]
                if isinstance(member, tuple):
                    yield from self.json_parts(member[0], near, depth + 1)
                    yield ": ", [near, near]
                yield from self.json_parts(member[1] if isinstance(member, tuple) else member, near, depth + 1)
            yield closed, [near]


def _json_text(text: str, at: Sequence[int], start: int, end: int) -> Iterator[tuple[str, Sequence[int]]]:
    yield '"', [start]
    for char, place in zip(text, at, strict=True):
        written = json.dumps(char, ensure_ascii="\x7f" <= char <= "\x9f" or char >= "\ufdd0")[1:-1]
        yield written, [place] * len(written)
    yield '"', [end]


def _literal(text: str, start: int, end: int, *, escapes: bool) -> Iterator[tuple[str, Sequence[int]]]:
    at = start
    for match in _ESCAPE.finditer(text, start, end):
        if not escapes and match[0][0] == "\\":
            continue
        yield text[at : match.start()], range(at, match.start())
        digits = match[2] or match[3]
        decoded = match[0][1:] if match[0][0] != "\\" else _LETTERS.get(match[1] or "", "")
        if digits:
            decoded = chr(int(digits, 16)) if int(digits, 16) < 0x110000 else "\ufffd"
        yield decoded, [match.start()] * len(decoded)
        at = match.end()
    yield text[at:end], range(at, end)


def _without_indent(text: Placed) -> Placed:
    """The text of `<<-`, whose lines lose the blanks that all of them begin with."""
    lines = text.text.split("\n")
    indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    kept, at, start = list[str](), list[int](), 0
    for line in lines:
        cut = min(indent, len(line) - len(line.lstrip(" ")))
        kept.append(line[cut:])
        at += text.at[start + cut : start + len(line) + 1]
        start += len(line) + 1
    return Placed("\n".join(kept), text.outer, at)


def _at(text: str, near: Placed) -> Placed:
    return Placed(text, near.outer, [near.at[0] if len(near.at) else 0] * len(text))


def _body(block: Node) -> Node | None:
    return next((node for node in block.named_children if node.type == "body"), None)


def first_error(root: Node) -> Node | None:
    """The first place that is no HCL."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            return node
        stack += [child for child in reversed(node.children) if child.has_error]
    return None
