"""Consistency of the curated rules: names that exist, codes, order of overrides, and examples that show what they claim.

What a constraint says is only believed as far as its own examples carry: the probe meets it, its twin does not, the probe
needs every conjunct of `when`, and it meets the constraint over the whole range of releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from specconf.codes import CODES
from specconf.compat.database import Database
from specconf.compat.lint import Problem
from specconf.compat.rows import Constraint
from specconf.engines.registry import get_engine
from specconf.errors import DatabaseError
from specconf.findings import Severity
from specconf.rules.checker import condition_of
from specconf.rules.conditions import All, Named, Test
from specconf.rules.judge import Judgement
from specconf.rules.orderlint import unordered_overrides
from specconf.rules.probes import meets, run_probe

# Codes of what an engine's parser says of a spelling.
_SPELLING = "SC1"
_OPTION_ROOTS = ("option.", "asked.")
# More than one condition in ten that calls a predicate means that the language of conditions is too weak.
_PREDICATE_SHARE = 10


def problems(database: Database, *, examples: bool = True) -> Iterator[Problem]:
    """Everything that is wrong with the constraints; running their examples takes a few seconds.

    A condition that cannot be read ends this: nothing can be judged by the others without it.
    """
    engine = database.engine
    if unread := [*_unreadable(database)]:
        yield from unread
        return
    for first, second in unordered_overrides(database):
        yield Problem("order", engine, second.id, f"overrides what {first.id} overrides, and nothing orders the two")
    yield from _predicates(database)
    seen: set[str] = set()
    for constraint in database.constraints:
        found = [*_plain_faults(database, constraint)]
        if constraint.id in seen:
            found.append("its id is used twice")
        seen.add(constraint.id)
        if constraint.evaluated and not found and examples:
            found += example_faults(database, constraint)
        yield from (Problem("constraint", engine, constraint.id, text) for text in found)


def _unreadable(database: Database) -> Iterator[Problem]:
    for constraint in database.constraints:
        try:
            condition_of(constraint)
        except DatabaseError as error:
            if constraint.evaluated:
                yield Problem(
                    "constraint", database.engine, constraint.id, f"its condition cannot be read: {error.message}"
                )


def _predicates(database: Database) -> Iterator[Problem]:
    executable = [c for c in database.constraints if c.evaluated]
    calling = [c for c in executable if any(isinstance(leaf, Named) for leaf in condition_of(c).leaves())]
    if len(calling) * _PREDICATE_SHARE > len(executable):
        yield Problem(
            "predicates", database.engine, "constraints", f"{len(calling)} of {len(executable)} call a predicate"
        )


def _plain_faults(database: Database, constraint: Constraint) -> Iterator[str]:
    """What can be seen without running anything."""
    if not constraint.id.startswith(f"{database.engine}/"):
        yield f"its id does not begin with {database.engine}/"
    if constraint.code not in CODES:
        yield f"its code {constraint.code} is not registered"
    if not constraint.message.rstrip().endswith("."):
        yield "its message is not a sentence"
    if not constraint.evaluated:
        return
    if not constraint.fix and not constraint.resolves:
        yield "it has no fix"
    if constraint.resolves and not constraint.sets:
        yield "it sets nothing"
    unknown = [name for name in sorted(constraint.unless) if database.constraint(name) is None]
    yield from (f"it gives way to {name}, which does not exist" for name in unknown)
    for leaf in condition_of(constraint).leaves():
        if isinstance(leaf, Test):
            yield from _unknown_names(database, leaf)
    for path in constraint.sets:
        if not _known_path(database, path):
            yield f"it sets {path}, which no release has"
    for label, example in (("probe", constraint.probe), ("twin", constraint.twin)):
        if example is None:
            yield f"it has no {label}"


def _unknown_names(database: Database, test: Test) -> Iterator[str]:
    if test.op in {"in_table", "not_in_table"} and test.right not in database.tables:
        yield f"it asks for the table {test.right}, which does not exist"
    root = next((root for root in _OPTION_ROOTS if test.path.startswith(root)), None)
    if root is not None and not _known_path(database, test.path.removeprefix(root)):
        yield f"it asks for {test.path}, which no release has"


def _known_path(database: Database, path: str) -> bool:
    """Whether some release has a path, or an object above it whose members are not all known."""
    if path in database.rows_by_path:
        return True
    complete = {s.name for s in database.scopes if s.completeness == "complete"}
    parent = path.rpartition(".")[0]
    while parent:
        rows = [database.raw_options[i][1] for i in database.rows_by_path.get(parent, ())]
        if rows:
            return any(row.get("members") not in complete for row in rows)
        parent = parent.rpartition(".")[0]
    return False


def example_faults(database: Database, constraint: Constraint) -> Iterator[str]:
    """What running a constraint's own examples shows."""
    for fault in EXAMPLE_CHECKS.values():
        yield from fault(database, constraint)


