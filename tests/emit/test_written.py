"""Every example in every format: as recorded, read back to the same spec, and without findings of its own.

`python -m tests.emit.test_written` rewrites the golden files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run
from tests.emit.cases import CASES, RELEASES, Case

GOLDEN = Path(__file__).parent / "golden"
SUFFIXES = {"k8s": ".yaml", "compose": ".yaml", "docker": ".sh", "python": ".py"}
NAMES = {"k8s": "k8s.yaml", "compose": "compose.yaml", "docker": "docker-run.sh", "python": "launch.py"}


def golden(case: Case) -> Path:
    """Where what is written for a case is kept; what a refusal says too."""
    return GOLDEN / f"{case}{SUFFIXES[case.form]}.txt"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_recorded(specconf: Run, case: Case) -> None:
    ran = specconf(*case.words())
    assert (ran.out or ran.err.replace(f"{ROOT}/", "")) == golden(case).read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_reads_back_and_is_clean(specconf: Run, case: Case, tmp_path: Path) -> None:
    ran = specconf(*case.words())
    if not ran.out:
        pytest.skip("this format refuses the launch; the golden file holds what it says")
    written, script = tmp_path / NAMES[case.form], tmp_path / "script" / "launch.sh"
    script.parent.mkdir()
    written.write_text(ran.out, encoding="utf-8")
    script.write_text(specconf(*case.words("shell")).out, encoding="utf-8")
    release = f"{case.engine}={RELEASES[case.engine]}"
    as_script = specconf("import", script, "-e", case.engine, "-r", release, "--quiet")
    again = specconf("import", written, "--quiet")  # it states the engine and the release itself
    assert again.code == as_script.code == 0, again.err
    assert _without_host(again.out) == _without_host(as_script.out)
    linted, peer = (
        specconf("lint", path, "-r", release, "--format", "json", "--require-launch") for path in (written, script)
    )
    assert len(json.loads(linted.out)["launches"]) == 1
    assert _warnings(linted.out) == _warnings(peer.out)
    stated = json.loads(specconf("lint", written, "--format", "json").out)["launches"][0]
    assert stated["release"] == RELEASES[case.engine]


def _without_host(spec: str) -> str:
    """A spec less the host that containers add."""
    lines = spec.replace('  host: "0.0.0.0"\n', "")
    return lines.replace("serving:\nhardware", "hardware")


def _warnings(report: str) -> list[tuple[str, str | None]]:
    found = json.loads(report)["findings"]
    return sorted((f["code"], f["constraint"]) for f in found if f["severity"] != "info")


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for old in GOLDEN.glob("*.txt"):
        old.unlink()
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(ROOT / "no-such-cache")}
    code = "from specconf.cli.main import main; main()"
    for each in CASES:
        command = [sys.executable, "-c", code, *each.words()]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        golden(each).write_text(done.stdout or done.stderr.replace(f"{ROOT}/", ""), encoding="utf-8")
