"""Dockerfiles: what the image of each stage starts."""

from __future__ import annotations

import pytest

from specconf.errors import InputError
from specconf.readers.registry import ReadLaunch, read_launches

VLLM = "FROM vllm/vllm-openai:v0.33.0\n"


def read(text: str) -> list[ReadLaunch]:
    return read_launches("Dockerfile", text)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


STARTED: dict[str, tuple[str | None, list[str]]] = {
    VLLM + 'ENTRYPOINT ["vllm", "serve"]\nCMD ["m", "--port", "1"]': ("0.33.0", ["vllm", "serve", "m", "--port", "1"]),
    VLLM + 'CMD ["m", "--port", "1"]': ("0.33.0", ["vllm", "serve", "m", "--port", "1"]),
    VLLM + "ENTRYPOINT exec vllm serve m \\\n # why\n\n  --port 1": ("0.33.0", ["vllm", "serve", "m", "--port", "1"]),
    "FROM own\nCMD sglang serve --model-path m": (None, ["sglang", "serve", "--model-path", "m"]),
    'FROM own\nENTRYPOINT ["bash", "-c"]\nCMD ["cd /x && vllm serve m"]': (None, ["vllm", "serve", "m"]),
    'FROM own\nENTRYPOINT ["bash", "-c", "exec vllm serve \\"a b\\""]': (None, ["vllm", "serve", "a b"]),
    'ARG V=v0.26.0\nFROM --platform=linux/amd64 vllm/vllm-openai:${V} AS s\nCMD ["m"]': ("0.26.0", ["vllm", "serve", "m"]),
    "ARG V\nFROM vllm/vllm-openai:$V\nCMD [\"m\"]": (None, ["vllm", "serve", "m"]),
    'FROM vllm/vllm-openai:v0.26.0 AS base\nFROM redis\nFROM base\nCMD ["m"]': ("0.26.0", ["vllm", "serve", "m"]),
    'FROM python:3.12\nRUN pip install "vllm==0.9.2"\nCMD vllm serve m': ("0.9.2", ["vllm", "serve", "m"]),
    "# escape=`\nFROM own\nCMD vllm serve m `\n  --port 1": (None, ["vllm", "serve", "m", "--port", "1"]),
    "FROM own\nENV MODEL=m PORT=1\nCMD vllm serve $MODEL --port ${PORT}": (None, ["vllm", "serve", "m", "--port", "1"]),
    VLLM + "COPY <<EOF /start.sh\nexec vllm serve m\nEOF\nENTRYPOINT [\"/start.sh\"]": ("0.33.0", ["vllm", "serve", "m"]),
}  # fmt: skip


@pytest.mark.parametrize("text", STARTED)
def test_what_an_image_starts(text: str) -> None:
    (item,) = read(text)
    assert (item.release, texts(item)) == STARTED[text]


NOTHING = [
    'FROM own\nCMD ["redis"]',
    "FROM own\nRUN echo vllm serve m",
    "FROM own\nRUN <<EOF\nCMD vllm serve m\nEOF\n",
    VLLM + "RUN pip install x",
    "FROM own\nCMD ['vllm', 'serve', 'm']",
    "# CMD vllm serve m\nFROM own",
    "",
]


@pytest.mark.parametrize("text", NOTHING)
def test_other_images_start_none(text: str) -> None:
    assert read(text) == []


def test_places_and_escapes_of_the_exec_form() -> None:
    (item,) = read(VLLM + 'CMD ["m", \\\n  # why\n  "-sc", "{\\"n\\": 1}"]\n')
    assert [(word.value, str(word.span)) for word in item.launch.argv[2:]] == [
        ("m", "Dockerfile:2:6"),
        ("-sc", "Dockerfile:4:3"),
        ('{"n": 1}', "Dockerfile:4:10"),
    ]
    assert str(item.release_where) == "Dockerfile:1:6"


def test_the_environment_and_what_the_base_image_may_set() -> None:
    (item,) = read(VLLM + 'ARG W=2\nENV A=1 B="x y" C=\'$Q\' D=$Q E=$W HF_TOKEN=t\nENV F some text\nCMD ["m"]')
    assert {name: word.value for name, word in item.launch.env} == {
        "A": "1", "B": "x y", "C": "$Q", "D": None, "E": "2", "F": "some text", "HF_TOKEN": None,
    }  # fmt: skip


def test_a_variable_in_the_exec_form_is_no_variable() -> None:
    (item,) = read(VLLM + 'ENV M=m\nCMD ["$M"]')
    assert texts(item)[-1] == "$M"


def test_every_stage_is_told_by_its_name() -> None:
    found = read("FROM own AS a\nCMD vllm serve m\nFROM own AS b\nCMD sglang serve --tp 1\n")
    assert [(item.name, item.launch.engine) for item in found] == [("a", "vllm"), ("b", "sglang")]


def test_a_heredoc_without_an_end() -> None:
    with pytest.raises(InputError, match="no line is EOF") as error:
        read("FROM own\nRUN <<EOF\nset -e\n")
    assert str(error.value.where) == "Dockerfile:2:5"
