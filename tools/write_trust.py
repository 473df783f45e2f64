"""Writes what engines' own answers say of specconf: README's table, and a page for each engine with every figure.

    python tools/write_trust.py

All of it comes from `compat/<engine>/observed/summary.json`, which `specconf db verify` writes and a test recomputes from the
recorded answers.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from specconf.compat.database import load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.engines.registry import get_engine, get_oracle, get_serving
from specconf.errors import DatabaseError, OracleError
from specconf.verify.bars import FEW, LEAST_VALUES, LEAST_VERDICTS, exceptions_of
from specconf.verify.classes import classes_of
from specconf.verify.loads import examples, methods
from specconf.verify.proof import LOADED
from specconf.verify.summary import read_summary

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = ROOT / "docs" / "oracle"
BEGIN, END = "<!-- trust: written by tools/write_trust.py, do not edit -->", "<!-- /trust -->"
COUNTED = ("own", "nobody")
ORIGINS = {
    "own": "our own",
    "array": "nobody's, array",
    "corpus": "nobody's, documents",
    "loaded": "started for real",
}
MISSED = "rejected, passed by us"

README_ABOUT = """
    *Started for real*: with tiny weights on a CPU until one request was answered. These launches are few and of our
    choice; they are in no column but their own and the last. Two verdicts agree where both take a launch or both
    refuse it.
"""
VERDICTS_ABOUT = """
    By the stage at which the release stopped, or up to which it was asked: launches that agree of all. Two verdicts
    agree where both take the launch or both refuse it; *refused by both* counts the latter, and *elsewhere* those of
    them that we refuse at another stage than the release does.
"""
BARS_ABOUT = f"""
    At every release, origin and stage {100 * LEAST_VERDICTS:g} % of the verdicts must agree, of fewer than {FEW} all
    but one; and {100 * LEAST_VALUES:g} % of the values in force of our own launches and of nobody's: a test judges every
    answer again.
"""
VALUES_ABOUT = """
    Of launches that both accept. What is not known to us counts as not equal. Most values are those of a plain
    launch, or written in the launch; *filled in* are the others: the release works them out from the rest of the
    launch.
"""
STARTED_ABOUT = """
    Each method with the drafts it takes and those it does not, and the examples of the constraints that show only
    once an engine loads its weights or answers (`specconf/verify/loads.py`). A start needs a wheel with the release's
    compiled parts for a CPU, and takes up to minutes.
"""
COSTS_ABOUT = """
    Seconds on two cores beside other work. `own` is on disk for the release alone, `shared` with other releases. A
    cold release is built, imported and asked; a warm one imported and asked. The seconds are those of the run that
    put most questions, `asked`; a release whose requirements another one has already is built faster. `-`: built
    before its seconds were noted.
"""


def share(part: int, whole: int) -> str:
    """A share in percent, to one place and never rounded up to all."""
    if not whole:
        return "-"
    return "100 %" if part == whole else f"{min(99.9, round(100 * part / whole, 1)):g} %"


def summaries() -> dict[str, dict[str, Any]]:
    """The figures of every engine of which a release was asked. DatabaseError for figures of an older specconf."""
    found = {engine: read_summary(ROOT / "compat" / engine / "observed") for engine in ENGINE_NAMES}
    for engine, releases in found.items():
        old = [release for release, told in releases.items() if "started" not in told]
        if old:
            raise DatabaseError(
                f"{engine} {old[0]}: the figures lack some; specconf db verify {engine} --recorded writes them."
            )
    return {engine: releases for engine, releases in found.items() if releases}


def _of(told: Mapping[str, Any], key: str) -> int:
    return sum(int(told[origin]["all"][key]) for origin in COUNTED)


def readme_lines(found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The table of the README: one row an engine and release."""
    columns = (
        "engine | release | launches | nobody's | verdicts that agree | values in force equal | started for real, agree"
    )
    yield BEGIN
    yield ""
    yield f"| {columns} | refused, passed by us |"
    yield "|" + " --- |" * (len(columns.split(" | ")) + 1)
    for engine, releases in found.items():
        for release, told in reversed(releases.items()):
            loaded = told["loaded"]["all"]
            cells = [
                get_engine(engine).title,
                release,
                str(_of(told, "verdicts")),
                str(told["nobody"]["all"]["verdicts"]),
                share(_of(told, "agreed"), _of(told, "verdicts")),
                share(_of(told, "equal"), _of(told, "values")),
                f"{loaded['agreed']}/{loaded['verdicts']}" if loaded["verdicts"] else "-",
                str(sum(told[origin]["outcomes"][MISSED] for origin in ORIGINS)),
            ]
            yield f"| {' | '.join(cells)} |"
    yield ""
    yield from _prose(README_ABOUT)
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
        *_exceptions(engine),
        *_values(releases),
        *_started(engine, releases),
        *_left(engine, releases),
        *_constraints(releases),
        *_costs(releases),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _prose(text: str) -> list[str]:
    """A text in lines."""
    return textwrap.wrap(" ".join(text.split()), width=120, break_on_hyphens=False, break_long_words=False)


