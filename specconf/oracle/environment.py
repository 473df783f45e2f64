"""Builds a cached environment in which one engine release's own argument parser runs on a machine without a GPU.

`python tools/engine_env.py vllm 0.33.0` prints the path of the environment's python. Only what the parser and the
config classes import is installed: one CPU torch, the light requirements that the release itself states, as they were a
week after the release, and the Python files of the release's own archive; kernels and servers are left out.
Environments are kept under `SPECCONF_ENGINE_CACHE`, else under the user cache. The archive comes through pip (or is
given: `--archive`), the requirements through uv, whose hard links let all environments share one copy of torch; a CPU
build of torch must be reachable (`PIP_FIND_LINKS`, `UV_FIND_LINKS` or an extra index). The tests marked `engine` use
what was built here and never build.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from email.parser import HeaderParser
from pathlib import Path

import platformdirs
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

log = logging.getLogger("engine_env")

ROOT = Path(__file__).resolve().parents[2]
MARKER = "specconf-engine.json"
DEFAULT_TORCH = "torch==2.13.0"

# Requirements are taken as they were so long after the release: what its first users installed.
SETTLED = timedelta(days=7)

# Packages that a release's parser never needs on a CPU, or that would bring another torch; stated or brought in by others.
_HEAVY = """
    torch torchaudio torchvision torchcodec triton xformers flashinfer-python numba opencv-python-headless
    intel-extension-for-pytorch ray bitsandbytes datasets outlines timm modelscope
"""
HEAVY = frozenset(_HEAVY.split())

# What SGLang's argument groups import; everything else that is absent is answered by the worker's stand-in modules.
_LIGHT = """
    transformers tokenizers msgspec orjson pydantic fastapi numpy psutil requests aiohttp pyzmq packaging pillow tqdm
    uvicorn uvloop pybase64 setproctitle partial-json-parser einops prometheus-client nvidia-ml-py openai openai-harmony
    sentencepiece dill tiktoken xxhash python-multipart huggingface-hub regex scipy zstandard
"""
SGLANG_LIGHT = _LIGHT.split()
# Younger than the oldest releases, which do not import them.
SGLANG_IF_STATED = frozenset({"openai-harmony"})
# Old releases state what a server needs under these extras.
SGLANG_EXTRAS = ("", "runtime_common", "srt")

# What a release needs and does not state.
UNSTATED = {("sglang", "0.4.3.post2"): ("transformers<4.49",)}  # 4.49 moved a function that it imports

# vLLM imports these without stating them in the file read here, or states them only for a device, or has them through
# a package that is left out.
VLLM_EXTRA = ("pyyaml", "packaging", "setuptools<81", "jinja2", "cloudpickle")


class BuildError(Exception):
    """The environment could not be built; the message says at which step."""


@dataclass(frozen=True)
class Sources:
    """A release's unpacked Python files, and what the release says it requires."""

    archive: Path
    requirements: tuple[str, ...]


@dataclass(frozen=True)
class Recipe:
    """How one engine's environment is made. `fetch` downloads, `unpack` lays the package into a folder."""

    package: str
    build_needs: tuple[str, ...]
    fetch: Callable[[Path, str, Path], Path]
    unpack: Callable[[Path, Path], Sources]
    version_suffix: str


def cache_root() -> Path:
    """Where environments are kept."""
    stated = os.environ.get("SPECCONF_ENGINE_CACHE")
    return Path(stated) if stated else Path(platformdirs.user_cache_dir("specconf")) / "engines"


def environment_dir(engine: str, release: str, root: Path | None = None) -> Path:
    """The folder of one engine release's environment, built or not."""
    return (root or cache_root()) / f"{engine}-{release}"


def run(command: Sequence[str | Path], *, env: dict[str, str] | None = None) -> None:
    """Run a build step; its output is shown only when it fails."""
    words = [str(part) for part in command]
    log.info("%s", " ".join(words)[:240])
    done = subprocess.run(  # noqa: S603 (programs of this module's own choice)
        words, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})}
    )
    if done.returncode:
        tail = (done.stdout + done.stderr)[-3000:]
        raise BuildError(f"step failed with exit status {done.returncode}: {' '.join(words)[:300]}\n{tail}")


def python_of(venv: Path) -> Path:
    """The python of a virtual environment."""
    return venv / "bin" / "python"


def site_packages(venv: Path) -> Path:
    """The site-packages folder of a virtual environment made by this interpreter."""
    return venv / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"


def download(python: Path, requirement: str, into: Path, *flags: str, env: dict[str, str] | None = None) -> Path:
    """Download one distribution and return its file."""
    into.mkdir(parents=True, exist_ok=True)
    run([python, "-m", "pip", "download", "-q", "--no-deps", "-d", into, *flags, requirement], env=env)
    found = sorted(into.iterdir())
    if len(found) != 1:
        raise BuildError(f"expected one downloaded file for {requirement}, found {[path.name for path in found]}")
    return found[0]


