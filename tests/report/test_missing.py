"""What could not be checked, in as few lines as tell it."""

from __future__ import annotations

from specconf.facts import UNREAD_WORDS
from specconf.findings import NotChecked
from specconf.report.model import missing_groups
from specconf.report.text import not_checked_lines


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
        ("draft config.json", ["v/c"]),
        ("lookahead tokens (it follows from what is not known here)", ["v/d"]),
    ]


def test_facts_are_worded_for_who_has_to_get_them() -> None:
    items = [
        not_checked("v/a", "feature.min_p", "feature.tools"),
        not_checked("v/b", "feature.logprobs"),
        not_checked("v/c", "hardware.capability"),
        not_checked("v/d", "target.config.x"),
        not_checked("v/e", "target num_heads"),
        not_checked("v/f", "option.max_num_seqs"),
        not_checked("v/g", "target config.json"),
    ]
    assert list(not_checked_lines(items, verbose=False)) == [
        "not checked: 2 rules need target config.x, target num_heads of a config.json known in part: --online reads all of it",
        "not checked: 2 rules need what requests use (features in a spec)",
        "not checked: 1 rule needs target config.json: --online",
        "not checked: 1 rule needs the GPU (hardware.gpu in a spec)",
        "not checked: 1 rule needs the value of max_num_seqs (not written)",
    ]
