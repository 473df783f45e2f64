"""From what a launch or spec calls a model to its facts: a local directory, the hub's cache, a checkpoint row, the hub.

Everything outside (the cache's place, the rows, the hub, the mode) is passed in. Offline touches no network and imports
no hub library. A row that knows no vocabulary (an architecture only) is the last resort, asked after the hub.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, field

from specconf.errors import InputError
from specconf.models.derive import model_facts
from specconf.models.facts import ModelFacts, Source, SourceKind
from specconf.models.files import (
    MAX_CONFIG_BYTES,
    parse_config,
    read_config,
    read_quantization,
    read_tensor_names,
)
from specconf.models.hub import Cause, Unavailable, fetch_config
from specconf.models.rows import HUB_ID, CheckpointRow
from specconf.models.tokenizers import Tokens
from specconf.models.weights import TensorNames
from specconf.patterns import pattern

__all__ = ["Cause", "Mode", "Resolver", "Unavailable", "default_cache_dir", "effective_mode", "resolve_model"]

Fetch: TypeAlias = Callable[[str, "str | None"], "bytes | Unavailable"]

_LOOKS_LIKE_PATH = pattern(r"[/~]|\.{1,2}(/|$)|[A-Za-z]:[\\/]|.*\\")
_SAFE_REVISION = pattern(r"[\w.-]+(/[\w.-]+)*", re.ASCII)


class Mode(StrEnum):
    """Whether the network may be asked."""

    ONLINE = "online"
    OFFLINE = "offline"


def effective_mode(mode: Mode, env: Mapping[str, str]) -> Mode:
    """The mode asked for, or offline where the environment says so as the hub's own library reads it."""
    off = any(
        env.get(name, "").upper() in {"1", "ON", "YES", "TRUE"} for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )
    return Mode.OFFLINE if off else mode