def fetch_vllm(python: Path, release: str, into: Path) -> Path:
    """vLLM's source archive (smallest, and it states requirements per device); the wheel where none was published."""
    # pip asks the archive for its metadata before it keeps it: with no device chosen that builds nothing.
    empty = {"VLLM_TARGET_DEVICE": "empty", "VLLM_VERSION_OVERRIDE": release, "SETUPTOOLS_SCM_PRETEND_VERSION": release}
    try:
        return download(python, f"vllm=={release}", into, "--no-build-isolation", "--no-binary", "vllm", env=empty)
    except BuildError as error:
        log.warning("no usable source archive for vllm %s, trying the wheel: %s", release, str(error)[-300:])
    shutil.rmtree(into)
    return download(python, f"vllm=={release}", into, "--only-binary", ":all:")


def fetch_sglang(python: Path, release: str, into: Path) -> Path:
    """SGLang's wheel: pure Python files, no dependencies."""
    return download(python, f"sglang=={release}", into, "--only-binary", ":all:")


def unpack_vllm(archive: Path, into: Path) -> Sources:
    """Lay vLLM's Python files into `into` and read its requirements."""
    if archive.suffix == ".whl":
        return Sources(archive, unpack_wheel(archive, "vllm", into))
    requirements: list[str] = []
    with tarfile.open(archive) as tar:
        members = []
        for member in tar.getmembers():
            inner = member.name.partition("/")[2]
            if inner in {"requirements/common.txt", "requirements-common.txt"}:
                handle = tar.extractfile(member)
                assert handle is not None
                requirements = handle.read().decode().splitlines()
            elif inner.startswith("vllm/") and member.isfile():
                member.name = inner
                members.append(member)
        tar.extractall(into, members=members, filter="data")
    if not requirements:
        raise BuildError(f"{archive.name} holds no requirements/common.txt")
    return Sources(archive, tuple(requirements))


def unpack_sglang(archive: Path, into: Path) -> Sources:
    """Lay SGLang's Python files into `into` and read its requirements."""
    return Sources(archive, unpack_wheel(archive, "sglang", into))


def unpack_wheel(archive: Path, package: str, into: Path) -> tuple[str, ...]:
    """Unpack a wheel's package without its compiled parts; return its Requires-Dist lines."""
    stated: list[str] = []
    with zipfile.ZipFile(archive) as wheel:
        for name in wheel.namelist():
            if name.endswith(".dist-info/METADATA"):
                metadata = HeaderParser().parsestr(wheel.read(name).decode())
                stated = metadata.get_all("Requires-Dist") or []
            elif name.startswith(f"{package}/") and not name.endswith((".so", ".cubin")):
                wheel.extract(name, into)
    return tuple(stated)


RECIPES: dict[str, Recipe] = {
    "vllm": Recipe(
        package="vllm",
        build_needs=(
            "setuptools<81",
            "setuptools-scm",
            "setuptools-rust",
            "wheel",
            "packaging",
            "jinja2",
            "cmake",
            "ninja",
        ),
        fetch=fetch_vllm,
        unpack=unpack_vllm,
        version_suffix="+cpu",  # vLLM recognises the CPU platform by this
    ),
    "sglang": Recipe(package="sglang", build_needs=(), fetch=fetch_sglang, unpack=unpack_sglang, version_suffix=""),
}


def stated_requirements(lines: Sequence[str], extras: Sequence[str] = ("",)) -> list[Requirement]:
    """The requirements that hold on this machine with the extras, from requirement-file or metadata lines."""
    found = []
    for line in lines:
        text = re.sub(r"(^|\s)#.*$", "", line).strip()
        if not text or text.startswith("-"):
            continue
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            log.warning("requirement line not understood, left out: %s", text)
            continue
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            found.append(requirement)
    return found


def wanted(engine: str, sources: Sources) -> list[str]:
    """What to install for a release: its own pins for what is needed, nothing of what is not."""
    extras = SGLANG_EXTRAS if engine == "sglang" else ("",)
    stated = {canonicalize_name(req.name): req for req in stated_requirements(sources.requirements, extras)}
    if engine == "sglang":
        needed = [canonicalize_name(name) for name in SGLANG_LIGHT if name in stated or name not in SGLANG_IF_STATED]
        chosen = [_plain(stated[name]) if name in stated else name for name in needed]
    else:
        chosen = [_plain(req) for name, req in stated.items() if name not in HEAVY]
        chosen += [extra for extra in VLLM_EXTRA if canonicalize_name(Requirement(extra).name) not in stated]
    return sorted(chosen)


