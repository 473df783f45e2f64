"""When a release refuses a spec: the smallest change that would pass, searched over the same rules.

Changes are tried from small to large: one option or field, then K, then the release, then the method. Each is lowered and
checked like the original. A candidate passes only if nothing reaches the threshold, nothing that was refused has become a
mere warning or merely unchecked, and nothing new is lost or ignored. For a mistake in the spec itself (a misspelt option)
nothing is searched: the fix of the finding is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from specconf.compat.database import Database
from specconf.compat.view import View
from specconf.engines.base import Engine, Models
from specconf.findings import Finding, Severity
from specconf.rules.judge import Judgement, judge_spec
from specconf.words import JsonValue

if TYPE_CHECKING:
    from specconf.spec.model import Spec

ModelsFor = Callable[["Spec"], Models]
Changes = dict[str, JsonValue]
_MISTAKES = {"SC101", "SC102", "SC103", "SC251", "SC252"}
_MOST = 3
_TOPK = "speculation.tree.topk"
# The kind of draft checkpoint that each method with weights of its own drafts with.
_KIND_FOR = {"draft_model": "plain", "eagle": "eagle", "eagle3": "eagle3"}


class Alternative(Struct, frozen=True):
    """A change to the spec, to the engine's options (`engines.<e>.options` in dotted form) or to the release."""

    text: str
    changes: Mapping[str, JsonValue] = field(default_factory=dict)
    release: str = ""


def smallest_change(
    spec: Spec,
    engine: Engine,
    database: Database,
    view: View,
    models_for: ModelsFor,
    *,
    fail_on: Severity = Severity.ERROR,
) -> list[Alternative]:
    """Up to three changes that would pass, smallest first; at most one of each kind."""
    search = _Search(spec, engine, database, view, models_for, fail_on)
    if not search.refusing or any(f.code in _MISTAKES for f in search.refusing):
        return []
    found: dict[str, Alternative] = {}
    for kind, alternative in search.candidates():
        found.setdefault(kind, alternative)
        if len(found) == _MOST:
            break
    return list(found.values())