def _section(title: str, about: str, columns: str, rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A heading, what the table shows, and the table."""
    yield f"## {title}"
    yield ""
    yield from _prose(about)
    yield ""
    yield f"| {columns} |"
    yield "|" + " --- |" * len(columns.split(" | "))
    for cells in rows:
        yield f"| {' | '.join(str(cell) for cell in cells)} |"
    yield ""


def _verdicts(releases: Mapping[str, Any]) -> Iterator[str]:
    yield from _section(
        "Verdicts",
        VERDICTS_ABOUT,
        "release | whose | all | parse | config | load | request | refused by both | elsewhere | false errors | not checked "
        "| refused, passed by us",
        _verdict_rows(releases),
    )


def _verdict_rows(releases: Mapping[str, Any]) -> Iterator[list[Any]]:
    for release, told in reversed(releases.items()):
        for origin, name in ORIGINS.items():
            part = told[origin]
            if not part["all"]["verdicts"]:
                continue
            cells = [release, name, _agreed(part["all"])]
            cells += [_agreed(part.get(stage)) for stage in ("parse", "config", "load", "request")]
            wrong = ("false error", "rejected, not checked", MISSED)
            refused = (part["all"]["refused"], part["all"]["elsewhere"])
            yield [*cells, *refused, *(part["outcomes"][each] for each in wrong)]


def _exceptions(engine: str) -> Iterator[str]:
    title, below = "Where fewer agree than must", exceptions_of(get_oracle(engine)).below
    if below:
        rows = [[each.release, ORIGINS[each.origin], each.stage, each.disagree, each.why] for each in below]
        about = f"{BARS_ABOUT} These are the exceptions."
        yield from _section(title, about, "release | whose | stage | disagree | why", rows)
    else:
        yield from (f"## {title}", "", *_prose(f"{BARS_ABOUT} There is no exception."), "")


def _agreed(tally: Mapping[str, int] | None) -> str:
    if not tally or not tally["verdicts"]:
        return "-"
    return _part(tally["agreed"], tally["verdicts"])


def _values(releases: Mapping[str, Any]) -> Iterator[str]:
    yield from _section(
        "Values in force",
        VALUES_ABOUT,
        "release | whose | equal | filled in, equal | not known | other",
        _value_rows(releases),
    )


def _value_rows(releases: Mapping[str, Any]) -> Iterator[list[Any]]:
    for release, told in reversed(releases.items()):
        for origin in ("own", "array", "corpus"):
            all_ = told[origin]["all"]
            other = all_["values"] - all_["equal"] - all_["unknown"]
            equal, filled = _part(all_["equal"], all_["values"]), _part(all_["filled_equal"], all_["filled"])
            yield [release, ORIGINS[origin], equal, filled, all_["unknown"], other]


def _part(part: int, whole: int) -> str:
    return f"{part}/{whole} ({share(part, whole)})"


def _started(engine: str, releases: Mapping[str, Any]) -> Iterator[str]:
    title = "What was started for real"
    try:
        get_serving(engine)
    except OracleError as error:
        yield from (f"## {title}", "", f"Nothing: {error.message}", "")
        return
    yield from _section(
        title, STARTED_ABOUT, "release | started | of | why not the others", _started_rows(engine, releases)
    )
    for release, told in reversed(releases.items()):
        if told["started"]:
            yield f"- {release}: {'; '.join(told['started'])}"
    yield ""


def _started_rows(engine: str, releases: Mapping[str, Any]) -> Iterator[list[Any]]:
    database, why = load_database(engine), exceptions_of(get_oracle(engine)).not_started
    for release, told in reversed(releases.items()):
        launches = [*methods(), *examples(database.at(release))]
        wanted = {one.origin.removeprefix(LOADED) for one in launches} | set(told["started"])
        left = len(wanted) - len(told["started"])
        yield [
            release,
            len(told["started"]),
            len(wanted),
            why.get(release, "Not started yet.") if left else "",
        ]


def _left(engine: str, releases: Mapping[str, Any]) -> Iterator[str]:
    yield "## What could not be asked"
    yield ""
    classes = classes_of(get_oracle(engine))
    counted = {name for told in releases.values() for name in told["unanswered"]}
    if unknown := sorted(counted - classes.keys()):
        raise DatabaseError(f"{engine}: no file names the class {', '.join(unknown)} of questions without an answer.")
    names = [name for name in classes if name in counted]
    yield f"| release | {' | '.join(names)} |"
    yield f"| --- |{' --- |' * len(names)}"
    for release, told in reversed(releases.items()):
        yield f"| {release} | {' | '.join(str(told['unanswered'].get(name, 0)) for name in names)} |"
    yield ""
    for name in names:
        yield f"- {name}: {' '.join(dict.fromkeys(each.why for each in classes[name]))}"
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
        COSTS_ABOUT,
        "release | launches | build s | import s | asked | asking s | ms an answer | own MB | shared MB",
        _cost_rows(releases),
    )


def _cost_rows(releases: Mapping[str, Any]) -> Iterator[list[Any]]:
    for release, told in reversed(releases.items()):
        cost = told["cost"]
        asked, seconds = cost.get("asked"), cost.get("ask_seconds")
        each = f"{1000 * seconds / asked:.0f}" if asked and seconds is not None else "-"
        cells = [cost.get(name, "-") for name in ("answers", "build_seconds", "import_seconds", "asked", "ask_seconds")]
        yield [release, *cells, each, cost.get("own_mb", "-"), cost.get("shared_mb", "-")]


def with_table(text: str, found: Mapping[str, Mapping[str, Any]]) -> str:
    """The README with its table written anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + "\n".join(readme_lines(found)) + after


def written(found: Mapping[str, Mapping[str, Any]]) -> dict[Path, str]:
    """Every file that holds figures, and its text."""
    pages = {PAGES / f"{engine}.md": page(engine, releases) for engine, releases in found.items()}
    return {README: with_table(README.read_text(encoding="utf-8"), found), **pages}


def main() -> int:
    """Write the table and the pages."""
    PAGES.mkdir(exist_ok=True)
    for path, text in written(summaries()).items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
