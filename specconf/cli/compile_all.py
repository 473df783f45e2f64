"""`specconf compile --all`: the launches of every engine of a spec in every format, and an index of them, in one folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from specconf.cli.common import NEWEST, Asked, Session, failed, write_together
from specconf.cli.compile import as_written, passing_changes, print_findings, request_of
from specconf.emit import FORMATS
from specconf.engines.registry import get_engine
from specconf.errors import SpecconfError, UnknownReleaseError, UsageError
from specconf.report.index import (
    INDEX,
    MARK,
    PAGE,
    CompiledEngine,
    FormatFiles,
    index_text,
    listed_files,
    page_text,
)
from specconf.rules.judge import Judgement, judge_spec

if TYPE_CHECKING:
    from specconf.compat.view import View
    from specconf.engines.base import Engine, Models
    from specconf.spec import LoadedSpec


_EXECUTABLE = frozenset(name for form in FORMATS.values() for name in form.executable)


class Saying(Struct, frozen=True):
    """How much is said, and what is too much to be written."""

    fail_on: str
    force: bool
    quiet: bool
    verbose: bool


def compile_all(loaded: LoadedSpec, session: Session, asked: Asked, folder: Path, saying: Saying) -> int:
    """Judge everything, then write it; one engine that is refused stops no other. 1 if anything was refused."""
    earlier = _earlier(folder)
    texts: dict[str, str] = {}
    compiled = [_engine(name, loaded, session, asked, saying, texts) for name in asked.engines]
    stale = sorted(name for name in earlier - texts.keys() if (folder / name).is_file())
    spec = "-" if loaded.path == "-" else Path(loaded.path).name
    about = {PAGE: page_text(spec, compiled, stale), INDEX: index_text(spec, compiled, stale)}
    write_together(folder, texts | about, _EXECUTABLE)  # the index last: it says that all the others are there
    _tell(folder, compiled, texts, stale)
    return int(any(each.missing for each in compiled))


def _earlier(folder: Path) -> set[str]:
    """The files that an earlier run left there. UsageError where the index would take the place of somebody's own file."""
    found: set[str] = set()
    for name in (INDEX, PAGE):
        try:
            text = (folder / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError):
            text = ""
        listed = listed_files(text) if name == INDEX else set() if text.startswith(MARK) else None
        if listed is None:
            raise UsageError(
                f"{folder / name} is there already, and no earlier run wrote it.",
                hint="Choose a folder of its own with -o.",
            )
        found |= listed
    return found


def _engine(
    name: str, loaded: LoadedSpec, session: Session, asked: Asked, saying: Saying, texts: dict[str, str]
) -> CompiledEngine:
    """One engine at the release that compile would choose; what is to be written goes into `texts`."""
    engine, image = get_engine(name), loaded.spec.deployment.image
    try:
        view, found = session.views(name, asked, loaded.spec)[0]
    except UnknownReleaseError as error:
        release, place = _asked_release(name, asked, loaded, session)
        click.echo(f"== {engine.title} {release} ({place})\nspecconf: {error}", err=True)
        return CompiledEngine(name, engine.title, release, place, image, refused=str(error))
    judgement = judge_spec(loaded.spec, engine, view, session.models(loaded.spec), span=loaded.span)
    refused = failed(judgement.findings, saying.fail_on)
    if refused or not saying.quiet:
        click.echo(f"== {engine.title} {view.release} ({found})", err=True)
    if view.point.notice:
        click.echo(f"specconf: {view.point.notice}", err=True)
    print_findings(judgement, saying.fail_on, quiet=saying.quiet, verbose=saying.verbose)
    changes = passing_changes(loaded, name, session, view, saying.fail_on) if refused else ()
    for text in changes:
        click.echo(f"would pass: {text}", err=True)
    written = not refused or saying.force
    forced = written and (refused or bool(judgement.errors))
    each = _Judged(loaded, engine, view, session.models(loaded.spec), judgement, forced)
    return CompiledEngine(
        name,
        engine.title,
        view.release,
        found,
        image,
        refused=None if written else _reason(judgement, saying.fail_on),
        forced=forced,
        findings=tuple(judgement.findings),
        not_checked=tuple(judgement.result.not_checked),
        alternatives=tuple(changes),
        formats=tuple(_format(form, each, session.base_dir, texts) for form in FORMATS) if written else (),
    )


def _asked_release(name: str, asked: Asked, loaded: LoadedSpec, session: Session) -> tuple[str, str]:
    """The release that was asked for and is not known, and where it was."""
    if name in asked.releases:
        return asked.releases[name][0], "command line"
    section = loaded.spec.engines.get(name)
    if section is not None and section.release:
        return section.release, f"engines.{name}.release"
    return session.project.releases.get(name, ""), session.project.path or NEWEST


def _reason(judgement: Judgement, fail_on: str) -> str:
    codes = dict.fromkeys(finding.code for finding in judgement.findings if failed([finding], fail_on))
    return f"findings at or above {fail_on}: {', '.join(codes)}"


class _Judged(Struct, frozen=True):
    """An engine's launch, judged; `forced`: it is written in spite of what was found."""

    loaded: LoadedSpec
    engine: Engine
    view: View
    models: Models
    judgement: Judgement
    forced: bool


def _format(name: str, each: _Judged, base: Path, texts: dict[str, str]) -> FormatFiles:
    """One format in a folder of its own. What cannot be written so is refused, and the other formats are written."""
    form, engine, view = FORMATS[name], each.engine, each.view
    try:
        loaded, judgement, _ = as_written(form, each.loaded, each.judgement, engine, view, each.models)
        request = request_of(form, loaded, judgement, engine, view, base, forced=each.forced)
        files = form.write(request, alone=False)
    except SpecconfError as error:
        click.echo(f"specconf: {name}: {error}", err=True)
        return FormatFiles(name, refused=str(error))
    placed = {f"{engine.name}/{name}/{file}": text for file, text in files.items()}
    texts.update(placed)
    return FormatFiles(name, tuple(placed))


def _tell(folder: Path, compiled: Iterable[CompiledEngine], texts: dict[str, str], stale: list[str]) -> None:
    refused = [each.title for each in compiled if each.refused is not None]
    partly = [f"{one.form} of {each.title}" for each in compiled for one in each.formats if one.refused is not None]
    files = "1 file" if len(texts) == 1 else f"{len(texts)} files"
    click.echo(f"specconf: wrote {files} into {folder}, listed in {folder / INDEX}", err=True)
    if refused or partly:
        click.echo(f"specconf: refused: {', '.join([*refused, *partly])}", err=True)
    if stale:
        click.echo(f"specconf: stale, written by an earlier run: {', '.join(stale)}", err=True)
