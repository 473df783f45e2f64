"""Runs the programs of a build one after the other; one that fails is told as what it means and what to do about it.

Only known words of pip's, uv's and the system's messages are recognised; any other failure shows the end of its output.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, field

from specconf.errors import OracleError
from specconf.secrets import without_credentials

ANOTHER_PLACE = "Free some, or name a folder on a larger disk in SPECCONF_ENGINE_CACHE."
REACH_INDEX = (
    "Check the connection and proxy, or name an index that can be reached (PIP_INDEX_URL, UV_DEFAULT_INDEX); "
    "what is already downloaded can be given (--archive FILE, PIP_FIND_LINKS)."
)

# Variables that hold addresses of package indexes, which may carry passwords or be secret themselves.
INDEX_VARIABLES = (
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"),
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
)
# What would lead a step away from the environment that it is about.
_NOT_PASSED_ON = frozenset(
    {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"}
)
_SHOWN = 12
# Of the lines about a connection, the last one of these says most.
_WHY = re.compile(
    r"os error|connection broken|Could not fetch|Max retries|error sending|Failed to|[Cc]ertificate|HTTP|dns"
)


class Done(Struct, frozen=True):
    """How a program ended, and all that it wrote."""

    code: int
    output: str


Runner = Callable[[Sequence[str], Mapping[str, str]], Done]
Progress = Callable[[str], None]


class Cause(Enum):
    """What a failed step failed of, as far as its output tells."""

    DISK_FULL = re.compile(r"No space left on device|\bos error 28\b|\bErrno 28\b|Disk quota exceeded")
    NO_MATCH = re.compile(
        r"No matching distribution found|has no wheels|no version of|No solution found|was not found in"
    )
    UNREACHABLE = re.compile(
        r"Could not fetch URL(?!.*\b404\b)|Max retries exceeded|error sending request|Failed to fetch|dns error"
        r"|CERTIFICATE_VERIFY_FAILED|invalid peer certificate|HTTP error \d|\b(?!404)\d{3} (Client|Server) Error"
    )
    DISTURBED = re.compile(r"Retrying \(.*connection broken")
    NO_PIP = re.compile(r"ensurepip is not available|No module named ensurepip")
    OTHER = None


class StepError(OracleError):
    """A step failed. `output` is all that it wrote."""

    def __init__(self, message: str, hint: str, cause: Cause, output: str) -> None:
        super().__init__(message, hint=hint)
        self.cause = cause
        self.output = output


def run_program(words: Sequence[str], env: Mapping[str, str]) -> Done:
    """Run a program to its end; it can ask nobody, and holds the locks of its build (no other file is inheritable)."""
    done = subprocess.run(  # noqa: S603 (programs of a build's own choice)
        list(words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        close_fds=False,
        env=dict(env),
    )
    return Done(done.returncode, done.stdout)


def _silent(_: str) -> None:
    pass


class Steps(Struct, frozen=True):
    """The steps of one build. `progress` is told what begins; `environ` is the user's environment."""

    progress: Progress = _silent
    runner: Runner = run_program
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def run(self, what: str, command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> str:
        """Run a step and return what it wrote. StepError says what it failed of; `what` names it there."""
        kept = {name: value for name, value in self.environ.items() if name not in _NOT_PASSED_ON}
        words = [str(part) for part in command]
        try:
            done = self.runner(words, kept | dict(env or {}))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            message = f"{what} failed: {words[0]} cannot be started: {reason}."
            raise StepError(message, f"Check that {words[0]} can be run.", Cause.OTHER, "") from None
        if done.code:
            raise self._failed(what, done)
        return done.output

    def _failed(self, what: str, done: Done) -> StepError:
        output = without_addresses(done.output, self.environ)
        lines = [line for line in output.splitlines() if line.strip()]
        cause = cause_of(output)
        match cause:
            case Cause.DISK_FULL:
                message, hint = f"{what} failed: no space is left on the disk.", ANOTHER_PLACE
            case Cause.UNREACHABLE:
                why = next((line.strip() for line in reversed(lines) if _WHY.search(line)), "")
                message, hint = f"{what} failed: the package index cannot be reached ({why[:300]}).", REACH_INDEX
            case Cause.NO_PIP:
                message = f"{what} failed: this Python comes without pip (ensurepip)."
                hint = (
                    "Install it (on Debian and Ubuntu the package python3-venv), or run specconf with another Python."
                )
            case _:
                message = f"{what} failed with exit status {done.code}."
                hint = "\n  ".join(["Its output ends with:", *(line[:400] for line in lines[-_SHOWN:])])
        return StepError(message, hint, cause, output)


def cause_of(output: str) -> Cause:
    """What a failed program failed of. A connection that was disturbed counts where nothing came through it after all."""
    for cause in (Cause.DISK_FULL, Cause.UNREACHABLE, Cause.NO_MATCH, Cause.NO_PIP):
        if _matches(cause, output):
            nothing = _matches(Cause.DISTURBED, output) and "(from versions: none)" in output
            return Cause.UNREACHABLE if nothing else cause
    return Cause.OTHER


def _matches(cause: Cause, text: str) -> bool:
    return cause.value is not None and cause.value.search(text) is not None


def without_addresses(text: str, environ: Mapping[str, str]) -> str:
    """A text in which the addresses of the user's own indexes are cut to their hosts, and no address carries a password."""
    stated = [part for name in INDEX_VARIABLES for part in re.split(r"[\s,]+", environ.get(name, ""))]
    addresses = {part[part.find("://") - len(_scheme(part)) :] for part in stated if "://" in part}
    for address in sorted(addresses, key=len, reverse=True):
        split = urlsplit(address)
        if split.netloc:  # file:/// names a folder, which is no secret
            host = split.netloc.rpartition("@")[2]
            for form in (address.rstrip("/"), f"{split.scheme}://{host}{split.path}".rstrip("/")):
                if urlsplit(form).path:
                    text = text.replace(form, f"{split.scheme}://{host}/***")
    return without_credentials(text)


def _scheme(address: str) -> str:
    """The scheme of an address, without the name that uv lets stand before it (`name=https://…`)."""
    return address.partition("://")[0].rpartition("=")[2]
