"""Comments that are meant for specconf: what they cover, what they need, and what is said of those that do nothing."""

from __future__ import annotations

import pytest

from specconf.findings import Severity
from specconf.lint.run import FileResult
from specconf.lint.suppress import SuppressedBy
from tests.lint.conftest import Lint

BAD = "vllm serve m --speculative-model d"  # SC101 in 0.33.0


def told(result: FileResult) -> list[tuple[int, str]]:
    return [(f.where.line if f.where else 0, f.code) for f in result.all_findings if f.severity is not Severity.INFO]


def unused(result: FileResult) -> list[str]:
    return [f.message for f in result.all_findings if f.code == "SC708"]


def test_without_a_comment_it_is_told(lint: Lint) -> None:
    assert told(lint(f"#!/bin/sh\n{BAD}\n", vllm="0.33.0")) == [(2, "SC101")]


@pytest.mark.parametrize(
    "text",
    [
        f"{BAD}  # specconf: ignore[SC101] an old image\n",
        f"# specconf: ignore[SC101] an old image\n{BAD}\n",
        f"#specconf:ignore[SC1] an old image\n\n# more of it\n{BAD}\n",
        f"# specconf: ignore[SC101] an old image\n{BAD.replace('m --', chr(92).join(['m ', chr(10) + '  --']))}\n",
    ],
    ids=["same line", "line above", "prefix, with a comment between", "above a continued launch"],
)
def test_a_comment_with_a_reason_suppresses(lint: Lint, text: str) -> None:
    result = lint(text, vllm="0.33.0")
    assert told(result) == []
    assert unused(result) == []
    ((finding, launch, by, reason),) = [(s.finding, s.launch, s.by, s.reason) for s in result.suppressed]
    assert (finding.code, launch, by, reason) == ("SC101", "vllm m", SuppressedBy.COMMENT, "an old image")


def test_a_comment_covers_its_line_and_no_other(lint: Lint) -> None:
    result = lint(f"{BAD}\n# specconf: ignore[SC101] reason\n{BAD}\n{BAD}\n", vllm="0.33.0")
    assert told(result) == [(1, "SC101"), (4, "SC101")]


def test_a_constraint_can_be_named(lint: Lint) -> None:
    text = "sglang serve --model-path m --speculative-algorithm EAGLE3 --speculative-draft-model-path d"
    before = lint(text + "\n", sglang="0.5.9")
    constraint = next(f.constraint for f in before.all_findings if f.constraint)
    after = lint(f"{text} # specconf: ignore[{constraint}] known\n", sglang="0.5.9")
    assert [s.finding.constraint for s in after.suppressed] == [constraint]
    assert len(after.all_findings) == len(before.all_findings) - 1


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("ignore[SC101]", "This comment gives no reason, so that SC101 is told all the same."),
        ("ignore[SC999] reason", "SC999 is no finding code, prefix of one, or constraint id."),
        ("ignore reason", "This comment names no code, so that nothing is suppressed."),
        ("ignore[] reason", "This comment names no code, so that nothing is suppressed."),
        ("release vllm", "'vllm' states no release."),
        ("release llama=1.0", "'llama=1.0' states no release."),
        ("hush SC101", "'hush' is nothing that a specconf comment can say."),
    ],
)
def test_a_comment_that_cannot_be_used_is_told_and_suppresses_nothing(lint: Lint, comment: str, said: str) -> None:
    result = lint(f"# specconf: {comment}\n{BAD}\n", vllm="0.33.0")
    assert told(result) == [(1, "SC708"), (2, "SC101")]
    assert unused(result) == [said]


def test_what_suppresses_nothing_is_told_for_each_of_its_codes(lint: Lint) -> None:
    result = lint(f"{BAD} # specconf: ignore[SC101, SC203] reason\n", vllm="0.33.0")
    assert unused(result) == ["Nothing on line 1 yields SC203: this comment suppresses nothing of it."]
    assert told(result) == []


@pytest.mark.parametrize(
    ("path", "comment", "is_one"),
    [
        ("a.bat", "REM specconf: ignore[SC203] x", True),
        ("a.cmd", ":: specconf: ignore[SC203] x", True),
        ("a.md", "<!-- specconf: ignore[SC203] x -->", True),
        ("a.tf", "// specconf: ignore[SC203] x", True),
        ("a.service", "; specconf: ignore[SC203] x", True),
        ("a.yaml", "{{- /* specconf: ignore[SC203] x */ -}}", True),
        ("a.yaml", "// specconf: ignore[SC203] x", False),
        ("a.sh", "; specconf: ignore[SC203] x", False),
        ("a.bat", "# specconf: ignore[SC203] x", False),
    ],
)
def test_comments_are_those_of_the_kind_of_file(path: str, comment: str, is_one: bool) -> None:
    from specconf.lint.suppress import read_comments

    ignores = read_comments(path, f"{comment}\nx\n").ignores
    assert [(i.covers, i.reason) for i in ignores] == ([(2, "x")] if is_one else [])


def test_a_stated_release_beats_an_image_and_not_the_command_line(lint: Lint) -> None:
    text = (
        f"# specconf: release vllm=0.7.3\ndocker run vllm/vllm-openai:v0.33.0 --model m --speculative-model d\n{BAD}\n"
    )
    result = lint(text)
    assert [(j.chosen.text, j.chosen.how) for j in result.launches] == [("0.7.3", "specconf comment")] * 2
    assert "SC101" not in [code for _, code in told(result)]
    assert [j.chosen.how for j in lint(text, vllm="0.33.0").launches] == ["command line"] * 2


def test_the_nearest_release_above_counts_and_one_without_a_launch_is_told(lint: Lint) -> None:
    one, two, other = "vllm=0.7.3", "vllm=0.33.0", "sglang=0.5.9"
    result = lint(f"# specconf: release {one}\n{BAD}\n# specconf: release {two}\n{BAD}\n# specconf: release {other}\n")
    assert [j.chosen.text for j in result.launches] == ["0.7.3", "0.33.0"]
    assert unused(result) == [
        "No launch of sglang stands below this comment, so that the release it states is not used."
    ]


def test_a_stated_release_is_no_plain_comment_for_what_stands_above_it(lint: Lint) -> None:
    (judged,) = lint(f"{BAD}\n# specconf: release vllm=0.33.0\n").launches
    assert judged.chosen.how == "not stated"


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("release vllm 0.30.0", "Write release vllm=0.30.0."),
        ("release vllm: 0.30.0", "Write release vllm=0.30.0."),
        ("release vllm 0.30.0 or so", "Write release ENGINE=RELEASE."),
        ("release", "Write release ENGINE=RELEASE."),
        ("release nothing=0.30.0", "Write release ENGINE=RELEASE."),
    ],
)
def test_a_release_that_is_none_is_told_once(lint: Lint, said: str, fix: str) -> None:
    found = [f for f in lint(f"# specconf: {said}\n{BAD}\n").all_findings if f.code == "SC708"]
    assert [f.fix for f in found] == [fix]


@pytest.mark.parametrize("said", ["vllm=0.30.0", "vllm == 0.30.0", "vllm = '0.30.0'", "sglang=0.5.5, vllm=0.30.0"])
def test_blanks_around_the_sign_are_no_matter(lint: Lint, said: str) -> None:
    assert lint(f"# specconf: release {said}\n{BAD}\n").launches[0].chosen.text == "0.30.0"
