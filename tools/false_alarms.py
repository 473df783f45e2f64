"""Judge every launch of an engine's documentation, and list each error and warning with its proof.

    python tools/false_alarms.py PATH/TO/vllm-0.33.0 [--write]      # an unpacked sdist: recipes, docs and examples
    python tools/false_alarms.py PATH/TO/PAGES [--write]            # a folder of pages with a sources.yaml

The people who wrote these launches ran them, so an error here is either a false alarm or a mistake in the text: each key
with errors or warnings needs an entry in `tools/false_alarms_proofs/ENGINE.yaml` that says what was read to know it is right.
Exit 1 when one has none, or an entry has nothing to prove. `--write` writes the result (`docs/corpus/ENGINE-false-alarms.md`)
and the launches as a regression test holds them (`tests/corpus/ENGINE_launches.jsonl`).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import false_alarms_pages  # noqa: E402
from false_alarms_cases import Case, Corpus, collect  # noqa: E402
from false_alarms_judging import Judge, Verdict, as_row, key_of  # noqa: E402

from specconf.findings import Severity  # noqa: E402

PROOFS = ROOT / "tools" / "false_alarms_proofs"
RESULTS = ROOT / "docs" / "corpus"
LAUNCHES = ROOT / "tests" / "corpus"
LISTED = (Severity.ERROR, Severity.WARNING)


class Judged(Struct, frozen=True):
    """A case with its verdicts: for the release stated, if one is, and for the sdist's own."""

    case: Case
    verdicts: tuple[Verdict, ...]


