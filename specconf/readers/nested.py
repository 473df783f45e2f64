"""A script in double quotes that holds variables: `bash -c "… $HEAD …"`. What is known of it, and holes for the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from specconf.readers.expansion import assigned
from specconf.readers.scope import Scope
from specconf.readers.source import Placed, SourceText
from specconf.readers.splitting import closing_position
from specconf.readers.templates import Template
from specconf.readers.wrappers import program_name
from specconf.words import Word

_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_NAME = re.compile(r"\$(?:[A-Za-z_]\w*|[@*#?$!\d-])")


@dataclass(frozen=True)
class NestedScript:
    """A script as far as it is known; `word`: the word that it is in its command."""

    word: Word
    text: Placed
    holes: Mapping[str, str] = field(default_factory=dict)


def nested_script(
    words: Sequence[Word], source: SourceText, ranges: Sequence[tuple[int, int]], scope: Scope
) -> NestedScript | None:
    """The script that a shell among a command's words is given, where it is in double quotes and not wholly known."""
    if not any(program_name(word) in _SHELLS for word in words):
        return None
    for start, end in ranges:
        raw = source.text[start:end]
        if len(raw) < 2 or raw[0] != '"' or raw[-1] != '"':
            continue
        span = source.span_of(start, end)
        word = next((word for word in words if word.value is None and word.span == span), None)
        if word is not None:
            return _read(word, source.part(start + 1, end - 1), scope)
    return None


def _read(word: Word, inside: Placed, scope: Scope) -> NestedScript:
    template = Template(re.compile(r"(?!)"))
    parts: list[str] = []
    places: list[int] = []
    source, at = inside.text, 0
    while at < len(source):
        end = _expansion_end(source, at)
        if source[at] == "\\" and source[at + 1 : at + 2] in {"$", "`", '"', "\\", "\n"}:
            escaped = source[at + 1] if source[at + 1] != "\n" else ""
            parts.append(escaped)
            places += [inside.at[at]] * len(escaped)
            at += 2
        elif end > at:
            raw = source[at:end]
            value = assigned(f'"{raw}"', None, scope).value
            text = value if value is not None else template.hole(raw) * (end - at)
            parts.append(text)
            places += inside.at[at:end] if value is None else [inside.at[at]] * len(text)
            at = end
        else:
            parts.append(source[at])
            places.append(inside.at[at])
            at += 1
    return NestedScript(word, Placed("".join(parts), inside.outer, places), template.holes)


def _expansion_end(text: str, at: int) -> int:
    """The end of a variable or substitution that begins at a place; the place itself where none does."""
    if text[at] == "`":
        end = text.find("`", at + 1)
        return end + 1 if end > 0 else len(text)
    if text.startswith(("${", "$("), at):
        return min(closing_position(text, at + 1) + 1, len(text))
    name = _NAME.match(text, at)
    return name.end() if name else at