def default_cache_dir(env: Mapping[str, str]) -> Path:
    """Where the hub's library keeps its cache under this environment."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if env.get(name):
            return Path(env[name]).expanduser()
    if env.get("HF_HOME"):
        return Path(env["HF_HOME"]).expanduser() / "hub"
    base = Path(env["XDG_CACHE_HOME"]) if env.get("XDG_CACHE_HOME") else Path("~/.cache")
    return base.expanduser() / "huggingface" / "hub"


def resolve_model(  # the surroundings are passed in; `Resolver` bundles them
    ref: str,
    *,
    revision: str | None = None,
    mode: Mode = Mode.OFFLINE,
    checkpoints: Mapping[str, CheckpointRow] | None = None,
    cache_dir: Path | None = None,
    fetch: Fetch | None = None,
    base_dir: Path | None = None,
) -> ModelFacts | Unavailable:
    """The facts of `ref`. Raises InputError for a local config.json that cannot be parsed."""
    base = base_dir or Path()
    if _LOOKS_LIKE_PATH.match(ref):
        return _from_path(base, ref)
    if _is_file(base / ref / "config.json"):
        return _from_directory(base / ref, Source(SourceKind.LOCAL, str(base / ref / "config.json")), None)
    if ":" in ref:
        return Unavailable(
            f"{ref} is neither a directory nor a plain hub id: specconf does not read it", Cause.NOT_HERE
        )
    if not HUB_ID.fullmatch(ref) or ".." in ref or "--" in ref:
        return Unavailable(
            f"{ref!r} is neither a directory here nor a hub id of the form owner/name", Cause.BAD_REFERENCE
        )
    if revision is not None and (not _SAFE_REVISION.fullmatch(revision) or ".." in revision):
        return Unavailable(f"{revision!r} is no revision", Cause.BAD_REFERENCE)
    row = _row_for(ref, revision, checkpoints or {})
    if cache_dir is not None and (cached := _from_cache(ref, revision, cache_dir, row)) is not None:
        return cached
    if row is not None and "vocab_size" in row.config:
        return _from_row(row)
    asked = _from_hub(ref, revision, fetch, row) if mode is Mode.ONLINE else None
    if isinstance(asked, ModelFacts):
        return asked
    if row is not None:
        return _from_row(row)
    offline = f"{ref} is neither in the hub cache nor in specconf's checkpoint table, and the hub was not asked"
    return asked or Unavailable(offline, Cause.NOT_HERE)


class Resolver(Struct):
    """`resolve_model` with its surroundings, asking for each model once and giving up on a hub that did not answer.

    `base_dir` may change from one launch to the next: what lies there is asked for anew.
    """

    mode: Mode = Mode.OFFLINE
    checkpoints: Mapping[str, CheckpointRow] = field(default_factory=dict)
    cache_dir: Path | None = None
    fetch: Fetch | None = None
    base_dir: Path | None = None
    _seen: dict[tuple[Path | None, str, str | None], ModelFacts | Unavailable] = field(default_factory=dict)

    def resolve(self, ref: str, revision: str | None = None) -> ModelFacts | Unavailable:
        """The facts of `ref`, the same object however often it is asked."""
        base = self.base_dir or Path()
        local = bool(_LOOKS_LIKE_PATH.match(ref)) or _is_file(base / ref / "config.json")
        key = (base if local else None, ref, revision)
        if key not in self._seen:
            found = resolve_model(
                ref,
                revision=revision,
                mode=self.mode,
                checkpoints=self.checkpoints,
                cache_dir=self.cache_dir,
                fetch=self.fetch,
                base_dir=self.base_dir,
            )
            if isinstance(found, Unavailable) and found.cause in {Cause.UNREACHABLE, Cause.NO_HUB_EXTRA}:
                self.fetch = lambda _ref, _revision: found
            self._seen[key] = found
        return self._seen[key]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have
        return False


def _is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _from_path(base: Path, written: str) -> ModelFacts | Unavailable:
    try:
        path = base / Path(written).expanduser()
    except RuntimeError:
        return Unavailable(f"{written} names a home directory that does not exist", Cause.PATH_MISSING)
    if _is_file(path):
        if path.suffix != ".json":
            return Unavailable(
                f"{written} is a file; specconf reads a directory with a config.json", Cause.PATH_WITHOUT_CONFIG
            )
        return _from_config_file(path, Source(SourceKind.LOCAL, str(path)), None)
    if not _is_directory(path):
        return Unavailable(f"{written} does not exist on this machine", Cause.PATH_MISSING)
    if not _is_file(path / "config.json"):
        return Unavailable(f"{written} holds no config.json", Cause.PATH_WITHOUT_CONFIG)
    return _from_directory(path, Source(SourceKind.LOCAL, str(path / "config.json")), None)


def _from_directory(directory: Path, source: Source, row: CheckpointRow | None) -> ModelFacts:
    return _from_config_file(directory / "config.json", source, row)


def _from_config_file(path: Path, source: Source, row: CheckpointRow | None) -> ModelFacts:
    """The facts of a config, and of the files beside it; tensor names and tokens are read when they are needed."""
    tensors = TensorNames(reader=partial(read_tensor_names, path.parent))
    return model_facts(
        read_config(path),
        source=source,
        row=row,
        tensors=tensors,
        quantization_file=read_quantization(path.parent),
        tokens=Tokens.beside(path.parent),
    )


def _from_cache(
    ref: str, revision: str | None, cache_dir: Path, row: CheckpointRow | None
) -> ModelFacts | Unavailable | None:
    repository = cache_dir / f"models--{ref.replace('/', '--')}"
    wanted = revision or "main"
    pointer = repository / "refs" / wanted
    try:
        commit = pointer.read_text(encoding="ascii", errors="replace").strip() if pointer.is_file() else wanted
        path = repository / "snapshots" / commit / "config.json"
        if not _SAFE_REVISION.fullmatch(commit) or ".." in commit or not path.is_file():
            return None
    except OSError:
        return None
    try:
        return _from_directory(path.parent, Source(SourceKind.HUB_CACHE, str(path), commit), row)
    except InputError as error:
        return Unavailable(f"the hub cache's copy is broken: {error}", Cause.UNREADABLE)


def _row_for(ref: str, revision: str | None, checkpoints: Mapping[str, CheckpointRow]) -> CheckpointRow | None:
    row = checkpoints.get(ref)
    if row is None or (revision and row.revision and revision != row.revision):
        return None
    return row


def _from_row(row: CheckpointRow) -> ModelFacts:
    source = Source(
        SourceKind.CHECKPOINT_ROW,
        row.id,
        revision=row.revision,
        evidence=row.evidence,
        evidence_by_key=row.evidence_by_key,
    )
    return model_facts(row.config, source=source, row=row, complete=row.complete, elided=frozenset(row.elided))


def _from_hub(
    ref: str, revision: str | None, fetch: Fetch | None, row: CheckpointRow | None
) -> ModelFacts | Unavailable:
    got = (fetch or fetch_config)(ref, revision)
    if isinstance(got, Unavailable):
        return got
    if len(got) > MAX_CONFIG_BYTES:
        return Unavailable(f"the config.json of {ref} is larger than {MAX_CONFIG_BYTES // 2**20} MiB", Cause.UNREADABLE)
    try:
        config = parse_config(got, f"{ref}/config.json")
    except InputError as error:
        return Unavailable(str(error), Cause.UNREADABLE)
    return model_facts(config, source=Source(SourceKind.HUB, ref, revision), row=row)