def probe_faults(database: Database, constraint: Constraint) -> Iterator[str]:
    """The probe meets the constraint, and its release's parser takes it."""
    judgement = _judged(database, constraint.probe)
    if not meets(judgement, constraint.id):
        yield "its probe does not meet it"
    yield from (f"its probe is refused: {said}" for said in refusals(judgement))


def twin_faults(database: Database, constraint: Constraint) -> Iterator[str]:
    """The twin does not meet it, and decides so; its release's parser takes it."""
    judgement = _judged(database, constraint.twin)
    if meets(judgement, constraint.id):
        yield "its twin meets it"
    undecided = {item.constraint for item in judgement.result.not_checked}
    if constraint.id in undecided or judgement.result.resolved.get(constraint.id, False) is None:
        yield "its twin does not decide it"
    yield from (f"its twin is refused: {said}" for said in refusals(judgement))


def _judged(database: Database, example: Mapping[str, Any] | None) -> Judgement:
    return run_probe(database, get_engine(database.engine), example or {})[1]


def refusals(judgement: Judgement) -> list[str]:
    """Why a launch is refused for its spelling alone, whatever the constraints say of it."""
    return [
        finding.message
        for finding in judgement.findings
        if finding.severity is Severity.ERROR and finding.code.startswith(_SPELLING) and not finding.constraint
    ]


def conjunct_faults(database: Database, constraint: Constraint) -> Iterator[str]:
    """Negating any one conjunct of `when` lets the probe go."""
    condition = condition_of(constraint)
    for index in range(len(condition.parts) if isinstance(condition, All) else 1):
        mutated = database.with_constraint(constraint.id, partial(_negated, index))
        if meets(_judged(mutated, constraint.probe), constraint.id):
            yield f"conjunct {index + 1} of its condition decides nothing"


def _negated(index: int, when: Mapping[str, Any]) -> dict[str, Any]:
    parts = list(when["all"]) if set(when) == {"all"} else [{key: value} for key, value in when.items()]
    parts[index] = {"not": parts[index]}
    return {"all": parts}


def range_faults(database: Database, constraint: Constraint) -> Iterator[str]:
    """In every release that it claims, the probe meets it in a spelling, its own or another, that the release takes."""
    probes = [constraint.probe or {}, *({**(constraint.probe or {}), **other} for other in constraint.also)]
    for low, high in constraint.ranges.holds_in:
        for release in database.line.names[low:high]:
            judged = (_judged(database, {**probe, "release": release}) for probe in probes)
            if not any(meets(judgement, constraint.id) and not refusals(judgement) for judgement in judged):
                yield f"it claims {release}, where no spelling of its probe is taken and meets it"
                break


EXAMPLE_CHECKS: Mapping[str, Callable[[Database, Constraint], Iterator[str]]] = {
    "probe": probe_faults,
    "twin": twin_faults,
    "conjuncts": conjunct_faults,
    "range": range_faults,
}
