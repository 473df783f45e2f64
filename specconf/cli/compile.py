"""`specconf compile`: check a spec for one engine and release, then write its launch."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from specconf.cli.common import (
    NEWEST,
    Asked,
    Session,
    ask_options,
    db_option,
    fail_on_option,
    failed,
    network_options,
    read_input,
    read_spec,
    wants_asking,
    wants_online,
    write_atomically,
)
from specconf.emit import FORMATS, Format, Request
from specconf.engines.registry import get_engine
from specconf.errors import InputError, UsageError
from specconf.findings import Severity
from specconf.report.asked import unasked_line
from specconf.report.text import finding_lines, not_checked_lines, registry_lines
from specconf.rules.judge import Judgement, judge_spec

if TYPE_CHECKING:
    from specconf.compat.view import View
    from specconf.engines.base import Engine, Models
    from specconf.oracle.sided import SideBySide
    from specconf.spec import LoadedSpec


@click.command("compile")
@click.argument("spec_path", metavar="SPEC")
@click.option("--engine", "-e", "engine_text", metavar="ENGINE", help="vllm, sglang or tensorrt-llm (trtllm).")
@click.option(
    "--release", "-r", "releases", multiple=True, metavar="[E=]R",
    help="The release to write for; with --all one for each engine that is named so.",
)  # fmt: skip
@click.option(
    "--format", "-f", "form_name", type=click.Choice(tuple(FORMATS)), help="How to write it (default: shell)."
)
@click.option("--output", "-o", "folder", type=click.Path(path_type=Path), help="Write launch.sh and files here.")
@click.option(
    "--all", "every", is_flag=True, help="Write every engine of the spec in every format, and an index (with -o)."
)
@click.option("--effective", is_flag=True, help="Print the effective configuration instead of the launch.")
@click.option("--force", is_flag=True, help="Write the launch in spite of errors; it is marked as forced.")
@fail_on_option
@ask_options
@db_option
@network_options(default_online=True)
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@click.option("--verbose", "-v", is_flag=True, help="Print the evidence of every finding and list what is not checked.")
def command(
    spec_path: str,
    engine_text: str | None,
    releases: tuple[str, ...],
    form_name: str | None,
    folder: Path | None,
    every: bool,
    effective: bool,
    force: bool,
    fail_on: str | None,
    ask_engine: bool,
    engine_python: Path | None,
    overlays: tuple[Path, ...],
    online: bool,
    offline: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Check SPEC for one engine release and write its launch to standard output; findings go to standard error.

    SPEC is a spec file, or - for standard input. --all writes every engine that the spec names, or all of them, each in a
    folder of its own with a folder for each format; one that is refused stops no other. With --ask-engine the launch is put to
    the release's own code too, and not written where that refuses it or cannot be asked.
    """
    asking = wants_asking(ask_engine, engine_python)
    if every:
        excluded = {"--engine": engine_text, "--format": form_name, "--effective": effective, "--ask-engine": asking}
        _not_beside_all([name for name, value in excluded.items() if value], folder)
    loaded = read_spec(spec_path)
    asked = _asked(engine_text, releases, loaded, every=every)
    session = Session.start(overlays, wants_online(online, offline, default=True), spec_path)
    fail_on = fail_on or session.project.fail_on
    if every:
        from specconf.cli.compile_all import Saying, compile_all

        assert folder is not None, "--all is refused without a folder"
        return compile_all(loaded, session, asked, folder, Saying(fail_on, force, quiet, verbose))
    engine = get_engine(asked.engines[0])
    view, found = session.views(engine.name, asked, loaded.spec)[0]
    if found == NEWEST:
        _notice(f"no release given: compiling for {engine.title} {view.release}, the newest final release known")
    if view.point.notice:
        _notice(view.point.notice)
    models = session.models(loaded.spec)
    form = FORMATS[form_name or "shell"]
    judgement = judge_spec(loaded.spec, engine, view, models, span=loaded.span)
    loaded, judgement, notice = as_written(form, loaded, judgement, engine, view, models)
    if notice:
        _notice(notice)
    print_findings(judgement, fail_on, quiet=quiet, verbose=verbose)
    side = _ask(loaded, engine, view, models, judgement, engine_python, quiet, verbose) if asking else None
    refused, overruled = failed(judgement.findings, fail_on), side is not None and side.overruled
    unasked = side is not None and side.answer is None
    if (refused or overruled or unasked) and not force:
        for text in passing_changes(loaded, engine.name, session, view, fail_on) if refused else ():
            click.echo(f"would pass: {text}", err=True)
        _notice("nothing was written; --force writes it all the same")
        if side is not None and unasked:
            _notice(unasked_line([side]))
        return 1
    if effective:
        _print_effective(judgement, engine, view)
        return 0
    forced = bool(judgement.errors) or refused or overruled
    request = request_of(form, loaded, judgement, engine, view, session.base_dir, forced=forced, side=side)
    _write(form, request, folder)
    return 0


