"""`specconf lint --fix` and `--diff`: findings go to the fixers, and what comes of it to files, or to be looked at."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click
from msgspec import Struct, field

from specconf.errors import InputError
from specconf.findings import Finding
from specconf.lint.files import around
from specconf.lint.fixing import Fixed, fix_text, mends
from specconf.lint.rewriting import difference, rewrite
from specconf.lint.run import FileResult, Linter


class Fixing(Struct):
    """One run: what judges again, whether unsafe fixes are made, and which findings of a file are to be fixed.

    `failures`: the files that could not be written, as errors.
    """

    linter: Linter
    unsafe: bool
    wanted: Callable[[str, Finding], bool]
    failures: list[InputError] = field(default_factory=list)

    def fixed(self, result: FileResult) -> Fixed:
        """A file with all that can be fixed in it."""
        path = result.path
        if result.skipped or not result.all_findings:
            return Fixed(result.text, result.text, result)
        whole = self._whole(result)
        return fix_text(
            self.linter,
            whole,
            around(path, result.under),
            unsafe=self.unsafe,
            wanted=lambda finding: self.wanted(path, finding),
        )

    def _whole(self, result: FileResult) -> FileResult:
        """A result with what its launches were judged with: those of other processes come without."""
        return self.linter.text(result.path, result.text, around(result.path, result.under))

    def show(self, results: list[FileResult]) -> int:
        """Print what would change; 1 where something would."""
        changes = []
        for result in results:
            fixed = self.fixed(result)
            if fixed.changed:
                changes.append(difference(result.path, fixed.before, fixed.text))
        click.echo("".join(changes), nl=False)
        return int(bool(changes))

    def write(self, results: list[FileResult]) -> list[FileResult]:
        """Write every file that can be fixed; the files as they are then. Of standard input, the fixed text is printed."""
        left: list[FileResult] = []
        findings = files = 0
        for result in results:
            fixed = self.fixed(result)
            if result.path == "-":
                sys.stdout.buffer.write(fixed.text.encode("utf-8", "surrogateescape"))
                sys.stdout.buffer.flush()
            elif fixed.changed and not self._written(fixed):
                left.append(result)
                continue
            findings, files = findings + len(fixed.fixed), files + fixed.changed
            left.append(fixed.result)
        if files:
            click.echo(f"specconf: fixed {_counted(findings, 'finding')} in {_counted(files, 'file')}", err=True)
        return left

    def _written(self, fixed: Fixed) -> bool:
        try:
            rewrite(fixed.result.path, fixed.before, fixed.text)
        except InputError as error:
            self.failures.append(error)
            return False
        return True

    def propose(self, results: list[FileResult]) -> None:
        """Put what would mend each finding into its result, for the formats that carry fixes."""
        for result in results:
            if not result.skipped and result.all_findings:
                result.edits = mends(
                    self.linter, self._whole(result), around(result.path, result.under), unsafe=self.unsafe
                )

    def fail(self) -> None:
        """Raise the first failure, once everything else is told."""
        for failure in self.failures[1:]:
            click.echo(f"specconf: {failure}", err=True)
        if self.failures:
            raise self.failures[0]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
