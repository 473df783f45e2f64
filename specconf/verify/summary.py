"""The figures of what releases answered, as `compat/<engine>/observed/summary.json` keeps them and pages print them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from specconf.compat.sources import SUMMARY
from specconf.findings import Stage
from specconf.verify.compare import Agreement, Outcome, Tally
from specconf.verify.implied import Implied, implied
from specconf.verify.observed import Header, Whose, replace_text


def figures(found: Agreement, header: Header) -> dict[str, Any]:
    """One release: verdicts and values in force by whose launches and by stage, what disagrees, what it cost."""
    told: dict[str, Any] = {"archive": header.archive, "sha256": header.sha256, "cost": dict(header.cost)}
    for whose in Whose:
        parts = {str(stage): found.tally(whose, stage) for stage in Stage}
        told[str(whose)] = {
            "all": _tally(found.tally(whose)),
            **{name: _tally(part) for name, part in parts.items() if part.verdicts},
            "outcomes": {str(outcome): sum(one.row.whose is whose for one in found.of(outcome)) for outcome in Outcome},
        }
    told["stages"] = sum(not one.stages_agree for one in found.compared)
    told["missed"] = sorted(f"{one.row.launch} {one.row.origins[0]}" for one in found.of(Outcome.MISSED))
    told["unanswered"] = dict(sorted(found.unanswered.items()))
    told["broken"] = list(header.broken)
    said = implied(found)
    told["constraints"] = {
        str(kind): sorted(name for name, of in said.items() if of is kind)
        for kind in (Implied.CONFIRMED, Implied.CONTRADICTED)
    }
    return told


def _tally(tally: Tally) -> dict[str, int]:
    return {
        "verdicts": tally.verdicts,
        "agreed": tally.agreed,
        "values": tally.values,
        "equal": tally.equal,
        "unknown": tally.unknown,
    }


def read_summary(folder: Path) -> dict[str, Any]:
    """The figures of every release of an engine; none where nothing was recorded."""
    path = folder / SUMMARY
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def write_summary(folder: Path, told: Mapping[str, Any], order: Iterable[str]) -> None:
    """Write the figures, the releases in the order in which they came out."""
    kept = {release: told[release] for release in order if release in told}
    replace_text(folder / SUMMARY, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
