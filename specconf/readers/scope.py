"""The variables in force at a place of a script, and what is left of them where branches meet. No text is read here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from specconf.words import Span, Word

Value: TypeAlias = "Word | tuple[Word, ...]"


@dataclass
class Scope:
    """The variables in force at a place of a script.

    A name that is absent comes from outside and is unknown; one that was unset is an array without elements.
    """

    values: dict[str, Value] = field(default_factory=dict)
    exported: dict[str, Word] = field(default_factory=dict)
    export_all: bool = False
    splits: bool = True  # false once IFS was assigned: unquoted variables are then not known to split

    def copy(self) -> Scope:
        """A scope that can change without this one."""
        return Scope(dict(self.values), dict(self.exported), self.export_all, self.splits)

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


def merged(scopes: list[Scope]) -> Scope:
    """What is known after branches of which one was taken."""
    first = scopes[0]
    result = Scope(export_all=first.export_all, splits=all(scope.splits for scope in scopes))
    for name in sorted({name for scope in scopes for name in scope.values}):
        held = [scope.values.get(name) for scope in scopes]
        result.values[name] = _merged_value(name, held)
    for name in sorted({name for scope in scopes for name in scope.exported}):
        words = [scope.exported.get(name) for scope in scopes]
        known = next(word for word in words if word is not None)
        same = all(word is not None and word.value == known.value for word in words)
        result.exported[name] = known if same else unknown(name, span=known.span)
    return result


def _texts(value: Value) -> list[tuple[str | None, str]]:
    """What a value holds, whatever the place where it was written."""
    return [(word.value, word.raw) for word in (value if isinstance(value, tuple) else (value,))]


def _merged_value(name: str, held: list[Value | None]) -> Value:
    first = held[0]
    if first is not None and all(value is not None and _texts(value) == _texts(first) for value in held):
        return first
    arrays = [value for value in held if isinstance(value, tuple)]
    if len(arrays) < len(held):
        return unknown(name)
    shared = []
    for words in zip(*arrays, strict=False):
        if any(_texts(word) != _texts(words[0]) for word in words):
            break
        shared.append(words[0])
    return (*shared, Word(value=None, raw=f"${{{name}[@]}}", may_be_many=True))
