"""A release's sources out of every form that they come in."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from specconf.errors import HarvestError
from specconf.harvest.archive import Archive, from_texts, open_archive, store

FILES = {"engine/__init__.py": "", "engine/args.py": "VALUE = 'ä'\n", "engine/deep/er.py": "x = 1\n"}
OTHERS = {"engine/kernel.so": "\0", "other/args.py": "", "engine/../../evil.py": "", "README.md": ""}


def wheel(folder: Path) -> Path:
    path = folder / "engine-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**FILES, **OTHERS}.items():
            archive.writestr(name, text)
    return path


def sdist(folder: Path, inside: str = "") -> Path:
    path = folder / "engine-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {**FILES, **OTHERS}.items():
            member = tarfile.TarInfo(f"engine-1.0/{inside}{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
        link = tarfile.TarInfo(f"engine-1.0/{inside}engine/link.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return path


def checkout(folder: Path, inside: str = "") -> Path:
    root = folder / f"checkout{inside.strip('/')}"
    for name, text in FILES.items():
        path = root / inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def contents(archive: Archive) -> dict[str, str]:
    return {file: archive.text(file) for file in archive.files}


def test_every_form_holds_the_same_files(tmp_path: Path) -> None:
    forms = [wheel(tmp_path), sdist(tmp_path), checkout(tmp_path), checkout(tmp_path, "python/")]
    for path in forms:
        assert contents(open_archive(path, "engine")) == FILES, path
    assert contents(open_archive(sdist(tmp_path, "python/"), "engine")) == FILES


def test_kept_and_read_again(tmp_path: Path) -> None:
    store(open_archive(sdist(tmp_path), "engine"), tmp_path / "cache" / "1.0.zip")
    assert contents(open_archive(tmp_path / "cache" / "1.0.zip", "engine")) == FILES
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["1.0.zip"]


def test_keeping_is_all_or_nothing(tmp_path: Path) -> None:
    def broken(name: str) -> bytes:
        raise OSError(name)

    with pytest.raises(OSError, match="args"):
        store(Archive(["engine/args.py"], broken, "broken"), tmp_path / "1.0.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert from_texts({"engine/a.py": "\ufeffx = 1\n"}).text("engine/a.py") == "x = 1\n"


def test_a_file_that_cannot_be_read_is_named() -> None:
    archive = Archive(["engine/a.py", "engine/b.py"], {"engine/a.py": b"x = (\n", "engine/b.py": b"\xff"}.__getitem__, "1.0")
    with pytest.raises(HarvestError, match=r"1\.0: engine/a\.py:1 cannot be parsed"):
        archive.parsed("engine/a.py")
    with pytest.raises(HarvestError, match=r"engine/b\.py is not UTF-8"):
        archive.parsed("engine/b.py")


def test_what_is_asked_of_an_archive() -> None:
    archive = from_texts(FILES)
    assert "engine/args.py" in archive
    assert "engine/absent.py" not in archive
    assert archive.below("engine/deep") == ["engine/deep/er.py"]
    with pytest.raises(KeyError):
        archive.text("engine/absent.py")


@pytest.mark.parametrize("name", ["absent.whl", "broken.whl", "broken.tar.gz", "empty", "notes.py"])
def test_what_cannot_be_read_is_refused_with_its_path(tmp_path: Path, name: str) -> None:
    if name == "empty":
        (tmp_path / name).mkdir()
    elif name != "absent.whl":
        (tmp_path / name).write_bytes(b"no archive")
    with pytest.raises(HarvestError, match=name):
        open_archive(tmp_path / name, "engine", {"args.py": "engine/args.py"})


def test_a_single_file_is_read_where_the_harvester_knows_its_place(tmp_path: Path) -> None:
    path = tmp_path / "args.py"
    path.write_text("x = 1\n")
    assert contents(open_archive(path, "engine", {"args.py": "engine/args.py"})) == {"engine/args.py": "x = 1\n"}
    with pytest.raises(HarvestError, match=r"args\.py"):
        open_archive(path, "engine")
