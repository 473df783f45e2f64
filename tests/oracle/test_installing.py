"""uv where it is or can be had, else pip; and where both are told that packages lie."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from specconf.errors import OracleError
from specconf.oracle.installing import (
    CPU_TORCH_INDEX,
    Installer,
    Pip,
    Sources,
    Tools,
    Uv,
    cpu_build,
    no_torch,
    stated_sources,
)
from specconf.oracle.pythons import this_interpreter
from specconf.oracle.steps import Cause, Done, StepError, Steps
from tests.oracle.packages import Recorder, make_wheel, offline

MODERN = Done(0, "uv 0.13.9 (x86_64) --excludes <EXCLUDES>")


def _program(folder: Path, name: str = "uv") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def _pip_is_there(root: Path) -> None:
    _program(root / "tools" / "bin", "python")
    module = root / "tools" / "lib" / "python3.11" / "site-packages" / "pip" / "__main__.py"
    module.parent.mkdir(parents=True)
    module.write_text("")


def _installer(root: Path, runner: Recorder, path: Path | str) -> Installer:
    return Tools(root, Steps(runner=runner, environ={"PATH": str(path)})).installer()


def test_the_machines_own_uv_is_used(tmp_path: Path) -> None:
    uv = _program(tmp_path / "path")
    runner = Recorder({str(uv): MODERN})
    installer = _installer(tmp_path, runner, uv.parent)
    assert installer.name == "uv 0.13.9"
    assert not runner.with_word("venv")


def test_a_uv_that_cannot_leave_packages_out_is_not_used(tmp_path: Path) -> None:
    _pip_is_there(tmp_path)
    old, own = _program(tmp_path / "path"), _program(tmp_path / "tools" / "bin")
    runner = Recorder({str(old): Done(0, "uv 0.4.0"), str(own): MODERN})
    assert isinstance(_installer(tmp_path, runner, old.parent), Uv)
    assert runner.commands[-1][0] == str(own)


def test_uv_is_installed_where_there_is_none(tmp_path: Path) -> None:
    _pip_is_there(tmp_path)
    own = tmp_path / "tools" / "bin" / "uv"
    runner = Recorder({str(own): MODERN})
    assert isinstance(_installer(tmp_path, runner, ""), Uv)
    assert runner.with_word("install")[0][-1] == "uv"


def test_pip_is_used_where_uv_cannot_be_had(tmp_path: Path) -> None:
    _pip_is_there(tmp_path)
    told: list[str] = []
    runner = Recorder({"uv": Done(1, "No matching distribution found for uv"), "--version": Done(0, "pip 23.2 from x")})
    steps = Steps(told.append, runner, {"PATH": ""})
    installer = Tools(tmp_path, steps).installer()
    assert (installer.name, installer.timely) == ("pip 23.2", False)
    assert any("pip is used" in line for line in told)


def test_a_full_disk_is_no_reason_to_use_pip(tmp_path: Path) -> None:
    _pip_is_there(tmp_path)
    with pytest.raises(StepError, match="no space is left"):
        _installer(tmp_path, Recorder({"uv": Done(1, "No space left on device")}), "")


def _uv_commands(environ: dict[str, str]) -> Recorder:
    runner = Recorder({"--version": MODERN})
    uv = Uv(Steps(runner=runner, environ=environ), Path("/uv"), Path("/root"))
    uv.torch(Path("/venv"), "torch==2.13.0")
    uv.install(Path("/venv"), ["regex"], {"ray"}, "2026-01-08")
    return runner


def test_uv_takes_torch_from_its_own_index_of_cpu_builds() -> None:
    runner = _uv_commands({})
    _, torch, rest = runner.commands
    assert torch[torch.index("--torch-backend") + 1] == "cpu"
    assert "--torch-backend" not in rest
    assert rest[rest.index("--exclude-newer") + 1] == "2026-01-08"
    assert "--excludes" in rest
    assert runner.environs[-1]["UV_INDEX_STRATEGY"] == "unsafe-best-match"


@pytest.mark.parametrize(
    "name", ["PIP_FIND_LINKS", "UV_FIND_LINKS", "UV_INDEX", "PIP_EXTRA_INDEX_URL", "UV_TORCH_BACKEND"]
)
def test_uv_takes_torch_from_where_the_user_says(name: str) -> None:
    assert not _uv_commands({name: "/wheels"}).with_word("--torch-backend")


def test_pips_variables_reach_uv_and_uvs_reach_pip() -> None:
    environ = {
        "PIP_INDEX_URL": "https://one.example",
        "PIP_EXTRA_INDEX_URL": "https://two.example https://three.example",
        "PIP_FIND_LINKS": "/a /b",
    }
    assert stated_sources(environ).for_uv() == {
        "UV_DEFAULT_INDEX": "https://one.example",
        "UV_INDEX": "https://two.example https://three.example",
        "UV_FIND_LINKS": "/a,/b",
    }
    environ = {"UV_INDEX": "torch=https://two.example", "UV_FIND_LINKS": "/a,/b", "PIP_FIND_LINKS": "/c"}
    assert stated_sources(environ).for_pip(torch=True) == {
        "PIP_EXTRA_INDEX_URL": "https://two.example",
        "PIP_FIND_LINKS": "/a /b",
    }
    assert Sources().for_pip(torch=True) == {"PIP_EXTRA_INDEX_URL": CPU_TORCH_INDEX}
    assert Sources().for_pip(torch=False) == {}


def test_certificates_and_time_limits_reach_uv() -> None:
    environ = _uv_commands({"PIP_CERT": "/certificates", "PIP_DEFAULT_TIMEOUT": "90"}).environs[-1]
    assert (environ["SSL_CERT_FILE"], environ["UV_HTTP_TIMEOUT"]) == ("/certificates", "90")


@pytest.mark.parametrize(
    ("stated", "linux"),
    [
        ("torch==2.13.0", "torch==2.13.0+cpu"),
        ("torch==2.13.0+mine", "torch==2.13.0+mine"),
        ("torch>=2.13", "torch>=2.13"),
    ],
)
def test_on_linux_torch_is_narrowed_to_its_cpu_build(monkeypatch: pytest.MonkeyPatch, stated: str, linux: str) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert cpu_build(stated) == linux
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cpu_build(stated) == stated


@pytest.mark.parametrize(
    ("output", "says", "advises"),
    [
        (
            "torch==2.13.0+cpu has no wheels with a matching Python ABI tag (e.g., `cp315`)",
            "another Python",
            "virtual env",
        ),
        ("there is no version of torch==2.13.0+cpu", "No CPU build of torch==2.13.0", CPU_TORCH_INDEX),
    ],
)
def test_a_torch_that_cannot_be_had(output: str, says: str, advises: str) -> None:
    error = no_torch(StepError("", "", Cause.NO_MATCH, output), "torch==2.13.0", this_interpreter())
    assert isinstance(error, OracleError)
    assert says in error.message
    assert advises in (error.hint or "")


def test_a_virtual_environment_for_pip_is_made_once(tools: Path) -> None:
    runner = Recorder(real=True)
    pip = Tools(tools.parent, Steps(runner=runner)).pip()
    assert not runner.commands
    assert Steps().run("pip", [*pip, "--version"]).startswith("pip ")


def _real_venv(folder: Path, *flags: str) -> Path:
    Steps().run("venv", [sys.executable, "-m", "venv", *flags, folder])
    return folder


def _installed(venv: Path) -> set[str]:
    return {path.name.partition("-")[0] for path in venv.glob("lib/python*/site-packages/*.dist-info")} - {
        "pip",
        "setuptools",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packages of which one brings what is to be left out, and a torch that is too new."""
    folder = tmp_path_factory.mktemp("wheels")
    make_wheel(folder, "torch", "2.13.0+cpu")
    make_wheel(folder, "torch", "9.0+cpu")
    make_wheel(folder, "triton")
    make_wheel(folder, "grammar", requires=("torch", "triton"))
    return folder


def _check_installs(installer: Installer, venv: Path, requirements: Sequence[str] = ("grammar",)) -> None:
    installer.torch(venv, "torch==2.13.0")
    installer.install(venv, requirements, {"torch", "triton", "ray"}, None)
    assert _installed(venv) == {"torch", "grammar"}
    (found,) = venv.glob("lib/python*/site-packages/torch-*.dist-info")
    assert found.name == "torch-2.13.0+cpu.dist-info"


def test_pip_itself_keeps_torch_and_removes_what_is_left_out(tmp_path: Path, tools: Path, folder: Path) -> None:
    steps = Steps(environ=offline(folder))
    pip = Tools(tools.parent, steps).pip()
    _check_installs(Pip(steps, pip), _real_venv(tmp_path / "venv", "--without-pip"))


def test_uv_itself_keeps_torch_and_leaves_out(tmp_path: Path, folder: Path) -> None:
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        pytest.skip("uv is not installed here")
    steps = Steps(environ=offline(folder))
    _check_installs(Uv(steps, Path(uv), tmp_path), _real_venv(tmp_path / "venv", "--without-pip"))
