"""Spec → settings, for any engine: the mapping table field by field, the engine's own code for the method, then the options
that the spec gives in the engine's own words. Nothing that the spec sets is dropped silently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from specconf.compat.rows import Action, MappingRow
from specconf.compat.view import View
from specconf.engines.base import (
    NOTHING,
    CannotExpressError,
    Engine,
    LowerContext,
    Lowered,
    Models,
    Transform,
)
from specconf.engines.overlay import lay_options
from specconf.engines.shape import check_shape
from specconf.errors import DatabaseError
from specconf.facts import Known
from specconf.findings import EvidenceKind, Finding, Severity
from specconf.kleene import Ternary
from specconf.settings import SettingsBuilder
from specconf.words import JsonValue, Span

if TYPE_CHECKING:
    from specconf.spec.model import Spec

SPECULATION = "speculation."


def no_span(name: str) -> Span | None:
    """For specs without a file: no field has a place."""
    del name
    return None


SHARED_TRANSFORMS: Mapping[str, Transform] = {
    "identity": Transform(lambda value, _: value, lambda value, _: value),
    "negate": Transform(lambda value, _: not value, lambda value, _: _negated(value)),
}


def _negated(value: JsonValue) -> bool:
    if not isinstance(value, bool):
        raise LookupError(value)
    return not value


def lower(
    spec: Spec,
    engine: Engine,
    view: View,
    models: Models,
    *,
    span: Callable[[str], Span | None] = no_span,
) -> Lowered:
    """The spec as this engine's settings at this release, with a finding for every field that cannot be expressed.

    Raises DatabaseError when the mapping table forgets a field: that is a fault of the data, not of the spec.
    """
    context = LowerContext(
        spec=spec,
        fields=spec.set_fields(),
        view=view,
        models=models,
        title=engine.title,
        span=span,
        builder=SettingsBuilder(engine.name),
    )
    transforms = {**SHARED_TRANSFORMS, **engine.transforms}
    for name, value in context.fields.items():
        _apply(context, transforms, name, value)
    if context.get("speculation.method") in (None, "none"):
        context.accounted.update(n for n in context.fields if n.startswith(SPECULATION))
        _tell_speculation_of_others(context)
    else:
        _check_weights(context)
        engine.lower_speculation(context)
    lay_options(context, engine)
    check_shape(context, engine)
    forgotten = set(context.fields) - context.accounted
    if forgotten:
        raise DatabaseError(f"lowering to {view.engine} {view.release} forgets {', '.join(sorted(forgotten))}")
    return Lowered(
        context.builder.build(),
        tuple(context.findings),
        frozenset(context.refused),
        frozenset(context.written - context.refused),
        dict(context.restated),
    )


def _apply(context: LowerContext, transforms: Mapping[str, Transform], name: str, value: JsonValue) -> None:
    rows = context.view.mapping.get(name, ())
    if not rows:
        raise DatabaseError(f"the mapping of {context.view.engine} has no row for {name} at {context.view.release}")
    row, held = _row_for(rows)
    if held is None:
        changes = row.refusal.changes if row.refusal else "performance"
        context.refuse(name, changes, "is a release for which the spelling of this field is not known")
    elif row.action is Action.REFUSE:
        assert row.refusal is not None
        context.refuse(name, row.refusal.changes, row.refusal.because, evidence=row.evidence)
    elif row.action is Action.WRITE:
        _write(context, transforms, row, name, value)
    elif row.action is Action.DEFAULT:
        _default(context, row, name, value)
    elif row.action is Action.DESCRIBE:
        context.covered(name)


def _row_for(rows: tuple[tuple[MappingRow, Ternary], ...]) -> tuple[MappingRow, Ternary]:
    """The row known to hold, else the first that may."""
    return next(((row, held) for row, held in rows if held), rows[0])


def _write(
    context: LowerContext, transforms: Mapping[str, Transform], row: MappingRow, name: str, value: JsonValue
) -> None:
    try:
        lowered = transforms[row.transform].lower(value, context)
    except CannotExpressError as error:
        context.refuse(name, error.changes, error.because, fix=error.fix, evidence=row.evidence)
        return
    if lowered is NOTHING:
        context.covered(name)
        return
    context.write(row.path, lowered, name)  # type: ignore[arg-type]
    if row.note:
        _note(context, row, name)


def _note(context: LowerContext, row: MappingRow, name: str) -> None:
    context.findings.append(
        Finding(
            code="SC601",
            severity=Severity.INFO,
            message=f"{name} is written as {row.path}: {row.note}.",
            engine=context.view.engine,
            release=context.view.release,
            checked_as=context.view.point.checked_as,
            evidence=row.evidence,
            where=context.span(name),
            option=name,
        )
    )


def _default(context: LowerContext, row: MappingRow, name: str, value: JsonValue) -> None:
    if value == row.value:
        context.covered(name)
        return
    assert row.refusal is not None, f"a default row without `otherwise`: {row.field}"
    context.refuse(name, row.refusal.changes, row.refusal.because, evidence=row.evidence)


def _tell_speculation_of_others(context: LowerContext) -> None:
    """A spec that speculates in the words of another engine only: this launch will not, and must say so."""
    for name, section in context.spec.engines.items():
        keys = [key for key in section.options if key.replace("-", "_").startswith(("speculative", "spec_"))]
        if name != context.view.engine and keys:
            context.problem(
                "SC250",
                f"engines.{name}.options.{keys[0]}",
                f"engines.{name}.options speculate in that engine's own words, so the launch of {context.title} does not.",
                fix="Set speculation.method and its fields, which every engine understands.",
                severity=Severity.WARNING,
            )


# The kind of checkpoint that a method drafts with, and how a reader calls it.
_DRAFT_KINDS = {"draft_model": "plain", "eagle": "eagle", "eagle3": "eagle3"}
_KIND_WORDS = {"plain": "a whole model", "eagle": "an EAGLE-1/2 head", "eagle3": "an EAGLE-3 head"}


def _check_weights(context: LowerContext) -> None:
    """A spec whose method needs weights that the checkpoints' own configs show they are not is refused here.

    The engine's own effect is a constraint of its own, printed beside this.
    """
    method, draft = context.get("speculation.method"), context.get("speculation.draft.model")
    if method == "mtp" and draft is None:
        _check_mtp_layers(context)
    if method in {"eagle", "eagle3"}:
        _check_head_size(context)
    wanted = _DRAFT_KINDS.get(str(method))
    found = context.models.known("draft", "draft_kind") or context.models.known("draft", "kind")
    if wanted is None or draft is None or found is None or found in (wanted, "unknown"):
        return
    fitting = next((m for m, kind in _DRAFT_KINDS.items() if kind == found), None)
    context.problem(
        "SC303",
        "speculation.draft.model",
        f"Method {method} drafts with {_KIND_WORDS[wanted]}, but {draft} is {_KIND_WORDS.get(str(found), f'a {found} draft')}.",
        fix=f"Set speculation.method to {fitting}, or name another draft." if fitting else "Name another draft.",
    )


def _check_head_size(context: LowerContext) -> None:
    """A head reads the target's hidden states, so it must fit their size. What an engine does otherwise is inferred."""
    trained_for = context.models.known("draft", "target_hidden_size")
    size = context.models.known("target", "hidden_size")
    if isinstance(trained_for, int) and isinstance(size, int) and trained_for != size:
        context.problem(
            "SC303",
            "speculation.draft.model",
            f"{context.get('speculation.draft.model')} reads hidden states of size {trained_for}, but those of "
            f"{context.get('target.model')} have size {size}.",
            fix="Use a head that was trained for this target.",
            severity=Severity.WARNING,
            evidence=EvidenceKind.INFERRED,
        )


def _check_mtp_layers(context: LowerContext) -> None:
    layers = context.models.target.fact("mtp_layers")
    if not isinstance(layers, Known) or layers.value != 0:
        return
    architecture = context.models.known("target", "architecture") or "its architecture"
    context.problem(
        "SC301",
        "speculation.method",
        f"{context.get('target.model')} ({architecture}) has no MTP layers, so method mtp has nothing to draft with.",
        fix="Use a target with MTP layers, or a draft model, an EAGLE head or n-gram.",
    )
