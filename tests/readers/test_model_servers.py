"""llama-swap, GPUStack, Truss, srt-slurm and SkyPilot: files of programs that start engines themselves."""

from __future__ import annotations

import pytest

from specconf.errors import InputError
from specconf.readers.registry import ReadLaunch, detected_format, read_launches


def read(text: str, path: str = "config.yaml") -> list[ReadLaunch]:
    return read_launches(path, text)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


LLAMA_SWAP = """\
macros:
  img: vllm/vllm-openai:v0.33.0
  run: docker run --rm -p ${PORT}:8000 ${img}
models:
  a:
    cmd: |
      ${run}
      org/m --x '{"n": 3}' \\
      # why
      --port ${PORT}
    env: [A=1]
  b:
    cmd: bash -c "exec vllm serve ${MODEL_ID} --port ${PORT}"
  c:
    cmd: llama-server --spec-type draft
"""


def test_llama_swap() -> None:
    first, second = read(LLAMA_SWAP)
    assert (first.name, first.release, first.launch.argv[-1].value) == ("a", "0.33.0", None)
    assert texts(first) == ["vllm", "serve", "org/m", "--x", '{"n": 3}', "--port", "${PORT}"]
    assert [str(word.span) for word in first.launch.argv[2:5]] == [
        "config.yaml:8:7",
        "config.yaml:8:13",
        "config.yaml:8:17",
    ]
    assert (second.name, texts(second)) == ("b", ["vllm", "serve", "b", "--port", "${PORT}"])


GPUSTACK = """\
backend_name: vLLM
version_configs:
  v0.11.0:
    image_name: vllm/vllm-openai:v0.11.0
    run_command: vllm serve {{model_path}} --port {{port}} --x 1
  v0.9.2:
    image_name: vllm/vllm-openai:v0.9.2
    run_command: "{{model_path}} --y"
"""


def test_gpustack_backends() -> None:
    found = read(GPUSTACK)
    assert [(item.release, texts(item)[:3]) for item in found] == [
        ("0.11.0", ["vllm", "serve", "{{model_path}}"]),
        ("0.9.2", ["vllm", "serve", "{{model_path}}"]),
    ]
    assert found[0].launch.argv[-1].may_be_many


def test_gpustack_models() -> None:
    text = (
        "- name: a\n  backend: vLLM\n  backend_version: 0.8.5\n"
        "  huggingface_repo_id: org/m\n  backend_parameters:\n    - --tp=2\n"
    )
    (item,) = read(text)
    assert (item.name, item.release, texts(item)[:4]) == ("a", "0.8.5", ["vllm", "serve", "org/m", "--tp=2"])
    assert str(item.launch.argv[3].span) == "config.yaml:6:7"


TRUSS = """\
model_name: m
base_image: {image: "vllm/vllm-openai:v0.26.0"}
docker_server:
  start_command: %s
environment_variables: {A: 1}
"""
TRUSS_COMMANDS = {
    "vllm serve m --x 1": ["vllm", "serve", "m", "--x", "1"],
    "sh -c \"export B=1 && vllm serve m --x '{}'\"": ["vllm", "serve", "m", "--x", "{}"],
    ">-\n    vllm serve m\n    --x 1": ["vllm", "serve", "m", "--x", "1"],
}


@pytest.mark.parametrize("command", TRUSS_COMMANDS)
def test_truss(command: str) -> None:
    (item,) = read(TRUSS % command)
    assert (item.release, texts(item)) == ("0.26.0", TRUSS_COMMANDS[command])
    assert dict(item.launch.env)["A"].value == "1"
    assert item.launch.argv[0].span is not None
    assert item.launch.argv[0].span.line in {4, 5}


RECIPE = """\
model: {path: glm, container: "lmsysorg/sglang:v0.5.23"}
backend:
  type: sglang
  decode_environment: {A: "1"}
  sglang_config:
    decode:
      tp-size: 8
      speculative_algorithm: EAGLE
      enable-x: true
      enable-y: false
      cuda-graph-bs: [1, 2]
      json-model-override-args: {a: 1}
"""


def test_a_recipe_of_srt_slurm() -> None:
    (item,) = read(RECIPE, "recipes/h100.yaml")
    assert texts(item) == [
        "python3", "-m", "sglang.launch_server", "--model-path", "glm", "--tp-size", "8", "--speculative-algorithm", "EAGLE",
        "--enable-x", "--cuda-graph-bs", "1", "2", "--json-model-override-args", "{'a': 1}", "further words",
    ]  # fmt: skip
    assert (item.name, item.release, dict(item.launch.env)["A"].value) == ("decode", "0.5.23", "1")
    assert [str(word.span) for word in item.launch.argv[7:9]] == ["recipes/h100.yaml:8:7", "recipes/h100.yaml:8:30"]


