"""The script of `docker run`, executed with a stand-in for docker that shows its words."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.cli.conftest import EXAMPLES, Run
from tests.emit.cases import compiled, spec_file


def ran(folder: Path, script: str, **variables: str) -> tuple[int, list[str], str]:
    """The words that docker is given, one a line; code and standard error."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    stand_in = tools / "docker"
    stand_in.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done\n', encoding="utf-8")
    stand_in.chmod(0o755)
    path = folder / "docker-run.sh"
    path.write_text(script, encoding="utf-8")
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": "/home/somebody", **variables}
    done = subprocess.run(["sh", path], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_words(specconf: Run, tmp_path: Path) -> None:
    deployment = "{model_cache: ~/hub, secrets: {hf_token: MY_TOKEN}}"
    spec = spec_file(tmp_path, deployment=deployment, serving='{served_model_name: "a $HOME", tensor_parallel_size: 2}')
    script = compiled(specconf, spec, "vllm", "docker")
    code, words, _ = ran(tmp_path, script, MY_TOKEN="x")
    assert code == 0
    assert words[words.index("--volume") + 1] == "/home/somebody/hub:/model-cache"
    assert words[words.index("--gpus") + 1] == "2"
    assert words[words.index("--served-model-name") + 1] == "a $HOME"
    assert words[words.index("--entrypoint") :][1:4] == ["vllm", "vllm/vllm-openai:v0.33.0", "serve"]
    assert "HF_TOKEN" in words
    assert not any("=x" in word for word in words)


def test_a_token_that_is_not_set_stops_it(specconf: Run, tmp_path: Path) -> None:
    script = compiled(specconf, spec_file(tmp_path, deployment="{secrets: {hf_token: hub}}"), "vllm", "docker")
    code, words, said = ran(tmp_path, script)
    assert code != 0
    assert not words
    assert "HF_TOKEN: the token of the hub" in said


def test_option_file_is_written_and_mounted(specconf: Run, tmp_path: Path) -> None:
    script = compiled(specconf, EXAMPLES / "llama-eagle3.yaml", "tensorrt-llm", "docker")
    code, words, _ = ran(tmp_path, script)
    assert code == 0
    assert f"{tmp_path}/specconf-options:/etc/specconf:ro" in words
    assert "decoding_type" in (tmp_path / "specconf-options" / "speculative.yaml").read_text(encoding="utf-8")
    assert words[-2:] == ["--config", "/etc/specconf/speculative.yaml"]


def test_what_has_no_place_is_said(specconf: Run, tmp_path: Path) -> None:
    spec = spec_file(tmp_path, deployment="{replicas: 2, namespace: models}")
    done = specconf("compile", spec, "-e", "vllm", "-r", "0.33.0", "-f", "docker")
    assert "not written, since docker has no place for it: deployment.replicas, deployment.namespace" in done.err
