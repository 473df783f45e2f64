"""Which files are read, how much of them, and which are passed over by their bytes."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from specconf.lint.files import Candidate, around, candidates, project_of, read_bytes
from specconf.lint.globs import matches
from specconf.lint.skipping import LARGEST, cannot_hold_a_launch, why_no_text


def test_a_file_is_read_whole_and_a_larger_one_one_byte_too_far(tmp_path: Path) -> None:
    for name, size in (("empty", 0), ("exact", LARGEST), ("larger", LARGEST + 10)):
        (tmp_path / name).write_bytes(b"x" * size)
        data = read_bytes(Candidate(str(tmp_path / name), named=True))
        assert isinstance(data, bytes)
        assert len(data) == min(size, LARGEST + 1)


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"vllm serve m\n" * 20_000))
    writer.start()
    read = read_bytes(Candidate(str(pipe), named=True))
    writer.join()
    assert isinstance(read, Candidate)
    assert read.data == b"vllm serve m\n" * 20_000
    assert read_bytes(read) == read.data  # it is kept, since it cannot be read again


def _unread(path: str) -> str:
    read = read_bytes(Candidate(path, named=True))
    assert isinstance(read, Candidate)
    return read.unread


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    assert _unread(str(tmp_path / "missing")) == "no such file or directory"
    assert _unread(str(tmp_path / "pipe")) == "a pipe that nobody writes to"
    assert _unread(str(tmp_path / "loop")).startswith("too many levels")
    assert _unread("/dev/zero") == "a device, and no file that can be read"


def test_a_socket_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("s.sh")
        assert _unread("s.sh")
        assert list(candidates(["."])) == []


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "open.sh").write_text("x", encoding="utf-8")
    scandir = os.scandir

    def refusing(place: str) -> object:
        if str(place).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(place)

    monkeypatch.setattr(os, "scandir", refusing)
    found = {Path(one.path).name: (one.named, one.unread) for one in candidates([str(tmp_path)])}
    assert found == {"open.sh": (False, ""), "closed": (False, "permission denied")}
    (closed,) = candidates([str(tmp_path / "closed")])
    assert (closed.named, closed.unread) == (True, "permission denied")


@pytest.mark.parametrize(
    ("data", "why", "line", "column"),
    [
        (b"vllm serve m\n", "", 0, 0),
        (b"\xef\xbb\xbfvllm serve m\n", "", 0, 0),
        (b"# caf\xe9\n", "not UTF-8 text", 1, 6),
        ("é\nüx ".encode() + b"\xff", "not UTF-8 text", 2, 4),
        (b"a\nvllm\0", "no text file", 2, 5),
        ("vllm".encode("utf-16"), "UTF-16 or UTF-32 text", 1, 1),
        ("vllm".encode("utf-32"), "UTF-16 or UTF-32 text", 1, 1),
    ],
)
def test_why_bytes_are_no_text(data: bytes, why: str, line: int, column: int) -> None:
    short, full, *place = why_no_text(data)
    assert (short, place) == (why, [line, column])
    assert bool(full) == bool(why)


def _project(folder: Path) -> Path:
    """A repository in a folder that has secrets of its own."""
    for name in ("outside/secret.yaml", "repo/top.yaml", "repo/a/b/c/beside.yaml", "repo/.git/config"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name, encoding="utf-8")
    here = folder / "repo/a/b/c"
    (here / "out.yaml").symlink_to(folder / "outside/secret.yaml")
    (here / "in.yaml").symlink_to(folder / "repo/top.yaml")
    (here / "up").symlink_to(folder)
    os.mkfifo(here / "pipe.yaml")
    return here


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("beside.yaml", "repo/a/b/c/beside.yaml"),
        ("../../../top.yaml", "repo/top.yaml"),
        ("in.yaml", "repo/top.yaml"),
        ("../../../../outside/secret.yaml", None),
        ("out.yaml", None),
        ("up/outside/secret.yaml", None),
        ("up/repo/top.yaml", "repo/top.yaml"),
        ("/etc/passwd", None),
        ("missing.yaml", None),
        ("pipe.yaml", None),
        (".", None),
        ("x" * 5000, None),
        ("a\0b", None),
    ],
)
def test_files_beside_are_of_the_same_project(tmp_path: Path, name: str, found: str | None) -> None:
    assert around(str(_project(tmp_path) / "run.sh"))(name) == found


def test_without_a_repository_the_named_folder_is_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/top.yaml", "a/b/run.sh", "other.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    run = str(tmp_path / "a/b/run.sh")
    monkeypatch.chdir("/")
    assert around(run)("../top.yaml") is None
    assert around(run, str(tmp_path / "a"))("../top.yaml") == "a/top.yaml"
    assert around(run, str(tmp_path / "a"))("../../other.yaml") is None
    monkeypatch.chdir(tmp_path)
    project_of.cache_clear()
    assert around("a/b/run.sh")("../../other.yaml") == "other.yaml"


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    here = _project(tmp_path)
    unread = {Path(one.path).name: one.unread for one in candidates([str(here)])}
    assert unread == {"beside.yaml": "", "in.yaml": "", "out.yaml": "a link out of the project"}


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
        (b" " * LARGEST + b"vllm", "larger than 4 MiB"),
        ("VLLM serve".encode("utf-16"), ""),
        ("nginx".encode("utf-16"), "no engine is mentioned"),
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
