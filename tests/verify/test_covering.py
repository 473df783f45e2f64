"""Launches of the seeded covering arrays: reproducible, within what a release has, and a few that are not on purpose."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import pytest

from specconf.compat.database import load_database
from specconf.compat.view import View
from specconf.engines.registry import get_engine, get_factors
from specconf.settings import ProblemKind
from specconf.verify.covering import Launches, coverage, covering
from specconf.verify.offered import has_level, missing_flags, offered
from specconf.verify.tiny import DRAFTS, TARGETS
from specconf.words import Launch, Word, words

RELEASES = [
    ("vllm", "0.10.2"),
    ("vllm", "0.20.2"),
    ("vllm", "0.33.0"),
    ("sglang", "0.4.9.post6"),
    ("sglang", "0.5.10.post1"),
    ("sglang", "0.5.23"),
]


@cache
def view(engine: str, release: str) -> View:
    return load_database(engine).at(release)


@pytest.mark.parametrize(("engine", "release"), RELEASES)
def test_the_whole_array_covers_every_possible_pair(engine: str, release: str) -> None:
    array = launches(engine, release).array
    found = array.coverage(array.rows)
    assert found.covered == found.possible > 4000


@pytest.mark.parametrize(("engine", "release"), RELEASES)
def test_more_launches_cover_more(engine: str, release: str) -> None:
    assert launches(engine, release).coverage(0).covered == 0
    few, many = (launches(engine, release).coverage(size) for size in (40, 200))
    assert few.rows == 40
    assert few.covered < many.covered < many.possible * 1.0
    assert many.covered / many.possible > 0.85


@pytest.mark.parametrize(("engine", "release"), RELEASES)
def test_flags_are_those_of_the_release_but_for_one_in_33(engine: str, release: str) -> None:
    here = view(engine, release)
    asked = launches(engine, release).asked(198)
    unknown = [each.origin for each in asked if unknown_words(engine, here, each.question)]
    assert len(unknown) == 6
    assert len({each.question.key for each in asked}) > 190


@cache
def launches(engine: str, release: str) -> Launches:
    """The launches of seed 3: an array takes a second or two."""
    return Launches(get_factors(engine), view(engine, release), 3)


def unknown_words(engine: str, here: View, question: object) -> list[str]:
    from specconf.oracle.asking import Question

    assert isinstance(question, Question)
    env = tuple((name, Word(value, raw=value)) for name, value in question.env.items())
    launch = Launch(engine, words(*question.argv), env, tuple(question.files.items()))
    problems = get_engine(engine).resolve(launch, here).problems
    return [each.spelling for each in problems if each.kind in (ProblemKind.UNKNOWN, ProblemKind.UNEXPECTED)]


def test_questions_name_only_models_that_they_bring() -> None:
    for engine, release in RELEASES:
        for each in launches(engine, release).asked(60):
            text = " ".join((*each.question.argv, *each.question.files.values()))
            named = {
                word
                for word in text.replace('"', " ").replace("=", " ").replace("\\", " ").split()
                if "models/" in word
            }
            assert named <= set(each.question.models), each
            assert each.origin.startswith("array 3:")


def test_gpus_are_sglangs_alone() -> None:
    sglang = {each.question.gpu for each in launches("sglang", "0.5.23").asked(80)}
    assert sglang == {"H100", "H200", "B200", "A100"}
    assert {each.question.gpu for each in launches("vllm", "0.33.0").asked(20)} == {None}


def test_the_same_in_another_process_with_another_hash_seed() -> None:
    program = (
        "from specconf.compat.database import load_database\nfrom specconf.verify.covering import covering\n"
        "view = load_database('sglang').at('0.4.9.post6')\n"
        "print(*(each.question.key for each in covering('sglang', view, seed=11, size=12)))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert said[0] == said[1]
    assert len(set(said[0].split())) == 12
    here = covering("sglang", view("sglang", "0.4.9.post6"), seed=11, size=12)
    assert said[0].split() == [each.question.key for each in here]


def test_levels_come_and_go_with_releases() -> None:
    def names(engine: str, release: str, factor: str) -> set[str]:
        found = offered(get_factors(engine), view(engine, release))
        return {level.name for each in found if each.name == factor for level in each.levels}

    assert "suffix" not in names("vllm", "0.10.2", "method")
    assert {"suffix", "dflash"} <= names("vllm", "0.20.2", "method")
    assert "medusa" not in names("vllm", "0.33.0", "method")
    assert "flags" in names("vllm", "0.33.0", "spelling")
    assert "flags" not in names("vllm", "0.20.2", "spelling")
    assert names("sglang", "0.4.9.post6", "algorithm") == {"none", "EAGLE", "EAGLE3", "NEXTN", "unknown"}
    assert "DSPARK" in names("sglang", "0.5.23", "algorithm")


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_every_level_is_some_releases(engine: str) -> None:
    """A level that no release offers is a slip of the pen: a flag or word that does not exist."""
    factors = get_factors(engine)
    releases = [view(engine, release) for name, release in RELEASES if name == engine]
    releases += [
        view(engine, release)
        for release in {"vllm": ("0.12.0", "0.28.0"), "sglang": ("0.5.6.post2", "0.5.15.post1")}[engine]
    ]
    for factor in factors.factors:
        for level in factor.levels:
            assert any(has_level(factors, here, level) for here in releases), (factor.name, level.name)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_levels_refer_to_levels_and_configs_that_exist(engine: str) -> None:
    factors = {factor.name: {level.name for level in factor.levels} for factor in get_factors(engine).factors}
    for factor in get_factors(engine).factors:
        assert len(factors[factor.name]) == len(factor.levels), factor.name
        for level in factor.levels:
            for relation in (level.needs, level.suits):
                for other, names in relation.items():
                    assert set(names) <= factors[other], (factor.name, level.name, other)
            assert not level.target or level.target in TARGETS
            assert not level.draft or level.draft in DRAFTS


def test_missing_flags_are_no_beginnings_of_flags() -> None:
    here = view("vllm", "0.33.0")
    known = set(here.names["vllm.cli"])
    missing = missing_flags(get_factors("vllm"), here)
    assert "--speculative-draft-tensor-parallel-size" in missing
    assert not any(name.startswith(flag) for flag in missing for name in known)


def test_coverage_is_that_of_the_launches_asked() -> None:
    assert coverage("vllm", view("vllm", "0.10.2"), seed=3, size=40) == launches("vllm", "0.10.2").coverage(40)


def test_a_level_that_early_releases_refuse_is_odd_there() -> None:
    def odd(release: str) -> bool:
        method = offered(get_factors("vllm"), view("vllm", release))[0]
        return next(level.odd for level in method.levels if level.name == "draft_model")

    assert odd("0.10.2")
    assert not odd("0.20.2")
