"""Judging a launch as `lint` would offline, and a launch as a line of JSON.

Models come from the checkpoint rows alone; the hardware is what is assumed where nobody says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from specconf.compat.database import load_database
from specconf.compat.store import load_rows
from specconf.engines.base import Models
from specconf.engines.registry import get_engine
from specconf.findings import Finding, Severity
from specconf.models import Resolver
from specconf.models.rows import RowTable
from specconf.models.view import written_models
from specconf.report.model import missing_groups
from specconf.rules.judge import judge_settings
from specconf.words import Launch, Word

_NOWHERE = Path("/nowhere")  # no model of the machine itself is looked at


class Verdict(Struct, frozen=True):
    """What is said about a launch at one release; `unchecked` counts the lines about what could not be checked."""

    release: str
    speculates: bool
    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...]

    def keys(self, severity: Severity) -> list[str]:
        """The findings of a severity by key, each once."""
        return sorted({key_of(finding) for finding in self.findings if finding.severity is severity})


def key_of(finding: Finding) -> str:
    """What a finding is counted by: its constraint, or its code with the option it is about."""
    return finding.constraint or f"{finding.code} {finding.option}"


class Judge:
    """An engine's database and the checkpoint rows, read once."""

    def __init__(self, engine: str) -> None:
        self.engine = get_engine(engine)
        self.database = load_database(engine)
        rows = RowTable(load_rows("checkpoints"))
        self.resolver = Resolver(checkpoints=rows, cache_dir=_NOWHERE, base_dir=_NOWHERE)

    def judge(self, launch: Launch, release: str) -> Verdict:
        """The verdict on a launch at a release."""
        engine = self.engine
        view = self.database.at(release)
        settings = engine.resolve(launch, view)
        models = Models(*written_models(engine.model_path, engine.draft_path, settings, self.resolver.resolve))
        judgement = judge_settings(settings, engine, view, models)
        unchecked = missing_groups(judgement.result.not_checked)
        speculates = any(path.startswith("speculative_") or path.startswith("spec_") for path in settings)
        return Verdict(release, speculates, tuple(judgement.findings), tuple(key for key, _ in unchecked))


def as_row(launch: Launch) -> dict[str, Any]:
    """A launch as plain data: a word whose text is not known is an object."""
    row: dict[str, Any] = {"argv": [_plain(word) for word in launch.argv]}
    if launch.env:
        row["env"] = {name: _plain(word) for name, word in launch.env}
    if launch.files:
        row["files"] = {_away_from_home(path): text for path, text in launch.files}
    return row


def from_row(engine: str, row: Mapping[str, Any]) -> Launch:
    """The launch of a row."""
    env = tuple((name, _word(value)) for name, value in row.get("env", {}).items())
    return Launch(engine, tuple(map(_word, row["argv"])), env, tuple(row.get("files", {}).items()))


def _plain(word: Word) -> Any:
    """A word as it is kept."""
    if word.value is not None:
        return _away_from_home(word.value)
    return {"raw": word.raw, **({"many": True} if word.may_be_many else {})}


def _away_from_home(path: str) -> str:
    """A path outside the folders of the machine it was written for; absolute still, so no hub name comes of it.

    A word and the file it names are moved alike: the launch of a row still finds its file.
    """
    return re.sub(r"^/(?:root|tmp)/", "/data/", path)


def _word(value: Any) -> Word:
    if isinstance(value, str):
        return Word(value, raw=value)
    return Word(None, raw=value["raw"], may_be_many=value.get("many", False))
