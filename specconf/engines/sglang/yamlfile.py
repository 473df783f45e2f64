"""Writing the option file. PyYAML is imported here only, when a file is asked for."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from specconf.words import JsonValue


def dump(data: Mapping[str, JsonValue]) -> str:
    """A flat mapping in the order given; texts that look like something else are quoted."""
    text: str = yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True, default_flow_style=False, width=1000)
    return text
