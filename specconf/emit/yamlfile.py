"""YAML of deploy files: texts of several lines as blocks, and what a spec's overlay says laid over what was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from specconf.engines.plainyaml import PlainDumper, plain_yaml, represent_text


class _DeployDumper(PlainDumper):
    """Lists stand below their keys, as deploy files are written by hand."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """A list's items are indented."""
        del indentless
        super().increase_indent(flow, indentless=False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    if "\n" in value:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|")
    return represent_text(dumper, value)


_DeployDumper.add_representer(str, _text)


def deploy_yaml(data: Mapping[str, Any]) -> str:
    """One document."""
    return plain_yaml(dict(data), _DeployDumper)


def laid_over(base: Any, over: Any) -> Any:
    """`base` with `over` merged into it.

    Mappings merge key by key, null takes a key away; lists whose items all have a `name` merge item by item; anything else
    takes the place of what was there.
    """
    if isinstance(base, Mapping) and isinstance(over, Mapping):
        merged = {key: laid_over(value, over[key]) if key in over else value for key, value in base.items()}
        merged |= {key: value for key, value in over.items() if key not in base}
        return {key: value for key, value in merged.items() if value is not None}
    if _named(base) and _named(over):
        items = {item["name"]: item for item in base}
        for item in over:
            items[item["name"]] = laid_over(items.get(item["name"], {}), item)
        return list(items.values())
    return over


def _named(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) and "name" in one for one in value)
