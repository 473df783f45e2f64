"""The text of a spec file: bytes to characters, with size, encoding and invisible characters checked.

Knows no YAML. Places are 1-based lines and columns in Unicode code points.
"""

from __future__ import annotations

import codecs
import re

from specconf.patterns import pattern
from specconf.spec.problems import Problem, SpecError
from specconf.words import Span

MAX_BYTES = 1 << 20

_UTF16_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Characters YAML 1.2 does not allow, and those that YAML 1.1 parsers (libyaml among them) take for line breaks.
_REFUSED = "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_BLANKS = dict.fromkeys(map(ord, "\t\n\r"))
_BREAK = pattern("\r\n|\r|\n")


def decode(data: str | bytes, path: str) -> str:
    """The characters of a spec file without a byte order mark, or a `SpecError`."""
    _check_size(data, path)
    text = _decoded(data, path) if isinstance(data, bytes) else data
    text = text.removeprefix("\ufeff")
    if text.translate(_BLANKS).isprintable():  # nearly every file; compiling the pattern takes longer than reading one
        return text
    match = re.search(_REFUSED, text)
    if match:
        raise _refused_character(match, text, path)
    return text


def place(text: str, offset: int, path: str) -> Span:
    """The place of one character of a text."""
    start, line = 0, 1
    for match in _BREAK.finditer(text, 0, offset):
        start, line = match.end(), line + 1
    column = offset - start + 1
    return Span(path, line, column, line, column + 1)


def character_at(text: str, line: int, column: int) -> str:
    """The character at a 0-based line and column, or '' behind the end."""
    lines = _BREAK.split(text)
    if line >= len(lines) or column >= len(lines[line]):
        return ""
    return lines[line][column]


def _check_size(data: str | bytes, path: str) -> None:
    size = len(data)
    if isinstance(data, str) and size <= MAX_BYTES:
        size = len(data.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1024} KiB, far more than a spec needs"
        raise SpecError([Problem(Span(path, 1, 1), message, "name a spec file")])


def _decoded(data: bytes, path: str) -> str:
    if data.startswith(_UTF16_32):
        message = "the file is UTF-16 or UTF-32, a spec is UTF-8"
        raise SpecError([Problem(Span(path, 1, 1), message, "save it as UTF-8")])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").removeprefix("\ufeff")
        where = place(before, len(before), path)
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        raise SpecError([Problem(where, message, "save the file as UTF-8")]) from None


def _refused_character(match: re.Match[str], text: str, path: str) -> SpecError:
    code = ord(match[0])
    message = f"the invisible character U+{code:04X} is not allowed in a spec"
    hint = "remove it" if 0xD800 <= code < 0xE000 else f'remove it, or write "\\u{code:04x}" inside double quotes'
    return SpecError([Problem(place(text, match.start(), path), message, hint)])
