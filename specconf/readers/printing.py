"""What `printf` and `echo` write, for a script that builds a word with `$(printf ...)`: the two commands whose output follows
from their words alone. None where it does not, or where shells differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specconf.patterns import pattern

_SPECIFIER = pattern(
    r"%(?:(?P<flags>[-0 +#]?)(?P<width>\d*)(?P<kind>[sdiu])|(?P<percent>%)|(?P<other>.|\Z))", re.DOTALL
)
_ESCAPE = pattern(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'"}


def printed(words: Sequence[str]) -> str | None:
    """The text that a command writes, less the newlines at its end, as `$(...)` takes it."""
    if words[:1] == ["printf"] and len(words) > 1 and not words[1].startswith("-"):
        text = _formatted(words[1], list(words[2:]))
    elif words[:1] == ["echo"]:
        rest = words[2:] if words[1:2] == ["-n"] else words[1:]
        text = None if any("\\" in word or word in ("-e", "-E", "-n") for word in rest) else " ".join(rest)
    else:
        text = None
    return text.rstrip("\n") if text is not None else None


def _formatted(form: str, values: list[str]) -> str | None:
    """A format of `%s` and `%d` without widths, with as many values as it takes."""
    specifiers = [match for match in _SPECIFIER.finditer(form) if match["percent"] is None]
    if any(match["other"] is not None or match["flags"] or match["width"] for match in specifiers):
        return None
    if len(values) != len(specifiers):
        return None
    if any(m["kind"] != "s" and not re.fullmatch(r"-?[1-9]\d*|0", v) for m, v in zip(specifiers, values, strict=True)):
        return None
    if any(escape[1] not in _ESCAPES for escape in _ESCAPE.finditer(form)):
        return None
    left = iter(values)

    def filled(match: re.Match[str]) -> str:
        return "%" if match["percent"] else next(left)

    parts = re.split(r"(\\.|%.)", form, flags=re.DOTALL)
    return "".join(
        _ESCAPES[part[1]] if part.startswith("\\") and len(part) == 2 else _SPECIFIER.sub(filled, part)
        for part in parts
    )
