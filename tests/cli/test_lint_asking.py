"""`lint --ask-engine`, with a pretended engine."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from specconf.schemas import schema
from tests.cli.conftest import Run
from tests.oracle.pretend import make_environment
from tests.oracle.pretended_trtllm import NEW

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 1024, "max_position_embeddings": 512,
}  # fmt: skip
SCRIPT = """#!/bin/bash
# TensorRT-LLM 1.4.0rc1
trtllm-serve m --max_batch_size 4
trtllm-serve m --max_batch_size $N
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("trtllm") / "env", NEW)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text(json.dumps(CONFIG))
    monkeypatch.setenv("SPECCONF_ENGINE_CACHE", str(tmp_path / "engines"))
    path = tmp_path / "run.sh"
    path.write_text(SCRIPT)
    return path


def test_both_verdicts_stand_under_the_place_of_each_launch(specconf: Run, script: Path, python: Path) -> None:
    ran = specconf("lint", script, "--ask-engine", "--engine-python", python)
    assert ran.code == 0, ran.err
    assert f"{script}:3\nasked tensorrt-llm 1.4.0rc1 itself" in ran.out
    assert "agree     yes" in ran.out
    assert "not asked: the launch holds words that its file does not tell: $N" in ran.out
    assert "engines asked: 1 of 2 answered, 1 agree with specconf" in ran.out


def test_the_json_report_holds_what_was_asked(specconf: Run, script: Path, python: Path) -> None:
    ran = specconf("lint", script, "--ask-engine", "--engine-python", python, "-f", "json")
    report = json.loads(ran.out)
    jsonschema.validate(report, schema("lint"))
    assert [launch["asked"]["agree"] for launch in report["launches"]] == [True, None]
    plain = json.loads(specconf("lint", script, "-f", "json").out)
    assert [launch["asked"] for launch in plain["launches"]] == [None, None]


def test_where_no_launch_can_be_asked_the_exit_code_is_1(specconf: Run, script: Path, python: Path) -> None:
    script.write_text("#!/bin/bash\ntrtllm-serve m --max_batch_size 4\n")
    ran = specconf("lint", script, "--ask-engine", "--engine-python", python)
    assert ran.code == 1
    assert "nothing could be asked: no one release is stated for the launch" in ran.err
