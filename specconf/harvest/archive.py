"""The Python files of one release: read out of a wheel, an sdist, a checkout, or the cache, without unpacking anything.

Every form is one `Archive`: a mapping from a file's path inside the package's parent folder (`vllm/config.py`) to its
text, so that a reader of sources does not know where they came from. Nothing in an archive is ever run.
"""

from __future__ import annotations

import ast
import errno
import json
import os
import re
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from specconf.errors import HarvestError

# A member larger than this is no source file of an engine (the largest seen has 1.1 MB).
MAX_MEMBER = 16 * 1024 * 1024

# What the libraries raise for a damaged or encrypted archive, and the system for a path that cannot be read.
_UNREADABLE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, RuntimeError)
_METADATA = re.compile(r"^(?:[^/]+\.dist-info/METADATA|[^/]+/PKG-INFO)$")
_HEADER = re.compile(r"^(Name|Version):[ \t]*(\S+)", re.MULTILINE)


class Archive:
    """The Python files of one release below its package, sorted by path."""

    def __init__(self, files: Iterable[str], read: Callable[[str], bytes], origin: str) -> None:
        self._read = read
        self.files: tuple[str, ...] = tuple(sorted(files))
        self._known = frozenset(self.files)
        self.origin = origin

    def __contains__(self, file: object) -> bool:
        return file in self._known

    def text(self, file: str) -> str:
        """The text of one file; raises KeyError for a file that is not there."""
        if file not in self._known:
            raise KeyError(file)
        try:
            return self._read(file).decode("utf-8-sig")  # some files begin with a byte-order mark
        except UnicodeDecodeError as error:
            raise HarvestError(f"{self.origin}: {file} is not UTF-8 text (byte {error.start})") from None
        except _UNREADABLE as error:
            raise HarvestError(f"{self.origin}: {file} cannot be read: {error}") from error

    def parsed(self, file: str) -> ast.Module:
        """The syntax of one file. Raises HarvestError for a file that this Python cannot parse."""
        return parsed(self.text(file), f"{self.origin}: {file}")

    def below(self, folder: str) -> list[str]:
        """The files below a folder (`sglang/srt`), sorted."""
        return [file for file in self.files if file.startswith(f"{folder}/")]


def parsed(text: str, where: str) -> ast.Module:
    """The syntax of a text; `where` names it in the HarvestError for one that this Python cannot parse."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:  # ValueError: a null byte
        place = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        running = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise HarvestError(
            f"{where}{place} cannot be parsed: {getattr(error, 'msg', error)}",
            hint=f"It may be written for a newer Python than {running}, which reads it here.",
        ) from None


def wanted(name: str, package: str) -> bool:
    """Whether a member is a Python file of the package. A name that would leave its folder never is."""
    path = PurePosixPath(name)
    return path.suffix == ".py" and path.parts[0] == package and ".." not in path.parts


def from_texts(files: Mapping[str, str], origin: str = "memory") -> Archive:
    """An archive of texts that are at hand: what tests write down."""
    return Archive(files, lambda name: files[name].encode(), origin)


def open_archive(path: Path, package: str, lone: Mapping[str, str] | None = None) -> Archive:
    """The archive at a path: a wheel or other zip file, an sdist (`.tar.gz`), a checkout's folder, or a lone file.

    `lone` has the names of the files that can be read without the others, with their places in the package.
    Raises HarvestError when the path holds no such package.
    """
    with reading(path):
        if path.is_file() and path.suffix == ".py":
            return _from_file(path, package, lone or {})
        archive = _opened(path, package)
    if not archive.files:
        raise HarvestError(f"{path} holds no Python files of the package {package}")
    return archive


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Faults of the file system and of an archive as one kind of error that names the path."""
    try:
        if not path.exists():
            raise HarvestError(f"{path} does not exist")
        yield
    except _UNREADABLE as error:
        raise HarvestError(f"{path} cannot be read: {error}") from error


def _from_file(path: Path, package: str, lone: Mapping[str, str]) -> Archive:
    """One file of the package, as an archive that holds nothing else."""
    if path.name not in lone:
        names = f"one named {' or '.join(sorted(lone))}" if lone else "none"
        raise HarvestError(
            f"{path}: of the single files of {package}, {names} can be read; give a wheel, an sdist or a checkout"
        )
    return Archive([lone[path.name]], lambda _: path.read_bytes(), str(path))


def _opened(path: Path, package: str) -> Archive:
    if path.is_dir():
        return _from_folder(path, package)
    if is_sdist(path):
        return _from_tar(path, package)
    return from_zip(zipfile.ZipFile(path), package, path.name)


def is_sdist(path: Path) -> bool:
    """Whether a path has the name of an sdist."""
    return path.name.endswith((".tar.gz", ".tgz"))


