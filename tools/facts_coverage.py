"""Which constraint carries each check of a facts file: a table, and the shares of it that are executable.

    python tools/facts_coverage.py vllm PATH/TO/vllm.json [--write]

A facts file lists what others found an engine to do ("checks"). Every one of them needs an entry in
`tools/facts_explained/<engine>_checks/*.yaml`: the constraints that carry it, an example that the generic reading of options
answers, the described constraints that tell of it, or why it is out of scope; `corrected` says what the engine's own source
says otherwise, or why the releases differ. Exit 1 when a check has no entry, an entry names what does not exist, or the
constraints leave out releases of the check and no `corrected` says why. `--write` writes the table
(`docs/facts-coverage/<engine>.md`) and the checks' own columns beside the entries (`checks.jsonl`), so that tests need no
facts file.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from specconf.compat.database import Database, load_database
from specconf.compat.releases import Ranges
from specconf.compat.rows import Constraint
from specconf.engines.registry import get_engine
from specconf.rules.probes import run_probe

ROOT = Path(__file__).resolve().parent.parent
EXECUTABLE, DESCRIBED, OUT_OF_SCOPE, UNMAPPED = "executable", "described", "out of scope", "unmapped"
# What a facts file calls an effect, by what a user would call it.
KINDS = {
    "startup_error": "reject",
    "request_error": "reject",
    "auto_change": "override",
    "silent": "ignore",
    "startup_warning": "warn",
}
# Of checks that refuse, override or ignore at these stages nearly all can be held against a launch.
BOUND, BOUND_STAGES, BOUND_KINDS = 0.85, frozenset({"parse", "config"}), frozenset({"reject", "override", "ignore"})


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a facts file, with the first and last release that have it ("" where there is no last)."""

    id: str
    category: str
    effect: str
    stage: str
    first: str
    last: str

    @property
    def kind(self) -> str:
        """reject, override, ignore or warn."""
        return KINDS[self.effect]

    @property
    def bounded(self) -> bool:
        """Whether it counts for the share that must be executable."""
        return self.kind in BOUND_KINDS and self.stage in BOUND_STAGES


@dataclass(frozen=True, slots=True)
class Entry:
    """How a check is carried."""

    check: str
    constraints: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    finding: Mapping[str, Any] = field(default_factory=dict)
    out_of_scope: str = ""
    corrected: str = ""

    @property
    def status(self) -> str:
        """executable, described or out of scope."""
        if self.constraints or self.finding:
            return EXECUTABLE
        return DESCRIBED if self.described else OUT_OF_SCOPE


def entries(folder: Path) -> list[Entry]:
    """The entries of all files of a folder; a check has one only."""
    found: dict[str, Entry] = {}
    for path in sorted(folder.glob("*.yaml")):
        for row in yaml.safe_load(path.read_text("utf-8"))["rows"]:
            entry = Entry(**{key: tuple(v) if isinstance(v, list) else v for key, v in row.items()})
            ways = [entry.constraints, entry.described, entry.finding, entry.out_of_scope]
            if not any(ways) or (entry.out_of_scope and sum(map(bool, ways)) > 1):
                raise SystemExit(f"{path.name}: {entry.check} must be carried by something, or be out of scope")
            if entry.check in found:
                raise SystemExit(f"{path.name}: {entry.check} has two entries")
            found[entry.check] = entry
    return [*found.values()]


def checks_of(facts: Mapping[str, Any]) -> list[Check]:
    """The checks of a facts file."""
    return [
        Check(row["id"], row["category"], row["effect"], row["stage"], row["first"], row["last"] or "")
        for row in facts["checks"]
    ]


