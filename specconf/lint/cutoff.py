"""Flags on lines of their own behind a launch, which its own lines do not reach: what cuts them off, in each language.

A line of flags begins with one; nothing but blank lines and comments stands between it and the last line of the launch, which
ends without its mark of continuation, or whose mark is followed by something.
"""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.readers.commandline import words_of
from specconf.readers.found import ReadLaunch
from specconf.readers.source import SourceText
from specconf.words import Span, Word

_FLAG_LINE = pattern(r"[ \t]*(?P<words>(?:--[A-Za-z][\w.-]*|-[A-Za-z]\w*)(?=[=\s]|\Z)[^\n]*)")
_OPERATOR = pattern(r"[;&|]")


class Language(Struct, frozen=True):
    """How lines are continued. `mark` and what it is called; `comment`: how one begins; `does`: what becomes of such a line.

    `unix`: whether line ends of Windows break its continued lines; `inside`: whether comments may stand between them.
    """

    mark: str
    called: str
    does: str
    comment: str = r"#"
    unix: bool = False
    inside: bool = False


_SHELL = Language("\\", "backslash", "the shell runs it as a command of its own", unix=True)
_LANGUAGES = {
    "powershell": Language("`", "backtick", "PowerShell takes it for a statement of its own"),
    "batch": Language("^", "caret", "cmd runs it as a command of its own", r"(?i:@?rem\b|::)"),
    "systemd": Language("\\", "backslash", "systemd does not read it", r"[#;]", inside=True),
    "makefile": Language("\\", "backslash", "make runs it as a command of its own"),
    "dockerfile": Language("\\", "backslash", "it is read as an instruction of its own", inside=True),
}


class Why(Enum):
    """What ends a launch before its flags do."""

    MISSING = "missing"
    BLANKS = "blanks"
    COMMENT = "comment"
    WINDOWS = "windows"


class Cut(Struct, frozen=True):
    """The flags of the first line that is cut off, why, and the place that says so.

    `end`: the index behind the last word of the launch; `own`: what follows it on its line; `first`: where the flags begin.
    """

    why: Why
    language: Language
    where: Span | None
    words: tuple[Word, ...]
    end: int = -1
    own: str = ""
    first: int = -1

    @property
    def flags(self) -> str:
        """The flags by name, as they are told."""
        return ", ".join(word.text.partition("=")[0] for word in self.words if re.match(r"--?[A-Za-z]", word.text))


def language_of(format_name: str, launch: ReadLaunch) -> Language | None:
    """The language in which a launch is written; None where its words are not continued from line to line."""
    return _LANGUAGES.get(format_name) or (_SHELL if launch.in_script else None)


def cut_off(launch: ReadLaunch, format_name: str, source: SourceText) -> tuple[ReadLaunch, Cut | None]:
    """What is cut off from a launch, and the launch without the words that only a broken continuation makes."""
    language = language_of(format_name, launch)
    if language is None:
        return launch, None
    trimmed = _without_marks(launch, language, source)
    end = _end(trimmed, source)
    found = _behind(end, language, source, unix=format_name == "shell") if end >= 0 else None
    if found is not None:
        known = bool(launch.orphans) and _index(launch.orphans[0].span, source) == found.first
        return trimmed, replace(
            found, words=launch.orphans
        ) if known else found  # with the variables that the shell knows
    return launch, _told_by_the_shell(launch, language, source, end)


def _end(launch: ReadLaunch, source: SourceText) -> int:
    """The index behind the last word that stands in the command itself; -1 where none has an exact place."""
    start = _index(launch.launch.span, source)
    ends = [
        source.at(word.span.end_line, word.span.end_column)
        for word in launch.launch.argv
        if _index(word.span, source) >= start >= 0 and word.span is not None and word.span != launch.launch.span
    ]
    end = max(ends, default=-1)
    return end - 1 if end > 0 and source.text.startswith("\r\n", end - 1) else end


def _index(span: Span | None, source: SourceText) -> int:
    if span is None or span.path != source.path or not span.end_line or not span.column:
        return -1
    return source.at(span.line, span.column)


