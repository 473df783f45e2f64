"""`specconf upgrade`: files and specs, the formats, the patch, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from specconf.cli.main import cli
from specconf.schemas import schema

TREE = """#!/bin/sh
docker run --gpus all lmsysorg/sglang:v0.5.9 \\
  python3 -m sglang.launch_server --model-path m/m --cuda-graph-max-bs 8
"""
PLAIN = """services:
  chat:
    image: vllm/vllm-openai:v0.19.1
    command: ["--model", "m/m", "--max-model-len", "4096"]
"""
SPEC = """specconf: 1
target: {model: meta-llama/Llama-3.1-8B-Instruct}
speculation: {method: ngram, num_draft_tokens: 4, ngram: {max: 4}}
engines:
  vllm: {release: "0.19.0"}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.sh").write_text(TREE)
    (tmp_path / "compose.yaml").write_text(PLAIN)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["upgrade", *words], standalone_mode=False)


def code(result: Result) -> int:
    return result.return_value if result.exception is None else getattr(result.exception, "exit_code", -1)


def test_what_breaks_and_what_changes(folder: Path) -> None:
    result = run(".", "--to", "vllm=0.33.0", "--to", "sglang=0.5.23")
    assert code(result) == 1
    assert "run.sh:2 sglang 0.5.9 to 0.5.23: breaks" in result.output
    assert "compose.yaml:4 (chat) vllm 0.19.1 to 0.33.0: changes silently" in result.output
    assert (
        "--gpu-memory-utilization is 0.9 (its default) in 0.19.1 and is 0.92 (its default) in 0.33.0" in result.output
    )
    assert result.output.endswith("2 files, 2 launches: 1 breaks, 1 changes silently\n")


def test_silent_changes_alone_are_no_failure_unless_asked(folder: Path) -> None:
    assert code(run("compose.yaml", "--to", "vllm=0.33.0")) == 0
    assert code(run("compose.yaml", "--to", "vllm=0.33.0", "--fail-on", "warning")) == 1


def test_newest_and_what_is_not_compared(folder: Path) -> None:
    (folder / "bare.sh").write_text("vllm serve m/m --max-model-len 1\n")
    output = run(".", "--to", "newest").output
    assert "bare.sh:1 vllm: not compared, its release is not stated; --from states one" in output
    assert "vllm 0.30.0 to 0.33.0" in run("bare.sh", "--to", "newest", "--from", "vllm=0.30.0").output
    assert "it is at 0.33.0 already" in run("bare.sh", "--to", "newest", "--from", "vllm=0.33.0").output
    assert "no release to upgrade sglang to was given" in run("run.sh", "--to", "vllm=0.33.0").output


def test_the_patch_states_the_new_release_and_writes_what_it_needs(folder: Path) -> None:
    result = run("run.sh", "--to", "sglang=0.5.23", "--diff")
    assert code(result) == 1
    assert (folder / "run.sh").read_text() == TREE
    fixed = run("run.sh", "--to", "sglang=0.5.23", "--fix")
    text = (folder / "run.sh").read_text()
    assert text == TREE.replace("v0.5.9", "v0.5.23").replace("--cuda-graph-max-bs ", "--cuda-graph-max-bs-decode ")
    assert "upgraded 1 file" in fixed.output
    assert "it is at 0.5.23 already" in run("run.sh", "--to", "sglang=0.5.23").output


STATED = {
    "image tag": ("a.sh", "docker run vllm/vllm-openai:v0.30.0 --model m/m\n", "v0.33.0", 1),
    "pin": ("a.sh", "pip install vllm==0.30.0\nvllm serve m/m\n", "vllm==0.33.0", 1),
    "variable": (
        "a.sh",
        "VLLM_VERSION=0.30.0\npip install vllm==$VLLM_VERSION\nvllm serve m/m\n",
        "VLLM_VERSION=0.33.0",
        1,
    ),
    "of two engines": (
        "a.sh",
        "docker run lmsysorg/sglang:v0.5.20 python3 -m sglang.launch_server --model-path m/m\n"
        "docker run vllm/vllm-openai:v0.30.0 --model m/m\n",
        "v0.33.0",
        1,
    ),
    "a variant's tag": ("a.sh", "docker run vllm/vllm-openai:v0.30.0-cu129 --model m/m\n", "v0.33.0", 0),
    "a comment": ("a.sh", "# tested with vLLM 0.30.0\nvllm serve m/m\n", "0.33.0", 0),
}


