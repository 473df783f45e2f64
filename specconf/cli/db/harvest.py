"""`specconf db harvest`: read releases of an engine from their own published sources into the database's files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specconf.compat.database import engine_name
from specconf.compat.store import CHECKOUT
from specconf.errors import UsageError

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
@click.option("--print", "printed", is_flag=True, help="Print the rows as JSON lines instead of writing them.")
@click.option(
    "--index-url", metavar="URL", help="The package index (default: PIP_INDEX_URL, UV_DEFAULT_INDEX or PyPI)."
)
@click.option(
    "--cache", type=click.Path(path_type=Path), metavar="DIR", help="Where fetched sources are kept (user cache)."
)
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, help="Releases read at a time.")
def command(
    engine: str,
    releases: tuple[str, ...],
    new: bool,
    everything: bool,
    path: Path | None,
    output: Path | None,
    printed: bool,
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
    if printed:
        _print(asked, _read(asked, [], index_url, _cache(cache, name), jobs))
        return
    assert target is not None
    _write(asked, target, index_url, _cache(cache, name), jobs)


@dataclass(frozen=True)
class _Asked:
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


def _cache(stated: Path | None, engine: str) -> Path:
    if stated is not None:
        return stated
    import platformdirs

    return Path(platformdirs.user_cache_dir("specconf")) / "sources" / engine


def _note(text: str) -> None:
    click.echo(text, err=True)


def _read(asked: _Asked, known: Sequence[str], index_url: str | None, cache: Path, workers: int) -> list[Done]:
    """Read the releases asked for, with a line on each, oldest first."""
    from specconf.harvest.read import read_all

    done = []
    for one in read_all(_jobs(asked, known, index_url, cache), _note, workers):
        harvested = one.release.harvested
        counts = (
            f"{len(harvested.options)} options, {len(harvested.tables)} table rows, {len(harvested.messages)} messages"
        )
        _note(
            f"{asked.engine} {one.release.version}: {counts}; {one.bytes_fetched} bytes fetched, {one.seconds:.2f} s read"
        )
        done.append(one)
    return done


def _jobs(asked: _Asked, known: Sequence[str], index_url: str | None, cache: Path) -> Iterator[Job]:
    from specconf.harvest.fetch import PackageIndex
    from specconf.harvest.fetch import index_url as resolved
    from specconf.harvest.read import from_index, from_path

    if asked.path is not None:
        yield from_path(asked.module, asked.path, asked.releases[0] if asked.releases else None)
        return
    index = PackageIndex(resolved(index_url))
    yield from from_index(asked.module, index, _wanted(asked, known, index), cache)


def _wanted(asked: _Asked, known: Sequence[str], index: PackageIndex) -> list[Published]:
    """The releases of the index to read: those asked for, and those before inserted ones.

    Raises UsageError for a release that the index does not list.
    """
    from packaging.version import Version

    from specconf.compat.releases import parse_version
    from specconf.harvest.files import with_predecessors

    listed = index.releases(asked.harvester.project)
    if asked.releases:
        by_version = {Version(one.version): one for one in listed}
        wanted = [parse_version(text) for text in asked.releases]
        if missing := [text for text, version in zip(asked.releases, wanted, strict=True) if version not in by_version]:
            newest = ", ".join(one.version for one in listed[-3:])
            raise UsageError(f"the index has no {asked.engine} {missing[0]}.", hint=f"Its newest are {newest}.")
        names = with_predecessors([by_version[version].version for version in wanted], known)
        return [by_version[Version(name)] for name in names if Version(name) in by_version]
    oldest = Version(asked.harvester.oldest)
    readable = [one for one in listed if Version(one.version) >= oldest]
    if asked.everything:
        return readable
    needed = with_predecessors([one.version for one in readable if one.version not in known], known)
    return [one for one in readable if one.version in needed]


def _print(asked: _Asked, done: Sequence[Done]) -> None:
    from specconf.harvest.harvester import KINDS, json_lines

    for one in done:
        for kind in KINDS:
            rows = one.release.harvested.rows(kind)
            click.echo(json_lines({**row, "release": one.release.version} for row in rows), nl=False)
    if not done:
        _note(f"nothing of {asked.engine} to read")


def _write(asked: _Asked, folder: Path, index_url: str | None, cache: Path, workers: int) -> None:
    from specconf.harvest.files import HarvestedFiles, load, updated, write

    started = time.perf_counter()
    before = load(folder)
    done = _read(asked, before.order, index_url, cache, workers)
    if not done:
        _note(f"{asked.engine}: nothing new; the database knows {len(before.order)} releases up to {before.order[-1]}")
        return
    read = [one.release for one in done]
    after = updated(asked.harvester, HarvestedFiles([], {}) if asked.everything else before, read)
    changed = write(folder, after)
    fetched = sum(one.bytes_fetched for one in done)
    _note(f"{len(done)} releases, {fetched} bytes fetched, {time.perf_counter() - started:.1f} s in all")
    _summary(before, after, folder, changed)


def _summary(before: HarvestedFiles, after: HarvestedFiles, folder: Path, changed: Sequence[Path]) -> None:
    from specconf.harvest.files import changed_rows

    for kind, rows in after.rows.items():
        new, gone = changed_rows(before.rows[kind], rows)
        click.echo(f"{folder / kind}.jsonl: {len(rows)} rows, {new} new or changed, {gone} gone or changed")
    click.echo("nothing changed" if not changed else f"written: {', '.join(path.name for path in changed)}")
