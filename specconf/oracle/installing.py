"""Installs requirements into a bare virtual environment: by uv where it is or can be had, else by pip.

uv links files from one cache, leaves packages out of the resolution, and takes packages as they were on a day. pip copies,
removes afterwards what is to be left out, and takes the newest that fits. pip's own variables for indexes, local folders
and certificates are handed to uv, which does not read them, and uv's to pip.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from specconf.errors import OracleError
from specconf.oracle.environment import python_of
from specconf.oracle.locking import locked
from specconf.oracle.pythons import Interpreter, wrong_python
from specconf.oracle.steps import Cause, StepError, Steps

# Only when it is verbose does pip tell why an index gave nothing; its words are shown only when a step fails.
TELLING = ("-v", "--no-input", "--progress-bar", "off")
CPU_TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


class Sources(Struct, frozen=True):
    """Where packages come from, as the user's variables for pip or uv state it."""

    index: str = ""
    extra: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    no_index: bool = False

    @property
    def stated(self) -> bool:
        """Whether the user says where packages lie, so that a CPU build of torch is looked for there only."""
        return bool(self.extra or self.folders or self.no_index)

    def for_uv(self) -> dict[str, str]:
        """As uv's variables."""
        named = {
            "UV_DEFAULT_INDEX": self.index,
            "UV_INDEX": " ".join(self.extra),
            "UV_FIND_LINKS": ",".join(self.folders),
        }
        return {name: value for name, value in named.items() if value}

    def for_pip(self, *, torch: bool) -> dict[str, str]:
        """As pip's variables; for torch PyTorch's index of CPU builds is asked, too, where no other place is stated."""
        extra = [re.sub(r"^[\w-]+=(?=\w+://)", "", each) for each in self.extra]
        if torch and not self.stated:
            extra = [CPU_TORCH_INDEX]
        named = {
            "PIP_INDEX_URL": re.sub(r"^[\w-]+=(?=\w+://)", "", self.index),
            "PIP_EXTRA_INDEX_URL": " ".join(extra),
            "PIP_FIND_LINKS": " ".join(self.folders),
        }
        return {name: value for name, value in named.items() if value}


def stated_sources(environ: Mapping[str, str]) -> Sources:
    """What the user's variables say; uv's own before pip's."""

    def first(*names: str) -> str:
        return next((environ[name] for name in names if environ.get(name)), "")

    folders = environ.get("UV_FIND_LINKS", "").split(",") if environ.get("UV_FIND_LINKS") else []
    return Sources(
        index=first("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"),
        extra=tuple(first("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL").split()),
        folders=tuple(folders or environ.get("PIP_FIND_LINKS", "").split()),
        no_index=environ.get("PIP_NO_INDEX", "").lower() in {"1", "true", "yes", "on"},
    )


class Installer(Protocol):
    """Something that installs. `timely`: whether it can take packages as they were on a day."""

    name: str
    timely: bool

    def torch(self, venv: Path, requirement: str) -> None:
        """Install a CPU build of torch."""

    def install(self, venv: Path, requirements: Sequence[str], leave_out: Collection[str], until: str | None) -> None:
        """Install requirements beside torch, without what is left out, as they were on a day."""


def cpu_build(requirement: str) -> str:
    """The requirement of torch narrowed to its CPU build: on Linux the plain one is gigabytes of CUDA libraries."""
    return (
        f"{requirement}+cpu" if sys.platform == "linux" and re.fullmatch(r"torch==[\w.]+", requirement) else requirement
    )


class Uv:
    """uv, with a cache beside the environments, so that their files are links and not copies."""

    timely = True

    def __init__(self, steps: Steps, program: Path, root: Path) -> None:
        self.name = steps.run("uv", [program, "--version"]).partition("(")[0].strip()
        self._steps, self._program = steps, program
        self._sources = stated_sources(steps.environ)
        self._env = {"UV_CACHE_DIR": str(root / "uv-cache"), **self._sources.for_uv()}
        for own, pips in (("SSL_CERT_FILE", "PIP_CERT"), ("UV_HTTP_TIMEOUT", "PIP_DEFAULT_TIMEOUT")):
            if pips in steps.environ and own not in steps.environ:
                self._env[own] = steps.environ[pips]

    def torch(self, venv: Path, requirement: str) -> None:
        """Install a CPU build of torch: from where the user says, else from PyTorch's own index."""
        elsewhere = self._sources.stated or "UV_TORCH_BACKEND" in self._steps.environ
        flags = [] if elsewhere else ["--torch-backend", "cpu"]
        self._install(requirement, venv, [cpu_build(requirement)], flags, {})

    def install(self, venv: Path, requirements: Sequence[str], leave_out: Collection[str], until: str | None) -> None:
        """Install requirements beside torch."""
        with tempfile.TemporaryDirectory() as scratch:
            excludes = _listed(Path(scratch) / "excludes.txt", sorted(leave_out))
            flags: list[str | Path] = ["--excludes", excludes, *(["--exclude-newer", until] if until else [])]
            # As pip does: an index of torch holds old builds of other packages, too, which must not hide the rest.
            best = {} if "UV_INDEX_STRATEGY" in self._steps.environ else {"UV_INDEX_STRATEGY": "unsafe-best-match"}
            self._install("requirements", venv, requirements, flags, best)

    def _install(
        self, what: str, venv: Path, requirements: Sequence[str], flags: Sequence[str | Path], env: Mapping[str, str]
    ) -> None:
        offline = ["--no-index"] if self._sources.no_index else []
        with tempfile.TemporaryDirectory() as scratch:
            listing = _listed(Path(scratch) / "requirements.txt", requirements)
            command = [
                self._program,
                "pip",
                "install",
                "-q",
                "--python",
                python_of(venv),
                *offline,
                *flags,
                "-r",
                listing,
            ]
            self._steps.run(f"installing {what}", command, {**self._env, **env})


