from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specconf.errors import InputError
from specconf.spec.dump import dump_spec
from specconf.spec.loading import load_spec
from specconf.spec.problems import Problem, SpecError

HEAD = "specconf: 1\ntarget:\n  model: a/b\nspeculation:\n  method: {}\n"

FULL = """\
# yaml-language-server: $schema=…
specconf: 1
name: qwen3-4b-chat
target:
  model: Qwen/Qwen3-4B-Thinking-2507     # hub id or directory
  revision: null
  dtype: null
  quantization: null
  max_model_len: 32768
  trust_remote_code: null
speculation:
  method: draft_model
  num_draft_tokens: 5
  draft: {model: Qwen/Qwen3-0.6B, revision: null, quantization: null, tensor_parallel_size: null, max_model_len: null}
  tree: {topk: 1, num_steps: null, num_verify_tokens: null}
  ngram: {min: null, max: null}
  verification: exact
  sampling: {rejection: null, draft: null}
  schedule: null
  disable_above: null
  adaptive: null
serving:
  host: 0.0.0.0
  port: 8000
  served_model_name: null
  tensor_parallel_size: 1
  memory_fraction: 0.85
  overlap_schedule: null
features: []
hardware: {gpu: H100, count: 1, nodes: 1, platform: cuda}
workload: {prompt_tokens: 1000, output_tokens: 500, concurrency: [1, 16, 64], sampling: mixed}
objective: {goal: latency, min_speedup: 1.2}
deployment: {image: null, replicas: 1, namespace: null, model_cache: null, secrets: {hf_token: null}, overlay: null}
engines:
  vllm: {release: "0.33.0", options: {enable-prefix-caching: true}, env: {}}
  sglang: {release: "0.5.23"}
  tensorrt-llm: {release: "1.4.0rc1", options: {}, cli: {}}
"""


