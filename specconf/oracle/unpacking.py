"""A release's archive laid out: the package's Python files without compiled parts, and what the release states of itself."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

from specconf.errors import OracleError

_COMPILED = (".so", ".cubin", ".pyd", ".dylib", ".a")


@dataclass(frozen=True, slots=True)
class Stated:
    """What a release states: Requires-Dist and Requires-Python of its metadata, and texts that the recipe asked for."""

    requires: tuple[str, ...] = ()
    python: str | None = None
    texts: dict[str, str] = field(default_factory=dict)


def unpack(archive: Path, package: str, into: Path, texts: Sequence[str] = ()) -> Stated:
    """Lay a wheel's or an sdist's package into a folder. `texts`: files of an sdist, by their place in it."""
    try:
        stated = _wheel(archive, package, into) if archive.suffix == ".whl" else _sdist(archive, package, into, texts)
    except FileNotFoundError:
        raise OracleError(f"{archive} does not exist.", hint="Name the release's own sdist or wheel.") from None
    except (zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise OracleError(
            f"{archive.name} cannot be unpacked: {error}.", hint="Download it again: an sdist (.tar.gz) or a wheel."
        ) from None
    if not (into / package).is_dir():
        raise OracleError(f"{archive.name} holds no package {package}.", hint="Name the release's own sdist or wheel.")
    return stated


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
        for member in tar.getmembers():
            inner = "/".join(PurePosixPath(member.name).parts[1:])
            if (inner in texts or inner == "PKG-INFO") and (handle := tar.extractfile(member)):
                found[inner] = handle.read().decode(errors="replace")
            elif inner.startswith(f"{package}/") and member.isfile():
                members.append(member.replace(name=inner, deep=False))
        tar.extractall(into, members=members, filter="data")
    stated = _headers(found.pop("PKG-INFO", ""))
    return Stated(stated.requires, stated.python, found)


def _headers(text: str) -> Stated:
    headers = HeaderParser().parsestr(text)
    python = headers.get("Requires-Python")
    return Stated(tuple(map(str, headers.get_all("Requires-Dist") or ())), str(python) if python else None)
