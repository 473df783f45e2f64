"""`lint --fix` and `--diff` as commands: what is written to files and streams, and when nothing is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from specconf.cli import lint_fix
from specconf.errors import InputError
from specconf.lint.rewriting import difference, rewrite
from tests.cli.conftest import Run, specconf

__all__ = ["specconf"]

BROKEN = "# vllm==0.33.0\nvllm serve a/b --speculative-model c/d --num-speculative-tokens 5"
FIXED = '# vllm==0.33.0\nvllm serve a/b --speculative-config \'{"model":"c/d","num_speculative_tokens":5}\''


def test_fix_writes_the_file_keeps_its_mode_and_tells_what_is_left(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes((BROKEN + " --flibbertigibbet\r\n").encode())
    path.chmod(0o750)
    ran = specconf("lint", "--fix", path)
    assert path.read_bytes().decode() == FIXED + " --flibbertigibbet\r\n"
    assert path.stat().st_mode & 0o777 == 0o750
    assert ran.err == "specconf: fixed 2 findings in 1 file\n"
    assert "--flibbertigibbet" in ran.out
    assert "--speculative-model" not in ran.out
    assert ran.code == 1
    ran = specconf("lint", "--fix", "--unsafe-fixes", path)
    assert path.read_bytes().decode() == FIXED + "\r\n"
    assert ran.code == 0


def test_fix_of_a_clean_file_leaves_it_untouched(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(FIXED)
    os.utime(path, (1, 1))
    ran = specconf("lint", "--fix", path)
    assert (ran.code, ran.err, path.stat().st_mtime) == (0, "", 1)


def test_a_link_stays_one_and_its_file_is_written(specconf: Run, tmp_path: Path) -> None:
    real, link = tmp_path / "real.sh", tmp_path / "link.sh"
    real.write_text(BROKEN)
    link.symlink_to(real)
    specconf("lint", "--fix", link)
    assert link.is_symlink()
    assert real.read_text() == FIXED


def test_diff_shows_what_git_can_apply_and_writes_nothing(
    specconf: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "deploy é" / "run.sh"
    path.parent.mkdir()
    path.write_bytes(BROKEN.replace("\n", "\r\n").encode())
    ran = specconf("lint", "--diff", "deploy é")
    assert ran.code == 1
    assert path.read_bytes() == BROKEN.replace("\n", "\r\n").encode()
    assert ran.out.startswith("--- a/deploy é/run.sh\n+++ b/deploy é/run.sh\n")
    assert ran.out.count("\\ No newline at end of file\n") == 2
    subprocess.run(["git", "apply", "--unsafe-paths", "-p1", "-"], input=ran.out.encode(), check=True, cwd=tmp_path)
    assert path.read_bytes() == FIXED.replace("\n", "\r\n").encode()
    ran = specconf("lint", "--diff", "deploy é")
    assert (ran.code, ran.out) == (0, "")


def test_standard_input_is_fixed_to_standard_output() -> None:
    ran = _piped(BROKEN.encode(), "--fix")
    assert ran.stdout.decode() == FIXED
    assert b"1 launch checked: 0 errors" in ran.stderr
    other = b"echo \xff nothing here\r\n"
    assert _piped(other, "--fix").stdout == other
    assert _piped(BROKEN.encode(), "--diff").stdout.startswith(b"--- a/stdin\n")


def _piped(data: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "specconf", "lint", *options, "-"], input=data, capture_output=True, check=False
    )


def test_a_file_that_changed_meanwhile_is_not_written(
    specconf: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "a.sh", tmp_path / "b.sh"
    path.write_text(BROKEN)
    other.write_text(BROKEN)
    real = rewrite

    def later(name: str, before: str, after: str) -> None:
        if name == str(path):
            path.write_text("# mine\n" + BROKEN)
        real(name, before, after)

    monkeypatch.setattr(lint_fix, "rewrite", later)
    ran = specconf("lint", "--fix", tmp_path)
    assert path.read_text() == "# mine\n" + BROKEN
    assert other.read_text() == FIXED
    assert ran.code == 2
    assert "changed while it was looked at: not fixed" in ran.err
    assert sorted(tmp_path.iterdir()) == [path, other]


def test_only_what_is_selected_is_fixed(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(BROKEN)
    specconf("lint", "--fix", "--ignore", "SC101", path)
    assert path.read_text() == BROKEN


def test_unsafe_fixes_alone_are_a_usage_error(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(BROKEN)
    ran = specconf("lint", "--unsafe-fixes", path)
    assert ran.code == 2
    assert "Add --fix or --diff" in ran.err


def test_a_file_that_went_away_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        rewrite(str(tmp_path / "gone.sh"), "a", "b")


def test_lines_are_those_of_git_whatever_else_ends_one() -> None:
    assert difference("./x", "a\x0bb\u2028c\rd\n", "a\x0bb\u2028c\re\n") == (
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\x0bb\u2028c\rd\n+a\x0bb\u2028c\re\n"
    )
