"""Facts: what rules may look at: settings in force, models, hardware, features, workload and derived values.

A fact is known or missing; a missing one names what would have to be known. Nothing here knows a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from specconf.settings import Settings
from specconf.words import Candidates, JsonValue, Unresolved, Value


class Known(Struct, frozen=True):
    """A fact with its value; None is the engine's own None, or a key that the model's config does not have."""

    value: JsonValue

    @property
    def values(self) -> tuple[JsonValue, ...]:
        """The only value it may have, as `OneOf` gives the several."""
        return (self.value,)


class OneOf(Struct, frozen=True):
    """A fact that is one of several values."""

    values: tuple[JsonValue, ...]


class Missing(Struct, frozen=True):
    """A fact that is not known. `needs` is the fact that would have to be known, `reason` why it is not."""

    needs: str
    reason: str = ""


Fact: TypeAlias = "Known | OneOf | Missing"


def either(values: Iterable[JsonValue]) -> Known | OneOf:
    """One fact of the values that it may have, at least one."""
    several = tuple(dict.fromkeys(values))
    return Known(several[0]) if len(several) == 1 else OneOf(several)


# What is needed where a launch has words that may hold any option.
UNREAD_WORDS = "unresolved words of the launch"


class ModelView(Protocol):
    """What facts need of a model: any derived shape or config key by path."""

    def fact(self, path: str) -> Fact:
        """`vocab_size`, `mtp_layers`, `config.rope_scaling.type`, …"""
        ...


class Effective(Struct, frozen=True):
    """One option in force: its value and where it came from."""

    value: Fact
    origin: str


class Unavailable:
    """A model of which nothing is known, with the reason."""

    def __init__(self, role: str, reason: str, *, only_offline: bool = True) -> None:
        self.role = role
        self.reason = reason
        self.needs = f"{role} config.json" if only_offline else f"{role} config.json ({reason})"

    def fact(self, path: str) -> Fact:
        """Always missing: the whole config is what is needed."""
        del path
        return Missing(self.needs, self.reason)


Derivation: TypeAlias = "Callable[[Facts], Fact]"
_T = TypeVar("_T")


class WorkedOut:
    """What was worked out of options in force, each with the options that were looked at for it.

    An override changes one option, and most of what is known does not depend on it.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[Any, set[str]]] = {}
        self._of: dict[str, list[Hashable]] = {}  # by option: what was worked out of it
        self._looking: list[set[str]] = []  # what is being worked out now, the innermost last

    def looked_at(self, path: str) -> None:
        """Say that an option is looked at for what is being worked out."""
        if self._looking:
            self._looking[-1].add(path)

    def get(self, key: Hashable, work: Callable[..., _T], *of: Any) -> _T:
        """What is known under a key, else what `work` gives; whatever that looks at counts for those who asked, too."""
        found = self._known.get(key)
        if found is None:
            self._looking.append(set())
            try:
                value = work(*of)
            finally:
                looked_at = self._looking.pop()
            found = self._known[key] = (value, looked_at)
            for path in looked_at:
                self._of.setdefault(path, []).append(key)
        if self._looking:
            self._looking[-1] |= found[1]
        result: _T = found[0]
        return result

    def forget(self, path: str) -> None:
        """Forget what was worked out of an option."""
        for key in self._of.pop(path, ()):
            self._known.pop(key, None)


class Context(Struct, frozen=True):
    """The facts that do not come from the settings: they are the same at every stage.

    `plain` holds leaves such as `workload.sampling`, `hardware.gpu`, `role.disaggregation`; `features` is None when nobody
    listed features, as in a lint of an existing launch.
    """

    target: ModelView
    draft: ModelView
    plain: Mapping[str, JsonValue]
    features: frozenset[str] | None = None


