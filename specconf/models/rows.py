"""Rows of `compat/checkpoints`: what published sources show of a checkpoint, and which. Pure: text in, rows out.

A row shows the keys in `config` and no others, unless `complete` says that its source is a whole config.json; then only
the paths in `elided` were left out. `aliases` are further ids of the same repository, `drafts_for` the
targets that a source launches a draft with, `drafts_by` how. Every source has an evidence
kind; `keys` names the config keys that it alone supports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from specconf.compat.rowlists import Rows
from specconf.errors import DatabaseError
from specconf.models.kinds import Kind
from specconf.patterns import pattern
from specconf.words import JsonValue

EVIDENCE = ("observed", "source", "docs", "report", "inferred")
HUB_ID = pattern(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)

_ROW_KEYS = frozenset(
    {
        "id",
        "aliases",
        "revision",
        "kind",
        "config",
        "complete",
        "elided",
        "remote_code",
        "gated",
        "drafts_for",
        "drafts_by",
        "source",
    }
)
_SOURCE_KEYS = frozenset({"kind", "ref", "package", "release", "file", "line", "keys", "note"})


class RowSource(Struct, frozen=True):
    """Where a row, or some of its keys, was read: a file of a published package, or a reference."""

    kind: str
    ref: str | None = None
    package: str | None = None
    release: str | None = None
    file: str | None = None
    line: int | None = None
    keys: tuple[str, ...] = ()
    note: str | None = None


class CheckpointRow(Struct, frozen=True):
    """One checkpoint as its sources show it."""

    id: str
    kind: Kind
    config: Mapping[str, JsonValue]
    source: tuple[RowSource, ...]
    aliases: tuple[str, ...] = ()
    revision: str | None = None
    complete: bool = False
    elided: tuple[str, ...] = ()
    remote_code: bool | None = None
    gated: bool | None = None
    drafts_for: tuple[str, ...] = ()
    drafts_by: str | None = None

    @property
    def evidence(self) -> str:
        """The strongest evidence among the sources of the whole row."""
        whole = [source.kind for source in self.source if not source.keys]
        return min(whole or [source.kind for source in self.source], key=EVIDENCE.index)

    @property
    def evidence_by_key(self) -> tuple[tuple[str, str], ...]:
        """Evidence of the keys, and of `remote_code` or `kind`, that have a source of their own."""
        best: dict[str, str] = {}
        for source in self.source:
            for key in source.keys:
                best[key] = min(best.get(key, source.kind), source.kind, key=EVIDENCE.index)
        return tuple(sorted(best.items()))


def load_checkpoint_rows(text: str, *, name: str = "checkpoints.yaml") -> list[CheckpointRow]:
    """Read one file of rows; `name` tells its format (`.jsonl` or YAML) and heads every complaint."""
    return checkpoint_rows(_items(text, name), name=name)


def checkpoint_rows(items: Iterable[object], *, name: str = "checkpoints") -> list[CheckpointRow]:
    """Rows from parsed data, for one file: no id may come twice."""
    rows = [checkpoint_row(item, f"{name}, row {number}") for number, item in enumerate(items, 1)]
    seen: set[str] = set()
    for row in rows:
        for known_as in (row.id, *row.aliases):
            if known_as in seen:
                raise DatabaseError(f"{name}: {known_as} has two rows")
            seen.add(known_as)
    return rows


def index_rows(*groups: Iterable[CheckpointRow]) -> dict[str, CheckpointRow]:
    """Rows by id and alias; a row of an earlier group hides one of a later group, so give people's rows first."""
    index: dict[str, CheckpointRow] = {}
    for group in groups:
        for row in group:
            for known_as in (row.id, *row.aliases):
                index.setdefault(known_as, row)
    return index


