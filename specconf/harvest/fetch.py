"""Releases as a package index has them: which there are, and the Python files of one of them, with the bytes it took.

An sdist or a small wheel is downloaded whole and its hash is checked; out of a large wheel only the wanted members are
read, by ranges, where the index serves ranges. What was fetched once is kept in a cache as one zip file a release, whose
comment names the file that it was made from with the hash that the index gave of it.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct
from packaging.version import InvalidVersion, Version

from specconf.errors import HarvestError
from specconf.harvest.archive import Archive, from_zip, open_archive, origin_of, store, writing
from specconf.secrets import without_credentials

if TYPE_CHECKING:
    import requests
    from pypi_simple import DistributionPackage

DEFAULT_INDEX = "https://pypi.org/simple/"
# Larger wheels are read by ranges: an engine's kernels are most of them, its Python files a few megabytes.
WHOLE_BELOW = 64 * 1024 * 1024
_TIMEOUT_S = 60
_BLOCK = 1 << 20
_OTHER_SOURCES = "Name another index with --index-url URL, or read a local wheel, sdist or checkout with --from PATH."
OTHER_CACHE = "Name another folder for fetched sources with --cache DIR."


class Published(Struct, frozen=True):
    """One release as the index lists it. `date` is the day of its first file (None when the index does not say)."""

    version: str
    date: str | None
    files: tuple[DistributionPackage, ...]


class Fetched(Struct, frozen=True):
    """A release's sources, and the bytes that were downloaded for them."""

    archive: Archive
    bytes_fetched: int


def index_url(stated: str | None) -> str:
    """The index to ask: the stated one, else pip's and uv's own variables, else PyPI."""
    return stated or os.environ.get("PIP_INDEX_URL") or os.environ.get("UV_DEFAULT_INDEX") or DEFAULT_INDEX


class PackageIndex:
    """One package index. Raises HarvestError for whatever it does not answer."""

    def __init__(self, url: str) -> None:
        try:
            import pypi_simple  # noqa: F401 - asked for here, so that its absence is told before anything is fetched
            import remotezip  # noqa: F401
            import requests
        except ImportError as error:
            raise HarvestError(
                f"reading a package index needs {error.name}", hint="pip install 'specconf[harvest]'"
            ) from None
        self._url = url
        self._session = requests.Session()
        self._received = 0
        self._session.hooks["response"].append(self._count)

    def _count(self, response: requests.Response, *_: Any, **__: Any) -> None:
        self._received += int(response.headers.get("Content-Length") or 0)

    def releases(self, project: str) -> list[Published]:
        """Every release of a project that has files, oldest first; dev releases and yanked files are left out."""
        from pypi_simple import PyPISimple

        with _as_harvest_error(f"the releases of {project} cannot be listed"):
            page = PyPISimple(self._url, session=self._session).get_project_page(project, timeout=_TIMEOUT_S)
        by_version: dict[Version, list[DistributionPackage]] = {}
        for file in page.packages:
            version = _version(file.version)
            if version is not None and not version.is_devrelease and not file.is_yanked:
                by_version.setdefault(version, []).append(file)
        return [
            Published(version.public, _first_day(files), tuple(files)) for version, files in sorted(by_version.items())
        ]

    def listed(self, release: Published, prefer: Sequence[str]) -> dict[str, str | None]:
        """What the database keeps of a release: its date, and which file it is read from, with the index's hash of it."""
        file = _chosen(release, prefer)
        found = {
            "version": release.version,
            "date": release.date,
            "source": str(file.package_type),
            "file": file.filename,
        }
        return found | ({"sha256": file.digests["sha256"]} if "sha256" in file.digests else {})

    def fetch(self, release: Published, package: str, prefer: Sequence[str]) -> Fetched:
        """The Python files of a release, from the kind of file preferred first (`sdist`, `wheel`) that it has."""
        chosen = _chosen(release, prefer)
        before = self._received
        with _as_harvest_error(f"{chosen.filename} cannot be fetched"):
            archive = self._ranged(chosen, package) if _large_wheel(chosen) else self._whole(chosen, package)
        if not archive.files:
            raise HarvestError(f"{chosen.filename} holds no Python files of the package {package}")
        return Fetched(archive, self._received - before)

    def _whole(self, file: DistributionPackage, package: str) -> Archive:
        response = self._session.get(file.url, timeout=_TIMEOUT_S, headers={"Accept-Encoding": "identity"})
        response.raise_for_status()
        _verify(file, response.content)
        if file.package_type == "wheel":
            return from_zip(zipfile.ZipFile(io.BytesIO(response.content)), package, file.filename)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file.filename
            path.write_bytes(response.content)
            return open_archive(path, package)

    def _ranged(self, file: DistributionPackage, package: str) -> Archive:
        from remotezip import RangeNotSupported, RemoteZip

        try:
            remote = RemoteZip(file.url, session=self._session, initial_buffer_size=_BLOCK)
        except RangeNotSupported:
            return self._whole(file, package)
        with remote:
            archive = from_zip(remote, package, file.filename)
            texts = {name: archive.text(name).encode() for name in archive.files}
        return Archive(texts, texts.__getitem__, file.filename)


