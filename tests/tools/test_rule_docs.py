"""The pages of `docs/rules/` are what the database says today."""

from __future__ import annotations

from pathlib import Path

import pytest

from specconf.codes import CODES
from specconf.compat.database import load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.report.explaining import rule_pages

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "rules"
PAGES = rule_pages([load_database(engine) for engine in ENGINE_NAMES])


def test_there_is_a_page_for_every_code_and_none_besides() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES) == {"README.md", *(f"{code}.md" for code in CODES)}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_the_database_has_it(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name], "run: python tools/write_rule_docs.py"


def test_a_page_shows_the_examples_of_its_constraints() -> None:
    page = PAGES["SC201.md"]
    constraint = load_database("vllm").constraint("vllm/draft-model-not-on-v1")
    assert constraint is not None
    assert constraint.probe
    assert str(constraint.probe["argv"][-1]) in page
    assert f"## {constraint.id}" in page