def _without_marks(launch: ReadLaunch, language: Language, source: SourceText) -> ReadLaunch:
    """A launch without a last word that is a mark before a blank, or a comment that a mark makes words of."""
    argv = launch.launch.argv
    while argv and argv[-1].raw[:1] == language.mark and not argv[-1].raw[1:].strip():
        argv = argv[:-1]
    behind = next(
        (at for at, word in enumerate(argv) if re.match(rf"{re.escape(language.mark)}[ \t]+#", word.raw)), None
    )
    argv = argv[:behind]  # the blank makes a word of it, and so the comment is none
    comment = re.compile(rf"(?:{language.comment})")
    for at, word in enumerate(argv) if language.mark == "^" else ():
        index = _index(word.span, source)
        if (
            index > 0
            and comment.match(word.text)
            and not source.text[source.text.rfind("\n", 0, index) + 1 : index].strip()
        ):
            argv = argv[:at]
            break
    return launch if len(argv) == len(launch.launch.argv) else replace(launch, launch=replace(launch.launch, argv=argv))


def _behind(end: int, language: Language, source: SourceText, *, unix: bool) -> Cut | None:
    """The flags on the lines behind a place, where those are no more of the command that ends there."""
    mark, text = re.escape(language.mark), source.text
    behind = rf"(?P<comment>(?:(?<=[ \t])|(?<={mark})){language.comment}[^\n]*?)?"
    own = re.compile(rf"[ \t]*(?:(?P<mark>{mark})(?P<blank>[ \t]*))?{behind}(?P<end>\r?\n)").match(text, end)
    if own is None:
        return None
    between = re.compile(rf"(?:[ \t]*(?:{language.comment}[^\n]*)?\r?\n)*").match(text, own.end())
    first = _FLAG_LINE.match(text, between.end() if between else own.end())
    if first is None:
        return None
    comments = re.compile(rf"^[ \t]*(?P<comment>{language.comment}[^\r\n]*)", re.MULTILINE)
    comment = comments.search(text, own.end(), first.start()) if not language.inside else None
    at: tuple[int, int] | None = None
    if own["mark"] and unix and own["end"] == "\r\n" and language.unix and not own["blank"] and not own["comment"]:
        why, at = Why.WINDOWS, (own.start("mark"), own.start("mark") + 1)
    elif own["comment"] and own["mark"]:
        why, at = Why.COMMENT, own.span("comment")
    elif own["blank"]:
        why, at = Why.BLANKS, (own.start("mark"), own.end("blank"))
    elif own["mark"] and comment is not None:
        why, at = Why.COMMENT, comment.span("comment")
    elif own["mark"] and text[own.end() : first.start()].strip() == "" and first.start() == own.end():
        return None  # it is continued
    else:
        why = Why.MISSING
    words = _words(source, first, language)
    where = source.span_of(*at) if at is not None else words[0].span
    return Cut(why, language, where, words, end, text[own.start() : own.end()], first.start("words"))


def _words(source: SourceText, first: re.Match[str], language: Language) -> tuple[Word, ...]:
    """The words of a line of flags and of those that it is continued on."""
    end = re.compile(rf"(?:[^\n]*{re.escape(language.mark)}\r?\n)*[^\n]*").match(source.text, first.start("words"))
    part = source.part(first.start("words"), end.end() if end else first.end())
    words = words_of(part)
    return tuple(word for word in words if word.raw.strip() not in ("", language.mark)) or words


def _told_by_the_shell(launch: ReadLaunch, language: Language, source: SourceText, end: int) -> Cut | None:
    """A command of flags that the shell meets next where lines of the file do not show it, as in a text with escapes."""
    if not launch.orphans:
        return None
    start = _index(launch.orphans[0].span, source)
    if 0 <= end <= start and _OPERATOR.search(source.text[end:start]):
        return None
    if not re.match(r"--?[A-Za-z]", launch.orphans[0].text):
        return None
    return Cut(Why.MISSING, language, launch.orphans[0].span, launch.orphans)
