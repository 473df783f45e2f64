"""Golden launches: what a spec is written as, release by release, and the YAML text by itself."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from specconf.engines.emitting import EmitError
from specconf.engines.tensorrt_llm.emit import yaml_text
from specconf.errors import InputError
from specconf.settings import Origin, SettingsBuilder, Written
from specconf.spec import Spec
from tests.engines.tensorrt_llm.support import ENGINE, HEAD, LLAMA, RELEASES, emitted, lowered, spec, view

EAGLE3 = spec("eagle3", num_draft_tokens=4, draft__model=HEAD)
DRAFT = spec("draft_model", num_draft_tokens=5, draft__model="meta-llama/Llama-3.2-1B-Instruct")
MTP = spec("mtp", num_draft_tokens=3)

GOLDEN = [
    (
        EAGLE3,
        "1.4.0rc1",
        ["--config", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: Eagle3
  max_draft_len: 4
  speculative_model: yuhuili/EAGLE3-LLaMA3.1-Instruct-8B
""",
    ),
    (
        EAGLE3,
        "1.3.0rc14",
        ["--config", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: Eagle3
  max_draft_len: 4
  speculative_model: yuhuili/EAGLE3-LLaMA3.1-Instruct-8B
  allow_advanced_sampling: true
""",
    ),
    (
        EAGLE3,
        "1.2.1",
        ["--config", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: Eagle
  max_draft_len: 4
  speculative_model: yuhuili/EAGLE3-LLaMA3.1-Instruct-8B
  allow_advanced_sampling: true
""",
    ),
    (
        EAGLE3,
        "1.1.0",
        ["--extra_llm_api_options", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: Eagle
  max_draft_len: 4
  speculative_model_dir: yuhuili/EAGLE3-LLaMA3.1-Instruct-8B
""",
    ),
    (
        EAGLE3,
        "0.21.0",
        ["--backend", "pytorch", "--extra_llm_api_options", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: Eagle
  max_draft_len: 4
  pytorch_weights_path: yuhuili/EAGLE3-LLaMA3.1-Instruct-8B
""",
    ),
    (
        DRAFT,
        "1.2.1",
        ["--config", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: DraftTarget
  max_draft_len: 5
  speculative_model: meta-llama/Llama-3.2-1B-Instruct
  allow_advanced_sampling: true
""",
    ),
    (
        DRAFT,
        "1.3.0rc24",
        ["--config", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: Draft_Target
  max_draft_len: 5
  speculative_model: meta-llama/Llama-3.2-1B-Instruct
""",
    ),
    (
        MTP,
        "1.0.0",
        ["--extra_llm_api_options", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: MTP
  max_draft_len: 3
  num_nextn_predict_layers: 3
""",
    ),
    (
        MTP,
        "1.3.0rc17",
        ["--config", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: MTP
  max_draft_len: 3
  allow_advanced_sampling: true
  num_nextn_predict_layers: 3
""",
    ),
    (
        MTP,
        "1.3.0rc22",
        ["--config", "speculative.yaml"],
        """\
speculative_config:
  decoding_type: MTP
  max_draft_len: 3
""",
    ),
]


@pytest.mark.parametrize(("given", "release", "flags", "text"), GOLDEN)
def test_golden_launches(given: Spec, release: str, flags: list[str], text: str) -> None:
    artifact = emitted(given, release)
    assert list(artifact.argv) == ["trtllm-serve", LLAMA, *flags]
    assert dict(artifact.files) == {"speculative.yaml": text}


def test_every_part_of_a_launch_is_in_the_order_of_the_spec() -> None:
    given = spec(
        "eagle3",
        num_draft_tokens=4,
        draft__model=HEAD,
        serving__port=9000,
        serving__tensor_parallel_size=4,
        serving__attention_data_parallel_size=4,
        serving__max_num_seqs=64,
        serving__kv_cache_dtype="fp8",
        serving__prefix_caching=False,
        serving__cuda_graph_max_batch=64,
        target__trust_remote_code=True,
        disable_above=32,
    )
    artifact = emitted(given, "1.4.0rc1")
    assert list(artifact.argv) == [
        "trtllm-serve", LLAMA, "--trust_remote_code", "--port", "9000", "--config", "speculative.yaml",
    ]  # fmt: skip
    assert (
        artifact.files["speculative.yaml"]
        == """\
tensor_parallel_size: 4
enable_attention_dp: true
max_batch_size: 64
kv_cache_config:
  dtype: fp8
  enable_block_reuse: false
cuda_graph_config:
  max_batch_size: 64
speculative_config:
  decoding_type: Eagle3
  max_draft_len: 4
  speculative_model: yuhuili/EAGLE3-LLaMA3.1-Instruct-8B
  max_concurrency: 32
"""
    )


def test_a_key_that_a_release_is_not_known_to_have_is_a_flag_there() -> None:
    given = spec("none", serving__max_num_seqs=64)
    old, new = emitted(given, "1.1.0"), emitted(given, "1.2.1")
    assert list(old.argv) == ["trtllm-serve", LLAMA, "--max_batch_size", "64"]
    assert not old.files
    assert list(new.argv) == ["trtllm-serve", LLAMA, "--config", "speculative.yaml"]
    assert new.files["speculative.yaml"] == "max_batch_size: 64\n"


@pytest.mark.parametrize("release", RELEASES)
def test_a_bare_target_needs_no_file(release: str) -> None:
    artifact = emitted(spec("none"), release)
    assert list(artifact.argv) == ["trtllm-serve", LLAMA]
    assert not artifact.files


def test_the_file_form_is_the_same_launch() -> None:
    settings = lowered(EAGLE3, "1.4.0rc1").settings
    at = view("1.4.0rc1")
    assert ENGINE.emit(settings, at, "engine-yaml") == ENGINE.emit(settings, at, "argv")


def test_schedule_keys_are_numbers() -> None:
    given = spec("eagle3", num_draft_tokens=4, draft__model=HEAD, schedule=[{"up_to": 4, "k": 4}, {"k": 0}])
    text = emitted(given, "1.4.0rc1").files["speculative.yaml"]
    assert yaml.safe_load(text)["speculative_config"]["draft_len_schedule"] == {4: 4}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("auto", "auto"),
        ("yes", "'yes'"),
        ("y", "'y'"),
        ("off", "'off'"),
        ("null", "'null'"),
        ("~", "'~'"),
        ("", "''"),
        ("1.10", "'1.10'"),
        ("1e3", "'1e3'"),
        ("0x10", "'0x10'"),
        ("0o17", "'0o17'"),
        ("1:30", "'1:30'"),
        ("2026-01-02", "'2026-01-02'"),
        ("a: b", "'a: b'"),
        ("# no comment", "'# no comment'"),
        ("größe", "größe"),
        (True, "true"),
        (None, "null"),
        (0.9, "0.9"),
    ],
)
def test_texts_that_look_like_something_else_are_quoted(value: Any, written: str) -> None:
    text = yaml_text({"key": value})
    assert text == f"key: {written}\n"
    assert yaml.safe_load(text) == {"key": value}


def test_a_file_of_the_users_own_beside_keys_is_refused() -> None:
    builder = SettingsBuilder("tensorrt-llm")
    for path, value in (("model", LLAMA), ("cli.config", "mine.yaml"), ("tensor_parallel_size", 2)):
        builder.write(path, Written(value, Origin.OPTION))
    with pytest.raises(InputError, match=r"one file only"):
        ENGINE.emit(builder.build(), view("1.4.0rc1"), "argv")


def test_options_that_the_lists_do_not_hold_are_written_and_told() -> None:
    options = {"options": {"print_iter_log": True}, "cli": {"log-level": "info", "grpc": True, "fail_fast": True}}
    fields = {"target.model": LLAMA, "speculation.method": "none"}
    given = Spec.from_fields(fields, engines={"tensorrt-llm": options})
    artifact = emitted(given, "1.4.0rc1")
    assert list(artifact.argv) == [
        "trtllm-serve", LLAMA, "--log_level", "info", "--grpc", "--fail_fast", "--config", "speculative.yaml",
    ]  # fmt: skip
    assert artifact.files["speculative.yaml"] == "print_iter_log: true\n"
    problems = lowered(given, "1.4.0rc1").settings.problems
    assert [p.spelling for p in problems] == ["print_iter_log", "log-level", "fail_fast"]


def test_a_value_and_members_of_one_object_do_not_go_together() -> None:
    builder = SettingsBuilder("tensorrt-llm")
    builder.write("cuda_graph_config", Written(None, Origin.SPEC))
    builder.write("cuda_graph_config.max_batch_size", Written(8, Origin.SPEC))
    with pytest.raises(EmitError):
        ENGINE.emit(builder.build(), view("1.4.0rc1"), "argv")
