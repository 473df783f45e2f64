"""What could not be checked, in as few lines as tell it."""

from __future__ import annotations

from specconf.facts import UNREAD_WORDS
from specconf.findings import NotChecked
from specconf.report.model import missing_groups


def not_checked(name: str, *missing: str) -> NotChecked:
    return NotChecked(name, "SC201", frozenset(missing))


def test_what_is_missing_is_told_once_with_the_largest_group_first() -> None:
    items = [not_checked("v/a", "x"), not_checked("v/b", "y"), not_checked("v/c", "y"), not_checked("v/b", "y")]
    assert missing_groups(items) == [("y", ["v/b", "v/c"]), ("x", ["v/a"])]


def test_unread_words_hide_whatever_else_a_rule_needs() -> None:
    items = [
        not_checked("v/a", UNREAD_WORDS, "asked.model"),
        not_checked("v/b", UNREAD_WORDS, "draft config.json"),
        not_checked("v/c", UNREAD_WORDS),
        not_checked("v/d", "draft config.json"),
    ]
    assert missing_groups(items) == [(UNREAD_WORDS, ["v/a", "v/b", "v/c"]), ("draft config.json", ["v/d"])]