class _Search:
    """One search: the spec as it is judged, and what a candidate must not make worse."""

    def __init__(  # the parts of one search
        self, spec: Spec, engine: Engine, database: Database, view: View, models_for: ModelsFor, fail_on: Severity
    ) -> None:
        self.spec, self.engine, self.database, self.view = spec, engine, database, view
        self.models_for = models_for
        self.limit = fail_on.rank
        self.fields = spec.set_fields()
        first = judge_spec(spec, engine, view, models_for(spec))
        self.refusing = [f for f in first.findings if f.severity.rank <= self.limit]
        self.refused_codes = {f.code for f in self.refusing}
        self.known_losses = _losses(first)

    def candidates(self) -> Iterator[tuple[str, Alternative]]:
        """Changes that pass, with the kind of change each is."""
        for path, value in self._options_to_try():
            changed = _with_option(self.spec, self.engine.name, path, value)
            name = f"engines.{self.engine.name}.options.{path}"
            if self._passes(changed, self.view):
                yield "option", Alternative(self._described({name: value}), {name: value})
        for changes in self._single_changes():
            if self._change_passes(changes):
                yield "field", Alternative(self._described(changes), changes)
        release = self._nearest_release()
        if release is not None:
            yield "release", Alternative(f"use {self.engine.title} {release}", release=release)
        for changes in self._other_methods():
            if self._change_passes(changes):
                yield "method", Alternative(self._described(changes), changes)

    def _options_to_try(self) -> Iterator[tuple[str, JsonValue]]:
        """What the refusing constraints themselves name as a way out in the engine's own words."""
        for finding in self.refusing:
            constraint = self.database.constraint(finding.constraint)
            if constraint is not None:
                yield from constraint.tries.items()

    def _single_changes(self) -> Iterator[Changes]:
        """One field set, changed or unset, from the least to the most that a launch would notice."""
        fields = self.fields
        if fields.get("target.trust_remote_code") is not True and "SC304" in self.refused_codes:
            yield {"target.trust_remote_code": True}
        if fields.get("speculation.method") == "ngram" and "speculation.ngram.max" not in fields:
            yield {"speculation.ngram.max": 4}
        yield from self._tree_changes()
        target_tp = fields.get("serving.tensor_parallel_size", 1)
        if "SC401" in self.refused_codes and "speculation.draft.model" in fields:
            yield {"speculation.draft.tensor_parallel_size": target_tp}
        for name in self._blamed_fields():
            yield {name: None}
        if "SC202" in self.refused_codes or "speculation.num_draft_tokens" in self._blamed_fields():
            for other in _other_lengths(fields.get("speculation.num_draft_tokens")):
                yield {"speculation.num_draft_tokens": other}

    def _tree_changes(self) -> Iterator[Changes]:
        topk, k = self.fields.get(_TOPK), self.fields.get("speculation.num_draft_tokens")
        steps = self.fields.get("speculation.tree.num_steps") or k
        if not isinstance(topk, int) or topk == 1:
            return
        if "speculation.tree.num_verify_tokens" not in self.fields and isinstance(steps, int):
            yield {"speculation.tree.num_verify_tokens": steps * topk + 1}
        whole = ("speculation.tree.num_steps", "speculation.tree.num_verify_tokens")
        yield {_TOPK: 1, **{name: None for name in whole if name in self.fields}}

    def _blamed_fields(self) -> list[str]:
        """Set fields that the refusing findings are about and that a spec can do without."""
        blamed = [name for f in self.refusing for name in (f.option, self._field_of(f)) if name in self.fields]
        kept = {"target.model", "speculation.method", "speculation.num_draft_tokens", "speculation.draft.model"}
        facts = ("hardware.", "workload.", "objective.")  # what is so, not what is asked for
        return [n for n in dict.fromkeys(blamed) if n not in kept and n != _TOPK and not n.startswith(facts)]

    def _field_of(self, finding: Finding) -> str:
        judged = judge_spec(self.spec, self.engine, self.view, self.models_for(self.spec))
        setting = judged.settings.setting(finding.option)
        return setting.final.field if setting is not None else ""

    def _other_methods(self) -> Iterator[Changes]:
        """Other methods that need no further weights than the spec has."""
        method = self.fields.get("speculation.method")
        gone: Changes = {
            name: None
            for name in self.fields
            if name.startswith(("speculation.draft.", "speculation.tree.")) or name == "speculation.adaptive"
        }
        if "speculation.draft.model" in self.fields:
            for other in _KIND_FOR:
                if other != method:
                    yield {"speculation.method": other}
        if method != "mtp":
            yield {"speculation.method": "mtp", **gone}
        if method != "ngram":
            yield {"speculation.method": "ngram", **gone}

    def _described(self, changes: Changes) -> str:
        """Every part of a change, what is unset included. A topk of 1 counts as set whether it is written or not."""
        shown = [f"set {name} to {_value(value)}" for name, value in changes.items() if value is not None]
        gone = [name for name, value in changes.items() if value is None]
        maybe = _TOPK in gone and self.fields.get(_TOPK) == 1
        sure = [name for name in gone if not (maybe and name == _TOPK)]
        unset = [f"unset {', '.join(sure)}"] if sure else []
        return " and ".join([*shown, *unset]) + (f" (and unset {_TOPK} if it is written)" if maybe else "")

    def _change_passes(self, changes: Changes) -> bool:
        from pydantic import ValidationError

        try:
            changed = self.spec.with_fields(changes)
        except ValidationError:
            return False
        method = changes.get("speculation.method")
        if method is not None and not _weights_fit(str(method), self.models_for(changed)):
            return False
        return self._passes(changed, self.view)

    def _passes(self, spec: Spec, view: View) -> bool:
        judged = judge_spec(spec, self.engine, view, self.models_for(spec))
        if any(f.severity.rank <= self.limit for f in judged.findings):
            return False
        if any(item.code in self.refused_codes for item in judged.result.not_checked):
            return False
        if any(f.code in self.refused_codes and f.severity is not Severity.INFO for f in judged.findings):
            return False  # the same trouble with a milder word for it
        return _losses(judged) <= self.known_losses

    def _nearest_release(self) -> str | None:
        """The nearest final release that passes: newer ones first, since operators upgrade more gladly than they go back."""
        about_spec = any(f.code.startswith("SC3") and not f.constraint for f in self.refusing)
        no_draft = "SC204" in self.refused_codes and self.fields.get("speculation.method") != "mtp"
        if about_spec or no_draft or "SC202" in self.refused_codes:
            return None  # no release makes up for a missing number or draft, or for weights of another kind
        names, versions = self.database.line.names, self.database.line.versions
        newer = range(self.view.point.positions[-1] + 1, len(names))
        older = range(self.view.point.positions[0] - 1, -1, -1)
        for position in (*newer, *older):
            at = self.database.view(self.database.line.at(position))
            if not versions[position].is_prerelease and self._passes(self.spec, at):
                return at.release
        return None


def _losses(judged: Judgement) -> set[str]:
    """What a launch loses: fields that cannot be said, options that do nothing, speculation switched off, exactness."""
    refused = judged.lowered.refused if judged.lowered is not None else frozenset()
    quiet = {"SC106", "SC207", "SC208", "SC501", "SC502"}
    return set(refused) | {f.code for f in judged.findings if f.code in quiet}


def _weights_fit(method: str, models: Models) -> bool:
    """Another method is only suggested when the weights it needs are known to be there."""
    if method == "mtp":
        layers = models.known("target", "mtp_layers")
        return isinstance(layers, int) and layers > 0
    wanted = _KIND_FOR.get(method)
    return wanted is None or models.known("draft", "kind") == wanted


def _with_option(spec: Spec, engine: str, path: str, value: JsonValue) -> Spec:
    sections = spec.engine_settings()
    place = sections.setdefault(engine, {}).setdefault("options", {})
    *parents, leaf = path.split(".")
    for parent in parents:
        place = place.setdefault(parent, {})
    place[leaf] = value
    return type(spec).from_fields(spec.set_fields(), engines=sections)


def _other_lengths(k: JsonValue) -> list[int]:
    """Other K, nearest first; 1 to 8 are what heads and MTP layers are trained for."""
    if not isinstance(k, int):
        return [4, 3, 1]
    return sorted((n for n in range(1, max(8, k) + 1) if n != k), key=lambda n: (abs(n - k), n))


def _value(value: JsonValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
