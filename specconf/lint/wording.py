"""Findings in the words of the language that they are about: options as keyword arguments where code names them, and JSON
quoted as the language needs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from specconf.engines.options import python_literal
from specconf.findings import Finding, Severity
from specconf.patterns import pattern
from specconf.words import Word

_FLAG = r"(?<![\w'\"-])--(?P<no>no-)?(?P<name>[a-z][\w-]*)"
_WITH_JSON = pattern(_FLAG + r" '(?P<json>\{.*\})'")
_ALONE = pattern(_FLAG + r"(?!=)")


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


_JSON = pattern(r"'(?P<json>\{.*\})'(?=[.,: ]|\Z)")
_IN_SINGLE = "put the whole JSON in single quotes, one level outside the double ones"
_IN_DOUBLE = "put the whole JSON in double quotes, with a backslash before each of its own"
# Up to 7.2, and so in Windows PowerShell 5.1, a program is given '{"a": 1}' without its double quotes.
_OLD_POWERSHELL = (
    'For PowerShell 7.3 on; up to 7.2, as in Windows PowerShell 5.1, write \\" for each double quote in the JSON'
)


def for_cmd(text: str) -> str:
    """JSON as one word of a batch file: no single quotes, which are no quotes there."""
    return '"' + re.sub(r'(\\*)"', r'\1\1\\"', text).replace("%", "%%") + '"'


def in_language(finding: Finding, language: str) -> Finding:
    """A finding about quoting whose remedy is written as the file's language needs it."""
    if language == "batch":
        fix = _JSON.sub(lambda match: for_cmd(match["json"]), finding.fix)
        for start, end in ((_IN_SINGLE, _IN_DOUBLE), (_IN_SINGLE.capitalize(), _IN_DOUBLE.capitalize())):
            fix = fix.replace(start.replace("json", "JSON"), end.replace("json", "JSON"))
        return replace(finding, fix=fix)
    if language == "powershell" and (_JSON.search(finding.fix) or "JSON" in finding.fix):
        return replace(finding, fix=f"{finding.fix} {_OLD_POWERSHELL}.")
    return finding


def of_one_version(finding: Finding) -> Finding:
    """JSON with a backslash before each of its quotes, which PowerShell needs up to 7.2: what its newer ones make of it."""
    if (
        finding.code != "SC703"
        or '\\\\"' not in finding.message
        or "backslashes stand before its quotes" not in finding.message
    ):
        return finding
    return replace(
        finding,
        severity=Severity.WARNING,
        message=f"PowerShell 7.3 on hands on the backslashes in the value of {finding.option}, which is then no JSON; "
        "up to 7.2 they are needed.",
        fix=f"Write it key by key ({finding.option}.KEY VALUE), which every version hands on alike.",
    )
