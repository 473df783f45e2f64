"""Our own argv files and engines' bare option files: what is read, and the errors with their places."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.errors import InputError
from specconf.readers.artifacts import read_argv_json, read_engine_yaml
from specconf.readers.registry import detected_format, read_launches

ARTIFACT: dict[str, Any] = {
    "schema": 1,
    "engine": "tensorrt-llm",
    "release": "1.3.0rc14",
    "argv": ["trtllm-serve", "org/m", "--config", "options.yaml"],
    "env": {"TLLM_LOG_LEVEL": "info"},
    "files": {"options.yaml": "speculative_config:\n  decoding_type: MTP\n"},
    "forced": False,
    "findings": [],
}


def changed(**changes: Any) -> str:
    return json.dumps({**ARTIFACT, **changes})


def test_an_argv_file_gives_its_launch_and_release() -> None:
    (item,) = read_launches("launch.json", json.dumps(ARTIFACT))
    assert item.release == "1.3.0rc14"
    assert item.release_where is not None
    assert item.launch.engine == "tensorrt-llm"
    assert [word.value for word in item.launch.argv] == ARTIFACT["argv"]
    assert [(name, word.value) for name, word in item.launch.env] == [("TLLM_LOG_LEVEL", "info")]
    assert dict(item.launch.files) == ARTIFACT["files"]


def test_an_argv_file_without_release() -> None:
    artifact = read_argv_json(changed(release=None), "launch.json")
    assert (artifact.release, artifact.release_where) == (None, None)


WRONG_JSON = {
    "no JSON": ("{", "not JSON", (1, 2)),
    "no object": ("[]", "one JSON object", (1, 1)),
    "other schema": (changed(schema=2), "unknown schema 2", (1, 1)),
    "schema true": (changed(schema=True), "unknown schema True", (1, 1)),
    "engine": (changed(engine="llama.cpp"), "unknown engine", (1, 1)),
    "argv empty": (changed(argv=[]), "`argv`", (1, 1)),
    "argv numbers": (changed(argv=["vllm", 1]), "`argv`", (1, 1)),
    "env": (changed(env={"A": 1}), "`env`", (1, 1)),
    "files": (changed(files=[]), "`files`", (1, 1)),
    "release": (changed(release=0.33), "`release`", (1, 1)),
    "twice": ('{"schema": 1,\n "schema": 1}', "written twice", (2, 2)),
    "NaN": ('{"schema": NaN}', "not JSON", (1, 1)),
    "deep": ("[" * 100_000, "nested too deeply", (1, 1)),
}


@pytest.mark.parametrize("name", WRONG_JSON)
def test_wrong_argv_files(name: str) -> None:
    text, message, place = WRONG_JSON[name]
    with pytest.raises(InputError, match=message) as caught:
        read_argv_json(text, "launch.json")
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.column) == place


RECOGNISED = {
    "tensorrt-llm": "speculative_config:\n  decoding_type: Eagle3\n  max_draft_len: 3\n",
    "vllm": "speculative-config:\n  method: ngram\n",
    "vllm, underscores": "model: m\nspeculative_config:\n  method: ngram\n",
    "sglang": "speculative-algorithm: EAGLE\n",
    "sglang, underscores": "speculative_algorithm: EAGLE\n",
}
ARGV = {
    "tensorrt-llm": ["trtllm-serve", "--config", "o.yaml"],
    "vllm": ["vllm", "serve", "--config", "o.yaml"],
    "sglang": ["sglang", "serve", "--config", "o.yaml"],
}


@pytest.mark.parametrize("name", RECOGNISED)
def test_an_option_file_is_recognised_by_its_speculation(name: str) -> None:
    engine, text = name.partition(",")[0], RECOGNISED[name]
    (item,) = read_launches("o.yaml", text)
    assert item.launch.engine == engine
    assert [word.value for word in item.launch.argv] == ARGV[engine]
    assert item.launch.files == (("o.yaml", text),)
    assert item.release is None


@pytest.mark.parametrize(
    "text", ["port: 8000\n", "speculative_config: {}\n", RECOGNISED["vllm"] + RECOGNISED["sglang"]]
)
def test_an_option_file_that_does_not_tell_needs_the_engine(text: str) -> None:
    with pytest.raises(InputError, match="which engine") as caught:
        read_engine_yaml(text, "o.yaml")
    assert "--engine" in str(caught.value)
    assert read_engine_yaml(text, "o.yaml", "trtllm").engine == "tensorrt-llm"


WRONG_YAML = {
    "not YAML": ("a: [1\nb: 2\n", "not YAML", (2, 2)),
    "tab": ("a:\n\tb: 1\n", "not YAML", (2, 1)),
    "two documents": ("a: 1\n---\nb: 2\n", "not YAML", (2, 1)),
    "twice": ("a: 1\nb: 2\na: 3\n", "'a' is written twice", (3, 1)),
    "twice, nested": ("speculative_config:\n  method: x\n  method: y\n", "'method' is written twice", (3, 3)),
    "empty": ("# nothing\n", "empty", (1, 1)),
    "a list": ("- a\n", "one mapping", (1, 1)),
    "an object": ("a: !!python/object:os.system {}\n", "not YAML", (1, 4)),
    "bad value": ("a: 2026-99-99\n", "not YAML", (1, 1)),
    "deep": ("[" * 60 + "]" * 60, "nested deeper", (1, 52)),
    "very deep": ("[" * 100_000, "nested too deeply", (1, 1)),
}


@pytest.mark.parametrize("name", WRONG_YAML)
def test_wrong_option_files(name: str) -> None:
    text, message, place = WRONG_YAML[name]
    with pytest.raises(InputError, match=message) as caught:
        read_engine_yaml(text, "o.yaml", "vllm")
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.column) == place


DETECTED = {
    ("launch.sh", ""): "shell",
    ("job.sbatch", ""): "shell",
    ("launch", "#!/usr/bin/env bash\n"): "shell",
    ("launch", "#!/bin/sh -e\n"): "shell",
    ("-", "vllm serve m"): "shell",
    ("-", ' {"schema": 1}'): "argv-json",
    ("launch.json", ""): "argv-json",
    ("compose.yaml", "services:\n  a:\n    image: x\n"): "compose",
    ("a.yaml", "apiVersion: v1\nkind: Pod\n"): "kubernetes",
    ("a.json", '{"apiVersion": "v1", "kind": "Pod"}'): "kubernetes",
    ("build/Dockerfile.cuda", ""): "dockerfile",
    ("engine.Dockerfile", ""): "dockerfile",
    ("tools/Makefile", ""): "makefile",
    ("rules.mk", ""): "makefile",
    ("a.service", "[Service]\n"): "systemd",
    ("start.BAT", ""): "batch",
    ("start.ps1", ""): "powershell",
    ("docs/README.md", ""): "markdown",
    (".github/workflows/ci.yml", "jobs:\n"): "github-workflow",
    (".gitlab-ci.yml", ""): "gitlab-ci",
    ("templates/x.yaml", "a: {{ .Values.a }}\n"): "helm-template",
    ("play.yml", "- hosts: x\n  tasks:\n    - name: y\n      shell: z\n"): "ansible",
    ("config.yaml", "models:\n  a:\n    cmd: x\n"): "llama-swap",
    ("backend.yaml", "image_name: x\nrun_command: y\n"): "gpustack",
    ("config.yaml", "docker_server:\n  start_command: x\n"): "truss",
    ("recipe.yaml", "model:\n  container: x\nbackend:\n  vllm_config:\n"): "srt-slurm",
    ("task.yaml", "setup: x\nrun: y\n"): "skypilot",
    ("values.yaml", "image:\n  repository: x\nargs: []\n"): "helm-values",
    ("o.yml", "model: m\nmax-model-len: 4096\n"): "engine-yaml",
    ("o.yaml", "# of mine\nkv_cache_config: {}\n"): "engine-yaml",
    ("o.yaml", "model-path: m\ntp-size: 2\n"): "engine-yaml",
}


@pytest.mark.parametrize(("path", "text"), DETECTED)
def test_formats_are_detected(path: str, text: str) -> None:
    found = detected_format(path, text, asked=frozenset({"markdown"}))
    assert found is not None
    assert found.name == DETECTED[path, text]


NO_OPTIONS = {
    "nothing": "",
    "a proxy": "model_list:\n  - model_name: a\n    litellm_params: {model: b}\n",
    "training": "model_path: m\ntp_size: 2\nlearning_rate: 1.0e-4\n",
    "an evaluation": "model_name: m\nserver_args: --max-model-len 4096\ntasks: []\n",
    "nested": "server:\n  max-model-len: 1\n",
}


@pytest.mark.parametrize("name", NO_OPTIONS)
def test_other_yaml_files_are_not_claimed(name: str) -> None:
    assert detected_format("o.yaml", NO_OPTIONS[name]) is None
    with pytest.raises(InputError, match="--engine"):
        read_launches("o.yaml", NO_OPTIONS[name])


KEYS = {
    "vllm": "model: m\ntensor-parallel-size: 2\n",
    "vllm, JSON in a text": 'speculative-config: \'{"method":"ngram"}\'\n',
    "vllm, underscores": "model: m\ngpu_memory_utilization: 0.9\n",
    "sglang": "model-path: m\ntp-size: 2\n",
    "tensorrt-llm": "tensor_parallel_size: 2\ncuda_graph_config:\n  enable_padding: true\n",
}


@pytest.mark.parametrize("name", KEYS)
def test_an_option_file_is_recognised_by_its_keys(name: str) -> None:
    (item,) = read_launches("o.yaml", KEYS[name])
    assert item.launch.engine == name.partition(",")[0]


@pytest.mark.parametrize(("path", "text"), [("a.txt", "vllm serve m"), ("launch", "#!/usr/bin/python3\n")])
def test_an_unknown_kind_of_file(path: str, text: str) -> None:
    with pytest.raises(InputError, match="kind of this file"):
        read_launches(path, text)


def test_the_engine_narrows_a_script() -> None:
    script = "vllm serve a\nsglang serve --model-path b\n"
    assert [item.launch.engine for item in read_launches("x.sh", script)] == ["vllm", "sglang"]
    assert [item.launch.engine for item in read_launches("x.sh", script, engine="sglang")] == ["sglang"]
    assert read_launches("x.sh", script, engine="trtllm") == []
    with pytest.raises(InputError, match="unknown engine"):
        read_launches("x.sh", script, engine="ollama")


def test_a_nul_is_refused() -> None:
    with pytest.raises(InputError, match="NUL"):
        read_launches("x.sh", "vllm serve \0")
