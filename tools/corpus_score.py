"""What specconf says about launches of public reports: one row a launch, scores by what they need, and the decided share.

The reports stand in `tests/corpus/ENGINE.yaml`: per report `checkable` (what is needed to know it), `about`, perhaps
`not_counted` with the reason, and its `cases`. A case is a launch file under `tests/corpus/ENGINE/`, a release, perhaps the
`features` that the report says its requests use and the `gpu` that it runs on, the level
expected (`error`, `warning`, `info`; `ok`: nothing may be an error; `not-checked`: the rule must be listed as not checked)
and `finds`: what it must be about, as alternatives of constraint or code, with patterns for the message (`says`) and the
fix (`fix`). A case that is known to be missed says why in `miss`. A hit is a finding of the level expected, or a warning
for an error where a report is the only evidence, about one of the alternatives. Each launch is judged alone (checkpoint
rows of the database only) and with the configs of its models, from `tests/corpus/models/`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from specconf.compat.database import load_database  # noqa: E402  # the checkout's own package, wherever it is started
from specconf.compat.rows import Constraint  # noqa: E402
from specconf.compat.store import load_rows  # noqa: E402
from specconf.engines.base import Engine, Models  # noqa: E402
from specconf.engines.registry import get_engine  # noqa: E402
from specconf.engines.vllm.roles import role_facts  # noqa: E402
from specconf.findings import EvidenceKind, Finding, NotChecked, Severity  # noqa: E402
from specconf.models import Resolver  # noqa: E402
from specconf.models.rows import RowTable  # noqa: E402
from specconf.models.view import written_models  # noqa: E402
from specconf.readers.registry import read_launches  # noqa: E402
from specconf.report.model import missing_groups  # noqa: E402
from specconf.rules.judge import judge_settings  # noqa: E402
from specconf.settings import Settings  # noqa: E402

CORPUS = ROOT / "tests" / "corpus"
PAGES = ROOT / "docs" / "corpus"
ENGINES = ("vllm", "sglang", "tensorrt-llm")
ALONE, CONFIGS = "launch alone", "with configs"
MODES = (ALONE, CONFIGS)
# The mode in which a report counts, by what is needed to know what is wrong with it.
COUNTED = {"static": ALONE, "needs-checkpoint-config": CONFIGS}
LEVELS = ("error", "warning", "info", "ok", "not-checked")


class Case(Struct, frozen=True):
    """One launch at one release, and what should be found in it."""

    engine: str
    report: str
    launch: str
    release: str
    level: str
    finds: tuple[Mapping[str, str], ...] = ()
    note: str = ""
    miss: str = ""
    features: tuple[str, ...] = ()
    gpu: str = ""


class Report(Struct, frozen=True):
    """One public report, with its cases."""

    id: str
    source: str
    checkable: str
    about: str
    cases: tuple[Case, ...]
    not_counted: str = ""


class Verdict(Struct, frozen=True):
    """What was said about the launches of a file at a release: findings, what was not checked, and how much was decided.

    `held` and `unknown` count the constraints that yield findings; `told` are the undecided ones that the report tells of
    as not checked, in `lines` lines; `filled` and `unfilled` count the constraints that only fill in a value.
    """

    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    held: int
    unknown: int
    told: int
    lines: int
    filled: int
    unfilled: int

    @property
    def decided(self) -> int:
        """Constraints that came out true or false."""
        return self.held - self.unknown


class Outcome(Struct, frozen=True):
    """A case with what was found: the finding that is the hit, or the reason why there is none."""

    case: Case
    mode: str
    verdict: Verdict
    hit: bool
    found: str
    reason: str


def manifest(engine: str) -> Path:
    """The reports of an engine."""
    return CORPUS / f"{engine}.yaml"


def page_path(engine: str) -> Path:
    """The page that is written of them."""
    return PAGES / f"{engine}-bug-reports.md"


def reports(engine: str) -> list[Report]:
    """An engine's manifest."""
    items = yaml.safe_load(manifest(engine).read_text(encoding="utf-8"))["reports"]
    return [_report(engine, item) for item in items]


