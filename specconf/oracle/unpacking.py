"""A release's archive laid out: the package's Python files without compiled parts, and what the release states of itself."""

from __future__ import annotations

import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

from msgspec import Struct, field

from specconf.errors import OracleError

CHUNK = 1 << 20
# What the readers of archives raise where one is damaged, or a link in it leads nowhere. OSErrors without a number are bz2's.
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    LookupError,
    ValueError,
    RuntimeError,
    OverflowError,
    OSError,
)

_COMPILED = (".so", ".cubin", ".pyd", ".dylib", ".a")


class Stated(Struct, frozen=True):
    """What a release states: Requires-Dist and Requires-Python of its metadata, and texts that the recipe asked for."""

    requires: tuple[str, ...] = ()
    python: str | None = None
    texts: dict[str, str] = field(default_factory=dict)


def unpack(archive: Path, package: str, into: Path, texts: Sequence[str] = ()) -> Stated:
    """Lay a wheel's or an sdist's package into a folder. `texts`: files of an sdist, by their place in it."""
    with reading(archive):
        stated = _wheel(archive, package, into) if archive.suffix == ".whl" else _sdist(archive, package, into, texts)
    if not (into / package).is_dir():
        raise OracleError(f"{archive.name} holds no package {package}.", hint="Name the release's own sdist or wheel.")
    return stated


@contextmanager
def reading(archive: Path) -> Iterator[None]:
    """What a missing or a damaged archive makes its readers raise, as one kind of error. That a disk is full is another."""
    try:
        yield
    except FileNotFoundError as error:
        if archive.exists():
            raise  # something else is missing
        raise OracleError(f"{archive} does not exist.", hint="Name the release's own sdist or wheel.") from error
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the place that is written to
        said = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise OracleError(
            f"{archive.name} cannot be unpacked: {said or type(error).__name__}.",
            hint="Download it again: an sdist (.tar.gz) or a wheel.",
        ) from error


def _wheel(archive: Path, package: str, into: Path) -> Stated:
    stated = Stated()
    with zipfile.ZipFile(archive) as wheel:
        for name in wheel.namelist():
            if name.endswith(".dist-info/METADATA"):
                stated = _headers(wheel.read(name).decode(errors="replace"))
            elif name.startswith(f"{package}/") and not name.endswith(_COMPILED):
                wheel.extract(name, into)
    return stated


def _sdist(archive: Path, package: str, into: Path, texts: Sequence[str]) -> Stated:
    found: dict[str, str] = {}
    with tarfile.open(archive) as tar:
        members = []
        _check_end(tar)
        for member in tar.getmembers():
            inner = "/".join(PurePosixPath(member.name).parts[1:])
            if (inner in texts or inner == "PKG-INFO") and (handle := tar.extractfile(member)):
                found[inner] = handle.read().decode(errors="replace")
            elif inner.startswith(f"{package}/") and member.isfile():
                members.append(member.replace(name=inner, deep=False))
        tar.extractall(into, members=members, filter="data")
    stated = _headers(found.pop("PKG-INFO", ""))
    return Stated(stated.requires, stated.python, found)


def _check_end(tar: tarfile.TarFile) -> None:
    """ReadError where the list of members does not end as it must, or what a checksum at the end says is not so.

    tarfile itself takes a damaged header for the end of the archive, and does not read on to the checksum.
    """
    tar.getmembers()
    stream = tar.fileobj
    assert stream is not None
    stream.seek(tar.offset)
    if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError("its list of files breaks off")
    stream.seek(0)
    while stream.read(CHUNK):
        pass  # the checksum is compared where nothing is left to read


def _headers(text: str) -> Stated:
    headers = HeaderParser().parsestr(text)
    python = headers.get("Requires-Python")
    return Stated(tuple(map(str, headers.get_all("Requires-Dist") or ())), str(python) if python else None)
