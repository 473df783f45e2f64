"""A tiny engine with a tiny database, so that the core can be tested without any real engine's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from specconf.compat.database import Database
from specconf.compat.view import View
from specconf.engines.base import Artifact, Fields, LowerContext, Models, Transform, default_fact
from specconf.facts import Context, Derivation, Facts, Known
from specconf.settings import Origin, Settings, SettingsBuilder, Written
from specconf.words import Launch, Value, Word

EVERYWHERE = [[[0, 99]], []]


class NoFacts:
    """A model of which everything is None."""

    def fact(self, path: str) -> Known:
        """Always None."""
        del path
        return Known(None)


class FakeEngine(Struct, frozen=True):
    """An `Engine` whose own parts do nothing."""

    name: str = "vllm"
    title: str = "Fake"
    model_path: str = "model"
    draft_path: str = "draft"
    abbreviations: bool = True
    option_scopes: Mapping[str, str] = field(default_factory=lambda: {"options": "cli"})
    transforms: Mapping[str, Transform] = field(default_factory=dict)
    derivations: Mapping[str, Derivation] = field(default_factory=dict)
    effective_paths: tuple[str, ...] = ()

    def lower_speculation(self, context: LowerContext) -> None:
        """Nothing."""

    def lift_speculation(self, settings: Settings, view: View, models: Models) -> Fields:
        """Nothing."""
        del settings, view, models
        return {}

    def part_of_several(self, settings: Settings) -> str:
        """Never."""
        del settings
        return ""

    def resolve(self, launch: Launch, view: View) -> Settings:
        """Nothing."""
        raise NotImplementedError

    def emit(self, settings: Settings, view: View, form: str) -> Artifact:
        """Nothing."""
        raise NotImplementedError


def option(path: str, *names: str, **more: Any) -> dict[str, Any]:
    """An option row of scope `cli` that holds everywhere."""
    return {"scope": "cli", "path": path, "names": list(names), "r": EVERYWHERE, "e": "source", **more}


def constraint(identifier: str, when: Any, **more: Any) -> dict[str, Any]:
    """A constraint row that holds everywhere."""
    return {
        "id": identifier,
        "code": "SC206",
        "stage": "config",
        "effect": "overrides" if "set" in more else "rejects",
        "when": when,
        "message": "It does.",
        "fix": "Do not.",
        "evidence": [["source", ""]],
        "r": EVERYWHERE,
        **more,
    }


def database(
    options: Sequence[dict[str, Any]] = (),
    constraints: Sequence[dict[str, Any]] = (),
    *,
    scopes: Sequence[dict[str, Any]] = (),
    steps: Sequence[dict[str, Any]] = (),
    releases: Sequence[str] = ("1.0", "2.0"),
) -> Database:
    """A database of the given rows."""
    return Database(
        {
            "engine": "vllm",
            "releases": [(name, None) for name in releases],
            "options": list(options),
            "scopes": list(scopes),
            "methods": [],
            "tables": {},
            "mapping": [],
            "steps": list(steps),
            "constraints": list(constraints),
        }
    )


def settings(values: Mapping[str, Value], *, unresolved: Sequence[Word] = ()) -> Settings:
    """Settings written on a command line."""
    builder = SettingsBuilder("vllm")
    for path, value in values.items():
        builder.write(path, Written(value, Origin.ARGV, f"--{path}"))
    for word in unresolved:
        builder.unresolved(word)
    return builder.build()


def facts(given: Settings, view: View) -> Facts:
    """Facts of settings alone."""
    return Facts(given, Context(NoFacts(), NoFacts(), {}), default=default_fact(view), derivations={})
