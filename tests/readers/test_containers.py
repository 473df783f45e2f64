"""Launches inside containers and inside the scripts that are given to a shell."""

from __future__ import annotations

import pytest

from specconf.readers.containers import image_of
from specconf.readers.registry import ReadLaunch, read_launches
from specconf.readers.stated import Firmness
from specconf.words import Word


def read(script: str) -> list[ReadLaunch]:
    return read_launches("launch.sh", script)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


API_SERVER = ["python3", "-m", "vllm.entrypoints.openai.api_server"]

STARTED: dict[str, tuple[str, str | None, list[str]]] = {
    "docker run --rm --gpus all -p 8000:8000 vllm/vllm-openai:v0.33.0 org/m --port 1": (
        *("vllm", "0.33.0"),
        ["vllm", "serve", "org/m", "--port", "1"],
    ),
    "podman run vllm/vllm-openai:v0.6.6.post1 --model org/m": (
        "vllm",
        "0.6.6.post1",
        [*API_SERVER, "--model", "org/m"],
    ),
    "docker run -it mirror.example/vllm/vllm-openai:v0.31.0-cu130-ubuntu2404 --model=m": (
        *("vllm", "0.31.0"),
        [*API_SERVER, "--model=m"],
    ),
    "docker run --entrypoint vllm vllm/vllm-openai:latest serve m": ("vllm", None, ["vllm", "serve", "m"]),
    "docker run --entrypoint=python3 own/image -m sglang.launch_server --tp 1": (
        *("sglang", None),
        ["python3", "-m", "sglang.launch_server", "--tp", "1"],
    ),
    "docker container run -v ~/.cache:/c lmsysorg/sglang:v0.5.10.post1 sglang serve --model-path m": (
        *("sglang", "0.5.10.post1"),
        ["sglang", "serve", "--model-path", "m"],
    ),
    "sudo docker run $OPTIONS nvcr.example/nvidia/tensorrt-llm/release:1.3.0rc14 trtllm-serve m": (
        *("tensorrt-llm", "1.3.0rc14"),
        ["trtllm-serve", "m"],
    ),
    'docker run "$IMAGE" mpirun -n 2 trtllm-llmapi-launch trtllm-serve m': (
        "tensorrt-llm",
        None,
        ["trtllm-serve", "m"],
    ),
    "I=lmsysorg/sglang:v0.5.23\ndocker run $I bash -c 'exec sglang serve --model-path m'": (
        *("sglang", "0.5.23"),
        ["sglang", "serve", "--model-path", "m"],
    ),
    "docker run vllm/vllm-openai:v0.33.0 sglang serve": ("vllm", "0.33.0", ["vllm", "serve", "sglang", "serve"]),
}


@pytest.mark.parametrize("script", STARTED)
def test_a_container_starts_a_launch(script: str) -> None:
    engine, release, argv = STARTED[script]
    (item,) = read(script)
    assert (item.launch.engine, item.release, texts(item)) == (engine, release, argv)
    assert (item.release_where is None) == (release is None)


NOT_LAUNCHES = [
    "docker run redis:7",
    "docker run",
    "docker run -e A=1",
    "docker rm -f vllm",
    "docker run lmsysorg/sglang:v0.5.23 python3 -m sglang.bench_serving",
    "docker run lmsysorg/sglang:v0.5.23",
    "docker exec -it c tail -f log",
    "docker pull vllm/vllm-openai:v0.33.0",
]


@pytest.mark.parametrize("script", NOT_LAUNCHES)
def test_other_containers_are_none(script: str) -> None:
    assert read(script) == []


def test_the_environment_is_that_of_the_container() -> None:
    script = (
        'export VLLM_HOST=1\ndocker run -e VLLM_A=1 --env=VLLM_B="$X" -e HF_HOME -e HF_TOKEN=abc vllm/vllm-openai m'
    )
    (item,) = read(script)
    assert [(name, word.value) for name, word in item.launch.env] == [
        ("HF_HOME", None),
        ("HF_TOKEN", None),
        ("VLLM_A", "1"),
        ("VLLM_B", None),
    ]
    assert "abc" not in repr(item)


def test_a_file_shared_with_the_container_is_found_under_its_path_there() -> None:
    script = (
        "cat > /srv/o.yml <<'EOF'\na: 1\nEOF\n"
        "docker run -v /models:/models -v /srv/:/cfg:ro image trtllm-serve m --config /cfg/o.yml"
    )
    (item,) = read(script)
    assert item.launch.files == (("/cfg/o.yml", "a: 1\n"),)


@pytest.mark.parametrize("shell", ["bash -c", "sh -c", "bash -lc", "/bin/bash -x -c", "srun -N 1 bash -c", "bash -c -i",
                                   "bash -euo pipefail -c", "bash -o pipefail -c", "bash +x -c"])  # fmt: skip
