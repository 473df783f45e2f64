"""Compiling the database's files into one index per engine: plain JSON, ranges as positions, ready to be loaded fast.

The wheel carries the compiled index; a checkout builds it once into the user cache, keyed by a hash of `compat/`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specconf.compat.releases import ReleaseLine, compile_ranges
from specconf.compat.sources import ENGINE_NAMES, SourceTree
from specconf.errors import DatabaseError
from specconf.findings import EvidenceKind

SCHEMA = 1
FAMILIES = "families.yaml"
_FAMILY_KEYS = {"value", "mtp_layers", "remote_code", "source"}
_CONFIDENCE = {"A": "source", "C": "source", "B": "docs", "D": "docs", "E": "report", "G": "report", "F": "inferred"}


def compile_engine(tree: SourceTree, engine: str, *, line: ReleaseLine | None = None) -> dict[str, Any]:
    """The index of one engine as plain data. `line` is given for an overlay, whose ranges use the base's releases."""
    releases = [(row["version"], row.get("date")) for row in tree.machine_rows(engine, "releases")]
    line = line or ReleaseLine(engine, releases)
    build = _Builder(engine, line)
    return {
        "schema": SCHEMA,
        "engine": engine,
        "releases": releases,
        "options": [build.option(row) for row in tree.machine_rows(engine, "options")],
        "scopes": build.scopes(tree.yaml(engine, "scopes.yaml")),
        "methods": [build.plain(row, "methods.yaml") for row in _list(tree.yaml(engine, "methods.yaml"), "methods")],
        "tables": build.tables(tree.yaml(engine, "tables.yaml")),
        "mapping": [build.plain(row, "mapping.yaml") for row in _list(tree.yaml(engine, "mapping.yaml"), "mapping")],
        "steps": [build.plain(row, "steps.yaml") for row in _list(tree.yaml(engine, "steps.yaml"), "steps")],
        "constraints": [
            build.constraint(row, groups, path.name)
            for path, data in tree.yaml_dir(engine, "constraints")
            for row, groups in _constraint_rows(data)
        ],
    }


def compile_checkpoints(tree: SourceTree) -> list[dict[str, Any]]:
    """The rows of `checkpoints/`, curated and machine-written, as plain data."""
    rows: list[dict[str, Any]] = []
    for path, data in tree.yaml_dir("checkpoints"):  # people's rows first: they hide a machine's row of the same id
        rows += [] if path.name == FAMILIES else _list(data, "checkpoints")
    for path in sorted((tree.root / "checkpoints").glob("*.jsonl")):
        rows += tree.rows("checkpoints", path.name)
    return rows


def compile_families(tree: SourceTree) -> dict[str, Any]:
    """What is true of every checkpoint of a family though its config does not say so, by model type or architecture."""
    layers: dict[str, int | None] = {}
    remote: set[str] = set()
    for row in _list(tree.yaml("checkpoints", FAMILIES), "families"):
        name, counted = row.get("value"), row.get("mtp_layers")
        if not isinstance(name, str) or name in layers or name in remote:
            raise DatabaseError(f"{FAMILIES}: a row needs a value of its own, not {name!r}")
        if strange := sorted(set(row) - _FAMILY_KEYS):
            raise DatabaseError(f"{FAMILIES}: {name} has unknown keys: {', '.join(strange)}")
        if not [evidence_pair(source) for source in row.get("source") or ()]:
            raise DatabaseError(f"{FAMILIES}: {name} has no source")
        if row.get("remote_code") is True:
            remote.add(name)
        if type(counted) is int or counted == "uncounted":
            layers[name] = None if counted == "uncounted" else counted
        if name not in layers and name not in remote:
            raise DatabaseError(
                f"{FAMILIES}: {name} says nothing: mtp_layers is a number or uncounted, remote_code true"
            )
    return {"mtp_layers": layers, "remote_code": sorted(remote)}