def _not_beside_all(given: list[str], folder: Path | None) -> None:
    if given:
        raise UsageError(
            f"--all writes every engine in every format, so {given[0]} has no place beside it.",
            hint=f"Leave out {given[0]}, or --all.",
        )
    if folder is None:
        raise UsageError("--all writes many files and needs a folder.", hint="Add -o DIR.")


def _asked(engine: str | None, releases: tuple[str, ...], loaded: LoadedSpec, *, every: bool) -> Asked:
    """The engine to compile for, or with --all those of the spec; at most one release of each."""
    if every:
        chosen = Asked.parse([], [], loaded.spec).engines
        stranger = next((e for e in Asked.parse([], releases, loaded.spec).engines if e not in chosen), None)
        if stranger is not None:
            raise UsageError(
                f"--release names {stranger}, and {loaded.path} does not.", hint=f"Add engines.{stranger} to the spec."
            )
        asked = Asked.parse(chosen, releases, loaded.spec)
    else:
        asked = Asked.parse([engine] if engine else [], releases, loaded.spec)
        if len(asked.engines) != 1:
            raise UsageError(
                f"{loaded.path} can be compiled for {', '.join(asked.engines)}.",
                hint="Choose one with --engine, or --all.",
            )
    several = next((e for e, named in asked.releases.items() if len(named) > 1), None)
    if several is not None:
        raise UsageError(f"--release names {len(asked.releases[several])} releases of {several}.", hint="Choose one.")
    return asked


def _notice(text: str) -> None:
    click.echo(f"specconf: {text}", err=True)


def print_findings(judgement: Judgement, fail_on: str, *, quiet: bool, verbose: bool) -> None:
    """What is said of a launch, on standard error; `quiet` leaves what keeps it from being written."""
    for finding in judgement.findings:
        if not quiet or finding.severity is Severity.ERROR or failed([finding], fail_on):
            for line in finding_lines(finding, verbose=verbose):
                click.echo(line, err=True)
    if not quiet:
        unchecked = judgement.result.not_checked
        for line in (*not_checked_lines(unchecked, verbose=verbose), *registry_lines(unchecked)):
            click.echo(line, err=True)


def _ask(
    loaded: LoadedSpec,
    engine: Engine,
    view: View,
    models: Models,
    judgement: Judgement,
    python: Path | None,
    quiet: bool,
    verbose: bool,
) -> SideBySide:
    """Put the launch to the release's own code, and print what it says beside what we say."""
    from specconf.cli.asking import Asker
    from specconf.report.asked import limit_lines, side_lines

    with Asker(python=python, verbose=verbose) as asker:
        asker.hold((engine.name,), [view.release])
        side = asker.ask_spec(loaded.spec, engine, view, models, judgement)
    if not quiet or side.agree is False:
        for line in side_lines(side, verbose=verbose):
            click.echo(line, err=True)
    if not quiet:
        for line in limit_lines(asker.limits, verbose=verbose):
            click.echo(line, err=True)
    return side


def passing_changes(loaded: LoadedSpec, name: str, session: Session, view: View, fail_on: str) -> list[str]:
    """The smallest changes of the spec with which this release would take it."""
    from specconf.rules.alternatives import smallest_change

    engine, database = get_engine(name), session.database(name)
    limit = Severity(fail_on)
    found = smallest_change(loaded.spec, engine, database, view, session.models, fail_on=limit)
    return [alternative.text for alternative in found]


