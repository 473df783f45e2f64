"""Where shell words begin and end in a text: blanks, quotes, expansions, comments and redirects, by bash's rules.

Places are indices into the text. What a word means is for `quoting` and `expansion`.
"""

from __future__ import annotations

from specconf.patterns import pattern

_CLOSING = {"(": ")", "{": "}", "[": "]"}
_BLANKS = pattern(r"(?:[ \t]|\\\n)+")
_BLANKS_AND_LINES = pattern(r"(?:[ \t\n]|\\\n)+")
_COMMENT = pattern(r"#[^\n]*")
_REDIRECT = pattern(r"(?:\d+|\{\w+\})?(?:<<<|<<-?|<>|>>|>\||&>>|&>|<&|>&|[<>](?!\())")
_ENDS = frozenset(" \t\n;|&()<>")


def split_words(text: str, at: int, closing: str = "") -> list[tuple[int, int]]:
    """The words from a place to the end of the command, or to `closing` in an array; redirects are left out."""
    blanks = _BLANKS_AND_LINES if closing else _BLANKS
    words: list[tuple[int, int]] = []
    while at < len(text):
        skipped = blanks.match(text, at) or _COMMENT.match(text, at)
        if skipped:
            at = skipped.end()
            continue
        redirect = None if closing else _REDIRECT.match(text, at)
        if redirect:
            gap = _BLANKS.match(text, redirect.end())
            at = word_end(text, gap.end() if gap else redirect.end())
            continue
        end = word_end(text, at)
        if end == at:
            break
        words.append((at, end))
        at = end
    return words


def is_closed(text: str, start: int) -> bool:
    """Whether the quotes and brackets of the word that begins at a place are closed."""
    return _reached(text, start) <= len(text)


def word_end(text: str, at: int) -> int:
    """The end of the word that begins at a place."""
    return min(_reached(text, at), len(text))


def _reached(text: str, at: int) -> int:
    """The end of a word; past the text when something in it is not closed."""
    start = at
    while at < len(text):
        char = text[at]
        if char in "<>" and at == start and text[at + 1 : at + 2] == "(":
            at = closing_position(text, at + 1) + 1
        elif char in _ENDS:
            break
        else:
            at = _unit_end(text, at)
    return at


def _unit_end(text: str, at: int) -> int:
    """The end of one character, escape, quoted part or expansion outside double quotes."""
    if text.startswith("$'", at):
        return _ansi_end(text, at + 2)
    if text[at] == "'":
        found = text.find("'", at + 1)
        return len(text) + 1 if found < 0 else found + 1
    if text[at] == '"':
        return _double_end(text, at + 1)
    return _inner_end(text, at)


def _inner_end(text: str, at: int) -> int:
    """The end of one character, escape or expansion, where quotes have no meaning of their own."""
    char = text[at]
    if char == "\\":
        return at + 2
    if char == "`":
        return backtick_end(text, at + 1)
    if char == "$" and text[at + 1 : at + 2] in _CLOSING:
        return closing_position(text, at + 1) + 1
    return at + 1


def _double_end(text: str, at: int) -> int:
    while at < len(text) and text[at] != '"':
        at = _inner_end(text, at)
    return at + 1


def _ansi_end(text: str, at: int) -> int:
    while at < len(text) and text[at] != "'":
        at += 2 if text[at] == "\\" else 1
    return at + 1


def backtick_end(text: str, at: int) -> int:
    """The place after the backtick that ends the substitution whose inside begins at a place."""
    while at < len(text) and text[at] != "`":
        at += 2 if text[at] == "\\" else 1
    return at + 1


def closing_position(text: str, at: int) -> int:
    """The place of the bracket that closes the one at a place; the end of the text when nothing does."""
    opening, closing = text[at], _CLOSING[text[at]]
    at += 1
    while at < len(text):
        if text[at] == closing:
            return at
        nested = opening == "(" and text[at] == "("
        at = closing_position(text, at) + 1 if nested else _unit_end(text, at)
    return len(text)
