"""The Python files of one release: read out of a wheel, an sdist, a checkout, or the cache, without unpacking anything.

Every form is one `Archive`: a mapping from a file's path inside the package's parent folder (`vllm/config.py`) to its
text, so that a reader of sources does not know where they came from. Nothing in an archive is ever run.
"""

from __future__ import annotations

import ast
import os
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from specconf.errors import HarvestError

# A member larger than this is no source file of an engine (the largest seen has 1.1 MB).
MAX_MEMBER = 16 * 1024 * 1024


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
    if not path.exists():
        raise HarvestError(f"{path} does not exist")
    if path.is_file() and path.suffix == ".py":
        return _from_file(path, package, lone or {})
    try:
        archive = _opened(path, package)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise HarvestError(f"{path} cannot be read: {error}") from error
    if not archive.files:
        raise HarvestError(f"{path} holds no Python files of the package {package}")
    return archive


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
    if path.name.endswith((".tar.gz", ".tgz")):
        return _from_tar(path, package)
    return from_zip(zipfile.ZipFile(path), package, path.name)


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


def store(archive: Archive, target: Path) -> None:
    """Keep an archive as one zip file, atomically: an interrupted write is never taken for a release."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".partial-")
    try:
        with os.fdopen(descriptor, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as output:
            for file in archive.files:
                output.writestr(zipfile.ZipInfo(file), archive.text(file), zipfile.ZIP_DEFLATED)
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
