"""Lowering, lifting, emitting and reading undo each other, for specs over all fields and launches over all options."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from specconf.compat.rows import Option
from specconf.engines.base import Models
from specconf.engines.lifting import lift, project
from specconf.engines.lowering import lower
from specconf.facts import Unavailable
from specconf.settings import Origin, Settings, SettingsBuilder, Written
from specconf.spec import Spec
from specconf.words import JsonValue
from tests.engines.skipping import lacks_weights
from tests.engines.tensorrt_llm.support import ENGINE, NO_MODELS, RELEASES, given_model, resolved, spec, view
from tests.strategies import MODELS, spec_fields, specs

SLOW = settings(
    deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
TARGETS = (
    {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 4, "vocab_size": 32000},
    {
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "deepseek_v3",
        "num_hidden_layers": 4,
        "num_nextn_predict_layers": 1,
        "vocab_size": 32000,
    },
)
HEAD = {**TARGETS[0], "architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1, "draft_vocab_size": 32000}
DRAFTS = [Unavailable("draft", "not looked up"), *(given_model("draft", config) for config in (TARGETS[0], HEAD))]
KNOWN = [Models(given_model("target", config), draft) for config in TARGETS for draft in DRAFTS]
models = st.sampled_from([NO_MODELS, *KNOWN])
releases = st.sampled_from(RELEASES)


@SLOW
@given(specs(with_engines=False), releases, models)
def test_lifting_gives_back_what_lowering_carries(spec: Spec, release: str, known: Models) -> None:
    at = view(release)
    lowered = lower(spec, ENGINE, at, known)
    carried = project(spec, lowered)
    assume(not lacks_weights(lower(carried, ENGINE, at, known)))
    assert lift(lowered.settings, ENGINE, at, known) == carried


@st.composite
def specs_with_options(draw: st.DrawFn) -> tuple[Spec, str]:
    """A spec, and a release of which it gives some top-level YAML keys and flags in the engine's own words."""
    release = draw(releases)
    scopes: dict[str, JsonValue] = {}
    for section, scope in ENGINE.option_scopes.items():
        known = sorted((o for o, held in view(release).options_of(scope) if held), key=lambda o: o.path)
        options = [o for o in known if o.kind == "value" and o.path not in {"model", "cli.config"}]
        chosen = draw(st.lists(st.sampled_from(options), max_size=3)) if options else []
        scopes[section] = {option.key.lstrip("-"): draw(_value(option)) for option in chosen}
    env = draw(st.sampled_from([{}, {"TLLM_LOG_LEVEL": "INFO"}]))
    return Spec.from_fields(draw(spec_fields()), engines={"tensorrt-llm": {**scopes, "env": env}}), release


@SLOW
@given(specs_with_options(), models)
def test_the_settings_of_a_spec_with_options_come_back(drawn: tuple[Spec, str], known: Models) -> None:
    """Whatever the checkpoints are: nothing is left out here."""
    given_spec, release = drawn
    at = view(release)
    written = lower(given_spec, ENGINE, at, known).settings
    assert lower(lift(written, ENGINE, at, known), ENGINE, at, known).settings.flat() == written.flat()


@SLOW
@given(specs_with_options())
def test_what_is_emitted_reads_back_as_the_same_settings(drawn: tuple[Spec, str]) -> None:
    spec, release = drawn
    at = view(release)
    lowered = lower(spec, ENGINE, at, NO_MODELS)
    back = resolved(ENGINE.emit(lowered.settings, at, "argv"), release)
    assert back.flat() == lowered.settings.flat()
    assert not back.problems
    assert not back.may_hold_more


def _value(option: Option) -> st.SearchStrategy[Any]:
    """A value that the option takes and its spelling can say."""
    if option.kind == "switch":
        return st.just(option.const)
    if option.choices:
        return st.sampled_from(option.choices)
    if option.path.rpartition(".")[2].startswith("draft_len_schedule"):
        bounds = st.sampled_from(["1", "4", "5", "16", "17"])
        return st.dictionaries(bounds, st.integers(0, 4), min_size=1, max_size=4)
    low = int(option.bounds.get("ge", option.bounds.get("gt", 0) + 1))
    high = int(option.bounds.get("le", low + 8))
    by_type: dict[str | None, st.SearchStrategy[Any]] = {
        "int": st.integers(low, high),
        "float": st.sampled_from([0.25, 0.5, 1.0]),
        "bool": st.booleans(),
        "json": st.sampled_from([[1, 2], [[0], [0, 0]], {"a": 1}, {"4": 3, "b": "yes"}]),
        "str": st.sampled_from(["auto", "yes", "1e3", "org/m", "-x", "a: b", "None ", "0", "größe"]),
    }
    return by_type.get(option.type, st.sampled_from(["auto", True, 3]))


WORDS = (
    "MTP",
    "Eagle",
    "Eagle3",
    "NGram",
    "DraftTarget",
    "Draft_Target",
    "SA",
    "PARD",
    "DFlash",
    "DSpark",
    "AUTO",
    "Medusa",
)


