"""Builds the environment of one engine release: its archive laid out, a base with what it requires, and both joined.

Each folder is made in place under a lock, and its marker is written last: two processes that want the same one make it
once, and what was interrupted is made anew.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct
from packaging.version import InvalidVersion, Version

from specconf.compat.database import load_database
from specconf.errors import OracleError
from specconf.oracle.environment import (
    DEFAULT_TORCH,
    MARKER,
    Environment,
    cache_root,
    environment_dir,
    find,
    marker_of,
    python_of,
)
from specconf.oracle.fetching import fetch
from specconf.oracle.installing import Installer, Tools, no_torch
from specconf.oracle.locking import locked
from specconf.oracle.pythons import Interpreter, check_requires, this_interpreter
from specconf.oracle.recipe import HEAVY, Recipe, recipe_of
from specconf.oracle.steps import ANOTHER_PLACE, Cause, Progress, Runner, StepError, Steps, run_program
from specconf.oracle.unpacking import unpack

ANEW = "Remove that folder to have it built anew, or name another place in SPECCONF_ENGINE_CACHE."

# Requirements are taken as they were so long after the release: what its first users installed.
SETTLED = timedelta(days=7)

GB = 10**9
# Free space without which a build is not begun: the first one downloads and keeps torch (1.5 GB in all), later ones link it.
NEEDED_FIRST = 2 * GB
NEEDED_LATER = 1 * GB


def build(
    engine: str,
    release: str,
    *,
    torch: str | None = None,
    root: Path | None = None,
    archive: Path | None = None,
    progress: Progress = lambda _: None,
    runner: Runner = run_program,
) -> Environment:
    """The environment of a release, built unless it is there. `archive`: the release's own, already downloaded; `torch`: a
    requirement, else the usual one.

    `progress` is told what begins. OracleError says what stands in the way, and what to do: also where one is there that
    was made of another archive or with another torch than those asked for.
    """
    recipe = recipe_of(engine)
    release = published(engine, release)
    root = (root or cache_root()).resolve()
    found = find(engine, release, root)
    if found is not None:
        return _as_asked(found, torch, archive)
    with _writing(root):
        root.mkdir(parents=True, exist_ok=True)
        with locked(root, f"{engine}-{release}", progress):
            found = find(engine, release, root)
            if found is None:
                _check_space(root)
                try:
                    _Build(engine, release, recipe, root, torch or DEFAULT_TORCH, Steps(progress, runner)).make(archive)
                except BaseException:
                    shutil.rmtree(environment_dir(engine, release, root), ignore_errors=True)
                    raise
                found = find(engine, release, root)
                assert found is not None
    return _as_asked(found, torch, archive)


def _as_asked(found: Environment, torch: str | None, archive: Path | None) -> Environment:
    """An environment that is there, if it is the one that is asked for."""
    if torch is not None and torch != found.torch:
        raise OracleError(f"{found.folder} was built with {found.torch}, not {torch}.", hint=ANEW)
    check_archive(archive, found.folder, found.archive, found.sha256)
    return found


def check_archive(archive: Path | None, folder: Path, name: str, sha256: str) -> None:
    """OracleError where an environment that is there was made of another archive than the one that is asked for."""
    if archive is None:
        return
    if not archive.is_file():
        raise OracleError(f"{archive} does not exist.", hint="Name the release's own sdist or wheel.")
    if sha256_of(archive) != sha256:
        raise OracleError(f"{folder} was built from another archive, {name}, than {archive}.", hint=ANEW)


class _Build(Struct, frozen=True, dict=True):
    """One build, with the lock of its release held."""

    engine: str
    release: str
    recipe: Recipe
    root: Path
    torch: str
    steps: Steps

    @cached_property
    def python(self) -> Interpreter:
        """The one that makes it, and that it runs on."""
        return this_interpreter()

    @cached_property
    def tools(self) -> Tools:
        """What downloads and installs."""
        return Tools(self.root, self.steps)

    @cached_property
    def installer(self) -> Installer:
        """What installs."""
        return self.tools.installer()

    def make(self, archive: Path | None) -> None:
        """Make it anew, whatever lies in its folder."""
        began = time.monotonic()
        target = environment_dir(self.engine, self.release, self.root)
        shutil.rmtree(target, ignore_errors=True)
        scratch = target / "download"
        archive = archive or fetch(self.engine, self.recipe, self.release, scratch, self.steps, self._pip_for)
        sources = target / "sources"
        sources.mkdir(parents=True)
        self.steps.progress(f"unpacking {archive.name}")
        stated = unpack(archive, self.recipe.package, sources, self.recipe.texts)
        check_requires(self.python, stated.python, f"{self.engine} {self.release}")
        noted = {"archive": archive.name, "sha256": sha256_of(archive)}
        shutil.rmtree(scratch, ignore_errors=True)
        write_dist_info(sources, self.recipe.package, self.release + self.recipe.version_suffix)
        requirements = sorted([*self.recipe.wanted(stated), *self.recipe.unstated.get(self.release, ())])
        base = self._base(requirements, settled(self.engine, self.release))
        self._join(target, sources, base)
        record = {"engine": self.engine, "release": self.release, **noted, "torch": self.torch, "base": base.name}
        seconds = round(time.monotonic() - began, 1)
        _mark(target, record | {"requirements": requirements, "build_seconds": seconds})

    def _pip_for(self, build_needs: tuple[str, ...]) -> list[str | Path]:
        """The pip that downloads; one that stands beside torch and what an sdist's build script asks for, if it does."""
        if not build_needs:
            return [*self.tools.pip(), "--python", sys.executable]
        return [python_of(self._base(sorted(["pip", *build_needs]), None)), "-m", "pip"]

    def _base(self, requirements: list[str], until: str | None) -> Path:
        """The venv that holds torch and requirements, as they were on a day; made unless it is there."""
        as_of = until if self.installer.timely else None
        key = "\n".join([self.python.build, self.torch, as_of or "", *requirements])
        base = self.root / f"base-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
        with locked(self.root, base.name, self.steps.progress):
            if marker_of(base) is None:
                self._make_base(base, requirements, as_of)
        return base

    def _make_base(self, base: Path, requirements: list[str], until: str | None) -> None:
        self.steps.run("making a virtual environment", [sys.executable, "-m", "venv", "--without-pip", "--clear", base])
        self.steps.progress(f"installing {self.torch} with {self.installer.name}")
        try:
            self.installer.torch(base, self.torch)
        except StepError as error:
            if error.cause is Cause.NO_MATCH:
                raise no_torch(error, self.torch, self.python) from None
            raise
        as_of = f" as of {until}" if until else ""
        self.steps.progress(f"installing {len(requirements)} requirements{as_of}")
        self.installer.install(base, requirements, HEAVY, until)
        record = {"torch": self.torch, "requirements": requirements, "until": until, "installer": self.installer.name}
        _mark(base, record)

    def _join(self, target: Path, sources: Path, base: Path) -> None:
        """A bare venv that sees the release's files first, then the base's."""
        self.steps.run("making a virtual environment", [sys.executable, "-m", "venv", "--without-pip", target])
        paths = [sources, self._site_packages(base)]
        text = "".join(f"{path}\n" for path in paths)
        (self._site_packages(target) / "specconf-engine.pth").write_text(text, encoding="utf-8")

    def _site_packages(self, venv: Path) -> Path:
        return venv / "lib" / f"python{self.python.minor}" / "site-packages"


