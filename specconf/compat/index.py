"""Compiling the database's files into one index per engine: plain JSON, ranges as positions, ready to be loaded fast.

What only some questions need (the harvested tables, each by itself, and the engine's messages) is a part of its own.

The wheel carries the compiled index; a checkout builds it once into the user cache, keyed by a hash of `compat/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specconf.compat.common import common_constraints
from specconf.compat.names import ENGINE_NAMES
from specconf.compat.releases import ReleaseLine, compile_ranges
from specconf.compat.rowlists import COLUMNS, columns_of
from specconf.compat.sources import SourceTree
from specconf.compat.store import SCHEMA, part_name
from specconf.errors import DatabaseError, UnknownReleaseError
from specconf.findings import EvidenceKind
from specconf.whole import written_whole

EXAMPLES = ("probe", "twin", "also")
FAMILIES = "families.yaml"
_FAMILY_KEYS = {"value", "mtp_layers", "remote_code", "source"}
_CONFIDENCE = {"A": "source", "C": "source", "B": "docs", "D": "docs", "E": "report", "G": "report", "F": "inferred"}


def compile_engine(tree: SourceTree, engine: str, *, line: ReleaseLine | None = None) -> dict[str, Any]:
    """The index of one engine as plain data.

    `line` is given for an overlay: people's ranges there use the base's releases. Machine-written rows speak of the releases
    that the overlay lists itself, and of no others.

    Raises DatabaseError for a file or a row that no index can be made of.
    """
    try:
        return _compiled(tree, engine, line)
    except (KeyError, TypeError, AttributeError, ValueError, UnknownReleaseError) as error:
        raise DatabaseError(
            f"{engine}: a row cannot be read ({type(error).__name__}: {error})",
            hint="`specconf db lint` names the file and the row.",
        ) from error


def _compiled(tree: SourceTree, engine: str, line: ReleaseLine | None) -> dict[str, Any]:
    releases = [(row["version"], row.get("date")) for row in tree.machine_rows(engine, "releases")]
    own = ReleaseLine(engine, releases) if releases or line is None else line
    line = line or own
    build = _Builder(engine, line, own)
    return {
        "schema": SCHEMA,
        "engine": engine,
        "releases": releases,
        "options": [build.option(row) for row in tree.machine_rows(engine, "options")],
        "scopes": build.scopes(tree.yaml(engine, "scopes.yaml")),
        "methods": [build.plain(row, "methods.yaml") for row in _list(tree.yaml(engine, "methods.yaml"), "methods")],
        "tables": build.tables(tree.yaml(engine, "tables.yaml"), tree.machine_rows(engine, "tables")),
        "mapping": [build.plain(row, "mapping.yaml") for row in _list(tree.yaml(engine, "mapping.yaml"), "mapping")],
        "steps": [build.plain(row, "steps.yaml") for row in _list(tree.yaml(engine, "steps.yaml"), "steps")],
        "images": [
            {key: value for key, value in row.items() if key != "evidence"}
            for row in _list(tree.yaml(engine, "images.yaml"), "images")
        ],
        "constraints": [
            *(
                build.constraint(row, groups, path.name)
                for path, data in tree.yaml_dir(engine, "constraints")
                for row, groups in _constraint_rows(data)
            ),
            *(build.constraint(row, {}, path.name) for path, rows in common_constraints(tree, engine) for row in rows),
        ],
        "messages": [build.machine(row, "messages") for row in tree.machine_rows(engine, "messages")],
        "places": build.places,
        "confirmed": _confirmed(tree.observed(engine)),
    }


def _confirmed(observed: Mapping[str, Any]) -> dict[str, list[str]]:
    """The releases whose own answers confirm a constraint, by its id, in the order in which they came out."""
    found: dict[str, list[str]] = {}
    for release, told in observed.items():
        for name in told["constraints"]["confirmed"]:
            found.setdefault(name, []).append(release)
    return found


def compile_checkpoints(tree: SourceTree) -> list[dict[str, Any]]:
    """The rows of `checkpoints/`, curated and machine-written, as plain data, one for each id.

    A person's row hides a machine's of the same id, and a machine's row another that shows less; the targets of a draft
    are kept whichever row names them.
    """
    rows: list[dict[str, Any]] = []
    for path, data in tree.yaml_dir("checkpoints"):
        rows += [] if path.name == FAMILIES else _list(data, "checkpoints")
    written: list[dict[str, Any]] = []
    for path in sorted((tree.root / "checkpoints").glob("*.jsonl")):
        written += tree.rows("checkpoints", path.name)
    kept: dict[str, dict[str, Any]] = {}
    for row in (*rows, *sorted(written, key=_shows, reverse=True)):
        shown = kept.setdefault(row["id"], row)
        for key in _OF_DRAFTS & row.keys() - shown.keys():
            shown[key] = row[key]
    return list(kept.values())


_OF_DRAFTS = frozenset({"drafts_for", "drafts_by"})


def _shows(row: dict[str, Any]) -> tuple[int, bool, bool]:
    """How much a machine's row tells."""
    return len(row.get("config") or ()), "remote_code" in row, row.get("kind") != "unknown"


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

    def __init__(self, engine: str, line: ReleaseLine, own: ReleaseLine) -> None:
        self.engine = engine
        self.line = line
        # The releases that machine-written rows were read from: those of `line`, or for an overlay its own.
        self.own = own
        # Where the rows of the options (under "") and of each table were read, beside the rows themselves.
        self.places: dict[str, list[list[str]]] = {}

    def _ranges(self, row: Mapping[str, Any], what: str, line: ReleaseLine | None = None) -> list[list[list[int]]]:
        if not isinstance(row.get("releases"), list):
            raise DatabaseError(f"{self.engine} {what}: every row has a list of ranges under `releases`: {_brief(row)}")
        try:
            return compile_ranges(line or self.line, row["releases"]).packed()
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
        ahead = {"ahead": True} if any(_is_ahead(self.line, written) for written in row["releases"] or ()) else {}
        return {**kept, **ahead, "r": self._ranges(row, what), "e": self._best(row, what)}

    def machine(self, row: Mapping[str, Any], what: str) -> dict[str, Any]:
        """A machine-written row, its ranges placed on the line of the database."""
        plain = self.plain(row, what)
        if self.own is self.line:
            return plain
        return {**plain, "r": [_moved(runs, self.own, self.line) for runs in self._ranges(row, what, self.own)]}

    def option(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """An option row, without what most rows say; see `specconf.compat.database` for the reverse."""
        plain = self.machine(row, "options")
        self._note_place("", row)
        return {k: v for k, v in plain.items() if (k, v) not in (("kind", "value"), ("e", "source"))}

    def _note_place(self, table: str, row: Mapping[str, Any]) -> None:
        self.places.setdefault(table, []).append([" ".join(evidence_pair(e)) for e in row["evidence"]])

    def scopes(self, data: Any) -> list[dict[str, Any]]:
        """Scope rows, flattened."""
        named = (data or {}).get("scopes", {})
        return [{**self.plain(row, "scopes.yaml"), "scope": name} for name, rows in named.items() for row in rows]

    def tables(self, data: Any, harvested: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Named tables: curated ones (a list of rows, or a mapping with `rows`, `closed` and `about`) and harvested ones.

        A harvested table is closed: it was read whole in every release.
        """
        result: dict[str, Any] = {}
        for row in harvested:
            table = result.setdefault(row["table"], {"closed": True, "rows": [], "part": True})
            table["rows"].append(self.machine({k: v for k, v in row.items() if k != "table"}, f"table {row['table']}"))
            self._note_place(row["table"], row)
        for name, table in ((data or {}).get("tables") or {}).items():
            rows = table["rows"] if isinstance(table, dict) else table
            closed = bool(table.get("closed")) if isinstance(table, dict) else False
            if name in result:
                raise DatabaseError(
                    f"{self.engine} tables.yaml: the table {name} is harvested and not for people to write"
                )
            result[name] = {"closed": closed, "rows": [self.plain(row, f"table {name}") for row in rows]}
            for row in rows:
                self._note_place(name, row)
        return result

    def constraint(self, row: Mapping[str, Any], groups: Mapping[str, Any], what: str) -> dict[str, Any]:
        """A constraint with all of its evidence kept for `explain`."""
        return {
            **{k: v for k, v in row.items() if k not in {"releases", "evidence"}},
            "r": self._ranges(row, what),
            "evidence": self._evidence(row, f"constraints/{what}"),
            **({"groups": groups} if groups else {}),
        }


def _moved(runs: Iterable[Sequence[int]], own: ReleaseLine, line: ReleaseLine) -> list[list[int]]:
    """Runs of one list of releases as runs of another, longer one: only the releases themselves, nothing between them."""
    names = [own.names[position] for low, high in runs for position in range(low, high)]
    places = sorted(line.position(name) for name in names)
    return [[place, place + 1] for place in places]


def _is_ahead(line: ReleaseLine, written: Mapping[str, Any]) -> bool:
    """Whether a range begins in a release that is newer than all known ones."""
    since = written.get("since")
    return since is not None and line.position(since["in"] if isinstance(since, Mapping) else since) >= len(line.names)


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
    """Compile every engine and the checkpoints of `source` into files in `target`, each written atomically."""
    tree = SourceTree(source)
    target.mkdir(parents=True, exist_ok=True)
    images: dict[str, Any] = {}
    for engine in ENGINE_NAMES:
        compiled = compile_engine(tree, engine)
        for name, data in split(engine, compiled).items():
            _write_json(target / f"{name}.json", data)
        for kind in ("constraints", "options"):
            _write_rows(target, part_name(engine, kind), [_without_examples(row) for row in compiled[kind]], kind)
        images[engine] = compiled["images"]
    _write_json(target / "images.json", images)
    _write_json(target / "families.json", compile_families(tree))
    _write_rows(
        target, "checkpoints", compile_checkpoints(tree), "checkpoints"
    )  # last: where it lies, the index is whole


def split(engine: str, compiled: Mapping[str, Any]) -> dict[str, Any]:
    """A compiled index as the files it is kept in: the engine's own, and one for each part that is read on demand."""
    parts = {name: table for name, table in compiled["tables"].items() if table.get("part")}
    tables = {name: ({"part": True} if name in parts else table) for name, table in compiled["tables"].items()}
    files = {part_name(engine, name): table for name, table in parts.items()}
    files |= {part_name(engine, name): compiled[name] for name in ("messages", "places", "confirmed")}
    files[part_name(engine, "examples")] = {row["id"]: _only(row, EXAMPLES) for row in compiled["constraints"]}
    kept = {key: value for key, value in compiled.items() if key not in _APART}
    return {engine: {**kept, "tables": tables, "in_parts": True}, **files}


_APART = ("messages", "places", "confirmed", "images", *COLUMNS)


def _without_examples(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in row.items() if key not in EXAMPLES}


def _only(row: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: row[key] for key in keys if key in row}


def _write_rows(target: Path, name: str, rows: Sequence[Mapping[str, Any]], kind: str) -> None:
    """The rows as JSON lines, and their columns, whose file comes last."""
    with written_whole(target / f"{name}.jsonl") as stream:
        stream.writelines(json.dumps(row, separators=(",", ":"), sort_keys=True) + "\n" for row in rows)
    _write_json(target / f"{name}.json", columns_of(rows, kind))


def _write_json(path: Path, data: Any) -> None:
    with written_whole(path) as stream:
        json.dump(data, stream, separators=(",", ":"), sort_keys=True)
