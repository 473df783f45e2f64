"""Comments in a deploy file that are meant for specconf: findings not to tell, with the reason, and the release of launches.

    # specconf: ignore[SC203] the tree was measured        the line it ends, else the next line
    # specconf: release vllm=0.33.0                        the launches below it

A comment that covers the line on which a launch begins covers the whole launch: between continued lines no comment can stand.
The comment is one of the file's kind. What cannot be read, gives no reason, or suppresses nothing is told as SC708.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.codes import CODES
from specconf.compat.names import engine_name
from specconf.errors import SpecconfError
from specconf.findings import Finding, Severity
from specconf.patterns import pattern
from specconf.readers.found import ReadLaunch
from specconf.readers.source import lines_of
from specconf.readers.stated import Firmness, Stated
from specconf.words import Span

CODE = "SC708"
_WORD = "specconf:"
_COMMENT_SIGNS = (
    ((".bat", ".cmd"), r"(?:REM\b|::)"),
    ((".md", ".markdown"), r"(?:<!--|\#|//)"),
    ((".html", ".xml"), r"<!--"),
    ((".tf", ".hcl", ".jsonc", ".json5", ".js", ".ts"), r"(?:\#|//)"),
    ((".ini", ".conf", ".cfg", ".service"), r"(?:\#|;)"),
    ((".yaml", ".yml", ".tpl"), r"(?:\#|\{\{-?\s*/\*)"),
)
_SCRIPT_SIGN = r"\#"
_STATED = pattern(r"(?P<engine>[A-Za-z][\w.-]*)\s*==?\s*(?P<release>[\"']?[\w.+!-]+[\"']?)")
_PATTERN = pattern(r"SC\d{1,3}|[a-z][\w-]*/[\w./-]+")


class SuppressedBy(StrEnum):
    """What suppressed a finding."""

    COMMENT = "comment"
    BASELINE = "baseline"
    SETTINGS = "settings"


class Suppressed(Struct, frozen=True):
    """A finding that is not told. `launch`: the key of its launch, empty for one of the file itself."""

    finding: Finding
    launch: str
    by: SuppressedBy
    reason: str = ""


class _Ignore(Struct):
    """One `ignore` comment: the line it covers, and which of its patterns have met a finding."""

    where: Span
    covers: int
    patterns: tuple[str, ...]
    reason: str
    used: set[str] = field(default_factory=set)


class _Release(Struct):
    """One `release` comment, and whether a launch of its engine stands below it."""

    stated: Stated
    where: Span
    used: bool = False


class Comments(Struct):
    """The comments of one file that are meant for specconf."""

    ignores: list[_Ignore] = field(default_factory=list)
    releases: list[_Release] = field(default_factory=list)
    broken: list[Finding] = field(default_factory=list)

    def stated_for(self, launch: ReadLaunch) -> ReadLaunch:
        """The launch, with the release of the nearest comment above it before all that its file states."""
        line = launch.launch.span.line if launch.launch.span else 0
        above = [one for one in self.releases if one.stated.engine == launch.launch.engine and one.where.line <= line]
        if not above:
            return launch
        above[-1].used = True
        return replace(launch, stated=(above[-1].stated, *launch.stated))

    def suppresses(self, finding: Finding, launch: Span | None) -> str | None:
        """The reason for which a finding is not told; None for one that is."""
        reason = None
        for ignore in self.ignores:
            if not _covered(ignore, finding.where, launch):
                continue
            for named in ignore.patterns:
                if finding.constraint == named or finding.code.startswith(named):
                    ignore.used.add(named)
                    reason = ignore.reason if reason is None else reason
        return reason

    def problems(self) -> Iterator[Finding]:
        """What is wrong with these comments, once every finding was put to them."""
        yield from self.broken
        for ignore in self.ignores:
            for named in ignore.patterns:
                if named not in ignore.used:
                    message = f"Nothing on line {ignore.covers} yields {named}: this comment suppresses nothing of it."
                    yield _problem(message, "Remove it from the comment.", ignore.where, Severity.INFO)
        for release in self.releases:
            if not release.used:
                engine = release.stated.engine
                message = f"No launch of {engine} stands below this comment, so that the release it states is not used."
                yield _problem(message, "Write it above the launch, or remove it.", release.where, Severity.INFO)


def _covered(ignore: _Ignore, where: Span | None, launch: Span | None) -> bool:
    if launch is not None and launch.line == ignore.covers:
        return True
    return where is not None and where.path == ignore.where.path and where.line == ignore.covers


def read_comments(path: str, text: str) -> Comments:
    """The comments of a file that are meant for specconf."""
    comments = Comments()
    if _WORD not in text:
        return comments
    sign = next((signs for suffixes, signs in _COMMENT_SIGNS if path.lower().endswith(suffixes)), _SCRIPT_SIGN)
    meant = re.compile(rf"(?P<before>^|^.*?\s)(?P<sign>{sign})\s*{_WORD}\s*(?P<said>.*)$", re.IGNORECASE)
    bare = re.compile(rf"^\s*(?:{sign}.*)?$", re.IGNORECASE)
    lines = lines_of(text)
    for number, line in enumerate(lines, 1):
        match = meant.match(line) if _WORD in line else None
        if match is None:
            continue
        where = Span(path, number, match.start("sign") + 1, number, len(line.rstrip()) + 1)
        said = re.sub(r"\s*(?:-->|\*/\s*-?\}\})\s*$", "", match["said"]).strip()
        covers = number if match["before"].strip() else _next_line(lines, number, bare)
        _read(comments, said, where, covers)
    return comments


def _next_line(lines: Sequence[str], number: int, bare: re.Pattern[str]) -> int:
    """The first line after a comment that is neither empty nor a comment; the last line where there is none."""
    for i in range(number, len(lines)):
        if not bare.match(lines[i]):
            return i + 1
    return len(lines)


def _read(comments: Comments, said: str, where: Span, covers: int) -> None:
    verb = said[: len(said) - len(said.lstrip(string.ascii_letters))]
    rest = said.removeprefix(verb).strip()
    if verb == "ignore":
        listed, closed, reason = rest.removeprefix("[").partition("]")
        patterns = tuple(part for part in (name.strip() for name in listed.split(",")) if part)
        problem = _ignore_problem(patterns, closed, reason)
        if problem is None:
            comments.ignores.append(_Ignore(where, covers, patterns, reason.strip()))
        else:
            comments.broken.append(_problem(*problem, where, Severity.WARNING))
    elif verb == "release":
        _read_releases(comments, rest, where)
    else:
        message = f"{verb or 'Nothing'!r} is nothing that a specconf comment can say."
        comments.broken.append(_problem(message, CODES[CODE].fix, where, Severity.WARNING))


def _ignore_problem(patterns: Sequence[str], closed: str, reason: str) -> tuple[str, str] | None:
    if not patterns or not closed:
        return "This comment names no code, so that nothing is suppressed.", "Write ignore[CODE] and the reason."
    for named in patterns:
        known = "/" in named or any(code.startswith(named) for code in CODES)
        if not _PATTERN.fullmatch(named) or not known:
            return f"{named} is no finding code, prefix of one, or constraint id.", "Correct or remove it."
    if not reason.strip():
        message = f"This comment gives no reason, so that {', '.join(patterns)} is told all the same."
        return message, "Write the reason behind the bracket."
    return None


def _read_releases(comments: Comments, rest: str, where: Span) -> None:
    """`ENGINE=RELEASE`, one or several; what is left over beside them is told once."""
    for match in _STATED.finditer(rest):
        _read_release(comments, match, where)
    left = " ".join(part for part in re.split(r"[\s,]+", _STATED.sub(" ", rest)) if part)
    if left or not _STATED.search(rest):
        message = f"{repr(left) if left else 'This comment'} states no release."
        engine, _, release = left.partition(" ")
        meant = f"{engine.rstrip(':')}={release}" if re.fullmatch(r"v?\d[\w.+!-]*", release) else "ENGINE=RELEASE"
        comments.broken.append(_problem(message, f"Write release {meant}.", where, Severity.WARNING))


def _read_release(comments: Comments, match: re.Match[str], where: Span) -> None:
    release = match["release"].strip("\"'")
    try:
        engine = engine_name(match["engine"])
    except SpecconfError:
        message = f"{match[0]!r} states no release."
        comments.broken.append(_problem(message, "Write release ENGINE=RELEASE.", where, Severity.WARNING))
        return
    comments.releases.append(_Release(Stated(engine, release, Firmness.EXACT, "specconf comment", where), where))


def _problem(message: str, fix: str, where: Span, severity: Severity) -> Finding:
    return Finding(CODE, severity, message, fix=fix, where=where)