def _plain(requirement: Requirement) -> str:
    """A requirement without its marker, which was evaluated already."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}{requirement.specifier}"


def settled(engine: str, release: str) -> str | None:
    """The day up to which requirements are taken; None for a release that the database does not date."""
    path = ROOT / "compat" / engine / "harvested" / "releases.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["version"] == release and row["date"]:
            return (date.fromisoformat(row["date"]) + SETTLED).isoformat()
    return None


class Installer:
    """uv in a venv of its own, with its cache beside the environments, so that files are linked and not copied."""

    def __init__(self, root: Path) -> None:
        tools = root / "tools"
        self._uv = tools / "bin" / "uv"
        if not self._uv.exists():
            run([sys.executable, "-m", "venv", "--clear", tools])
            run([python_of(tools), "-m", "pip", "install", "-q", "uv"])
        links = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS")
        self._env = {"UV_CACHE_DIR": str(root / "uv-cache")} | ({"UV_FIND_LINKS": links} if links else {})

    def install(self, venv: Path, requirements: Sequence[str], *flags: str | Path) -> None:
        """Install requirements into a venv."""
        with tempfile.TemporaryDirectory() as scratch:
            listing = Path(scratch) / "requirements.txt"
            listing.write_text("\n".join(requirements) + "\n")
            run([self._uv, "pip", "install", "-q", "--python", python_of(venv), *flags, "-r", listing], env=self._env)


def make_base(root: Path, torch: str, requirements: list[str], until: str | None) -> Path:
    """The venv that holds the dependencies, as they were on a day; releases that state the same ones share it."""
    key = hashlib.sha256("\n".join([sys.version, torch, until or "", *requirements]).encode()).hexdigest()[:12]
    base = root / f"base-{key}"
    if (base / MARKER).exists():
        return base
    run([sys.executable, "-m", "venv", "--without-pip", "--clear", base])
    installer = Installer(root)
    installer.install(base, [torch])
    with tempfile.TemporaryDirectory() as scratch:
        excludes = Path(scratch) / "excludes.txt"
        excludes.write_text("\n".join(sorted(HEAVY)) + "\n")
        flags: list[str | Path] = ["--excludes", excludes, *(["--exclude-newer", until] if until else [])]
        installer.install(base, requirements, *flags)
    record = {"torch": torch, "requirements": requirements, "until": until}
    (base / MARKER).write_text(json.dumps(record, indent=1))
    return base


def make_environment(target: Path, sources: Path, base: Path) -> None:
    """A bare venv that sees the release's files first, then the shared dependencies."""
    run([sys.executable, "-m", "venv", "--without-pip", target])
    paths = [str(sources), str(site_packages(base))]
    (site_packages(target) / "specconf-engine.pth").write_text("\n".join(paths) + "\n")


def build(
    engine: str, release: str, *, torch: str = DEFAULT_TORCH, root: Path | None = None, archive: Path | None = None
) -> Path:
    """Build the environment unless it is there; return its python. `archive`: the release's own, already downloaded."""
    root = (root or cache_root()).resolve()
    target = environment_dir(engine, release, root)
    if (target / MARKER).exists():
        return python_of(target)
    recipe = RECIPES[engine]
    root.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        archive = archive or download_archive(engine, release, Path(scratch) / "download", root, torch)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        unpacked = target / "sources"
        unpacked.mkdir(parents=True)
        stated = recipe.unpack(archive, unpacked)
    write_dist_info(unpacked, recipe.package, release + recipe.version_suffix)
    requirements = sorted([*wanted(engine, stated), *UNSTATED.get((engine, release), ())])
    base = make_base(root, torch, requirements, settled(engine, release))
    make_environment(target, unpacked, base)
    record = {"engine": engine, "release": release, "archive": archive.name, "sha256": digest, "torch": torch}
    (target / MARKER).write_text(json.dumps(record | {"base": base.name, "requirements": requirements}, indent=1))
    return python_of(target)


def download_archive(engine: str, release: str, into: Path, root: Path, torch: str) -> Path:
    """The release's own archive, through pip."""
    recipe = RECIPES[engine]
    helper = Path(sys.executable)
    if recipe.build_needs:
        helper = python_of(make_base(root, torch, sorted(["pip", *recipe.build_needs]), None))
    return recipe.fetch(helper, release, into)


def write_dist_info(into: Path, package: str, version: str) -> None:
    """The metadata that the engine asks for at run time to learn its own version."""
    info = into / f"{package}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (info / "RECORD").write_text("")


def main(argv: Sequence[str] | None = None) -> int:
    """Command line: build one environment and print its python."""
    parser = argparse.ArgumentParser(description="Build a cached CPU environment for an engine release's own parser.")
    parser.add_argument("engine", choices=sorted(RECIPES))
    parser.add_argument("release")
    parser.add_argument("--torch", default=DEFAULT_TORCH, help="torch requirement (default: %(default)s)")
    parser.add_argument("--archive", type=Path, help="the release's sdist or wheel, where it was downloaded before")
    options = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        python = build(options.engine, options.release, torch=options.torch, archive=options.archive)
    except BuildError as error:
        log.error("%s", error)  # noqa: TRY400 (a traceback says nothing that the step's own output does not)
        return 1
    print(python)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
