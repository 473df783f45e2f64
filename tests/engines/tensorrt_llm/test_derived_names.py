"""The topics of derived facts: a name stands in one of them only, since the table of all would hide one of two."""

from __future__ import annotations

from collections import Counter

from specconf.engines.tensorrt_llm import derived


def test_no_two_topics_have_a_fact_of_one_name() -> None:
    names = Counter(name for topic in derived._TOPICS for name in topic.DERIVATIONS)
    assert [name for name, number in names.items() if number > 1] == []
    assert set(names) == set(derived.DERIVATIONS)
