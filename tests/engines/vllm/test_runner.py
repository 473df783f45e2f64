"""The model runner that a launch gets, in every release that has two: by variable, target, method, options and platform."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.engines.vllm.derived.experts import target_experts
from specconf.facts import Effective, Known, Missing
from specconf.rules.checker import CheckResult
from tests.engines.vllm.support import judged

FELL_BACK = ("vllm/v1-runner-0", "vllm/v1-runner-by-option")
RUNNER = "env.VLLM_USE_V2_MODEL_RUNNER"
PLAIN = {"hidden_size": 64, "num_hidden_layers": 8, "num_attention_heads": 4, "vocab_size": 1024}
LLAMA = PLAIN | {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}
QWEN = PLAIN | {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}
QWEN_MOE = PLAIN | {"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "num_experts": 128}
HYBRID = {"architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5", "text_config": PLAIN}
GRANITE = PLAIN | {"architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid"}
DEEPSEEK_V4 = PLAIN | {"architectures": ["DeepseekV4ForCausalLM"], "model_type": "deepseek_v4", "n_routed_experts": 8}
HEAD = PLAIN | {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 1}
DFLASH = PLAIN | {"architectures": ["DFlashDraftModel"], "model_type": "qwen3", "dflash_config": {"mask_token_id": 5}}
MIXED = DFLASH | {"layer_types": ["sliding_attention", "full_attention"]}
EAGLE = {"method": "eagle", "model": "/models/eagle-head", "num_speculative_tokens": 3}
NGRAM = {"method": "ngram", "num_speculative_tokens": 3}
DSPARK = {"method": "dspark", "num_speculative_tokens": 3}
DFLASH_CONFIG = {"method": "dflash", "model": "/models/dflash-draft", "num_speculative_tokens": 3}


def result(
    release: str,
    target: dict[str, Any] | None = LLAMA,
    config: dict[str, Any] | None = None,
    *more: str,
    draft: dict[str, Any] | None = HEAD,
    platform: str = "cuda",
    env: dict[str, str] | None = None,
) -> CheckResult:
    argv = ["vllm", "serve", "/models/target", "--speculative-config", json.dumps(config or EAGLE), *more]
    case = {"release": release, "argv": argv, "env": env or {}, "target": target, "draft": draft}
    return judged(case | {"facts": {"hardware.platform": platform}}).result


def runner(found: CheckResult) -> str | None:
    """The runner in the effective configuration; None where it is not known."""
    value = found.effective[RUNNER].value
    return {"0": "V1", "1": "V2"}[str(value.value)] if isinstance(value, Known) and value.value is not None else None


@pytest.mark.parametrize(
    ("release", "target", "expected"),
    [
        ("0.12.0", LLAMA, "V1"),
        ("0.21.0", QWEN, "V1"),
        ("0.22.1", QWEN, "V2"),
        ("0.22.0", QWEN | {"quantization_config": {"quant_method": "fp8"}}, "V1"),
        ("0.22.0", LLAMA, "V1"),
        ("0.23.0", LLAMA, "V2"),
        ("0.23.0", LLAMA | {"quantization_config": {"quant_method": "fp8"}}, "V1"),
        ("0.24.0", LLAMA | {"quantization_config": {"quant_method": "fp8"}}, "V2"),
        ("0.24.0", PLAIN | {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2"}, "V1"),
        ("0.25.0", PLAIN | {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2"}, "V2"),
        (
            "0.24.0",
            PLAIN | {"architectures": ["Qwen2MoeForCausalLM"], "model_type": "qwen2_moe", "num_experts": 60},
            "V2",
        ),
        ("0.28.0", QWEN_MOE, "V1"),
        ("0.29.0", QWEN_MOE, "V2"),
        ("0.28.0", HYBRID, "V1"),
        ("0.29.0", HYBRID, "V2"),
        ("0.25.0", GRANITE, "V1"),
        ("0.25.0", GRANITE | {"layer_types": ["attention"] * 8}, None),  # its class counts experts of its own
        ("0.25.0", GRANITE | {"layer_types": ["attention"] * 8, "num_local_experts": 0}, "V2"),
        ("0.27.1", DEEPSEEK_V4, "V1"),
        ("0.28.0", DEEPSEEK_V4, "V2"),
        ("0.33.0", LLAMA, "V2"),
        ("0.24.0", None, None),
        ("0.33.0", None, "V2"),
    ],
)
def test_the_target_decides_by_release(release: str, target: dict[str, Any] | None, expected: str | None) -> None:
    assert runner(result(release, target)) == expected


@pytest.mark.parametrize(
    ("release", "target", "platform", "expected"),
    [
        ("0.28.0", DEEPSEEK_V4, "rocm", "V1"),
        ("0.30.0", DEEPSEEK_V4, "rocm", "V1"),
        ("0.31.0", DEEPSEEK_V4, "rocm", "V1"),
        ("0.32.0", DEEPSEEK_V4, "rocm", "V2"),
        ("0.33.0", LLAMA, "rocm", "V2"),
        ("0.33.0", LLAMA, "cpu", None),
        ("0.21.0", LLAMA, "cpu", "V1"),
    ],
)
def test_the_platform_decides_too(release: str, target: dict[str, Any], platform: str, expected: str | None) -> None:
    assert runner(result(release, target, platform=platform)) == expected


def test_where_v1_cannot_serve_a_launch_rocm_takes_v2() -> None:
    assert runner(result("0.31.0", DEEPSEEK_V4, DSPARK, platform="rocm")) == "V2"
    assert runner(result("0.30.0", DEEPSEEK_V4, DSPARK, platform="rocm")) == "V1"


@pytest.mark.parametrize(
    ("release", "config", "draft", "expected"),
    [
        ("0.24.0", DFLASH_CONFIG, MIXED, "V1"),
        ("0.25.0", DFLASH_CONFIG, MIXED, "V1"),
        ("0.26.0", DFLASH_CONFIG, MIXED, "V2"),
        ("0.26.0", DFLASH_CONFIG, DFLASH, "V1"),
        ("0.28.0", DFLASH_CONFIG, DFLASH | {"architectures": ["DFlash2DraftModel"]}, "V2"),
        ("0.25.0", DSPARK, None, "V2"),
        ("0.28.0", NGRAM, None, "V1"),
    ],
)
def test_a_draft_that_only_v2_has_takes_it_whatever_the_target(
    release: str, config: dict[str, Any], draft: dict[str, Any] | None, expected: str
) -> None:
    assert runner(result(release, HYBRID, config, draft=draft)) == expected


@pytest.mark.parametrize(
    ("release", "config", "more", "expected"),
    [
        ("0.23.0", NGRAM, (), "V1"),
        ("0.24.0", DFLASH_CONFIG, (), "V2"),
        ("0.23.0", DFLASH_CONFIG, (), "V1"),
        ("0.22.0", EAGLE, ("--reasoning-parser", "qwen3"), "V1"),
        ("0.23.0", EAGLE, ("--reasoning-parser", "qwen3"), "V2"),
        ("0.25.0", EAGLE, ("--logprobs-mode", "raw_logits"), "V1"),
        ("0.26.0", EAGLE, ("--logprobs-mode", "raw_logits"), "V2"),
        ("0.24.0", EAGLE | {"num_speculative_tokens_per_batch_size": [[1, 8, 3]]}, (), "V1"),
        ("0.25.0", EAGLE | {"num_speculative_tokens_per_batch_size": [[1, 8, 3]]}, (), "V2"),
        ("0.27.0", EAGLE, ("--ec-transfer-config", '{"ec_role": "ec_both"}'), "V1"),
        ("0.28.0", EAGLE, ("--ec-transfer-config", '{"ec_role": "ec_both"}'), "V2"),
    ],
)
def test_what_v2_does_not_have_falls_back(
    release: str, config: dict[str, Any], more: tuple[str, ...], expected: str
) -> None:
    found = result(release, QWEN, config, *more)
    assert runner(found) == expected
    assert any(name.startswith(FELL_BACK) and held for name, held in found.resolved.items()) is (expected == "V1")
    assert not [f for f in found.findings if f.constraint.startswith(FELL_BACK)]


def test_a_target_that_gets_v1_anyway_does_not_fall_back() -> None:
    found = result("0.24.0", HYBRID, NGRAM)
    assert runner(found) == "V1"
    assert not found.effective[RUNNER].origin.startswith(FELL_BACK)


@pytest.mark.parametrize("release", ["0.22.0", "0.28.0", "0.33.0"])
def test_a_variable_that_is_written_is_what_counts(release: str) -> None:
    written = result(release, QWEN, env={"VLLM_USE_V2_MODEL_RUNNER": "0"})
    assert written.effective[RUNNER] == Effective(Known("0"), "written")
    assert not [name for name, held in written.resolved.items() if "runner" in name and held]


def test_dspark_on_a_v2_runner_that_cannot_serve_the_launch_is_refused() -> None:
    judged = result("0.26.0", HYBRID, DSPARK, "--enable-dbo", draft=None)
    assert "vllm/v2-runner-refuses-026" in {f.constraint for f in judged.findings}
    assert not [name for name, held in judged.resolved.items() if name.startswith(FELL_BACK) and held]


def test_a_dense_target_of_which_only_a_part_is_known_is_dense_by_its_class() -> None:
    class Part:
        def __init__(self, architecture: str) -> None:
            self.known = {
                "target.architectures": [architecture],
                "target.model_type": "x",
                "target.text_config_path": None,
            }

        def get(self, path: str) -> Known | Missing:
            return Known(self.known[path]) if path in self.known else Missing(path)

    assert target_experts(Part("LlamaForCausalLM")) == Known(0)  # type: ignore[arg-type]
    assert isinstance(target_experts(Part("NewForCausalLM")), Missing)  # type: ignore[arg-type]


SHORT_HEAD = HEAD | {"architectures": ["LlamaForCausalLMEagle3"], "max_position_embeddings": 2048}
EAGLE3 = {"method": "eagle3", "model": "/models/eagle3-head", "num_speculative_tokens": 3}


@pytest.mark.parametrize("release", ["0.22.0", "0.23.0", "0.24.0"])
@pytest.mark.parametrize(
    ("flag", "said"),
    [([], "drafts-past-head-v2-runner"), (["--enable-dbo"], "no-drafts-beyond-draft-length-022")],
)
def test_what_a_runner_does_with_a_short_head_goes_by_the_runner_that_the_launch_gets(
    release: str, flag: list[str], said: str
) -> None:
    target = QWEN | {"max_position_embeddings": 40960}
    found = result(release, target, EAGLE3, *flag, draft=SHORT_HEAD)
    about = {f.constraint for f in found.findings if f.code == "SC306"}
    assert about == {f"vllm/{said}"}


@pytest.mark.parametrize(("value", "dies"), [("true", True), ("", True), ("1", False), (" 0 ", False), ("2", False)])
@pytest.mark.parametrize("release", ["0.22.0", "0.33.0"])
def test_a_runner_that_is_no_whole_number_stops_the_launch(release: str, value: str, dies: bool) -> None:
    found = result(release, env={"VLLM_USE_V2_MODEL_RUNNER": value})
    assert any(f.constraint == "vllm/runner-not-a-number" for f in found.findings) is dies


@pytest.mark.parametrize(
    ("release", "config", "flags", "named"),
    [
        ("0.24.0", NGRAM, [], "does not support method ngram, and"),
        ("0.24.0", EAGLE, ["--enable-dbo"], "does not support --enable-dbo, and"),
        ("0.24.0", EAGLE3, ["-pp", "2"], "does not support method eagle3 with --pipeline-parallel-size, and"),
        ("0.24.0", NGRAM, ["--enable-prompt-embeds"], "does not support method ngram and --enable-prompt-embeds, and"),
        ("0.33.0", {"method": "suffix", "num_speculative_tokens": 3}, [], "does not support method suffix, and"),
    ],
)
def test_a_refusal_names_what_the_v2_runner_does_not_have(
    release: str, config: dict[str, Any], flags: list[str], named: str
) -> None:
    found = result(release, QWEN, config, *flags, env={"VLLM_USE_V2_MODEL_RUNNER": "1"})
    (message,) = [f.message for f in found.findings if f.constraint.startswith("vllm/v2-runner-refuses")]
    assert named in message


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--enable-dbo"], "--enable-dbo"),
        (["--enable-dbo", "--enable-prompt-embeds"], "--enable-dbo and --enable-prompt-embeds"),
    ],
)
def test_a_refusal_names_the_options_that_the_v2_runner_does_not_have(flags: list[str], named: str) -> None:
    asked = result("0.24.0", QWEN, EAGLE, *flags, env={"VLLM_USE_V2_MODEL_RUNNER": "1"})
    (message,) = [f.message for f in asked.findings if "v2-runner-refuses" in f.constraint]
    assert named in message
    left = result("0.24.0", QWEN, EAGLE, *flags)
    assert runner(left) == "V1"
    assert left.resolved["vllm/v1-runner-by-option-024"]
