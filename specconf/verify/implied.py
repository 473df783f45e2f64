"""What a release's answers imply for each constraint: that it is so, that it is not, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from specconf.compat.rows import Constraint
from specconf.findings import Stage
from specconf.oracle.asking import Verdict
from specconf.verify.compare import Agreement, Compared
from specconf.verify.judging import UNKNOWN
from specconf.verify.observed import Whose
from specconf.verify.refusing import STOPS


class Implied(StrEnum):
    """What the engine's answers to a constraint's own examples say of it."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    UNSEEN = "unseen"


def implied(found: Agreement) -> dict[str, Implied]:
    """By constraint; those of which a release was asked no example are left out."""
    examples = _by_origin(found)
    told = {}
    for origin, probe in examples.items():
        kind, _, name = origin.partition(" ")
        constraint = probe.ours.view.db.constraint(name) if kind == "probe" else None
        if constraint is not None:
            told[name] = _of(constraint, probe, examples.get(f"twin {name}"))
    return told


def _by_origin(found: Agreement) -> Mapping[str, Compared]:
    return {origin: one for one in found.compared for origin in one.row.origins if one.row.whose is Whose.OWN}


def _of(constraint: Constraint, probe: Compared, twin: Compared | None) -> Implied:
    if constraint.effect in STOPS:
        return _of_refusal(constraint, probe, twin)
    if not constraint.sets or probe.row.verdict is not Verdict.ACCEPTS:
        return Implied.UNSEEN
    compared = [path for path in constraint.sets if path in probe.compared]
    if not compared:
        return Implied.UNSEEN
    wrong = {difference.path: difference.ours for difference in probe.differences if difference.path in compared}
    if any(ours is UNKNOWN for ours in wrong.values()):  # it says one of several values: neither right nor wrong
        return Implied.UNSEEN
    return Implied.CONTRADICTED if wrong else Implied.CONFIRMED


def _of_refusal(constraint: Constraint, probe: Compared, twin: Compared | None) -> Implied:
    """A refusal is confirmed where the probe is refused and its twin is not, or for another reason."""
    if constraint.stage.rank > Stage.CONFIG.rank and probe.row.stage in ("parse", "config"):
        return Implied.UNSEEN
    if probe.row.verdict is Verdict.ACCEPTS:
        # On the hardware that the engine was asked on, the constraint may not hold of its own probe: another platform's rule.
        said = any(finding.constraint == constraint.id for finding in probe.ours.refusals)
        return Implied.CONTRADICTED if said else Implied.UNSEEN
    if twin is None:
        return Implied.UNSEEN
    same = (
        twin.row.verdict is not Verdict.ACCEPTS
        and twin.row.where == probe.row.where
        and twin.row.says == probe.row.says
    )
    return Implied.UNSEEN if same else Implied.CONFIRMED
