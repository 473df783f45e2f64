"""What is said about words that do not reach the engine as they are meant, and how they are mended."""

from __future__ import annotations

import textwrap

import pytest

from specconf.findings import Severity
from tests.lint.boxes import fixed, judged

HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - image: %s\n    env: [{name: K, value: '5'}]\n"


def pod(lines: str, image: str = "vllm/vllm-openai:v0.33.0") -> str:
    return HEAD % image + textwrap.indent(lines, "    ")


SPEC = '{"method":"ngram","num_speculative_tokens":%s}'
# What stands in a pod, the code and severity, and what comes of it.
MENDED = {
    "args:\n- org/m\n- --port=1 \\\n- --seed=2\n": ("SC706", "args:\n- org/m\n- --port=1\n- --seed=2\n"),
    "args:\n- org/m\n- '--port=1 \\'\n": ("SC706", "args:\n- org/m\n- '--port=1'\n"),
    'args: ["org/m", "--port=1 \\\\"]\n': ("SC706", 'args: ["org/m", "--port=1"]\n'),
    "args:\n- org/m\n- \\\n- --port=1\n": ("SC706", "args:\n- org/m\n- --port=1\n"),
    "command: ['vllm serve org/m --port 1']\n": ("SC709", "command: ['vllm', 'serve', 'org/m', '--port', '1']\n"),
    "command:\n- vllm serve org/m --seed 1\n": ("SC709", "command:\n- vllm\n- serve\n- org/m\n- --seed\n- '1'\n"),
    "command:\n- cd /x; vllm serve org/m\n": ("SC709", "command:\n- sh\n- -c\n- cd /x; vllm serve org/m\n"),
    f"args: [org/m, '-sc={SPEC % '$K'}']\n": ("SC705", f"args: [org/m, '-sc={SPEC % '$(K)'}']\n"),
    "command: [sh, -c]\nargs:\n- >\n  vllm serve org/m \\\n  --port 1 \\\n  --seed 2\n": (
        "SC704",
        "command: [sh, -c]\nargs:\n- >\n  vllm serve org/m\n  --port 1\n  --seed 2\n",
    ),
    "command: [sh, -c]\nargs:\n- |\n  vllm serve org/m \\ \n    --port 1\n": (
        "SC704",
        "command: [sh, -c]\nargs:\n- |\n  vllm serve org/m \\\n    --port 1\n",
    ),
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("lines", MENDED)
def test_what_does_not_reach_the_engine_is_told_once_and_mended(lines: str, line_end: str) -> None:
    text = pod(lines).replace("\n", line_end)
    code, mended = MENDED[lines]
    found = [one for one in judged(text, "x.yaml").all_findings if one.severity is not Severity.INFO]
    assert [(one.code, one.severity) for one in found] == [(code, Severity.ERROR)]
    after = fixed(text, "x.yaml")
    assert after.text == pod(mended).replace("\n", line_end)
    assert [one for one in after.result.all_findings if one.severity is not Severity.INFO] == []


UNMENDED = {
    "args: ['sh -c ''vllm serve org/m''']\n": ("SC709", Severity.ERROR),
    "command: [sh, -c]\nargs: [vllm, serve, org/m]\n": ("SC704", Severity.ERROR),
    "args: [org/m, --seed, '${K}']\n": ("SC705", Severity.WARNING),
}


@pytest.mark.parametrize("lines", UNMENDED)
def test_what_is_not_certain_or_has_no_one_mending_is_told(lines: str) -> None:
    found = [one for one in judged(pod(lines), "x.yaml").all_findings if one.code.startswith("SC7")]
    assert [(one.code, one.severity) for one in found] == [UNMENDED[lines]]


@pytest.mark.parametrize("line", ["- --port=1\\", "- '--chat-template=C:\\x'", "- --stop=a\\ b"])
def test_other_backslashes_are_values(line: str) -> None:
    found = judged(pod(f"args:\n- org/m\n{line}\n"), "x.yaml").all_findings
    assert [one for one in found if one.code == "SC706"] == []