def test_recipes_of_other_engines() -> None:
    text = (
        "model: {path: m, container: x}\nbackend:\n  vllm_config:\n    a: {x: false}\n"
        "  trtllm_config:\n    b: {speculative_config: {decoding_type: MTP}}\n"
    )
    vllm, trtllm = read(text)
    assert texts(vllm) == ["vllm", "serve", "m", "further words"]
    assert texts(trtllm)[:4] == ["trtllm-serve", "m", "--config", "b.yaml"]
    assert trtllm.launch.files == (("b.yaml", '{"speculative_config": {"decoding_type": "MTP"}}'),)
    place = trtllm.launch.places["b.yaml"].span_of(2, 20)  # the key, in the recipe itself
    assert text.split("\n")[place.line - 1][place.column - 1 :].startswith("speculative_config")


def test_a_parameter_that_a_recipe_sweeps_over_is_not_known() -> None:
    (item,) = read(
        "name: s\nmodel: {path: m, container: c}\nsweep:\n  chunk: [1, 2]\n"
        'backend:\n  sglang_config:\n    a: {chunked-prefill-size: "{chunk}", log-level: "{other}"}\n'
    )
    assert (None, "{chunk}") in [(word.value, word.raw) for word in item.launch.argv]
    assert "{other}" in [word.value for word in item.launch.argv]
    (worker,) = read(
        "name: s\nmodel: {path: m, container: c}\nsweep: {k: [1, 2]}\n"
        'backend:\n  trtllm_config:\n    a: {speculative_config: {max_draft_len: "{k}"}}\n'
    )
    assert worker.launch.files == ()


def test_the_newer_schema_of_recipes() -> None:
    text = (
        "model: {path: m, container: lmsysorg/sglang:dev}\nengine: sglang\nidentity: {frameworks: {sglang: 0.5.20}}\n"
        "roles:\n  decode:\n    args: [--tp, '2']\n  prefill:\n    args:\n      tp: 4\n"
    )
    decode, prefill = read(text)
    assert (texts(decode)[5:7], texts(prefill)[5:7]) == (["--tp", "2"], ["--tp", "4"])
    assert (decode.release, str(decode.release_where)) == ("0.5.20", "config.yaml:3:33")


def test_images_of_roles_and_what_an_alias_stands_for() -> None:
    text = (
        "model: {path: m, container: alias}\nengine: {type: vllm}\n"
        "identity: {container: {image: 'vllm/vllm-openai:v0.26.0'}}\n"
        "roles:\n  prefill:\n    args: {tp: 1}\n"
        "  decode:\n    engine: sglang\n    container: lmsysorg/sglang:v0.5.23\n    env: {A: 1}\n    args: {tp: 2}\n"
    )
    prefill, decode = read(text)
    assert (prefill.launch.engine, prefill.release) == ("vllm", "0.26.0")
    assert (decode.launch.engine, decode.release, len(decode.launch.env)) == ("sglang", "0.5.23", 1)


SKYPILOT = """\
name: eval
resources: {accelerators: H100:1%s}
envs: {MODEL: org/m, HF_TOKEN: secret}
setup: |
  # pip install vllm==0.1.0
  uv pip install vllm==0.9.2
run: |
  vllm serve $MODEL --api-key $HF_TOKEN
"""
SKYPILOT_IMAGES = {"": "0.9.2", ", image_id: 'docker:vllm/vllm-openai:v0.33.0'": "0.33.0", ", image_id: ami-1": "0.9.2"}


@pytest.mark.parametrize("image", SKYPILOT_IMAGES)
def test_skypilot(image: str) -> None:
    (item,) = read(SKYPILOT % image, "task.yaml")
    assert (item.name, item.release) == ("eval", SKYPILOT_IMAGES[image])
    assert [word.value for word in item.launch.argv] == ["vllm", "serve", "org/m", "--api-key", None]
    assert str(item.launch.argv[0].span) == "task.yaml:8:3"
    assert "secret" not in repr(item)


NOTHING = {
    "llama-swap": "models:\n  c:\n    cmd: llama-server --spec-type draft\n",
    "gpustack": "backend: own\nbackend_parameters: \n",
    "truss": "docker_server:\n  start_command:\n",
    "srt-slurm": "model: {container: x}\nbackend:\n  sglang_config: 3\n",
    "skypilot": "resources: {cpus: 1}\nrun: echo vllm serve m\n",
}


@pytest.mark.parametrize("name", NOTHING)
def test_files_without_a_launch(name: str) -> None:
    chosen = detected_format("x.yaml", NOTHING[name])
    assert chosen is not None
    assert chosen.name == name
    assert read(NOTHING[name], "x.yaml") == []


@pytest.mark.parametrize("name", NOTHING)
def test_files_that_are_no_yaml(name: str) -> None:
    with pytest.raises(InputError) as error:
        read(NOTHING[name] + "\n]\n", "x.yaml")
    assert error.value.where is not None


def test_anchors_that_repeat_themselves_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(InputError, match="repeat themselves"):
        read("run: x\nresources:\n" + "\n".join(lines), "x.yaml")
