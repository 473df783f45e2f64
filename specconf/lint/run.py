"""One deploy file → its launches, judged. Nothing is printed and nothing written here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from specconf.compat.database import Database
from specconf.engines.base import Engine, Models
from specconf.engines.registry import get_engine
from specconf.errors import InputError, MissingPackage
from specconf.findings import Effect, Finding, Severity
from specconf.lint.keys import launch_keys
from specconf.lint.releases import StatedInText, choose
from specconf.lint.results import FileResult, Judged
from specconf.lint.shape import recoded, shape_findings, written_twice
from specconf.lint.skipping import LARGEST, cannot_hold_a_launch
from specconf.lint.suppress import Comments, Suppressed, SuppressedBy, read_comments
from specconf.lint.tags import tag_findings
from specconf.readers.fragments import Around, nothing_around
from specconf.readers.images import known_images
from specconf.readers.launches import mentions_program
from specconf.readers.registry import ReadLaunch, detected_format, read_launches
from specconf.readers.source import SourceText
from specconf.rules.judge import Judgement, judge_settings
from specconf.words import Launch, Span

if TYPE_CHECKING:
    from specconf.compat.view import View
    from specconf.settings import Settings

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

__all__ = ["FileResult", "Judged", "Linter", "in_all", "in_some"]


@dataclass(frozen=True)
class Linter:
    """What every file is judged with: databases, explicit releases, the project's, and how models are found."""

    database: Callable[[str], Database]
    models: Callable[[Settings, Engine, Path], Models]
    explicit: Mapping[str, str] = field(default_factory=dict)
    project: Mapping[str, str] = field(default_factory=dict)
    optional_formats: frozenset[str] = frozenset()

    def file(self, path: str, data: bytes, around: Around = nothing_around) -> FileResult:
        """Judge a file. Nothing is raised for what stands in it: what cannot be read is a finding."""
        if why := cannot_hold_a_launch(data):
            return FileResult(path, skipped=why)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            return FileResult(path, skipped=f"not UTF-8 text (byte {error.start + 1})")
        if "\0" in text:
            return FileResult(path, skipped="no text file")
        return self.text(path, text, around)

    def text(self, path: str, text: str, around: Around = nothing_around) -> FileResult:
        """Judge a text."""
        chosen = detected_format(path, text)
        if chosen is None:
            return FileResult(path, skipped="of no known kind")
        result = FileResult(path, text, chosen.name)
        try:
            launches = read_launches(path, text, around=around)
        except MissingPackage as missing:
            return FileResult(path, text, chosen.name, skipped=f"needs {missing.hint}")
        except InputError as error:
            if not (mentions_program(text) or any(image.repository in text for image in known_images())):
                return FileResult(path, text, chosen.name, skipped="not readable, and without an engine's launch")
            hint = error.hint or ""
            where = error.where or Span(path)
            result.findings.append(
                Finding("SC707", Severity.WARNING, _sentence(error.message), fix=_sentence(hint), where=where)
            )
            return result
        owned = (one.where for found in launches for one in found.stated)
        stated = StatedInText(
            SourceText(text, path), frozenset(w.line for w in owned if w is not None and w.path == path)
        )
        comments = read_comments(path, text)
        launches = [comments.stated_for(found) for found in launches]
        result.launches = [self._judged(found, stated, Path(path).parent) for found in launches]
        suppress(result, comments)
        return result

    def _judged(self, found: ReadLaunch, stated: StatedInText, folder: Path) -> Judged:
        name = found.launch.engine
        chosen = choose(self.database(name), found, stated, explicit=self.explicit.get(name), project=self.project)
        if not chosen.views:
            return Judged(found, chosen, chosen.findings)
        launch = with_files(found.launch, folder)
        engine, newest = get_engine(name), chosen.views[0]
        settings, judgement = self._at(launch, engine, newest, folder)
        findings = judgement.findings
        if len(chosen.views) > 1:
            others = (self._at(launch, engine, view, folder)[1].findings for view in chosen.views[1:])
            findings = in_all(findings, others) if chosen.any_release else in_some(findings, list(others))
        shape = list(shape_findings(found, name, chosen.text, stated.source.text))
        shape += written_twice(settings, name, chosen.text)
        shape += tag_findings(found, stated.source)
        findings = recoded(findings, settings, shape)
        if chosen.fork:
            findings = [_of_a_fork(finding) for finding in findings]
        placed = [_placed(finding, found.launch.span) for finding in (*chosen.findings, *shape, *findings)]
        unchecked = () if chosen.any_release else tuple(judgement.result.not_checked)
        return Judged(found, chosen, tuple(placed), unchecked, settings)

    def _at(self, launch: Launch, engine: Engine, view: View, folder: Path) -> tuple[Settings, Judgement]:
        settings = engine.resolve(launch, view)
        return settings, judge_settings(settings, engine, view, self.models(settings, engine, folder))


