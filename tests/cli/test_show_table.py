"""The deployments that this project was founded on, each with what its engine release must be given or must refuse.

Every row runs twice: with the models' hub ids (judged by the shipped checkpoint rows) and with local directories of other
names (judged by their config.json).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import EXAMPLES, Ran, Run
from tests.example_models import CONFIGS, FIXTURES


class Deployment:
    """One example, as it is or with its models as renamed local directories."""

    def __init__(self, run: Run, folder: Path, local: bool) -> None:
        self.run = run
        self.folder = folder
        self.local = local
        self.names: dict[str, str] = {}

    def path(self, example: str, **changes: Any) -> Path:
        """The spec to use; `changes` replace whole sections' keys, given as section__key."""
        data = yaml.safe_load((EXAMPLES / f"{example}.yaml").read_text(encoding="utf-8"))
        for name, value in changes.items():
            section, _, key = name.partition("__")
            if value is None:
                data[section].pop(key)
            else:
                data[section][key] = value
        if self.local:
            data["target"]["model"] = self._local(data["target"]["model"])
            if "draft" in data["speculation"]:
                data["speculation"]["draft"]["model"] = self._local(data["speculation"]["draft"]["model"])
        target = self.folder / f"{example}.yaml"
        target.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return target

    def _local(self, hub_id: str) -> str:
        if hub_id not in self.names:
            place = self.folder / f"weights-{len(self.names)}"
            shutil.copytree(FIXTURES / CONFIGS[hub_id], place)
            self.names[hub_id] = str(place)
        return self.names[hub_id]

    def name(self, hub_id: str) -> str:
        """How the launch names a model."""
        return self.names.get(hub_id, hub_id)

    def compile(self, spec: Path, engine: str, release: str, *more: str) -> Ran:
        """`compile --format argv`."""
        return self.run("compile", spec, "--engine", engine, "--release", release, "--format", "argv", *more)

    def document(self, spec: Path, engine: str, release: str) -> dict[str, Any]:
        """The argv document of a spec that must compile."""
        ran = self.compile(spec, engine, release)
        assert ran.code == 0, ran.err
        document: dict[str, Any] = json.loads(ran.out)
        return document

    def report(self, spec: Path, engine: str, release: str) -> dict[str, Any]:
        """The JSON report of `check`."""
        ran = self.run("check", spec, "--engine", engine, "--release", release, "--format", "json")
        report: dict[str, Any] = json.loads(ran.out)
        return report


@pytest.fixture(params=[False, True], ids=["hub ids", "renamed local directories"])
def deployment(request: pytest.FixtureRequest, specconf: Run, tmp_path: Path) -> Deployment:
    return Deployment(specconf, tmp_path, request.param)


def errors(report: dict[str, Any], severity: str = "error") -> dict[str, dict[str, Any]]:
    """Findings of a severity by code."""
    return {f["code"]: f for f in report["findings"] if f["severity"] == severity}


TARGET, DRAFT = "Qwen/Qwen3-4B-Thinking-2507", "Qwen/Qwen3-0.6B"
LLAMA, SMALL_LLAMA = "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.2-1B-Instruct"
MIMO = "XiaomiMiMo/MiMo-7B-Base"


def test_draft_model_on_vllm(deployment: Deployment) -> None:
    document = deployment.document(deployment.path("qwen3-draft-model"), "vllm", "0.33.0")
    draft = deployment.name(DRAFT)
    config = f'{{"method":"draft_model","model":"{draft}","num_speculative_tokens":5}}'
    assert document["argv"] == ["vllm", "serve", deployment.name(TARGET), "--speculative-config", config]
    assert document["forced"] is False


def test_draft_tensor_parallel_size_only_when_set(deployment: Deployment) -> None:
    spec = deployment.path("qwen3-draft-model")
    data = yaml.safe_load(spec.read_text(encoding="utf-8"))
    data["speculation"]["draft"]["tensor_parallel_size"] = 1
    spec.write_text(yaml.safe_dump(data), encoding="utf-8")
    config = json.loads(deployment.document(spec, "vllm", "0.33.0")["argv"][-1])
    assert config["draft_tensor_parallel_size"] == 1


