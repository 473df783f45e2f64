"""SGLang's own answers to the recorded launches beside ours: which rule answers each refusal, and what is in force after it.

    python tools/recorded_sglang.py [--from FOLDER]

`--from` reads recorded answers (`sglang-boundaries.jsonl`, one line a launch and release; `sglang/<release>-<machine>.json`)
into the answers of `tests/engines/sglang/recorded/*.json`, whose launches and models stay as they are: verdict, stage, the
first words of messages, and the values in force. Figures that depend on the machine that recorded them are left out. Then
the comparison is written as it is committed (`docs/corpus/sglang-recorded.md`); a test holds it equal, so that a refusal
which another rule answers than before shows in review.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from recorded_common import ASKED, UNKNOWN, agreement, first_words, in_cell, known, ruled
from recorded_sglang_reasons import reason

from specconf.compat.database import load_database
from specconf.compat.view import View
from specconf.engines.base import Models
from specconf.engines.registry import get_engine
from specconf.facts import Effective
from specconf.findings import Finding, Severity, Stage
from specconf.models import model_facts
from specconf.models.view import model_view
from specconf.rules.checker import with_defaults
from specconf.rules.judge import Judgement, judge_settings
from specconf.words import Launch, Word, words

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "tests" / "engines" / "sglang" / "recorded"
PAGE = ROOT / "docs" / "corpus" / "sglang-recorded.md"
SETS = ("boundaries", "profiles")
AS_PARSED = "="
PROGRAM = ("python", "-m", "sglang.launch_server")
# Paths whose values are compared, by the name that the engine has for them where it is another.
VALUES = {
    "speculative_algorithm": None,
    "speculative_num_steps": None,
    "speculative_eagle_topk": None,
    "speculative_num_draft_tokens": None,
    "disable_overlap_schedule": None,
    "max_running_requests": None,
    "enable_mixed_chunk": None,
    "chunked_prefill_size": None,
    "disable_cuda_graph": None,
    "cuda_graph_backend_decode": "decode.backend",
    "cuda_graph_max_bs_decode": "decode.max_bs",
    "cuda_graph_bs_decode": "decode.bs",
    "mem_fraction_static": None,
    "disable_radix_cache": None,
    "attention_backend": None,
    "page_size": None,
    "speculative_draft_model_quantization": None,
    "speculative_draft_attention_backend": None,
    "speculative_moe_runner_backend": None,
}
# What early releases pick in their workers, which were not run: nothing was recorded of it, and ours is not compared.
PICKED_LATER = {"attention_backend"}
_OLD_NAMES = {"cuda_graph_max_bs_decode": "cuda_graph_max_bs", "cuda_graph_bs_decode": "cuda_graph_bs"}


class Answer(Struct, frozen=True):
    """One launch at one release on one machine: the engine's answer, and ours."""

    name: str
    machine: str
    release: str
    probe: str
    recorded: Any
    judgement: Judgement
    view: View
    effective: Mapping[str, Effective]

    @property
    def refused(self) -> bool:
        """Whether the engine refused."""
        return isinstance(self.recorded, dict)

    @property
    def refusals(self) -> list[Finding]:
        """Our errors of the stages that the engine was asked for."""
        return [f for f in self.judgement.findings if f.severity is Severity.ERROR and f.stage in ASKED]

    @property
    def agrees(self) -> bool:
        """Whether both refuse, or both accept."""
        return bool(self.refusals) == self.refused

    @property
    def stages_agree(self) -> bool:
        """Whether both refuse while the words are read, or both later."""
        return (self.recorded["stage"] == "parse") == (self.refusals[0].stage in (Stage.PARSE, None))

    def values(self) -> Iterator[tuple[str, Any, Any]]:
        """Path, the engine's value and ours, of the options that the release has."""
        if self.refused or self.refusals:
            return
        for path, value in zip(VALUES, self.recorded, strict=True):
            told = self._parsed(path) if value == AS_PARSED else value
            if self.view.has(path) and not (told is None and path in PICKED_LATER):
                yield path, told, known(self.effective.get(path))

    def _parsed(self, path: str) -> Any:
        settings = self.judgement.settings
        return settings.get(path) if path in settings else self.view.default(path)