def in_all(findings: Sequence[Finding], others: Iterable[Sequence[Finding]]) -> list[Finding]:
    """The findings of one release that every other one has, too: those alone are sure where no release is stated."""
    left = {_key(finding): finding for finding in findings}
    for other in others:
        if not left:
            break
        met = {_key(finding) for finding in other}
        left = {key: finding for key, finding in left.items() if key in met}
    return [replace(finding, possible="every known release", releases="") for finding in left.values()]


def in_some(findings: Sequence[Finding], others: Sequence[Sequence[Finding]]) -> list[Finding]:
    """The findings of all releases of a range; what not every one of them has is a warning that says how many have it."""
    sets = [findings, *others]
    found: dict[tuple[object, ...], Finding] = {}
    times: dict[tuple[object, ...], int] = {}
    for one in sets:
        for key, finding in {_key(finding): finding for finding in one}.items():
            found.setdefault(key, finding)
            times[key] = times.get(key, 0) + 1
    return [
        finding
        if times[key] == len(sets)
        else replace(
            finding,
            severity=Severity.WARNING if finding.severity is Severity.ERROR else finding.severity,
            possible=f"{times[key]} of {len(sets)}",
        )
        for key, finding in found.items()
    ]


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.constraint, finding.option, finding.where


def with_files(launch: Launch, folder: Path) -> Launch:
    """A launch with the option files that it names and that lie beside its file."""
    known = {name for name, *_ in launch.files}
    found = []
    for word in launch.argv:
        name = (word.value or "").rpartition("=")[2]
        if name in known or not name.endswith((".yaml", ".yml", ".json")) or name.startswith(("/", "{")):
            continue
        path = folder / name
        try:
            if path.is_file() and path.stat().st_size <= LARGEST:
                found.append((name, path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError):
            continue  # what cannot be read is told as a file that is not known
    return replace(launch, files=(*launch.files, *found)) if found else launch


def _of_a_fork(finding: Finding) -> Finding:
    """A build of somebody's own may have taken back what its release refuses."""
    if finding.severity is not Severity.ERROR or finding.effect not in (Effect.REJECTS, Effect.CRASHES, None):
        return finding
    return replace(finding, severity=Severity.WARNING)


def _placed(finding: Finding, span: Span | None) -> Finding:
    shown = replace(finding, message=_printable(finding.message), fix=_printable(finding.fix))
    return shown if finding.where is not None and finding.where.line else replace(shown, where=span)


def _printable(text: str) -> str:
    """A text without characters that a terminal would obey: those are written as their escapes."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text else text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def suppress(result: FileResult, comments: Comments) -> None:
    """Take out of a result what its comments suppress, and put in what is wrong with these comments."""
    kept, launches = [], list[Judged]()
    for finding in result.findings:
        reason = comments.suppresses(finding, None)
        if reason is None:
            kept.append(finding)
        else:
            result.suppressed.append(Suppressed(finding, "", SuppressedBy.COMMENT, reason))
    for launch, key in zip(result.launches, launch_keys(found.read for found in result.launches), strict=True):
        left = []
        for finding in launch.findings:
            reason = comments.suppresses(finding, launch.read.launch.span)
            if reason is None:
                left.append(finding)
            else:
                result.suppressed.append(Suppressed(finding, key, SuppressedBy.COMMENT, reason))
        launches.append(replace(launch, findings=tuple(left)))
    result.launches = launches
    result.findings = [*kept, *comments.problems()]
