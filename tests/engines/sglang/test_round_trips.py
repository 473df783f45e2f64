"""`lift(lower(s)) == project(s)` over all fields, `lower(lift(x)) == x` over launches drawn from the options of a release."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specconf.compat.database import Database
from specconf.compat.index import compile_engine
from specconf.compat.rows import Option
from specconf.compat.sources import SourceTree
from specconf.engines.lifting import lift, project
from specconf.engines.lowering import lower
from specconf.engines.sglang import ENGINE
from specconf.secrets import is_secret_name
from specconf.spec.model import Spec
from tests.engines.sglang.conftest import COMPAT
from tests.engines.sglang.support import UNKNOWN_MODELS, read_back, resolve
from tests.strategies import specs

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


@RELAXED
@given(specs(with_engines=False), releases)
def test_a_spec_comes_back(spec: Spec, release: str) -> None:
    view = database().at(release)
    lowered = lower(spec, ENGINE, view, UNKNOWN_MODELS)
    back = lift(lowered.settings, ENGINE, view, UNKNOWN_MODELS)
    assert back == project(spec, lowered)
    assert lower(back, ENGINE, view, UNKNOWN_MODELS).settings.flat() == lowered.settings.flat()


@RELAXED
@given(specs(with_engines=False), releases)
def test_what_is_written_reads_back(spec: Spec, release: str) -> None:
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
