"""The checker on a tiny engine: override order, candidates, effective configuration, brackets, severities."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specconf.engines.base import default_fact
from specconf.facts import Context, Effective, Facts, Known, Missing, OneOf
from specconf.findings import Severity
from specconf.rules.checker import CheckResult, check
from specconf.words import Candidates, Unresolved, Value
from tests import fakes

ENGINE = fakes.FakeEngine()
OPTIONS = [fakes.option(name, f"--{name}", type="int", default=0) for name in ("a", "b", "c")]
FULL = [{"scope": "cli", "completeness": "complete", "unknown_member": "rejects", "r": fakes.EVERYWHERE}]


def run(constraints: list[dict[str, Any]], values: dict[str, Value], **more: Any) -> CheckResult:
    database = fakes.database(OPTIONS, constraints, scopes=FULL, **more)
    view = database.at("1.0")
    return check(fakes.facts(fakes.settings(values), view), ENGINE, view)


def in_force(result: CheckResult, path: str) -> Effective:
    return result.effective[path]


def test_an_override_shows_in_the_effective_configuration_with_its_origin() -> None:
    result = run([fakes.constraint("v/a", {"option.a": {"eq": 1}}, set={"a": 2})], {"a": 1})
    assert in_force(result, "a") == Effective(Known(2), "v/a")
    (finding,) = result.findings
    assert finding.severity is Severity.WARNING


def test_an_override_of_a_default_is_information() -> None:
    result = run([fakes.constraint("v/a", {"option.b": {"eq": 1}}, set={"a": 2})], {"b": 1})
    assert in_force(result, "a") == Effective(Known(2), "v/a")
    assert [f.severity for f in result.findings] == [Severity.INFO]


def test_an_override_to_the_same_value_says_nothing() -> None:
    result = run([fakes.constraint("v/a", {"option.b": {"eq": 1}}, set={"a": 2})], {"a": 2, "b": 1})
    assert not result.findings
    assert in_force(result, "a") == Effective(Known(2), "written")


def test_later_stages_see_what_earlier_ones_changed() -> None:
    rules = [
        fakes.constraint("v/late", {"option.a": {"eq": 2}}, stage="worker"),
        fakes.constraint("v/early", {"option.a": {"eq": 1}}, stage="config", set={"a": 2}),
    ]
    assert {f.constraint for f in run(rules, {"a": 1}).findings} == {"v/early", "v/late"}


def test_asked_never_changes() -> None:
    rules = [
        fakes.constraint("v/early", {"option.a": {"eq": 1}}, set={"a": 2}),
        fakes.constraint("v/late", {"asked.a": {"eq": 1}, "option.a": {"eq": 2}}, stage="worker"),
    ]
    assert {f.constraint for f in run(rules, {"a": 1}).findings} == {"v/early", "v/late"}


def test_steps_order_rules_inside_a_stage() -> None:
    rules = [
        fakes.constraint("v/second", {"option.a": {"eq": 2}}, step="check"),
        fakes.constraint("v/first", {"option.a": {"eq": 1}}, step="alias", set={"a": 2}),
    ]
    steps = [{"stage": "config", "order": ["alias", "check"], "r": fakes.EVERYWHERE}]
    assert [f.constraint for f in run(rules, {"a": 1}, steps=steps).findings] == ["v/first", "v/second"]
    turned = [{"stage": "config", "order": ["check", "alias"], "r": fakes.EVERYWHERE}]
    assert [f.constraint for f in run(rules, {"a": 1}, steps=turned).findings] == ["v/first"]


def test_after_orders_two_overrides_of_one_path() -> None:
    rules = [
        fakes.constraint("v/last", {"option.b": {"eq": 1}}, set={"a": 3}, after=["v/first"]),
        fakes.constraint("v/first", {"option.b": {"eq": 1}}, set={"a": 2}),
    ]
    assert in_force(run(rules, {"b": 1}), "a") == Effective(Known(3), "v/last")


@given(st.permutations(["v/1", "v/2", "v/3", "v/4"]))
def test_a_chain_of_overrides_ends_the_same_in_every_order_of_the_data(order: list[str]) -> None:
    chain = {
        f"v/{n}": fakes.constraint(
            f"v/{n}", {"option.b": {"eq": 1}}, set={"a": n}, after=[f"v/{n - 1}"] if n > 1 else []
        )
        for n in range(1, 5)
    }
    assert in_force(run([chain[name] for name in order], {"b": 1}), "a").value == Known(4)


def test_an_override_whose_condition_is_unknown_leaves_both_values() -> None:
    result = run([fakes.constraint("v/a", {"target.kind": {"gt": 1}}, set={"a": 2})], {"a": 1})
    assert in_force(result, "a").value == OneOf((1, 2))
    assert [n.constraint for n in result.not_checked] == ["v/a"]


def test_a_rule_on_candidates_is_decided_where_they_agree() -> None:
    rules = [
        fakes.constraint("v/big", {"option.a": {"gt": 0}}),
        fakes.constraint("v/bigger", {"option.a": {"gt": 1}}),
    ]
    result = run(rules, {"a": Candidates((1, 2))})
    assert [f.constraint for f in result.findings] == ["v/big"]
    assert [n.constraint for n in result.not_checked] == ["v/bigger"]


def test_an_unresolved_value_is_not_checked_rather_than_judged() -> None:
    result = run([fakes.constraint("v/a", {"option.a": {"eq": 1}})], {"a": Unresolved("$A")})
    assert not result.findings
    assert result.not_checked[0].missing == {"the value of a"}


def test_inside_a_bracket_nothing_is_claimed() -> None:
    rule = fakes.constraint("v/a", {"option.a": {"eq": 1}}, r=[[], [[0, 1]]])
    result = run([rule], {"a": 1})
    assert not result.findings
    assert "not known" in result.not_checked[0].reason


@pytest.mark.parametrize(("kind", "severity"), [("source", Severity.ERROR), ("report", Severity.WARNING)])
def test_evidence_caps_what_a_rule_may_say(kind: str, severity: Severity) -> None:
    rule = fakes.constraint("v/a", {"option.a": {"eq": 1}}, evidence=[[kind, "somewhere"]])
    assert run([rule], {"a": 1}).findings[0].severity is severity


def test_messages_are_filled_from_facts() -> None:
    rule = fakes.constraint("v/a", {"option.a": {"eq": 1}}, message="In {release} a is {option.a}, b {option.b}.")
    assert run([rule], {"a": 1}).findings[0].message == "In 1.0 a is 1, b 0."


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(-3, 3)))
def test_without_rules_everything_written_stays_as_written(values: dict[str, Value]) -> None:
    result = run([], values)
    assert {path: e.value for path, e in result.effective.items()} == {p: Known(v) for p, v in values.items()}  # type: ignore[arg-type]
    assert not result.findings


def test_an_unread_model_registry_is_said() -> None:
    class Target:
        def fact(self, path: str) -> Known:
            return Known("LlamaForCausalLM" if path == "architecture" else None)

    view = fakes.database(OPTIONS, scopes=FULL).at("1.0")
    context = Context(Target(), fakes.NoFacts(), {})
    given = Facts(fakes.settings({}), context, default=default_fact(view), derivations={})
    (item,) = check(given, ENGINE, view).not_checked
    assert item.missing == {"the model registry of vllm 1.0"}


def test_what_the_engine_fills_in_is_in_force_and_no_finding() -> None:
    fills = fakes.constraint("v/fills", {"asked.a": "unset"}, kind="resolves", set={"a": 3})
    late = fakes.constraint("v/late", {"option.a": {"eq": 3}}, stage="worker")
    result = run([fills, late], {"b": 1})
    assert in_force(result, "a") == Effective(Known(3), "v/fills")
    assert [f.constraint for f in result.findings] == ["v/late"]
    assert result.resolved == {"v/fills": True}
    assert run([fills, late], {"a": 1}).resolved == {}


def test_what_may_be_filled_in_leaves_both_values_and_is_not_listed() -> None:
    fills = fakes.constraint("v/fills", {"workload.sampling": {"eq": "greedy"}}, kind="resolves", set={"a": 3})
    result = run([fills], {"a": 1})
    assert in_force(result, "a").value == OneOf((1, 3))
    assert result.resolved == {"v/fills": None}
    assert not result.not_checked


class Named:
    """A model whose every fact is its own name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fact(self, path: str) -> Known:
        del path
        return Known(self.name)


def models_of(written: dict[str, Value]) -> Facts:
    view = fakes.database(OPTIONS, scopes=FULL).at("1.0")
    context = Context(Named("served"), Named("drafting"), {})
    return Facts(
        fakes.settings(written), context, default=default_fact(view), derivations={}, model_path="m", draft_path="d"
    )


def test_an_override_of_a_model_takes_the_facts_of_the_model_it_names() -> None:
    facts = models_of({"m": "head"})
    facts.override("m", Known("verifier"), "v/a")
    assert isinstance(facts.get("target.x"), Missing)
    assert facts.get("checkpoint.x") == Known("served")
    facts.override("d", Known("head"), "v/b")
    assert facts.get("draft.x") == Known("served")


def test_an_override_of_another_option_leaves_the_models_alone() -> None:
    facts = models_of({"m": "head", "d": "draft"})
    facts.override("a", Known(1), "v/a")
    facts.override("d", Known("draft"), "v/b")
    assert (facts.get("target.x"), facts.get("draft.x")) == (Known("served"), Known("drafting"))
