"""systemd units: what a service starts."""

from __future__ import annotations

import pytest

from specconf.readers.registry import ReadLaunch, detected_format, read_launches


def read(text: str, path: str = "llm.service") -> list[ReadLaunch]:
    return read_launches(path, text)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


STARTED: dict[str, list[str]] = {
    "ExecStart=/opt/bin/vllm serve m \\\n  --port 1": ["/opt/bin/vllm", "serve", "m", "--port", "1"],
    "ExecStart=-/opt/bin/vllm serve \\\n# why\n  'a b'": ["/opt/bin/vllm", "serve", "a b"],
    "ExecStart=/usr/bin/env A=1 vllm serve m": ["vllm", "serve", "m"],
    "Environment=P=1 'Q=a b'\nExecStart=vllm serve ${P} $Q": ["vllm", "serve", "1", "a", "b"],
    "Environment=P=1\nExecStart=/bin/bash -c 'exec vllm serve m --port ${P} $P'": ["vllm", "serve", "m", "--port", "1", "1"],
    "ExecStart=vllm serve m$$ 100%%": ["vllm", "serve", "m$", "100%"],
    "ExecStart=/usr/bin/docker run vllm/vllm-openai:v0.33.0 m": ["vllm", "serve", "m"],
}  # fmt: skip


@pytest.mark.parametrize("text", STARTED)
def test_what_a_service_starts(text: str) -> None:
    (item,) = read(f"[Unit]\nDescription=x\n[Service]\n{text}\n")
    assert texts(item) == STARTED[text]


def test_what_the_unit_does_not_say() -> None:
    text = (
        "[Service]\nEnvironment=P=1 HF_TOKEN=t\nEnvironmentFile=-/etc/llm\nExecStart=vllm serve %i --port ${P} $EXTRA\n"
    )
    (item,) = read(text)
    assert [(word.value, word.raw, word.may_be_many) for word in item.launch.argv[2:]] == [
        (None, "%i", False), ("--port", "--port", False), (None, "${P}", False), (None, "$EXTRA", True),
    ]  # fmt: skip
    assert [word.text for word in item.env_files] == ["/etc/llm"]
    assert {name: word.value for name, word in item.launch.env} == {"P": "1", "HF_TOKEN": None}
    assert [str(word.span) for word in item.launch.argv[2:4]] == ["llm.service:4:22", "llm.service:4:25"]


def test_a_quadlet() -> None:
    (item,) = read("[Container]\nImage=vllm/vllm-openai:v0.33.0\nExec=m --port 1\n", "llm.container")
    assert (item.release, texts(item)) == ("0.33.0", ["vllm", "serve", "m", "--port", "1"])


@pytest.mark.parametrize(
    "text", ["[Service]\nExecStop=vllm serve m\n", "[Service]\n", "[Install]\nExecStart=vllm serve m\n[Service]\n"]
)
def test_other_settings_start_none(text: str) -> None:
    assert read(text) == []


def test_other_files_of_that_name_are_no_units() -> None:
    assert detected_format("a.conf", "ExecStart=vllm serve m") is None
