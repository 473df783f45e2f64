"""The variables in force at a place of a script, and what is left of them where branches meet. No text is read here."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct, field

from specconf.patterns import pattern
from specconf.readers.source import Partly, Placed
from specconf.readers.templates import Template
from specconf.words import Span, Word

NOTHING_FILLED = pattern(r"(?!)")
SHELL_HOLES = 0xF0000  # characters of a plane that the holes of formats do not use, since a script stands in these
Value: TypeAlias = "Word | tuple[Word, ...]"


class Scope(Struct):
    """The variables in force at a place of a script.

    A name that is absent comes from outside and is unknown; one that was unset is an array without elements. `choices`: what
    a variable may hold after branches, for as long as it has the value that stands there. `template`: the holes of the script.
    """

    values: dict[str, Value] = field(default_factory=dict)
    exported: dict[str, Word] = field(default_factory=dict)
    export_all: bool = False
    splits: bool = True  # false once IFS was assigned: unquoted variables are then not known to split
    choices: dict[str, tuple[Value, tuple[Value, ...]]] = field(default_factory=dict)
    template: Template = field(default_factory=lambda: Template(NOTHING_FILLED, first=SHELL_HOLES))

    def copy(self) -> Scope:
        """A scope that can change without this one."""
        return Scope(
            dict(self.values), dict(self.exported), self.export_all, self.splits, dict(self.choices), self.template
        )

    def chosen(self, name: str) -> tuple[Value, ...]:
        """What the variable may hold, where branches left several values; nothing where it has one, or an unknown one."""
        held = self.choices.get(name)
        return held[1] if held is not None and held[0] is self.values.get(name) else ()

    def forget(self, name: str) -> None:
        """The variable has a value that cannot be known from here on."""
        self.values[name] = unknown(name)
        if name in self.exported:
            self.exported[name] = unknown(name, span=self.exported[name].span)

    def forget_all(self) -> None:
        """Every variable may have changed, for example by a sourced file."""
        for name in list(self.values):
            self.forget(name)


def unknown(name: str, *, span: Span | None = None) -> Word:
    """The value of a variable that cannot be known."""
    return Word(value=None, span=span, raw=f"${name}", may_be_many=True)


def merged(scopes: list[Scope], before: Scope | None = None) -> Scope:
    """What is known after branches of which one was taken; `before`: what was known before them."""
    first = scopes[0]
    splits = all(scope.splits for scope in scopes)
    result = Scope(export_all=first.export_all, splits=splits, template=first.template)
    for name in sorted({name for scope in scopes for name in scope.values}):
        held = [scope.values.get(name) for scope in scopes]
        base = before.values.get(name) if before is not None else None
        value = _merged_value(name, held, base, first.template)
        result.values[name] = value
        choices = _choices(name, scopes)
        if choices and _texts(value) != _texts(choices[0]) and not _extended(held, base):
            result.choices[name] = (value, choices)
    for name in sorted({name for scope in scopes for name in scope.exported}):
        words = [scope.exported.get(name) for scope in scopes]
        known = next(word for word in words if word is not None)
        same = all(word is not None and word.value == known.value for word in words)
        result.exported[name] = known if same else unknown(name, span=known.span)
    return result


_MOST_CHOICES = 24


def _choices(name: str, scopes: list[Scope]) -> tuple[Value, ...]:
    """The values that the branches leave, each once; the branch that leaves it unknown adds nothing."""
    found: list[Value] = []
    for scope in scopes:
        value = scope.values.get(name)
        for one in scope.chosen(name) or ((value,) if value is not None and _is_telling(value) else ()):
            if not any(_texts(one) == _texts(other) for other in found):
                found.append(one)
    return tuple(found) if len(found) <= _MOST_CHOICES else ()


def _is_telling(value: Value) -> bool:
    if isinstance(value, tuple):
        return bool(value) and value[0].value is not None
    return bool(value.value) or (value.value is None and isinstance(value.places, Partly) and " " in value.places.text)


def _texts(value: Value) -> list[tuple[str | None, str, str]]:
    """What a value holds, whatever the place where it was written."""
    words = value if isinstance(value, tuple) else (value,)
    return [(word.value, word.raw, _text(word) if word.value is None else "") for word in words]


def _text(word: Word) -> str:
    """A value as text, with holes for what is not known in it."""
    if word.value is not None:
        return word.value
    return word.places.text if isinstance(word.places, Partly) else ""


def _extended(held: list[Value | None], base: Value | None) -> bool:
    """Whether all values only go on where the one before the branches ends."""
    if isinstance(base, tuple):
        start = _texts(base)
        return bool(base) and all(isinstance(one, tuple) and _texts(one)[: len(start)] == start for one in held)
    if base is None or not _text(base):
        return False
    return all(isinstance(one, Word) and _text(one).startswith(_text(base)) for one in held)


def _merged_value(name: str, held: list[Value | None], base: Value | None, template: Template) -> Value:
    first = held[0]
    if first is not None and all(value is not None and _texts(value) == _texts(first) for value in held):
        return first
    if isinstance(base, Word) and isinstance(base.places, Placed) and " " in _text(base) and _extended(held, base):
        return _open(name, base, base.places, template)
    arrays = [value for value in held if isinstance(value, tuple)]
    if len(arrays) < len(held):
        return unknown(name)
    shared = []
    for words in zip(*arrays, strict=False):
        if any(_texts(word) != _texts(words[0]) for word in words):
            break
        shared.append(words[0])
    return (*shared, Word(value=None, raw=f"${{{name}[@]}}", may_be_many=True))


def _open(name: str, base: Word, places: Placed, template: Template) -> Word:
    """A text behind which branches may have put more."""
    hole = template.hole(f"${name}")
    holes = {**(places.holes if isinstance(places, Partly) else {}), hole: f"${name}"}
    end = places.at[-1] if places.at else 0
    text = Partly(f"{places.text} {hole}", places.outer, [*places.at, end, end], holes)
    return Word(value=None, span=base.span, raw=base.raw, may_be_many=True, places=text)
