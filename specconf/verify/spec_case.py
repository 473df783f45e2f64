"""What a spec was lowered to as a case to put to a release, with what of the spec the launch does not hold."""

from __future__ import annotations

from specconf.compat.view import View
from specconf.engines.base import Engine, Models
from specconf.errors import SpecconfError
from specconf.findings import Finding
from specconf.oracle.sided import SideBySide
from specconf.rules.judge import Judgement
from specconf.spec.model import Spec
from specconf.verify.side_by_side import Case, plain_refusals

_METHOD = "speculation.method"
# An option of the spec that contradicts a field, or may not stand there: it is dropped.
_DROPPED = "SC252"


def case_of_spec(spec: Spec, engine: Engine, view: View, models: Models, judgement: Judgement) -> Case | SideBySide:
    """The launch that a spec lowers to; already the result where none can be written."""
    fields = spec.set_fields()
    features = fields.get("features") or []
    left_out = _left_out(judgement)
    try:
        artifact = engine.emit(judgement.settings, view, "argv")
    except SpecconfError as error:
        return SideBySide(
            view.engine,
            view.release,
            refusals=tuple(plain_refusals(judgement.errors, left_out)),
            unwritten=tuple(finding for finding in judgement.errors if finding.option in left_out),
            not_asked=f"no launch can be written: {error.message}",
        )
    return Case(
        engine,
        view,
        judgement.settings,
        artifact,
        models,
        plain={name: value for name, value in fields.items() if name.startswith(("hardware.", "workload."))},
        features=frozenset(map(str, features)) if isinstance(features, list) else frozenset(),
        errors=tuple(judgement.errors),
        left_out=left_out,
        no_launch_of_its=_no_launch_of_its(spec, judgement, left_out),
    )


def _left_out(judgement: Judgement) -> dict[str, str]:
    """The parts of a spec that its launch does not hold, each with the code of the finding that says why."""
    assert judgement.lowered is not None
    refused = judgement.lowered.refused
    found = {f.option: f.code for f in judgement.lowered.findings if f.option in refused or f.code == _DROPPED}
    unwritten = {problem.spelling for problem in judgement.settings.problems if problem.left_out}
    return found | {f.option: f.code for f in judgement.errors if f.option in unwritten and _not_seen(f)}


def _not_seen(finding: Finding) -> bool:
    """Whether a finding on spelling is about a word that no engine will see."""
    return not finding.constraint and finding.effect is None


def _no_launch_of_its(spec: Spec, judgement: Judgement, left_out: dict[str, str]) -> str:
    """Why the launch is not the one of the spec: the speculation that this asks for is not in it; else empty."""
    method = spec.set_fields().get(_METHOD)
    in_own_words = [name for name in left_out if name.replace("-", "_").startswith("spec") and "." not in name]
    if method in (None, "none") and not in_own_words:
        return ""
    if _METHOD not in left_out and any(path.startswith("spec") for path in judgement.settings):
        return ""
    causes = [f.code for f in judgement.errors if f.option in in_own_words or f.option.startswith("speculation.")]
    codes = f" ({', '.join(dict.fromkeys(causes))})" if causes else ""
    return f"the launch without its speculation{codes} is not the one that the spec asks for"
