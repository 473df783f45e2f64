"""`lift(lower(s)) == project(s)` over all fields, `lower(lift(x)) == x` over launches drawn from the options of a release."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from specconf.compat.database import Database
from specconf.compat.index import compile_engine
from specconf.compat.rows import Option
from specconf.compat.sources import SourceTree
from specconf.engines.base import Models
from specconf.engines.lifting import lift, project
from specconf.engines.lowering import lower
from specconf.engines.sglang import ENGINE
from specconf.secrets import is_secret_name
from specconf.spec.model import Spec
from tests.engines.sglang.conftest import COMPAT
from tests.engines.sglang.support import UNKNOWN_MODELS, models_of, read_back, resolve
from tests.engines.skipping import lacks_weights
from tests.strategies import spec_fields, specs

RELAXED = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
DENSE = {
    *("dp_size", "tp_size", "attn_dp_size", "ep_size", "enable_dp_attention", "enable_beta_spec"),
    *("disable_overlap_schedule", "kv_cache_dtype", "chunked_prefill_size", "disable_radix_cache"),
}


@cache
def database() -> Database:
    """SGLang's part of the database, compiled once for drawing."""
    return Database(compile_engine(SourceTree(COMPAT), "sglang"))


releases = st.deferred(lambda: st.sampled_from(database().line.names))

LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 4, "vocab_size": 32000}
MIMO = {**LLAMA, "architectures": ["MiMoForCausalLM"], "model_type": "mimo", "num_nextn_predict_layers": 1}
EAGLE = {**LLAMA, "architectures": ["LlamaForCausalLMEagle"], "num_hidden_layers": 1}
EAGLE3 = {**LLAMA, "architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1, "draft_vocab_size": 32000}
KNOWN = [models_of(target, draft) for target in (LLAMA, MIMO) for draft in (LLAMA, EAGLE, EAGLE3)]
models = st.sampled_from([UNKNOWN_MODELS, *KNOWN])


@RELAXED
@given(specs(with_engines=False), releases, models)
def test_a_spec_comes_back(spec: Spec, release: str, known: Models) -> None:
    view = database().at(release)
    lowered = lower(spec, ENGINE, view, known)
    carried = project(spec, lowered)
    assume(not lacks_weights(lower(carried, ENGINE, view, known)))
    assert lift(lowered.settings, ENGINE, view, known) == carried


@st.composite
def specs_with_options(draw: st.DrawFn) -> tuple[Spec, str]:
    """A spec, and a release of which it gives some options in the engine's own words."""
    release = draw(releases)
    known = [o for o, held in database().at(release).options_of("sglang.cli") if held and o.names]
    options = [o for o in known if o.kind in {"value", "switch"} and not is_secret_name(o.path)]
    chosen = {o.path: o for o in draw(st.lists(st.sampled_from(options), max_size=4)) if o.path != "model_path"}
    written = {path: draw(_value(option)) for path, option in chosen.items()}
    env = draw(st.sampled_from([{}, {"SGLANG_ENABLE_SPEC_V2": "1"}, {"NCCL_DEBUG": "INFO"}]))
    fields = draw(spec_fields())
    return Spec.from_fields(fields, engines={"sglang": {"options": written, "env": env}}), release


def _value(option: Option) -> st.SearchStrategy[Any]:
    """A value as a spec's options hold it: true for a switch, a number where the option takes one."""
    if option.kind == "switch":
        return st.just(option.const)
    if option.choices:
        return st.sampled_from(option.choices)
    by_type: dict[str | None, st.SearchStrategy[Any]] = {
        "int": st.integers(1, 64),
        "float": st.sampled_from([0.5, 0.9]),
        "bool": st.booleans(),
        "json": st.just('{"a":1}'),
    }
    return by_type.get(option.type, st.sampled_from(["x", "a/b"]))


@RELAXED
@given(specs_with_options(), models)
def test_the_settings_of_a_spec_with_options_come_back(drawn: tuple[Spec, str], known: Models) -> None:
    """Whatever the checkpoints are: nothing is left out here."""
    spec, release = drawn
    view = database().at(release)
    written = lower(spec, ENGINE, view, known).settings
    assert lower(lift(written, ENGINE, view, known), ENGINE, view, known).settings.flat() == written.flat()


@RELAXED
@given(specs_with_options())
def test_what_is_written_reads_back(drawn: tuple[Spec, str]) -> None:
    spec, release = drawn
    view = database().at(release)
    lowered = lower(spec, ENGINE, view, UNKNOWN_MODELS)
    for form in ("argv", "engine-yaml") if view.has("config") else ("argv",):
        found = read_back(ENGINE.emit(lowered.settings, view, form), view)
        assert not found.problems
        assert found.flat() == lowered.settings.flat()


_WORDS = {
    "int": st.integers(-1, 70000).map(str),
    "float": st.sampled_from(["0.5", "0.9", "1.0", "2.0"]),
    "bool": st.sampled_from(["true", "false"]),
    "json": st.sampled_from(['{"a":1}', "[1]", '{"decode":{"backend":"full"}}']),
}


def _word(option: Option) -> st.SearchStrategy[str]:
    if option.choices:
        return st.sampled_from([str(choice) for choice in option.choices])
    return _WORDS.get(option.type or "", st.sampled_from(["x", "a/b", "yes", "1"]))


@st.composite
def launches(draw: st.DrawFn) -> tuple[str, list[str], dict[str, str]]:
    """A release and words of its own options, those of speculation and parallelism more often."""
    release = draw(releases)
    known = [o for o, held in database().at(release).options_of("sglang.cli") if held and o.names]
    options = [o for o in known if o.path not in {"model_path", "config"} and not is_secret_name(o.path)]
    dense = [o for o in options if o.path.startswith("speculative") or o.path in DENSE]
    chosen = draw(st.lists(st.sampled_from(options), max_size=6)) + draw(st.lists(st.sampled_from(dense), max_size=6))
    argv = ["--model-path", draw(st.sampled_from(["m", "a/b"]))]
    for option in chosen:
        argv.append(draw(st.sampled_from((*option.names, *option.no_names))))
        if option.kind == "switch" or (option.kind == "optional" and draw(st.booleans())):
            continue
        argv.append(draw(_word(option)))
        if option.kind == "list" and draw(st.booleans()):
            argv.append(draw(_word(option)))
    variable = draw(st.sampled_from([None, "0", "1", "true"]))
    return release, argv, {} if variable is None else {"SGLANG_ENABLE_SPEC_V2": variable}


@RELAXED
@given(launches())
def test_a_launch_comes_back(drawn: tuple[str, list[str], dict[str, Any]]) -> None:
    release, argv, env = drawn
    view = database().at(release)
    found = resolve(view, *argv, env=env)
    assert not found.problems
    lowered = lower(lift(found, ENGINE, view, UNKNOWN_MODELS), ENGINE, view, UNKNOWN_MODELS)
    assert lowered.settings.flat() == found.flat()
    assert not lowered.settings.problems
    for form in ("argv", "engine-yaml") if view.has("config") else ("argv",):
        assert read_back(ENGINE.emit(lowered.settings, view, form), view).flat() == found.flat()


def test_a_retired_flag_stores_its_constant_not_its_argument() -> None:
    view = database().at("0.5.23")
    found = resolve(view, "--model-path", "m", "--monokernel-backend", "amd", env={})
    assert found.flat() == {"model_path": "m", "enable_amd_monokernel": True}
    assert resolve(view, "--model-path", "m", "--monokernel-backend", "other", env={}).problems