def test_draft_model_where_vllm_refuses_it(deployment: Deployment) -> None:
    ran = deployment.compile(deployment.path("qwen3-draft-model"), "vllm", "0.12.0")
    assert ran.code == 1
    assert ran.out == ""
    assert "draft_model" in ran.err
    assert "[0.10.0, 0.15.0)" in ran.err
    assert "would pass: " in ran.err


def test_draft_model_with_the_flags_of_its_time(deployment: Deployment) -> None:
    document = deployment.document(deployment.path("llama-draft-model"), "vllm", "0.8.1")
    assert document["argv"] == [
        "vllm", "serve", deployment.name(LLAMA),
        "--speculative-model", deployment.name(SMALL_LLAMA),
        "--num-speculative-tokens", "4",
    ]  # fmt: skip


def test_mtp_on_vllm(deployment: Deployment) -> None:
    document = deployment.document(deployment.path("mimo-mtp"), "vllm", "0.33.0")
    assert document["argv"] == [
        "vllm", "serve", deployment.name(MIMO), "--trust-remote-code", "--tensor-parallel-size", "1",
        "--speculative-config", '{"method":"mtp","num_speculative_tokens":1}',
    ]  # fmt: skip


def test_mtp_without_remote_code_is_a_finding(deployment: Deployment) -> None:
    report = deployment.report(deployment.path("mimo-mtp-no-remote-code"), "vllm", "0.33.0")
    assert "SC304" in {f["code"] for f in report["findings"]}


def test_mtp_before_vllm_knew_the_word(deployment: Deployment) -> None:
    document = deployment.document(deployment.path("mimo-mtp"), "vllm", "0.10.2")
    config = json.loads(document["argv"][-1])
    assert config.get("method") != "mtp"
    assert config["num_speculative_tokens"] == 1


@pytest.mark.parametrize(
    ("release", "flag"), [("0.5.23", "--cuda-graph-max-bs-decode"), ("0.5.10", "--cuda-graph-max-bs")]
)
def test_standalone_on_sglang(deployment: Deployment, release: str, flag: str) -> None:
    argv = deployment.document(deployment.path("llama-draft-model-sglang"), "sglang", release)["argv"]
    given = dict(zip(argv[3::2], argv[4::2], strict=True))
    assert argv[:3] == ["python", "-m", "sglang.launch_server"]
    assert given == {
        "--model-path": deployment.name(LLAMA),
        "--mem-fraction-static": "0.7",
        flag: "8",
        "--speculative-algorithm": "STANDALONE",
        "--speculative-draft-model-path": deployment.name(SMALL_LLAMA),
        "--speculative-num-steps": "4",
        "--speculative-eagle-topk": "1",
        "--speculative-num-draft-tokens": "5",
    }


@pytest.mark.parametrize(("engine", "release"), [("sglang", "0.5.23"), ("vllm", "0.33.0"), ("vllm", "0.8.1")])
def test_unequal_vocabularies_are_refused(deployment: Deployment, engine: str, release: str) -> None:
    report = deployment.report(deployment.path("qwen25-vocab-mismatch"), engine, release)
    finding = errors(report)["SC302"]
    assert "152064" in finding["message"]
    assert "151936" in finding["message"]
    if (engine, release) == ("vllm", "0.33.0"):
        assert "use_heterogeneous_vocab" in finding["message"] + finding["fix"]


def test_unequal_vocabularies_where_sglang_takes_them(deployment: Deployment) -> None:
    report = deployment.report(deployment.path("qwen25-vocab-mismatch"), "sglang", "0.5.10")
    assert not errors(report)
    assert "SC302" in errors(report, "warning")


