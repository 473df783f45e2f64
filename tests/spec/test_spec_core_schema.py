from __future__ import annotations

import pytest

from specconf.spec.core_schema import TAG_PREFIX, ScalarError, resolve_plain, resolve_tagged


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("nUll", "nUll"),
        ("true", True),
        ("False", False),
        ("tRue", "tRue"),
        *((word, word) for word in ("yes", "no", "on", "off", "y", "n", "Yes", "OFF")),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2026-11-30", "2026-11-30"),
        ("0.33.0", "0.33.0"),
        ("1.0", 1.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("1E3", 1000.0),
        ("-1.5e+2", -150.0),
        (".", "."),
        ("1e", "1e"),
        ("<<", "<<"),
        ("18446744073709551615", 2**64 - 1),
        ("1\n", "1\n"),
    ],
)
def test_plain_scalars_follow_the_core_schema(text: str, value: object) -> None:
    result = resolve_plain(text)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    "text", [".nan", ".NaN", ".inf", "-.Inf", "+.INF", "1e999", "18446744073709551616", "9" * 5000]
)
def test_numbers_that_json_cannot_hold_are_refused(text: str) -> None:
    with pytest.raises(ScalarError):
        resolve_plain(text)


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [("str", "5", "5"), ("int", "5", 5), ("float", "5", 5.0), ("bool", "true", True), ("null", "~", None)],
)
def test_tags_of_the_core_schema(tag: str, text: str, value: object) -> None:
    result = resolve_tagged(TAG_PREFIX + tag, text)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("tag", "text"), [("int", "5.5"), ("int", "true"), ("bool", "1"), ("timestamp", "2026-01-01"), ("binary", "aGk=")]
)
def test_other_tags_and_misfits_are_refused(tag: str, text: str) -> None:
    with pytest.raises(ScalarError):
        resolve_tagged(TAG_PREFIX + tag, text)
