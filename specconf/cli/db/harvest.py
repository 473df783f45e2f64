"""`specconf db harvest`: read releases of an engine from their own published sources into the database's files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from specconf.cli.db.common import counted
from specconf.compat.names import engine_name
from specconf.compat.store import CHECKOUT
from specconf.errors import HarvestError, UsageError

if TYPE_CHECKING:
    from specconf.harvest.fetch import PackageIndex, Published
    from specconf.harvest.files import HarvestedFiles
    from specconf.harvest.harvester import Harvester
    from specconf.harvest.read import Done, Job

_MODULES = {
    "vllm": "specconf.engines.vllm.harvest.run",
    "sglang": "specconf.engines.sglang.harvest.run",
    "tensorrt-llm": "specconf.engines.tensorrt_llm.harvest.run",
}


@click.command("harvest")
@click.argument("engine")
@click.argument("releases", nargs=-1, metavar="[RELEASE]...")
@click.option("--new", "new", is_flag=True, help="Every release on the index that the database does not know yet.")
@click.option("--all", "everything", is_flag=True, help="Every release on the index that can be read; writes all anew.")
@click.option(
    "--from", "path", type=click.Path(path_type=Path), help="Read one release from a local wheel, sdist or checkout."
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), metavar="DIR",
    help="The database to write into, laid out like compat/ (default: that of the checkout).",
)  # fmt: skip
@click.option(
    "--print",
    "printed",
    is_flag=True,
    help="Print the rows as JSON lines instead of writing them. They are each release's own: an option of SGLang has the "
    "path of that release, before renamed paths are joined.",
)
@click.option(
    "--force", is_flag=True, help="Write even where a known release would lose more than a third of its rows."
)
@click.option(
    "--index-url", metavar="URL", help="The package index (default: PIP_INDEX_URL, UV_DEFAULT_INDEX or PyPI)."
)
@click.option(
    "--cache", type=click.Path(path_type=Path), metavar="DIR",
    help="Where fetched sources are kept (default: the user's cache folder).",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, help="Releases read at a time.")
def command(
    engine: str,
    releases: tuple[str, ...],
    new: bool,
    everything: bool,
    path: Path | None,
    output: Path | None,
    printed: bool,
    force: bool,
    index_url: str | None,
    cache: Path | None,
    jobs: int,
) -> None:
    """Read releases of ENGINE from their own published sources, without running them, into the database's files.

    For example: specconf db harvest vllm --new
    """
    name = engine_name(engine)
    asked = _Asked(name, releases, new, everything, path)
    asked.check()
    target = None if printed else _target(name, output)
    sources = _Sources(index_url, _cache(cache), jobs)
    if target is None:
        _print(asked, _read(asked, [], sources))
    else:
        _write(asked, target, sources, force=force)


class _Asked(Struct, frozen=True):
    """What the command line asks for."""

    engine: str
    releases: tuple[str, ...]
    new: bool
    everything: bool
    path: Path | None

    @property
    def module(self) -> str:
        return _MODULES[self.engine]

    @property
    def harvester(self) -> Harvester:
        from specconf.harvest.read import harvester_of

        return harvester_of(self.module)

    def refuse_older(self, release: str) -> None:
        """Refuse a release that is older than those whose sources are understood."""
        from packaging.version import Version

        from specconf.engines.registry import get_engine

        oldest = self.harvester.oldest
        if Version(release) < Version(oldest):
            title = get_engine(self.engine).title
            raise UsageError(f"{title} {release} is older than {oldest}, the oldest that is read.")

    def check(self) -> None:
        """Refuse what cannot be combined, and an engine whose source no index has."""
        ways = [bool(self.releases) and not self.path, self.new, self.everything, self.path is not None]
        if sum(ways) != 1 or len(self.releases) > (1 if self.path else len(self.releases)):
            raise UsageError(
                "Name the releases to read, or one of --new, --all and --from PATH (with at most one release)."
            )
        if self.path is None and not self.harvester.project:
            raise UsageError(
                f"the package index does not have the source of {self.engine}.",
                hint="Read a local wheel, checkout or llm_args.py with --from PATH.",
            )


def _target(engine: str, output: Path | None) -> Path:
    if output is None and not CHECKOUT.is_dir():
        raise UsageError(
            "this installation has no database files to write into.", hint="Name a directory with --output, or --print."
        )
    if output is None and engine == "tensorrt-llm":
        raise UsageError(
            "the shipped data of tensorrt-llm is imported, and is not mixed with harvested rows.",
            hint="Write an overlay for --db with --output DIR, or --print the rows.",
        )
    return (output or CHECKOUT) / engine / "harvested"


class _Sources(Struct, frozen=True):
    """Where releases are fetched from and kept, and how many are read at a time."""

    index_url: str | None
    cache: Path
    workers: int


def _cache(stated: Path | None) -> Path:
    if stated is not None:
        return stated
    import platformdirs

    return Path(platformdirs.user_cache_dir("specconf")) / "sources"


def _note(text: str) -> None:
    click.echo(text, err=True)


def _read(asked: _Asked, known: Sequence[str], sources: _Sources) -> list[Done]:
    """Read the releases asked for, with a line on each, oldest first."""
    from specconf.harvest.read import read_all

    done = []
    for one in read_all(_jobs(asked, known, sources), _note, sources.workers):
        found = one.release.harvested
        parts = ((found.options, "option"), (found.tables, "table row"), (found.messages, "message"))
        counts = ", ".join(counted(len(rows), noun) for rows, noun in parts)
        took = f"{counted(one.bytes_fetched, 'byte')} fetched, {one.seconds:.2f} s read"
        _note(f"{asked.engine} {one.release.version}: {counts}; {took}")
        done.append(one)
    return done


def _jobs(asked: _Asked, known: Sequence[str], sources: _Sources) -> Iterator[Job]:
    from specconf.harvest.fetch import PackageIndex
    from specconf.harvest.fetch import index_url as resolved
    from specconf.harvest.read import from_index, from_path

    if asked.path is not None:
        job = from_path(asked.module, asked.path, asked.releases[0] if asked.releases else None)
        asked.refuse_older(job.release)
        yield job
        return
    index = PackageIndex(resolved(sources.index_url))
    yield from from_index(asked.module, index, _wanted(asked, known, index), sources.cache)


def _wanted(asked: _Asked, known: Sequence[str], index: PackageIndex) -> list[Published]:
    """The releases of the index to read: those asked for, and those before inserted ones.

    Raises UsageError for a release that the index does not list, and for one that is too old.
    """
    from packaging.version import Version

    from specconf.compat.releases import parse_version
    from specconf.harvest.files import with_predecessors

    versions = [parse_version(text) for text in asked.releases]
    for version in versions:
        asked.refuse_older(version.public)
    listed = {Version(one.version): one for one in index.releases(asked.harvester.project)}
    for version in versions:
        if version not in listed:
            newest = ", ".join(one.version for one in list(listed.values())[-3:])
            raise UsageError(
                f"the index has no {asked.engine} {version}.",
                hint=f"Its newest are {newest}." if newest else f"It has no release of {asked.engine} at all.",
            )
    oldest = Version(asked.harvester.oldest)
    readable = [one for version, one in listed.items() if version >= oldest]
    if asked.everything:
        return readable
    wanted = [listed[version].version for version in versions] or [
        one.version for one in readable if one.version not in known
    ]
    needed = with_predecessors(wanted, known)
    found = [one for one in readable if one.version in needed]
    for before, one in pairwise(found):
        if before.version not in wanted:
            _note(
                f"{asked.engine} {before.version} is read again: facts that end before {one.version} need their place in it"
            )
    return found


def _print(asked: _Asked, done: Sequence[Done]) -> None:
    from specconf.harvest.harvester import KINDS, json_lines

    for one in done:
        for kind in KINDS:
            rows = one.release.harvested.rows(kind)
            click.echo(json_lines({**row, "release": one.release.version} for row in rows), nl=False)
    if not done:
        _note(f"nothing of {asked.engine} to read")


def _write(asked: _Asked, folder: Path, sources: _Sources, *, force: bool) -> None:
    from specconf.harvest.archive import check_writable
    from specconf.harvest.files import OTHER_OUTPUT, load, updated, write

    started = time.perf_counter()
    check_writable(folder, OTHER_OUTPUT)
    before = load(folder)
    done = _read(asked, before.order, sources)
    if not done:
        newest = f" up to {before.order[-1]}" if before.order else ""
        _note(f"{asked.engine}: nothing new; the database knows {counted(len(before.order), 'release')}{newest}")
        return
    after = updated(asked.harvester, before, [one.release for one in done], anew=asked.everything)
    if not force:
        _refuse_losses(asked, before, after)
    changed = write(folder, after)
    fetched = counted(sum(one.bytes_fetched for one in done), "byte")
    _note(f"{counted(len(done), 'release')}, {fetched} fetched, {time.perf_counter() - started:.1f} s in all")
    _summary(asked, before, after, folder, changed)


def _refuse_losses(asked: _Asked, before: HarvestedFiles, after: HarvestedFiles) -> None:
    """Refuse to lose a large part of what is known of a release: a source that lacks files reads like one without facts."""
    from specconf.harvest.files import shrunk

    losses = list(shrunk(before, after))
    if losses:
        more = f", and {len(losses) - 3} more" if len(losses) > 3 else ""
        raise HarvestError(
            f"{asked.engine}: {'; '.join(losses[:3])}{more}. Nothing was written.",
            hint="Is the source complete? Write all the same with --force.",
        )


def _summary(
    asked: _Asked, before: HarvestedFiles, after: HarvestedFiles, folder: Path, changed: Sequence[Path]
) -> None:
    from specconf.harvest.files import changes

    for name, rows, change in changes(asked.harvester, before, after):
        click.echo(f"{folder / name}.jsonl: {counted(rows, 'row')}; {change}")
    click.echo("nothing changed" if not changed else f"written: {', '.join(path.name for path in changed)}")
