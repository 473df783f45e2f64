"""What `specconf upgrade` says changes, beside the values that engine releases themselves had in force.

    python tools/upgrade_answers.py

Launches that two recorded releases of an engine both accept are upgraded from one to the other; every value that both releases
told is compared, whether we or they say that it changes. Writes docs/corpus/upgrade-answers.md, in some minutes; a test looks
at one pair.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

from specconf.compat.database import load_database
from specconf.compat.releases import parse_version
from specconf.engines.registry import get_engine, get_oracle
from specconf.verify.observed import Folder
from specconf.verify.upgrades import Seen, changes_seen

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "corpus" / "upgrade-answers.md"
ENGINES = ("vllm", "sglang")


def seen_of(engine: str, before: str, after: str) -> list[Seen]:
    """Every change between two recorded releases."""
    folder = Folder(ROOT / "compat" / engine / "observed")
    database, found = load_database(engine), get_engine(engine)
    views = database.at(before), database.at(after)
    observed = folder.read(before), folder.read(after)
    return list(changes_seen(found, get_oracle(engine), views, observed, folder.questions()))


def steps(engine: str) -> list[tuple[str, str]]:
    """The recorded releases of an engine side by side, and the first with the last."""
    releases = sorted(Folder(ROOT / "compat" / engine / "observed").releases(), key=parse_version)
    return [*pairwise(releases), (releases[0], releases[-1])]


def page() -> str:
    """The whole page."""
    lines = [
        "# Upgrades beside the answers of the releases",
        "",
        "<!-- Written by tools/upgrade_answers.py: do not edit. -->",
        "",
        "Launches that both releases accept; each value that both told and that changes, for us or for them. *agree*: we say",
        "what they did; *differ*: we say another change; *silent*: it changed and we say nothing.",
        "",
        "| engine | from | to | changes | agree | differ | silent |",
        "|---|---|---|---|---|---|---|",
    ]
    paths: dict[str, Counter[str]] = {}
    for engine in ENGINES:
        for before, after in steps(engine):
            found = seen_of(engine, before, after)
            for one in found:
                paths.setdefault(f"{engine} {one.path}", Counter())[_word(one)] += 1
            total = Counter(map(_word, found))
            cells = engine, before, after, len(found), total["agree"], total["differ"], total["silent"]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "By setting, of all pairs above:", "", "| setting | agree | differ | silent |", "|---|---|---|---|"]
    for path, counted in sorted(paths.items(), key=lambda item: (-item[1].total(), item[0])):
        engine, _, name = path.partition(" ")
        lines.append(f"| {engine} `{name}` | {counted['agree']} | {counted['differ']} | {counted['silent']} |")
    return "\n".join(lines) + "\n"


def _word(one: Seen) -> str:
    return "agree" if one.agrees else "silent" if one.ours is None else "differ"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