class RowTable(Mapping[str, CheckpointRow]):
    """Rows by id and alias, each read when it is first asked for; an earlier row hides a later one of the same id."""

    def __init__(self, items: Iterable[Mapping[str, Any]]) -> None:
        self._rows = Rows.of(items)
        self._at: dict[str, int] = {}
        for index, (own, aliases) in enumerate(zip(self._rows.column("id"), self._rows.column("aliases"), strict=True)):
            for known_as in (own, *(aliases or ())):
                self._at.setdefault(known_as, index)

    def __getitem__(self, known_as: str) -> CheckpointRow:
        return checkpoint_row(self._rows[self._at[known_as]], f"checkpoint row of {known_as}")

    def drafts(self) -> Iterator[CheckpointRow]:
        """The rows that name the targets they draft for; every row is looked at, which takes a moment."""
        for item in self._rows:
            if item.get("drafts_for"):
                row = checkpoint_row(item, f"checkpoint row of {item.get('id')}")
                if self._rows[self._at[row.id]] is item:
                    yield row

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)


def _items(text: str, name: str) -> list[object]:
    import yaml

    try:
        if name.endswith(".jsonl"):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        loaded = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  # safe loaders
    except (yaml.YAMLError, ValueError) as error:
        raise DatabaseError(f"{name} cannot be read: {error}") from error
    if loaded is None:
        return []
    if not isinstance(loaded, list):
        raise DatabaseError(f"{name} must hold a list of rows")
    return loaded


def checkpoint_row(item: object, where: str = "checkpoint row") -> CheckpointRow:
    """One row from parsed data, as the compiled index holds it; `where` heads a complaint."""
    if not isinstance(item, dict):
        raise DatabaseError(f"{where} is not a mapping")
    _only(item, _ROW_KEYS, where)
    row_id = item.get("id")
    if not isinstance(row_id, str) or not HUB_ID.fullmatch(row_id):
        raise DatabaseError(f"{where} needs an id of the form owner/name, not {row_id!r}")
    where = f"{where} ({row_id})"
    config = item.get("config", {})
    if not isinstance(config, dict) or not all(isinstance(key, str) for key in config):
        raise DatabaseError(f"{where}: config must be a mapping of config.json keys")
    sources = item.get("source")
    if not isinstance(sources, list) or not sources:
        raise DatabaseError(f"{where} needs at least one source")
    try:
        kind = Kind(item.get("kind", ""))
    except ValueError:
        raise DatabaseError(f"{where}: kind must be one of {', '.join(Kind)}, not {item.get('kind')!r}") from None
    return CheckpointRow(
        id=row_id,
        kind=kind,
        config=config,
        source=tuple(_source(source, where) for source in sources),
        aliases=_texts(item, "aliases", where),
        revision=_typed(item, "revision", str, where),
        complete=bool(_typed(item, "complete", bool, where)),
        elided=_texts(item, "elided", where),
        remote_code=_typed(item, "remote_code", bool, where),
        gated=_typed(item, "gated", bool, where),
        drafts_for=_texts(item, "drafts_for", where),
        drafts_by=_typed(item, "drafts_by", str, where),
    )


def _source(item: object, where: str) -> RowSource:
    if not isinstance(item, dict):
        raise DatabaseError(f"{where}: a source is a mapping")
    _only(item, _SOURCE_KEYS, f"{where}, source")
    if item.get("kind") not in EVIDENCE:
        raise DatabaseError(f"{where}: a source's kind is one of {', '.join(EVIDENCE)}, not {item.get('kind')!r}")
    if not any(isinstance(item.get(key), str) for key in ("ref", "file")):
        raise DatabaseError(f"{where}: a source names a ref or a file")
    return RowSource(
        kind=item["kind"],
        ref=_typed(item, "ref", str, where),
        package=_typed(item, "package", str, where),
        release=_typed(item, "release", str, where),
        file=_typed(item, "file", str, where),
        line=_typed(item, "line", int, where),
        keys=_texts(item, "keys", where),
        note=_typed(item, "note", str, where),
    )


def _only(item: Mapping[Any, object], allowed: frozenset[str], where: str) -> None:
    if strange := sorted(str(key) for key in item if key not in allowed):
        raise DatabaseError(f"{where} has unknown keys: {', '.join(strange)}")


def _typed(item: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    value = item.get(key)
    if value is not None and type(value) is not kind:
        raise DatabaseError(f"{where}: {key} must be {kind.__name__}, not {value!r}")
    return value


def _texts(item: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = item.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise DatabaseError(f"{where}: {key} must be a list of texts")
    return tuple(value)