def _report(engine: str, item: Mapping[str, Any]) -> Report:
    cases = tuple(
        Case(
            engine=engine,
            report=item["id"],
            launch=case["launch"],
            release=str(case["release"]),
            level=case["level"],
            finds=tuple(case.get("finds", ())),
            note=case.get("note", ""),
            miss=case.get("miss", ""),
            features=tuple(case.get("features", ())),
            gpu=case.get("gpu", ""),
        )
        for case in item["cases"]
    )
    return Report(item["id"], item["source"], item["checkable"], item["about"], cases, item.get("not_counted", ""))


@cache
def resolver(engine: str, mode: str) -> Resolver:
    """Checkpoint rows alone, or the corpus's own configs before them."""
    base = CORPUS / "models" if mode == CONFIGS else CORPUS / engine
    return Resolver(checkpoints=RowTable(load_rows("checkpoints")), base_dir=base)


@cache
def verdict(name: str, launch: str, release: str, mode: str, features: tuple[str, ...] = (), gpu: str = "") -> Verdict:
    """The verdict on all launches of a file; features that a report tells of are all that its requests use."""
    told_of = {"hardware.gpu": gpu} if gpu else {}
    listed = frozenset(features) if features else None
    engine = get_engine(name)
    path = CORPUS / name / launch
    view = load_database(name).at(release)
    findings: list[Finding] = []
    not_checked: list[NotChecked] = []
    held = unknown = told = lines = filled = unfilled = 0
    found = read_launches(launch, path.read_text(encoding="utf-8"), engine=name)
    read = [engine.resolve(item.launch, view) for item in found]
    for settings, roles in zip(read, role_facts(read), strict=True):
        result = judge_settings(
            settings, engine, view, models(engine, settings, mode), plain={**roles, **told_of}, features=listed
        ).result
        findings += result.findings
        not_checked += result.not_checked
        speaking = {constraint.id for constraint, holds in view.constraints if holds and _speaks(constraint)}
        filling = {constraint.id for constraint, holds in view.constraints if holds and constraint.resolves}
        held += len(speaking)
        unknown += sum(1 for item in result.not_checked if item.constraint in speaking)
        filled += len(filling)
        unfilled += sum(1 for name, value in result.resolved.items() if value is None and name in filling)
        groups = missing_groups(result.not_checked)
        told += sum(len(ids) for _, ids in groups)
        lines += len(groups)
    return Verdict(tuple(findings), tuple(not_checked), held, unknown, told, lines, filled, unfilled)


def _speaks(constraint: Constraint) -> bool:
    """Whether a constraint yields findings: one that only fills in a value shows in those that look at the value."""
    return constraint.evaluated and not constraint.resolves


def models(engine: Engine, settings: Settings, mode: str) -> Models:
    """Target and draft by the names that the launch gives them."""
    resolve = resolver(engine.name, mode).resolve
    return Models(*written_models(engine.model_path, engine.draft_path, settings, resolve))


def outcome(case: Case, mode: str) -> Outcome:
    """Whether a case is a hit."""
    said = verdict(case.engine, case.launch, case.release, mode, case.features, case.gpu)
    if case.level == "ok":
        errors = [f for f in said.findings if f.severity is Severity.ERROR]
        reason = f"false error: {_shown(errors[0])}" if errors else ""
        return Outcome(case, mode, said, not errors, _worst(said.findings), reason)
    if case.level == "not-checked":
        named = [n for n in said.not_checked if any(_about(alternative, n) for alternative in case.finds)]
        found = f"not checked: {named[0].constraint}" if named else _worst(said.findings)
        return Outcome(case, mode, said, bool(named), found, "" if named else "not listed as not checked")
    about = [f for f in said.findings if any(_matches(f, alternative) for alternative in case.finds)]
    hits = [f for f in about if _level(f, case.level)]
    if hits:
        return Outcome(case, mode, said, True, _shown(hits[0]), "")
    return Outcome(case, mode, said, False, _worst(about or said.findings), _why(case, said, about))


