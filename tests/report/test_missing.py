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


def test_single_facts_of_a_model_are_one_line() -> None:
    names = ("model_type", "num_heads", "config.method", "vocab_size")
    items = [not_checked(f"v/{name}", f"draft {name}") for name in names]
    items += [not_checked("v/one", "target mtp_layers"), not_checked("v/both", "draft x", "target y")]
    assert missing_groups(items) == [
        ("draft model_type, draft num_heads, draft config.method and 1 more", [f"v/{name}" for name in names]),
        ("draft x and target y", ["v/both"]),
        ("target mtp_layers", ["v/one"]),
    ]


def test_a_whole_config_stands_for_its_facts_and_for_what_follows() -> None:
    items = [
        not_checked("v/a", "target config.json", "draft vocab_size"),
        not_checked("v/b", "target config.json", "option.speculative_config.method"),
        not_checked("v/c", "derived.lookahead_tokens", "draft config.json"),
        not_checked("v/d", "derived.lookahead_tokens"),
    ]
    assert missing_groups(items) == [
        ("target config.json", ["v/a", "v/b"]),
        ("derived.lookahead_tokens", ["v/d"]),
        ("draft config.json", ["v/c"]),
    ]
