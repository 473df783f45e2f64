"""Settings → spec, for any engine: `lower` run backwards.

A guess at the fields is proven by lowering it again; what does not come back equal stays in the engine's own words under
`engines.<e>.options`. So `lower(lift(x)) == x` holds by construction, and nothing of a launch is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specconf.compat.rows import Action, Option
from specconf.compat.view import View
from specconf.engines.base import Engine, Fields, Lowered, Models
from specconf.engines.lowering import SHARED_TRANSFORMS, SPECULATION, lower
from specconf.engines.options import parent_object, written_key
from specconf.errors import InputError, SpecconfError
from specconf.findings import Severity
from specconf.settings import Settings
from specconf.words import Candidates, JsonValue, Unresolved, Value, same

if TYPE_CHECKING:
    from specconf.spec.model import Spec

_ROUNDS = 60


def project(spec: Spec, lowered: Lowered) -> Spec:
    """The part of a spec that a lowering of it carries: what `lift` can give back."""
    from specconf.spec.model import Spec as SpecModel

    kept = {name: value for name, value in spec.set_fields().items() if name in lowered.written} | dict(
        lowered.restated
    )
    name = lowered.settings.engine
    section = {k: v for k, v in spec.engine_settings().get(name, {}).items() if k != "release"}
    return SpecModel.from_fields(_with_method(kept), engines={name: section} if section else {})


def lift(settings: Settings, engine: Engine, view: View, models: Models) -> Spec:
    """A spec that lowers to exactly these settings at this release.

    Raises InputError for a launch that names no target model, or holds a value that could not be read.
    """
    for path in settings:
        if isinstance(settings[path], Unresolved | Candidates):
            raise InputError(
                f"{path} is written as {settings[path]}, which cannot be known from the text.",
                where=settings.items_by_path[path].final.where,
                hint="Replace the variable by its value and import again.",
            )
    if engine.model_path not in settings:
        raise InputError(f"the launch names no target model ({engine.model_path}).", hint="Give it with --target.")
    fields = _with_method({**_mapped(settings, engine, view), **engine.lift_speculation(settings, view, models)})
    for _ in range(_ROUNDS):
        spec = _buildable(fields)
        lowered = lower(spec, engine, view, models)
        wrong = _wrong_fields(settings, lowered, fields, view)
        if not wrong:
            return _with_rest(fields, settings, lowered, engine, view)
        fields = _less(fields, wrong)
    raise SpecconfError(f"lifting a launch of {view.engine} {view.release} did not come to an end")


def _mapped(settings: Settings, engine: Engine, view: View) -> Fields:
    """Fields whose mapping row writes a path that the launch sets."""
    transforms = {**SHARED_TRANSFORMS, **engine.transforms}
    found: Fields = {}
    for name, rows in view.mapping.items():
        for row, held in rows:
            if held and row.action is Action.WRITE and row.path in settings:
                try:
                    found[name] = transforms[row.transform].lift(_json(settings[row.path]), settings)
                except LookupError:
                    continue
    return found


def _buildable(fields: Fields) -> Spec:
    """A spec of the fields; fields that the spec's own model refuses are taken out of the guess."""
    from pydantic import ValidationError

    from specconf.spec.contradictions import offending_fields
    from specconf.spec.model import Spec as SpecModel

    while True:
        try:
            return SpecModel.from_fields(_with_method(fields))
        except ValidationError as error:
            bad = offending_fields(error) & (set(fields) - {"target.model"})
            bad = bad or {n for n in fields if n.startswith(SPECULATION)}
            if not bad:
                raise
            for name in bad:
                del fields[name]


def _with_method(fields: Fields) -> Fields:
    """The fields with a method, which every spec has: none where nothing of a method is known."""
    if "speculation.method" in fields:
        return fields
    return {**{n: v for n, v in fields.items() if not n.startswith(SPECULATION)}, "speculation.method": "none"}


def _says_more(lowered: Lowered, fields: Fields) -> bool:
    """Whether the guess asks for something that the launch does not: a default of the spec that is refused, or an error.

    An error about the checkpoints themselves (SC3xx) is the launch's own.
    """
    refused = {n for n in lowered.refused if n not in fields}
    told = {f.option for f in lowered.findings if f.severity is Severity.ERROR and not f.code.startswith("SC3")}
    return any(n.startswith(SPECULATION) for n in refused | (told - lowered.refused))


