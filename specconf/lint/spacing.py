"""A flag with blanks around its equals sign: one finding that says what to write, in place of one for each of its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from specconf.findings import Finding
from specconf.patterns import pattern
from specconf.words import Word

_FLAG = pattern(r"--?[A-Za-z][\w.-]*\Z")
_SHOWN = 60


class _Spaced(Struct, frozen=True):
    """One such flag: its name, its value, the text that the engine takes for the value, and the words of all three."""

    name: str
    value: str
    taken: str
    words: tuple[Word, ...]


def with_spaced_equals(findings: Sequence[Finding], argv: Sequence[Word], title: str) -> list[Finding]:
    """The findings of a launch, with those that an equals sign between blanks brings put together. `title`: the engine's."""
    left = list(findings)
    for one in _spaced(argv):
        met = [finding for finding in left if _is_about(finding, one)]
        if not met:
            continue
        first = min(met, key=lambda finding: finding.severity.rank)
        value = one.value if len(one.value) <= _SHOWN else f"{one.value[:_SHOWN]}…"
        whole = replace(
            first,
            code=next((finding.code for finding in met if finding.code != "SC101"), first.code),
            message=f"{one.name} has blanks around its equals sign: {title} takes '{one.taken}' for the value"
            + (f" and {value} for a word of its own." if one.taken != f"={one.value}" else "."),
            fix=f"Write {one.name} {value} or {one.name}={value}.",
            where=one.words[0].span,
            option=one.name,
        )
        at = left.index(met[0])
        left = [finding for finding in (*left[:at], whole, *left[at:]) if finding is whole or finding not in met]
    return left


def _spaced(argv: Sequence[Word]) -> Iterator[_Spaced]:
    for at, word in enumerate(argv[:-1]):
        text, following = word.value or "", argv[at + 1]
        after = argv[at + 2] if at + 2 < len(argv) else None
        if _FLAG.match(text) and following.value == "=" and after is not None and not _is_option(after):
            yield _Spaced(text, _shown(after), "=", (word, following, after))
        elif _FLAG.match(text) and (following.value or "").startswith("=") and len(following.text) > 1:
            yield _Spaced(text, following.text[1:], following.text, (word, following))
        elif text.endswith("=") and _FLAG.match(text[:-1]) and not _is_option(following):
            yield _Spaced(text[:-1], _shown(following), "", (word, following))


def _shown(word: Word) -> str:
    """A value as it may be written again: in its quotes, where it has some."""
    return word.raw if word.raw[:1] in ("'", '"') or word.value is None else word.value


def _is_option(word: Word) -> bool:
    return _FLAG.match(word.text.partition("=")[0]) is not None


def _is_about(finding: Finding, one: _Spaced) -> bool:
    """Whether a finding is of a word that the flag falls into, or of the flag with the value that it seems to have."""
    spans = [word.span for word in one.words]
    if finding.where is None or finding.where not in spans:
        return False
    return finding.where != spans[0] or f"'{one.taken}'" in finding.message
