"""Which constraint carries each row of a facts file: a table, and the shares of its checks that are executable.

    python tools/facts_coverage.py vllm PATH/TO/vllm.json [--write]

A facts file lists what others found an engine to do ("checks"), beside tables of options, methods, families and metrics.
Every row needs an entry in `tools/facts_explained/<engine>_checks/*.yaml`: the constraints that carry it, an example that the
generic reading of options answers, the described constraints that tell of it, the data that hold it (`data`, a file below
`compat/` or a derived fact), or why it is out of scope; `corrected` says what the engine's own source says otherwise, or why
the releases differ. An entry of a table may name several rows (`memory/*`). Exit 1 when a row has no entry, an entry names
what does not exist, or the constraints leave out releases of a check and no `corrected` says why. `--write` writes the table
(`docs/facts-coverage/<engine>.md`) and the rows' own columns beside the entries (`rows.jsonl`), so that tests need no facts
file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field

from specconf.compat.database import Database, load_database
from specconf.compat.releases import Ranges
from specconf.compat.rows import Constraint
from specconf.engines.registry import get_engine
from specconf.rules.probes import run_probe

ROOT = Path(__file__).resolve().parent.parent
EXECUTABLE, DESCRIBED, DATA, OUT_OF_SCOPE, UNMAPPED = "executable", "described", "data", "out of scope", "unmapped"
# What facts files call an effect, by what a user would call it. A row may name several ("warn->reject"): the strongest counts.
KINDS = {
    "startup_error": "reject",
    "startup_assert": "reject",
    "request_error": "reject",
    "request_reject": "reject",
    "runtime_error": "reject",
    "reject": "reject",
    "crash": "reject",
    "garbage": "reject",
    "auto_change": "override",
    "warn_and_change": "override",
    "silent_change": "override",
    "change": "override",
    "disable": "override",
    "silent": "ignore",
    "silent_ignore": "ignore",
    "startup_warning": "warn",
    "warn_only": "warn",
    "warn": "warn",
    "doc": "fact",
    "fact": "fact",
    "-": "fact",
}
_STRONGEST = ("reject", "override", "ignore", "warn", "fact")
# The key of the rows that are checks, and what these call a row's category and its effect.
_CHECKS = {
    "vllm": ("checks", "category", "effect"),
    "sglang": ("checks", "area", "effect_kind"),
    "tensorrt-llm": ("f_checks", "area", "kind"),
}
# TensorRT-LLM's facts say where a check stands, not at which stage it answers; the first words that are found decide.
_STAGES_BY_PLACE = {
    "validate_request": "request",
    "_check_arguments": "request",
    "token bans": "request",
    "loading": "load",
    "worker": "worker",
    "creator": "worker",
    "executor": "worker",
    "sampler": "worker",
    "drafter": "worker",
    "KV": "worker",
    "path": "worker",
    "op": "worker",
    "docs": "docs",
}
# Sections of a facts file that say how it was made.
_ABOUT = {"meta", "checks", "f_checks", "engine", "written", "note", "confidence_codes", "sources", "unsure"}
# What names a row of a table, the first that it has.
_LABELS = (
    "method",
    "field",
    "flag",
    "target",
    "item",
    "option",
    "form",
    "release",
    "releases",
    "key",
    "name",
    "fragment",
    "tag",
    "arch",
    "trap",
    "title",
)
# Of checks that refuse, override or ignore at these stages nearly all can be held against a launch.
BOUND, BOUND_STAGES, BOUND_KINDS = 0.85, frozenset({"parse", "config"}), frozenset({"reject", "override", "ignore"})


class Check(Struct, frozen=True):
    """One row of a facts file. A check has an effect, a stage, and the first and last release that have it.

    "" as the first: the facts give brackets in words, so that releases are not compared; "" as the last: to the newest.
    """

    id: str
    category: str
    effect: str
    stage: str
    first: str
    last: str

    @property
    def kind(self) -> str:
        """reject, override, ignore, warn, or fact for a row of a table."""
        named = {KINDS[word] for word in re.split("->|/", self.effect)}
        return next(kind for kind in _STRONGEST if kind in named)

    @property
    def bounded(self) -> bool:
        """Whether it counts for the share that must be executable."""
        return self.kind in BOUND_KINDS and self.stage in BOUND_STAGES


class Entry(Struct, frozen=True):
    """How a check is carried."""

    check: str
    constraints: tuple[str, ...] = ()
    described: tuple[str, ...] = ()
    finding: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
    out_of_scope: str = ""
    corrected: str = ""

    @property
    def status(self) -> str:
        """executable, described, data or out of scope."""
        if self.constraints or self.finding:
            return EXECUTABLE
        if self.data:
            return DATA
        return DESCRIBED if self.described else OUT_OF_SCOPE


def entries(folder: Path) -> list[Entry]:
    """The entries of all files of a folder; a check has one only."""
    found: dict[str, Entry] = {}
    for path in sorted(folder.glob("*.yaml")):
        for row in yaml.safe_load(path.read_text("utf-8"))["rows"]:
            values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}
            entry = Entry(**values)
            ways = [entry.constraints, entry.described, entry.finding, entry.data, entry.out_of_scope]
            if not any(ways) or (entry.out_of_scope and sum(map(bool, ways)) > 1):
                raise SystemExit(f"{path.name}: {entry.check} must be carried by something, or be out of scope")
            if entry.check in found:
                raise SystemExit(f"{path.name}: {entry.check} has two entries")
            found[entry.check] = entry
    return [*found.values()]


def checks_of(engine: str, facts: Mapping[str, Any]) -> list[Check]:
    """The checks of an engine's facts file, then the rows of its tables."""
    key, category, effect = _CHECKS[engine]
    checks = [
        Check(
            row["id"],
            row[category],
            row[effect],
            row.get("stage") or _stage_of(row["where"]),
            row.get("first") or "",
            row.get("last") or "",
        )
        for row in facts[key]
    ]
    return [*checks, *_table_rows(facts)]


