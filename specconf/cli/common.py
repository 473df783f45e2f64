"""What several commands share: options, reading inputs, releases asked for, models, writing files atomically."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from specconf.cli.project import Project, find_project
from specconf.errors import InputError, UsageError
from specconf.findings import Finding, Severity
from specconf.report.formats import FORMATS

if TYPE_CHECKING:
    from specconf.compat.database import Database
    from specconf.compat.view import View
    from specconf.engines.base import Engine, Models
    from specconf.models import Resolver
    from specconf.settings import Settings
    from specconf.spec import LoadedSpec
    from specconf.spec.model import Spec

_F = TypeVar("_F", bound=Callable[..., Any])
MAX_INPUT_BYTES = 4 * 1024 * 1024
NEWEST = "newest final release known"


def _complete_engine(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from specconf.compat.names import ENGINE_NAMES

    return [name for name in (*ENGINE_NAMES, "trtllm") if name.startswith(incomplete)]


def _complete_release(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    from specconf.compat.database import load_database
    from specconf.compat.names import ENGINE_NAMES

    found = [f"{name}={release}" for name in ENGINE_NAMES for release in reversed(load_database(name).line.names)]
    return [text for text in found if text.startswith(incomplete)]


def complete_launch(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """An engine, or an engine with one of its releases."""
    return [*_complete_engine(ctx, param, incomplete), *_complete_release(ctx, param, incomplete)]


engine_option = click.option(
    "--engine", "-e", "engines", multiple=True, metavar="ENGINE", shell_complete=_complete_engine,
    help="vllm, sglang or tensorrt-llm (trtllm).",
)  # fmt: skip
release_option = click.option(
    "--release", "-r", "releases", multiple=True, metavar="[E=]R", shell_complete=_complete_release,
    help="A release, as ENGINE=RELEASE, or bare when one engine is asked for. Repeatable.",
)  # fmt: skip
form_option = click.option(
    "--format", "-f", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
report_form_option = click.option(
    "--format", "-f", "form", type=click.Choice(FORMATS), default="text", show_default=True
)
db_option = click.option(
    "--db", "overlays", multiple=True, metavar="DIR", type=click.Path(path_type=Path),
    help="Lay a directory of own data over the compatibility database. Repeatable.",
)  # fmt: skip
fail_on_option = click.option(
    "--fail-on", type=click.Choice([str(s) for s in Severity]),
    help="The least severe finding that makes the exit code 1 (default: the project's setting, else error).",
)  # fmt: skip


def ask_options(command: _F) -> _F:
    """`--ask-engine`, and `--engine-python` with it."""
    command = click.option(
        "--engine-python", "engine_python", metavar="PATH", type=click.Path(path_type=Path),
        help="With --ask-engine: the python of an environment of yours that has the engine, in place of a built one.",
    )(command)  # fmt: skip
    return click.option(
        "--ask-engine", is_flag=True,
        help="Put the launch to the release's own code too, in an environment that is built once (no GPU needed).",
    )(command)  # fmt: skip


def wants_asking(ask_engine: bool, engine_python: Path | None) -> bool:
    """Whether the engine is asked; a python for it alone asks nothing."""
    if engine_python is not None and not ask_engine:
        raise UsageError("--engine-python says where to ask, and nothing is asked.", hint="Add --ask-engine.")
    return ask_engine


def network_options(default_online: bool) -> Callable[[_F], _F]:
    """`--online` and `--offline`, which exclude each other."""

    def add(command: _F) -> _F:
        usual = "online" if default_online else "offline"
        command = click.option("--offline", is_flag=True, help="Never ask the network for a model's config.")(command)
        return click.option("--online", is_flag=True, help=f"Ask the hub for missing configs (default: {usual}).")(
            command
        )

    return add


def wants_online(online: bool, offline: bool, *, default: bool) -> bool:
    """Which of the two was asked for."""
    if online and offline:
        raise UsageError("--online and --offline exclude each other.")
    return online or (default and not offline)


def read_input(path: str) -> bytes:
    """The bytes of a file named on the command line; `-` is standard input. InputError when it cannot be read."""
    if path == "-":
        return sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_INPUT_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}.") from None
    if len(data) > MAX_INPUT_BYTES:
        raise InputError(f"{path}: larger than {MAX_INPUT_BYTES // 1024 // 1024} MiB, which no spec or launch file is.")
    return data


def read_spec(path: str) -> LoadedSpec:
    """The spec at a path, with positions."""
    from specconf.spec import load_spec

    return load_spec(read_input(path), path)


def write_atomically(path: Path, text: str, *, executable: bool = False) -> None:
    """Write a file whole or not at all. InputError when the place cannot be written."""
    from specconf.whole import written_whole

    mode = 0o777 if executable else 0o666
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path, mode & ~_umask()) as stream:
            stream.write(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}.") from None


def write_together(folder: Path, texts: Mapping[str, str], executable: Container[str] = ()) -> None:
    """Write files into a folder, all of them before the first takes its place. `executable`: names of files in any folder.

    InputError when a place cannot be written.
    """
    from tempfile import TemporaryDirectory

    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = next((name for name in texts if (folder / name).is_dir()), None)
        if taken is not None:
            raise InputError(f"{folder / taken}: cannot be written: a folder of that name is there.")
        with TemporaryDirectory(dir=folder, prefix=".specconf-") as stage:
            for name, text in texts.items():
                write_atomically(Path(stage, name), text, executable=Path(name).name in executable)
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
            for name in texts:
                Path(stage, name).replace(folder / name)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}.") from None


def print_report(text: str, output: Path | None, color: str, *, err: bool = False) -> None:
    """A report to standard output, with `err` to the other one, or to a file.

    What no text can hold, such as bytes of a file's name, is escaped.
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if output is not None:
        write_atomically(output, click.unstyle(text))
        return
    click.echo(text, nl=False, color={"always": True, "never": False}.get(color), err=err)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Asked(Struct):
    """Engines and releases that a command line asks for, with the spec's own where it says nothing."""

    engines: tuple[str, ...]
    releases: dict[str, list[str]]

    @classmethod
    def parse(cls, engines: Iterable[str], releases: Iterable[str], spec: Spec | None) -> Asked:
        """Engines: those asked for, else those with a release asked for, else those of the spec, else all."""
        from specconf.compat.names import ENGINE_NAMES, engine_name

        named = list(dict.fromkeys(engine_name(e) for e in engines))
        by_engine: dict[str, list[str]] = {}
        bare: list[str] = []
        for text in releases:
            engine, equals, release = text.partition("=")
            release = release.lstrip("= ") if equals else text
            if not release.strip():
                raise UsageError(f"--release {text!r} names no release.", hint="Write one such as vllm=0.33.0.")
            if equals:
                by_engine.setdefault(engine_name(engine), []).append(release)
            else:
                bare.append(release)
        in_spec = [name for name, _ in spec.engines.items()] if spec is not None else []
        chosen = named or list(by_engine) or in_spec or list(ENGINE_NAMES)
        if bare and len(named or list(by_engine)) != 1:
            raise UsageError(
                f"--release {bare[0]} does not say of which engine.", hint=f"Write --release ENGINE={bare[0]}."
            )
        for release in bare:
            by_engine.setdefault(chosen[0], []).append(release)
        outside = next((e for e in by_engine if e not in chosen), None)
        if outside is not None:
            raise UsageError(f"--release names {outside}, which --engine leaves out.", hint=f"Add --engine {outside}.")
        return cls(tuple(chosen), by_engine)