class Pip:
    """pip, from a virtual environment of its own."""

    timely = False

    def __init__(self, steps: Steps, pip: Sequence[str | Path]) -> None:
        said = steps.run("pip", [*pip, "--version"])
        self.name = " ".join(said.split()[:2])
        self._steps, self._pip = steps, list(pip)
        self._sources = stated_sources(steps.environ)

    def torch(self, venv: Path, requirement: str) -> None:
        """Install a CPU build of torch."""
        self._run(f"installing {requirement}", venv, "install", *TELLING, cpu_build(requirement), torch=True)

    def install(self, venv: Path, requirements: Sequence[str], leave_out: Collection[str], until: str | None) -> None:
        """Install the newest that the requirements allow beside the torch that is there, then remove what is left out."""
        assert until is None, "pip takes the newest that fits"
        with tempfile.TemporaryDirectory() as scratch:
            listing = _listed(Path(scratch) / "requirements.txt", requirements)
            frozen = self._run("pip", venv, "freeze")
            torch = [line for line in frozen.splitlines() if line.startswith("torch==")]
            constraints = _listed(Path(scratch) / "constraints.txt", torch)
            self._run("installing requirements", venv, "install", *TELLING, "-r", listing, "-c", constraints)
        brought = sorted(set(leave_out) - {"torch"})
        self._run("leaving packages out", venv, "uninstall", "-q", "-y", *brought)

    def _run(self, what: str, venv: Path, *words: str | Path, torch: bool = False) -> str:
        command = [*self._pip, "--python", python_of(venv), *words]
        return self._steps.run(what, command, self._sources.for_pip(torch=torch))


def _listed(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


class Tools:
    """The virtual environment that holds pip, and uv where the machine has none: made once for all environments."""

    def __init__(self, root: Path, steps: Steps) -> None:
        self._root, self._folder, self._steps = root, root / "tools", steps

    def pip(self) -> list[str | Path]:
        """The command that runs pip."""
        with locked(self._root, "tools", self._steps.progress):
            python = python_of(self._folder)
            module = next(self._folder.glob("lib/python*/site-packages/pip/__main__.py"), None)
            if module is None or not python.exists():
                command: list[str | Path] = [sys.executable, "-m", "venv", "--clear", self._folder]
                self._steps.run("making a virtual environment for pip", command)
        return [python, "-m", "pip"]

    def uv(self) -> Path | None:
        """uv: the machine's own if it can leave packages out, else one installed here; None where neither is to be had."""
        found = shutil.which("uv", path=self._steps.environ.get("PATH"))
        if found is not None and self._leaves_out(Path(found)):
            return Path(found)
        pip = self.pip()
        own = self._folder / "bin" / "uv"
        with locked(self._root, "tools", self._steps.progress):
            if not own.exists():
                self._steps.progress("installing uv")
                sources = stated_sources(self._steps.environ).for_pip(torch=False)
                try:
                    self._steps.run("installing uv", [*pip, "install", *TELLING, "uv"], sources)
                except StepError as error:
                    if error.cause is Cause.DISK_FULL:
                        raise
                    self._steps.progress(f"uv is not to be had, pip is used: {error.message}")
                    return None
        return own if self._leaves_out(own) else None

    def _leaves_out(self, uv: Path) -> bool:
        """Whether this uv knows what is asked of it here (--excludes is of 2025)."""
        try:
            return "--excludes" in self._steps.run("uv", [uv, "pip", "install", "--help"])
        except StepError:
            return False

    def installer(self) -> Installer:
        """What installs on this machine."""
        uv = self.uv()
        return Uv(self._steps, uv, self._root) if uv is not None else Pip(self._steps, self.pip())


def no_torch(error: StepError, requirement: str, python: Interpreter) -> OracleError:
    """The error for a CPU build of torch that the indexes do not have, or not for this Python."""
    if "ABI tag" in error.output or "Python version" in error.output:
        return wrong_python(python, f"The CPU build of {requirement} that was found is for another Python")
    return OracleError(
        f"No CPU build of {requirement} for Python {python.minor} is to be had from the indexes that are asked.",
        hint="Name an index that has one (UV_INDEX or PIP_EXTRA_INDEX_URL; PyTorch's own is "
        f"{CPU_TORCH_INDEX}) or a folder with its wheel (UV_FIND_LINKS or PIP_FIND_LINKS).",
    )
