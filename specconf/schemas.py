"""The JSON Schemas that specconf publishes. The spec's comes from its model; those of outputs are written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specconf.codes import CODES
from specconf.compat.names import ENGINE_NAMES
from specconf.findings import Effect, EvidenceKind, Severity, Stage

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
ASKED_STAGES = (Stage.PARSE, Stage.CONFIG)
NAMES = ("spec", "argv", "report", "lint", "upgrade", "index")


def schema(name: str) -> dict[str, Any]:
    """One published schema by name: `spec`, `argv`, `report`, `lint`, `upgrade` or `index`."""
    if name == "spec":
        from specconf.spec.schema import spec_schema

        return spec_schema()
    return {
        "argv": _argv_schema,
        "report": _report_schema,
        "lint": _lint_schema,
        "upgrade": _upgrade_schema,
        "index": _index_schema,
    }[name]()


def _object(properties: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **extra,
    }


def _text_or_null() -> dict[str, Any]:
    return {"type": ["string", "null"]}


def _enum_or_null(values: type[Effect] | type[Stage] | type[EvidenceKind]) -> dict[str, Any]:
    return {"enum": [*(str(v) for v in values), None]}


def _position() -> dict[str, Any]:
    return {"type": ["integer", "null"], "minimum": 1}


def _finding() -> dict[str, Any]:
    return _object(
        {
            "code": {"enum": list(CODES)},
            "name": {"type": "string"},
            "constraint": _text_or_null(),
            "severity": {"enum": [str(s) for s in Severity]},
            "effect": _enum_or_null(Effect),
            "stage": _enum_or_null(Stage),
            "evidence": _enum_or_null(EvidenceKind),
            "engine": _text_or_null(),
            "release": _text_or_null(),
            "checked_as": _text_or_null(),
            "path": _text_or_null(),
            "line": _position(),
            "column": _position(),
            "option": _text_or_null(),
            "message": {"type": "string"},
            "fix": _text_or_null(),
            "releases": _text_or_null(),
            "possible": _text_or_null(),
        }
    )


def _texts() -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}}


def _text_map() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": {"type": "string"}}


# `asked` stands there only where the engine was to be asked.
_ARGV_ALWAYS = ["schema", "engine", "release", "argv", "env", "files", "forced", "findings"]


def _argv_schema() -> dict[str, Any]:
    return {
        "$schema": _DRAFT,
        "title": "specconf argv document",
        "description": "A launch as `specconf compile --format argv` prints it.",
        **_object(
            {
                "schema": {"const": 1},
                "engine": {"enum": list(ENGINE_NAMES)},
                "release": {"type": "string"},
                "argv": {**_texts(), "minItems": 1},
                "env": _text_map(),
                "files": _text_map(),
                "forced": {"type": "boolean"},
                "findings": {"type": "array", "items": _finding()},
                "asked": _asked(),
            },
            required=_ARGV_ALWAYS,
        ),
    }


def _cell() -> dict[str, Any]:
    alternative = _object({"text": {"type": "string"}, "changes": {"type": "object"}, "release": _text_or_null()})
    return _object(
        {
            "engine": {"enum": list(ENGINE_NAMES)},
            "release": {"type": "string"},
            "verdict": {"enum": ["ok", "warnings", "refused"]},
            "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
            "notice": _text_or_null(),
            "alternatives": {"type": "array", "items": alternative},
            "asked": {"anyOf": [_asked(), {"type": "null"}]},
        }
    )


def _asked() -> dict[str, Any]:
    """What the engine itself said beside specconf's verdict."""
    rule = _object(
        {
            "code": {"enum": list(CODES)},
            "constraint": _text_or_null(),
            "stage": {"enum": [*(str(stage) for stage in Stage), None]},
            "message": {"type": "string"},
        }
    )
    rules = {"type": "array", "items": rule}
    ours = _object(
        {
            "verdict": {"enum": ["passes", "refuses"]},
            **dict.fromkeys(("rules", "left_out", "later", "elsewhere", "starting"), rules),
            "undecided": _texts(),
        }
    )
    theirs = _object(
        {
            "verdict": {"enum": ["accepts", "rejects", "crashes"]},
            "stage": {"enum": [str(stage) for stage in ASKED_STAGES]},
            "exception": _text_or_null(),
            "message": {"type": "string"},
            "where": _text_or_null(),
            "warnings": _texts(),
            "seconds": {"type": "number", "minimum": 0},
        }
    )
    differing = _object({"option": {"type": "string"}, "engine": {}, "specconf": {"type": "object"}})
    return _object(
        {
            "shown": {"type": "string"},
            "until": {"const": "config"},
            "specconf": ours,
            "engine": {"anyOf": [theirs, {"type": "null"}]},
            "not_asked": _text_or_null(),
            "excluded": _text_or_null(),
            "agree": {"type": ["boolean", "null"]},
            "compared": {"type": ["integer", "null"], "minimum": 0},
            "differing": {"type": "array", "items": differing},
            "filled": {"type": "object"},
            "notes": _texts(),
        }
    )


def _limits() -> dict[str, Any]:
    excluded = _object({"name": {"type": "string"}, "why": {"type": "string"}})
    return _object(
        {
            "engine": {"enum": list(ENGINE_NAMES)},
            "text": {"type": "string"},
            "excluded": {"type": "array", "items": excluded},
        }
    )


def _not_checked() -> dict[str, Any]:
    return {
        "constraint": {"type": "string"},
        "code": {"enum": list(CODES)},
        "missing": _texts(),
        "reason": _text_or_null(),
        "engine": {"type": "string"},
        "release": {"type": "string"},
    }


