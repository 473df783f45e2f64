"""Lowering and lifting are each other's reverse, over all fields, releases, and launches drawn from the options data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specconf.compat.rows import Option
from specconf.engines.base import Models
from specconf.engines.lifting import lift, project
from specconf.engines.lowering import lower
from specconf.secrets import is_secret_name
from specconf.settings import Origin, Settings, SettingsBuilder, Written
from specconf.spec.model import Spec
from specconf.words import Launch, words
from tests.engines.vllm.support import ENGINE, UNKNOWN, database, fixture, models, view
from tests.strategies import specs

RELEASES = database().line.names
MODELS: dict[str, Models] = {
    "unknown": UNKNOWN,
    "llama": models(fixture("llama-3.1-8b"), fixture("llama-3.2-1b")),
    "mimo": models(fixture("mimo-7b")),
    "eagle": models(fixture("llama-3.1-8b"), fixture("eagle-llama3.1-8b")),
    "deepseek": models(fixture("deepseek-v3")),
}
slow = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@slow
@given(specs(with_engines=False), st.sampled_from(RELEASES), st.sampled_from(sorted(MODELS)))
def test_lift_gives_back_what_lowering_wrote(spec: Spec, release: str, of: str) -> None:
    at = view(release)
    lowered = lower(spec, ENGINE, at, MODELS[of])
    expected = project(spec, lowered)
    if any(f.code == "SC301" for f in lowered.findings):
        return  # a spec that no launch means
    assert lift(lowered.settings, ENGINE, at, MODELS[of]) == expected


@slow
@given(specs(), st.sampled_from(RELEASES), st.sampled_from(sorted(MODELS)))
def test_every_set_field_is_accounted_for(spec: Spec, release: str, of: str) -> None:
    lowered = lower(spec, ENGINE, view(release), MODELS[of])  # raises where a field is forgotten
    told = {f.option for f in lowered.findings}
    assert lowered.refused <= told
    assert not lowered.refused & lowered.written


def _values(option: Option) -> st.SearchStrategy[Any]:
    scalar: dict[str | None, st.SearchStrategy[Any]] = {
        "int": st.integers(1, 64),
        "float": st.sampled_from([0.5, 0.25]),
        "bool": st.booleans(),
        "json": st.just({"some_key": 1}),
    }
    one = (
        st.sampled_from(option.choices)
        if option.choices
        else scalar.get(option.type, st.sampled_from(["some", "other-text"]))
    )
    if option.kind == "switch":
        return st.sampled_from([option.const, not option.const] if option.no_names else [option.const])
    return st.lists(one, min_size=1, max_size=3) if option.kind in {"list", "append"} else one


@st.composite
def launches(draw: st.DrawFn) -> tuple[str, Settings]:
    """A release, and settings of a launch drawn from the options that the release has."""
    release = draw(st.sampled_from(RELEASES))
    at = view(release)
    rows = [row for scope in ("vllm.cli", "vllm.speculative_config", "vllm.env") for row in at.options_of(scope)]
    held_rows = [o for o, held in rows if held and not is_secret_name(o.path)]  # a spec holds no secret
    options = {o.path: o for o in held_rows if o.path not in {"model", "config", "speculative_config"}}
    paths = sorted(options)
    chosen = draw(st.lists(st.sampled_from(paths), max_size=8, unique=True))
    builder = SettingsBuilder("vllm")
    builder.write("model", Written("org/target", Origin.ARGV))
    for path in chosen:
        value = str(draw(st.integers(0, 3))) if path.startswith("env.") else draw(_values(options[path]))
        builder.write(path, Written(value, Origin.ARGV))
    return release, builder.build()


@slow
@given(launches())
def test_lowering_gives_back_a_launch(drawn: tuple[str, Settings]) -> None:
    release, given_settings = drawn
    at = view(release)
    spec = lift(given_settings, ENGINE, at, UNKNOWN)
    assert lower(spec, ENGINE, at, UNKNOWN).settings.flat() == given_settings.flat()


@slow
@given(specs(with_engines=False), st.sampled_from(RELEASES), st.sampled_from(["argv", "engine-yaml"]))
def test_reading_gives_back_what_was_emitted(spec: Spec, release: str, form: str) -> None:
    at = view(release)
    if form == "engine-yaml" and at.has("config") is not True:
        return
    written = lower(spec, ENGINE, at, UNKNOWN).settings
    artifact = ENGINE.emit(written, at, form)
    env = tuple((name, words(value)[0]) for name, value in artifact.env.items())
    read = ENGINE.resolve(Launch("vllm", words(*artifact.argv), env, tuple(artifact.files.items())), at)
    assert read.flat() == written.flat()
    assert not read.problems


@slow
@given(launches(), st.sampled_from(["argv", "engine-yaml"]))
def test_reading_gives_back_any_options(drawn: tuple[str, Settings], form: str) -> None:
    release, written = drawn
    at = view(release)
    if form == "engine-yaml" and at.has("config") is not True:
        return
    artifact = ENGINE.emit(written, at, form)
    env = tuple((name, words(value)[0]) for name, value in artifact.env.items())
    read = ENGINE.resolve(Launch("vllm", words(*artifact.argv), env, tuple(artifact.files.items())), at)
    assert read.flat() == written.flat()
    assert not read.problems


@pytest.mark.parametrize("release", RELEASES)
def test_every_field_has_rows_at_every_release(release: str) -> None:
    from specconf.spec.fields import ALL_FIELDS

    mapping = view(release).mapping
    for name in ALL_FIELDS:
        assert any(held for _, held in mapping[name]), name
