"""Windows batch and PowerShell scripts."""

from __future__ import annotations

import pytest

from specconf.errors import InputError
from specconf.readers.registry import ReadLaunch, read_launches


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


BATCH: dict[str, list[str]] = {
    "vllm serve m ^\n  --port 1\n": ["vllm", "serve", "m", "--port", "1"],
    "@echo off\r\nset M=a/b\r\nvllm serve %M% ^\r\n  --port 1\r\n": ["vllm", "serve", "a/b", "--port", "1"],
    'set "M=a b"\nvllm serve "%m%"': ["vllm", "serve", "a b"],
    'C:\\v\\Scripts\\vllm.exe serve D:\\m -sc "{\\"n\\": 1}"': ["vllm", "serve", "D:\\m", "-sc", '{"n": 1}'],
    'start "vllm" /b vllm serve m > log.txt 2>&1': ["vllm", "serve", "m"],
    "cd x && call vllm serve m": ["vllm", "serve", "m"],
    "docker run vllm/vllm-openai:v0.33.0 m": ["vllm", "serve", "m"],
    "vllm serve m ^^ 100%%": ["vllm", "serve", "m", "^", "100%"],
}


@pytest.mark.parametrize("text", BATCH)
def test_batch(text: str) -> None:
    (item,) = read_launches("start.bat", text)
    assert texts(item) == BATCH[text]


BATCH_UNKNOWN = {
    "vllm serve %M%": "%M%",
    "if exist x set M=a\nvllm serve %M%": "%M%",
    "if exist x (\n  set M=a\n)\nvllm serve %M%": "%M%",
    "set /p M=name?\nvllm serve %M%": "%M%",
    "vllm serve %1": "%1",
    "vllm serve !M!": "!M!",
}


@pytest.mark.parametrize("text", BATCH_UNKNOWN)
def test_what_a_batch_file_does_not_say(text: str) -> None:
    (item,) = read_launches("start.bat", text)
    assert (item.launch.argv[2].value, item.launch.argv[2].raw) == (None, BATCH_UNKNOWN[text])
    assert item.launch.argv[2].may_be_many


@pytest.mark.parametrize("text", ["rem vllm serve m", ":: vllm serve m", "echo vllm serve m", ""])
def test_other_batch_lines_start_none(text: str) -> None:
    assert read_launches("start.cmd", text) == []


def test_places_in_a_batch_file() -> None:
    (item,) = read_launches("s.bat", "set N=1\r\n\r\nvllm serve m ^\r\n  --a %N% --b\r\n")
    assert [str(word.span) for word in item.launch.argv] == [
        "s.bat:3:1", "s.bat:3:6", "s.bat:3:12", "s.bat:4:3", "s.bat:4:7", "s.bat:4:11",
    ]  # fmt: skip
    assert [(name, word.value) for name, word in item.launch.env] == [("N", "1")]


POWERSHELL: dict[str, list[str]] = {
    "vllm serve m `\n  --port 1": ["vllm", "serve", "m", "--port", "1"],
    "& .\\venv\\vllm.exe serve 'it''s' \"a`\"b\"": ["vllm", "serve", "it's", 'a"b'],
    '$m = "a/b"\nvllm serve $m --x "$m-1"': ["vllm", "serve", "a/b", "--x", "a/b-1"],
    '$a = @("--x", "1",\n  # why\n  "--y")\n$a += "--z"\nvllm serve m @a': ["vllm", "serve", "m", "--x", "1", "--y", "--z"],
    "$env:M = 'm'; vllm serve $env:M <# why #> --x": ["vllm", "serve", "m", "--x"],
    'if ($x) { vllm serve m }': ["vllm", "serve", "m"],
    "docker run vllm/vllm-openai:v0.33.0 m | Out-Null": ["vllm", "serve", "m"],
}  # fmt: skip


@pytest.mark.parametrize("text", POWERSHELL)
def test_powershell(text: str) -> None:
    (item,) = read_launches("start.ps1", text)
    assert texts(item) == POWERSHELL[text]


def test_what_powershell_alone_knows() -> None:
    text = 'param($M)\nif ($x) { $N = 1 }\nvllm serve $M --n $N "$(Get-Date)" @args'
    (item,) = read_launches("start.ps1", text)
    assert [(word.value, word.may_be_many) for word in item.launch.argv[2:]] == [
        (None, True), ("--n", False), (None, True), (None, False), (None, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["# vllm serve m", "Write-Host 'vllm serve m'", "`\rx", "\x0b", "'", '"`', "$(", "@(", "<#", ""]
)
def test_other_powershell_starts_none(text: str) -> None:
    assert read_launches("start.ps1", text) == []


def test_lists_in_lists_are_followed_to_a_limit() -> None:
    with pytest.raises(InputError, match="too deeply") as error:
        read_launches("s.ps1", "$a = " + "@(" * 1000)
    assert str(error.value.where) == "s.ps1:1:108"


def test_places_and_the_environment_of_powershell() -> None:
    (item,) = read_launches("s.ps1", "$env:VLLM_A = '1'\nvllm serve `\n  m\n")
    assert [str(word.span) for word in item.launch.argv] == ["s.ps1:2:1", "s.ps1:2:6", "s.ps1:3:3"]
    assert [(name, word.value) for name, word in item.launch.env] == [("VLLM_A", "1")]
