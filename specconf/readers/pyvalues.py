"""What expressions of a Python file are worth, as far as the text tells: literals, constants, lists put together.

Nothing is executed. What depends on an argument, a branch, a loop or another module is not known.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.readers.commandline import words_of
from specconf.readers.pytext import constant, joined_parts, range_of, span_of
from specconf.readers.source import Placed, SourceText
from specconf.readers.values import (
    FIRST_UNKNOWN,
    LAST_UNKNOWN,
    LONGEST,
    Items,
    NotKnown,
    Pairs,
    Scalar,
    Text,
    Unknown,
    Value,
    as_json,
    last_of_each,
)
from specconf.words import Span

_DEEPEST = 60
_LARGEST_NUMBER = 2**63
_METHODS = frozenset({"join", "split", "strip", "copy"})
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
Called = Callable[[ast.Call, "Scope"], "Value | None"]


class Scope(Struct):
    """What is known at one point: names, variables of the environment, and files that were written."""

    names: dict[str, Value] = field(default_factory=dict)
    env: dict[str, Value] = field(default_factory=dict)
    files: dict[str, Placed | None] = field(default_factory=dict)
    handles: dict[str, str] = field(default_factory=dict)

    def copy(self) -> Scope:
        """A scope of its own that starts as this one."""
        return Scope(dict(self.names), dict(self.env), dict(self.files), dict(self.handles))


def dotted(node: ast.expr) -> str:
    """`a.b.c` as text; empty for what is no such chain of names."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class Values:
    """Evaluates the expressions of one file. `called`: what a call of one of the file's own functions gives."""

    def __init__(self, source: SourceText, tree: ast.Module, called: Called) -> None:
        self.source = source
        self.called = called
        self.unknown_parts: dict[str, str] = {}
        self.imports: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for name in node.names:
                    top = name.name.partition(".")[0]
                    self.imports[name.asname or top] = name.name if name.asname else top
            elif isinstance(node, ast.ImportFrom):
                for name in node.names:
                    self.imports[name.asname or name.name] = f"{node.module or ''}.{name.name}"

    def qualified(self, node: ast.expr) -> str:
        """The full name of what is called, by the file's imports."""
        name = dotted(node)
        first, dot, rest = name.partition(".")
        return self.imports.get(first, first) + dot + rest

    def span(self, node: ast.expr) -> Span:
        """The place of an expression."""
        return span_of(self.source, node)

    def raw(self, node: ast.expr) -> str:
        """An expression as written."""
        start, end = range_of(self.source, node)
        return self.source.text[start:end]

    def part(self, node: ast.expr) -> Placed:
        """The text of an expression with its places."""
        return self.source.part(*range_of(self.source, node))

    def unknown(self, node: ast.expr, *, many: bool = False) -> Unknown:
        """A value that cannot be told."""
        return Unknown(self.raw(node), self.span(node), many)

    def value(self, node: ast.expr, scope: Scope, depth: int = 0) -> Value:
        """What an expression is worth."""
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if handler is None or depth > _DEEPEST:
            return self.unknown(node, many=isinstance(node, ast.ListComp | ast.GeneratorExp | ast.IfExp | ast.BoolOp))
        found: Value = handler(node, scope, depth + 1)
        return found

    def _constant(self, node: ast.Constant, _scope: Scope, _depth: int) -> Value:
        if isinstance(node.value, str):
            return Text(constant(self.source, node, node.value), self.span(node), self.raw(node))
        if node.value is None or isinstance(node.value, bool | int | float):
            return Scalar(node.value, self.span(node), self.part(node))
        return self.unknown(node)

    def _joinedstr(self, node: ast.JoinedStr, scope: Scope, depth: int) -> Value:
        expressions = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        text, at = list[str](), list[int]()
        for part in joined_parts(self.source, node):
            if len(at) > LONGEST:
                return self.unknown(node)
            made = part.text if part.text is not None else self._formatted(expressions.pop(0), scope, depth)
            text.append(made)
            at += part.at if part.text is not None else (part.at[0],) * len(made)
        return Text(Placed("".join(text), self.source, at), self.span(node), self.raw(node))

    def _formatted(self, node: ast.FormattedValue, scope: Scope, depth: int) -> str:
        plain = node.format_spec is None and node.conversion in (-1, ord("s"))
        found = self.value(node.value, scope, depth) if plain else self.unknown(node.value)
        if isinstance(found, Scalar):
            return str(found.value)
        return found.text if isinstance(found, Text) else self._stand_in(ast.unparse(node.value))

    def _stand_in(self, raw: str) -> str:
        """A private character for a part that is not known."""
        char = chr(min(FIRST_UNKNOWN + len(self.unknown_parts), LAST_UNKNOWN))
        self.unknown_parts[char] = raw
        return char

    def _name(self, node: ast.Name, scope: Scope, _depth: int) -> Value:
        return scope.names.get(node.id) or self.unknown(node)

    def _attribute(self, node: ast.Attribute, scope: Scope, _depth: int) -> Value:
        if self.qualified(node) == "sys.executable":
            return Text(
                Placed("python", self.source, [range_of(self.source, node)[0]] * 6), self.span(node), self.raw(node)
            )
        return scope.names.get(dotted(node)) or self.unknown(node)

    def _list(self, node: ast.List | ast.Tuple, scope: Scope, depth: int) -> Value:
        items: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                items += self._spliced(self.value(element.value, scope, depth), element)
            else:
                found = self.value(element, scope, depth)
                items.append(Unknown(found.raw, found.span) if isinstance(found, Unknown) else found)
        if len(items) > LONGEST:
            return self.unknown(node)
        return Items(tuple(items), self.span(node), frozenset({self.span(node)}))

    _tuple = _list

    def _spliced(self, found: Value, node: ast.expr) -> tuple[Value, ...]:
        return found.items if isinstance(found, Items) else (self.unknown(node, many=True),)

    def _dict(self, node: ast.Dict, scope: Scope, depth: int) -> Value:
        pairs: list[tuple[Text, Value]] = []
        more = False
        for key, value in zip(node.keys, node.values, strict=True):
            found = self.value(value, scope, depth)
            name = self.value(key, scope, depth) if key is not None else None
            if isinstance(name, Text) and name.known:
                pairs.append((name, found))
            elif key is None and isinstance(found, Pairs):
                pairs += found.pairs
                more = more or found.more
            else:
                more = True
        return Pairs(last_of_each(pairs), self.span(node), self.part(node), more)

    def _unaryop(self, node: ast.UnaryOp, scope: Scope, depth: int) -> Value:
        found = self.value(node.operand, scope, depth)
        if isinstance(node.op, ast.USub) and isinstance(found, Scalar) and type(found.value) in (int, float):
            return Scalar(-found.value, self.span(node), self.part(node))  # type: ignore[operator]
        return self.unknown(node)

    def _binop(self, node: ast.BinOp, scope: Scope, depth: int) -> Value:
        left, right = self.value(node.left, scope, depth), self.value(node.right, scope, depth)
        if isinstance(node.op, ast.Add) and isinstance(left, Items | Unknown) and isinstance(right, Items | Unknown):
            return self.added(left, right, node)
        if isinstance(node.op, ast.Add) and isinstance(left, Text | Unknown) and isinstance(right, Text | Unknown):
            return self._concatenated([left, right], node)
        if isinstance(node.op, ast.BitOr) and isinstance(left, Pairs) and isinstance(right, Pairs):
            return Pairs(last_of_each((*left.pairs, *right.pairs)), left.span, left.at, left.more or right.more)
        if isinstance(left, Scalar) and isinstance(right, Scalar) and type(left.value) is type(right.value) is int:
            counted = _ARITHMETIC.get(type(node.op))
            first, second = int(left.value or 0), int(right.value or 0)
            small = max(abs(first), abs(second)) < _LARGEST_NUMBER
            if counted is not None and small and not (isinstance(node.op, ast.FloorDiv) and second == 0):
                return Scalar(counted(first, second), self.span(node), self.part(node))
        return self.unknown(node)

    def added(self, left: Value, right: Value, node: ast.expr) -> Value:
        """Two lists as one; a part that is not known may be any number of items."""
        if not isinstance(left, Items) and not isinstance(right, Items):
            return self.unknown(node)
        items, origins = list[Value](), frozenset[Span]()
        for side in (left, right):
            items += (
                side.items if isinstance(side, Items) else [Unknown(getattr(side, "raw", "…"), side.span, many=True)]
            )
            origins |= side.origins if isinstance(side, Items) else frozenset()
        return Items(tuple(items), self.span(node), origins) if len(items) < LONGEST else self.unknown(node)

    def _concatenated(self, parts: list[Value], node: ast.expr, between: str = "") -> Value:
        text, at = "", list[int]()
        for number, part in enumerate(parts):
            start = at[-1] if at else 0
            made = part.text if isinstance(part, Text) else self._stand_in(getattr(part, "raw", "…"))
            places = part.placed.at if isinstance(part, Text) else [range_of(self.source, node)[0]] * len(made)
            text += (between if number else "") + made
            at += [*([start] * len(between) if number else []), *places]
            if len(text) > LONGEST:
                return self.unknown(node)
        return Text(Placed(text, self.source, at), self.span(node), self.raw(node))

    def _subscript(self, node: ast.Subscript, scope: Scope, depth: int) -> Value:
        held, key = self.value(node.value, scope, depth), self.value(node.slice, scope, depth)
        if isinstance(held, Pairs) and isinstance(key, Text):
            found = held.get(key.text)
            return found if found is not None and not held.more else self.unknown(node)
        if isinstance(held, Items) and isinstance(key, Scalar) and type(key.value) is int:
            known = not any(isinstance(item, Unknown) and item.many for item in held.items)
            return (
                held.items[key.value]
                if known and -len(held.items) <= key.value < len(held.items)
                else self.unknown(node)
            )
        return self.unknown(node)

    def _await(self, node: ast.Await, scope: Scope, depth: int) -> Value:
        return self.value(node.value, scope, depth)

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> Value:
        own = self.called(node, scope)
        if own is not None:
            return own
        name = self.qualified(node.func)
        first = (
            self.value(node.args[0], scope, depth) if node.args and not isinstance(node.args[0], ast.Starred) else None
        )
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and name != "shlex.split":
            return self._method(node, self.value(node.func.value, scope, depth), first)
        if name == "dict" or name.rpartition(".")[2].endswith(("Config", "Params", "Args")):
            return self.keywords(node, scope, depth)
        if first is None:
            return self.unknown(node)
        if name in {"str", "Path", "pathlib.Path", "os.fspath"} and isinstance(first, Text) and len(node.args) == 1:
            return first
        if name == "str" and isinstance(first, Scalar):
            text = str(first.value)
            return Text(Placed(text, self.source, [first.at.at[0]] * len(text)), self.span(node), self.raw(node))
        if name in {"list", "tuple"} and isinstance(first, Items):
            return first
        if name == "json.dumps":
            return self._dumped(node, first)
        if name == "shlex.split" and isinstance(first, Text):
            return self.split(first)
        if name == "shlex.quote" and isinstance(first, Text):
            return self._quoted(first)
        if name in {"shlex.join", "subprocess.list2cmdline"} and isinstance(first, Items):
            quoted = [self._quoted(item) if isinstance(item, Text) else item for item in first.items]
            whole = self._concatenated(quoted, node, " ")
            return replace(whole, origins=first.origins) if isinstance(whole, Text) else whole
        return self.unknown(node)

    def keywords(self, node: ast.Call, scope: Scope, depth: int = 0) -> Pairs:
        """The keyword arguments of a call as a mapping. Each key stands where it is written."""
        pairs: list[tuple[Text, Value]] = []
        more = False
        for keyword in node.keywords:
            found = self.value(keyword.value, scope, depth)
            if keyword.arg is not None:
                start = range_of(self.source, keyword)[0]
                last = len(self.source.text) - 1  # a name may be written longer or shorter than it is read
                at = [min(start + offset, last) for offset in range(len(keyword.arg))]
                placed = Placed(keyword.arg, self.source, at)
                pairs.append((Text(placed, placed.span, keyword.arg), found))
            elif isinstance(found, Pairs):
                pairs += found.pairs
                more = more or found.more
            else:
                more = True
        kind = self.qualified(node.func).rpartition(".")[2]
        return Pairs(last_of_each(pairs), self.span(node), self.part(node), more, kind)

    def _dumped(self, node: ast.Call, held: Value) -> Value:
        try:
            return Text(as_json(held, self.part(node)), self.span(node), self.raw(node))
        except NotKnown:
            made = self._stand_in(self.raw(node))
            return Text(Placed(made, self.source, [range_of(self.source, node)[0]]), self.span(node), self.raw(node))

    def _method(self, node: ast.Call, held: Value, first: Value | None) -> Value:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name == "join" and isinstance(held, Text) and isinstance(first, Items):
            whole = self._concatenated(list(first.items), node, held.text)
            return replace(whole, origins=first.origins) if isinstance(whole, Text) else whole
        if name == "split" and isinstance(held, Text) and not node.args:
            return self.split(held, quotes=False)
        if name == "strip" and isinstance(held, Text) and not node.args:
            text = held.text
            start, end = len(text) - len(text.lstrip()), len(text.rstrip())
            return Text(held.placed.part(start, max(start, end)), held.span, held.raw)
        if name == "copy" and not node.args:
            return held
        return self.unknown(node)

    def split(self, text: Text, *, quotes: bool = True) -> Items:
        """A command line in words, each at its own place."""
        items: list[Value] = []
        end = 0
        for word in words_of(text.placed) if quotes else ():
            span = word.span or text.span
            first = self.source.at(span.line, span.column)
            placed = Placed(word.text, self.source, [first] * len(word.text))
            known = word.value is not None
            items.append(Text(placed, span, self.shown(word.raw)) if known else Unknown(word.raw, span))
        for piece in () if quotes else text.text.split():
            start = text.text.index(piece, end)
            end = start + len(piece)
            placed = text.placed.part(start, end)
            items.append(Text(placed, placed.span, self.shown(piece)))
        return Items(tuple(items), text.span, frozenset({text.span}))

    def shown(self, text: str) -> str:
        """A text as written, with its unknown parts in braces."""
        return "".join("{" + self.unknown_parts[char] + "}" if char in self.unknown_parts else char for char in text)

    def _quoted(self, text: Text) -> Text:
        """A text as one word of a shell."""
        if text.text and all(char.isalnum() or char in "@%+=:,./-_" for char in text.text):
            return text
        made, at = ["'"], [text.placed.at[0] if len(text.placed.at) else 0]
        for char, place in zip(text.text, text.placed.at, strict=True):
            written = "'\"'\"'" if char == "'" else char
            made.append(written)
            at += [place] * len(written)
        return Text(Placed("".join([*made, "'"]), self.source, [*at, at[-1]]), text.span, text.raw)