def from_zip(source: zipfile.ZipFile, package: str, origin: str) -> Archive:
    """The package's files in a zip file (a wheel), which may lie on an index and be read there by ranges."""
    members = {m.filename: m for m in source.infolist() if wanted(m.filename, package) and m.file_size <= MAX_MEMBER}
    return Archive(members, lambda name: source.read(members[name]), origin)


def _from_folder(root: Path, package: str) -> Archive:
    """A checkout: the package lies in the folder itself, or in `python/` as SGLang keeps it."""
    base = next((folder for folder in (root, root / "python") if (folder / package).is_dir()), None)
    if base is None:
        raise HarvestError(f"{root} holds no folder {package}")
    found = {path.relative_to(base).as_posix(): path for path in (base / package).rglob("*.py") if path.is_file()}
    return Archive(found, lambda name: found[name].read_bytes(), str(root))


def _from_tar(path: Path, package: str) -> Archive:
    """An sdist: `NAME-VERSION/`, then perhaps `python/`, then the package. Tar files have no index: all is read once."""
    found: dict[str, bytes] = {}
    with tarfile.open(path) as source:
        for member in source:
            name = _inside(member.name, package)
            if name and member.isfile() and member.size <= MAX_MEMBER and (stream := source.extractfile(member)):
                found[name] = stream.read()
    return Archive(found, found.__getitem__, path.name)


def _inside(name: str, package: str) -> str:
    """A member's path from the package on; empty when it is none of its Python files."""
    parts = PurePosixPath(name).parts[1:]
    if parts[:1] == ("python",):
        parts = parts[1:]
    inner = "/".join(parts)
    return inner if parts and wanted(inner, package) else ""


def metadata_release(path: Path, package: str) -> tuple[str, Version] | None:
    """The release that the package's own metadata at a path states, with the name of that metadata.

    That is METADATA in a wheel, and PKG-INFO at the top of an sdist, as a file or unpacked. A checkout has neither.
    """
    with reading(path):
        for name, content in _metadata(path):
            found = dict(reversed(_HEADER.findall(content.decode("utf-8", "replace"))))  # of two, the first counts
            if canonicalize_name(found.get("Name", "")) == canonicalize_name(package) and "Version" in found:
                with suppress(InvalidVersion):
                    return name, Version(found["Version"])
    return None


def _metadata(path: Path) -> Iterator[tuple[str, bytes]]:
    """The metadata at a path, each by its file's name. That of an sdist is near its start: no more of it is read."""
    if path.is_dir():
        for file in (path / "PKG-INFO", *sorted(path.glob("*.dist-info/METADATA"))):
            if file.is_file():
                yield file.name, file.read_bytes()
    elif is_sdist(path):
        with tarfile.open(path) as source:
            for member in source:
                if _METADATA.match(member.name) and member.isfile() and (stream := source.extractfile(member)):
                    yield PurePosixPath(member.name).name, stream.read(MAX_MEMBER)
                    return
    elif path.suffix != ".py":
        with zipfile.ZipFile(path) as source:
            for name in filter(_METADATA.match, source.namelist()):
                yield PurePosixPath(name).name, source.read(name)


@contextmanager
def writing(path: Path, hint: str) -> Iterator[None]:
    """A full disk, a missing permission, a file where a folder must be: as one kind of error that names the path."""
    try:
        yield
    except OSError as error:
        at_fault = f" ({error.filename})" if error.filename and str(error.filename) != str(path) else ""
        raise HarvestError(f"{path} cannot be written: {error.strerror or error}{at_fault}", hint=hint) from error


def check_writable(folder: Path, hint: str) -> None:
    """Refuse a folder that could not be made or written into, before time is spent on what goes there."""
    with writing(folder, hint):
        place = next(place for place in (folder, *folder.parents) if place.exists())
        if not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
        if not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


def store(archive: Archive, target: Path, origin: Mapping[str, str | None]) -> None:
    """Keep an archive as one zip file, atomically: an interrupted write is never taken for a release.

    The zip file's comment says what it was made from.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".partial-")
    try:
        with os.fdopen(descriptor, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as output:
            output.comment = json.dumps(origin, sort_keys=True).encode()
            for file in archive.files:
                output.writestr(zipfile.ZipInfo(file), archive.text(file), zipfile.ZIP_DEFLATED)
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def origin_of(stored: Path) -> Mapping[str, str | None] | None:
    """What a stored archive was made from; None where there is none, where it is damaged, or where it does not say."""
    try:
        with zipfile.ZipFile(stored) as source:
            origin = json.loads(source.comment)
            return origin if isinstance(origin, dict) and source.testzip() is None else None
    except (*_UNREADABLE, ValueError):
        return None
