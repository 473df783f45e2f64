"""The typed rows of the database. Field meanings are those of docs/database.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from specconf.compat.releases import Ranges
from specconf.findings import Effect, EvidenceKind, Severity, Stage
from specconf.words import JsonValue


class _Missing:
    """The mark of an absent default: the default of the engine is not known."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Missing()


class Evidence(Struct, frozen=True):
    """Where a fact comes from."""

    kind: EvidenceKind
    text: str = ""


class Option(Struct, frozen=True):
    """One option of one scope, constant over its ranges.

    `own_parser`: the engine reads the word by a function of its own, which takes more than the type (`16k`, `auto`).
    """

    scope: str
    path: str
    names: tuple[str, ...]
    no_names: tuple[str, ...]
    kind: str
    type: str | None
    own_parser: bool
    nullable: bool
    const: JsonValue
    default: JsonValue | _Missing
    required: bool
    choices: tuple[JsonValue, ...] | None
    bounds: Mapping[str, float]
    deprecated: str
    replaced_by: str
    internal: bool
    methods: tuple[str, ...]
    members: str
    ranges: Ranges
    evidence: EvidenceKind
    parser: str = ""

    @property
    def key(self) -> str:
        """The canonical spelling, or the path of a positional."""
        return self.names[0] if self.names else self.path


class Scope(Struct, frozen=True):
    """What is known of one list of options in one range of releases.

    `tag` is the path of the discriminator, where the members depend on its value (`Option.methods`). `coerces`: a value of
    another type is taken where it can be read as the member's own ("3" and 3.0 for 3, 1 for true).
    """

    name: str
    completeness: str
    unknown_member: str
    forms: frozenset[str]
    ranges: Ranges
    tag: str = ""
    coerces: bool = False


class Method(Struct, frozen=True):
    """The engine's own word for a way of drafting."""

    value: str
    spec_method: str | None
    alias_of: str | None
    ranges: Ranges


class TableRow(Struct, frozen=True):
    """One row of a named table; `columns` are the table's own."""

    value: JsonValue
    columns: Mapping[str, Any]
    ranges: Ranges


class Table(Struct, frozen=True, dict=True):
    """A named list that rules and lowering look things up in. `closed`: a value that is absent is known not to be in it."""

    name: str
    closed: bool
    rows: tuple[TableRow, ...]

    def of(self, value: JsonValue) -> Sequence[TableRow]:
        """The rows with a value, in any release."""
        return self._by_value.get(_key(value), ())

    @cached_property
    def _by_value(self) -> Mapping[str, list[TableRow]]:
        found: dict[str, list[TableRow]] = {}
        for row in self.rows:
            found.setdefault(_key(row.value), []).append(row)
        return found


def _key(value: JsonValue) -> str:
    """A value as a key that tells 1 from true and from "1"."""
    return repr(value)


class Message(Struct, frozen=True):
    """The first words of what an engine says at one place; `~` stands for what is filled in.

    `kind` is raise, assert, warning, error or info; `exception` the class that is raised; `where` a file and a function in it.
    """

    kind: str
    exception: str
    fragment: str
    where: str
    ranges: Ranges


class Action(StrEnum):
    """What lowering does with a set field of the spec."""

    WRITE = "write"
    DEFAULT = "default"
    REFUSE = "refuse"
    METHOD = "method"
    DESCRIBE = "describe"


class Refusal(Struct, frozen=True):
    """Why a field cannot be expressed, and what its loss changes: results, exactness, k, performance or description."""

    changes: str
    because: str


class MappingRow(Struct, frozen=True):
    """How one field of the spec meets one engine in some releases."""

    field: str
    action: Action
    path: str
    transform: str
    value: JsonValue
    refusal: Refusal | None
    note: str
    evidence: EvidenceKind
    ranges: Ranges


class Constraint(Struct, frozen=True, eq=False):
    """One fact: in these releases, when the condition holds, the engine does this.

    `kind` is executable (a launch is held against it), described (nothing in a launch decides it) or resolves (what the
    engine fills in for itself where nothing is written: no finding).

    `common`: it is written once for several engines and says nothing of this engine's own.

    Its `examples` (probe, twin, also) are read when they are first asked for: no check needs them.
    """

    id: str
    code: str
    kind: str
    stage: Stage
    step: str
    effect: Effect
    severity: Severity | None
    when: Mapping[str, Any]
    sets: Mapping[str, Any]
    after: tuple[str, ...]
    message: str
    fix: str
    evidence: tuple[Evidence, ...]
    examples: Callable[[], Mapping[str, Any]]
    ranges: Ranges
    groups: Mapping[str, Any] = field(default_factory=dict)
    tries: Mapping[str, Any] = field(default_factory=dict)
    unless: frozenset[str] = frozenset()
    common: bool = False

    @property
    def evaluated(self) -> bool:
        """Whether launches are held against its condition; what is only described has none that could be."""
        return self.kind != "described"

    @property
    def resolves(self) -> bool:
        """Whether it is what the engine fills in for itself: in the effective configuration, and no finding."""
        return self.kind == "resolves"

    @property
    def probe(self) -> Mapping[str, Any] | None:
        """A launch that meets it."""
        return self.examples().get("probe")

    @property
    def twin(self) -> Mapping[str, Any] | None:
        """A launch that is like the probe and does not meet it."""
        return self.examples().get("twin")

    @property
    def also(self) -> tuple[Mapping[str, Any], ...]:
        """Other spellings of the probe, for other releases of the range."""
        return tuple(self.examples().get("also") or ())

    @property
    def best_evidence(self) -> EvidenceKind:
        """The surest kind among the row's evidence."""
        return min((e.kind for e in self.evidence), key=lambda kind: kind.rank)