def read_checks(path: Path) -> list[Check]:
    """The checks as they are committed beside the entries."""
    return [Check(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def faults(database: Database, checks: Sequence[Check], carried: Sequence[Entry]) -> Iterator[str]:
    """What is wrong with the entries: names, examples, releases."""
    known, by_check = {check.id: check for check in checks}, {entry.check: entry for entry in carried}
    yield from (f"{check.id}: no entry" for check in checks if check.id not in by_check)
    for entry in carried:
        if entry.check not in known:
            yield f"{entry.check}: no such check"
            continue
        yield from (f"{entry.check}: {text}" for text in _entry_faults(database, known[entry.check], entry))


def _entry_faults(database: Database, check: Check, entry: Entry) -> Iterator[str]:
    named = [(name, database.constraint(name)) for name in (*entry.constraints, *entry.described)]
    found = [constraint for _, constraint in named if constraint is not None]
    yield from (f"{name} does not exist" for name, constraint in named if constraint is None)
    for constraint in found:
        if constraint.evaluated == (constraint.id in entry.described):
            yield f"{constraint.id} is {constraint.kind}"
    if entry.finding and not _shown(database, entry.finding):
        yield f"its example does not yield {entry.finding['code']}"
    if found and not entry.finding and not entry.corrected and (left := missing_releases(database, check, found)):
        yield f"no constraint holds in {left[0]} to {left[-1]} ({len(left)} releases), and nothing says why"


def _shown(database: Database, example: Mapping[str, Any]) -> bool:
    code = example["code"]
    probe = {key: value for key, value in example.items() if key != "code"}
    _, judgement = run_probe(database, get_engine(database.engine), probe)
    return any(finding.code == code for finding in judgement.findings)


def missing_releases(database: Database, check: Check, constraints: Iterable[Constraint]) -> list[str]:
    """Releases of a check in which none of the constraints holds."""
    held = {position for constraint in constraints for position in _positions(constraint.ranges)}
    names = database.line.names
    first = 0 if check.first.startswith("<=") else names.index(check.first)
    last = names.index(check.last) if check.last else len(names) - 1
    return [names[position] for position in range(first, last + 1) if position not in held]


def _positions(ranges: Ranges) -> Iterator[int]:
    for low, high in (*ranges.holds_in, *ranges.unknown_in):
        yield from range(low, high)


def share(checks: Iterable[Check], carried: Mapping[str, Entry]) -> tuple[int, int]:
    """How many checks that must be executable are, and how many there are."""
    statuses = [status_of(check, carried) for check in checks if check.bounded]
    return statuses.count(EXECUTABLE), len(statuses)


def status_of(check: Check, carried: Mapping[str, Entry]) -> str:
    """How a check is carried, in a word."""
    return carried[check.id].status if check.id in carried else UNMAPPED


def markdown(engine: str, checks: Sequence[Check], carried: Mapping[str, Entry], database: Database) -> str:
    """The table as it is committed."""
    executable, bounded = share(checks, carried)
    kinds = Counter(c.kind for c in database.constraints)
    lines = [
        f"# {engine}: what carries each check of the facts",
        "",
        "Written by `tools/facts_coverage.py`. A check of the facts file is a lead; the constraint that carries it was read",
        "in the engine's own source, and the last column says where the two differ.",
        "",
        f"{executable} of {bounded} checks that refuse, override or ignore at the parse or config stage are executable "
        f"({executable / max(1, bounded):.0%}). The database has {len(database.constraints)} constraints of {engine}: "
        + ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        + "; none calls a Python predicate."
        * (not any("predicate" in json.dumps(c.when, default=str) for c in database.constraints)),
        "",
        *_shares(checks, carried),
    ]
    for category in dict.fromkeys(check.category for check in checks):
        lines += [
            "",
            f"## {category}",
            "",
            "| check | effect, stage | releases | carried by | the engine says otherwise |",
        ]
        lines.append("| --- | --- | --- | --- | --- |")
        lines += [_line(check, carried) for check in checks if check.category == category]
    return "\n".join(lines) + "\n"


def _shares(checks: Sequence[Check], carried: Mapping[str, Entry]) -> Iterator[str]:
    yield "| effect | stage | executable | described | out of scope | share executable |"
    yield "| --- | --- | --- | --- | --- | --- |"
    counted: dict[tuple[str, str], Counter[str]] = {}
    for check in checks:
        counted.setdefault((check.kind, check.stage), Counter())[status_of(check, carried)] += 1
    for (kind, stage), count in sorted(counted.items()):
        numbers = [count[EXECUTABLE], count[DESCRIBED], count[OUT_OF_SCOPE]]
        yield f"| {kind} | {stage} | {' | '.join(map(str, numbers))} | {numbers[0] / count.total():.0%} |"


def _line(check: Check, carried: Mapping[str, Entry]) -> str:
    entry = carried.get(check.id)
    if entry is None:
        by = UNMAPPED
    elif entry.out_of_scope:
        by = f"out of scope: {entry.out_of_scope}"
    else:
        parts = [f"`{name}`" for name in entry.constraints]
        parts += [f"`{name}` (described)" for name in entry.described]
        parts += [f"{entry.finding['code']} by the reading of options"] if entry.finding else []
        by = ", ".join(parts)
    corrected = entry.corrected if entry else ""
    cells = (check.id, f"{check.effect}, {check.stage}", f"{check.first}..{check.last}", by, corrected)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def main(words: Sequence[str] | None = None) -> int:
    """Check the entries against a facts file and the database; write the table if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("facts", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(words)
    folder = ROOT / "tools" / "facts_explained" / f"{given.engine}_checks"
    checks = checks_of(json.loads(given.facts.read_text("utf-8")))
    carried, database = entries(folder), load_database(given.engine)
    wrong = [*faults(database, checks, carried)]
    print("\n".join(wrong))
    by_check = {entry.check: entry for entry in carried}
    print("\n".join(_shares(checks, by_check)))
    executable, bounded = share(checks, by_check)
    print(f"{executable} of {bounded} that refuse, override or ignore at the parse or config stage are executable")
    if given.write:
        rows = [json.dumps({name: getattr(c, name) for name in Check.__slots__}, sort_keys=True) for c in checks]
        (folder / "checks.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
        written = ROOT / "docs" / "facts-coverage" / f"{given.engine}.md"
        written.parent.mkdir(exist_ok=True)
        written.write_text(markdown(given.engine, checks, by_check, database), "utf-8")
    return 1 if wrong or executable < BOUND * bounded else 0


if __name__ == "__main__":
    sys.exit(main())
