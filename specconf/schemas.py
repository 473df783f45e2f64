"""The JSON Schemas that specconf publishes. The spec's comes from its model; those of outputs are written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specconf.codes import CODES
from specconf.compat.sources import ENGINE_NAMES
from specconf.findings import Effect, EvidenceKind, Severity, Stage

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
NAMES = ("spec", "argv", "report")


def schema(name: str) -> dict[str, Any]:
    """One published schema by name: `spec`, `argv` or `report`."""
    if name == "spec":
        from specconf.spec.schema import spec_schema

        return spec_schema()
    return {"argv": _argv_schema, "report": _report_schema}[name]()


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
            }
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
        }
    )


def _report_schema() -> dict[str, Any]:
    not_checked = _object(
        {
            "constraint": {"type": "string"},
            "code": {"enum": list(CODES)},
            "missing": _texts(),
            "reason": _text_or_null(),
            "engine": {"type": "string"},
            "release": {"type": "string"},
        }
    )
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
    lists = {"not_checked": not_checked, "launches": launch, "skipped": skipped}
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


def write_schemas(folder: Path) -> None:
    """Write every schema into a folder; `tools/write_schemas.py` calls this."""
    from specconf.report.json_report import render_json

    for name in NAMES:
        (folder / f"{name}.schema.json").write_text(render_json(schema(name)), encoding="utf-8")
