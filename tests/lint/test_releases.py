"""Which release a launch is judged at, and where that is found."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from specconf.compat.database import load_database
from specconf.compat.view import View
from specconf.findings import Finding, Severity
from specconf.lint.several import in_all, in_some
from tests.lint.conftest import Lint, lint_text

SERVE = "vllm serve org/m\n"
STATED = {
    "docker run vllm/vllm-openai:v0.33.0 org/m\n": ("0.33.0", "image tag"),
    "docker run mirror.example/vllm/vllm-openai:v0.31.0-cu130 org/m\n": ("0.31.0", "image tag"),
    "TAG=v0.30.0\ndocker run vllm/vllm-openai:$TAG org/m\n": ("0.30.0", "image tag"),
    "docker run vllm/vllm-openai:${TAG:-v0.30.0} org/m\n": ("0.30.0", "image tag"),
    "pip install 'vllm==0.32.0'\n" + SERVE: ("0.32.0", "pin"),
    "pip install vllm[audio]==0.32.0 other==1.0\n" + SERVE: ("0.32.0", "pin"),
    "VLLM_VERSION=0.28.0\npip install vllm==$VLLM_VERSION\n" + SERVE: ("0.28.0", "variable"),
    "module load vllm/0.26.0\n" + SERVE: ("0.26.0", "path or module"),
    "source /opt/vllm-0.24.0/bin/activate\n" + SERVE: ("0.24.0", "path or module"),
    "# tested with vLLM 0.22.1\n" + SERVE: ("0.22.1", "comment"),
    "# vLLM 0.22.1 or SGLang 0.5.20\n" + SERVE: ("", "not stated"),
    "# vLLM 0.22.1, then vLLM 0.24.0\n" + SERVE: ("", "not stated"),
    "# vLLM v0.20.2+ reserves more memory\n" + SERVE: ("", "not stated"),
    "# broken since vLLM 0.20.2\n" + SERVE: ("", "not stated"),
    "# vllm/issues/0.20.2\n" + SERVE: ("", "not stated"),
    "pip install vllm==0.20.2\n" + SERVE + "pip install vllm==0.33.0\nvllm serve org/b\n": ("0.20.2", "pin"),
    "docker run vllm/vllm-openai:latest org/m\ndocker pull vllm/vllm-openai:v0.20.2\n": ("latest", "image tag"),
    "docker run vllm/vllm-openai:nightly-1a2b org/m\n": ("nightly-1a2b", "image tag"),
    "docker run own/vllm-openai:v0.33.0 vllm serve org/m\n": ("", "not stated"),
    "docker run ai-dynamo/vllm-runtime:1.5.0 vllm serve org/m\n": ("0.28.0", "ai-dynamo/vllm-runtime 1.5.0"),
    "docker run ai-dynamo/vllm-runtime:9.9.9 vllm serve org/m\n": ("", "not stated"),
    # The image of one launch says nothing of another.
    SERVE + "docker run vllm/vllm-openai:v0.20.2 org/m\n": ("", "not stated"),
    "# vLLM 0.22.1\n" + SERVE + "docker run vllm/vllm-openai:v0.20.2 org/m\n": ("0.22.1", "comment"),
    SERVE: ("", "not stated"),
}


@pytest.mark.parametrize("text", STATED)
def test_the_release_is_found_where_it_is_stated(text: str) -> None:
    first = lint_text(text).launches[0]
    assert (first.chosen.text, first.chosen.how) == STATED[text]


def test_an_explicit_release_beats_what_is_stated_and_the_project_comes_last() -> None:
    text = "docker run vllm/vllm-openai:v0.33.0 org/m\n"
    explicit = lint_text(text, explicit={"vllm": "0.20.2"}).launches[0].chosen
    assert (explicit.text, explicit.how) == ("0.20.2", "command line")
    stated = lint_text(text, project={"vllm": "0.20.2"}).launches[0].chosen
    assert stated.text == "0.33.0"
    project = lint_text(SERVE, project={"vllm": "0.20.2"}).launches[0].chosen
    assert (project.text, project.how) == ("0.20.2", "project setting")


def test_without_a_release_only_what_holds_in_every_one_is_said() -> None:
    gone = "vllm serve org/m --speculative-model org/d --num-speculative-tokens 3\n"
    assert lint_text(gone).all_findings == []
    never = lint_text("vllm serve org/m --speculatively-yes\n").all_findings
    assert [(f.code, f.possible) for f in never] == [("SC101", "every known release")]


def test_a_release_that_is_too_old_is_not_judged() -> None:
    result = lint_text("docker run vllm/vllm-openai:v0.1.0 --speculative-model org/d\n")
    assert [f.code for f in result.all_findings] == ["SC702"]


def test_a_range_says_how_many_of_its_releases_have_a_finding() -> None:
    pin = "pip install 'vllm>=0.6.6,<0.9'\nvllm serve org/m --speculative-model org/d --num-speculative-tokens 3\n"
    codes = {f.code: (f.severity, f.possible) for f in lint_text(pin).all_findings}
    assert "SC701" in codes
    severity, possible = codes["SC101"]
    assert severity is Severity.WARNING
    assert possible.split(" of ")[0] != possible.split(" of ")[1]


def test_an_open_range_is_judged_at_its_newest_release() -> None:
    pin = "pip install 'vllm>=0.8'\nvllm serve org/m --speculative-model org/d\n"
    errors = [f for f in lint_text(pin).all_findings if f.severity is Severity.ERROR]
    assert {f.checked_as for f in errors} == {"0.33.0"}


def _finding(code: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(code, severity, code)


def test_findings_of_several_releases() -> None:
    first, second = [_finding("SC101"), _finding("SC103")], [_finding("SC103"), _finding("SC105", Severity.INFO)]
    counted = {f.code: (f.severity, f.possible) for f in in_some(first, [second])}
    assert counted == {
        "SC101": (Severity.WARNING, "1 of 2"),
        "SC103": (Severity.ERROR, ""),
        "SC105": (Severity.INFO, "1 of 2"),
    }


def _nobody(view: View, _findings: Sequence[Finding]) -> list[Finding]:
    raise AssertionError(f"{view.release} need not be asked")


def test_where_no_release_is_stated_few_are_asked() -> None:
    database = load_database("vllm")
    newest, *others = (database.at(name) for name in reversed(database.line.names))
    first, second = _finding("SC101"), _finding("SC103")
    met = {others[0].release: [first, second]}
    in_every = in_all([first, second], newest, others, lambda view, _: met.get(view.release, [second]))
    assert [(f.code, f.possible) for f in in_every] == [("SC103", "every known release")]
    assert in_all([], newest, others, _nobody) == []
    passing = next(rule for rule, _ in newest.constraints if not all(rule.ranges.holds(v.point) for v in others))
    assert in_all([replace(first, constraint=passing.id)], newest, others, _nobody) == []
    lasting = next(rule for rule, _ in newest.constraints if all(rule.ranges.holds(v.point) for v in others))
    assert in_all([replace(first, constraint=lasting.id)], newest, others, lambda _, wanted: wanted) != []


def test_a_short_release_is_told_as_what_it_is_read_as(lint: Lint) -> None:
    for given in ({"project": {"vllm": "0.30"}}, {"explicit": {"vllm": "0.30"}}):
        found = [f for f in lint("vllm serve m\n", **given).all_findings if f.code == "SC702"]
        assert [(f.message, f.fix) for f in found] == [("vllm 0.30 is read as its release 0.30.0.", "Write 0.30.0.")]
    for exact in ("0.30.0", "v0.30.0"):
        assert not lint("vllm serve m\n", project={"vllm": exact}).all_findings


@pytest.mark.parametrize("release", ["0.1.dev123+g12abc", "0.0.1.dev7"])
def test_a_build_without_tags_is_not_called_old(lint: Lint, release: str) -> None:
    (finding,) = [f for f in lint("vllm serve m\n", vllm=release).all_findings if f.code == "SC702"]
    assert "checkout without its tags" in finding.message
