"""A release's sources out of every form that they come in."""

from __future__ import annotations

import errno
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

from specconf.errors import HarvestError
from specconf.harvest.archive import (
    Archive,
    check_writable,
    from_texts,
    metadata_release,
    open_archive,
    origin_of,
    store,
    writing,
)

FILES = {"engine/__init__.py": "", "engine/args.py": "VALUE = 'ä'\n", "engine/deep/er.py": "x = 1\n"}
OTHERS = {"engine/kernel.so": "\0", "other/args.py": "", "engine/../../evil.py": "", "README.md": ""}
ORIGIN = {"file": "engine-1.0.tar.gz", "sha256": "00ff"}


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
    assert origin_of(tmp_path / "cache" / "1.0.zip") is None
    store(open_archive(sdist(tmp_path), "engine"), tmp_path / "cache" / "1.0.zip", ORIGIN)
    assert contents(open_archive(tmp_path / "cache" / "1.0.zip", "engine")) == FILES
    assert origin_of(tmp_path / "cache" / "1.0.zip") == ORIGIN
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["1.0.zip"]


def test_keeping_is_all_or_nothing(tmp_path: Path) -> None:
    def broken(name: str) -> bytes:
        raise OSError(name)

    with pytest.raises(HarvestError, match=r"args\.py cannot be read"):
        store(Archive(["engine/args.py"], broken, "broken"), tmp_path / "1.0.zip", ORIGIN)
    assert list(tmp_path.iterdir()) == []


def damaged(path: Path) -> Path:
    """A zip file of which one byte of a member's content is another; its list of members is whole."""
    content = bytearray(path.read_bytes())
    content[content.index(b"engine/args.py") + len("engine/args.py") + 2] ^= 0xFF
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("fault", ["damaged", "cut", "no comment", "another comment"])
def test_what_was_kept_counts_only_when_whole_and_of_a_known_origin(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "1.0.zip"
    store(from_texts(FILES), path, ORIGIN)
    if fault == "damaged":
        damaged(path)
    elif fault == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    else:
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = b"" if fault == "no comment" else b"[1]"
    assert origin_of(path) is None


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    archive = open_archive(damaged(wheel(tmp_path)), "engine")
    with pytest.raises(HarvestError, match=r"engine-1\.0-py3-none-any\.whl: engine/args\.py cannot be read"):
        archive.text("engine/args.py")


# --- the release that the metadata states


def metadata(version: str, name: str = "Engine") -> str:
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: of the description\n"


def test_the_metadata_states_the_release(tmp_path: Path) -> None:
    whole = tmp_path / "engine.whl"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("other-3.0.dist-info/METADATA", metadata("3.0", "other"))
        archive.writestr("engine-1.0+cu1.dist-info/METADATA", metadata("1.0+cu1"))
    assert metadata_release(whole, "engine") == ("METADATA", Version("1.0+cu1"))
    packed = tmp_path / "any.tar.gz"
    with tarfile.open(packed, "w:gz") as tar:
        for name, text in (("x/setup.py", ""), ("x/PKG-INFO", metadata("1.1")), ("x/y.egg-info/PKG-INFO", "")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    assert metadata_release(packed, "engine") == ("PKG-INFO", Version("1.1"))
    folder = checkout(tmp_path)
    assert metadata_release(folder, "engine") is None
    (folder / "PKG-INFO").write_text(metadata("1.2"))
    assert metadata_release(folder, "engine") == ("PKG-INFO", Version("1.2"))
    (folder / "PKG-INFO").write_text(metadata("1.2", "of-something-else"))
    assert metadata_release(folder, "engine") is None
    assert metadata_release(sdist(tmp_path), "engine") is None


# --- what cannot be written


def test_a_full_disk_names_the_path(tmp_path: Path) -> None:
    with (
        pytest.raises(HarvestError, match=r"rows\.jsonl cannot be written: No space") as raised,
        writing(tmp_path / "rows.jsonl", "Elsewhere."),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert raised.value.hint == "Elsewhere."


def test_a_folder_that_cannot_be_written_is_told_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_writable(tmp_path / "not" / "there" / "yet", "")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    for below in ("file", "file/deeper/still"):
        with pytest.raises(HarvestError, match=rf"{below} cannot be written: Not a directory"):
            check_writable(tmp_path / below, "")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(HarvestError, match="Permission denied"):
        check_writable(tmp_path / "below", "")


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert from_texts({"engine/a.py": "\ufeffx = 1\n"}).text("engine/a.py") == "x = 1\n"


def test_a_file_that_cannot_be_read_is_named() -> None:
    archive = Archive(
        ["engine/a.py", "engine/b.py"], {"engine/a.py": b"x = (\n", "engine/b.py": b"\xff"}.__getitem__, "1.0"
    )
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