def _report_schema() -> dict[str, Any]:
    not_checked = _object(_not_checked())
    launch = _object(
        {
            "path": {"type": "string"},
            "line": _position(),
            "engine": {"type": "string"},
            "release": {"type": "string"},
            "release_from": {"type": "string"},
        }
    )
    skipped = _object({"path": {"type": "string"}, "why": {"type": "string"}})
    lists = {
        "not_checked": not_checked,
        "launches": launch,
        "skipped": skipped,
        "not_known_from_asking": _limits(),
    }
    return {
        "$schema": _DRAFT,
        "title": "specconf report",
        "description": "What `specconf check --format json` prints.",
        **_object(
            {
                "schema": {"const": 1},
                "matrix": {"type": "array", "items": _cell()},
                "findings": {"type": "array", "items": _finding()},
                **{name: {"type": "array", "items": item} for name, item in lists.items()},
                "files": _texts(),
                "notices": _texts(),
            }
        ),
    }


def _lint_schema() -> dict[str, Any]:
    """The report on deploy files."""
    index = {"type": "integer", "minimum": 0}
    edit = _object({"path": {"type": "string"}, "start": index, "end": index, "text": {"type": "string"}})
    finding = {
        **_finding()["properties"],
        "end_line": _position(),
        "end_column": _position(),
        "file": {"type": "string"},
        "launch": _text_or_null(),
        "edits": {"type": "array", "items": edit},
    }
    ways = {"suppressed_by": {"enum": ["comment", "baseline", "settings"]}, "reason": _text_or_null()}
    launch = {
        "path": {"type": "string"},
        "line": _position(),
        "launch": {"type": "string"},
        "engine": {"enum": list(ENGINE_NAMES)},
        "release": _text_or_null(),
        "release_from": {"type": "string"},
        "release_line": _position(),
        "asked": {"anyOf": [_asked(), {"type": "null"}]},
    }
    lists = {
        "findings": finding,
        "suppressed": {**finding, **ways},
        "launches": launch,
        "not_checked": {**_not_checked(), "path": {"type": "string"}, "line": _position()},
        "skipped": {"path": {"type": "string"}, "why": {"type": "string"}},
        "mentioned": {"path": {"type": "string"}, "line": _position(), "column": _position()},
    }
    return {
        "$schema": _DRAFT,
        "title": "specconf lint report",
        "description": "What `specconf lint --format json` prints. Columns and indices count characters; ends are exclusive.",
        **_object(
            {
                "schema": {"const": 1},
                **{name: {"type": "array", "items": _object(item)} for name, item in lists.items()},
                "files": _texts(),
                "notices": _texts(),
            }
        ),
    }


def _upgrade_schema() -> dict[str, Any]:
    """The report on an upgrade."""
    from specconf.rules.upgrade import Outcome

    outcomes = [str(outcome) for outcome in Outcome]
    side = {"type": "object", "required": ["origin"]}
    launch = {
        "path": {"type": "string"},
        "line": _position(),
        "name": _text_or_null(),
        "engine": {"enum": list(ENGINE_NAMES)},
        "from": _text_or_null(),
        "to": _text_or_null(),
        "outcome": {"enum": [*outcomes, "clean", None]},
        "not_compared": _text_or_null(),
        "told": {
            "type": "array",
            "items": _object({"outcome": {"enum": outcomes}, **_finding()["properties"]}),
        },
        "changes": {
            "type": "array",
            "items": _object({"path": {"type": "string"}, "before": side, "after": side, "main": {"type": "boolean"}}),
        },
        "uncertain": _text_map(),
    }
    return {
        "$schema": _DRAFT,
        "title": "specconf upgrade report",
        "description": "What `specconf upgrade --format json` prints; `before` and `after` are in force, defaults included.",
        **_object(
            {
                "schema": {"const": 1},
                "launches": {"type": "array", "items": _object(launch)},
                "files": _texts(),
                "skipped": {
                    "type": "array",
                    "items": _object({"path": {"type": "string"}, "why": {"type": "string"}}),
                },
                "notices": _texts(),
            }
        ),
    }


def _index_schema() -> dict[str, Any]:
    """What `compile --all` wrote."""
    form = {"format": {"type": "string"}, "files": _texts(), "refused": _text_or_null()}
    launch = {
        "engine": {"enum": list(ENGINE_NAMES)},
        "release": {"type": "string"},
        "release_from": {"type": "string"},
        "image": _text_or_null(),
        "refused": _text_or_null(),
        "forced": {"type": "boolean"},
        "findings": {"type": "array", "items": _finding()},
        "not_checked": {"type": "array", "items": _object(_not_checked())},
        "alternatives": _texts(),
        "formats": {"type": "array", "items": _object(form)},
    }
    return {
        "$schema": _DRAFT,
        "title": "specconf index",
        "description": "`index.json` of a folder that `specconf compile --all` wrote. Files are named from that folder.",
        **_object(
            {
                "schema": {"const": 1},
                "spec": {"type": "string"},
                "launches": {"type": "array", "items": _object(launch)},
                "stale": _texts(),
            }
        ),
    }


def write_schemas(folder: Path) -> None:
    """Write every schema into a folder; `tools/write_schemas.py` calls this."""
    from specconf.report.json_report import render_json

    for name in NAMES:
        (folder / f"{name}.schema.json").write_text(render_json(schema(name)), encoding="utf-8")