def main(words: Sequence[str] | None = None) -> int:
    """Judge and print; 0 if every error and warning is proven."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args(words)
    of_pages = (arguments.folder / "sources.yaml").exists()
    corpus = (false_alarms_pages.collect if of_pages else collect)(arguments.folder)
    judge = Judge(corpus.engine)
    judged = [Judged(case, tuple(judge.judge(case.launch, release) for release in _releases(case, corpus)))
              for case in corpus.cases]  # fmt: skip
    path = PROOFS / f"{corpus.engine}.yaml"
    proofs = {row["key"]: row for row in yaml.safe_load(path.read_text(encoding="utf-8"))} if path.exists() else {}
    found = {key_of(f) for item in judged for v in item.verdicts for f in v.findings if f.severity in LISTED}
    text = "\n".join(report(corpus, judged, proofs)) + "\n"
    sys.stdout.write(text)
    for key in sorted(found - set(proofs)):
        sys.stdout.write(f"no proof: {key}\n")
    for key in sorted(set(proofs) - found):
        sys.stdout.write(f"nothing to prove: {key}\n")
    if arguments.write:
        (RESULTS / f"{corpus.engine}-false-alarms.md").write_text(text, encoding="utf-8")
        (LAUNCHES / f"{corpus.engine}_launches.jsonl").write_text("".join(lines(judged)), encoding="utf-8")
    return 1 if found ^ set(proofs) else 0


def _releases(case: Case, corpus: Corpus) -> list[str]:
    return list(dict.fromkeys([*([case.stated] if case.stated else []), *corpus.more, corpus.release]))


def report(corpus: Corpus, judged: Sequence[Judged], proofs: dict[str, Any]) -> Iterator[str]:
    """The result as Markdown."""
    yield f"# False alarms: the launches of {corpus.source}"
    yield ""
    yield "Written by `tools/false_alarms.py`. Models are known from the checkpoint rows only, no network is asked."
    yield ""
    if corpus.places:
        yield "The pages are from:"
        yield ""
        yield from (f"- {place}" for place in corpus.places)
        yield ""
    yield "| looked at | number |"
    yield "|---|---|"
    for name, number in {**corpus.counts, "shell texts that cannot be read": len(corpus.unread)}.items():
        yield f"| {name} | {number} |"
    yield ""
    yield from _table("For the release stated beside the launch, else the one it is written for", _first(judged))
    yield from _table(f"For {corpus.release}", [(item.case, item.verdicts[-1]) for item in judged])
    yield from _unchecked([item.verdicts[-1] for item in judged])
    yield from _listed(judged, proofs)


def _first(judged: Iterable[Judged]) -> list[tuple[Case, Verdict]]:
    return [(item.case, item.verdicts[0]) for item in judged]


def _table(title: str, rows: Sequence[tuple[Case, Verdict]]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield "| from | launches | speculative | launches with errors | errors | warnings | infos |"
    yield "|---|---|---|---|---|---|---|"
    kinds = dict.fromkeys(case.kind for case, _ in rows)
    for kind in [*kinds, ""]:
        mine = [verdict for case, verdict in rows if kind in {case.kind, ""}]
        number = Counter(f.severity for v in mine for f in v.findings)
        refused = sum(any(f.severity is Severity.ERROR for f in v.findings) for v in mine)
        figures = [len(mine), sum(v.speculates for v in mine), refused, *(number[s] for s in Severity)]
        yield f"| {kind or 'all'} | {' | '.join(map(str, figures))} |"
    yield ""


def _unchecked(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "## Lines about what could not be checked, in one launch"
    yield ""
    yield "| | launches | median | most | more than 5 |"
    yield "|---|---|---|---|---|"
    for name, wanted in (("speculative", True), ("others", False)):
        sizes = [len(v.unchecked) for v in verdicts if v.speculates is wanted] or [0]
        more = sum(size > 5 for size in sizes)
        yield f"| {name} | {len(sizes)} | {statistics.median(sizes):g} | {max(sizes)} | {more} |"
    yield ""


def _listed(judged: Sequence[Judged], proofs: dict[str, Any]) -> Iterator[str]:
    places: dict[tuple[Severity, str], list[tuple[Case, str, str]]] = defaultdict(list)
    for item in judged:
        for verdict in item.verdicts:
            for finding in verdict.findings:
                place = (item.case, verdict.release, finding.message)
                places[finding.severity, key_of(finding)].append(place)
    for severity in LISTED:
        yield f"## Every {severity}"
        yield ""
        for (_, key), found in sorted(places.items(), key=lambda item: (-len(item[1]), item[0][1])):
            if _ is severity:
                yield from _entry(key, found, proofs.get(key, {}))
    yield "## Infos"
    yield ""
    for (severity, key), found in sorted(places.items(), key=lambda item: -len(item[1])):
        if severity is Severity.INFO:
            yield f"- {key}: {len(found)}"


def _entry(key: str, found: Sequence[tuple[Case, str, str]], proof: dict[str, Any]) -> Iterator[str]:
    releases = Counter(release for _, release, _ in found)
    files = Counter(case.file for case, _, _ in found)
    yield f"### {key}: {len(found)}"
    yield ""
    yield f"- says: {found[0][2]}"
    yield f"- releases: {', '.join(f'{release} ({number})' for release, number in releases.most_common())}"
    shown = [f"{file} ({number})" for file, number in files.most_common(4)]
    yield f"- in: {', '.join(shown)}" + (f" and {len(files) - 4} more" if len(files) > 4 else "")
    yield f"- verdict: {proof.get('verdict', 'NOT LOOKED AT')}"
    yield f"- proof: {' '.join(str(proof.get('proof', '')).split())}"
    yield ""


def lines(judged: Iterable[Judged]) -> Iterator[str]:
    """The launches for the regression test: all that are written out, and of the rendered ones a spread."""
    seen: set[str] = set()
    for item in sorted(judged, key=lambda item: (item.case.file, item.case.line, item.case.of)):
        expected = {v.release: v.keys(Severity.ERROR) for v in item.verdicts}
        row: dict[str, Any] = {
            **as_row(item.case.launch),
            "errors": {release: keys for release, keys in expected.items() if keys},
            "file": item.case.file,
            "line": item.case.line,
            "releases": [v.release for v in item.verdicts],
        }
        sign = json.dumps(_sign(item, row), sort_keys=True)
        if sign not in seen:
            seen.add(sign)
            yield json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def _sign(item: Judged, row: dict[str, Any]) -> list[Any]:
    """What makes a launch worth keeping beside others: its words; of a rendered one its flags and how it speculates."""
    if item.case.kind != "recipes, rendered":
        return [row["argv"], row.get("env"), row["releases"]]
    values = [word for word in row["argv"] if isinstance(word, str) and "num_speculative_tokens" in word]
    flags = sorted(word for word in row["argv"] if isinstance(word, str) and word.startswith("-"))
    return [flags, values, row["releases"]] if values or row["errors"] else flags


if __name__ == "__main__":
    sys.exit(main())
