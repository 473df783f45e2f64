"""YAML as deploy and option files hold it: block style, no aliases, no text that another reader takes for something else."""

from __future__ import annotations

from typing import Any

import yaml

from specconf.patterns import pattern

# What YAML 1.1 by the book or YAML 1.2 reads as a switch or number, while PyYAML takes it for text.
_AMBIGUOUS = pattern(r"[yYnN]\Z|[-+]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)([eE][-+]?\d+)?\Z|0o[0-7]+\Z")


class PlainDumper(yaml.SafeDumper):
    """Plain block style without aliases; ambiguous texts are quoted."""

    def ignore_aliases(self, data: Any) -> bool:
        """Equal lists are written out each time."""
        del data
        return True


def represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    """A text, quoted where it could be read as something else."""
    style = "'" if _AMBIGUOUS.match(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


PlainDumper.add_representer(str, represent_text)


def plain_yaml(data: Any, dumper: type[yaml.SafeDumper] = PlainDumper) -> str:
    """Data as YAML, keys in the order given, each text on one line."""
    text: str = yaml.dump(
        data, Dumper=dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=10**6
    )
    return text