@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_script_given_to_a_shell(shell: str, quote: str) -> None:
    (item,) = read(f"{shell} {quote}cd /x && vllm serve m \\\n  --port 1{quote}")
    assert texts(item) == ["vllm", "serve", "m", "--port", "1"]


def test_places_inside_a_quoted_script_are_exact() -> None:
    (item,) = read("A=1\nbash -c '\n  vllm serve m\n'\nbash -c 'x'")
    assert str(item.launch.span) == "launch.sh:3:3"
    (item,) = read("bash -c 'vllm serve m'")
    assert [str(word.span) for word in item.launch.argv] == ["launch.sh:1:10", "launch.sh:1:15", "launch.sh:1:21"]


def test_places_inside_a_composed_script_are_exact() -> None:
    (item,) = read('M=m\nbash -c "vllm serve $M --x \\"a b\\""')
    assert texts(item) == ["vllm", "serve", "m", "--x", "a b"]
    assert [word.span.column for word in item.launch.argv if word.span] == [10, 15, 21, 24, 28]


def test_a_script_that_is_known_in_part_is_a_launch_with_unknown_words() -> None:
    (item,) = read('bash -c "vllm serve $M --x \\$Y --z \\"a b\\""')
    assert [(word.value, word.raw) for word in item.launch.argv[2:]] == [
        (None, "$M"), ("--x", "--x"), (None, "$Y"), ("--z", "--z"), ("a b", '"a b"'),
    ]  # fmt: skip
    assert str(item.launch.argv[5].span) == "launch.sh:1:32"


def test_a_script_that_is_not_known_is_no_launch() -> None:
    assert read('bash -c "$M"') == read('bash -c "$M serve m"') == []


def test_unknown_parts_of_a_script_in_quotes() -> None:
    script = (
        "A=1\nsrun --container-image=lmsysorg/sglang:v0.5.23 \\\n"
        '  bash -c "sglang serve --tp $A --x $H:1 \\$R \\"$K\\" $(f)"'
    )
    (item,) = read(script)
    assert [word.value for word in item.launch.argv] == ["sglang", "serve", "--tp", "1", "--x", None, None, None, None]
    assert [word.raw for word in item.launch.argv][5:] == ["$H:1", "$R", '"$K"', "$(f)"]
    assert [word.may_be_many for word in item.launch.argv][5:] == [False, True, False, True]
    assert (item.release, str(item.launch.argv[5].span)) == ("0.5.23", "launch.sh:3:37")


IMAGES = {
    "vllm/vllm-openai:v0.33.0": ("vllm", "0.33.0"),
    "docker.example:5000/vllm/vllm-openai:0.9.2": ("vllm", "0.9.2"),
    "vllm/vllm-openai@sha256:00": ("vllm", None),
    "vllm/vllm-openai:v0.33.0@sha256:00": ("vllm", "0.33.0"),
    "vllm/vllm-openai:nightly-abc": ("vllm", None),
    "vllm/vllm-openai:v0.33.0rc1": ("vllm", "0.33.0rc1"),
    "lmsysorg/sglang:v0.5.4.post2-cu129": ("sglang", "0.5.4.post2"),
    "nvidia/tensorrt-llm/release:1.4.0rc1": ("tensorrt-llm", "1.4.0rc1"),
    "other/vllm-openai:v0.33.0": (None, None),
    "nvcr.io#nvidia/ai-dynamo/vllm-runtime:1.2.1-cuda13": ("vllm", "0.20.1"),
    "ai-dynamo/vllm-runtime:1.2.1-efa": ("vllm", None),
    "": (None, None),
}


@pytest.mark.parametrize("name", IMAGES)
def test_image_references(name: str) -> None:
    image = image_of(Word(value=name, raw=name))
    stated = image.stated[0] if image and image.stated else None
    release = stated.text if stated and stated.firmness is Firmness.EXACT else None
    assert (image.image.engine if image else None, release) == IMAGES[name]


@pytest.mark.parametrize("host", ['"$PWD"/own', "$PWD/own", '"$(pwd)/own"', "${PWD}/own", "./own"])
def test_a_file_that_the_script_writes_below_its_folder_is_seen_through_the_mount(host: str) -> None:
    text = (
        "#!/bin/sh\nmkdir -p own\ncat > own/o.yaml <<'E'\nmax_seq_len: 5\nE\n"
        f"docker run -v {host}:/etc/o:ro nvidia/tensorrt-llm/release:1.2.1 trtllm-serve m --config /etc/o/o.yaml\n"
    )
    (found,) = read_launches("run.sh", text)
    assert dict(found.launch.files)["/etc/o/o.yaml"].strip() == "max_seq_len: 5"
