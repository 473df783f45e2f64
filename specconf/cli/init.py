"""`specconf init`: a commented spec from options, from an existing launch, or from answers on a terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specconf.cli.common import (
    Asked,
    Session,
    complete_launch,
    db_option,
    network_options,
    wants_online,
    write_atomically,
)
from specconf.cli.init_fields import engines_of, field_options, fields_of, needed_draft, spec_of
from specconf.errors import UsageError
from specconf.models.proposing import propose_draft, propose_k, propose_method
from specconf.spec.methods import METHODS, Method
from specconf.words import JsonValue

if TYPE_CHECKING:
    from specconf.models.rows import RowTable
    from specconf.spec import LoadedSpec

Fields = dict[str, JsonValue]
Engines = dict[str, dict[str, Any]]


@click.command("init")
@click.option(
    "--from", "source", metavar="PATH", help="Begin with the launch in a file, as `specconf import` reads it."
)
@click.option("--launch", "number", type=click.IntRange(min=1), metavar="N", help="Which launch of several, from 1.")
@click.option(
    "--engine", "-e", "engine_texts", multiple=True, metavar="E[=R]", shell_complete=complete_launch,
    help="An engine that the spec is for, with its release. Repeatable; with --from the first is the launch's own.",
)  # fmt: skip
@field_options
@click.option(
    "--set", "settings", multiple=True, metavar="FIELD=VALUE", help="Any other field of the spec. Repeatable."
)
@click.option("--output", "-o", "output", type=click.Path(path_type=Path), help="Write the spec to a file.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@db_option
@network_options(default_online=True)
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
def command(
    source: str | None,
    number: int | None,
    engine_texts: tuple[str, ...],
    settings: tuple[str, ...],
    output: Path | None,
    force: bool,
    overlays: tuple[Path, ...],
    online: bool,
    offline: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Write a commented spec to standard output; what engines will do with it goes to standard error.

    Nothing but --model or --from is needed: a method that is not given is proposed from what is known of the model. Without
    either, a terminal is asked.
    """
    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} is there already.", hint="Choose another name, or write over it with --force.")
    if number is not None and source is None:
        raise UsageError("--launch chooses a launch of a file, and no file is named.", hint="Add --from PATH.")
    fields, engines = fields_of(options, settings), engines_of(engine_texts)
    session = Session.start(overlays, wants_online(online, offline, default=True), source or str(output or "-"))
    notes: dict[str, str] = {}
    head: list[str] = []
    if source is not None:
        fields, engines = _from_launch(session, source, number, fields, engines)
        head.append(f"Made by `specconf init` from a launch in {_shown(source)}.")
    else:
        head.append("Made by `specconf init`.")
        if "target.model" in fields:
            fields, notes = _proposed(session, fields)
        else:
            fields, engines = _asked(session, fields, engines)
    loaded = _rendered(session, fields, engines, head, notes, output)
    _check(session, loaded, quiet=quiet)
    if output is not None:
        write_atomically(output, loaded.text)
        click.echo(f"specconf: wrote {output}", err=True)
    else:
        click.echo(loaded.text, nl=False)
    return 0


def _shown(source: str) -> str:
    """A file's own name, as a comment can hold it."""
    name = "standard input" if source == "-" else Path(source).name
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def _from_launch(
    session: Session, source: str, number: int | None, fields: Fields, engines: Engines
) -> tuple[Fields, Engines]:
    """What a launch sets, with what the command line adds to it or says otherwise."""
    from specconf.cli.import_ import ReadAs, spec_of_launch

    first = next(iter(engines), None)
    release = engines[first].get("release") if first is not None else None
    target = fields.get("target.model")
    reading = ReadAs(first, release, target if isinstance(target, str) else None, number)
    spec = spec_of_launch(session, source, reading, show=lambda _: None)  # the spec itself is checked below
    lifted = spec.set_fields()
    if lifted.get("speculation.tree.topk") == 1:
        del lifted["speculation.tree.topk"]  # set again by the model where the method has a tree
    own = spec.engine_settings()
    return lifted | fields, own | {name: section for name, section in engines.items() if name not in own}


