"""`specconf import`: a launch as it is → a spec that lowers to exactly the same settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from specconf.cli.common import (
    MAX_INPUT_BYTES,
    NEWEST,
    Asked,
    Session,
    db_option,
    network_options,
    read_input,
    wants_online,
    write_atomically,
)
from specconf.compat.names import engine_name
from specconf.compat.view import View
from specconf.emit.container import CACHE
from specconf.engines.base import Engine
from specconf.engines.lifting import lift
from specconf.engines.registry import get_engine
from specconf.errors import InputError, SpecconfError, UsageError
from specconf.findings import Severity
from specconf.report.text import finding_lines, not_checked_lines, registry_lines
from specconf.rules.judge import Judgement, judge_settings
from specconf.secrets import is_secret_name
from specconf.settings import Origin, ProblemKind, Setting, Settings, Written
from specconf.words import Launch, Unresolved

if TYPE_CHECKING:
    from specconf.readers.registry import ReadLaunch
    from specconf.spec.model import Spec

_OPTION_FILES = (".yaml", ".yml", ".json")


class NothingFoundError(SpecconfError):
    """The file holds no launch."""

    exit_code = 3


@click.command("import")
@click.argument("path", metavar="PATH")
@click.option("--engine", "-e", "engine_text", metavar="ENGINE", help="The engine, where the file does not show it.")
@click.option("--release", "-r", "release", metavar="[E=]R", help="The release the launch is for.")
@click.option("--target", metavar="MODEL", help="The target model, where the file does not name it.")
@click.option("--launch", "number", type=click.IntRange(min=1), metavar="N", help="Which launch of several, from 1.")
@click.option("--output", "-o", "output", type=click.Path(path_type=Path), help="Write the spec to a file.")
@db_option
@network_options(default_online=True)
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
def command(
    path: str,
    engine_text: str | None,
    release: str | None,
    target: str | None,
    number: int | None,
    output: Path | None,
    overlays: tuple[Path, ...],
    online: bool,
    offline: bool,
    quiet: bool,
) -> int:
    """Turn the launch in PATH into a spec on standard output: a shell script, an argv document or an engine's option file.

    What has no field in the spec is kept in the engine's own words under engines.ENGINE.options, so nothing is lost.
    """
    name = engine_name(engine_text) if engine_text else None
    session = Session.start(overlays, wants_online(online, offline, default=True), path)
    asking = ReadAs(name, release, target, number)
    spec = spec_of_launch(session, path, asking, show=lambda judgement: _show(judgement, quiet=quiet))
    from specconf.spec import dump_spec

    text = dump_spec(spec)
    if output is not None:
        write_atomically(output, text)
    else:
        click.echo(text, nl=False)
    return 0


class ReadAs(Struct, frozen=True):
    """What a command line says of a launch: what the file does not show of it, and which of several it is."""

    engine: str | None = None
    release: str | None = None
    target: str | None = None
    number: int | None = None


def spec_of_launch(session: Session, path: str, asking: ReadAs, *, show: Callable[[Judgement], None]) -> Spec:
    """The spec that lowers to what the launch in a file sets. `show` gets what is said of the launch before it is lifted."""
    found = _the_launch(path, asking.engine, asking.number)
    engine = get_engine(found.launch.engine)
    asked = Asked.parse([engine.name], [asking.release] if asking.release else [], None)
    view, stated = _view(session, engine, asked, found)
    launch = _with_files(found.launch, session.base_dir)
    _tell_orphans(found)
    _tell_env_files(found)
    settings = _without_secrets(_with_target(engine.resolve(launch, view), engine, asking.target, path))
    models = session.models_written(settings, engine)
    show(judge_settings(settings, engine, view, models))
    _all_must_be_read(settings, engine, view, stated=stated)
    spec = lift(settings, engine, view, models)
    sections = spec.engine_settings()
    own = sections.setdefault(engine.name, {})  # named even if empty: the launch is of this engine and no other
    if stated:
        own["release"] = view.release
    spec = type(spec).from_fields(spec.set_fields(), engines=sections)
    if spec.speculation.method == "none" and any(path.startswith("spec") for path in settings):
        click.echo(
            "specconf: the launch speculates in a way that the fields of a spec do not say; it is kept whole under "
            f"engines.{engine.name}.options, and speculation.method is none",
            err=True,
        )
    return spec


def _show(judgement: Judgement, *, quiet: bool) -> None:
    for finding in judgement.findings:
        if not quiet or finding.severity is Severity.ERROR:
            click.echo("\n".join(finding_lines(finding)), err=True)
    unchecked = () if quiet else judgement.result.not_checked
    for line in (*not_checked_lines(unchecked, verbose=False), *registry_lines(unchecked)):
        click.echo(line, err=True)


def _the_launch(path: str, engine: str | None, number: int | None) -> ReadLaunch:
    from specconf.readers.registry import read_launches

    try:
        text = read_input(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start + 1}).") from None
    launches = read_launches(path, text, engine=engine)
    if engine is not None:
        launches = [found for found in launches if found.launch.engine == engine]
    if not launches:
        raise NothingFoundError(f"{path}: no launch of an engine was found.")
    if number is None and len(launches) > 1:
        listed = "\n  ".join(f"{i}: {_shown(found)}" for i, found in enumerate(launches, 1))
        raise UsageError(f"{path} holds {len(launches)} launches.", hint=f"Choose one with --launch:\n  {listed}")
    if number is not None and number > len(launches):
        raise UsageError(f"{path} holds {len(launches)} launches, so there is no launch {number}.")
    from specconf.lint.suppress import read_comments

    return read_comments(path, text).stated_for(launches[(number or 1) - 1])


def _shown(found: ReadLaunch) -> str:
    line = f"line {found.launch.span.line}: " if found.launch.span else ""
    return f"{line}{' '.join(word.text for word in found.launch.argv[:4])}"


def _view(session: Session, engine: Engine, asked: Asked, found: ReadLaunch) -> tuple[View, bool]:
    database = session.database(engine.name)
    if engine.name in asked.releases:
        view, stated = database.at(asked.releases[engine.name][0]), True
    elif found.release:
        view, stated = database.at(found.release), True
    else:
        view, where = session.views(engine.name, asked, None)[0]
        stated = where != NEWEST
        click.echo(f"specconf: no release stated: read as {engine.title} {view.release} ({where})", err=True)
    if view.point.notice:
        click.echo(f"specconf: {view.point.notice}", err=True)
    return view, stated


def _all_must_be_read(settings: Settings, engine: Engine, view: View, *, stated: bool) -> None:
    """InputError for a launch with words that this release would not take, or that cannot be known from the text."""
    unread = [p for p in settings.problems if p.kind is not ProblemKind.OVERWRITTEN]
    if unread:
        words = "1 word" if len(unread) == 1 else f"{len(unread)} words"
        raise InputError(
            f"{words} of the launch cannot be read for {engine.title} {view.release}, the first is {unread[0].spelling}.",
            where=unread[0].where,
            hint="Mend the launch."
            if stated
            else "Name the release the launch is for with --release, or mend the launch.",
        )
    unknown = next((word for word in settings.unresolved if word.may_be_many), None)
    if unknown is not None:
        raise InputError(
            f"{unknown.text} may hold options that cannot be known from the text.",
            where=unknown.span,
            hint="Write those options out, or put the file it names beside the launch, and import again.",
        )


def _tell_orphans(found: ReadLaunch) -> None:
    """Words right after the launch that look like its options but that a comment or a missing backslash cut off."""
    if found.orphans:
        first, *_ = found.orphans
        shown = " ".join(word.text for word in found.orphans)
        place = f"{first.span}: " if first.span else ""
        click.echo(
            f"specconf: {place}{shown} stands behind the launch but is not part of it, so it was not imported: "
            "a comment or a missing backslash ends the launch before it",
            err=True,
        )


def _tell_env_files(found: ReadLaunch) -> None:
    """Files whose variables the engine may be given: they are not read, for they hold secrets more often than options."""
    for word in found.env_files:
        place = f"{word.span}: " if word.span else ""
        click.echo(f"specconf: {place}not checked: the variables that {word.text} sets were not read", err=True)


_ENGINE_VARIABLES = ("env.VLLM_", "env.SGLANG_", "env.SGL_", "env.TLLM_", "env.TRTLLM_")


def _without_secrets(settings: Settings) -> Settings:
    """The settings less keys and tokens, variables of other programs whose values cannot be known, and specconf's own place
    for weights in a container, which a spec calls deployment.model_cache."""
    secret = [path for path in settings if is_secret_name(path)]
    foreign = [
        path
        for path in settings
        if path.startswith("env.") and not path.startswith(_ENGINE_VARIABLES) and isinstance(settings[path], Unresolved)
    ]
    for path in secret:
        click.echo(f"specconf: {path} holds a secret and was left out; set it where the server starts", err=True)
    own_cache = [path for path in settings if path == "env.HF_HOME" and settings[path] == CACHE]
    for path in [p for p in foreign if p not in secret]:
        click.echo(f"specconf: {path} cannot be known from the text and was left out", err=True)
    return settings.without([*secret, *foreign, *own_cache])


def _with_files(launch: Launch, base: Path) -> Launch:
    """Option files that the launch names and that lie beside it; files that the script itself writes come first."""
    known = dict(launch.files)
    for word in launch.argv:
        name = (word.value or "").rpartition("=")[2]
        place = base / name
        if name.endswith(_OPTION_FILES) and name not in known and place.is_file():
            if place.stat().st_size > MAX_INPUT_BYTES:
                raise InputError(f"{place}: too large for an option file.")
            known[name] = place.read_text(encoding="utf-8")
    return replace(launch, files=tuple(known.items()))


def _with_target(settings: Settings, engine: Engine, target: str | None, path: str) -> Settings:
    if target is None:
        return settings
    if engine.model_path in settings and settings[engine.model_path] != target:
        raise UsageError(f"{path} names the target {settings[engine.model_path]}, so --target {target} contradicts it.")
    written = Setting(engine.model_path, (Written(target, Origin.ARGV, "--target"),))
    return replace(settings, items_by_path={engine.model_path: written, **settings.items_by_path})
