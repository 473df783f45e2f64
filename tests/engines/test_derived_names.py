"""The topics of derived facts: a name stands in one of them only, since the table of all would hide one of two."""

from __future__ import annotations

from collections import Counter
from importlib import import_module

import pytest

from specconf.engines import common
from specconf.engines.registry import _MODULES


@pytest.mark.parametrize("package", _MODULES.values())
def test_no_two_topics_have_a_fact_of_one_name(package: str) -> None:
    derived = import_module(f"{package}.derived")
    names = Counter(name for topic in (*derived._TOPICS, common) for name in topic.DERIVATIONS)
    assert [name for name, number in names.items() if number > 1] == []
    assert set(names) == {*derived.DERIVATIONS, *common.DERIVATIONS}
