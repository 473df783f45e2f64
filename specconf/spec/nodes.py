"""The nodes of a spec file: values with their places, between YAML text and the model. Nothing here reads text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from specconf.words import JsonValue, Span

ScalarValue: TypeAlias = "bool | int | float | str | None"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value. `text` is how it was written, without quotes; `plain` is true when it had none."""

    value: ScalarValue
    span: Span
    text: str = ""
    plain: bool = True

    @property
    def size(self) -> int:
        """Nodes in this tree, itself included."""
        return 1

    @property
    def depth(self) -> int:
        """Levels of collections in this tree."""
        return 0


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list of nodes."""

    items: tuple[Node, ...]
    span: Span
    size: int = field(init=False)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(item.size for item in self.items))
        object.__setattr__(self, "depth", 1 + max((item.depth for item in self.items), default=0))


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping with its value."""

    key: str
    key_span: Span
    node: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in the order of the file; keys are unique."""

    entries: tuple[Entry, ...]
    span: Span
    size: int = field(init=False)
    depth: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(entry.node.size for entry in self.entries))
        object.__setattr__(self, "depth", 1 + max((entry.node.depth for entry in self.entries), default=0))

    def entry(self, key: str) -> Entry | None:
        """The entry of a key, or None."""
        return next((entry for entry in self.entries if entry.key == key), None)


Node: TypeAlias = Scalar | Sequence | Mapping


def moved(node: Node, span: Span) -> Node:
    """The same node at another place: an alias stands where it is written, not where its anchor is."""
    return replace(node, span=span)


def plain_value(node: Node) -> JsonValue:
    """The node as plain Python data."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain_value(item) for item in node.items]
    return {entry.key: plain_value(entry.node) for entry in node.entries}