def read_recorded(folder: Path) -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
    """Recorded answers by set, machine, probe and release, the parts that are kept."""
    found: dict[str, Any] = {name: defaultdict(lambda: defaultdict(dict)) for name in SETS}
    with (folder / "sglang-boundaries.jsonl").open(encoding="utf-8") as lines:
        for text in lines:
            line = json.loads(text)
            found["boundaries"][line["gpu"]][line["probe"]][line["release"]] = _kept(line)
    for path in sorted((folder / "sglang").glob("*.json")):
        release, _, machine = path.stem.rpartition("-")
        for probe, line in json.loads(path.read_text("utf-8"))["probes"].items():
            found["profiles"][machine][probe][release] = _kept(line)
    return found


def _kept(line: Mapping[str, Any]) -> Any:
    if line["verdict"] == "reject":
        kept = {"stage": line["stage"], "says": first_words(str(line.get("message") or ""))}
        return {key: value for key, value in kept.items() if value is not None}
    changed = {name: pair[1] for name, pair in line["changed"].items()}
    changed |= {f"decode.{key}": value for key, value in _decode_graphs(changed.get("cuda_graph_config")).items()}
    return [_value(path, VALUES[path], changed) for path in VALUES]


def _value(path: str, name: str | None, changed: Mapping[str, Any]) -> Any:
    names = [name or path, _OLD_NAMES.get(path, path)]
    return next((changed[each] for each in names if each in changed), AS_PARSED)


def _decode_graphs(config: Any) -> dict[str, Any]:
    """What the engine says of graphs for decode steps, as a mapping or in the words of its own class."""
    if isinstance(config, dict):
        return {key: config["decode"][key] for key in ("backend", "max_bs", "bs")}
    if not isinstance(config, str):
        return {}
    found = re.search(r"decode=PhaseConfig\(backend='(\w+)', max_bs=(\w+), bs=(\[[\d, ]*\]|None)", config)
    if found is None:
        return {}
    backend, largest, sizes = found.groups()
    return {"backend": backend, "max_bs": json.loads(largest), "bs": json.loads(sizes)}


