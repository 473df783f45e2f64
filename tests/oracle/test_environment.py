"""The environment builder's choices that need no network."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

from specconf.oracle import environment as env


def test_cache_root_is_the_stated_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPECCONF_ENGINE_CACHE", str(tmp_path))
    assert env.environment_dir("vllm", "0.33.0") == tmp_path / "vllm-0.33.0"


def test_sglang_keeps_the_release_pins_of_light_packages_only(tmp_path: Path) -> None:
    stated = ("transformers==5.19.0", "flashinfer_python[cu13]==0.7.2", "openai==2.8.0", 'av==1; extra == "diffusion"')
    wanted = env.wanted("sglang", env.Sources(tmp_path, stated))
    assert {"transformers==5.19.0", "openai==2.8.0", "pydantic"} <= set(wanted)
    assert not [name for name in wanted if name.startswith(("flashinfer", "av"))]


def test_an_old_sglang_release_states_its_requirements_under_extras(tmp_path: Path) -> None:
    stated = ('transformers==4.54.0; extra == "runtime-common"', 'torch==2.7.1; extra == "srt"')
    wanted = env.wanted("sglang", env.Sources(tmp_path, stated))
    assert "transformers==4.54.0" in wanted
    assert not [name for name in wanted if name.startswith(("torch", "openai-harmony"))]


def test_requirements_are_taken_as_they_were_a_week_after_the_release() -> None:
    assert env.settled("vllm", "0.6.3.post1") == "2024-10-24"
    assert env.settled("vllm", "99.0.0") is None


def test_vllm_leaves_out_devices_and_comments(tmp_path: Path) -> None:
    stated = (
        "# a comment",
        "",
        "-r other.txt",
        "regex # why",
        "torch==2.14",
        'six; python_version < "3"',
        "numba==0.65.0",
    )
    wanted = env.wanted("vllm", env.Sources(tmp_path, stated))
    assert "regex" in wanted
    assert "setuptools<81" in wanted
    assert not [name for name in wanted if name.startswith(("torch", "six", "#", "-"))]


def test_unpacking_a_wheel_leaves_compiled_parts(tmp_path: Path) -> None:
    wheel = tmp_path / "sglang-1.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sglang/__init__.py", "")
        archive.writestr("sglang/kernel.so", "")
        archive.writestr("other/__init__.py", "")
        archive.writestr("sglang-1.dist-info/METADATA", "Name: sglang\nRequires-Dist: numpy\n")
    sources = env.RECIPES["sglang"].unpack(wheel, tmp_path / "out")
    assert sources.requirements == ("numpy",)
    assert [path.name for path in (tmp_path / "out").rglob("*.*")] == ["__init__.py"]


def test_unpacking_a_source_archive_reads_its_requirements(tmp_path: Path) -> None:
    tree = tmp_path / "vllm-1"
    (tree / "vllm").mkdir(parents=True)
    (tree / "vllm" / "__init__.py").write_text("")
    (tree / "requirements").mkdir()
    (tree / "requirements" / "common.txt").write_text("regex\nnumpy<3\n")
    archive = tmp_path / "vllm-1.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tree, "vllm-1")
    sources = env.RECIPES["vllm"].unpack(archive, tmp_path / "out")
    assert sources.requirements == ("regex", "numpy<3")
    assert (tmp_path / "out" / "vllm" / "__init__.py").exists()


def test_a_failed_step_is_reported_with_its_output() -> None:
    with pytest.raises(env.BuildError, match="exit status 3"):
        env.run(["sh", "-c", "echo why; exit 3"])
