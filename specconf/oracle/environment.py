"""What an environment is in which one engine release's own code runs without a GPU, and where environments are kept.

An environment is a virtual environment that sees the Python files of the release's own archive first, and behind them
those of a *base*: one CPU torch and the light requirements that the release itself states. They lie under
SPECCONF_ENGINE_CACHE, else under the user's cache: `<engine>-<release>`, `base-<key>`, `tools` (pip, and uv where the machine
has none), `uv-cache`, and `kept` (what engines keep between runs). Releases that state the same requirements, as they were
on the same day, share a base, and all bases share files with uv's cache by hard links: torch is there once.

Nothing is built here (`specconf.oracle.building`), except by `python -m specconf.oracle.environment ENGINE RELEASE`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import platformdirs
from msgspec import Struct

from specconf.errors import SpecconfError

# Written last: a folder without it is no environment.
MARKER = "specconf-engine.json"
DEFAULT_TORCH = "torch==2.13.0"


class Environment(Struct, frozen=True):
    """An environment that is there.

    `archive` and `sha256` are of the file that the release's code came from. `until` is the day up to which requirements
    were taken: None where they are not those of the release's time. `installer` is what installed them ("" where an
    older builder did not note it).
    """

    engine: str
    release: str
    folder: Path
    base: Path
    archive: str
    sha256: str
    torch: str
    requirements: tuple[str, ...]
    until: str | None
    installer: str

    @property
    def python(self) -> Path:
        """Its python."""
        return python_of(self.folder)

    @property
    def kept(self) -> Path:
        """The folder in which the engine may keep things between runs; it need not exist."""
        return self.folder.parent / "kept" / self.folder.name


def cache_root() -> Path:
    """Where environments are kept."""
    stated = os.environ.get("SPECCONF_ENGINE_CACHE")
    return Path(stated) if stated else Path(platformdirs.user_cache_dir("specconf")) / "engines"


def environment_dir(engine: str, release: str, root: Path | None = None) -> Path:
    """The folder of one engine release's environment, built or not."""
    return (root or cache_root()) / f"{engine}-{release}"


def python_of(venv: Path) -> Path:
    """The python of a virtual environment."""
    return venv / "bin" / "python"


def marker_of(folder: Path) -> dict[str, Any] | None:
    """What is noted of an environment or a base; None where it is not there, not finished, or its Python is gone."""
    try:
        noted = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return noted if isinstance(noted, dict) and python_of(folder).exists() else None


def find(engine: str, release: str, root: Path | None = None) -> Environment | None:
    """The environment of a release if it is built. It never builds."""
    folder = environment_dir(engine, release, root).absolute()
    noted = marker_of(folder)
    if noted is None:
        return None
    base = folder.parent / noted["base"]
    below = marker_of(base)
    if below is None:
        return None
    return Environment(
        engine=noted["engine"],
        release=noted["release"],
        folder=folder,
        base=base,
        archive=noted["archive"],
        sha256=noted["sha256"],
        torch=noted["torch"],
        requirements=tuple(noted["requirements"]),
        until=below.get("until"),
        installer=below.get("installer", ""),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Command line: build one environment unless it is there, and print its python."""
    from specconf.oracle.building import build

    parser = argparse.ArgumentParser(
        prog="python -m specconf.oracle.environment",
        description="Build the environment in which an engine release's own code runs without a GPU.",
    )
    parser.add_argument("engine")
    parser.add_argument("release")
    parser.add_argument("--torch", help=f"torch requirement (default: {DEFAULT_TORCH})")
    parser.add_argument("--archive", type=Path, help="the release's sdist or wheel, where it was downloaded before")
    options = parser.parse_args(argv)
    try:
        built = build(
            options.engine,
            options.release,
            torch=options.torch,
            archive=options.archive,
            progress=lambda line: print(line, file=sys.stderr),
        )
    except SpecconfError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(built.python)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
