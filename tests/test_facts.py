"""What is worked out of options in force is forgotten when one of those it was worked out of changes, and only then."""

from __future__ import annotations

from collections.abc import Callable

from specconf.facts import Context, Fact, Facts, Known, OneOf, alike
from specconf.settings import Origin, SettingsBuilder, Written
from tests import fakes


def _facts(counted: list[str], **derivations: Callable[[Facts], Fact]) -> Facts:
    def counting(name: str, derive: Callable[[Facts], Fact]) -> Callable[[Facts], Fact]:
        def work(facts: Facts) -> Fact:
            counted.append(name)
            return derive(facts)

        return work

    builder = SettingsBuilder("vllm")
    builder.write("a", Written(1, Origin.ARGV, "--a"))
    return Facts(
        builder.build(),
        Context(fakes.NoFacts(), fakes.NoFacts(), {}),
        default=lambda path: Known(f"default of {path}"),
        derivations={name: counting(name, derive) for name, derive in derivations.items()},
        model_path="model",
    )


def test_an_override_leaves_what_does_not_depend_on_it() -> None:
    counted: list[str] = []
    facts = _facts(counted, of_a=lambda f: f.get("option.a"), of_b=lambda f: f.get("option.b"))
    assert [facts.get(f"derived.{name}") for name in ("of_a", "of_b", "of_a")] == [
        Known(1), Known("default of b"), Known(1),
    ]  # fmt: skip
    facts.override("b", Known(2), "some/rule")
    assert [facts.get(f"derived.{name}") for name in ("of_a", "of_b")] == [Known(1), Known(2)]
    assert counted == ["of_a", "of_b", "of_b"]


def test_what_is_derived_of_something_derived_is_forgotten_with_it() -> None:
    counted: list[str] = []
    facts = _facts(counted, inner=lambda f: f.get("option.b"), outer=lambda f: f.get("derived.inner"))
    facts.get("derived.inner")  # known before the outer one asks for it
    assert facts.get("derived.outer") == Known("default of b")
    facts.override("b", Known(2), "some/rule")
    assert facts.get("derived.outer") == Known(2)


def test_whether_an_option_is_set_counts_as_looking_at_it() -> None:
    facts = _facts(
        [], written=lambda f: Known(f.written("option.b")), overridden=lambda f: Known(f.override_of("b") is not None)
    )
    assert [facts.get(f"derived.{name}") for name in ("written", "overridden")] == [Known(False), Known(False)]
    facts.override("b", Known(2), "some/rule")
    assert [facts.get(f"derived.{name}") for name in ("written", "overridden")] == [Known(True), Known(True)]


def test_another_model_in_force_has_other_facts() -> None:
    facts = _facts([], heads=lambda f: f.get("target.heads"))
    before = facts.get("derived.heads")
    facts.override("model", Known("org/other"), "some/rule")
    assert facts.get("derived.heads") != before


def test_an_answer_is_worked_out_once_until_what_it_is_of_changes() -> None:
    facts, asked = _facts([]), list[str]()

    def work(path: str) -> Fact:
        asked.append(path)
        return facts.get(path)

    for _ in range(2):
        assert facts.answer("mine", work, "option.b") == Known("default of b")
    facts.override("a", Known(5), "some/rule")
    facts.answer("mine", work, "option.b")
    assert len(asked) == 1
    facts.override("b", Known(2), "some/rule")
    assert facts.answer("mine", work, "option.b") == Known(2)


def test_true_is_not_one() -> None:
    assert alike(Known(1), Known(1))
    assert not alike(Known(1), Known(True))
    assert not alike(OneOf((1, 2)), OneOf((True, 2)))
