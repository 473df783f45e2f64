"""Settings: the engine's own destination paths with every value written for them, the winner, and where each came from.

A path is dotted and stable over releases; members of an object carry their parent's path
(`speculative_config.num_speculative_tokens`), environment variables start with `env.`. Nothing here knows an engine.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from msgspec import Struct, StructMeta, field
from msgspec.structs import replace

from specconf.words import JsonValue, Span, Unresolved, Value, Word


class Origin(StrEnum):
    """Where a written value came from."""

    SPEC = "spec"
    OPTION = "engine option"
    ARGV = "command line"
    ENV = "environment"
    FILE = "option file"


class Written(Struct, frozen=True):
    """One value written for a path. `spelling` is the flag, key or variable as written; `field` the spec's field."""

    value: Value
    origin: Origin
    spelling: str = ""
    field: str = ""
    where: Span | None = None


class Setting(Struct, frozen=True):
    """All values written for one path in the order the engine reads them; `winner` indexes the one that counts."""

    path: str
    written: tuple[Written, ...]
    winner: int = -1

    @property
    def final(self) -> Written:
        """The value that counts, with its origin."""
        return self.written[self.winner]

    @property
    def value(self) -> Value:
        """The value that counts."""
        return self.final.value

    @property
    def losers(self) -> tuple[Written, ...]:
        """Values that were written and do not count."""
        winner = self.written[self.winner]
        return tuple(w for w in self.written if w is not winner)


class ProblemKind(StrEnum):
    """What can be wrong with a written word itself, whatever the other settings are."""

    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"
    INVALID = "invalid"
    MISSING_VALUE = "missing value"
    NOT_JSON = "not json"
    UNEXPECTED = "unexpected"
    OVERWRITTEN = "overwritten"
    TEXT_IN_CODE = "text in code"  # where code has to give an object
    EXCLUSIVE = "exclusive"  # beside what `expected` names


class Problem(Struct, frozen=True):
    """A word that the engine's parser would not take, as data for the rules on spelling.

    `scope` names the list of options the word was looked up in, `expected` says what would have been accepted, `near` holds
    spellings that are valid in this release and close to what was written. `left_out`: the word stands in a spec and was
    not written to the launch, so the engine never sees it. `known_as`: the spelling that the engine looks up in its place.
    """

    kind: ProblemKind
    scope: str
    spelling: str
    value: str = ""
    expected: str = ""
    near: tuple[str, ...] = ()
    where: Span | None = None
    left_out: bool = False
    known_as: str = ""

    @property
    def looked_up(self) -> str:
        """The spelling under which other releases are asked for it."""
        return self.known_as or self.spelling


class _StructOfAbstract(StructMeta, ABCMeta):
    """For a struct that is a collection, whose own metaclass is that of abstract classes."""


class Settings(Struct, Mapping[str, Value], frozen=True, metaclass=_StructOfAbstract):
    """The settings of one launch. As a mapping: path → the value that counts.

    `unresolved` are words that may hold options that were not seen; `problems` are words that could not be read. `files`
    are the texts of files beside the launch, by the name that its words give them.
    """

    engine: str
    items_by_path: Mapping[str, Setting] = field(default_factory=dict)
    unresolved: tuple[Word, ...] = ()
    problems: tuple[Problem, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, path: str) -> Value:
        return self.items_by_path[path].value

    def __contains__(self, path: object) -> bool:  # the inherited one asks for the value first, and rules ask often
        return path in self.items_by_path

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_by_path)

    def __len__(self) -> int:
        return len(self.items_by_path)

    def setting(self, path: str) -> Setting | None:
        """Everything written for a path."""
        return self.items_by_path.get(path)

    def under(self, prefix: str) -> dict[str, Value]:
        """The members of an object: relative path → value."""
        start = f"{prefix}."
        return {path[len(start) :]: self[path] for path in self if path.startswith(start)}

    def writes(self, path: str) -> bool:
        """Whether the path itself or anything below it was written."""
        return path in self.items_by_path or any(p.startswith(f"{path}.") for p in self.items_by_path)

    def flat(self) -> SettingsValues:
        """Path → value as a plain dict, for comparison: origins and losers do not count."""
        return {path: self[path] for path in self}

    @property
    def may_hold_more(self) -> bool:
        """Whether options may have been written that could not be read."""
        return any(word.may_be_many for word in self.unresolved)

    def without(self, paths: Iterable[str]) -> Settings:
        """The settings less some paths."""
        gone = set(paths)
        return replace(self, items_by_path={p: s for p, s in self.items_by_path.items() if p not in gone})


SettingsValues = dict[str, Value]


class SettingsBuilder:
    """Collects written values in order, then yields frozen settings. The last value written for a path wins."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self._written: dict[str, list[Written]] = {}
        self._unresolved: list[Word] = []
        self._problems: list[Problem] = []
        self._files: dict[str, str] = {}

    def write(self, path: str, written: Written) -> None:
        """One more value for a path."""
        self._written.setdefault(path, []).append(written)

    def remove(self, path: str) -> None:
        """Forget a path, and everything below it."""
        for known in [p for p in self._written if p == path or p.startswith(f"{path}.")]:
            del self._written[known]

    def current(self, path: str) -> Written | None:
        """The value that counts so far."""
        written = self._written.get(path)
        return written[-1] if written else None

    def paths(self) -> list[str]:
        """The paths written so far."""
        return list(self._written)

    def unresolved(self, word: Word) -> None:
        """A word that could not be known."""
        self._unresolved.append(word)

    def problem(self, problem: Problem) -> None:
        """A word that the engine's parser would not take."""
        self._problems.append(problem)

    def file(self, name: str, text: str) -> None:
        """The text of a file beside the launch, which an option may name."""
        self._files[name] = text

    def build(self) -> Settings:
        """The settings so far."""
        items = {path: Setting(path, tuple(written)) for path, written in self._written.items()}
        return Settings(self.engine, items, tuple(self._unresolved), tuple(self._problems), self._files)


def nested(flat: Mapping[str, Value]) -> dict[str, JsonValue]:
    """Dotted paths as a nested mapping, in the order given. Unresolved values appear as their text."""
    result: dict[str, JsonValue] = {}
    for path, value in flat.items():
        *parents, leaf = path.split(".")
        node = result
        for parent in parents:
            below = node.setdefault(parent, {})
            if not isinstance(below, dict):
                below = node[parent] = {}
            node = below
        node[leaf] = value.text if isinstance(value, Unresolved) else _plain(value)
    return result


def _plain(value: Value) -> JsonValue:
    if not isinstance(value, bool | int | float | str | list | dict | None):
        raise TypeError(f"no single value: {value!r}")
    return value
