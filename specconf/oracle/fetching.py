"""Fetches a release's own archive through pip, and says what the index answered when there is none to be had."""

from __future__ import annotations

import platform
import re
import shutil
from bisect import bisect_left
from collections.abc import Callable, Sequence
from pathlib import Path

from packaging.version import InvalidVersion, Version

from specconf.compat.database import load_database
from specconf.errors import OracleError
from specconf.oracle.installing import TELLING, stated_sources
from specconf.oracle.pythons import this_interpreter, wrong_python
from specconf.oracle.recipe import Kind, Recipe
from specconf.oracle.steps import REACH_INDEX, Cause, StepError, Steps

# The command that runs a pip beside the packages that it is given.
PipFor = Callable[[tuple[str, ...]], Sequence[str | Path]]

_NAMES = {"sdist": "source archive", "wheel": "wheel"}


def fetch(engine: str, recipe: Recipe, release: str, into: Path, steps: Steps, pip_for: PipFor) -> Path:
    """Download a release's archive: the first kind of the recipe that is there and usable. OracleError if none is."""
    failures: list[StepError] = []
    for kind in recipe.kinds:
        try:
            return _download(recipe, kind, release, into, steps, pip_for)
        except StepError as error:
            if error.cause in {Cause.DISK_FULL, Cause.UNREACHABLE, Cause.NO_PIP}:
                raise
            failures.append(error)
            steps.progress(f"no usable {_NAMES[kind]} of {engine} {release}")
    raise _none(engine, release, failures)


def _download(recipe: Recipe, kind: Kind, release: str, into: Path, steps: Steps, pip_for: PipFor) -> Path:
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    sdist = kind == "sdist"
    pip = pip_for(recipe.build_needs if sdist else ())
    flags = ["--no-build-isolation", "--no-binary", recipe.package] if sdist else ["--only-binary", ":all:"]
    env = stated_sources(steps.environ).for_pip(torch=False) | dict(recipe.build_environ(release) if sdist else {})
    steps.progress(f"downloading the {_NAMES[kind]} of {recipe.package} {release}")
    what = f"downloading {recipe.package} {release}"
    command = [*pip, "download", *TELLING, "--no-deps", "-d", into, *flags, f"{recipe.package}=={release}"]
    steps.run(what, command, env)
    return next(path for path in into.iterdir() if path.is_file())


def _none(engine: str, release: str, failures: Sequence[StepError]) -> OracleError:
    """Why there is no archive: another Python is needed, no file fits, there is no such release, or a step went wrong."""
    said = "\n".join(failure.output for failure in failures)
    python = this_interpreter()
    if needs := re.search(rf"(?:^|[\s;]){re.escape(release)} Requires-Python ([^;\n]+)", said):
        return wrong_python(python, f"{engine} {release} requires Python {needs[1].strip()}")
    if accidents := [failure for failure in failures if failure.cause is Cause.OTHER]:
        return accidents[0]
    listed = {name for part in re.findall(r"\(from versions: ([^)]*)\)", said) for name in part.split(", ")} - {"none"}
    if not listed:
        return OracleError(f"The package index that is asked lists no release of {engine} at all.", hint=REACH_INDEX)
    known = {*load_database(engine).line.names, *listed}
    beside = _beside(release, known)
    if release in known:
        machine = f"Python {python.minor} on {platform.system()} {platform.machine()}"
        return OracleError(
            f"The package index has neither a source archive nor a wheel of {engine} {release} for {machine}.",
            hint=f"Give one that you have with --archive FILE, or ask a release beside it: {beside}.",
        )
    return OracleError(
        f"There is no release {release} of {engine} on the package index.",
        hint=f"Nearest known: {beside}; `specconf db releases {engine}` lists those of the database.",
    )


def _beside(release: str, names: set[str]) -> str:
    """The releases next to one in their order."""
    ordered = sorted({version for name in names if (version := _version(name)) is not None} - {_version(release)})
    wanted = _version(release)
    place = bisect_left(ordered, wanted) if wanted is not None else len(ordered)
    return " and ".join(str(version) for version in ordered[max(place - 1, 0) : place + 1])


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None