def _stage_of(place: str) -> str:
    return next((stage for words, stage in _STAGES_BY_PLACE.items() if words in place), "config")


def _table_rows(facts: Mapping[str, Any]) -> Iterator[Check]:
    for section, value in facts.items():
        if section in _ABOUT:
            continue
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for part, held in parts:
            name = f"{section}.{part}" if part else section
            labels = [_label(item) for item in held] if isinstance(held, list) else [""]
            for number, label in enumerate(labels):
                again = f" ({labels[:number].count(label) + 1})" if label in labels[:number] else ""
                yield Check(f"{name}/{label}{again}" if label else name, section, "fact", "", "", "")


def _label(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    return next((str(item[key]) for key in _LABELS if item.get(key)), str(next(iter(item.values()))))


class Carried:
    """Entries by the row they are for: one that names it, else the first whose pattern it fits."""

    def __init__(self, found: Sequence[Entry]) -> None:
        self.all = found
        self._exact = {entry.check: entry for entry in found}
        self._patterns = [entry for entry in found if "*" in entry.check]

    def of(self, check: Check) -> Entry | None:
        """The entry of a row, or None."""
        exact = self._exact.get(check.id)
        return exact or next((e for e in self._patterns if fnmatchcase(check.id, e.check)), None)


def read_checks(path: Path) -> list[Check]:
    """The checks as they are committed beside the entries."""
    return [Check(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def faults(database: Database, checks: Sequence[Check], carried: Carried) -> Iterator[str]:
    """What is wrong with the entries: names, examples, releases."""
    by_entry: dict[str, list[Check]] = {}
    for check in checks:
        entry = carried.of(check)
        if entry is None:
            yield f"{check.id}: no entry"
        else:
            by_entry.setdefault(entry.check, []).append(check)
    for entry in carried.all:
        held = by_entry.get(entry.check)
        yield from (
            f"{entry.check}: {text}" for text in (_entry_faults(database, held[0], entry) if held else ["no such row"])
        )


def _entry_faults(database: Database, check: Check, entry: Entry) -> Iterator[str]:
    named = [(name, database.constraint(name)) for name in (*entry.constraints, *entry.described)]
    found = [constraint for _, constraint in named if constraint is not None]
    yield from (f"{name} does not exist" for name, constraint in named if constraint is None)
    for constraint in found:
        if constraint.evaluated == (constraint.id in entry.described):
            yield f"{constraint.id} is {constraint.kind}"
    if entry.finding and not _shown(database, entry.finding):
        yield f"its example does not yield {entry.finding['code']}"
    if not check.first:
        return
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


def share(checks: Iterable[Check], carried: Carried) -> tuple[int, int]:
    """How many checks that must be executable are, and how many there are."""
    statuses = [status_of(check, carried) for check in checks if check.bounded]
    return statuses.count(EXECUTABLE), len(statuses)


def status_of(check: Check, carried: Carried) -> str:
    """How a row is carried, in a word."""
    entry = carried.of(check)
    return entry.status if entry else UNMAPPED


def markdown(engine: str, checks: Sequence[Check], carried: Carried, database: Database) -> str:
    """The table as it is committed."""
    executable, bounded = share(checks, carried)
    kinds = Counter(c.kind for c in database.constraints)
    numbers = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    lines = [
        f"# {engine}: what carries each row of the facts",
        "",
        "Written by `tools/facts_coverage.py`. A row of the facts file is a lead; the constraint that carries it was read",
        "in the engine's own source, and the last column says where the two differ.",
        "",
        f"{executable} of {bounded} checks that refuse, override or ignore at the parse or config stage are executable "
        f"({executable / max(1, bounded):.0%}). The database has {len(database.constraints)} constraints of {engine}: "
        f"{numbers}. {_predicates(database)} of them call a Python predicate.",
        "",
        *_shares(checks, carried),
    ]
    for category in dict.fromkeys(check.category for check in checks):
        lines += [
            "",
            f"## {category}",
            "",
            "| row | effect, stage | releases | carried by | the engine says otherwise |",
        ]
        lines.append("| --- | --- | --- | --- | --- |")
        lines += _lines([check for check in checks if check.category == category], carried)
    return "\n".join(lines) + "\n"


def _predicates(database: Database) -> int:
    return sum('"predicate"' in json.dumps(c.when, default=str) for c in database.constraints)


def _shares(checks: Sequence[Check], carried: Carried) -> Iterator[str]:
    yield "| effect | stage | executable | described | data | out of scope | share executable |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    counted: dict[tuple[str, str], Counter[str]] = {}
    for check in checks:
        counted.setdefault((check.kind, check.stage), Counter())[status_of(check, carried)] += 1
    for (kind, stage), count in sorted(counted.items()):
        numbers = [count[EXECUTABLE], count[DESCRIBED], count[DATA], count[OUT_OF_SCOPE]]
        yield f"| {kind} | {stage} | {' | '.join(map(str, numbers))} | {numbers[0] / count.total():.0%} |"


def _lines(checks: Sequence[Check], carried: Carried) -> Iterator[str]:
    """A line for each row; rows that one entry carries together share a line."""
    together: dict[str, list[Check]] = {}
    for check in checks:
        entry = carried.of(check)
        together.setdefault(entry.check if entry else check.id, []).append(check)
    for name, held in together.items():
        several = f" ({len(held)} rows)" if len(held) > 1 else ""
        yield _line(f"{name}{several}", held[0], carried.of(held[0]))


def _line(name: str, check: Check, entry: Entry | None) -> str:
    parts = [UNMAPPED] if entry is None else []
    if entry is not None:
        parts += [f"`{constraint}`" for constraint in entry.constraints]
        parts += [f"`{constraint}` (described)" for constraint in entry.described]
        parts += [f"{entry.finding['code']} by the reading of options"] if entry.finding else []
        parts += [f"data: {entry.data}"] if entry.data else []
        parts += [f"out of scope: {entry.out_of_scope}"] if entry.out_of_scope else []
    fact = check.kind == "fact"
    cells = (
        name,
        "" if fact else f"{check.effect}, {check.stage}",
        f"{check.first}..{check.last}" if check.first and not fact else "",
        ", ".join(parts),
        entry.corrected if entry else "",
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def main(words: Sequence[str] | None = None) -> int:
    """Check the entries against a facts file and the database; write the table if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("facts", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(words)
    folder = ROOT / "tools" / "facts_explained" / f"{given.engine}_checks"
    checks = checks_of(given.engine, json.loads(given.facts.read_text("utf-8")))
    carried, database = Carried(entries(folder)), load_database(given.engine)
    wrong = [*faults(database, checks, carried)]
    print("\n".join(wrong))
    print("\n".join(_shares(checks, carried)))
    executable, bounded = share(checks, carried)
    print(f"{executable} of {bounded} that refuse, override or ignore at the parse or config stage are executable")
    if given.write:
        rows = [json.dumps({name: getattr(c, name) for name in Check.__slots__}, sort_keys=True) for c in checks]
        (folder / "rows.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
        written = ROOT / "docs" / "facts-coverage" / f"{given.engine}.md"
        written.parent.mkdir(exist_ok=True)
        written.write_text(markdown(given.engine, checks, carried, database), "utf-8")
    return 1 if wrong or executable < BOUND * bounded else 0


if __name__ == "__main__":
    sys.exit(main())