def kept_at(cache: Path, package: str, release: str) -> Path:
    """Where the sources of a release are kept."""
    return cache / f"{package}-{release}.zip"


def is_kept(path: Path, listed: Mapping[str, str | None]) -> bool:
    """Whether whole sources lie there that were made from the very file that the index lists (`PackageIndex.listed`)."""
    return origin_of(path) == _origin(listed)


def keep(path: Path, archive: Archive, listed: Mapping[str, str | None]) -> None:
    """Keep sources that were fetched."""
    with writing(path, OTHER_CACHE):
        store(archive, path, _origin(listed))


def _origin(listed: Mapping[str, str | None]) -> dict[str, str | None]:
    return {"file": listed["file"], "sha256": listed.get("sha256")}


def _version(text: str | None) -> Version | None:
    try:
        return Version(text) if text else None
    except InvalidVersion:
        return None


def _first_day(files: Sequence[DistributionPackage]) -> str | None:
    times = [file.upload_time for file in files if file.upload_time is not None]
    return min(times).date().isoformat() if times else None


def _chosen(release: Published, prefer: Sequence[str]) -> DistributionPackage:
    """The file of a release that is read: the first kind in `prefer` that it has."""
    chosen = next((file for kind in prefer if (file := _of_kind(release.files, kind))), None)
    if chosen is None:
        raise HarvestError(f"{release.version} has neither a wheel nor an sdist on the index")
    return chosen


def _of_kind(files: Sequence[DistributionPackage], kind: str) -> DistributionPackage | None:
    """The file of a kind: of wheels the pure one, else that for x86-64 with the first name, always the same."""
    fitting = [file for file in files if file.package_type == kind]
    return min(fitting, key=_rank, default=None)


def _rank(file: DistributionPackage) -> tuple[bool, bool, str]:
    name = file.filename
    return not name.endswith("-any.whl"), "x86_64" not in name, name


def _large_wheel(file: DistributionPackage) -> bool:
    return file.package_type == "wheel" and (file.size is None or file.size >= WHOLE_BELOW)


def _verify(file: DistributionPackage, content: bytes) -> None:
    stated = file.digests.get("sha256")
    if stated and hashlib.sha256(content).hexdigest() != stated:
        raise HarvestError(f"{file.filename} is not the file that the index lists: its hash differs")


@contextmanager
def _as_harvest_error(what: str) -> Iterator[None]:
    """Network and archive errors as one kind of error that says what was asked for, and why it failed."""
    import requests
    from pypi_simple import NoSuchProjectError, UnsupportedContentTypeError, UnsupportedRepoVersionError
    from remotezip import RemoteZipError

    answers = (NoSuchProjectError, UnsupportedContentTypeError, UnsupportedRepoVersionError)
    try:
        yield
    except (requests.RequestException, *answers, RemoteZipError, zipfile.BadZipFile, OSError) as error:
        raise HarvestError(f"{what}: {_reason(error)}", hint=_OTHER_SOURCES) from error


def _reason(error: BaseException) -> str:
    """Why something could not be fetched, in a few words of our own where the library's are of its inside."""
    import requests
    from remotezip import RemoteIOError

    if isinstance(error, RemoteIOError) and error.__context__ is not None:
        return _reason(error.__context__)
    match error:
        case requests.exceptions.SSLError():
            return f"the certificate of {_host(error)} is not accepted"
        case requests.exceptions.ProxyError():
            return f"the proxy to {_host(error)} cannot be reached"
        case requests.Timeout():
            return f"{_host(error)} does not answer within {_TIMEOUT_S} s"
        case requests.ConnectionError():
            return f"{_host(error)} cannot be reached"
        case requests.exceptions.ChunkedEncodingError():
            return f"{_host(error)} broke off its answer"
        case requests.HTTPError(response=requests.Response() as response):
            return f"{_host(error)} answers {response.status_code} {response.reason}".rstrip()
    return _first_line(error)


def _host(error: requests.RequestException) -> str:
    """The server that was asked, without the name and password that its address may carry."""
    address = error.request.url if error.request is not None else None
    return urlsplit(address or "").netloc.rpartition("@")[2] or "the index"


def _first_line(error: BaseException) -> str:
    """An error in one line, without the name and password that an index's URL may carry."""
    return without_credentials((str(error).splitlines() or [type(error).__name__])[0])
