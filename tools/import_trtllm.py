"""Derives TensorRT-LLM's `releases.jsonl` and `options.jsonl` from the imported table `facts.json`.

Fields whose cells are regular are read as they stand; cells in prose (releases such as "1.2-era", defaults that
changed) are read by the rows of `reading.jsonl`, each of which quotes the table's row. The table is never edited: what
was read after it was made is a row of `reading.jsonl` of its own (`table: read_later`), with its `source`.

    python tools/import_trtllm.py            # rewrite both files
    python tools/import_trtllm.py --check    # exit 1 if they are not what the table gives
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from packaging.version import Version

Row: TypeAlias = "dict[str, Any]"

FOLDER = Path(__file__).resolve().parent.parent / "compat" / "tensorrt-llm" / "imported"
OLDEST = "0.20.0"
READ = frozenset(
    {"0.20.0", "0.21.0", "1.0.0", "1.1.0", "1.2.1", "1.3.0rc14", "1.3.0rc22", "1.3.0rc24"}
    | {"1.3.0rc27", "1.3.0rc28", "1.3.0rc29", "1.4.0rc1"}
)
NEVER_READ = "0"  # below every release: "not known to be absent anywhere"
READ_LATER = "read_later"
SPECULATIVE = "speculative_config"
SPECULATIVE_SCOPE = f"trtllm.yaml.{SPECULATIVE}"
ARGS_FILE = "tensorrt_llm/llmapi/llm_args.py"
KINDS = {"A": "source", "C": "source", "B": "docs", "D": "docs", "E": "report", "G": "report", "F": "inferred"}
TAGS = {
    "base": [],
    "Eagle / Eagle3": ["Eagle", "Eagle3"],
    "Eagle3 only": ["Eagle3"],
    "SAEnhancerConfig": ["Eagle3", "MTP", "PARD"],
    "User_Provided": ["UserProvided", "User_Provided"],
}
TYPES = frozenset({"str", "int", "float", "bool"})
JSON_TYPE = re.compile(r"^(list|dict|set)\b")
LITERAL = re.compile(r"^(?:literal|enum)\s+|^(?=\w+\|\w+)")
BOUNDS = {"": {}, ">=0": {"ge": 0}, ">0": {"gt": 0}, "0..1": {"ge": 0, "le": 1}}
WORDS = {"None": None, "True": True, "False": False}


class TableError(ValueError):
    """A cell that cannot be read as it stands and that no row of `reading.jsonl` reads."""


def releases(table: Mapping[str, Any], reading: Sequence[Row]) -> list[Row]:
    """The known releases: those of the table from OLDEST on, and those known from images only."""
    known = {
        row["version"]: {
            "date": row["date"],
            "source": "docs" if row["version"] in READ else "sdist",
            "version": row["version"],
        }
        for row in table["releases"]
        if Version(row["version"]) >= Version(OLDEST)
    }
    for row in reading:
        if row["table"] == "i_containers":
            known.setdefault(row["row"], {"date": None, "source": "report", "version": row["row"]})
    return [known[version] for version in sorted(known, key=Version)]


def options(table: Mapping[str, Any], reading: Sequence[Row]) -> list[Row]:
    """Every option row, ordered by scope, path and spelling."""
    read = {(row["table"], row["row"]): row for row in reading}
    rows = [*_fields(table["a_fields"], read), *_launch(table["c_launch"], read), *_read_later(reading)]
    return sorted(rows, key=lambda row: (row["scope"], row["path"], row["names"]))


def _fields(fields: Sequence[Row], read: Mapping[tuple[str, str], Row]) -> Iterator[Row]:
    """Rows of `speculative_config` and its objects."""
    for cell in fields:
        name = f"{cell['cls']}: {cell['field']}"
        how = read.get(("a_fields", name), {})
        if "skip" in how:
            continue
        proof = _field_evidence(cell, name, how)
        written = how.get("rows") or [{**row, **how.get("merge", {})} for row in _regular(cell, name)]
        for row in written:
            yield _member(row, cell["cls"], proof)


def _member(row: Row, cls: str, proof: Row) -> Row:
    """A field as an option of its scope."""
    nested = ".sa_config" if cls == "SAEnhancerConfig" else ""
    key = row.pop("field") if "field" in row else row["path"]
    path = row.pop("path", key)
    tags = TAGS.get(cls, [cls])
    return {
        "kind": "value",
        **row,
        "scope": SPECULATIVE_SCOPE + nested,
        "path": f"{SPECULATIVE}{nested}.{path}",
        "names": [key],
        "evidence": [proof],
        **({"methods": tags} if tags else {}),
    }


def _regular(cell: Row, name: str) -> Iterator[Row]:
    """The fields of one row of the table; cells joined by " / " stand for several fields."""
    fields = cell["field"].split(" / ")
    types = _spread(cell["type"], len(fields))
    defaults = _spread(cell["default"], len(fields))
    for field, kind, default in zip(fields, types, defaults, strict=True):
        row: Row = {"field": field, "releases": [_range(cell)], **_type(kind, name)}
        if not default.startswith("None ") and default != "-":
            row["default"] = _default(default, name)
            row |= {"nullable": True} if row["default"] is None else {}
        yield row


def _spread(text: str, count: int) -> list[str]:
    parts = [part.strip() for part in text.split(" / ")]
    return parts * count if len(parts) == 1 else parts


def _range(cell: Row) -> Row:
    """First and last sight of a field as a half-open range with brackets."""
    result: Row = {}
    if Version(cell["first_seen"]) > Version(OLDEST):
        result["since"] = {"in": cell["first_seen"], "not_in": cell["last_known_absent_before"] or NEVER_READ}
    if cell["first_known_gone"]:
        result["before"] = {"in": cell["last_seen"], "not_in": cell["first_known_gone"]}
    return result


def _type(text: str, name: str) -> Row:
    """The option keys that a type cell gives."""
    bare = re.sub(r"\s*\|\s*None$", "", text)
    result: Row = {"nullable": True} if bare != text else {}
    if bare == "SAEnhancerConfig":
        return {**result, "kind": "object", "type": "json", "members": f"{SPECULATIVE_SCOPE}.sa_config"}
    if JSON_TYPE.match(bare):
        return {**result, "type": "json"}
    if bare == "python object":
        return result
    if bare in {"str|Path", "list"}:
        return {**result, "type": "str" if bare == "str|Path" else "json"}
    word, _, bound = re.sub(r"^(int|float)(?=>)", r"\1 ", bare).partition(" ")
    if word in TYPES and bound in BOUNDS:
        return {**result, "type": word, **({"bounds": BOUNDS[bound]} if bound else {})}
    if LITERAL.match(bare):
        return {**result, "type": "str", "choices": LITERAL.sub("", bare).split("|")}
    raise TableError(f"{name}: the type {text!r} needs a row in reading.jsonl")


def _default(text: str, name: str) -> Any:
    """The literal of a default cell."""
    if text in WORDS:
        return WORDS[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        if re.fullmatch(r"\w+", text):
            return text
    raise TableError(f"{name}: the default {text!r} needs a row in reading.jsonl")


def _field_evidence(cell: Row, name: str, how: Row) -> Row:
    confidence = str(how.get("confidence", cell["confidence"]))
    proof = {"confidence": confidence, "kind": KINDS[confidence], "ref": " ".join(cell["source"]), "symbol": name}
    if KINDS[confidence] == "source":
        proof |= {"file": ARGS_FILE, "release": cell["first_seen"]}
    return _with_note(proof, how)


def _with_note(proof: Row, how: Row) -> Row:
    return {**proof, "note": how["why"]} if "why" in how else proof


def _launch(launch: Mapping[str, Sequence[Row]], read: Mapping[tuple[str, str], Row]) -> Iterator[Row]:
    """Rows of the command line and of the YAML outside `speculative_config`."""
    for part, column in (("cli", "flag"), ("yaml", "key")):
        for cell in launch[part]:
            how = read.get((f"c_launch.{part}", cell[column]))
            if how is None:
                raise TableError(f"c_launch.{part}: {cell[column]!r} needs a row in reading.jsonl")
            for row in how.get("rows", ()):
                yield _launch_option(row, f"trtllm.{part}", cell, column, how)


def _launch_option(row: Row, scope: str, cell: Row, column: str, how: Row) -> Row:
    confidence = str(row.get("confidence", how["confidence"]))
    proof = {
        "confidence": confidence,
        "kind": KINDS[confidence],
        "ref": " ".join(cell["source"]),
        "symbol": cell[column],
    }
    kept = {key: value for key, value in row.items() if key != "confidence"}
    return {"kind": "value", "scope": scope, **kept, "evidence": [_with_note(proof, how)]}


def _read_later(reading: Sequence[Row]) -> Iterator[Row]:
    """Rows that no cell of the table stands for: where they were read is told by the reading itself."""
    for how in reading:
        if how["table"] == READ_LATER:
            for row in how["rows"]:
                yield _launch_option(row, how["scope"], how, "row", how)


def lines(rows: Sequence[Row]) -> str:
    """Rows as JSON lines with sorted keys."""
    return "".join(json.dumps(row, sort_keys=True, ensure_ascii=False) + "\n" for row in rows)


def derive(folder: Path) -> dict[str, str]:
    """What the table of a folder gives: file name and text."""
    table = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    text = (folder / "reading.jsonl").read_text(encoding="utf-8")
    reading = [json.loads(line) for line in text.splitlines()]
    return {"releases.jsonl": lines(releases(table, reading)), "options.jsonl": lines(options(table, reading))}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the two files, or compare them."""
    parser = argparse.ArgumentParser(description="Derive TensorRT-LLM's releases and options from the imported table.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file would change")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the folder that holds facts.json")
    chosen = parser.parse_args(arguments)
    changed = 0
    for name, text in derive(chosen.folder).items():
        path = chosen.folder / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        changed += 1
        print(f"{'would change' if chosen.check else 'wrote'} {name}", file=sys.stderr)
        if not chosen.check:
            path.write_text(text, encoding="utf-8")
    return 1 if chosen.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
