"""Reading releases: sources from the cache, the index or a local path, several at a time, each timed and counted."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from specconf.errors import HarvestError
from specconf.harvest.archive import open_archive
from specconf.harvest.fetch import PackageIndex, Published, cached, keep
from specconf.harvest.files import ReadRelease
from specconf.harvest.harvester import Harvested, Harvester

# The version in the name of a wheel or an sdist.
_FILE_NAME = re.compile(r"^[A-Za-z0-9_.]+?-(?P<version>\d[A-Za-z0-9_.!+]*?)(?:-[^/]*\.whl|\.tar\.gz)$")


@dataclass(frozen=True)
class Job:
    """Sources at hand: where they lie on this machine, and what is listed of the release."""

    module: str
    release: str
    path: Path
    listed: dict[str, str | None]
    bytes_fetched: int = 0


@dataclass(frozen=True)
class Done:
    """A release that was read: its rows, the bytes that were fetched for it, and the seconds that reading took."""

    release: ReadRelease
    bytes_fetched: int
    seconds: float


def harvester_of(module: str) -> Harvester:
    """The harvester in an engine's module (`specconf.engines.vllm.harvest.run`)."""
    harvester: Harvester = import_module(module).HARVESTER
    return harvester


def from_index(module: str, index: PackageIndex, published: Sequence[Published], cache: Path) -> Iterator[Job]:
    """The sources of releases, fetched where the cache lacks them."""
    harvester = harvester_of(module)
    for release in published:
        fetched_bytes, listing = 0, index.listed(release, harvester.prefer)
        if cached(cache, release.version, harvester.package) is None:
            fetched = index.fetch(release, harvester.package, harvester.prefer)
            keep(cache, release.version, fetched.archive, harvester.package)
            fetched_bytes = fetched.bytes_fetched
        yield Job(module, release.version, cache / f"{release.version}.zip", listing, fetched_bytes)


def from_path(module: str, path: Path, stated: str | None) -> Job:
    """A local wheel, sdist, checkout or file as the sources of a release, which the file's name may state."""
    named = _FILE_NAME.match(path.name)
    release = stated or (named["version"].partition("+")[0] if named else None)
    if release is None:
        raise HarvestError(f"which release is {path}?", hint="Name it: specconf db harvest ENGINE RELEASE --from PATH.")
    kind = "wheel" if path.suffix == ".whl" else "sdist" if path.name.endswith(".tar.gz") else "checkout"
    listed: dict[str, str | None] = {"version": release, "date": None, "source": kind}
    if path.is_file():
        listed |= {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    return Job(module, release, path, listed)


def read_all(jobs: Iterator[Job], note: Callable[[str], None], workers: int) -> Iterator[Done]:
    """Read releases as their sources arrive, in their order; what a reader could not settle is told to `note`."""
    if workers <= 1:
        for job in jobs:
            yield _told(job, *_read(job), note)
        return
    with ProcessPoolExecutor(workers) as pool:
        waiting: list[tuple[Job, Future[tuple[Harvested, float]]]] = [(job, pool.submit(_read, job)) for job in jobs]
        for job, future in waiting:
            yield _told(job, *future.result(), note)


def _read(job: Job) -> tuple[Harvested, float]:
    harvester = harvester_of(job.module)
    started = time.perf_counter()
    harvested = harvester.read(open_archive(job.path, harvester.package, harvester.lone_files), job.release)
    return harvested, time.perf_counter() - started


def _told(job: Job, harvested: Harvested, seconds: float, note: Callable[[str], None]) -> Done:
    for text in harvested.notes:
        note(f"{job.release}: {text}")
    return Done(ReadRelease(dict(job.listed), harvested), job.bytes_fetched, seconds)
