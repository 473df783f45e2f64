"""vLLM's own answers to the recorded launches beside ours: which rule answers each refusal, and what agrees by stage.

    python tools/recorded_vllm.py [--from FOLDER]

`--from` reads recorded answers (`vllm-<release>.jsonl`: case, verdict, exception, message, speculative config and asynchronous
scheduling in force) into `tests/engines/vllm/recorded/verdicts.json`, of messages the first words only. Then the comparison
is written as it is committed (`docs/corpus/vllm-recorded.md`); a test holds it equal, so that a refusal which another rule
answers than before shows in review.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from recorded_common import ASKED, UNKNOWN, agreement, first_words, in_cell, known, ruled

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine
from specconf.facts import Effective
from specconf.findings import Effect, Finding, Severity, Stage
from specconf.rules.checker import with_defaults
from specconf.rules.judge import Judgement
from specconf.rules.probes import run_probe

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "tests" / "engines" / "vllm" / "recorded"
PAGE = ROOT / "docs" / "corpus" / "vllm-recorded.md"


class Answer(Struct, frozen=True):
    """One launch at one release: the engine's answer, and ours."""

    release: str
    case: str
    recorded: dict[str, Any]
    judgement: Judgement
    effective: Mapping[str, Effective]

    @property
    def refusals(self) -> list[Finding]:
        """Our errors of the stages that the engine was asked for; a package that it lacked is one it needs."""
        if self.recorded.get("exception") == "ImportError":
            return [f for f in self.judgement.findings if f.effect is Effect.NEEDS]
        return [f for f in self.judgement.findings if f.severity is Severity.ERROR and f.stage in ASKED]

    @property
    def agrees(self) -> bool:
        """Whether both refuse, or both accept."""
        return bool(self.refusals) == (self.recorded["verdict"] == "reject")

    def in_force(self, path: str) -> Any:
        """A value of our effective configuration, the engine's own default included; UNKNOWN where it is not known."""
        return known(self.effective.get(path))


def read_recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """Recorded answers by release and case, the parts that are kept."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("vllm-*.jsonl")):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        release = path.stem.removeprefix("vllm-")
        found[release] = {line["case"]: _kept(line) for line in lines if "case" in line}
    return found


def _kept(line: dict[str, Any]) -> dict[str, Any]:
    spec = line.get("spec") or {}
    kept = {
        "verdict": line["verdict"],
        "exception": line.get("kind"),
        "says": first_words(str(line.get("msg") or "")),
        "method": spec.get("method"),
        "num_speculative_tokens": spec.get("n"),
        "async_scheduling": line.get("async_sched"),
    }
    return {key: value for key, value in kept.items() if value is not None}


def answers() -> Iterator[Answer]:
    """Every recorded launch, judged."""
    cases, configs, verdicts = (
        json.loads((RECORDED / f"{name}.json").read_text("utf-8")) for name in ("cases", "configs", "verdicts")
    )
    database, engine = load_database("vllm"), get_engine("vllm")
    for release, recorded in verdicts.items():
        for name, answer in recorded.items():
            case = cases[name]
            launch = {
                "release": release,
                "argv": case["argv"],
                "target": configs[case["target"]],
                "draft": configs.get(case["draft"]) if case["draft"] else None,
                "facts": {"hardware.platform": "cpu"},
            }
            judgement = run_probe(database, engine, launch)[1]
            effective = with_defaults(judgement.result.effective, engine, database.at(release))
            yield Answer(release, name, answer, judgement, effective)


def page(found: Sequence[Answer]) -> str:
    """The comparison as it is committed."""
    lines = [
        "# vLLM's recorded answers beside ours", "",
        "Written by `tools/recorded_vllm.py`. Seven releases were asked on a CPU, up to their config; messages are cut.", "",
        "| release | verdicts that agree | refused at parse | refused at config | method | draft tokens | async scheduling |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    releases = list(dict.fromkeys(answer.release for answer in found))
    lines += [_summary(release, [a for a in found if a.release == release]) for release in releases]
    lines += ["", "## Disagreements", ""]
    lines += [f"- {a.release} {a.case}: the engine says {_words(a)!r}; ours: {_ours(a)}" for a in found if not a.agrees]
    for release in releases:
        lines += [
            "",
            f"## {release}: what answers each refusal",
            "",
            "| launch | the engine | ours |",
            "| --- | --- | --- |",
        ]
        refused = [a for a in found if a.release == release and a.recorded["verdict"] == "reject" and a.agrees]
        lines += [f"| {a.case} | {a.recorded.get('exception')}: {_words(a)} | {_ours(a)} |" for a in refused]
    return "\n".join(lines) + "\n"


def _summary(release: str, found: Sequence[Answer]) -> str:
    stages = Counter(a.refusals[0].stage for a in found if a.agrees and a.refusals)
    cells = [
        f"{sum(a.agrees for a in found)} of {len(found)}",
        str(stages[Stage.PARSE]),
        str(sum(stages.values()) - stages[Stage.PARSE]),
        _share(found, "method", "speculative_config.method"),
        _share(found, "num_speculative_tokens", "speculative_config.num_speculative_tokens"),
        _share(found, "async_scheduling", "async_scheduling"),
    ]
    return f"| {release} | {' | '.join(cells)} |"


def _share(found: Sequence[Answer], key: str, path: str) -> str:
    told = [(a.in_force(path), a.recorded[key]) for a in found if key in a.recorded]
    unknown = sum(ours is UNKNOWN for ours, _ in told)
    return agreement(sum(ours == theirs for ours, theirs in told), unknown, len(told))


def _words(answer: Answer) -> str:
    return in_cell(str(answer.recorded.get("says", "")))


def _ours(answer: Answer) -> str:
    return ruled(answer.refusals)


def main(words: Sequence[str] | None = None) -> int:
    """Read recorded answers if asked, and write the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folder", type=Path)
    given = parser.parse_args(words)
    if given.folder:
        text = json.dumps(read_recorded(given.folder), indent=1, sort_keys=True)
        (RECORDED / "verdicts.json").write_text(text + "\n", "utf-8")
    PAGE.write_text(page([*answers()]), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
