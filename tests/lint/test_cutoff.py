"""Flags that are cut off from their launch, in every language that continues lines, and what only looks like it."""

from __future__ import annotations

import pytest

from specconf.findings import Severity
from tests.lint.boxes import fixed, linter
from tests.lint.conftest import lint_text

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: c\n    image: vllm/vllm-openai:v0.33.0\n"
JOB = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n"
DOCKER = "FROM vllm/vllm-openai:v0.33.0\n"
LAUNCH = "vllm serve m"

# path → text, what the finding says, the line where, and the text after an unsafe fix
CUT: dict[str, tuple[str, str, str, int, str]] = {
    "shell, no mark": (
        "a.sh",
        f"{LAUNCH} \\\n  --port 1\n  --max-num-seqs 4\n",
        "before this line",
        3,
        f"{LAUNCH} \\\n  --port 1 \\\n  --max-num-seqs 4\n",
    ),
    "shell, an empty line": (
        "a.sh",
        f"{LAUNCH} \\\n\n  --port 1\n",
        "before this line",
        3,
        f"{LAUNCH} \\\n  --port 1\n",
    ),
    "shell, a blank": (
        "a.sh",
        f"{LAUNCH} \\ \n  --port 1\n",
        "this backslash, which blanks",
        1,
        f"{LAUNCH} \\\n  --port 1\n",
    ),
    "shell, a comment": (
        "a.sh",
        f"{LAUNCH} \\\n  # why\n  --port 1\n",
        "at this comment",
        2,
        f"# why\n{LAUNCH} \\\n  --port 1\n",
    ),
    "shell, a comment behind the mark": (
        "a.sh",
        f"{LAUNCH} \\ # why\n  --port $P\n",
        "at this comment",
        1,
        f"# why\n{LAUNCH} \\\n  --port $P\n",
    ),
    "shell, a comment in its place": ("a.sh", f"{LAUNCH}  # why\n  --port 1\n", "before this line", 2, ""),
    "shell, Windows": ("a.sh", f"{LAUNCH} \\\r\n  --port 1 \\\r\n  --dtype half\r\n", "line end of Windows", 1, ""),
    "powershell, no mark": (
        "a.ps1",
        f"{LAUNCH} `\n  --port 1\n  --dtype half\n",
        "before this line",
        3,
        f"{LAUNCH} `\n  --port 1 `\n  --dtype half\n",
    ),
    "powershell, a blank": (
        "a.ps1",
        f"{LAUNCH} `\t\r\n --port 1\r\n",
        "this backtick, which",
        1,
        f"{LAUNCH} `\r\n --port 1\r\n",
    ),
    "powershell, a comment": (
        "a.ps1",
        f"{LAUNCH} `\n # why\n --port 1\n",
        "at this comment",
        2,
        f"# why\n{LAUNCH} `\n --port 1\n",
    ),
    "batch, no mark": ("a.bat", f"{LAUNCH}\r\n  --port 1\r\n", "before this line", 2, f"{LAUNCH} ^\r\n  --port 1\r\n"),
    "batch, a blank": (
        "a.bat",
        f"{LAUNCH} ^ \n  --port 1\n",
        "this caret, which blanks",
        1,
        f"{LAUNCH} ^\n  --port 1\n",
    ),
    "batch, a comment": (
        "a.cmd",
        f"{LAUNCH} ^\n REM why\n --port 1\n",
        "at this comment",
        2,
        f"REM why\n{LAUNCH} ^\n --port 1\n",
    ),
    "systemd": (
        "a.service",
        f"[Service]\nExecStart={LAUNCH} \\\n  --port 1\n  --dtype half\n",
        "systemd does not read it",
        4,
        f"[Service]\nExecStart={LAUNCH} \\\n  --port 1 \\\n  --dtype half\n",
    ),
    "systemd, a blank": (
        "a.service",
        f"[Service]\nExecStart={LAUNCH} \\ \n  --port=1\n",
        "blanks",
        2,
        f"[Service]\nExecStart={LAUNCH} \\\n  --port=1\n",
    ),
    "make, no mark": (
        "Makefile",
        f"run:\n\t{LAUNCH}\n\t  --port 1\n",
        "make runs it",
        3,
        f"run:\n\t{LAUNCH} \\\n\t  --port 1\n",
    ),
    "make, a blank": (
        "Makefile",
        f"run:\n\t{LAUNCH} \\ \n\t  --port 1\n",
        "blanks",
        2,
        f"run:\n\t{LAUNCH} \\\n\t  --port 1\n",
    ),
    "dockerfile": (
        "Dockerfile",
        f"{DOCKER}CMD {LAUNCH}\n  --port 1\n",
        "instruction",
        3,
        f"{DOCKER}CMD {LAUNCH} \\\n  --port 1\n",
    ),
    "workflow": (
        ".github/workflows/a.yml",
        f"{JOB}    - run: |\n        {LAUNCH}\n          --port 1\n",
        "before this line",
        8,
        f"{JOB}    - run: |\n        {LAUNCH} \\\n          --port 1\n",
    ),
    "kubernetes": (
        "pod.yaml",
        f"{POD}    command: [sh, -c]\n    args:\n    - |\n      {LAUNCH}\n        --port 1\n",
        "before this line",
        12,
        f"{POD}    command: [sh, -c]\n    args:\n    - |\n      {LAUNCH} \\\n        --port 1\n",
    ),
}