@pytest.mark.parametrize(
    ("release", "verdict"),
    [("0.5.10", "refused"), ("0.5.12", "warnings"), ("0.5.13", "ok"), ("0.5.23", "ok")],
)
def test_the_topk_rule_of_the_overlap_scheduler(deployment: Deployment, release: str, verdict: str) -> None:
    report = deployment.report(deployment.path("llama-eagle-tree"), "sglang", release)
    about_overlap = [f for f in report["findings"] if f["code"] == "SC205" and f["severity"] != "info"]
    assert {"refused": "error", "warnings": "warning", "ok": None}[verdict] == (
        about_overlap[0]["severity"] if about_overlap else None
    )
    if verdict != "refused":
        assert not errors(report)
    if release == "0.5.10":
        assert about_overlap[0]["releases"] == "[0.5.7, 0.5.11)"
    if release == "0.5.12":
        assert about_overlap[0]["releases"] == "[0.5.11, 0.5.13)"


def test_a_tree_needs_its_verify_tokens(deployment: Deployment) -> None:
    tree = {"topk": 4}
    spec = deployment.path("llama-eagle-tree", speculation__tree=tree)
    ran = deployment.compile(spec, "sglang", "0.5.23")
    assert ran.code == 1
    assert "num_verify_tokens" in ran.err


def test_eagle3_on_tensorrt_llm(deployment: Deployment) -> None:
    spec = deployment.path("llama-eagle3")
    draft = deployment.name("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B")
    document = deployment.document(spec, "tensorrt-llm", "1.4.0rc1")
    assert document["argv"] == ["trtllm-serve", deployment.name(LLAMA), "--config", "speculative.yaml"]
    assert yaml.safe_load(document["files"]["speculative.yaml"]) == {
        "max_seq_len": 2048,
        "speculative_config": {"decoding_type": "Eagle3", "max_draft_len": 4, "speculative_model": draft},
    }


def test_eagle3_on_tensorrt_llm_1_2(deployment: Deployment) -> None:
    document = deployment.document(deployment.path("llama-eagle3"), "tensorrt-llm", "1.2.1")
    config = yaml.safe_load(document["files"]["speculative.yaml"])["speculative_config"]
    assert (config["decoding_type"], config["allow_advanced_sampling"]) == ("Eagle", True)


def test_eagle3_on_tensorrt_llm_1_1(deployment: Deployment) -> None:
    document = deployment.document(deployment.path("llama-eagle3"), "tensorrt-llm", "1.1.0")
    config = yaml.safe_load(document["files"]["speculative.yaml"])["speculative_config"]
    assert config["decoding_type"] == "Eagle"
    assert config["speculative_model_dir"] == deployment.name("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B")
    assert "allow_advanced_sampling" not in config
    assert "--extra_llm_api_options" in document["argv"]
    exactness = [f for f in document["findings"] if f["code"] == "SC502"]
    assert [f["severity"] for f in exactness] == ["info"]
    assert "not checked" in exactness[0]["message"]


@pytest.mark.parametrize(
    ("engine", "release"), [("vllm", "0.33.0"), ("sglang", "0.5.23"), ("tensorrt-llm", "1.4.0rc1")]
)
def test_mtp_on_a_plain_llama_is_an_error_everywhere(deployment: Deployment, engine: str, release: str) -> None:
    report = deployment.report(deployment.path("llama-mtp"), engine, release)
    about_the_spec = [f for f in report["findings"] if f["code"] == "SC301" and not f["constraint"]]
    assert [f["severity"] for f in about_the_spec] == ["error"]
    assert "no MTP layers" in about_the_spec[0]["message"]
    effects = {(f["stage"], f["effect"]) for f in report["findings"] if f["code"] == "SC301" and f["constraint"]}
    assert effects, "the engine's own stage and effect are said beside it"
    if engine == "vllm":
        assert effects == {("config", "rejects")}
    if engine == "sglang":
        assert not any(effect == "rejects" for _, effect in effects), "its validator accepts this launch"
