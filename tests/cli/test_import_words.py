"""Importing launches that name their method in another of the engine's words, or not at all: the spec says what runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Run
from tests.example_models import FIXTURES


@pytest.mark.parametrize(
    ("release", "command", "method", "kept"),
    [
        (
            "vllm=0.33.0",
            """vllm serve {deepseek-v3} --speculative-config '{"method":"deepseek_mtp","num_speculative_tokens":1}'""",
            "mtp",
            {"speculative_config": {"method": "deepseek_mtp"}},
        ),
        (
            "vllm=0.33.0",
            """vllm serve {llama-3.1-8b} --speculative-config '{"model":"{eagle3-llama3.1-8b}","num_speculative_tokens":3}'""",
            "eagle3",
            {"speculative_config": {"method": None}},
        ),
        (
            "sglang=0.5.10",
            "python -m sglang.launch_server --model-path {deepseek-v3} --speculative-algorithm NEXTN "
            "--speculative-num-steps 1 --speculative-eagle-topk 1 --speculative-num-draft-tokens 2",
            "mtp",
            {"speculative_algorithm": "NEXTN"},
        ),
    ],
)
def test_the_method_is_named(
    specconf: Run, tmp_path: Path, release: str, command: str, method: str, kept: dict[str, object]
) -> None:
    for fixture in ("deepseek-v3", "llama-3.1-8b", "eagle3-llama3.1-8b"):
        shutil.copytree(FIXTURES / fixture, tmp_path / fixture)
        command = command.replace(f"{{{fixture}}}", str(tmp_path / fixture))
    engine = release.partition("=")[0]
    script = tmp_path / "run.sh"
    script.write_text(f"{command}\n", encoding="utf-8")
    imported = specconf("import", script, "-r", release)
    assert imported.code == 0, imported.err
    spec = yaml.safe_load(imported.out)
    assert spec["speculation"]["method"] == method
    assert spec["engines"][engine]["options"] == kept
    path = tmp_path / "spec.yaml"
    path.write_text(imported.out, encoding="utf-8")
    again = json.loads(specconf("compile", path, "-e", engine, "-f", "argv", "--force").out)
    script.write_text(" ".join(f"'{word}'" for word in again["argv"]) + "\n", encoding="utf-8")
    twice = yaml.safe_load(specconf("import", script, "-r", release).out)
    assert twice == spec


def test_a_file_of_variables_is_said_to_be_unread(specconf: Run, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("docker run --env-file x.env vllm/vllm-openai:v0.33.0 --model m\n", encoding="utf-8")
    ran = specconf("import", str(script), "--offline")
    assert ran.code == 0
    assert "run.sh:1:23: not checked: the variables that x.env sets were not read" in ran.err


def test_what_is_not_checked_is_said_unless_quiet(specconf: Run, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(
        'vllm serve nobody/knows --speculative-config \'{"method":"mtp","num_speculative_tokens":1}\'\n',
        encoding="utf-8",
    )
    ran = specconf("import", script, "-r", "0.33.0", "--offline")
    assert "need target config.json: --online" in ran.err
    assert "not checked" not in specconf("import", script, "-r", "0.33.0", "--offline", "--quiet").err
