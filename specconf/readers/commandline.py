"""Command lines that no shell reads, and variables that a format itself puts into its texts.

A program such as Compose or systemd splits a string into words by quotes and white space alone; before that it may put
variables in. Both keep every word's place in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from specconf.patterns import pattern
from specconf.readers.source import Placed
from specconf.words import Word

# `${NAME}`, `${NAME:-default}`, `${NAME-default}`, `${NAME:?message}`, `$NAME`, and `$$` for a dollar.
BRACED = pattern(
    r"\$(?:(?P<dollar>\$)|\{(?P<braced>[A-Za-z_]\w*)(?P<rest>:?[-?+](?P<word>[^{}]*))?\}|(?P<bare>[A-Za-z_]\w*))"
)
# `$(NAME)` of Kubernetes, `$$(NAME)` for itself.
KUBERNETES = pattern(r"\$(?:(?P<dollar>\$)(?=\()|\((?P<braced>[A-Za-z_][\w.-]*)\))")


def words_of(text: Placed) -> tuple[Word, ...]:
    """A command line split as `shlex` does it: white space, single and double quotes, backslashes. No shell, no variables.

    An open quote makes the last word one that is not known.
    """
    return tuple(word for word, _ in placed_words_of(text))


def placed_words_of(text: Placed) -> tuple[tuple[Word, Placed], ...]:
    """The same, each word with its text as one that knows where each character stands, for those that are scripts."""
    found: list[tuple[Word, Placed]] = []
    source, at = text.text, 0
    while at < len(source):
        if source[at].isspace() or source.startswith("\\\n", at):
            at += 1 if source[at].isspace() else 2
            continue
        start, value, is_closed = at, list[int](), True
        while at < len(source) and not source[at].isspace():
            at, is_closed = _unit(source, at, value)
        own = Placed("".join(source[index] for index in value), text.outer, [text.at[index] for index in value])
        known = own.text if is_closed else None
        found.append((Word(known, text.span_of(start, at), source[start:at]), own))
    return tuple(found)


def _unit(source: str, at: int, value: list[int]) -> tuple[int, bool]:
    """Read one quoted part or character of a word into its value; its end, and whether its quote is closed."""
    quote = source[at]
    if quote == "\\" and at + 1 < len(source):
        value += [] if source[at + 1] == "\n" else [at + 1]
        return at + 2, True
    if quote not in "'\"":
        value.append(at)
        return at + 1, True
    at += 1
    while at < len(source) and source[at] != quote:
        at += quote == '"' and source[at : at + 2] in ('\\"', "\\\\")
        value.append(at)
        at += 1
    return min(at + 1, len(source)), at < len(source)


def substituted(
    text: Placed, value_of: Callable[[str], str | None], pattern: re.Pattern[str] = BRACED
) -> Placed | None:
    """A text with its variables put in; None where one has no known value and no default.

    What is put in has the place of the variable. An unset variable with `:-` or `-` takes its default.
    """
    parts: list[str] = []
    places: list[int] = []
    at = 0
    for match in pattern.finditer(text.text):
        parts.append(text.text[at : match.start()])
        places += text.at[at : match.start()]
        found = _value(match, value_of)
        if found is None:
            return None
        parts.append(found)
        places += [text.at[match.start()]] * len(found)
        at = match.end()
    parts.append(text.text[at:])
    places += text.at[at:]
    return Placed("".join(parts), text.outer, places)


def _value(match: re.Match[str], value_of: Callable[[str], str | None]) -> str | None:
    groups = match.groupdict()
    if groups["dollar"]:
        return "$"
    found = value_of(groups["braced"] or groups.get("bare") or "")
    rest = groups.get("rest") or ""
    if rest.lstrip(":").startswith("-") and (found is None or (rest.startswith(":") and not found)):
        return groups["word"]
    return found


def word_with(
    word: Word, text: Placed, value_of: Callable[[str], str | None], pattern: re.Pattern[str] = BRACED
) -> Word:
    """A word of a list, with the variables of its text put in; not known where one of them is not."""
    found = substituted(text, value_of, pattern)
    return Word(None if found is None else found.text, word.span, word.raw)


def from_mapping(values: Mapping[str, str]) -> Callable[[str], str | None]:
    """Looks variables up in a mapping."""
    return values.get
