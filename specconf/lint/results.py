"""What a lint gives: files with their launches, each with all that is said of it. How they are judged is `run`'s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

if TYPE_CHECKING:
    from specconf.findings import Finding, NotChecked
    from specconf.lint.cutoff import Cut
    from specconf.lint.edits import Edit
    from specconf.lint.releases import Chosen
    from specconf.lint.suppress import Suppressed
    from specconf.oracle.sided import SideBySide
    from specconf.readers.found import ReadLaunch
    from specconf.settings import Settings
    from specconf.words import Span


class Judged(Struct, frozen=True):
    """One launch with all that is said of it. `settings` is None where its release could not be judged; `cut`: flags that are
    cut off from it; `side`: what the release itself says, where it was asked.
    """

    read: ReadLaunch
    chosen: Chosen
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...] = ()
    settings: Settings | None = None
    cut: Cut | None = None
    side: SideBySide | None = None

    @property
    def line(self) -> int:
        """Where it begins in its file."""
        return self.read.launch.span.line if self.read.launch.span else 1


class FileResult(Struct):
    """One file: its launches, what was found, what was suppressed, and why the file was skipped, if it was.

    `edits`: what would mend a finding, for the formats that carry fixes. `unread`: where and why a file that mentions an engine
    cannot be read, in full. `named`: the command line names it; `under`: the folder that it names in its place. `mentioned`:
    where a script holds the words that start an engine and no launch was found.
    """

    path: str
    text: str = ""
    format: str = ""
    launches: list[Judged] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    skipped: str = ""
    suppressed: list[Suppressed] = field(default_factory=list)
    edits: dict[Finding, tuple[Edit, ...]] = field(default_factory=dict)
    unread: str = ""
    named: bool = False
    under: str = ""
    mentioned: list[Span] = field(default_factory=list)

    @property
    def all_findings(self) -> list[Finding]:
        """Those of the file and of its launches, in the order of their places."""
        found = [*self.findings, *(finding for launch in self.launches for finding in launch.findings)]
        return sorted(
            found, key=lambda f: (f.where.line if f.where else 0, f.where.column if f.where else 0, f.severity.rank)
        )


def told_once(results: Sequence[FileResult]) -> None:
    """Leave a finding about an option file where that file is judged itself, and of several launches at the first.

    A launch that names an option file yields what stands in it, as does every other one that names it.
    """
    told = {finding for result in results for finding in result.all_findings if _is_of(finding, result)}
    for result in results:
        for at, launch in enumerate(result.launches):
            others = [f for f in launch.findings if not _is_of(f, result)]
            repeated = {finding for finding in others if finding in told}
            told.update(others)
            if repeated:
                kept = tuple(finding for finding in launch.findings if finding not in repeated)
                result.launches[at] = replace(launch, findings=kept)


def _is_of(finding: Finding, result: FileResult) -> bool:
    return finding.where is None or finding.where.path == result.path


def launches_of(results: Sequence[FileResult]) -> int:
    """How many launches were found."""
    return sum(len(result.launches) for result in results)
