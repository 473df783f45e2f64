"""SC1xx on a tiny option table: what a complete, a partial and a dropping scope make of an unknown option, and bad values."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.engines.argv import ArgvReader, Grammar
from specconf.findings import Finding, Severity
from specconf.rules.spelling import spelling_findings
from specconf.settings import SettingsBuilder
from specconf.words import words
from tests import fakes

OPTIONS = [
    fakes.option("size", "--size", type="int", bounds={"ge": 1}),
    fakes.option("kind", "--kind", type="str", choices=["a", "b"], default="a"),
    fakes.option("old", "--old-size", type="int", r=[[[0, 1]], []]),
    fakes.option("gone", "--gone", type="int", deprecated="the launch stops", replaced_by="--size"),
    fakes.option("idle", "--idle", kind="switch", type="bool", deprecated="accepted, does nothing"),
    fakes.option("late", "--late", kind="switch", type="bool", deprecated=True, replaced_by="--size"),
    fakes.option("spec", "--spec", kind="object", members="members", type="json"),
    {**fakes.option("spec.num", "num_tokens", type="int", bounds={"gt": 0}), "scope": "members"},
]


def findings(*argv: str, release: str = "2.0", members: tuple[str, str] = ("complete", "rejects")) -> list[Finding]:
    scopes: list[dict[str, Any]] = [
        {"scope": "cli", "completeness": "complete", "unknown_member": "rejects", "r": fakes.EVERYWHERE},
        {
            "scope": "members",
            "completeness": members[0],
            "unknown_member": members[1],
            "forms": ["json"],
            "r": fakes.EVERYWHERE,
        },
    ]
    view = fakes.database(OPTIONS, scopes=scopes).at(release)
    builder = SettingsBuilder("vllm")
    ArgvReader(view, Grammar("cli"), builder).read(words(*argv))
    return list(spelling_findings(builder.build(), fakes.FakeEngine(), view))


@pytest.mark.parametrize(
    ("argv", "code", "severity", "part"),
    [
        (["--sise", "2"], "SC101", Severity.ERROR, "has no option --sise"),
        (["--old-size", "2"], "SC101", Severity.ERROR, "exists before 2.0"),
        (["--size", "two"], "SC103", Severity.ERROR, "takes a whole number"),
        (["--size", "0"], "SC103", Severity.ERROR, "takes >= 1"),
        (["--kind", "c"], "SC103", Severity.ERROR, "takes one of a, b"),
        (["--size"], "SC103", Severity.ERROR, "needs a value"),
        (["--gone", "1"], "SC101", Severity.ERROR, "no longer takes --gone"),
        (["--idle"], "SC106", Severity.WARNING, "does nothing with it"),
        (["--late"], "SC105", Severity.INFO, "marked as going away"),
        (["--spec", '{"num_tokens": 0}'], "SC103", Severity.ERROR, "takes > 0"),
        (["--spec", '{"num_tokens": "3"}'], "SC103", Severity.ERROR, "takes a whole number"),
        (["--spec", '{"num_token": 3}'], "SC101", Severity.ERROR, "has no option num_token"),
    ],
)
def test_findings(argv: list[str], code: str, severity: Severity, part: str) -> None:
    (finding,) = findings(*argv)
    assert (finding.code, finding.severity) == (code, severity)
    assert part in finding.message
    assert finding.fix


def test_good_words_say_nothing() -> None:
    assert not findings("--size", "2", "--kind", "b", "--spec", '{"num_tokens": 3}')


@pytest.mark.parametrize(
    ("members", "code", "severity"),
    [
        (("complete", "drops"), "SC106", Severity.WARNING),
        (("complete", "unknown"), "SC101", Severity.INFO),
        (("partial", "rejects"), "SC101", Severity.INFO),
    ],
)
def test_an_unknown_key_by_what_is_known_of_its_object(members: tuple[str, str], code: str, severity: Severity) -> None:
    (finding,) = findings("--spec", '{"num_token": 3}', members=members)
    assert (finding.code, finding.severity) == (code, severity)
    assert "num_tokens" in finding.fix


def test_a_release_that_still_has_the_option() -> None:
    assert not findings("--old-size", "2", release="1.0")
