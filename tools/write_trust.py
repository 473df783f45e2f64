"""Writes what engines' own answers say of specconf: README's table, and a page for each engine with every figure.

    python tools/write_trust.py

All of it comes from `compat/<engine>/observed/summary.json`, which `specconf db verify` writes and a test recomputes from the
recorded answers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from specconf.engines.registry import get_engine, get_oracle
from specconf.verify.summary import read_summary

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = ROOT / "docs" / "oracle"
BEGIN, END = "<!-- trust: written by tools/write_trust.py, do not edit -->", "<!-- /trust -->"
ENGINES = ("vllm", "sglang")
COUNTED = {"own": "our own", "nobody": "nobody's"}
ORIGINS = {**COUNTED, "loaded": "started for real"}


def share(part: int, whole: int) -> str:
    """A share in percent, to one place and never rounded up to all."""
    if not whole:
        return "-"
    return "100 %" if part == whole else f"{min(99.9, round(100 * part / whole, 1)):g} %"


def summaries() -> dict[str, dict[str, Any]]:
    """The figures of every engine that was asked."""
    found = {engine: read_summary(ROOT / "compat" / engine / "observed") for engine in ENGINES}
    return {engine: releases for engine, releases in found.items() if releases}


def _of(told: Mapping[str, Any], key: str) -> int:
    return sum(int(told[origin]["all"][key]) for origin in COUNTED)


def readme_lines(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The table of the README: one row an engine and release."""
    yield BEGIN
    yield ""
    yield "| engine | release | launches | nobody's | verdicts that agree | values in force equal | refused, passed by us |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for engine, releases in found.items():
        for release, told in reversed(releases.items()):
            nobody = told["nobody"]["all"]["verdicts"]
            cells = [
                get_engine(engine).title,
                release,
                str(_of(told, "verdicts")),
                str(nobody),
                share(_of(told, "agreed"), _of(told, "verdicts")),
                share(_of(told, "equal"), _of(told, "values")),
                str(sum(told[origin]["outcomes"]["rejected, passed by us"] for origin in COUNTED)),
            ]
            yield f"| {' | '.join(cells)} |"
    yield ""
    yield END


