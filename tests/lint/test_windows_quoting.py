"""JSON in batch files and PowerShell scripts: what is said of it fits their quoting, and what --fix writes reads as meant."""

from __future__ import annotations

import json

import pytest

from specconf.findings import Severity
from specconf.lint.wording import for_cmd
from specconf.readers.registry import read_launches
from tests.lint.boxes import fixed, judged

FLAG = "vllm serve m --speculative-config"
VALUE = {"method": "ngram", "num_speculative_tokens": 3}
JSON = json.dumps(VALUE)
COMPACT = json.dumps(VALUE, separators=(",", ":"))


@pytest.mark.parametrize(
    "written", [f"'{JSON}'", f"'{COMPACT}'", f'"{JSON}"', COMPACT, "{'method':'ngram','num_speculative_tokens':3}"]
)
def test_what_cmd_is_told_to_write_is_the_json(written: str) -> None:
    said = [f.fix for f in judged(f"{FLAG} {written}\n", "a.bat").all_findings if f.code in ("SC703", "SC706")]
    assert said
    assert not any("'{" in fix or "single quotes" in fix for fix in said)
    for fix in said:
        if '"{' in fix:
            (launch,) = read_launches("a.bat", f"{FLAG} {fix[fix.index(chr(34) + '{') :].removesuffix('.')}\n")
            assert json.loads(launch.launch.argv[-1].text) == VALUE


@pytest.mark.parametrize("written", [f"'{JSON}'", f'"{JSON}"', COMPACT])
def test_what_cmd_gets_from_a_fix_is_the_json(written: str) -> None:
    text = fixed(f"{FLAG} {written} --port 1\n", "a.cmd").text
    (launch,) = read_launches("a.cmd", text)
    words = [word.text for word in launch.launch.argv]
    assert json.loads(words[4]) == VALUE
    assert words[5:] == ["--port", "1"]


def test_signs_of_cmd_are_kept() -> None:
    text = '{"a": "100%\\"x"}'
    (launch,) = read_launches("a.bat", f"vllm serve m -sc {for_cmd(text)}\n")
    assert launch.launch.argv[-1].value == text


def test_what_older_powershells_need_is_no_error() -> None:
    escaped = JSON.replace('"', '\\"')
    (finding,) = [f for f in judged(f"{FLAG} '{escaped}'\n", "a.ps1").all_findings if f.severity is not Severity.INFO]
    assert (finding.code, finding.severity) == ("SC703", Severity.WARNING)
    assert "up to 7.2 they are needed" in finding.message
    text = f"{FLAG} '{escaped}'\n"
    assert fixed(text, "a.ps1", unsafe=True).text == text


def test_powershell_is_told_which_version_reads_what_is_suggested() -> None:
    found = judged(f'{FLAG} "{JSON}"\n', "a.ps1").all_findings
    assert any("PowerShell 7.3 on" in finding.fix for finding in found)
    assert not [f for f in judged(f"{FLAG} '{JSON}'\n", "a.ps1").all_findings if f.severity is not Severity.INFO]