def _wrong_fields(settings: Settings, lowered: Lowered, fields: Fields, view: View) -> set[str]:
    """Fields of the guess that were refused, or that write something else than the launch does."""
    wrong = set(lowered.refused) & set(fields)
    wrong |= {"speculation.method"} if _says_more(lowered, fields) else set()
    wrong |= {f.option for f in lowered.findings if f.code == "SC301"} & set(fields)
    for path in lowered.settings:
        written = lowered.settings.items_by_path[path].final
        if path not in settings or same(settings[path], written.value):
            continue
        method = fields.get("speculation.method")
        if written.field == "speculation.method" and view.same_method(method, written.value, settings[path]):
            continue  # another word for the same method stays in the engine's own words
        if written.field in fields:
            wrong.add(written.field)
        elif written.field.startswith(SPECULATION):  # a default that comes with the method
            wrong.add("speculation.method")
    from specconf.spec.fields import SPEC_DEFAULTS

    silent = {n for n in fields if n not in lowered.written and n not in lowered.refused}
    wrong |= {n for n in silent if n not in SPEC_DEFAULTS}
    return wrong - {"speculation.method"} if fields.get("speculation.method") == "none" else wrong


def _less(fields: Fields, wrong: set[str]) -> Fields:
    """The guess without wrong fields; without a method there is no speculation to speak of."""
    return _with_method({n: v for n, v in fields.items() if n not in wrong})


def _with_rest(fields: Fields, settings: Settings, lowered: Lowered, engine: Engine, view: View) -> Spec:
    """The guess plus, in the engine's own words, everything that it does not bring back."""
    from pydantic import ValidationError

    from specconf.spec.model import Spec as SpecModel

    sections: dict[str, dict[str, JsonValue]] = {}
    for path in settings:
        if path in lowered.settings and same(settings[path], lowered.settings[path]):
            continue
        _put(sections, path, settings[path], engine, view)
    for path in lowered.settings:
        if path not in settings:
            _put(sections, path, None, engine, view)
    engines: dict[str, JsonValue] = {engine.name: dict(sections)} if sections else {}
    try:
        return SpecModel.from_fields(_with_method(fields), engines=engines)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise InputError(f"the launch holds a value that a spec cannot: {place}: {problem['msg']}.") from None


def _put(sections: dict[str, dict[str, JsonValue]], path: str, value: Value, engine: Engine, view: View) -> None:
    if path.startswith("env."):
        sections.setdefault("env", {})[path[4:]] = str(value)
        return
    section, option = _section(path, engine, view)
    place = sections.setdefault(section, {})
    in_object = parent_object(path, view) is not None  # a member can say false where its own flag could not
    if option is not None and option.kind == "switch" and isinstance(value, bool) and not in_object:
        key, shown = _switch_key(option, value)
        place[key] = shown
        return
    steps, depth = path.split("."), 0
    while depth + 1 < len(steps) and view.by_path.get(parent := ".".join(steps[: depth + 1])):
        place = place.setdefault(written_key(parent, view), {})  # type: ignore[assignment]
        depth += 1
    if view.option(path) is not None:
        key = written_key(path, view) if depth else path.partition("@")[0]
    elif depth:
        *parents, key = steps[depth:]
        for parent in parents:
            place = place.setdefault(parent, {})  # type: ignore[assignment]
    else:
        key = path
    place[key] = _json(value)


def _section(path: str, engine: Engine, view: View) -> tuple[str, Option | None]:
    rows = view.by_path.get(path, ())
    for section, scope in engine.option_scopes.items():
        for option in rows:
            if option.scope == scope or option.scope.startswith(f"{scope}."):
                return section, option
    return next(iter(engine.option_scopes)), None


def _switch_key(option: Option, value: bool) -> tuple[str, bool]:
    """A switch as the spec's options write it: by its path where true means true, else by its flag's name."""
    if option.const is True:
        return option.path, value
    return option.key.lstrip("-"), value == option.const


def _json(value: Value) -> JsonValue:
    assert not isinstance(value, Unresolved | Candidates)
    return value