class _Builder:
    """Turns written rows into index rows against one release line."""

    def __init__(self, engine: str, line: ReleaseLine) -> None:
        self.engine = engine
        self.line = line

    def _ranges(self, row: Mapping[str, Any], what: str) -> list[list[list[int]]]:
        if not isinstance(row.get("releases"), list):
            raise DatabaseError(f"{self.engine} {what}: every row has a list of ranges under `releases`: {_brief(row)}")
        try:
            return compile_ranges(self.line, row["releases"]).packed()
        except DatabaseError as error:
            raise DatabaseError(f"{self.engine} {what}: {error} ({_brief(row)})") from error

    def _evidence(self, row: Mapping[str, Any], what: str) -> list[list[str]]:
        found = [evidence_pair(e) for e in row.get("evidence") or ()]
        if not found:
            raise DatabaseError(f"{self.engine} {what}: a row without evidence: {_brief(row)}")
        return found

    def _best(self, row: Mapping[str, Any], what: str) -> str:
        return min((kind for kind, _ in self._evidence(row, what)), key=lambda kind: EvidenceKind(kind).rank)

    def plain(self, row: Mapping[str, Any], what: str) -> dict[str, Any]:
        """A row with its ranges compiled and its evidence reduced to the surest kind."""
        kept = {k: v for k, v in row.items() if k not in {"releases", "evidence"}}
        return {**kept, "r": self._ranges(row, what), "e": self._best(row, what)}

    def option(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """An option row; see `specconf.compat.database` for the reverse."""
        return self.plain(row, "options")

    def scopes(self, data: Any) -> list[dict[str, Any]]:
        """Scope rows, flattened."""
        named = (data or {}).get("scopes", {})
        return [{**self.plain(row, "scopes.yaml"), "scope": name} for name, rows in named.items() for row in rows]

    def tables(self, data: Any) -> dict[str, Any]:
        """Named tables; a table is a list of rows or a mapping with `rows`, `closed` and `about`."""
        result: dict[str, Any] = {}
        for name, table in ((data or {}).get("tables") or {}).items():
            rows = table["rows"] if isinstance(table, dict) else table
            closed = bool(table.get("closed")) if isinstance(table, dict) else False
            result[name] = {"closed": closed, "rows": [self.plain(row, f"table {name}") for row in rows]}
        return result

    def constraint(self, row: Mapping[str, Any], groups: Mapping[str, Any], what: str) -> dict[str, Any]:
        """A constraint with all of its evidence kept for `explain`."""
        return {
            **{k: v for k, v in row.items() if k not in {"releases", "evidence"}},
            "r": self._ranges(row, what),
            "evidence": self._evidence(row, f"constraints/{what}"),
            **({"groups": groups} if groups else {}),
        }


def evidence_pair(evidence: Mapping[str, Any]) -> list[str]:
    """An evidence entry as (kind, what a reader sees)."""
    kind = str(evidence.get("kind") or _CONFIDENCE.get(str(evidence.get("confidence", "")), ""))
    if kind not in set(EvidenceKind):
        raise DatabaseError(f"evidence of the unknown kind {kind!r}: {dict(evidence)}")
    place = [str(evidence[key]) for key in ("release", "file", "symbol", "line", "ref", "probe") if evidence.get(key)]
    note = f" ({evidence['note']})" if evidence.get("note") else ""
    return [kind, " ".join(place) + note]


def _constraint_rows(data: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    groups = data.get("groups", {}) if isinstance(data, dict) else {}
    return [(row, groups) for row in _list(data, "constraints")]


def _list(data: Any, key: str) -> list[dict[str, Any]]:
    if data is None:
        return []
    rows = data.get(key) if isinstance(data, dict) else data
    return list(rows or [])


def _brief(row: Mapping[str, Any]) -> str:
    for key in ("id", "path", "field", "value", "scope"):
        if key in row:
            return f"{key}: {row[key]}"
    return json.dumps(dict(row))[:100]


def build_index(source: Path, target: Path) -> None:
    """Compile every engine and the checkpoints of `source` into `target`, one JSON file each, atomically."""
    tree = SourceTree(source)
    target.mkdir(parents=True, exist_ok=True)
    for engine in ENGINE_NAMES:
        _write_json(target / f"{engine}.json", compile_engine(tree, engine))
    _write_json(target / "families.json", compile_families(tree))
    _write_json(target / "checkpoints.json", compile_checkpoints(tree))  # last: where it lies, the index is whole


def _write_json(path: Path, data: Any) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(data, stream, separators=(",", ":"), sort_keys=True)
    Path(name).chmod(0o644)
    Path(name).replace(path)
