"""Which models a launch names, as far as its words show them."""

from __future__ import annotations

import pytest

from specconf.facts import Fact, Known, Missing
from specconf.models import Cause, Unavailable, model_facts
from specconf.models.view import written_model
from specconf.settings import Origin, Setting, Settings, Written
from specconf.words import Candidates, Unresolved, Value, Word

FACTS = model_facts({"model_type": "llama", "vocab_size": 8})


def vocabulary(role: str, values: dict[str, Value], *, unread: bool = False) -> Fact:
    items = {path: Setting(path, (Written(value, Origin.ARGV),)) for path, value in values.items()}
    more = (Word(None, raw="$MORE", may_be_many=True),) if unread else ()
    path = "model" if role == "target" else "spec.model"
    found = written_model(role, path, Settings("vllm", items, more), lambda _name: FACTS)
    return found.fact("vocab_size")


@pytest.mark.parametrize("role", ["target", "draft"])
def test_a_model_named_in_full(role: str) -> None:
    assert vocabulary(role, {"model": "org/x", "spec.model": "org/x"}) == Known(8)


@pytest.mark.parametrize(
    ("role", "values", "unread"),
    [
        ("target", {}, False),  # an engine has a default of its own
        ("target", {"model": Unresolved("$MODEL")}, False),
        ("target", {"model": Candidates(("a", "b"))}, False),
        ("draft", {"spec.model": Unresolved("$DRAFT")}, False),
        ("draft", {"spec": Unresolved("$CONFIG")}, False),
        ("draft", {}, True),
    ],
)
def test_a_model_that_words_do_not_show_is_not_known(role: str, values: dict[str, Value], unread: bool) -> None:
    assert isinstance(vocabulary(role, values, unread=unread), Missing)


def test_a_launch_without_a_draft_has_none() -> None:
    assert vocabulary("draft", {"model": "org/x"}) == Known(None)


def test_a_model_that_is_not_here_is_not_known() -> None:
    settings = Settings("vllm", {"model": Setting("model", (Written("a", Origin.ARGV),))})
    absent = Unavailable("not in the cache", Cause.NOT_HERE)
    assert isinstance(written_model("target", "model", settings, lambda _name: absent).fact("x"), Missing)