def _asked(session: Session, fields: Fields, engines: Engines) -> tuple[Fields, Engines]:
    """What a terminal answers. UsageError where there is none to ask."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("--model is missing.", hint="Add --model MODEL, or begin with a launch: --from PATH.")
    from specconf.cli.init_asking import ask

    resolve, rows = session.resolver.resolve, _rows(session)
    return ask(
        fields,
        engines,
        method=lambda target: propose_method(target, resolve(target), rows),
        draft=lambda target, method: propose_draft(target, method, rows),
        tokens=lambda target, method: propose_k(method, resolve(target)),
    )


def _proposed(session: Session, given: Fields) -> tuple[Fields, dict[str, str]]:
    """The fields with a method, its draft and K where they are not given, and why each is proposed."""
    fields, notes = dict(given), {}
    target, revision = str(fields["target.model"]), fields.get("target.revision")
    found = session.resolver.resolve(target, revision if isinstance(revision, str) else None)
    rows = _rows(session)
    if "speculation.method" not in fields:
        proposal = propose_method(target, found, rows)
        if needed_draft(proposal.method) and "speculation.draft.model" in fields:
            raise UsageError("--draft-model is given, and how it drafts is not.", hint="Add --method.")
        fields["speculation.method"], notes["speculation.method"] = proposal.method, proposal.why
    method = str(fields["speculation.method"])
    if needed_draft(method) and "speculation.draft.model" not in fields:
        known = propose_draft(target, method, rows)
        if known is None or known.draft is None:
            raise UsageError(
                f"method {method} needs a draft, and no published one of {target} is known.", hint="Add --draft-model."
            )
        fields["speculation.draft.model"], notes["speculation.draft.model"] = known.draft, known.why
    if METHODS[Method(method)].uses_k and not _says_k(fields):
        some = propose_k(method, found)
        if some is not None:
            fields["speculation.num_draft_tokens"], notes["speculation.num_draft_tokens"] = some
    return fields, notes


_LENGTHS = ("speculation.num_draft_tokens", "speculation.tree.num_steps", "speculation.tree.num_verify_tokens")


def _says_k(fields: Fields) -> bool:
    """Whether how many tokens are drafted is said already, in whichever words."""
    return any(name in fields for name in (*_LENGTHS, "speculation.schedule"))


def _rows(session: Session) -> RowTable:
    from specconf.models.rows import RowTable

    rows = session.resolver.checkpoints
    assert isinstance(rows, RowTable), "a session's resolver looks checkpoints up in a table"
    return rows


def _rendered(
    session: Session, fields: Fields, engines: Engines, head: list[str], notes: dict[str, str], output: Path | None
) -> LoadedSpec:
    """The spec as text, read back: what is written is what was said."""
    from specconf.compat.names import ENGINE_NAMES
    from specconf.spec import load_spec
    from specconf.spec.commented import commented_spec

    spec = spec_of(fields, engines)
    releases = {name: session.database(name).line.newest_final for name in ENGINE_NAMES}
    text = commented_spec(spec, head=head, notes=notes, releases=releases)
    loaded = load_spec(text, str(output) if output is not None else "standard output")
    assert loaded.spec == spec, "a commented spec reads back as itself"
    return loaded


def _check(session: Session, loaded: LoadedSpec, *, quiet: bool) -> None:
    """What each engine of the spec will do with it, at the release that compile would choose."""
    from specconf.cli.compile import print_findings
    from specconf.engines.registry import get_engine
    from specconf.rules.judge import judge_spec

    asked, models = Asked.parse([], [], loaded.spec), session.models(loaded.spec)
    for name in asked.engines:
        engine = get_engine(name)
        view, found = session.views(name, asked, loaded.spec)[0]
        judgement = judge_spec(loaded.spec, engine, view, models, span=loaded.span)
        if judgement.errors or not quiet:
            click.echo(f"== {engine.title} {view.release} ({found})", err=True)
        if view.point.notice:
            click.echo(f"specconf: {view.point.notice}", err=True)
        print_findings(judgement, "error", quiet=quiet, verbose=False)