def published(engine: str, release: str) -> str:
    """A release by the name under which the database knows it (v0.33 is 0.33.0), else as it is written."""
    try:
        wanted = Version(release)
    except InvalidVersion:
        return release  # the index will know none of this name
    return next((name for name in load_database(engine).line.names if Version(name) == wanted), str(wanted))


def settled(engine: str, release: str) -> str | None:
    """The day up to which requirements are taken; None for a release that the database does not date."""
    line = load_database(engine).line
    day = dict(zip(line.names, line.dates, strict=True)).get(release)
    return (date.fromisoformat(day) + SETTLED).isoformat() if day else None


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_dist_info(into: Path, package: str, version: str) -> None:
    """The metadata that the engine asks for at run time to learn its own version."""
    info = into / f"{package}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", encoding="utf-8")
    (info / "RECORD").write_text("", encoding="utf-8")


def _mark(folder: Path, record: Mapping[str, Any]) -> None:
    """Say that a folder is finished, in one step."""
    partial = folder / f".{MARKER}"
    partial.write_text(json.dumps(record, indent=1), encoding="utf-8")
    partial.replace(folder / MARKER)


def _check_space(root: Path) -> None:
    later = any(marker_of(base) for base in root.glob("base-*"))
    needed, free = NEEDED_LATER if later else NEEDED_FIRST, shutil.disk_usage(root).free
    if free < needed:
        raise OracleError(
            f"{root} has {free / GB:.1f} GB free, and an environment needs about {needed / GB:.0f} GB.",
            hint=ANOTHER_PLACE,
        )


@contextmanager
def _writing(root: Path) -> Iterator[None]:
    """A full disk, a missing permission, a file where a folder must be: as one kind of error that names the path."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise OracleError(f"{root} cannot be written: no space is left on the disk.", hint=ANOTHER_PLACE) from None
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        at = error.filename or root
        raise OracleError(
            f"The environment cannot be written: {at}: {reason}.",
            hint="Name a folder that can be written in SPECCONF_ENGINE_CACHE.",
        ) from None
