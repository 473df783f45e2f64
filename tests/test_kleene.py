"""The laws of three-valued logic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from specconf.kleene import agreed, ternary_all, ternary_any, ternary_not

ternaries = st.sampled_from([True, False, None])
lists = st.lists(ternaries, max_size=6)


@given(lists)
def test_de_morgan(values: list[bool | None]) -> None:
    assert ternary_not(ternary_all(values)) is ternary_any([ternary_not(v) for v in values])


@given(ternaries)
def test_double_negation(value: bool | None) -> None:
    assert ternary_not(ternary_not(value)) is value


@given(lists, lists)
def test_order_does_not_matter(left: list[bool | None], right: list[bool | None]) -> None:
    assert ternary_all(left + right) is ternary_all(right + left)
    assert ternary_any(left + right) is ternary_any(right + left)


@given(lists)
def test_an_unknown_never_turns_into_the_opposite_when_it_becomes_known(values: list[bool | None]) -> None:
    """Monotone: what is decided with unknowns stays so whatever they turn out to be."""
    for known in (True, False):
        filled = [known if v is None else v for v in values]
        for combine in (ternary_all, ternary_any):
            if combine(values) is not None:
                assert combine(filled) is combine(values)


def test_nothing_to_combine() -> None:
    assert ternary_all([]) is True
    assert ternary_any([]) is False


@given(st.lists(ternaries, min_size=1, max_size=4))
def test_agreement(values: list[bool | None]) -> None:
    assert agreed(values) is (values[0] if len(set(values)) == 1 else None)