@pytest.mark.parametrize("how", STATED)
def test_what_states_a_release_states_the_new_one(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variant's tag may not be published for the new release, and a comment tells what somebody tried."""
    monkeypatch.chdir(tmp_path)
    name, text, new, times = STATED[how]
    (tmp_path / name).write_text(text)
    run(name, "--to", "vllm=0.33.0", "--fix")
    assert (tmp_path / name).read_text().count(new) == times


def test_a_spec(folder: Path) -> None:
    (folder / "spec.yaml").write_text(SPEC)
    result = run("spec.yaml", "--to", "vllm=0.33.0", "--offline")
    assert "vllm 0.19.0 to 0.33.0: changes silently" in result.output
    run("spec.yaml", "--to", "vllm=0.33.0", "--offline", "--fix")
    assert (folder / "spec.yaml").read_text() == SPEC.replace('"0.19.0"', '"0.33.0"')


def test_json_is_what_its_schema_says(folder: Path) -> None:
    result = run(".", "--to", "newest", "--format", "json")
    report = json.loads(result.output)
    jsonschema.validate(report, schema("upgrade"))
    (launch,) = [one for one in report["launches"] if one["engine"] == "vllm"]
    (change,) = [one for one in launch["changes"] if one["path"] == "gpu_memory_utilization"]
    assert (change["before"]["value"], change["after"]["value"]) == (0.9, 0.92)


@pytest.mark.parametrize("form", ["sarif", "junit", "github", "markdown"])
def test_other_formats(folder: Path, form: str) -> None:
    result = run("run.sh", "--to", "sglang=0.5.23", "--format", form)
    assert "cuda-graph-max-bs" in result.output
    assert code(result) == 1


def test_markdown_is_a_table_and_what_to_look_at(folder: Path) -> None:
    output = run(".", "--to", "newest", "--format", "markdown").output
    assert "| run.sh:2 | sglang | 0.5.9 | 0.5.23 | breaks |" in output
    assert "**Breaks**" in output
    assert "**Changes silently**" in output


def test_a_comment_suppresses(folder: Path) -> None:
    text = PLAIN.replace("    command:", "    # specconf: ignore[SC901] measured\n    command:")
    (folder / "compose.yaml").write_text(text)
    assert "gpu-memory-utilization" not in run("compose.yaml", "--to", "vllm=0.33.0", "-v").output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run.sh", "--to", "vllm"], "names no engine and release"),
        (["run.sh", "--to", "llama.cpp=1"], "no engine that specconf knows"),
        (["run.sh", "--to", "vllm=0.33.0", "--from", "0.30"], "--from '0.30' names no engine"),
        (["run.sh", "--to", "vllm=0.33.0", "--unsafe-fixes"], "Add --fix or --diff"),
    ],
)
def test_usage_errors(folder: Path, words: list[str], says: str) -> None:
    result = run(*words)
    assert code(result) == 2
    assert says in str(result.exception)


def test_a_release_that_is_not_known_is_told_with_the_one_it_is_judged_as(folder: Path) -> None:
    assert "sglang 9.9.9 is newer than this database" in run("run.sh", "--to", "sglang=9.9.9").stderr


def test_nothing_to_upgrade(folder: Path) -> None:
    (folder / "empty.sh").write_text("echo\n")
    assert code(run("empty.sh", "--to", "newest")) == 3


CORPUS = Path(__file__).resolve().parent.parent / "corpus" / "deploy"
GOLDEN = Path(__file__).resolve().parent / "golden" / "upgrade-deploy-files.txt"


def test_the_deploy_files_of_the_corpus_upgraded_to_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every launch with what comes of it; a line that changes shows in review."""
    pytest.importorskip("tree_sitter_hcl", reason="specconf[terraform] is not installed")
    monkeypatch.chdir(CORPUS)
    shown = [line for line in run(".", "--to", "newest").output.split("\n") if line and not line.startswith(" ")]
    assert shown == GOLDEN.read_text(encoding="utf-8").splitlines()


def test_what_changes_silently_needs_no_flag_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CORPUS / "kserve")
    assert "gpu-memory-utilization" not in Path("inferenceservice-ngram.yaml").read_text()
    output = run("inferenceservice-ngram.yaml", "--to", "vllm=0.33.0").output
    assert "--gpu-memory-utilization is 0.9 (its default) in 0.19.1 and is 0.92 (its default) in 0.33.0" in output
