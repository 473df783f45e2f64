"""Makefiles: recipe lines as scripts, with the file's variables."""

from __future__ import annotations

import pytest

from specconf.readers.registry import ReadLaunch, read_launches


def read(text: str) -> list[ReadLaunch]:
    return read_launches("Makefile", text)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


STARTED: dict[str, list[str]] = {
    "serve:\n\t@vllm serve m\n": ["vllm", "serve", "m"],
    "serve: build\n\t-vllm serve m \\\n\t\t--port 1 # why\n": ["vllm", "serve", "m", "--port", "1"],
    "M := m\nserve:\n\tvllm serve $(M) ${M}\n": ["vllm", "serve", "m", "m"],
    "serve:\n\tvllm serve $(M)\nM ?= late # said last\n": ["vllm", "serve", "late"],
    "A = a\nM = $(A)/m\nserve: ; vllm serve $(M)\n": ["vllm", "serve", "a/m"],
    "ARGS = --x 1 \\\n  --y 2\nARGS += --z\nserve:\n\tvllm serve m $(ARGS)\n": (
        ["vllm", "serve", "m", "--x", "1", "--y", "2", "--z"]
    ),
    "serve:\n\tfor i in $$(seq 3); do M=$$i; done; vllm serve m$$\n": ["vllm", "serve", "m$"],
    "IMAGE = vllm/vllm-openai:v0.33.0\nserve:\n\tdocker run $(IMAGE) m\n": ["vllm", "serve", "m"],
}


@pytest.mark.parametrize("text", STARTED)
def test_recipes(text: str) -> None:
    (item,) = read(text)
    assert texts(item) == STARTED[text]


UNKNOWN = {
    "serve:\n\tvllm serve $(M)\n": "$(M)",
    "M != hostname\nserve:\n\tvllm serve $(M)\n": "$(M)",
    "ifdef X\nM = a\nelse\nM = b\nendif\nserve:\n\tvllm serve $(M)\n": "$(M)",
    "serve: M = a\nserve:\n\tvllm serve $(M)\n": "$(M)",
    "serve:\n\tvllm serve $(shell cat $(F))\n": "$(shell cat $(F))",
    "serve:\n\tvllm serve $@\n": "$@",
    "M = $(M)\nserve:\n\tvllm serve $(M)\n": "$(M)",
}


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_make_alone_knows(text: str) -> None:
    (item,) = read(text)
    assert (item.launch.argv[2].value, item.launch.argv[2].raw) == (None, UNKNOWN[text])
    assert item.launch.argv[2].may_be_many


@pytest.mark.parametrize(
    "text", ["serve:\n\t@echo vllm serve m\n", "# \tvllm serve m\n", "define X\nvllm serve m\nendef\n", ""]
)
def test_other_lines_start_none(text: str) -> None:
    assert read(text) == []


def test_places_pins_and_the_environment() -> None:
    text = "V = 0.33.0\nexport A = 1\ninstall:\n\tpip install vllm==$(V)\nserve:\n\tB=2 vllm serve m \\\n\t  --x '{\"n\": 1}'\n"
    (item,) = read(text)
    assert [(word.text, str(word.span)) for word in item.launch.argv] == [
        ("vllm", "Makefile:6:6"), ("serve", "Makefile:6:11"), ("m", "Makefile:6:17"), ("--x", "Makefile:7:4"),
        ('{"n": 1}', "Makefile:7:8"),
    ]  # fmt: skip
    assert (item.release, str(item.release_where), item.name) == ("0.33.0", "Makefile:4:14", "serve")
    assert {name: word.value for name, word in item.launch.env} == {"A": "1", "B": "2"}
