"""What an upgrade is said to change, beside what two recorded releases had in force."""

from __future__ import annotations

from pathlib import Path

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine, get_oracle
from specconf.verify.observed import Folder
from specconf.verify.upgrades import changes_seen

COMPAT = Path(__file__).resolve().parent.parent.parent / "compat"


def test_a_default_that_changed_is_told_as_the_releases_had_it() -> None:
    folder, database = Folder(COMPAT / "vllm" / "observed"), load_database("vllm")
    pair = ("0.18.1", "0.20.2")
    seen = list(
        changes_seen(
            get_engine("vllm"),
            get_oracle("vllm"),
            (database.at(pair[0]), database.at(pair[1])),
            (folder.read(pair[0]), folder.read(pair[1])),
            folder.questions(),
        )
    )
    share = [one for one in seen if one.path == "gpu_memory_utilization"]
    assert len(share) > 100
    assert all(one.agrees and one.theirs == (0.9, 0.92) for one in share)
    assert all(one.agrees for one in seen)