def with_answers(data: Mapping[str, Any], found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """A fixture with other answers: runs of releases with the same one, lists that occur often by name."""
    lists: dict[str, str] = {}

    def named(answer: Any) -> Any:
        if isinstance(answer, dict):
            return answer
        return [lists.setdefault(json.dumps(v), f"list {len(lists)}") if isinstance(v, list) else v for v in answer]

    order = sorted({r for probes in found.values() for rows in probes.values() for r in rows}, key=_place)
    releases = {
        machine: [r for r in order if any(r in rows for rows in probes.values())] for machine, probes in found.items()
    }
    probes = {}
    for identifier, probe in data["probes"].items():
        runs = {
            machine: _runs([(r, named(rows[identifier][r])) for r in releases[machine] if r in rows[identifier]])
            for machine, rows in found.items()
            if identifier in rows
        }
        probes[identifier] = {**{k: v for k, v in probe.items() if k != "answers"}, "answers": runs}
    about = (
        "SGLang's own argument validators, run without kernels on machines with a GPU that was made up; by machine, "
        "answers are runs [first release, last release, refusal or the values in force; = is what was parsed]"
    )
    return {
        "about": about,
        "values": [*VALUES],
        "releases": releases,
        "lists": {name: json.loads(text) for text, name in lists.items()},
        "models": data["models"],
        "probes": probes,
    }


def _place(release: str) -> int:
    return load_database("sglang").line.names.index(release)


def _runs(answers: Iterable[tuple[str, Any]]) -> list[list[Any]]:
    runs: list[list[Any]] = []
    for release, answer in answers:
        if runs and runs[-1][2] == answer:
            runs[-1][1] = release
        else:
            runs.append([release, release, answer])
    return runs


def as_text(data: Mapping[str, Any]) -> str:
    """A fixture as it is committed: one launch or model a line."""
    parts = []
    for key, value in data.items():
        if isinstance(value, dict):
            rows = [f"  {json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in value.items()]
            parts.append(f" {json.dumps(key)}: {{\n" + ",\n".join(rows) + "\n }")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


@cache
def fixture(name: str) -> dict[str, Any]:
    """One set of recorded launches."""
    data: dict[str, Any] = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
    return data


def cases() -> list[tuple[str, str, str]]:
    """Every set, machine and release that was asked."""
    return [(name, m, r) for name in SETS for m, releases in fixture(name)["releases"].items() for r in releases]


@cache
def answers(name: str, machine: str, release: str) -> tuple[Answer, ...]:
    """Every recorded launch of one set at one release, judged."""
    data, engine = fixture(name), get_engine("sglang")
    database = load_database("sglang")
    view, order = database.at(release), data["releases"][machine]
    plain = {"hardware.platform": "cpu"} if machine == "cpu" else {"hardware.gpu": machine}
    found = []
    for identifier, probe in data["probes"].items():
        recorded = _recorded(data, probe["answers"].get(machine, []), order, release)
        if recorded is None:
            continue
        env = tuple((key, Word(text, raw=text)) for key, text in (probe.get("env") or {}).items())
        settings = engine.resolve(Launch("sglang", words(*PROGRAM, *probe["argv"]), env), view)
        paths = [("target", "model_path"), ("draft", "speculative_draft_model_path")]
        models = Models(*(_model(role, data["models"].get(settings.get(path))) for role, path in paths))
        judgement = judge_settings(settings, engine, view, models, plain=plain)
        effective = with_defaults(judgement.result.effective, engine, view)
        found.append(Answer(name, machine, release, identifier, recorded, judgement, view, effective))
    return tuple(found)


def _model(role: str, config: Mapping[str, Any] | None) -> Any:
    return model_view(role, None if config is None else model_facts(dict(config)))


def _recorded(data: Mapping[str, Any], runs: Sequence[Any], order: Sequence[str], release: str) -> Any:
    for first, last, answer in runs:
        if order.index(first) <= order.index(release) <= order.index(last):
            lists = data["lists"]
            return answer if isinstance(answer, dict) else [
                lists[v] if isinstance(v, str) and v in lists else v for v in answer
            ]  # fmt: skip
    return None


def all_answers() -> list[Answer]:
    """Every recorded launch."""
    return [answer for case in cases() for answer in answers(*case)]


def page(found: Sequence[Answer]) -> str:
    """The comparison as it is committed."""
    lines = [
        "# SGLang's recorded answers beside ours", "",
        "Written by `tools/recorded_sglang.py`. Each release's own parser and argument resolution were run with tiny models on",
        "a CPU that shows a GPU's size and capability; messages are cut. Two sets of launches: `boundaries` was put to every",
        "release around a change, `profiles` to seven releases on up to three machines.", "",
    ]  # fmt: skip
    lines += _summary(found)
    lines += ["", "## Values in force", "", *_value_table(found)]
    lines += ["", "## Disagreements", ""]
    lines += _grouped((a, f"{_says(a)}; ours: {ruled(a.refusals)}") for a in found if not a.agrees)
    lines += ["", "## Values that are others", ""]
    lines += _grouped(
        (a, f"`{path}` is {theirs!r}; ours: {ours!r}")
        for a in found
        for path, theirs, ours in a.values()
        if ours is not UNKNOWN and not same(theirs, ours)
    )
    lines += ["", "## Values that are not known", ""]
    lines += _grouped(
        (a, f"`{path}`") for a in found for path, _, ours in a.values() if ours is UNKNOWN
    )  # fmt: skip
    lines += [
        "",
        "## What answers each refusal",
        "",
        "| launch | releases | the engine | ours |",
        "| --- | --- | --- | --- |",
    ]
    lines += _refusals([a for a in found if a.refused and a.agrees])
    return "\n".join(lines) + "\n"


def same(theirs: Any, ours: Any) -> bool:
    """Whether two values are one: true is not 1, and a share is a figure with three digits."""
    if isinstance(theirs, float) and isinstance(ours, float | int) and not isinstance(ours, bool):
        return abs(theirs - ours) < 5e-4
    return bool(theirs == ours) and isinstance(theirs, bool) == isinstance(ours, bool)


def _summary(found: Sequence[Answer]) -> list[str]:
    lines = [
        "| set | release | machine | verdicts that agree | refused at parse | refused at config | values that agree |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, machine, release in cases():
        own = [a for a in found if (a.name, a.machine, a.release) == (name, machine, release)]
        lines.append(f"| {name} | {release} | {machine} | {_share(own)} |")
    lines.append(f"| all | | | {_share(found)} |")
    return lines


def _share(own: Sequence[Answer]) -> str:
    refused = Counter(a.recorded["stage"] == "parse" for a in own if a.refused)
    agreed = Counter(a.recorded["stage"] == "parse" for a in own if a.refused and a.refusals and a.stages_agree)
    pairs = [(theirs, ours) for a in own for _, theirs, ours in a.values()]
    cells = [
        f"{sum(a.agrees for a in own)} of {len(own)}",
        f"{agreed[True]} of {refused[True]}",
        f"{agreed[False]} of {refused[False]}",
        _values_agree(pairs),
    ]
    return " | ".join(cells)


def _values_agree(pairs: Sequence[tuple[Any, Any]]) -> str:
    unknown = sum(ours is UNKNOWN for _, ours in pairs)
    return agreement(sum(ours is not UNKNOWN and same(theirs, ours) for theirs, ours in pairs), unknown, len(pairs))


def _value_table(found: Sequence[Answer]) -> list[str]:
    by_path: dict[str, list[tuple[Any, Any]]] = defaultdict(list)
    for answer in found:
        for path, theirs, ours in answer.values():
            by_path[path].append((theirs, ours))
    rows = [f"| `{path}` | {_values_agree(by_path[path])} |" for path in VALUES if path in by_path]
    return ["| option | values that agree |", "| --- | --- |", *rows]


def _grouped(rows: Iterable[tuple[Answer, str]]) -> list[str]:
    """One line for the launches and releases of which the same is said, with the reason where it is known."""
    by_launch: dict[tuple[str, str, str, str], list[str]] = {}
    for a, text in rows:
        by_launch.setdefault((a.name, a.machine, text, a.probe), []).append(a.release)
    groups: dict[tuple[str, str, str, str, str], list[str]] = {}
    for (name, machine, text, probe), releases in by_launch.items():
        why = reason(name, probe, machine, text)
        groups.setdefault((name, machine, _span(releases), text, why), []).append(probe)
    lines = [
        f"- {name} on {machine}, {span}: {text}" + (f" ({why})" if why else "") + f": {', '.join(probes)}"
        for (name, machine, span, text, why), probes in groups.items()
    ]
    return lines or ["None."]


def _span(releases: Sequence[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]} ({len(releases)} asked)"


def _refusals(found: Sequence[Answer]) -> list[str]:
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for a in found:
        groups.setdefault((a.name, a.probe, _says(a), ruled(a.refusals)), []).append(a.release)
    return [
        f"| {probe} | {_span(list(dict.fromkeys(releases)))} | {in_cell(says)} | {in_cell(ours)} |"
        for (_, probe, says, ours), releases in groups.items()
    ]


def _says(answer: Answer) -> str:
    if not answer.refused:
        return "the engine accepts"
    return f"{answer.recorded['stage']}: {answer.recorded.get('says', 'no words')}"


def main(given: Sequence[str] | None = None) -> int:
    """Read recorded answers if asked, and write the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folder", type=Path)
    options = parser.parse_args(given)
    if options.folder:
        found = read_recorded(options.folder)
        for name in SETS:
            (RECORDED / f"{name}.json").write_text(as_text(with_answers(fixture(name), found[name])), "utf-8")
        fixture.cache_clear()
    PAGE.write_text(page(all_answers()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
