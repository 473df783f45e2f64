"""The figures of what releases answered, as `compat/<engine>/observed/summary.json` keeps them and pages print them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from specconf.compat.sources import SUMMARY
from specconf.findings import Stage
from specconf.verify.compare import Agreement, Outcome
from specconf.verify.implied import Implied, implied
from specconf.verify.observed import Folder, Observed, Source, Whose, replace_text
from specconf.verify.proof import LOADED


def figures(found: Agreement, observed: Observed) -> dict[str, Any]:
    """One release: verdicts and values in force by whose launches and by stage, what disagrees, what it cost."""
    header = observed.header
    answers = sum(not row.loaded for row in observed.rows)
    told: dict[str, Any] = {"archive": header.archive, "sha256": header.sha256}
    told["cost"] = {**_cost(header.cost), "answers": answers}
    for whose in Whose:
        told[str(whose)] = _part(found, whose)
    for source in Source:
        told[str(source)] = _part(found, Whose.NOBODY, source)
    told["started"] = sorted(
        origin.removeprefix(LOADED) for row in observed.rows if row.loaded for origin in row.origins
    )
    told["missed"] = sorted(f"{one.row.launch} {one.row.origins[0]}" for one in found.of(Outcome.MISSED))
    told["unanswered"] = dict(sorted(found.unanswered.items()))
    told["broken"] = list(header.broken)
    said = implied(found)
    told["constraints"] = {
        str(kind): sorted(name for name, of in said.items() if of is kind)
        for kind in (Implied.CONFIRMED, Implied.CONTRADICTED)
    }
    return told


def _cost(cost: Mapping[str, Any]) -> dict[str, Any]:
    """What a header says of costs; how many questions its seconds are of was once called `answers`."""
    return {"asked" if name == "answers" else name: value for name, value in cost.items()}


def _part(found: Agreement, whose: Whose, source: Source | None = None) -> dict[str, Any]:
    """The counts of one origin: all of them, each stage that has any, and how both verdicts stand to each other."""
    by_stage = {str(stage): found.tally(whose, stage, source) for stage in Stage}
    ours = [one for one in found.compared if one.row.whose is whose and source in (None, one.row.source)]
    return {
        "all": asdict(found.tally(whose, source=source)),
        **{name: asdict(tally) for name, tally in by_stage.items() if tally.verdicts},
        "outcomes": {str(outcome): sum(one.outcome is outcome for one in ours) for outcome in Outcome},
    }


def read_summary(folder: Path) -> dict[str, Any]:
    """The figures of every release of an engine; none where nothing was recorded."""
    path = folder / SUMMARY
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def write_figures(folder: Folder, release: str, told: Mapping[str, Any], order: Iterable[str]) -> None:
    """Write one release's figures beside those of the others, the releases in the order in which they came out."""
    with folder.locked():
        whole = {**read_summary(folder.path), release: told}
        kept = {name: whole[name] for name in order if name in whole}
        replace_text(folder.path / SUMMARY, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
