"""Findings in the words of the code that they are about: where options are keyword arguments, they are told as those."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from specconf.engines.options import python_literal
from specconf.findings import Finding
from specconf.words import Word

_FLAG = r"(?<![\w'\"-])--(?P<no>no-)?(?P<name>[a-z][\w-]*)"
_WITH_JSON = re.compile(_FLAG + r" '(?P<json>\{.*\})'")
_ALONE = re.compile(_FLAG + r"(?!=)")


def in_code(words: Iterable[Word]) -> bool:
    """Whether the options of a launch are parameters that code names."""
    return any(word.exact for word in words)


def as_keywords(finding: Finding) -> Finding:
    """A finding of such a launch; what its option is called stays as it is, for whoever looks that up."""
    return replace(finding, message=_as_keywords(finding.message), fix=_as_keywords(finding.fix))


def _as_keywords(text: str) -> str:
    return _ALONE.sub(_name, _WITH_JSON.sub(_assigned, text)) if "--" in text else text


def _assigned(match: re.Match[str]) -> str:
    literal = python_literal(match["json"])
    return f"{_keyword(match)}={literal}" if literal else match[0]


def _name(match: re.Match[str]) -> str:
    return f"{_keyword(match)}=False" if match["no"] else _keyword(match)


def _keyword(match: re.Match[str]) -> str:
    return match["name"].replace("-", "_")