def _level(finding: Finding, level: str) -> bool:
    """The level expected, or a warning where a report is all that an error would rest on."""
    if finding.severity == level:
        return True
    return level == "error" and finding.severity is Severity.WARNING and finding.evidence is EvidenceKind.REPORT


def _about(alternative: Mapping[str, str], item: Finding | NotChecked) -> bool:
    return alternative.get("constraint") == item.constraint or alternative.get("code") == item.code


def _matches(finding: Finding, alternative: Mapping[str, str]) -> bool:
    says, fix = alternative.get("says", ""), alternative.get("fix", "")
    return (
        _about(alternative, finding)
        and re.search(says, finding.message) is not None
        and re.search(fix, finding.fix) is not None
    )


def _why(case: Case, said: Verdict, about: Sequence[Finding]) -> str:
    if about:
        return f"found as {about[0].severity}, evidence {about[0].evidence}"
    waiting = sorted(
        {
            f"{item.constraint} needs {', '.join(sorted(item.missing))}"
            for item in said.not_checked
            if any(_about(alternative, item) for alternative in case.finds)
        }
    )
    return f"not decided: {waiting[0]}" if waiting else "nothing about it"


def _shown(finding: Finding) -> str:
    return f"{finding.severity} {finding.constraint or finding.code}"


def _worst(findings: Iterable[Finding]) -> str:
    ordered = sorted(findings, key=lambda f: f.severity.rank)
    return _shown(ordered[0]) if ordered else "nothing"


def outcomes(items: Iterable[Report], mode: str) -> Iterator[Outcome]:
    """Every case in one mode."""
    for report in items:
        for case in report.cases:
            yield outcome(case, mode)


def report_hit(report: Report, mode: str) -> bool:
    """Whether every case of a report is a hit."""
    return all(outcome(case, mode).hit for case in report.cases)


def scores(items: Sequence[Report], mode: str) -> dict[str, tuple[int, int]]:
    """Reports hit and reports counted in one mode, by what they need."""
    counted: Counter[str] = Counter()
    hit: Counter[str] = Counter()
    for report in items:
        if report.not_counted or report.checkable not in COUNTED:
            continue
        counted[report.checkable] += 1
        hit[report.checkable] += report_hit(report, mode)
    return {kind: (hit[kind], counted[kind]) for kind in COUNTED}


def share(items: Iterable[Report], mode: str) -> tuple[int, int]:
    """Over all launches and the constraints of their release that yield findings: how many are decided, and of how many."""
    found = _verdicts(items, mode)
    return sum(v.decided for v in found), sum(v.held for v in found)


def _verdicts(items: Iterable[Report], mode: str) -> list[Verdict]:
    return list({(o.case.launch, o.case.release): o.verdict for o in outcomes(items, mode)}.values())


def page(engine: str, items: Sequence[Report]) -> str:
    """The page of the documentation: scores, the table, the misses, what is not counted."""
    lines = [
        f"# {get_engine(engine).title}: what specconf says about public bug reports",
        "",
        "Written by `tools/corpus_score.py --write`; do not edit. The launches are in",
        f"`tests/corpus/{engine}/`, what should be found in them in `tests/corpus/{engine}.yaml`.",
        "A hit is a finding of the expected level about the same thing, or a warning where a report is the only evidence for",
        "an error.",
        "",
        *_score_lines(items),
        "",
        "| report | launch | release | expected | alone | with configs |",
        "|---|---|---|---|---|---|",
    ]
    for report in items:
        for case in report.cases:
            alone, configs = outcome(case, ALONE), outcome(case, CONFIGS)
            lines.append(
                f"| {report.source} | {case.launch} | {case.release} | {case.level}: {report.about} "
                f"| {_cell(alone)} | {_cell(configs)} |"
            )
    missed = [o for report in items if not report.not_counted for o in _missed(report)]
    lines += ["", f"## Misses: {len(missed)}", ""]
    lines += [f"- {o.case.report}, {o.case.launch} at {o.case.release}: {o.case.miss or o.reason}" for o in missed]
    lines += ["", "## Not counted", ""]
    lines += [f"- {report.id} ({report.source}): {report.not_counted}" for report in items if report.not_counted]
    return "\n".join(lines) + "\n"


