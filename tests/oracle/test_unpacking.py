"""Archives laid out."""

from __future__ import annotations

import errno
import gzip
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

from specconf.errors import OracleError
from specconf.oracle.unpacking import reading, unpack
from tests.oracle.packages import make_sdist, make_wheel


def test_a_wheel_is_laid_out_without_compiled_parts(tmp_path: Path) -> None:
    files = {"sglang/__init__.py": "", "sglang/kernel.so": "", "other/__init__.py": ""}
    wheel = make_wheel(tmp_path, "sglang", "1", requires=("numpy",), python=">=3.10", files=files)
    stated = unpack(wheel, "sglang", tmp_path / "out")
    assert (stated.requires, stated.python) == (("numpy",), ">=3.10")
    assert [path.name for path in (tmp_path / "out").rglob("*.*")] == ["__init__.py"]


def test_an_sdist_gives_its_requirement_files_and_its_package(tmp_path: Path) -> None:
    files = {
        "PKG-INFO": "Metadata-Version: 2.1\nName: vllm\nVersion: 1\nRequires-Python: <3.15\nRequires-Dist: six\n",
        "requirements/common.txt": "regex\nnumpy<3\n",
        "requirements/cuda.txt": "torch\n",
        "vllm/__init__.py": "",
        "csrc/kernel.cu": "",
    }
    stated = unpack(make_sdist(tmp_path, "vllm", "1", files), "vllm", tmp_path / "out", ("requirements/common.txt",))
    assert stated.texts == {"requirements/common.txt": "regex\nnumpy<3\n"}
    assert (stated.requires, stated.python) == (("six",), "<3.15")
    assert [path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*")] == [
        "vllm/__init__.py"
    ]


def test_a_damaged_archive(tmp_path: Path) -> None:
    for name in ("vllm-1.tar.gz", "vllm-1-py3-none-any.whl"):
        (tmp_path / name).write_bytes(b"no archive")
        with pytest.raises(OracleError, match=f"{name} cannot be unpacked") as caught:
            unpack(tmp_path / name, "vllm", tmp_path / "out")
        assert "Download it again" in (caught.value.hint or "")


def _big(tmp_path: Path) -> Path:
    """An sdist whose content cannot be compressed, so that each of its bytes is of some file."""
    chance = random.Random(1)
    files = {f"vllm/m{number}.py": chance.randbytes(700).hex() for number in range(200)}
    return make_sdist(tmp_path, "vllm", "1", {"vllm/__init__.py": "", **files})


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.999])
def test_a_damaged_sdist_is_not_laid_out_in_part(tmp_path: Path, share: float) -> None:
    good = _big(tmp_path)
    unpack(good, "vllm", tmp_path / "good")
    assert len(list((tmp_path / "good").rglob("*.py"))) == 201
    data = bytearray(good.read_bytes())
    for cut in (False, True):
        if cut:
            good.write_bytes(data[: int(len(data) * share)])
        else:
            at = int(len(data) * share)
            good.write_bytes(data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + 3]) + data[at + 3 :])
        with pytest.raises(OracleError, match=r"vllm-1\.tar\.gz cannot be unpacked"):
            unpack(good, "vllm", tmp_path / f"bad-{cut}")


def test_a_header_that_is_damaged_under_a_checksum_that_is_not(tmp_path: Path) -> None:
    good = _big(tmp_path)
    data = bytearray(gzip.decompress(good.read_bytes()))
    at = data.index(b"vllm-1/vllm/m100.py")
    data[at] ^= 1
    good.write_bytes(gzip.compress(bytes(data)))
    with pytest.raises(OracleError, match="its list of files breaks off"):
        unpack(good, "vllm", tmp_path / "out")


@pytest.mark.parametrize("target", ["nowhere", "PKG-INFO"])
def test_a_link_that_leads_nowhere(tmp_path: Path, target: str) -> None:
    path = make_sdist(tmp_path, "vllm", "1", {"vllm/__init__.py": ""})
    with tarfile.open(path, "w:gz") as tar:
        member = tarfile.TarInfo("vllm-1/PKG-INFO")
        member.type, member.linkname = tarfile.SYMTYPE, target
        tar.addfile(member)
    with pytest.raises(OracleError, match=r"vllm-1\.tar\.gz cannot be unpacked: .*"):
        unpack(path, "vllm", tmp_path / "out")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_damaged_wheel(tmp_path: Path, share: float) -> None:
    files = {f"sglang/m{number}.py": f"{number}\n" * 300 for number in range(20)}
    wheel = make_wheel(tmp_path, "sglang", "1", files=files)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as output:
        for name, text in files.items():
            output.writestr(name, text)
    data = bytearray(wheel.read_bytes())
    end = data.index(b"PK\x01\x02")
    at = data.index(b".py", int(end * share)) + 5
    data[at : at + 6] = bytes(byte ^ 0xFF for byte in data[at : at + 6])
    wheel.write_bytes(data)
    with pytest.raises(OracleError, match="cannot be unpacked"):
        unpack(wheel, "sglang", tmp_path / "out")


def test_a_disk_that_is_full_is_no_damage(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full"), reading(tmp_path / "a.whl"):
        raise OSError(errno.ENOSPC, "full")


def test_an_archive_that_is_not_there_or_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match="does not exist"):
        unpack(tmp_path / "vllm-1.tar.gz", "vllm", tmp_path / "out")
    with pytest.raises(OracleError, match="holds no package vllm"):
        unpack(make_wheel(tmp_path, "sglang"), "vllm", tmp_path / "out")