@pytest.mark.parametrize("case", CUT)
def test_flags_that_are_cut_off_are_told_once_where_they_are(case: str) -> None:
    path, text, says, line, _ = CUT[case]
    (finding,) = [f for f in lint_text(text, path, vllm="0.33.0").all_findings if f.severity is not Severity.INFO]
    assert (finding.code, finding.where.line if finding.where else 0) == ("SC704", line)
    assert says in finding.message
    assert "not passed to it" in finding.message


@pytest.mark.parametrize("case", CUT)
def test_they_are_joined_again_when_asked_for(case: str) -> None:
    """A mark that only blanks follow was written to continue its line, so that taking them away is safe."""
    path, text, _, _, after = CUT[case]
    assert fixed(text, path, judge=linter()).text == (after if case.endswith("a blank") else text)
    assert fixed(text, path, unsafe=True, judge=linter()).text == (after or text)


WHOLE = {
    "another command": ("a.sh", f"{LAUNCH} \\\n  --port 1\nbench --port 1\n"),
    "an operator": ("a.sh", f"{LAUNCH} &&\n  --port 1\n"),
    "another command on its line": ("a.sh", f"{LAUNCH}; --port 1\n"),
    "a case": ("a.sh", f"case $1 in\n  --serve) {LAUNCH}\n  ;;\n  --port) exit ;;\nesac\n"),
    "a heredoc": ("a.sh", f"{LAUNCH}\ncat <<E\n--port 1\nE\n"),
    "two dashes": ("a.sh", f"{LAUNCH}\n-- x\n"),
    "a list": ("a.md", f"```sh\n{LAUNCH}\n```\n- --port 1\n"),
    "Docker takes comments and blanks": ("Dockerfile", f"{DOCKER}CMD {LAUNCH} \\ \n  # why\n  --port 1\n"),
    "systemd takes comments": ("a.service", f"[Service]\nExecStart={LAUNCH} \\\n# why\n  --port 1\n"),
    "a folded text": (".github/workflows/a.yml", f"{JOB}    - run: >-\n        {LAUNCH}\n        --port 1\n"),
    "PowerShell": ("a.ps1", f"{LAUNCH} `\n  --port 1\nbench `\n  --port 1\n"),
    "batch": ("a.bat", f"{LAUNCH} ^\n  --port 1\nbench ^\n  --port 1\n"),
    "a list of YAML": ("pod.yaml", f"{POD}    command: [vllm, serve, m]\n    args:\n    - --port=1\n"),
}


@pytest.mark.parametrize("case", WHOLE)
def test_what_only_looks_like_it(case: str) -> None:
    path, text = WHOLE[case]
    assert "SC704" not in [finding.code for finding in lint_text(text, path, vllm="0.33.0").all_findings]
