"""Which files are read, how much of them, and which are passed over by their bytes."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from specconf.errors import InputError
from specconf.lint.files import Candidate, candidates, read_bytes
from specconf.lint.globs import matches
from specconf.lint.skipping import LARGEST, cannot_hold_a_launch


def test_a_file_is_read_whole_and_a_larger_one_one_byte_too_far(tmp_path: Path) -> None:
    for name, size in (("empty", 0), ("exact", LARGEST), ("larger", LARGEST + 10)):
        (tmp_path / name).write_bytes(b"x" * size)
        data = read_bytes(Candidate(str(tmp_path / name), named=True))
        assert len(data) == min(size, LARGEST + 1)


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"vllm serve m\n" * 20_000))
    writer.start()
    assert read_bytes(Candidate(str(pipe), named=True)) == b"vllm serve m\n" * 20_000
    writer.join()


def test_what_cannot_be_read_is_an_error_where_it_was_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    with pytest.raises(InputError, match="no such file"):
        read_bytes(Candidate(missing, named=True))
    assert read_bytes(Candidate(missing, named=False)) == "no such file or directory"


def test_folders_that_hold_the_files_of_others_are_left_out(tmp_path: Path) -> None:
    for name in ("a.sh", ".git/b.sh", "deep/node_modules/c.sh", "deep/d.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    found = [os.path.relpath(each.path, tmp_path) for each in candidates([str(tmp_path), str(tmp_path / "a.sh")])]
    assert found == ["a.sh", "deep/d.sh"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"image: nginx", "no engine is mentioned"),
        (b"VLLM_IMAGE=x", ""),
        (b"TRT-LLM", ""),
        (b"from sgl.x", ""),
        (b'{"specconf_baseline": 1, "launch": "vllm"}', "a baseline of specconf"),
        (b"vllm" + b" " * LARGEST, "larger than 4 MiB"),
    ],
)
def test_bytes_show_what_need_not_be_parsed(data: bytes, why: str) -> None:
    assert cannot_hold_a_launch(data) == why


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("vendor", ["vendor/a.sh", "x/vendor/b/c.sh", "vendor"], ["vendors/a.sh", "a/vendor.sh"]),
        ("*.sh", ["a.sh", "x/y/b.sh"], ["a.shx", "a.sh.txt"]),
        ("old/*.sh", ["old/a.sh"], ["old/b/a.sh", "x/old/a.sh"]),
        ("old/**/*.sh", ["old/a.sh", "old/b/c/a.sh"], ["older/a.sh"]),
        ("a/**", ["a/b", "a/b/c"], ["b/a/c"]),
        ("x[0-9]?.yaml", ["x1b.yaml"], ["xab.yaml", "x1.yaml", "x1bc.yaml"]),
        ("x[!0-9].yaml", ["xa.yaml"], ["x1.yaml"]),
        ("./deploy/", ["deploy/a.sh"], ["x/deploy.sh"]),
        ("a.sh", ["a.sh", "b/a.sh"], ["aXsh"]),
        ("/top.sh", ["top.sh"], ["deep/top.sh"]),
        ("[x", ["[x"], ["x"]),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [name for name in fitting if not matches(str(tmp_path / name), (pattern,), tmp_path)] == []
    assert [name for name in others if matches(str(tmp_path / name), (pattern,), tmp_path)] == []
