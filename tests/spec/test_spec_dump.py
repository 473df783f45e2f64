from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from specconf.spec.core_schema import ScalarError, resolve_plain
from specconf.spec.dump import dump_spec
from specconf.spec.loading import load_spec
from specconf.spec.model import Spec
from specconf.spec.nodes import plain_value
from specconf.spec.yaml12 import compose
from tests.strategies import specs


def exact(spec: Spec) -> str:
    """A spec as text that tells 1 from true and from 1.0."""
    return json.dumps([spec.set_fields(), spec.engine_settings()])


@given(made=specs())
def test_what_is_written_loads_back_equal(made: Spec) -> None:
    text = dump_spec(made)
    again = load_spec(text, "s.yaml").spec
    assert again == made
    assert exact(again) == exact(made)
    assert dump_spec(again) == text


@given(made=specs())
def test_yaml_1_1_readers_see_the_same_values(made: Spec) -> None:
    text = dump_spec(made)
    assert yaml.safe_load(text) == plain_value(compose(text, "s.yaml"))


_any_text = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    [
        "",
        " ",
        "yes",
        "1",
        "1e3",
        "0x1f",
        "0o7",
        "null",
        "~",
        "a: b",
        "- a",
        "#",
        "a #b",
        "1:30",
        "2026-11-30",
        "=",
        "<<",
        "'",
        '"',
    ]
)
_any_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64) + 1, 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_any_text.filter(bool), inner, max_size=3),
    max_leaves=8,
)


@given(value=_any_value, env=_any_text.filter(lambda text: "\0" not in text))
def test_any_option_and_environment_loads_back_equal(value: object, env: str) -> None:
    made = Spec.model_validate(
        {
            "target": {"model": "a/b"},
            "speculation": {"method": "none"},
            "engines": {"vllm": {"options": {"x": value, "y": [value], "1": value}, "env": {"A": env}}},
        }
    )
    again = load_spec(dump_spec(made), "s.yaml").spec
    assert exact(again) == exact(made)


def test_long_and_escaped_text_loads_back_equal() -> None:
    long, key = "é: 'x', " * 400, "\x7f" * 128
    options = {key: long, "list": [{key: long, "b": [long, {key: [long]}]}, long], "A" * 128: {key: {key: long}}}
    made = Spec.model_validate(
        {
            "target": {"model": long.strip(" ,")},
            "speculation": {"method": "none"},
            "engines": {"vllm": {"options": {"o": options}}},
        }
    )
    assert exact(load_spec(dump_spec(made), "s.yaml").spec) == exact(made)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B"),
        ("Qwen 3", "Qwen 3"),
        ("0.33.0", '"0.33.0"'),
        ("0.5.4.post1", "0.5.4.post1"),
        ("yes", '"yes"'),
        ("Off", '"Off"'),
        ("null", '"null"'),
        ("8000", '"8000"'),
        ("1e3", '"1e3"'),
        (".5", '".5"'),
        (".", '"."'),
        ("2026-11-30", '"2026-11-30"'),
        ("a:b", '"a:b"'),
        ("a # b", '"a # b"'),
        ("é", '"é"'),
        ("\u2028\x7f", '"\\u2028\\u007f"'),
        ("./heads/eagle", "./heads/eagle"),
    ],
)
def test_quotes_only_where_needed(text: str, written: str) -> None:
    made = Spec.model_validate(
        {"target": {"model": "m"}, "speculation": {"method": "none"}, "engines": {"vllm": {"env": {"A": text}}}}
    )
    assert dump_spec(made).endswith(f"      A: {written}\n")


@given(text=st.text("0123456789.eE+-_xobaf:~nulYyNT", max_size=12))
def test_number_like_text_is_never_read_as_something_else(text: str) -> None:
    made = Spec.model_validate(
        {"target": {"model": "m"}, "speculation": {"method": "none"}, "engines": {"vllm": {"env": {"A": text}}}}
    )
    written = dump_spec(made)
    assert yaml.safe_load(written)["engines"]["vllm"]["env"]["A"] == text
    try:
        plain = resolve_plain(text) == text
    except ScalarError:
        plain = False
    assert plain or f'"{text}"' in written


def test_the_layout() -> None:
    made = Spec.from_fields(
        {
            "serving.port": 8000,
            "target.model": "Qwen/Qwen3-4B-Thinking-2507",
            "speculation.method": "draft_model",
            "speculation.num_draft_tokens": 5,
            "speculation.draft.model": "Qwen/Qwen3-0.6B",
            "speculation.verification": {"mode": "typical", "posterior_threshold": 0.09},
            "speculation.schedule": [{"up_to": 4, "k": 5}, {"k": 0}],
            "features": ["lora", "tools"],
            "workload.concurrency": [1, 16],
        },
        engines={
            "trtllm": {"release": "1.4.0rc1", "options": {"kv_cache_config": {"dtype": "fp8"}, "x": None}},
            "sglang": None,
        },
    )
    assert (
        dump_spec(made)
        == """\
specconf: 1
target:
  model: Qwen/Qwen3-4B-Thinking-2507
speculation:
  method: draft_model
  num_draft_tokens: 5
  draft:
    model: Qwen/Qwen3-0.6B
  tree:
    topk: 1
  verification:
    mode: typical
    posterior_threshold: 0.09
  schedule:
  - {up_to: 4, k: 5}
  - {k: 0}
serving:
  port: 8000
features: [lora, tools]
hardware:
  platform: cuda
workload:
  concurrency: [1, 16]
engines:
  sglang: {}
  tensorrt-llm:
    release: 1.4.0rc1
    options:
      kv_cache_config:
        dtype: fp8
      x: null
"""
    )