class Session(Struct):
    """One run of a command: overlays, the network mode, and models resolved once each."""

    overlays: tuple[Path, ...]
    online: bool
    base_dir: Path
    project: Project
    _resolver: Resolver | None = None

    @classmethod
    def start(cls, overlays: tuple[Path, ...], online: bool, path: str) -> Session:
        """A run on a file: its models are looked up beside it, the project's settings from the working directory."""
        project = find_project(Path.cwd())
        return cls((*project.db, *overlays), online, Path() if path == "-" else Path(path).parent, project)

    def database(self, engine: str) -> Database:
        """The database of an engine with this run's overlays."""
        from specconf.compat.database import load_database

        return load_database(engine, self.overlays)

    def views(self, engine: str, asked: Asked, spec: Spec | None, *, every: bool = False) -> list[tuple[View, str]]:
        """The views to judge at, each with where its release was found: command line, spec, newest final, all."""
        database = self.database(engine)
        if every:
            return [(database.view(database.line.at(i)), "all releases") for i in range(len(database.line.names))]
        if engine in asked.releases:
            views = {database.at(release).point.positions: database.at(release) for release in asked.releases[engine]}
            return [(view, "command line") for view in views.values()]
        section = dict(spec.engines.items()).get(engine) if spec is not None else None
        if section is not None and section.release:
            return [(database.at(section.release), f"engines.{engine}.release")]
        if engine in self.project.releases:
            return [(database.at(self.project.releases[engine]), self.project.path)]
        return [(database.at(database.line.newest_final), NEWEST)]

    def models(self, spec: Spec) -> Models:
        """The target and draft of a spec."""
        fields = spec.set_fields()
        return self.models_named(
            _text(fields.get("target.model")),
            _text(fields.get("speculation.draft.model")),
            target_revision=_text(fields.get("target.revision")),
            draft_revision=_text(fields.get("speculation.draft.revision")),
        )

    def models_named(
        self,
        target: str | None,
        draft: str | None,
        *,
        target_revision: str | None = None,
        draft_revision: str | None = None,
    ) -> Models:
        """Two models by name; None where the launch has none."""
        from specconf.engines.base import Models
        from specconf.models.view import model_views

        resolve = self.resolver.resolve
        return Models(
            *model_views(
                resolve(target, target_revision) if target else None,
                resolve(draft, draft_revision) if draft else None,
            )
        )

    def models_written(self, settings: Settings, engine: Engine) -> Models:
        """The models that a launch names, as far as its words show them."""
        from specconf.engines.base import Models
        from specconf.models.view import written_models

        return Models(*written_models(engine.model_path, engine.draft_path, settings, self.resolver.resolve))

    @property
    def resolver(self) -> Resolver:
        """Finds models: local directory, hub cache, checkpoint rows, and the hub when online."""
        if self._resolver is None:
            self._resolver = _make_resolver(self.overlays, self.online, self.base_dir)
        return self._resolver


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _make_resolver(overlays: tuple[Path, ...], online: bool, base_dir: Path) -> Resolver:
    from specconf.compat.store import load_rows
    from specconf.models import Mode, Resolver, default_cache_dir, effective_mode
    from specconf.models.rows import RowTable

    rows: Iterable[Mapping[str, Any]] = load_rows("checkpoints")
    if overlays:
        from specconf.compat.index import compile_checkpoints
        from specconf.compat.sources import SourceTree

        rows = [*(row for overlay in overlays for row in compile_checkpoints(SourceTree(overlay))), *rows]
    return Resolver(
        mode=effective_mode(Mode.ONLINE if online else Mode.OFFLINE, os.environ),
        checkpoints=RowTable(rows),
        cache_dir=default_cache_dir(os.environ),
        base_dir=base_dir,
    )


def with_project(overlays: tuple[Path, ...]) -> tuple[Path, ...]:
    """Overlays given on the command line behind those of the project, for commands that read no model."""
    return (*find_project(Path.cwd()).db, *overlays)


def failed(findings: Iterable[Finding], fail_on: str) -> bool:
    """Whether any finding is at or above the threshold."""
    limit = Severity(fail_on).rank
    return any(f.severity.rank <= limit for f in findings)
