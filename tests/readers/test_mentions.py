"""Places that hold an engine's start and no launch: what may have been missed, and what only speaks of an engine."""

from __future__ import annotations

import pytest

from specconf.compat.database import load_database
from specconf.findings import Severity
from specconf.lint.run import Linter
from specconf.readers.launches import find_launches
from specconf.readers.mentions import unclaimed
from specconf.report.lint_json import lint_json
from specconf.report.lint_text import render_lint
from tests.lint.conftest import models


def places(script: str) -> list[str]:
    return [str(place) for place in unclaimed(script, "run.sh", find_launches(script, "run.sh"))]


MISSED = {
    "my_launcher vllm serve m --port 1": ["run.sh:1:13"],
    'my_launcher --cmd "vllm serve m --port 1"': ["run.sh:1:20"],
    'CMD="vllm serve m --port 1"': ["run.sh:1:6"],
    "with_gpu python3 -m sglang.launch_server --model-path m": ["run.sh:1:21"],
    '"$TOOL" -x trtllm-serve m': ["run.sh:1:12"],
    "run-it <<EOF\ncd x\nvllm serve m --port 1\nEOF": ["run.sh:3:1"],
    'X=( wrapper "A=1 nohup vllm serve m --x" )': ["run.sh:1:24"],
    "vllm serve a\nmy_launcher vllm serve m": ["run.sh:2:13"],
}


@pytest.mark.parametrize("script", MISSED)
def test_a_launch_that_was_not_found_is_told_where(script: str) -> None:
    assert places(script) == MISSED[script]


SPOKEN_OF = [
    "vllm serve m --port 1",
    'CMD="vllm serve m"\n$CMD',
    "# vllm serve m --port 1",
    'echo "vllm serve m --port 1"',
    'log_info "vllm serve m --port 1"',
    'die "Starting vllm serve m"',
    'notify "Starting vllm serve m now"',
    'pkill -f "vllm serve m"',
    'PATTERN="vllm serve"',
    'if [[ "$X" == "vllm serve m" ]]; then :; fi',
    "cat <<EOF\nUsage:\nvllm serve m --port 1\nEOF",
    "cat > README.md <<EOF\nvllm serve m --port 1\nEOF",
    "wrapper vllm serve --help",
    "pip install vllm",
]


@pytest.mark.parametrize("script", SPOKEN_OF)
def test_what_only_speaks_of_an_engine_is_not_told(script: str) -> None:
    assert places(script) == []


def test_the_places_stand_in_the_reports() -> None:
    result = Linter(load_database, models).file("run.sh", b"my_launcher vllm serve m\n")
    text = render_lint([result], verbose=True, quiet=False, fail_on=Severity.ERROR)
    assert "mentioned  run.sh:1:13" in text
    assert "an engine is mentioned and no launch found at 1 place" in text.splitlines()[-1]
    assert lint_json([result])["mentioned"] == [{"path": "run.sh", "line": 1, "column": 13}]
