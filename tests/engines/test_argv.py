"""The argv grammar on a tiny option table: values, switches, abbreviations, lists, objects, dotted keys, bad words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specconf.engines.argv import ArgvReader, Grammar
from specconf.engines.emitting import flag_words
from specconf.settings import ProblemKind, Settings, SettingsBuilder
from specconf.words import Unresolved, Word, words
from tests import fakes

OPTIONS = [
    fakes.option("model", kind="positional"),
    fakes.option("size", "--tensor-size", "-t", type="int"),
    fakes.option("share", "--memory-share", type="float"),
    fakes.option("name", "--served-name", type="str", nullable=True),
    fakes.option("eager", "--eager", kind="switch", type="bool", const=True),
    fakes.option("cache", "--cache", kind="switch", type="bool", const=True, no_names=["--no-cache"]),
    fakes.option("sizes", "--graph-sizes", kind="list", type="int"),
    fakes.option("header", "--header", kind="append", type="str"),
    fakes.option("spec", "--spec", kind="object", members="members", type="json"),
    {**fakes.option("spec.method", "method", type="str"), "scope": "members"},
    {**fakes.option("spec.model", "model", type="str"), "scope": "members"},
    {**fakes.option("spec.num", "num_tokens", type="int"), "scope": "members"},
]
SCOPES = [
    {"scope": "cli", "completeness": "complete", "unknown_member": "rejects", "r": fakes.EVERYWHERE},
    {
        "scope": "members",
        "completeness": "complete",
        "unknown_member": "rejects",
        "forms": ["json", "dotted", "dotted_dashes"],
        "r": fakes.EVERYWHERE,
    },
]
VIEW = fakes.database(OPTIONS, scopes=SCOPES).at("1.0")


def read(*argv: str | Word) -> Settings:
    builder = SettingsBuilder("vllm")
    given = [word if isinstance(word, Word) else words(word)[0] for word in argv]
    ArgvReader(VIEW, Grammar("cli", canonical=lambda flag: flag.replace("_", "-")), builder).read(given)
    return builder.build()


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["m", "--tensor-size", "4"], {"model": "m", "size": 4}),
        (["--tensor_size=4"], {"size": 4}),
        (["-t", "4"], {"size": 4}),
        (["--tensor", "4"], {"size": 4}),
        (["--memory-share", "0.5"], {"share": 0.5}),
        (["--eager"], {"eager": True}),
        (["--no-cache"], {"cache": False}),
        (["--cache", "--no-cache"], {"cache": False}),
        (["--graph-sizes", "1", "2", "--eager"], {"sizes": [1, 2], "eager": True}),
        (["--header", "a", "--header", "b"], {"header": ["a", "b"]}),
        (["--served-name", "None"], {"name": None}),
        (["--spec", '{"method": "x", "num_tokens": 3}'], {"spec.method": "x", "spec.num": 3}),
        (["--spec.method", "x", "--spec.num-tokens=3"], {"spec.method": "x", "spec.num": 3}),
        (["--spec", '{"bogus": 1}'], {"spec.bogus": 1}),
        (["--tensor-size", "1", "--tensor-size", "2"], {"size": 2}),
        (["--", "--weird-model"], {"model": "--weird-model"}),
    ],
)
def test_reading(argv: list[str], expected: dict[str, object]) -> None:
    settings = read(*argv)
    assert settings.flat() == expected
    assert not settings.problems


@pytest.mark.parametrize(
    ("argv", "kind", "spelling"),
    [
        (["--tensor-sise", "4"], ProblemKind.UNKNOWN, "--tensor-sise"),
        (["--s", "4"], ProblemKind.AMBIGUOUS, "--s"),
        (["--tensor-size", "four"], ProblemKind.INVALID, "--tensor-size"),
        (["--tensor-size"], ProblemKind.MISSING_VALUE, "--tensor-size"),
        (["--tensor-size", "--eager"], ProblemKind.MISSING_VALUE, "--tensor-size"),
        (["--eager=true"], ProblemKind.INVALID, "--eager"),
        (["--spec", "{method: x}"], ProblemKind.NOT_JSON, "--spec"),
        (["--spec", '{"num": NaN}'], ProblemKind.NOT_JSON, "--spec"),
        (["m", "extra"], ProblemKind.UNEXPECTED, "extra"),
    ],
)
def test_words_that_the_parser_would_not_take(argv: list[str], kind: ProblemKind, spelling: str) -> None:
    (problem,) = read(*argv).problems
    assert (problem.kind, problem.spelling) == (kind, spelling)


def test_did_you_mean() -> None:
    assert read("--tensor-sise", "4").problems[0].near[0] == "--tensor-size"


def test_the_value_of_an_unknown_option_is_not_taken_for_the_model() -> None:
    assert "model" not in read("--unheard-of", "value")


def test_a_dotted_key_replaces_a_json_given_beside_it() -> None:
    settings = read("--spec", '{"method": "x", "num_tokens": 3}', "--spec.model", "m")
    assert settings.flat() == {"spec.model": "m"}
    assert {p.kind for p in settings.problems} == {ProblemKind.OVERWRITTEN}


def test_the_second_json_replaces_the_first_one_whole() -> None:
    settings = read("--spec", '{"method": "x", "num_tokens": 3}', "--spec", '{"method": "y"}')
    assert settings.flat() == {"spec.method": "y"}


def test_unresolved_words() -> None:
    unknown = Word(None, raw='"$SIZE"')
    many = Word(None, raw="$EXTRA", may_be_many=True)
    settings = read("--tensor-size", unknown, many)
    assert settings["size"] == Unresolved('"$SIZE"')
    assert settings.may_hold_more
    assert not read("--tensor-size", unknown).may_hold_more


def test_an_unresolved_inline_value() -> None:
    assert read(Word(None, raw="--tensor-size=$N"))["size"] == Unresolved("$N")


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
values = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(0, 99),
        "share": st.floats(0, 1),
        "name": texts.filter(lambda t: t != "None" and not t.startswith("-")),
        "eager": st.just(True),
        "cache": st.booleans(),
        "sizes": st.lists(st.integers(0, 9), min_size=1, max_size=3),
        "header": st.lists(texts.filter(lambda t: not t.startswith("-")), min_size=1, max_size=3),
        "spec.method": texts,
        "spec.num": st.integers(),
    },
)


@given(values)
def test_what_is_emitted_reads_back_the_same(given: dict[str, object]) -> None:
    emitted = flag_words(fakes.settings(given), VIEW, "cli")  # type: ignore[arg-type]
    settings = read(*emitted)
    assert settings.flat() == given
    assert not settings.problems
