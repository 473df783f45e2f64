"""What something else than the launches reads is not fixed as safe: variables, parameters, anchors, files, ConfigMaps."""

from __future__ import annotations

import pytest

from specconf.compat.database import load_database
from specconf.lint.fixing import fix_text
from specconf.lint.run import Linter
from tests.lint.boxes import fixed, linter

OLD = "--speculative-model c/d --num-speculative-tokens 5"
ITEMS = '"--speculative-model", "c/d", "--num-speculative-tokens", "5"'
COMMAND = f'["--model", "m", {ITEMS}]'
ENGINE = "image: vllm/vllm-openai:v0.33.0"
FILE = "cat > o.yaml <<EOF\nmax-num-seqs: 4\ncuda-graph-max-bs: 8\nEOF\nsglang serve --model-path m --config o.yaml\n"
PYTHON = f"import subprocess\nARGS = [{ITEMS}]\nsubprocess.run(['vllm', 'serve', 'm', *ARGS])\n"
LLM = "from vllm import LLM\n"
MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: serving
data:
  o.yaml: |
    max-running-requests: 4
    cuda-graph-max-bs: 8
---
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: %s
spec:
  containers:
  - name: c
    image: lmsysorg/sglang:v0.5.20
    command: [%s]
    volumeMounts: [{name: v, mountPath: /s}]
  volumes: [{name: v, configMap: {name: serving}}]
"""
SERVES = MAP + POD % ("a", "sglang, serve, --model-path, m, --config, /s/o.yaml")

OWN = {
    "in an array": ("run.sh", f'ARGS=({OLD})\nvllm serve m "${{ARGS[@]}}"\n'),
    "appended": ("run.sh", f'A=(--port 1)\nA+=({OLD})\nvllm serve m "${{A[@]}}"\n'),
    "named in a comment": ("run.sh", f'ARGS=({OLD})\n# ARGS: flags\nvllm serve m "${{ARGS[@]}}"  # ARGS\n'),
    "of two launches": ("run.sh", f'ARGS=({OLD})\nvllm serve m "${{ARGS[@]}}"\nvllm serve n "${{ARGS[@]}}"\n'),
    "handed on": ("run.sh", f'A=({OLD})\nB=("${{A[@]}}" --port 1)\nvllm serve m "${{B[@]}}"\n'),
    "of a function": ("run.sh", f'run() {{ vllm serve m "$@"; }}\nrun {OLD}\n'),
    "beside a variable": ("run.sh", f"P=1\nbench $P\nX=1 vllm serve m --port $P {OLD}\n"),
    "in a file": ("run.sh", FILE),
    "in Python": ("run.py", PYTHON),
    "in a call": ("run.py", LLM + 'e = LLM("m", speculative_model="c/d", num_speculative_tokens=5)\ne.generate("x")\n'),
    "in a dict": ("run.py", LLM + 'O = dict(speculative_model="c/d", num_speculative_tokens=5)\ne = LLM("m", **O)\n'),
    "in PowerShell": ("run.ps1", f"$a = @({ITEMS})\nvllm serve m @a\n"),
    "an anchor": (
        "compose.yaml",
        f"services:\n  a:\n    {ENGINE}\n    command: &c {COMMAND}\n  b:\n    {ENGINE}\n    command: *c\n",
    ),
    "an anchor apart": ("compose.yaml", f"x-c: &c {COMMAND}\nservices:\n  a:\n    {ENGINE}\n    command: *c\n"),
    "another anchor": (
        "compose.yaml",
        f"x-c: &c [a]\nservices:\n  a:\n    {ENGINE}\n    command: {COMMAND}\n  b:\n    image: x\n    command: *c\n",
    ),
    "a ConfigMap": ("k.yaml", SERVES),
}  # fmt: skip
SHARED = {
    "an array": ("run.sh", OWN["in an array"][1] + 'mybench "${ARGS[@]}"\n'),
    "an array that is printed": ("run.sh", OWN["in an array"][1] + 'echo "${ARGS[*]}" >> log\n'),
    "a loop": ("run.sh", OWN["in an array"][1] + 'for a in "${ARGS[@]}"; do :; done\n'),
    "handed on": ("run.sh", OWN["handed on"][1] + 'bench "${B[@]}"\n'),
    "by name": ("run.sh", OWN["in an array"][1] + "declare -p ARGS\n"),
    "exported": ("run.sh", 'export M=(--cuda-graph-max-bs 8)\nsglang serve --model-path m "${M[@]}"\n'),
    "a function that does more": ("run.sh", f'run() {{ vllm serve m "$@"; bench "$@"; }}\nrun {OLD}\n'),
    "a file": ("run.sh", FILE + "bench --config o.yaml\n"),
    "in Python": ("run.py", PYTHON + "subprocess.run(['bench', *ARGS])\n"),
    "a dict": ("run.py", OWN["in a dict"][1] + "other(O)\n"),
    "in PowerShell": ("run.ps1", OWN["in PowerShell"][1] + "bench @A\n"),
    "an alias": ("compose.yaml", OWN["an anchor"][1] + "  c:\n    image: bench\n    command: *c\n"),
    "an anchor of another service": (
        "compose.yaml",
        f"services:\n  b:\n    image: bench\n    command: &c {COMMAND}\n  a:\n    {ENGINE}\n    command: *c\n",
    ),
    "a ConfigMap": ("k.yaml", SERVES + "---\n" + POD % ("b", "bench, --all")),
}  # fmt: skip


@pytest.mark.parametrize("case", OWN)
def test_what_launches_alone_read_is_fixed(case: str) -> None:
    path, text = OWN[case]
    assert fixed(text, path).text != text


@pytest.mark.parametrize("case", SHARED)
def test_what_something_else_reads_is_left_to_whoever_asks_for_it(case: str) -> None:
    path, text = SHARED[case]
    assert fixed(text, path).text == text
    assert fixed(text, path, unsafe=True).text != text


def test_launches_of_several_releases_share_what_is_right_for_all() -> None:
    """SGLang 0.5.5 has not the new name; of an unknown release nothing is known."""
    text = 'A=(--cuda-graph-max-bs 8)\ndocker run lmsysorg/sglang:v0.5.20 sglang serve --model-path m "${A[@]}"\n'
    own = Linter(load_database, linter().models)
    for image, changed in (
        ("lmsysorg/sglang:v0.5.20", True),
        ("lmsysorg/sglang:v0.5.5", False),
        ("mine/sglang:7", False),
    ):
        both = f'{text}docker run {image} sglang serve --model-path n "${{A[@]}}"\n'
        result = own.file("run.sh", both.encode())
        assert len(result.launches) == 2
        assert (fix_text(own, result).text != both) is changed