def places(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(SpecError) as caught:
        load_spec(text, "s.yaml")
    problems = [(p.where.line, p.where.column, str(p)) for p in caught.value.problems]
    assert all(problem.where.path == "s.yaml" for problem in caught.value.problems)
    if len(problems) > 1:
        assert str(caught.value).splitlines() == [text for _, _, text in problems]
    return problems


BAD = [
    # the file as a whole
    ("- a\n", [(1, 1, "found a list")]),
    ("text\n", [(1, 1, "found the text 'text'")]),
    (
        "target: {model: x}\nspeculation: {method: none}\n",
        [(1, 1, "specconf, the version of the spec format, is missing")],
    ),
    ("specconf: 2\nnonsense: 1\n", [(1, 11, "known versions: 1")]),
    ("specconf: true\n", [(1, 11, "known versions: 1")]),
    ("specconf: 1.0\n", [(1, 11, "known versions: 1")]),
    ('specconf: "1"\n', [(1, 11, "known versions: 1")]),
    ("specconf:\n", [(1, 10, "found nothing")]),
    ("specconf: 1\n", [(1, 1, "speculation is missing"), (1, 1, "target is missing")]),
    (
        "specconf: 1\ntarget: {}\nspeculation:\n",
        [(2, 9, "target.model is missing"), (3, 13, "write its keys under it")],
    ),
    # types
    (
        HEAD.format("ngram") + "serving:\n  port: '8000'\n",
        [(7, 9, "must be a whole number, found the text '8000'; remove")],
    ),
    (HEAD.format("ngram") + "serving:\n  seed: 5.0\n", [(7, 9, "found the number 5.0; write 5")]),
    (HEAD.format("ngram") + "serving:\n  max_num_seqs: true\n", [(7, 17, "must be a whole number, found true")]),
    (
        HEAD.format("ngram") + "serving:\n  prefix_caching: 1\n",
        [(7, 19, "true or false, found the number 1; write true")],
    ),
    (HEAD.format("ngram") + "serving:\n  prefix_caching: no\n", [(7, 19, "found the text 'no'; write false")]),
    (
        HEAD.format("ngram") + "serving:\n  host: 1\n",
        [(7, 9, 'must be text, found the number 1; write it in quotes: "1"')],
    ),
    (
        HEAD.format("ngram") + "serving:\n  memory_fraction: high\n",
        [(7, 20, "must be a number, found the text 'high'")],
    ),
    (HEAD.format("ngram") + "serving: 3\n", [(6, 10, "must be a mapping of keys and values, found the number 3")]),
    (HEAD.format("ngram") + "serving:\n  host: [a]\n", [(7, 9, "must be text, found a list")]),
    (HEAD.format("ngram") + "features: lora\n", [(6, 11, "must be a list, found the text 'lora'; write [lora]")]),
    # bounds and closed sets
    (HEAD.format("ngram") + "serving:\n  memory_fraction: 1.5\n", [(7, 20, "must be at most 1, found the number 1.5")]),
    (HEAD.format("ngram") + "serving:\n  memory_fraction: 0\n", [(7, 20, "must be more than 0, found the number 0")]),
    (HEAD.format("ngram") + "serving:\n  port: 70000\n", [(7, 9, "must be at most 65535")]),
    (
        HEAD.format("ngram") + "workload: {concurrency: [1, 0]}\n",
        [(6, 29, "workload.concurrency.1 must be at least 1")],
    ),
    (HEAD.format("ngram") + "workload: {concurrency: []}\n", [(6, 25, "must not be empty")]),
    (HEAD.format("eagle-3"), [(5, 11, "did you mean eagle3?")]),
    (HEAD.format("ngram") + "features: [lora, tool]\n", [(6, 18, "did you mean tools?")]),
    (HEAD.format("ngram") + "features: [lora, lora]\n", [(6, 18, "listed twice")]),
    (HEAD.format("ngram") + "hardware: {platform: Cuda}\n", [(6, 22, "did you mean cuda?")]),
    (HEAD.format("ngram") + "name: a b\n", [(6, 7, "letters, digits")]),
    (HEAD.format("ngram") + "target_: 1\n", [(6, 1, "did you mean target?")]),
    (HEAD.format("ngram") + "serving: {served_model_name: --x}\n", [(6, 30, "does not start with a dash")]),
    # unknown keys
    (HEAD.format("ngram") + "serving:\n  kv_cache_dtyp: x\n", [(7, 3, "did you mean kv_cache_dtype?")]),
    (HEAD.format("ngram") + "serving:\n  topk: 2\n", [(7, 3, "did you mean speculation.tree.topk?")]),
    (HEAD.format("ngram") + "num_draft_tokens: 2\n", [(6, 1, "did you mean speculation.num_draft_tokens?")]),
    (HEAD.format("ngram") + "vllm: {}\n", [(6, 1, "engines.vllm")]),
    (HEAD.format("ngram") + "objective: {zzz: 1}\n", [(6, 13, "known here: goal, min_speedup")]),
    (HEAD.format("ngram") + "  schedule: [{upto: 4, k: 1}]\n", [(6, 15, "did you mean up_to?")]),
    # contradictions
    (HEAD.format("eagle3"), [(5, 3, "method eagle3 needs draft.model")]),
    (HEAD.format("eagle3") + "  draft:\n    revision: main\n", [(7, 5, "method eagle3 needs draft.model")]),
    (HEAD.format("suffix") + "  draft: {model: x}\n", [(6, 18, "method suffix has no draft weights")]),
    (HEAD.format("ngram") + "  tree:\n    topk: 2\n", [(7, 11, "method ngram has no tree")]),
    (
        HEAD.format("dflash") + "  draft: {model: d}\n  tree: {num_verify_tokens: 9}\n",
        [(7, 29, "method dflash has no tree")],
    ),
    (
        HEAD.format("ngram") + "  ngram: {min: 4, max: 2}\n",
        [(6, 16, "the shortest match, 4, is longer than the longest, 2")],
    ),
    (HEAD.format("mtp") + "  ngram: {min: 4}\n", [(6, 16, "matches no n-grams")]),
    (
        HEAD.format("mtp") + "  num_draft_tokens: 3\n  tree: {num_steps: 4, num_verify_tokens: 9}\n",
        [(7, 21, "has num_draft_tokens = 3 steps"), (7, 43, "verifies num_draft_tokens + 1 = 4 tokens")],
    ),
    (
        HEAD.format("none") + "  num_draft_tokens: 3\n  draft:\n    model: x\n",
        [(6, 21, "method none does not speculate"), (8, 12, "method none does not speculate")],
    ),
    (HEAD.format("none") + "  verification: {mode: fly}\n", [(6, 17, "method none does not speculate")]),
    (
        HEAD.format("ngram") + "  schedule:\n  - {up_to: 4, k: 5}\n  - {up_to: 4, k: 2}\n  - {k: 1}\n",
        [(8, 13, "4 follows 4"), (9, 5, "can only be {k: 0}")],
    ),
    (HEAD.format("ngram") + "  schedule: [{k: 0}, {up_to: 4, k: 2}]\n", [(6, 14, "only the last row")]),
    (HEAD.format("ngram") + "  schedule: [{up_to: 4, k: 0}]\n", [(6, 13, "no speculation at all")]),
    (
        HEAD.format("ngram") + "  num_draft_tokens: 3\n  schedule: [{up_to: 4, k: 5}]\n",
        [(7, 28, "more than num_draft_tokens = 3")],
    ),
    (
        HEAD.format("eagle") + "  draft: {model: x}\n  tree: {num_steps: 3}\n  schedule: [{up_to: 4, k: 5}]\n",
        [(8, 28, "more than tree.num_steps = 3")],
    ),
    (
        HEAD.format("ngram") + "  disable_above: 2\n  schedule: [{up_to: 4, k: 5}]\n",
        [(7, 22, "disable_above stops it above 2")],
    ),
    # ways of verification
    (HEAD.format("ngram") + "  verification: fuzzy\n", [(6, 17, "must be exact, or a mapping")]),
    (HEAD.format("ngram") + "  verification: {mode: typicl}\n", [(6, 24, "did you mean typical?")]),
    (HEAD.format("ngram") + "  verification: {p: 1}\n", [(6, 17, "mode is missing")]),
    (
        HEAD.format("ngram") + "  verification: {mode: fly, x: {y: 1}}\n",
        [(6, 32, "a parameter must be text, a number")],
    ),
    (HEAD.format("ngram") + "  adaptive: 3\n", [(6, 13, "must be true, false, or a mapping")]),
    # engines
    (
        HEAD.format("ngram") + "engines:\n  vllm: {release: 0.10}\n  trtllm:\n    release: 1\n",
        [(7, 19, 'write it in quotes: "0.10"'), (9, 14, 'write it in quotes: "1"')],
    ),
    (HEAD.format("ngram") + "engines: {vllm: {options: {--a: 1}}}\n", [(6, 28, "without dashes in front: a")]),
    (HEAD.format("ngram") + "engines: {vllm: {options: {a-b: 1, a_b: 1}}}\n", [(6, 36, "the same option as a-b")]),
    (HEAD.format("ngram") + "engines: {vllm: {options: {a b: 1}}}\n", [(6, 28, "no spaces")]),
    (HEAD.format("ngram") + "engines: {vllm: {env: {A: 1, B: true}}}\n", [(6, 27, '"1"'), (6, 33, '"true"')]),
    (HEAD.format("ngram") + "engines: {vllm: {env: {a-b: x}}}\n", [(6, 24, "not a name of an environment variable")]),
    (HEAD.format("ngram") + "engines: {sglang: {cli: {}}}\n", [(6, 20, "known here: release, options, env")]),
    (HEAD.format("ngram") + "engines: {vlm: {}}\n", [(6, 11, "did you mean vllm?")]),
    (HEAD.format("ngram") + "engines: {trtllm: {}, tensorrt-llm: {}}\n", [(6, 11, "another name for tensorrt-llm")]),
]


@pytest.mark.parametrize(("text", "expected"), BAD, ids=range(len(BAD)))
def test_bad_specs_name_place_and_remedy(text: str, expected: list[tuple[int, int, str]]) -> None:
    found = places(text)
    assert [(line, column) for line, column, _ in found] == [(line, column) for line, column, _ in expected]
    for (_, _, message), (_, _, part) in zip(found, expected, strict=True):
        assert part in message


def test_all_errors_are_reported_in_the_order_of_the_file() -> None:
    text = "specconf: 1\nextra: 1\ntarget: {modl: x}\nspeculation: {method: ngram, num_draft_tokens: 0}\n"
    text += "serving: {port: x}\n"
    assert [(line, column) for line, column, _ in places(text)] == [(2, 1), (3, 9), (3, 10), (4, 48), (5, 17)]


def test_many_problems_are_cut_short_but_all_kept() -> None:
    text = HEAD.format("ngram") + "".join(f"zz{index}: 1\n" for index in range(80))
    with pytest.raises(SpecError) as caught:
        load_spec(text, "s.yaml")
    assert len(caught.value.problems) == 80
    assert str(caught.value).splitlines()[-1] == "s.yaml: and 30 more"


def test_a_token_is_never_repeated() -> None:
    token = "hf_" + "a1B2" * 8
    with pytest.raises(SpecError) as caught:
        load_spec(HEAD.format("ngram") + f"deployment:\n  secrets:\n    hf_token: {token}\n", "s.yaml")
    assert token not in str(caught.value)
    assert str(caught.value).startswith("s.yaml:8:15: ")


def test_an_error_exits_with_2_and_prints_its_place_first() -> None:
    with pytest.raises(InputError) as caught:
        load_spec("specconf: 3\n", "dir/s.yaml")
    assert caught.value.exit_code == 2
    assert str(caught.value).startswith("dir/s.yaml:1:11: ")


def test_the_example_of_the_design_loads() -> None:
    loaded = load_spec(FULL, "full.yaml")
    fields = loaded.spec.set_fields()
    assert fields["serving.memory_fraction"] == 0.85
    assert "features" not in fields
    assert "target.revision" not in fields
    assert [(name, section.release) for name, section in loaded.spec.engines.items()] == [
        ("vllm", "0.33.0"),
        ("sglang", "0.5.23"),
        ("tensorrt-llm", "1.4.0rc1"),
    ]


def test_json_and_bytes_load_to_the_same_spec() -> None:
    data = {"specconf": 1, "target": {"model": "a/b"}, "speculation": {"method": "ngram", "num_draft_tokens": 3}}
    text = json.dumps(data, indent=4)
    yaml_text = HEAD.format("ngram") + "  num_draft_tokens: 3\n"
    assert load_spec(text, "s.json").spec == load_spec(yaml_text.encode(), "s.yaml").spec
    assert str(load_spec(text, "s.json").span("speculation.num_draft_tokens")) == "s.json:8:29"


def test_places_of_fields() -> None:
    text = HEAD.format("ngram") + (
        "serving: {port: 8000}\nengines:\n  trtllm:\n    options: {a-b: 1, c: {d: 2}}\n    env: {X: '1'}\n"
    )
    loaded = load_spec(text, "s.yaml")
    expected = {
        "target.model": "s.yaml:3:10",
        "serving.port": "s.yaml:6:17",
        "serving": "s.yaml:6:10",
        "engines.trtllm": "s.yaml:9:5",
        "engines.tensorrt-llm.options.a-b": "s.yaml:9:20",
        "engines.trtllm.options.a_b": "s.yaml:9:20",
        "engines.tensorrt-llm.options.c.d": "s.yaml:9:30",
        "engines.tensorrt-llm.env.X": "s.yaml:10:14",
        "serving.host": "None",
        "hardware.platform": "None",
    }
    assert {field: str(loaded.span(field)) for field in expected} == expected
    assert str(loaded.key_span("serving.port")) == "s.yaml:6:11"


def test_sections_written_empty_are_unset() -> None:
    loaded = load_spec(
        HEAD.format("mtp") + "  tree:\n  verification:\nserving:\nhardware: {platform: null}\nengines:\n  sglang:\n",
        "s",
    )
    assert loaded.spec == load_spec(HEAD.format("mtp") + "engines: {sglang: {}}\n", "s").spec
    assert loaded.spec.engines.get("sglang") is not None


VALUES = [
    *(
        "1",
        "true",
        "null",
        "x",
        "[1]",
        "{a: 1}",
        "1.5",
        "''",
        "[]",
        "{}",
        "-1",
        "[{}]",
        "[[1]]",
        "&x y",
        "*x",
        "!!str 1",
        "yes",
    ),
    *("{mode: fly, x: {}}", "[{k: 1}]", "[{up_to: 1, k: 1}, 3]", "{1: 2}", "{vllm: {options: [1]}}", "{trtllm: {}}"),
    *("{sglang: 3}", "{vllm: {env: [1]}}", "{vllm: {options: {a: {b: [null]}}}}"),
]
LINES = FULL.splitlines()


@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(LINES) - 1), st.sampled_from(VALUES), st.sampled_from(["value", "more", "gone"])),
        min_size=1,
        max_size=3,
    )
)
def test_any_change_to_a_spec_is_read_or_explained(changes: list[tuple[int, str, str]]) -> None:
    lines = list(LINES)
    for index, value, kind in changes:
        line = lines[index]
        lines[index] = {"value": f"{line.partition(':')[0]}: {value}", "more": f"{line} {value}", "gone": ""}[kind]
    problems: tuple[Problem, ...] = ()
    try:
        spec = load_spec("\n".join(lines), "s.yaml").spec
    except SpecError as error:
        problems = error.problems
    else:
        assert load_spec(dump_spec(spec), "again.yaml").spec == spec
    for problem in problems:
        assert problem.where.line >= 1
        assert "Input should" not in problem.message
