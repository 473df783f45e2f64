"""One deploy file → its launches, judged. Nothing is printed and nothing written here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.compat.database import Database
from specconf.engines.base import Engine, Models
from specconf.engines.registry import get_engine
from specconf.errors import InputError, MissingPackage
from specconf.findings import Effect, Finding, Severity
from specconf.lint.cutoff import Cut, cut_off
from specconf.lint.keys import launch_keys
from specconf.lint.releases import Chosen, StatedInText, choose
from specconf.lint.results import FileResult, Judged
from specconf.lint.several import in_all, in_some
from specconf.lint.shape import recoded, shape_findings, written_twice
from specconf.lint.skipping import cannot_hold_a_launch, why_no_text
from specconf.lint.spacing import with_spaced_equals
from specconf.lint.suppress import Comments, Suppressed, SuppressedBy, read_comments
from specconf.lint.tags import tag_findings
from specconf.lint.verdicts import Verdict, Verdicts, as_read
from specconf.lint.wording import as_keywords, in_code, in_language, of_one_version
from specconf.patterns import pattern
from specconf.readers.fragments import Around, nothing_around
from specconf.readers.images import known_images
from specconf.readers.mentions import unclaimed
from specconf.readers.programs import mentions_program
from specconf.readers.registry import ReadLaunch, detected_format, read_launches
from specconf.readers.source import SourceText
from specconf.rules.judge import Judgement, judge_settings
from specconf.rules.silence import always_said
from specconf.rules.spelling import spelling_findings
from specconf.words import Launch, Span

if TYPE_CHECKING:
    from specconf.compat.view import View
    from specconf.settings import Settings

_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f]")

__all__ = ["FileResult", "Judged", "Linter"]


class Linter(Struct, frozen=True):
    """What every file is judged with: databases, explicit releases, the project's, and how models are found."""

    database: Callable[[str], Database]
    models: Callable[[Settings, Engine, Path], Models]
    explicit: Mapping[str, str] = field(default_factory=dict)
    project: Mapping[str, str] = field(default_factory=dict)
    optional_formats: frozenset[str] = frozenset()
    known: Verdicts = field(default_factory=Verdicts)

    def file(self, path: str, data: bytes, around: Around = nothing_around) -> FileResult:
        """Judge a file. Nothing is raised for what stands in it: what cannot be read is a finding."""
        if why := cannot_hold_a_launch(data):
            return FileResult(path, skipped=why)
        short, full, line, column = why_no_text(data)
        if short:
            return FileResult(path, skipped=short, unread=f"{Span(path, line, column)}: {full}.")
        return self.text(path, data.decode("utf-8"), around)

    def text(self, path: str, text: str, around: Around = nothing_around) -> FileResult:
        """Judge a text."""
        chosen = detected_format(path, text)
        if chosen is None:
            return FileResult(path, skipped="of no known kind")
        result = FileResult(path, text, chosen.name)
        self.known.begin(path)
        try:
            launches = read_launches(path, text, around=around)
        except MissingPackage as missing:
            return FileResult(path, text, chosen.name, skipped=f"needs {missing.hint}")
        except InputError as error:
            if not (mentions_program(text) or any(image.repository in text for image in known_images())):
                return FileResult(path, text, chosen.name, skipped="not readable, and without an engine's launch")
            hint = error.hint or ""
            where = error.where or Span(path)
            result.unread = f"{where}: {error.message.rstrip('.')}."
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
        result.launches = [
            _in_words_of(
                self._judged(*cut_off(found, chosen.name, stated.source), stated, Path(path).parent), chosen.name
            )
            for found in launches
        ]
        if chosen.name == "shell":
            result.mentioned = unclaimed(text, path, launches)
        suppress(result, comments)
        return result

    def _judged(self, found: ReadLaunch, cut: Cut | None, stated: StatedInText, folder: Path) -> Judged:
        name = found.launch.engine
        chosen = choose(self.database(name), found, stated, explicit=self.explicit.get(name), project=self.project)
        if not chosen.views:
            return Judged(found, chosen, chosen.findings)
        launch, engine = found.launch, get_engine(name)
        settings, findings, unchecked = self.known.get(
            (as_read(launch), chosen.any_release, *(view.release for view in chosen.views)),
            lambda: self._verdict(launch, engine, folder, chosen),
        )
        shape = list(shape_findings(found, cut, name, chosen.text, stated.source.text))
        shape += written_twice(settings, name, chosen.text)
        shape += tag_findings(found, stated.source)
        findings = recoded(findings, settings, shape)
        findings = with_spaced_equals(findings, launch.argv, engine.title)
        if in_code(launch.argv):
            findings, shape = [as_keywords(f) for f in findings], [as_keywords(f) for f in shape]
        if chosen.fork:
            findings = [_of_a_fork(finding) for finding in findings]
        placed = [_placed(finding, found.launch.span) for finding in (*chosen.findings, *shape, *findings)]
        return Judged(found, chosen, tuple(placed), unchecked, settings, cut)

    def _verdict(self, launch: Launch, engine: Engine, folder: Path, chosen: Chosen) -> Verdict:
        newest, *others = chosen.views
        settings, judgement = self._at(launch, engine, newest, folder)
        findings = judgement.findings
        if chosen.any_release:
            sure = in_all(findings, newest, others, partial(self._still_met, launch, engine, folder))
            return Verdict(settings, sure, ())
        if others:
            findings = in_some(findings, [self._at(launch, engine, view, folder)[1].findings for view in others])
        return Verdict(settings, findings, tuple(judgement.result.not_checked))

    def _still_met(
        self, launch: Launch, engine: Engine, folder: Path, view: View, wanted: Sequence[Finding]
    ) -> Iterable[Finding]:
        """What another release says of a launch as far as it may be among the findings that are wanted of it.

        What is wrong with words themselves is known without any rule, where no rule could leave it unsaid.
        """
        if all(always_said(finding) for finding in wanted):
            return spelling_findings(engine.resolve(launch, view), engine, view)
        return self._at(launch, engine, view, folder)[1].findings

    def judgement(self, launch: Launch, engine: Engine, view: View, folder: Path) -> Judgement:
        """What one release makes of a launch's words, by themselves."""
        return self._at(launch, engine, view, folder)[1]

    def _at(self, launch: Launch, engine: Engine, view: View, folder: Path) -> tuple[Settings, Judgement]:
        settings = engine.resolve(launch, view)
        return settings, judge_settings(settings, engine, view, self.models(settings, engine, folder))


def _in_words_of(judged: Judged, language: str) -> Judged:
    """A launch whose findings about quoting fit the language of its file; what one version of it needs is no error."""
    if language not in ("batch", "powershell"):
        return judged
    told = []
    for finding in judged.findings:
        found = in_language(finding, language) if finding.code in ("SC103", "SC703", "SC706") else finding
        told.append(of_one_version(found) if language == "powershell" else found)
    return replace(judged, findings=tuple(told))


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