def _print_effective(judgement: Judgement, engine: Engine, view: View) -> None:
    from specconf.report.json_report import render_json
    from specconf.rules.checker import shown_effective, with_defaults

    shown: dict[str, Any] = {
        "schema": 1,
        "engine": judgement.result.engine,
        "release": judgement.result.release,
        "effective": shown_effective(with_defaults(judgement.result.effective, engine, view)),
    }
    click.echo(render_json(shown), nl=False)


def as_written(
    form: Format, loaded: LoadedSpec, judgement: Judgement, engine: Engine, view: View, models: Models
) -> tuple[LoadedSpec, Judgement, str]:
    """The spec as a format writes it, judged, and what is to be said of that: in a container the server listens to all."""
    if not form.container or not _hears_itself_only(judgement, engine, view):
        return loaded, judgement, ""
    heard = replace(loaded, spec=loaded.spec.with_field("serving.host", "0.0.0.0"))  # noqa: S104 (of a container)
    notice = f"serving.host 0.0.0.0 is written: left alone, {engine.title} is not reached from outside its container"
    return heard, judge_spec(heard.spec, engine, view, models, span=heard.span), notice


def request_of(
    form: Format,
    loaded: LoadedSpec,
    judgement: Judgement,
    engine: Engine,
    view: View,
    base: Path,
    *,
    forced: bool,
    side: SideBySide | None = None,
) -> Request:
    """What a format writes. `base`: the folder that the spec's own files lie in."""
    return Request(
        artifact=engine.emit(judgement.settings, view, form.form),
        settings=judgement.settings,
        engine=engine,
        view=view,
        fields=loaded.spec.set_fields(),
        findings=tuple(judgement.findings),
        forced=_forced_mark(judgement) if forced else "",
        side=side,
        overlay=_overlay(loaded, base) if "overlay" in form.uses else (),
    )


def _hears_itself_only(judgement: Judgement, engine: Engine, view: View) -> bool:
    """Whether the server would listen where nothing outside its container reaches it, and nothing says where it should."""
    from specconf.emit.container import is_loopback

    host = engine.serving.host
    return host not in judgement.settings and is_loopback(view.default(host))


def _overlay(loaded: LoadedSpec, base: Path) -> tuple[dict[str, Any], ...]:
    """The documents of the file that deployment.overlay names, which lies beside the spec."""
    name = loaded.spec.deployment.overlay
    if name is None:
        return ()
    import yaml

    try:
        documents = [one for one in yaml.safe_load_all(read_input(str(base / name))) if one is not None]
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{base / name}: not YAML: {error}") from None
    if not all(isinstance(one, dict) for one in documents):
        raise InputError(f"{base / name}: an overlay is a mapping, or several of them as documents of one file.")
    return tuple(documents)


def _write(form: Format, request: Request, folder: Path | None) -> None:
    if form.container:
        _tell_unused(form, request)
    files = form.write(request, alone=folder is None)
    if folder is not None:
        for name, text in files.items():
            write_atomically(folder / name, text, executable=name in form.executable)
        _notice(f"wrote {', '.join(str(folder / name) for name in files)}")
        return
    if form.name == "engine-yaml":
        env = [f"{name}={shlex.quote(value)}" for name, value in request.artifact.env.items()]
        _notice(f"start it with: {' '.join([*env, shlex.join(request.artifact.argv)])}")
    click.echo("".join(files.values()), nl=False)


def _tell_unused(form: Format, request: Request) -> None:
    """Fields about the deploy file that the format has no place for."""
    prefix = "deployment."
    unused = [n for n in request.fields if n.startswith(prefix) and n.removeprefix(prefix) not in form.uses]
    if unused:
        _notice(f"not written, since {form.name} has no place for it: {', '.join(unused)}")


def _forced_mark(judgement: Judgement) -> str:
    from specconf.emit.request import forced_mark

    return forced_mark(max(1, len(judgement.errors)), _left_out(judgement))


def _left_out(judgement: Judgement) -> set[str]:
    """Fields of the spec that the launch does not hold: those refused, and all of speculation where its method is."""
    lowered = judgement.lowered
    assert lowered is not None
    return set(lowered.refused)
