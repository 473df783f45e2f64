"""What of a launch meets a condition, in the engine's own words: a message fills it in where a rule has many alternatives."""

from __future__ import annotations

from collections.abc import Iterator

from specconf.compat.view import View
from specconf.engines.options import as_text
from specconf.facts import Fact, Facts, Known
from specconf.rules.conditions import All, AnyOf, Condition, Deferred, Not, Test

# Facts of the target that are computed are named by the target, too, and an option that names a method by its word.
_OF_TARGET, _METHOD = ("target.", "derived.target_"), ".method"


def met(condition: Condition, facts: Facts, view: View) -> str:
    """The options, methods and targets of those alternatives of a condition that hold; empty where it has none."""
    names = list(dict.fromkeys(_alternatives(condition, facts, view)))
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _alternatives(condition: Condition, facts: Facts, view: View) -> Iterator[str]:
    whole = _opened(condition)
    if isinstance(whole, AnyOf):
        for part in whole.parts:
            if part.truth(facts, view).value:
                yield " with ".join(dict.fromkeys(_names(part, facts, view)))
    elif isinstance(whole, All):
        for part in whole.parts:
            yield from _alternatives(part, facts, view)


def _names(condition: Condition, facts: Facts, view: View) -> Iterator[str]:
    """The names of everything that one alternative looks at, without what does not hold of further alternatives in it."""
    whole = _opened(condition)
    if isinstance(whole, All | AnyOf):
        for part in whole.parts:
            if part.truth(facts, view).value:
                yield from _names(part, facts, view)
    elif isinstance(whole, Not):
        yield from _names_negated(whole.part, facts, view)
    elif isinstance(whole, Test):
        yield _name(whole.path, facts, view)


def _names_negated(condition: Condition, facts: Facts, view: View) -> Iterator[str]:
    for leaf in condition.leaves():
        if isinstance(leaf, Test):
            yield _name(leaf.path, facts, view)


def _name(path: str, facts: Facts, view: View) -> str:
    root, _, rest = path.partition(".")
    if path.startswith(_OF_TARGET):
        return f"the target {_text(facts.get('target.architecture'))}"
    if root not in ("option", "asked"):
        return rest.replace("_", " ")
    if rest.endswith(_METHOD):
        return f"method {_text(facts.get(path))}"
    options = view.by_path.get(rest, ())
    return options[0].names[0] if options and options[0].names else rest


def _text(fact: Fact) -> str:
    return as_text(fact.value) if isinstance(fact, Known) else "of the launch"


def _opened(condition: Condition) -> Condition:
    return condition.condition if isinstance(condition, Deferred) else condition
