"""Which method to begin with for a target, and why: what its config and the checkpoint rows show. Pure; nothing is measured.

MTP layers that the checkpoint holds come first: they need no further weights. Then a published EAGLE3 head, then n-gram lookup,
which needs nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from specconf.models.facts import Missing, ModelFacts
from specconf.models.hub import Unavailable
from specconf.models.kinds import Kind
from specconf.models.rows import EVIDENCE, CheckpointRow, RowTable

_K = 3
_MEASURE = "a value to begin with; the best one is found by measuring"
# Methods that no engine takes without K, or that have no depth of their own.
_NEEDS_K = frozenset({"draft_model", "eagle", "eagle3", "mtp", "ngram", "medusa", "sa", "pard"})


class Proposal(Struct, frozen=True):
    """A method, the draft it needs, and the sentence that says why."""

    method: str
    why: str
    draft: str | None = None


def propose_method(target: str, found: ModelFacts | Unavailable, rows: RowTable) -> Proposal:
    """The method to begin with for a target whose config was found, or not."""
    layers = _layers(found)
    if layers > 0:
        return Proposal(
            "mtp", f"Proposed: the target has MTP layers ({layers}), and needs no further weights to draft with."
        )
    drafts = known_drafts(target, rows)
    heads = drafts.get("eagle3", [])
    if heads:
        head, *others = heads
        more = f" Others: {', '.join(row.id for row in others)}." if others else ""
        return Proposal(
            "eagle3", f"Proposed: {head.id} is a published EAGLE3 head of this target{_told(head)}.{more}", head.id
        )
    return Proposal("ngram", f"Proposed: {_no_mtp(found)}, and no EAGLE3 head of this target is known.{_other(drafts)}")


def propose_draft(target: str, method: str, rows: RowTable) -> Proposal | None:
    """A published draft of a target for a method, if one is known."""
    found = known_drafts(target, rows).get(method, [])
    if not found:
        return None
    return Proposal(method, f"Proposed: it is published as a draft of this target{_told(found[0])}.", found[0].id)


def propose_k(method: str, target: ModelFacts | Unavailable) -> tuple[int, str] | None:
    """Draft tokens to begin with, and why; None for a method that has no need of any."""
    if method not in _NEEDS_K:
        return None
    layers = _layers(target)
    if method == "mtp" and layers > 0:
        return layers, f"Proposed: one for each MTP layer of the target, {_MEASURE}."
    return (1 if method == "mtp" else _K), f"Proposed: {_MEASURE}."


def known_drafts(target: str, rows: RowTable) -> Mapping[str, list[CheckpointRow]]:
    """By method the rows of drafts that published launches pair with a target, those whose config is known first.

    A plain model is not among them: whether it drafts by itself or as PARD does, no row says.
    """
    names = {target}
    if target in rows:
        row = rows[target]
        names |= {row.id, *row.aliases}
    found: dict[str, list[CheckpointRow]] = {}
    for row in rows.drafts():
        method = _method(row)
        if method is not None and names & set(row.drafts_for):
            found.setdefault(method, []).append(row)
    return {method: sorted(each, key=_order) for method, each in found.items()}


def _order(row: CheckpointRow) -> tuple[bool, int, str]:
    return row.kind is Kind.UNKNOWN, EVIDENCE.index(row.evidence), row.id


def _layers(found: ModelFacts | Unavailable) -> int:
    """How many MTP layers a target is known to have: its config counts them, and no list of its tensors shows none."""
    if isinstance(found, Unavailable) or found.get("has_mtp_tensors") is False:
        return 0
    layers = found.get("mtp_layers")
    return layers if isinstance(layers, int) else 0


_METHOD_OF = {
    Kind.EAGLE: "eagle",
    Kind.EAGLE3: "eagle3",
    Kind.DFLASH: "dflash",
    Kind.DSPARK: "dspark",
    Kind.MEDUSA: "medusa",
}


def _method(row: CheckpointRow) -> str | None:
    """How a draft drafts, as its kind or a published launch says; None where neither does."""
    return row.drafts_by or _METHOD_OF.get(row.kind)


def _told(row: CheckpointRow) -> str:
    """What shows it, for the end of a sentence."""
    shown = (f"{each.package} {each.release}, {each.file}" if each.package else each.ref for each in row.source)
    named = list(dict.fromkeys(text for text in shown if text))
    return f" ({'; '.join(named)})" if named else ""


def _no_mtp(found: ModelFacts | Unavailable) -> str:
    if isinstance(found, Unavailable):
        return f"the target's config is not at hand ({found.reason}), so whether it has MTP layers is not known"
    layers = found.get("mtp_layers")
    if found.get("has_mtp_tensors") is False:
        return "the target's weights hold no MTP layers"
    if isinstance(layers, Missing) and not layers.absent:
        return f"whether the target has MTP layers is not known ({layers.reason})"
    return "the target's config has no MTP layers"


def _other(drafts: Mapping[str, Iterable[CheckpointRow]]) -> str:
    named = [f"{row.id} ({method})" for method, rows in sorted(drafts.items()) for row in rows]
    return f" Published drafts by other methods: {', '.join(named)}." if named else ""
