"""Terminals that live on without anybody before them: what `tmux` and `screen` start in their windows, or type into them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.words import Word

_VALUED = frozenset({"-c", "-e", "-f", "-F", "-l", "-n", "-p", "-s", "-t", "-x", "-y"})
# Options with a value, by the command of tmux; all others are flags.
_STARTS = {
    "new-session": _VALUED, "new": _VALUED, "new-window": _VALUED, "neww": _VALUED, "split-window": _VALUED,
    "splitw": _VALUED, "respawn-pane": _VALUED, "respawnp": _VALUED, "respawn-window": _VALUED, "respawnw": _VALUED,
    "run-shell": _VALUED | {"-d"}, "run": _VALUED | {"-d"}, "display-popup": _VALUED | {"-d"}, "popup": _VALUED | {"-d"},
}  # fmt: skip
_TYPES = frozenset({"send-keys", "send"})
_BEFORE = frozenset(["-L", "-S", "-f", "-c", "-T"])
_KEY = pattern(r"(?:C-|M-|S-|\^)\S+\Z|(?:Enter|KPEnter|Escape|Space|Tab|BSpace|Up|Down|Left|Right|Home|End|F\d+)\Z")
_LINE_END = pattern(r"(?:\\[nr]|\^M|\s)+\Z")


def in_session(argv: tuple[Word, ...]) -> tuple[tuple[Word, ...], bool]:
    """What `tmux` or `screen` runs: words, and whether they are the lines of a script rather than one command."""
    program = (argv[0].value or "").rpartition("/")[2]
    found = list(_tmux(argv[1:])) if program == "tmux" else _screen(argv[1:])
    lines = [words[0] for words, is_line in found if is_line and words]
    if lines:
        return tuple(lines), True
    return next((words for words, _ in found if words), ()), False


def _tmux(argv: tuple[Word, ...]) -> Iterator[tuple[tuple[Word, ...], bool]]:
    """Each of the commands that `;` separates: a line, or the words of a program."""
    at = _behind_options(argv, 0, _BEFORE)
    for words in _separated(argv[at:]):
        name = words[0].value or ""
        if name in _TYPES:
            yield from (((_typed(word),), True) for word in _keys(words[1:]))
        elif name in _STARTS:
            rest = words[_behind_options(words, 1, _STARTS[name]) :]
            yield rest, len(rest) == 1


def _separated(argv: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    current: list[Word] = []
    for word in argv:
        if word.value == ";":
            if current:
                yield tuple(current)
            current = []
        else:
            current.append(word)
    if current:
        yield tuple(current)


def _keys(words: tuple[Word, ...]) -> Iterator[Word]:
    """The texts among the keys that are typed."""
    for word in words[_behind_options(words, 0, frozenset({"-t", "-N", "-c"})) :]:
        if word.value is None or not _KEY.match(word.value):
            yield word


def _screen(argv: tuple[Word, ...]) -> list[tuple[tuple[Word, ...], bool]]:
    """`screen -dmS NAME COMMAND…`, `screen -S NAME -X stuff TEXT`."""
    stuffed = next((at for at, word in enumerate(argv) if word.value == "stuff"), None)
    if stuffed is not None:
        return [((_typed(word),), True) for word in argv[stuffed + 1 :]]
    rest = argv[_behind_options(argv, 0, frozenset(["-c", "-e", "-h", "-p", "-s", "-S", "-t", "-T", "-Logfile"])) :]
    return [(rest, len(rest) == 1)]


def _behind_options(words: tuple[Word, ...], at: int, valued: frozenset[str]) -> int:
    """The index of the first word that is no option and no value of one."""
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        if text == "--":
            return at + 1
        last = f"-{text[-1]}" if re.fullmatch(r"-\w+", text) else ""
        at += 2 if text in valued or last in valued else 1
    return at


def _typed(word: Word) -> Word:
    """A text without the end of line that is typed with it."""
    if word.value is None:
        return word
    cut = _LINE_END.sub("", word.value)
    part = getattr(word.places, "part", None)
    places = part(0, len(cut)) if part is not None and getattr(word.places, "text", "") == word.value else None
    return word if cut == word.value else replace(word, value=cut, places=places)
