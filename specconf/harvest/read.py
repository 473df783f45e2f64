"""Reading releases: sources from the cache, the index or a local path, several at a time, each timed and counted."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from msgspec import Struct
from packaging.version import InvalidVersion, Version

from specconf.compat.releases import parse_version
from specconf.errors import HarvestError
from specconf.harvest.archive import check_writable, is_sdist, metadata_release, open_archive, reading
from specconf.harvest.fetch import OTHER_CACHE, PackageIndex, Published, is_kept, keep, kept_at
from specconf.harvest.files import ReadRelease
from specconf.harvest.harvester import Harvested, Harvester

# The version in the name of a wheel, an sdist or a file of the cache.
_FILE_NAME = re.compile(r"^[A-Za-z0-9_.]+?-(?P<version>\d[A-Za-z0-9_.!+]*?)(?:-[^/]*\.whl|\.tar\.gz|\.tgz|\.zip)$")


class Job(Struct, frozen=True):
    """Sources at hand: where they lie on this machine, and what is listed of the release."""

    module: str
    release: str
    path: Path
    listed: dict[str, str | None]
    bytes_fetched: int = 0


class Done(Struct, frozen=True):
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
    check_writable(cache, OTHER_CACHE)
    for release in published:
        fetched_bytes, listing = 0, index.listed(release, harvester.prefer)
        path = kept_at(cache, harvester.package, release.version)
        if not is_kept(path, listing):
            fetched = index.fetch(release, harvester.package, harvester.prefer)
            keep(path, fetched.archive, listing)
            fetched_bytes = fetched.bytes_fetched
        yield Job(module, release.version, path, listing, fetched_bytes)


def from_path(module: str, path: Path, stated: str | None) -> Job:
    """A local wheel, sdist, checkout or file as the sources of a release.

    The release is stated, or it is what the file's name or the metadata inside says: where several speak, they must agree.
    """
    claims = {"by the command line": parse_version(stated)} if stated else {}
    claims |= _claims(path, harvester_of(module).package)
    if not claims:
        raise HarvestError(f"which release is {path}?", hint="Name it: specconf db harvest ENGINE RELEASE --from PATH.")
    (first, version), *others = claims.items()
    for other, found in others:
        if found.public != version.public:
            raise HarvestError(
                f"{path} is of release {version.public} {first}, but of {found.public} {other}.",
                hint="Name the release that it holds, or none.",
            )
    kind = "wheel" if path.suffix == ".whl" else "sdist" if is_sdist(path) else "checkout"
    listed: dict[str, str | None] = {"version": version.public, "date": None, "source": kind}
    if path.is_file():
        with reading(path), path.open("rb") as stream:
            listed |= {"file": path.name, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}
    return Job(module, version.public, path, listed)


def _claims(path: Path, package: str) -> dict[str, Version]:
    """Which release a path's own name and the metadata in it say that it is."""
    claims: dict[str, Version] = {}
    inside = metadata_release(path, package)
    named = _FILE_NAME.match(path.name)
    if named:
        with suppress(InvalidVersion):
            claims["by its name"] = Version(named["version"])
    if inside:
        claims[f"by its {inside[0]}"] = inside[1]
    return claims


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
