"""Archives laid out."""

from __future__ import annotations

from pathlib import Path

import pytest

from specconf.errors import OracleError
from specconf.oracle.unpacking import unpack
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


def test_an_archive_that_is_not_there_or_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(OracleError, match="does not exist"):
        unpack(tmp_path / "vllm-1.tar.gz", "vllm", tmp_path / "out")
    with pytest.raises(OracleError, match="holds no package vllm"):
        unpack(make_wheel(tmp_path, "sglang"), "vllm", tmp_path / "out")
