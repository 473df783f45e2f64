"""The JSON Schema of the spec, generated from the model. `python -m specconf.spec.schema` writes it into `schemas/`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from specconf.spec.engines import ENGINE_ALIASES
from specconf.spec.model import Spec

SCHEMA_FILE = Path("schemas") / "spec.schema.json"


def spec_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a spec file."""
    schema = Spec.model_json_schema(by_alias=True, mode="validation")
    for owner in (schema, *schema["$defs"].values()):
        owner["properties"] = {name: _field(field) for name, field in owner.get("properties", {}).items()}
        if not owner["properties"]:
            del owner["properties"]
    _add_engine_aliases(schema)
    version = schema["properties"]["specconf"]
    schema["properties"]["specconf"] = version["anyOf"][0] | {"description": version["description"]}
    schema["required"] = ["specconf", *schema["required"]]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "specconf spec"}
    return head | {key: value for key, value in schema.items() if key != "title"}


def schema_text() -> str:
    """The schema as it is published."""
    return json.dumps(spec_schema(), indent=2, ensure_ascii=False) + "\n"


def _field(schema: dict[str, Any]) -> dict[str, Any]:
    """A field as the loader takes it: null is the same as unset, and only the spec's own defaults are defaults."""
    if "default" not in schema:
        return schema
    described = {key: schema[key] for key in ("title", "description") if key in schema}
    rest = {key: value for key, value in schema.items() if key not in ("title", "description", "default")}
    choices = rest["anyOf"] if set(rest) == {"anyOf"} else [rest]
    if {"type": "null"} not in choices:
        choices = [*choices, {"type": "null"}]
    default = {} if schema["default"] is None or isinstance(schema["default"], dict) else {"default": schema["default"]}
    return described | default | {"anyOf": choices}


def _add_engine_aliases(schema: dict[str, Any]) -> None:
    engines = schema["$defs"]["Engines"]
    for alias, name in ENGINE_ALIASES.items():
        engines["properties"][alias] = engines["properties"][name] | {"description": f"Another name for {name}."}
        engines["not"] = {"required": [alias, name]}


def main() -> None:
    """Write the schema into the checkout that this package stands in."""
    path = Path(__file__).resolve().parents[2] / SCHEMA_FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
