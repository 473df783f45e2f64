"""Python interpreters: the one by which environments are made, those that a user names, and whether they will do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from msgspec import Struct
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from specconf.errors import OracleError

_SAY = "import json, sys; print(json.dumps([sys.version.split()[0], sys.version]))"
_LIMIT_S = 60


class Interpreter(Struct, frozen=True):
    """One interpreter. `version` is its number, `build` all that it says of itself."""

    path: Path
    version: str
    build: str

    @property
    def minor(self) -> str:
        """The part of the version that wheels and folders are named by."""
        return ".".join(self.version.split(".")[:2])


def this_interpreter() -> Interpreter:
    """The one that runs specconf."""
    return Interpreter(Path(sys.executable), sys.version.split()[0], sys.version)


def interpreter_at(path: Path) -> Interpreter:
    """The interpreter at a path that a user names. OracleError where there is none."""
    hint = "Name a Python interpreter, such as the bin/python of a virtual environment."
    if path.is_dir():
        inner = path / "bin" / "python"
        raise OracleError(f"{path} is a folder, not a Python.", hint=f"Name {inner}." if inner.exists() else hint)
    if not path.exists():
        raise OracleError(f"{path} does not exist.", hint=hint)
    if not os.access(path, os.X_OK):
        raise OracleError(f"{path} is not executable.", hint=hint)
    try:
        done = subprocess.run(  # noqa: S603 (the program that the user names as a Python)
            [str(path), "-I", "-c", _SAY],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
        version, build = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise OracleError(f"{path} does not answer within {_LIMIT_S} s as a Python does.", hint=hint) from None
    except (OSError, ValueError, TypeError):
        raise OracleError(f"{path} is not a Python: it does not run Python code.", hint=hint) from None
    return Interpreter(path, str(version), str(build))


def check_requires(python: Interpreter, stated: str | None, what: str) -> None:
    """OracleError when what a release states as Requires-Python leaves an interpreter out."""
    try:
        allowed = SpecifierSet(stated or "")
    except InvalidSpecifier:
        return  # a statement that pip cannot read either: the release's own code will say
    if not allowed.contains(python.version, prereleases=True):
        raise wrong_python(python, f"{what} requires Python {allowed}")


def wrong_python(python: Interpreter, why: str) -> OracleError:
    """The error for an interpreter that will not do."""
    return OracleError(
        f"{why}; this is Python {python.version} ({python.path}).",
        hint="Install specconf in a virtual environment of such a Python and run it from there.",
    )
