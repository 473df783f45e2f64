"""Why a text that should be JSON is none, and what to write instead: what shells, templates and second rounds of quoting
leave of an object. Pure text in, text out; which option wants JSON is not known here.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable

from msgspec import Struct, field

from specconf.engines.options import compact_json
from specconf.patterns import pattern
from specconf.words import JsonValue

_QUOTES = "'\"`"
# The quotes of word processors: double ones, then single ones.
_TYPOGRAPHIC = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"') | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
)
_ESCAPED = pattern(r"\\+([\"'{}\[\]:,$])")
_STRING = pattern(r'("(?:[^"\\]|\\.)*")')
_PLACEHOLDERS = pattern(
    r"\{\{-?\s*[\w.$|][^{}\"]*\}\}|\$\{[^{}]*\}|\$[A-Za-z_]\w*|\$\(\w[^()]*\)|\{[A-Za-z_][\w.]*\}|%\([\w]+\)[sd]|%[sd]"
    r"|<[A-Za-z_][\w .-]*>|@[A-Z_]+@"
)
_BARE_WORD = pattern(r"[^\s{}\[\]:,\"]+(?: +[^\s{}\[\]:,\"]+)*")
_ASSIGNED = pattern(r"[A-Za-z_][\w.-]*=[^,=]*(?:,[A-Za-z_][\w.-]*=[^,=]*)*\Z")
_NUMBER = pattern(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_FILE = pattern(r"@?[\w./~-]+\.(json|ya?ml|toml)\Z")
_SINGLE_WORD = pattern(r"[A-Za-z][\w.-]*\Z")
_MAX_SHOWN = 240


class Diagnosis(Struct, frozen=True):
    """What is wrong with a text, as the end of "which is no JSON: ..."; what to do; and the JSON that was meant.

    `by_key`: one key a word, where the engine takes that, would avoid the trouble.
    """

    why: str
    remedy: str
    meant: str = ""
    by_key: bool = False


class _Text(Struct):
    """A text on its way to the JSON that was meant, with what was found on the way."""

    now: str
    whys: list[str] = field(default_factory=list)
    remedies: list[str] = field(default_factory=list)
    final: bool = False
    by_key: bool = False

    def found(self, now: str, why: str, remedy: str) -> None:
        self.now = now
        self.whys.append(why)
        self.remedies.append(remedy)


def diagnose(text: str) -> Diagnosis | None:
    """What is wrong with a text that is no JSON object; None where nothing that is known fits."""
    if not text.strip():
        return Diagnosis("it is empty", "put the JSON there, and look whether a variable in its place was empty")
    state = _Text(text.strip())
    for step in _STEPS:
        if state.final or (state.whys and _object(state.now) is not None):
            break
        step(state)
    if not state.whys:
        return None
    value = _object(state.now)
    sure = value is not None and not any("\\" in key for key in value)  # what no key has was left by the quoting
    meant = compact_json(value) if sure else ""
    shown = meant if len(meant) <= _MAX_SHOWN else ""
    return Diagnosis(", and ".join(state.whys), ", and ".join(state.remedies), shown, state.by_key)


def written_as(option: str, diagnosis: Diagnosis, *, dotted: bool) -> str:
    """The fix as a sentence, with the option as it should be written where that is known."""
    remedy = diagnosis.remedy[:1].upper() + diagnosis.remedy[1:]
    if diagnosis.meant and "'" not in diagnosis.meant:
        return f"{remedy}: write {option} '{diagnosis.meant}'."
    return f"{remedy}, or write it key by key ({option}.KEY VALUE)." if dotted and diagnosis.by_key else f"{remedy}."


def _object(text: str) -> dict[str, JsonValue] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _typographic_quotes(state: _Text) -> None:
    plain = state.now.translate(_TYPOGRAPHIC)
    if plain != state.now:
        state.found(plain, "its quotes are typographic ones", "write plain quotes")


def _entities(state: _Text) -> None:
    import html

    plain = html.unescape(state.now)
    if plain != state.now and ("&quot;" in state.now or "&#34;" in state.now):
        state.found(plain, "its quotes are written as entities of HTML", "print the value without escaping it for HTML")


def _doubled_quotes(state: _Text) -> None:
    plain = state.now.replace('""', '"')
    if plain != state.now and _object(plain) is not None:
        state.found(plain, "its double quotes are doubled, as on Windows", "write single ones")


def _quoted_twice(state: _Text) -> None:
    """Quotes that are part of the value: written inside others, or by printf, YAML or a wrapper that quotes again."""
    first = state.now[0]
    if first not in _QUOTES or len(state.now) < 2:
        return
    inner = state.now
    while inner[:1] == first:
        inner = inner[1:].removesuffix(first)
    if not inner.startswith(("{", "[", "\\", *_QUOTES)):
        return
    why = f"the quote character {first} at its beginning is part of the value"
    state.found(inner, why, "remove the inner quotes, which are written inside others or added by what builds the word")


def _backslashes(state: _Text) -> None:
    plain = _ESCAPED.sub(r"\1", state.now)
    outside = "".join(_STRING.split(state.now)[::2])
    if plain != state.now and _ESCAPED.search(outside):
        why = "backslashes stand before its quotes or braces"
        state.found(plain, why, "remove the backslashes, which single quotes keep and a second round of quoting adds")


def _doubled_braces(state: _Text) -> None:
    if re.match(r"\{\{\s*[\"']", state.now) or (state.now.startswith("{{") and state.now.endswith("}}}")):
        inner = re.sub(r"\}\}", "}", re.sub(r"\{\{", "{", state.now))
        if state.now.endswith("}}}") and not inner.endswith("}}"):
            inner += "}"
        why = "its braces are doubled, as for a template that was not rendered"
        state.found(inner, why, "write single braces where no template engine reads the text")


def _placeholder(state: _Text) -> None:
    found = list(dict.fromkeys(_PLACEHOLDERS.findall("\0".join(_STRING.split(state.now)[::2]))))
    found = found or [match for match in _PLACEHOLDERS.findall(state.now) if match.startswith(("{{", "${", "$("))]
    if found:
        shown = ", ".join(found[:3])
        state.found(state.now, f"{shown} was not filled in", f"put a value in place of {shown}")
        state.final = True


def _python_literal(state: _Text) -> None:
    if not state.now.startswith("{"):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            value = ast.literal_eval(state.now)
        text = compact_json(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return
    if isinstance(value, dict):
        what = "keys and texts stand in single quotes" if "'" in state.now else "it has Python's True, False or None"
        state.found(text, f"it is written as Python ({what})", "write double quotes, true, false and null")


def _file_name(state: _Text) -> None:
    if _FILE.match(state.now):
        state.found(state.now, "it is the name of a file, which is not read", "write what the file holds")
        state.final = True


def _unquoted(state: _Text) -> None:
    """Keys without double quotes: the shell took them, and may have split the rest at commas or spaces."""
    text = state.now
    if _ASSIGNED.match(text):
        pairs = ("{" + text.replace("=", ":") + "}") if ":" not in text else ""
        state.found(
            _requoted(pairs) if pairs else text, "it is a list of KEY=VALUE", "write it as a JSON object in quotes"
        )
        return
    bare = "".join(_STRING.split(text)[::2])
    if not re.search(r"[A-Za-z_]\w*\s*:", bare):
        words = [word for word in _BARE_WORD.findall(bare) if not _plain(word)]
        if words and _object(_requoted(text)) is not None:
            why = f"{words[0]} stands in it without double quotes"
            state.found(_requoted(text), why, "put texts in double quotes and the whole JSON in single quotes")
        return
    if text.startswith("{") and text.count("{") == text.count("}"):
        remedy = "put the whole JSON in single quotes, one level outside the double ones"
        state.found(
            _requoted(text), "its keys have no double quotes, which the shell takes from an unquoted word", remedy
        )
    else:
        why = "it has neither its braces nor its double quotes, as where the shell splits an unquoted word"
        state.found(text, why, "put the whole JSON in single quotes, one level outside the double ones")
        state.final = state.by_key = True


def _plain(word: str) -> bool:
    """Whether JSON takes a word without quotes."""
    return word in {"true", "false", "null"} or _NUMBER.match(word) is not None


def _requoted(text: str) -> str:
    """A text whose keys and words are put in double quotes, outside of what stands in them already."""

    def quoted(match: re.Match[str]) -> str:
        word = match[0]
        return word if _plain(word) else json.dumps(word)

    parts = _STRING.split(text)
    parts[::2] = [_BARE_WORD.sub(quoted, part) for part in parts[::2]]
    return "".join(parts)


def _cut_short(state: _Text) -> None:
    if state.now.startswith("{") and state.now.count("{") > state.now.count("}"):
        why = "it ends before its braces are closed, as where the shell splits it at a space"
        state.found(state.now, why, "put the whole JSON in single quotes, and a variable that holds it in double ones")
        state.final = state.by_key = True


def _trailing_comma(state: _Text) -> None:
    parts = _STRING.split(state.now)
    parts[::2] = [re.sub(r",(\s*[}\]])", r"\1", part) for part in parts[::2]]
    plain = re.sub(r",(\s*[}\]])", r"\1", "".join(parts))
    if plain != state.now and _object(plain) is not None:
        state.found(plain, "a comma stands before a closing brace", "remove the comma")


def _single_word(state: _Text) -> None:
    if _SINGLE_WORD.match(state.now) and state.now not in {"true", "false", "null"}:
        state.found(
            state.now, "it is a plain word", "write a JSON object in single quotes, with the word under its key"
        )
        state.final = state.by_key = True


_STEPS: tuple[Callable[[_Text], None], ...] = (
    _entities,
    _doubled_quotes,
    _typographic_quotes,
    _quoted_twice,
    _backslashes,
    _doubled_braces,
    _placeholder,
    _trailing_comma,
    _python_literal,
    _file_name,
    _unquoted,
    _cut_short,
    _single_word,
)