@st.composite
def launches(draw: st.DrawFn) -> tuple[str, Settings]:
    """A release and the settings of a launch over everything that its options list."""
    release = draw(releases)
    at = view(release)
    builder = SettingsBuilder("tensorrt-llm")
    builder.write("model", Written(draw(st.sampled_from(MODELS)), Origin.ARGV))
    listed = [o for scope in {row["scope"] for _, row in at.db.raw_options} for o, held in at.options_of(scope) if held]
    known = sorted(
        (o for o in listed if o.path not in {"model", "cli.config", "speculative_config.decoding_type"}),
        key=lambda o: (o.path, o.names),
    )
    objects = {o.path for o in known if o.kind == "object" and at.names.get(o.members)}
    speculative = [o for o in known if o.path.startswith("speculative_config.")]
    chosen = draw(st.lists(st.sampled_from(known), max_size=6)) + draw(
        st.lists(st.sampled_from(speculative), max_size=6)
    )
    if draw(st.booleans()):
        builder.write("speculative_config.decoding_type", Written(draw(st.sampled_from(WORDS)), Origin.FILE))
    for option in chosen:
        if option.path not in objects and builder.current(option.path) is None:
            builder.write(option.path, Written(draw(_value(option)), Origin.FILE))
    for path in draw(st.sets(st.sampled_from(["made_up", "speculative_config.made_up", "kv_cache_config.made_up"]))):
        values: list[Any] = [1, "yes", [1, "a"], {"a": {"b": 1}}]
        builder.write(path, Written(draw(st.sampled_from(values)), Origin.FILE))
    for name in draw(st.sets(st.sampled_from(["TLLM_LOG_LEVEL", "TRTLLM_ENABLE_PDL"]))):
        builder.write(f"env.{name}", Written(draw(st.sampled_from(["1", "INFO", ""])), Origin.ENV))
    return release, builder.build()


@SLOW
@given(launches(), models)
def test_lowering_gives_back_what_lifting_read(drawn: tuple[str, Settings], known: Models) -> None:
    release, launch = drawn
    at = view(release)
    lifted = lift(launch, ENGINE, at, known)
    again = lower(lifted, ENGINE, at, known)
    assert again.settings.flat() == launch.flat()
    assert {p.spelling for p in again.settings.problems} <= {"made_up"}


@SLOW
@given(launches())
def test_every_launch_reads_back_as_emitted(drawn: tuple[str, Settings]) -> None:
    release, launch = drawn
    back = resolved(ENGINE.emit(launch, view(release), "argv"), release)
    assert back.flat() == launch.flat()
    assert {p.spelling for p in back.problems} <= {"made_up"}


@pytest.mark.parametrize(
    ("release", "members", "expected"),
    [
        ("1.2.1", {"decoding_type": "MTP", "num_nextn_predict_layers": 3}, {"method": "mtp", "num_draft_tokens": 3}),
        (
            "1.2.1",
            {"decoding_type": "Eagle", "max_draft_len": 4, "speculative_model": "h"},
            {"method": "eagle3", "num_draft_tokens": 4},
        ),
        (
            "1.4.0rc1",
            {"decoding_type": "Eagle", "max_draft_len": 4, "speculative_model": "h"},
            {"method": "eagle3", "num_draft_tokens": 4},
        ),
        ("1.4.0rc1", {"decoding_type": "AUTO"}, {"method": "none"}),
        ("1.4.0rc1", {"decoding_type": "NGram", "max_draft_len": 4}, {"method": "ngram", "num_draft_tokens": 4}),
        (
            "1.4.0rc1",
            {"decoding_type": "MTP", "max_draft_len": 4, "use_dynamic_tree": True, "dynamic_tree_max_topK": 3},
            {"method": "mtp", "num_draft_tokens": 4, "tree.topk": 3},
        ),
        (
            "1.2.1",
            {"decoding_type": "NGram", "max_draft_len": 4, "draft_len_schedule@lower": {"1": 4, "5": 0}},
            {"method": "ngram", "schedule": [{"up_to": 4, "k": 4}, {"k": 0}]},
        ),
    ],
)
def test_what_a_launch_is_lifted_to(release: str, members: dict[str, Any], expected: dict[str, Any]) -> None:
    builder = SettingsBuilder("tensorrt-llm")
    builder.write("model", Written("org/m", Origin.ARGV))
    for name, value in members.items():
        builder.write(f"speculative_config.{name}", Written(value, Origin.FILE))
    fields = lift(builder.build(), ENGINE, view(release), NO_MODELS).set_fields()
    assert {name: fields.get(f"speculation.{name}") for name in expected} == expected


def test_a_lifted_launch_says_relaxed_by_name() -> None:
    given_spec = spec("mtp", num_draft_tokens=1, verification={"mode": "relaxed", "topk": 5})
    lowered = lower(given_spec, ENGINE, view("1.4.0rc1"), NO_MODELS)
    assert lift(lowered.settings, ENGINE, view("1.4.0rc1"), NO_MODELS) == given_spec