def page(engine: str, releases: Mapping[str, Any]) -> str:
    """One engine's page."""
    title = get_engine(engine).title
    lines = [
        f"# {title}: what its releases answered, and what we say",
        "",
        f"Written by `tools/write_trust.py` from `compat/{engine}/observed/` (`specconf db verify {engine} RELEASE` asks).",
        "Each release's own code was run up to its config, without a GPU. *Our own* launches are the probes and twins of the",
        "constraints; *nobody's* are a seeded covering array and launches of people's documents: nobody wrote their verdict.",
        "",
        *_verdicts(releases),
        *_values(releases),
        *_left(engine, releases),
        *_constraints(releases),
        *_costs(releases),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _section(title: str, about: Sequence[str], columns: str, rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A heading, what the table shows, and the table."""
    yield f"## {title}"
    yield ""
    if about:
        yield from about
        yield ""
    yield f"| {columns} |"
    yield "|" + " --- |" * len(columns.split(" | "))
    for cells in rows:
        yield f"| {' | '.join(str(cell) for cell in cells)} |"
    yield ""


def _verdicts(releases: Mapping[str, Any]) -> Iterator[str]:
    yield from _section(
        "Verdicts",
        ["By the stage at which the release stopped, or up to which it was asked: launches that agree of all."],
        "release | whose | all | parse | config | load | request | false errors | not checked | refused, passed by us",
        _verdict_rows(releases),
    )


def _verdict_rows(releases: Mapping[str, Any]) -> Iterator[list[str]]:
    for release, told in reversed(releases.items()):
        for origin, name in ORIGINS.items():
            part = told[origin]
            if not part["all"]["verdicts"]:
                continue
            cells = [release, name, _agreed(part["all"])]
            cells += [_agreed(part.get(stage)) for stage in ("parse", "config", "load", "request")]
            wrong = ("false error", "rejected, not checked", "rejected, passed by us")
            yield [*cells, *(str(part["outcomes"][each]) for each in wrong)]


def _agreed(tally: Mapping[str, int] | None) -> str:
    if not tally or not tally["verdicts"]:
        return "-"
    return f"{tally['agreed']}/{tally['verdicts']} ({share(tally['agreed'], tally['verdicts'])})"


def _values(releases: Mapping[str, Any]) -> Iterator[str]:
    yield from _section(
        "Values in force",
        ["Of launches that both accept. What is not known to us counts as not equal."],
        "release | whose | equal | not known | other",
        _value_rows(releases),
    )


def _value_rows(releases: Mapping[str, Any]) -> Iterator[list[Any]]:
    for release, told in reversed(releases.items()):
        for origin, name in COUNTED.items():
            all_ = told[origin]["all"]
            other = all_["values"] - all_["equal"] - all_["unknown"]
            equal = f"{all_['equal']}/{all_['values']} ({share(all_['equal'], all_['values'])})"
            yield [release, name, equal, all_["unknown"], other]


def _left(engine: str, releases: Mapping[str, Any]) -> Iterator[str]:
    yield "## What could not be asked"
    yield ""
    why = {each.name: each.why for each in get_oracle(engine).excluded()}
    names = list(dict.fromkeys([*why, *(name for told in releases.values() for name in told["unanswered"])]))
    yield f"| release | {' | '.join(names)} |"
    yield f"| --- |{' --- |' * len(names)}"
    for release, told in reversed(releases.items()):
        yield f"| {release} | {' | '.join(str(told['unanswered'].get(name, 0)) for name in names)} |"
    yield ""
    yield from (f"- {name}: {why.get(name, 'no class says why')}" for name in names)
    yield ""
    yield "## Refused by the engine, passed by us"
    yield ""
    missed = [(release, text) for release, told in reversed(releases.items()) for text in told["missed"]]
    yield from (f"- {release}: {text}" for release, text in missed)
    if not missed:
        yield "None."
    yield ""


def _constraints(releases: Mapping[str, Any]) -> Iterator[str]:
    yield "## What it says of the constraints"
    yield ""
    confirmed = {name for told in releases.values() for name in told["constraints"]["confirmed"]}
    against: dict[str, list[str]] = {}
    for release, told in releases.items():
        for name in told["constraints"]["contradicted"]:
            against.setdefault(name, []).append(release)
    yield f"The answers to their own examples confirm {len(confirmed)} constraints in at least one release."
    yield ""
    yield from (f"- contradicted: {name} ({', '.join(where)})" for name, where in sorted(against.items()))
    yield ""


def _costs(releases: Mapping[str, Any]) -> Iterator[str]:
    yield from _section(
        "What asking a release costs",
        [
            "Seconds on two cores beside other work. `own` is on disk for the release alone, `shared` with other releases.",
            "A cold release is built, imported and asked; a warm one imported and asked.",
        ],
        "release | answers | build s | import s | asking s | ms an answer | own MB | shared MB",
        _cost_rows(releases),
    )


def _cost_rows(releases: Mapping[str, Any]) -> Iterator[list[Any]]:
    for release, told in reversed(releases.items()):
        cost = told["cost"]
        answers = cost.get("answers") or 0
        each = f"{1000 * cost['ask_seconds'] / answers:.0f}" if answers else "-"
        cells = [answers, cost.get("build_seconds", "-"), cost.get("import_seconds"), cost.get("ask_seconds"), each]
        yield [release, *cells, cost.get("own_mb", "-"), cost.get("shared_mb", "-")]


def with_table(text: str, found: Mapping[str, Mapping[str, Any]]) -> str:
    """The README with its table written anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + "\n".join(readme_lines(found)) + after


def main() -> int:
    """Write the table and the pages."""
    found = summaries()
    README.write_text(with_table(README.read_text(encoding="utf-8"), found), encoding="utf-8")
    PAGES.mkdir(exist_ok=True)
    for engine, releases in found.items():
        (PAGES / f"{engine}.md").write_text(page(engine, releases), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
