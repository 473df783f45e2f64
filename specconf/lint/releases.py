"""The release that a launch is judged at: what its file states, by rank, and what a project or a command line says.

The rank: the image or what else the format itself states; a variable or pin in the file; a comment that holds one engine and
one version beside the launch; the project's setting. An explicit release beats all of these. Nothing is guessed: where
several pins of one engine contradict each other, the nearest before the launch counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from msgspec import Struct, field
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from specconf.compat.database import Database
from specconf.compat.view import View
from specconf.errors import UnknownReleaseError
from specconf.findings import Finding, Severity
from specconf.patterns import pattern
from specconf.readers.containers import image_of
from specconf.readers.found import ReadLaunch
from specconf.readers.images import known_images
from specconf.readers.source import SourceText, lines_of
from specconf.readers.stated import Firmness, Stated
from specconf.words import Span, Word

_VERSION = r"v?(?P<version>\d+\.\d+(?:\.\d+)?(?:(?:a|b|rc|\.?post|\.?dev)\d+)*)"
_BOUND = r"(?:[=~!<>]=|[<>])\s*[\w.*]+"
_NAMES = {"vllm": r"vllm", "sglang": r"(?:sglang|sgl)", "tensorrt-llm": r"(?:tensorrt[-_ ]?llm|trt[-_ ]?llm)"}
# Comments that speak of releases in general, or of another than the one that runs.
_IN_GENERAL = pattern(
    r"\b(?:since|before|until|from|after|requires?|needs?|newer|older|later|earlier|fixed|introduced|removed|added|bug|issue|"
    r"broken|regress\w*|deprecated|todo|was|will|unlike|not)\b|[<>]=?|\bup to\b|/(?:issues|pull)/",
    re.IGNORECASE,
)
_COMMENT = pattern(r"^\s*(?:#|//|;|::|REM\b|rem\b|<!--|--\s)")
# What setuptools-scm makes of a checkout that has no tags.
_NO_TAGS = pattern(r"v?0\.(?:1|0|0\.1)\.dev\d+")
_BY_HAND = ("command line", "specconf comment", "project setting")
_SPECCONF = pattern(r"\bspecconf:")  # a comment that is meant for specconf: `suppress` reads those
_BESIDE = 12  # lines before a launch in which a comment is beside it
_HEAD = 8  # lines at the top of a file whose comments are about all of it


class Chosen(Struct, frozen=True):
    """Where a launch is judged, and what is to be said of that.

    `views`: the releases that may run it, the newest first; none where it cannot be judged. `any_release`: nothing states a
    release, so that only what holds in every one is said.
    """

    views: tuple[View, ...]
    text: str = ""
    how: str = ""
    where: Span | None = None
    findings: tuple[Finding, ...] = ()
    fork: bool = False
    any_release: bool = False


class StatedInText(Struct, dict=True):
    """The releases that a file's text states outside of its launches, found once for all of them.

    `owned`: lines with the image that a launch runs in, which says nothing of another launch.
    """

    source: SourceText
    owned: frozenset[int] = frozenset()
    _found: dict[str, tuple[Stated, ...]] = field(default_factory=dict)

    def for_launch(self, launch: ReadLaunch) -> Iterator[Stated]:
        """The nearest variable or pin, then a comment beside the launch.

        A launch in an image whose tag moves has that engine, whatever other images and pins the file has.
        """
        engine = launch.launch.engine
        line = launch.launch.span.line if launch.launch.span else 1
        moves = any(one.engine == engine and one.firmness is Firmness.FLOATING for one in launch.stated)
        if not moves and (near := _nearest(self._of(engine, "pins"), line)) is not None:
            yield near
        beside = [one for one in self._of(engine, "comments") if _is_beside(one, line)]
        if len({one.text for one in beside}) == 1:
            yield beside[-1]

    def _of(self, engine: str, kind: str) -> tuple[Stated, ...]:
        key = f"{engine} {kind}"
        if key not in self._found:
            found = self._pins(engine) if kind == "pins" else self._comments(engine)
            self._found[key] = tuple(found)
        return self._found[key]

    @cached_property
    def lines(self) -> list[str]:
        """The text by its lines."""
        return lines_of(self.source.text)

    def _pins(self, engine: str) -> Iterator[Stated]:
        name = _NAMES[engine]
        pin = re.compile(
            rf"(?<![\w./-]){name}(?:\[[\w, -]*\])?\s*(?P<spec>{_BOUND}(?:\s*,\s*{_BOUND})*)",
            re.I,
        )
        variable = re.compile(
            rf"(?<![A-Za-z]){name}[-_]?(?:image[-_]?)?(?:version|ver|tag|release|image)\b['\"]?\s*[:?+]?[=:]\s*['\"]?\s*(?:\$\{{\w+:?-)?{_VERSION}(?=[\s'\"}},;)-]|$)",
            re.I,
        )
        module = re.compile(rf"\b(?:module\s+load\s.*?\b{name}/|{name}[-/])v?{_VERSION}(?=[/\s'\"]|$)", re.I)
        for number, line in enumerate(self.lines, 1):
            if _COMMENT.match(line) and not line.lstrip().startswith('# "'):
                continue
            for match in pin.finditer(line):
                yield self._pinned(engine, match, number)
            for match in variable.finditer(line):
                yield self._exact(engine, match, number, "variable")
            for match in module.finditer(line):
                yield self._exact(engine, match, number, "path or module")
            yield from self._images(engine, line, number)

    def _images(self, engine: str, line: str, number: int) -> Iterator[Stated]:
        if number in self.owned:
            return
        for image in known_images():
            if image.engine != engine or image.repository not in line:
                continue
            for match in re.finditer(rf"[\w./:-]*{re.escape(image.repository)}:[\w.-]+", line):
                word = Word(match[0], self._span(number, match), match[0])
                used = image_of(word)
                if used is not None and used.image is image:
                    yield from (one for one in used.stated if one.firmness is not Firmness.FLOATING)

    def _pinned(self, engine: str, match: re.Match[str], number: int) -> Stated:
        spec = re.sub(r"\s", "", match["spec"])
        exact = re.fullmatch(r"==([\w.]+)", spec)
        where = self._span(number, match)
        if exact and "*" not in spec:
            return Stated(engine, exact[1], Firmness.EXACT, "pin", where)
        return Stated(engine, spec, Firmness.RANGE, "pin", where)

    def _exact(self, engine: str, match: re.Match[str], number: int, how: str) -> Stated:
        return Stated(engine, match["version"], Firmness.EXACT, how, self._span(number, match))

    def _comments(self, engine: str) -> Iterator[Stated]:
        """Comments that hold exactly one engine and one version."""
        named = re.compile(
            "|".join(rf"(?P<e{i}>(?<![\w/.-]){name}(?![\w/]))" for i, name in enumerate(_NAMES.values())), re.I
        )
        engines = list(_NAMES)
        version = re.compile(rf"(?<![\w.]){_VERSION}(?![\w+*'])")
        for number, line in enumerate(self.lines, 1):
            text = line if _COMMENT.match(line) else _trailing(line)
            if not text:
                continue
            if _IN_GENERAL.search(text) or _SPECCONF.search(text):
                continue
            if images := list(self._images(engine, line, number)):
                yield from images
                continue
            names = {engines[int((match.lastgroup or "e0")[1:])] for match in named.finditer(text)}
            versions = {match["version"] for match in version.finditer(text) if match["version"].count(".") > 1}
            if names == {engine} and len(versions) == 1:
                yield Stated(engine, versions.pop(), Firmness.EXACT, "comment", Span(self.source.path, number, 1))

    def _span(self, number: int, match: re.Match[str]) -> Span:
        return Span(self.source.path, number, match.start() + 1, number, match.end() + 1)


def _trailing(line: str) -> str:
    found = re.search(r"(?:^|\s)#\s(.*)", line)
    return found[1] if found else ""


def _line(one: Stated) -> int:
    return one.where.line if one.where is not None else 0


def _nearest(pins: Sequence[Stated], line: int) -> Stated | None:
    """The only release that is pinned, else the nearest before the launch."""
    if len({one.text for one in pins}) == 1:
        return pins[0]
    before = [one for one in pins if _line(one) <= line]
    return before[-1] if before else None


def _is_beside(one: Stated, line: int) -> bool:
    return _line(one) <= _HEAD or line - _BESIDE <= _line(one) <= line + 2


def choose(
    database: Database,
    launch: ReadLaunch,
    text: StatedInText,
    *,
    explicit: str | None = None,
    project: Mapping[str, str] | None = None,
) -> Chosen:
    """The release to judge a launch at. Where none is known, only what holds in every release is said."""
    engine = launch.launch.engine
    if explicit is not None:
        return _at(database, explicit, "command line", None)
    floating: Stated | None = None
    for one in chain(launch.stated, text.for_launch(launch)):  # what stands in the text is looked for where it counts
        if one.engine != engine:
            continue
        if one.firmness is Firmness.FLOATING:
            floating = floating or one
            continue
        if one.firmness is Firmness.RANGE:
            chosen = _in_range(database, one)
            if chosen is not None:
                return chosen
            continue
        return _at(database, one.text, one.how, one.where, fork=one.firmness is Firmness.FORK)
    if project and engine in project:
        return _at(database, project[engine], "project setting", None)
    if floating is not None:
        return _floating(database, floating)
    return _unknown(database)


def _at(database: Database, release: str, how: str, where: Span | None, *, fork: bool = False) -> Chosen:
    try:
        view = database.at(release)
    except UnknownReleaseError as error:
        message = error.message
        if _NO_TAGS.match(release):
            message = (
                f"{database.engine} {release} is what a build from a checkout without its tags calls itself: it does not say "
                "which release it is."
            )
        finding = Finding("SC702", Severity.WARNING, message, engine=database.engine, release=release, where=where)
        return Chosen((), release, how, where, (finding,))
    findings: tuple[Finding, ...] = ()
    if view.point.notice:
        findings = (
            Finding(
                "SC702", Severity.INFO, view.point.notice, engine=database.engine, release=release,
                checked_as=view.point.checked_as, where=where,
            ),
        )  # fmt: skip
    elif (known := view.point.checked_as) != release.removeprefix("v") and how in _BY_HAND:
        message = f"{database.engine} {release} is read as its release {known}."
        findings = (
            Finding(
                "SC702", Severity.INFO, message, engine=database.engine, release=release, checked_as=known,
                fix=f"Write {known}.", where=where,
            ),
        )  # fmt: skip
    return Chosen((view,), release, how, where, findings, fork)


def _in_range(database: Database, one: Stated) -> Chosen | None:
    """A closed range is judged at all of its releases at once; one that is open above, at the newest in it."""
    try:
        specifiers = SpecifierSet(one.text)
    except InvalidSpecifier:
        return None
    names = database.line.names
    inside = [i for i, name in enumerate(names) if specifiers.contains(Version(name), prereleases=False)]
    if not inside:
        return None
    bounded = any(s.operator in ("<", "<=", "==", "~=") for s in specifiers)
    if len(inside) == 1:
        return _at(database, names[inside[0]], one.how, one.where)
    finding = Finding(
        "SC701",
        Severity.INFO,
        f"{one.how[:1].upper()}{one.how[1:]} {one.text} does not say which release of {database.engine} runs: "
        f"{len(inside)} known ones fit it, {names[inside[0]]} to {names[inside[-1]]}.",
        engine=database.engine,
        release=one.text,
        fix=f"Pin one release, such as {names[inside[-1]]}.",
        where=one.where,
    )
    if bounded:
        views = tuple(database.at(names[i]) for i in reversed(inside))
        return Chosen(views, one.text, one.how, one.where, (finding,))
    return Chosen((database.at(names[inside[-1]]),), one.text, one.how, one.where, (finding,))


def _floating(database: Database, one: Stated) -> Chosen:
    newest = database.line.newest_final
    moves = one.text == "latest"
    finding = Finding(
        "SC701",
        Severity.INFO,
        f"The image tag {one.text!r} does not say which release of {database.engine} runs: "
        + (
            f"judged as {newest}, the newest final release known."
            if moves
            else "only what holds in every release is said."
        ),
        engine=database.engine,
        release=one.text,
        fix=f"Write a release as the tag, such as v{newest}.",
        where=one.where,
    )
    if not moves:
        return Chosen(_everywhere(database), one.text, one.how, one.where, (finding,), any_release=True)
    return Chosen((database.at(newest),), one.text, one.how, one.where, (finding,))


def _unknown(database: Database) -> Chosen:
    return Chosen(_everywhere(database), "", "not stated", any_release=True)


def _everywhere(database: Database) -> tuple[View, ...]:
    """Every release, the newest final one first: what is not so there is not so in all."""
    newest = database.line.newest_final
    others = [name for name in reversed(database.line.names) if name != newest]
    return tuple(database.at(name) for name in (newest, *others))
