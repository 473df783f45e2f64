"""The project's own settings: `specconf.toml`, or `[tool.specconf]` in pyproject.toml, in this directory or above it.

db = ["compat-overlay"]            # as --db, relative to the file
release = {vllm = "0.33.0"}        # the lowest of all: the command line and the spec come first
fail-on = "warning"                # as --fail-on
select = ["SC2", "SC3"]            # as --select
ignore = ["SC206"]                 # as --ignore
baseline = "specconf-baseline.json"            # as --baseline, relative to the file
exclude = ["vendor", "charts/**/old-*.yaml"]   # files that lint leaves out, relative to the file
per-file-ignores = {"examples/*" = ["SC701"]}  # codes, prefixes or constraints that lint does not tell of such files
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from specconf.errors import InputError
from specconf.findings import Severity

_LISTS = ("db", "select", "ignore", "exclude")
_KEYS = (*_LISTS, "release", "fail-on", "baseline", "per-file-ignores")


class Project(Struct, frozen=True):
    """Settings of the project; empty when no file holds any."""

    path: str = ""
    db: tuple[Path, ...] = ()
    releases: Mapping[str, str] = field(default_factory=dict)
    fail_on: str = "error"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    baseline: Path | None = None
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def folder(self) -> Path:
        """Where its file lies: what paths in it are relative to."""
        return Path(self.path).parent


def find_project(start: Path) -> Project:
    """The settings in force for a directory; the nearest file wins. InputError for a file that cannot be read."""
    for folder in (start.resolve(), *start.resolve().parents):
        own, shared = folder / "specconf.toml", folder / "pyproject.toml"
        if own.is_file():
            return _project(own, _load(own))
        if shared.is_file():
            table = _load(shared).get("tool", {}).get("specconf")
            if isinstance(table, dict):
                return _project(shared, table)
    return Project()


def _load(path: Path) -> dict[str, Any]:
    import tomllib  # only where there is a file

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{path}: {error}.") from None


def _project(path: Path, table: Mapping[str, Any]) -> Project:
    for key in table:
        if key not in _KEYS:
            raise InputError(f"{path}: there is no setting {key!r}.", hint=f"Settings: {', '.join(_KEYS)}.")
    lists = {key: _texts(path, key, table.get(key, [])) for key in _LISTS}
    releases = table.get("release", {})
    if not isinstance(releases, dict) or not all(isinstance(v, str) for v in releases.values()):
        raise InputError(f'{path}: `release` is a table of engine and release, such as {{vllm = "0.33.0"}}.')
    fail_on = table.get("fail-on", "error")
    if fail_on not in set(Severity):
        raise InputError(f"{path}: `fail-on` is one of {', '.join(Severity)}.")
    baseline = table.get("baseline")
    if baseline is not None and not isinstance(baseline, str):
        raise InputError(f"{path}: `baseline` is the name of a file.")
    per_file = table.get("per-file-ignores", {})
    if not isinstance(per_file, dict):
        raise InputError(f'{path}: `per-file-ignores` is a table of pattern and codes, such as {{"old/*" = ["SC7"]}}.')
    return Project(
        path=str(path),
        db=tuple(path.parent / name for name in lists["db"]),
        releases=_by_engine(releases),
        fail_on=str(fail_on),
        select=lists["select"],
        ignore=lists["ignore"],
        baseline=None if baseline is None else path.parent / baseline,
        exclude=lists["exclude"],
        per_file_ignores=tuple(
            (glob, _texts(path, f"per-file-ignores.{glob}", codes)) for glob, codes in per_file.items()
        ),
    )


def _texts(path: Path, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{path}: `{key}` is a list of texts.")
    return tuple(value)


def _by_engine(releases: Mapping[str, str]) -> dict[str, str]:
    if not releases:
        return {}
    from specconf.compat.names import engine_name  # only where a release is set

    return {engine_name(engine): release for engine, release in releases.items()}
