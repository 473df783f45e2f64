"""Compare an engine's harvested database with a facts file that others measured, row by row.

    python tools/compare_facts.py vllm PATH/TO/vllm.json [--harvested DIR] [--all] [--write FILE]

Every difference needs an entry in `tools/facts_explained/<engine>.yaml` that says who is right and what was read to know
it; the engine's own source decides. Exit 1 when a difference has none, or an entry explains nothing. `--write` writes the
result as it is committed (`docs/facts-comparison/<engine>.md`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from facts_common import (  # noqa: E402
    DIFFERENT,
    EQUAL,
    Explanation,
    Judged,
    counts,
    judge,
    markdown,
    read_explanations,
    read_harvest,
)

# The module that knows an engine's facts file, by the engine.
COMPARERS = {"vllm": "facts_vllm", "sglang": "facts_sglang"}


def main(words: Sequence[str] | None = None) -> int:
    """Run the comparison; 0 if every difference is explained and every explanation used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=sorted(COMPARERS))
    parser.add_argument("facts", type=Path)
    parser.add_argument("--harvested", type=Path, help="default: compat/<engine>/harvested")
    parser.add_argument("--explained", type=Path, help="default: tools/facts_explained/<engine>.yaml")
    parser.add_argument("--all", action="store_true", help="print the rows that are equal as well")
    parser.add_argument("--write", type=Path, metavar="FILE")
    given = parser.parse_args(words)
    committed = ROOT / "compat" / given.engine / "harvested"
    harvested = read_harvest(given.harvested or committed, committed)
    explained = given.explained or ROOT / "tools" / "facts_explained" / f"{given.engine}.yaml"
    comparer = import_module(COMPARERS[given.engine])
    facts = json.loads(given.facts.read_text("utf-8"))
    judged, unused = judge(comparer.rows(facts, harvested), read_explanations(explained))
    print_rows(judged if given.all else [item for item in judged if item.verdict != EQUAL])
    print_counts(judged, unused)
    if given.write:
        given.write.write_text(markdown(given.engine, judged, comparer.ABOUT), "utf-8")
    return 1 if unused or any(item.verdict == DIFFERENT for item in judged) else 0


def print_rows(judged: Iterable[Judged]) -> None:
    """Each row on a line of its own, and below it what explains it."""
    for item in judged:
        row = item.row
        print(f"{item.verdict}: {row.section} / {row.key}: facts {row.facts!r}, here {row.ours!r}")
        if item.explanation:
            print(f"    {item.explanation.right}: {item.explanation.why}")
        elif row.reason:
            print(f"    {row.reason}")


def print_counts(judged: Iterable[Judged], unused: Iterable[Explanation]) -> None:
    """The counts of every section, and the explanations that explain nothing."""
    for section, counted in counts(judged).items():
        print(f"{section}: " + ", ".join(f"{number} {verdict}" for verdict, number in sorted(counted.items())))
    for entry in unused:
        print(f"unused explanation: {entry.section} / {entry.key}")


if __name__ == "__main__":
    sys.exit(main())