def _missed(report: Report) -> list[Outcome]:
    mode = COUNTED.get(report.checkable, CONFIGS)
    return [o for o in (outcome(case, mode) for case in report.cases) if not o.hit]


def _cell(found: Outcome) -> str:
    return f"{'hit' if found.hit else 'MISS'}: {found.found}" + (f" ({found.reason})" if found.reason else "")


def _score_lines(items: Sequence[Report]) -> list[str]:
    lines = [
        f"- {kind}, {mode}: {hit} of {counted} reports, {100 * hit / counted:.0f} %"
        for mode in MODES
        for kind, (hit, counted) in scores(items, mode).items()
        if not (kind == "needs-checkpoint-config" and mode == ALONE)
    ]
    for mode in MODES:
        decided, held = share(items, mode)
        found = _verdicts(items, mode)
        lines.append(
            f"- decided, {mode}: {decided} of {held} pairs of launch and constraint, {100 * decided / held:.1f} %; told as not "
            f"checked: {sum(v.told for v in found)}, in {sum(v.lines for v in found) / len(found):.1f} lines a launch"
        )
        filled, unfilled = sum(v.filled for v in found), sum(v.unfilled for v in found)
        if filled:
            lines.append(f"- values that the engine fills in, {mode}: {filled - unfilled} of {filled} decided")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", action="append", choices=ENGINES, help="may be repeated; all where none is named")
    parser.add_argument("--write", action="store_true", help=f"write {PAGES.relative_to(ROOT)}/ENGINE-bug-reports.md")
    parser.add_argument("--settle", action="store_true", help="drop `miss` from the manifest where a case is a hit now")
    parser.add_argument("--misses", action="store_true", help="print misses only")
    parser.add_argument("--unknown", action="store_true", help="print which constraints stay undecided, and for what")
    args = parser.parse_args(argv)
    for engine in args.engine or ENGINES:
        _engine(engine, args)
    return 0


def _engine(engine: str, args: argparse.Namespace) -> None:
    items = reports(engine)
    if args.settle:
        path = manifest(engine)
        path.write_text(settled(path.read_text(encoding="utf-8"), items), encoding="utf-8")
        items = reports(engine)
    if args.write:
        page_path(engine).parent.mkdir(parents=True, exist_ok=True)
        page_path(engine).write_text(page(engine, items), encoding="utf-8")
    for report in items:
        mode = COUNTED.get(report.checkable, CONFIGS)
        for case in report.cases:
            found = outcome(case, mode)
            if not (args.misses and (found.hit or report.not_counted)):
                print(f"{report.id} {case.launch} {case.release} {report.checkable}: {case.level} -> {_cell(found)}")
    if args.unknown:
        _print_unknown(items)
    print("\n".join(_score_lines(items)))


def settled(text: str, items: Iterable[Report]) -> str:
    """The manifest's text without the `miss` of cases that are hits now."""
    hits = {
        (case.launch, case.release, case.miss)
        for report in items
        for case in report.cases
        if case.miss and outcome(case, COUNTED.get(report.checkable, CONFIGS)).hit
    }
    kept: list[str] = []
    launch = release = ""
    for line in text.splitlines():
        key, _, value = line.strip().removeprefix("- ").partition(": ")
        launch = value if key == "launch" else launch
        release = value.strip("\"'") if key == "release" else release
        if key != "miss" or (launch, release, value.strip("\"'")) not in hits:
            kept.append(line)
    return "\n".join(kept) + "\n"


def _print_unknown(items: Sequence[Report]) -> None:
    for mode in MODES:
        count = Counter(
            (n.constraint, ", ".join(sorted(n.missing))) for o in outcomes(items, mode) for n in o.verdict.not_checked
        )
        print(f"== {mode}")
        for (name, missing), number in count.most_common(60):
            print(f"{number:4} {name}: {missing}")


if __name__ == "__main__":
    sys.exit(main())
