"""Which findings a command tells: the options for it, the codes that they may name, and how many of each code were found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from specconf.codes import CODES
from specconf.compat.names import engine_name
from specconf.errors import UsageError
from specconf.findings import Finding

_F = TypeVar("_F", bound=Callable[..., Any])


def selection_options(command: _F) -> _F:
    """`--output`, `--select` and `--ignore`."""
    for option in (
        click.option(
            "--ignore", "ignore", multiple=True, metavar="CODE", help="Not these codes, prefixes or constraints."
        ),
        click.option(
            "--select", "select", multiple=True, metavar="CODE", help="Only these codes, prefixes or constraints."
        ),
        click.option("--output", "-o", "output", type=click.Path(path_type=Path), help="Write the report to a file."),
    ):
        command = option(command)
    return command


def known_codes(patterns: Iterable[str]) -> None:
    """UsageError for a pattern that can match no finding."""
    for pattern in patterns:
        if "/" not in pattern and not any(code.startswith(pattern) for code in CODES):
            raise UsageError(f"{pattern!r} is no finding code, prefix of one, or constraint id.")


def releases_by_engine(texts: Iterable[str], option: str) -> dict[str, str]:
    """The releases that an option gives as `ENGINE=RELEASE`. UsageError for anything else."""
    found = {}
    for text in texts:
        engine, equals, release = text.partition("=")
        if not equals or not release.strip("= "):
            raise UsageError(f"{option} {text!r} names no engine and release.", hint="Write one such as vllm=0.33.0.")
        found[engine_name(engine)] = release.strip("= ")
    return found


def statistics_text(findings: Iterable[Finding]) -> str:
    """A line for each code that was found, the most frequent first."""
    counted = Counter(finding.code for finding in findings)
    rows = sorted(counted.items(), key=lambda row: (-row[1], row[0]))
    return "".join(f"{number:6} {code} {CODES[code].name}\n" for code, number in rows)
