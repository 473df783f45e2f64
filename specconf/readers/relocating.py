"""A document inside another file: what was read of it as of a file of its own, with the places moved to where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from specconf.readers.source import SourceText
from specconf.words import Places, Span

T = TypeVar("T")


class _Moved:
    """The places of a text of the document."""

    def __init__(self, places: Places, source: SourceText, outer: Places) -> None:
        self._places, self._source, self._outer = places, source, outer

    def span_of(self, start: int, end: int) -> Span:
        """The place in the outer file of the characters between two indices."""
        return _span(self._places.span_of(start, end), self._source, self._outer)


def relocated(value: T, source: SourceText, outer: Places) -> T:
    """A value with every place in it moved. `source`: the document alone; `outer`: where its characters stand."""
    found: T = _moved(value, source, outer)
    return found


def _moved(value: Any, source: SourceText, outer: Places) -> Any:
    if isinstance(value, Span):
        return _span(value, source, outer)
    if isinstance(value, tuple):
        return tuple(_moved(one, source, outer) for one in value)
    if isinstance(value, Mapping):
        return {key: _moved(one, source, outer) for key, one in value.items()}
    if isinstance(value, Struct):
        held = {name: getattr(value, name) for name in value.__struct_fields__}
        return replace(value, **{name: _moved(one, source, outer) for name, one in held.items()})
    if hasattr(value, "span_of"):
        return _Moved(value, source, outer)
    return value


def _span(span: Span, source: SourceText, outer: Places) -> Span:
    if span.path != source.path or not span.line:
        return span
    start = source.at(span.line, max(span.column, 1))
    end = source.at(span.end_line, max(span.end_column, 1)) if span.end_line else start
    moved = outer.span_of(start, max(start, end))
    return moved if span.end_line else Span(moved.path, moved.line, moved.column if span.column else 0)