class Facts:
    """All facts of one launch at one release, with the options in force at the stage reached so far."""

    def __init__(
        self,
        settings: Settings,
        context: Context,
        *,
        default: Callable[[str], Fact],
        derivations: Mapping[str, Derivation],
        model_path: str = "",
        draft_path: str = "",
    ) -> None:
        self.settings = settings
        self._may_hold_more = settings.may_hold_more
        self._defaults: dict[str, Fact] = {}
        self._worked_out = WorkedOut()
        self._model_path = model_path
        self._draft_path = draft_path
        self.context = context
        self._default = default
        self._derivations = derivations
        self._overridden: dict[str, Effective] = {}
        self._models = {"target": context.target, "draft": context.draft}
        self._doubted: frozenset[str] = frozenset()
        self._roots: dict[str, Callable[[str], Fact]] = {
            "option": self._option,
            "asked": self._asked,
            "env": self._env,
            "target": self._of_target,
            "draft": self._of_draft,
            # What the launch names as its model, whatever the engine serves in its place.
            "checkpoint": context.target.fact,
            "derived": self._derive,
            "feature": self._feature,
        }

    def get(self, path: str) -> Fact:
        """A fact by its path; a root that does not exist is a fault of the data and raises KeyError."""
        root, _, rest = path.partition(".")
        reader = self._roots.get(root)
        if reader is not None:
            return reader(rest)
        if root not in {"workload", "hardware", "role"}:
            raise KeyError(f"no such fact root: {path}")
        value = self.context.plain.get(path)
        return Missing(path) if value is None else Known(value)

    def written(self, path: str) -> bool | None:
        """Whether an option was written (or overridden); unknown where unread words may hold it."""
        root, _, rest = path.partition(".")
        if root == "env":
            return self.settings.writes(f"env.{rest}")
        if root == "option":
            self._worked_out.looked_at(rest)
            if rest in self._overridden:
                return _is_set(self._overridden[rest].value)
        if root not in {"option", "asked"}:
            fact = self.get(path)
            return None if isinstance(fact, Missing) else _is_set(fact)
        if rest in self._doubted:
            return None
        if self.settings.writes(rest):
            return True
        return None if self._may_be_hidden(rest) else False

    def override(self, path: str, value: Fact, origin: str) -> None:
        """Set an option for the stages that follow; what was worked out of its value is worked out anew.

        Where the option names a model, the facts of that role are from now on those of the model it names.
        """
        before = self._overridden.get(path)
        self._overridden[path] = Effective(value, origin)
        if before is not None and alike(before.value, value):
            return
        role = {self._model_path: "target", self._draft_path: "draft"}.get(path)
        if path and role:
            self._models[role] = self._model_of(role, value)
        self._worked_out.forget(path)

    def answer(self, key: Hashable, work: Callable[..., _T], *of: Any) -> _T:
        """What somebody works out of facts, remembered until an option changes that was looked at for it."""
        return self._worked_out.get(key, work, *of)

    def doubt(self, paths: frozenset[str]) -> None:
        """Take options for unknown, whatever is or is not written for them: it is not what was meant."""
        self._doubted |= paths
        for path in paths:
            self._worked_out.forget(path)

    def effective(self, path: str) -> Effective:
        """An option in force and its origin: an override's id, `written`, `default` or `unknown`."""
        self._worked_out.looked_at(path)
        if path in self._overridden:
            return self._overridden[path]
        if path in self.settings:
            return Effective(self._asked(path), "written")
        fact = self._option(path)
        return Effective(fact, "unknown" if isinstance(fact, Missing) else "default")

    @property
    def named_models(self) -> Mapping[str, str]:
        """The options that name the target and the draft, by role; the draft's comes last."""
        return {"target": self._model_path, "draft": self._draft_path}

    def _model_of(self, role: str, value: Fact) -> ModelView:
        """What is known of the model that an override names: one that the launch names too, or nothing."""
        for known, model in ((self._model_path, self.context.target), (self._draft_path, self.context.draft)):
            if known in self.settings and self._asked(known) == value:
                return model
        shown = (
            f"{value.value}, which the engine uses" if isinstance(value, Known) else "the model that the engine uses"
        )
        return Unavailable(role, f"{shown} in place of what the launch names", only_offline=False)

    @property
    def overridden(self) -> Mapping[str, Effective]:
        """Every option that an override has set."""
        return dict(self._overridden)

    def override_of(self, path: str) -> Effective | None:
        """What an override has set an option to; None for one that none has."""
        self._worked_out.looked_at(path)
        return self._overridden.get(path)

    def _of_target(self, path: str) -> Fact:
        self._worked_out.looked_at(self._model_path)
        return self._models["target"].fact(path)

    def _of_draft(self, path: str) -> Fact:
        self._worked_out.looked_at(self._draft_path)
        return self._models["draft"].fact(path)

    def _option(self, path: str) -> Fact:
        self._worked_out.looked_at(path)
        if path in self._overridden:
            return self._overridden[path].value
        if path in self.settings or path in self._doubted:
            return self._asked(path)
        if self._may_be_hidden(path):
            return Missing(UNREAD_WORDS, f"{path} may be set by a word that could not be read")
        found = self._defaults.get(path)
        if found is None:
            found = self._defaults[path] = self._default(path)
        return found

    def _asked(self, path: str) -> Fact:
        if path in self._doubted:
            return Missing(f"the value of {path}", "what is written is not what was meant")
        if path not in self.settings:
            return Missing(UNREAD_WORDS) if self._may_be_hidden(path) else Known(None)
        return as_fact(path, self.settings[path])

    def _may_be_hidden(self, path: str) -> bool:
        """Whether an unread word may set a path that is not written: a word of any kind, or an object's whole value."""
        if self._may_hold_more or "." not in path:
            return self._may_hold_more
        parents = (path[:at] for at, char in enumerate(path) if char == ".")
        return any(isinstance(self.settings.get(parent), Unresolved | Candidates) for parent in parents)

    def _env(self, name: str) -> Fact:
        return self._asked(f"env.{name}")

    def _feature(self, name: str) -> Fact:
        listed = self.context.features
        return Missing(f"feature.{name}") if listed is None else Known(name in listed)

    def _derive(self, name: str) -> Fact:
        return self._worked_out.get(name, self._derivations[name], self)


def as_fact(path: str, value: Value) -> Fact:
    """A written value as a fact."""
    if isinstance(value, Unresolved):
        return Missing(f"the value of {path}", f"written as {value.text}")
    if isinstance(value, Candidates):
        return OneOf(value.values)
    return Known(value)


def alike(left: Fact, right: Fact) -> bool:
    """Whether two facts are the same; true is not 1."""
    return left == right and repr(left) == repr(right)


def _is_set(fact: Fact) -> bool | None:
    if isinstance(fact, Missing):
        return None
    if isinstance(fact, OneOf):
        sets = {v is not None for v in fact.values}
        return sets.pop() if len(sets) == 1 else None
    return fact.value is not None
