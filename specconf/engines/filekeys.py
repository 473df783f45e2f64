"""Where the keys and values of an option file stand, in the file that its text was read from; for every engine alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.settings import Problem, Settings, Written
from specconf.words import Launch, Span

_DEEPEST = 50

PlaceOf = Callable[[Any, Any], Span]


def places_of(launch: Launch, name: str) -> PlaceOf:
    """From two marks of PyYAML in a file of the launch to the place between them."""
    return lambda start, end: launch.place_in(name, start, end)


class Entry(Struct, frozen=True):
    """One option of a file: the places of its key and its value, and of the keys inside the value."""

    key: Span
    value: Span
    inside: Mapping[str, Span] = field(default_factory=dict)


def entries(text: str, place: PlaceOf) -> dict[str, Entry]:
    """The options of a file by key, as the last one of a name counts; empty for a text that is no mapping."""
    import yaml

    try:
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}  # the engine's own reading of the file tells what is wrong with it
    found: dict[str, Entry] = {}
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if getattr(key, "value", None) != "<<":
            found[str(getattr(key, "value", ""))] = _entry(key, value, place)
            continue
        held = value.value if isinstance(value, yaml.SequenceNode) else [value]
        merged = [pair for one in reversed(held) if isinstance(one, yaml.MappingNode) for pair in one.value]
        found = {**{str(getattr(k, "value", "")): _entry(k, v, place) for k, v in merged}, **found}
    return found


def _entry(key: Any, value: Any, place: PlaceOf) -> Entry:
    inside = dict(_inside(value, place, 0))
    return Entry(place(key.start_mark, key.end_mark), place(value.start_mark, value.end_mark), inside)


def _inside(node: Any, place: PlaceOf, depth: int) -> Iterator[tuple[str, Span]]:
    """The keys of a mapping and of those in it; of two of one name the outermost, which comes last, counts."""
    import yaml

    if not isinstance(node, yaml.MappingNode) or depth > _DEEPEST:
        return
    for _, value in node.value:
        yield from _inside(value, place, depth + 1)
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            yield key.value, place(key.start_mark, key.end_mark)


def at_inner_keys(settings: Settings, found: Mapping[str, Entry]) -> Settings:
    """Settings read from an entry that was one word to the engine, with each member at its own key."""
    inside = {span: entry.inside for entry in found.values() if entry.inside for span in (entry.key, entry.value)}

    def moved(where: Span | None, spelling: str) -> Span | None:
        return inside[where].get(spelling, where) if where is not None and where in inside else where

    def at_its_key(written: Written) -> Written:
        return replace(written, where=moved(written.where, written.spelling))

    def told(problem: Problem) -> Problem:
        return replace(problem, where=moved(problem.where, problem.spelling))

    if not inside:
        return settings
    items = {
        path: replace(setting, written=tuple(at_its_key(written) for written in setting.written))
        for path, setting in settings.items_by_path.items()
    }
    return replace(settings, items_by_path=items, problems=tuple(told(problem) for problem in settings.problems))
