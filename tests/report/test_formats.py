"""The formats for other programs: valid by their own schemas, true to the place, and stable where lines move."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from specconf.codes import CODES
from specconf.findings import Finding, Severity
from specconf.lint.edits import Edit
from specconf.lint.run import FileResult
from specconf.lint.suppress import Suppressed, SuppressedBy
from specconf.report.entries import entries_of_lint
from specconf.report.formats import lint_text
from specconf.report.github import escaped, escaped_property
from specconf.report.json_report import render_json
from specconf.report.lint_json import lint_json
from specconf.report.sarif import artifact, sarif_json
from specconf.schemas import schema
from specconf.words import Span
from tests.lint.conftest import Lint, lint

__all__ = ["lint"]
SARIF = json.loads((Path(__file__).parent / "schemas" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
ROOT = Path("/srv/project")
BAD = "vllm serve m --speculative-model d --num-speculative-tokens 5"
TEXT = f"""#!/bin/sh
# specconf: release vllm=0.33.0
echo "größe 😀"; {BAD}
# specconf: ignore[SC101] kept for an old image
{BAD}
"""


def sarif(*results: FileResult) -> dict[str, Any]:
    """The SARIF of results, held against the schema of the standard."""
    document = sarif_json(entries_of_lint(results), ROOT)
    jsonschema.Draft4Validator(SARIF).validate(document)
    return document["runs"][0]  # type: ignore[no-any-return]


def in_file(path: str, *findings: Finding) -> FileResult:
    return FileResult(path, "x\n", findings=list(findings))


def finding(message: str = "m", where: Span | None = None, **more: str) -> Finding:
    return Finding("SC101", Severity.ERROR, message, where=where, **more)  # type: ignore[arg-type]


def test_the_schema_refuses_what_is_no_sarif() -> None:
    document = sarif_json(entries_of_lint([in_file("a.sh", finding())]), ROOT)
    document["runs"][0]["results"][0]["level"] = "info"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SARIF).validate(document)


def test_sarif_tells_places_in_characters(lint: Lint) -> None:
    run = sarif(lint(TEXT, "deploy/serve.sh"))
    assert run["columnKind"] == "unicodeCodePoints"
    first = run["results"][0]
    (place,) = first["locations"]
    region = place["physicalLocation"]["region"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "deploy/serve.sh", "uriBaseId": "%SRCROOT%"}
    line = TEXT.split("\n")[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == "--speculative-model"
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///srv/project/"}}


def test_sarif_names_its_rules_and_points_at_them(lint: Lint) -> None:
    run = sarif(lint(TEXT))
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert CODES[result["ruleId"]].about in rules[result["ruleIndex"]]["help"]["text"]
    assert len({rule["id"] for rule in rules}) == len(rules)


def test_sarif_holds_what_is_suppressed_with_its_reason(lint: Lint) -> None:
    result = lint(TEXT)
    result.suppressed.append(Suppressed(finding(), "vllm m", SuppressedBy.BASELINE))
    told = [(r["ruleId"], r.get("suppressions")) for r in sarif(result)["results"]]
    inside = {"kind": "inSource", "status": "accepted", "justification": "kept for an old image"}
    outside = {"kind": "external", "status": "accepted", "justification": "baseline"}
    assert [by for _, by in told] == [None, None, [inside], [inside], [outside]]


def fingerprints(result: FileResult) -> list[str]:
    return [r["partialFingerprints"]["specconf/v1"] for r in sarif(result)["results"]]


def test_fingerprints_stay_where_lines_move_and_tell_findings_apart(lint: Lint) -> None:
    text = f"# specconf: release vllm=0.33.0\n{BAD}\n{BAD}\n"
    before = fingerprints(lint(text))
    assert fingerprints(lint(text.replace("\n", "\n\n# more\n"))) == before
    assert len(set(before)) == len(before) == 4
    assert not set(before) & set(fingerprints(lint(text, "other.sh")))


def test_sarif_carries_fixes_and_an_insertion_deletes_nothing() -> None:
    one = finding(fix="Write it otherwise.", where=Span("a b.sh", 1, 1, 1, 2))
    result = in_file("a b.sh", one)
    result.edits[one] = (
        Edit("a b.sh", 1, 1, Span("a b.sh", 1, 2, 1, 2), "new"),
        Edit("a b.sh", 0, 1, Span("a b.sh", 1, 1, 1, 2), "y"),
    )
    (fix,) = sarif(result)["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "a%20b.sh"
    assert [(r["deletedRegion"], r["insertedContent"]["text"]) for r in change["replacements"]] == [
        ({"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}, "y"),
        ({"startLine": 1, "startColumn": 2, "endLine": 1, "endColumn": 2}, "new"),
    ]


@pytest.mark.parametrize(
    ("path", "uri", "based"),
    [
        ("a/b.sh", "a/b.sh", True),
        ("./a/../ü #%.sh", "%C3%BC%20%23%25.sh", True),
        ("c:x?.sh", "c%3Ax%3F.sh", True),
        ("/srv/project/a.sh", "a.sh", True),
        ("../other/a b.sh", "file:///srv/other/a%20b.sh", False),
        ("/etc/a.sh", "file:///etc/a.sh", False),
        ("caf\udce9.sh", "caf%E9.sh", True),
    ],
)
def test_files_are_named_relative_to_the_root_and_quoted(path: str, uri: str, based: bool) -> None:
    assert artifact(path, ROOT) == {"uri": uri, **({"uriBaseId": "%SRCROOT%"} if based else {})}


def test_what_stands_in_another_file_is_told_at_its_launch() -> None:
    result = in_file("run.sh", finding("gone", Span("/cfg/opts.yml", 10, 21)))
    (entry,) = entries_of_lint([result]).told()
    assert (entry.path, entry.where) == ("run.sh", Span("run.sh", 1, 1))
    assert entry.message == "gone (at /cfg/opts.yml:10:21)"


def test_json_fits_its_schema(lint: Lint) -> None:
    first = lint(TEXT)
    one = first.launches[0].findings[0]
    first.edits[one] = (Edit("run.sh", 3, 5, Span("run.sh", 1, 4, 1, 6), "x"),)
    results = [first, FileResult("a.txt", skipped="of no known kind")]
    report = lint_json(results, ["told"])
    jsonschema.validate(report, schema("lint"))
    assert report["files"] == ["run.sh"]
    assert report["skipped"] == [{"path": "a.txt", "why": "of no known kind"}]
    assert [(row["line"], row["launch"], row["release"], row["release_from"]) for row in report["launches"]] == [
        (3, "vllm m", "0.33.0", "specconf comment"),
        (5, "vllm m #2", "0.33.0", "specconf comment"),
    ]
    found = report["findings"][0]
    assert (found["path"], found["line"], found["end_line"]) == ("run.sh", 3, 3)
    assert TEXT.split("\n")[2][found["column"] - 1 : found["end_column"] - 1] == "--speculative-model"
    assert found["edits"] == [{"path": "run.sh", "start": 3, "end": 5, "text": "x"}]
    assert {row["suppressed_by"] for row in report["suppressed"]} == {"comment"}
    assert {row["reason"] for row in report["suppressed"]} == {"kept for an old image"}
    assert json.loads(render_json(report)) == report


COMMAND = re.compile(r"::(error|warning|notice) ((?:\w+=[^,:]*,?)+)::(.*)")


def unescaped(text: str) -> str:
    for sign, code in ((":", "%3A"), (",", "%2C"), ("\n", "%0A"), ("\r", "%0D"), ("%", "%25")):
        text = text.replace(code, sign)
    return text


@pytest.mark.parametrize("text", ["100 %, a: b", "one\r\ntwo", "%0A", "::error file=x::y", "", "%25"])
def test_workflow_commands_are_escaped_so_that_they_are_read_back(text: str) -> None:
    assert unescaped(escaped_property(text)) == text
    assert not set(escaped_property(text)) & set(":,\r\n")
    assert not set(escaped(text)) & set("\r\n")


def test_each_finding_is_one_workflow_command() -> None:
    path = "a,b:100%.sh"
    one = finding("first\nsecond: 50 %", Span(path, 2, 3, 2, 7), fix="Do it.")
    two = Finding("SC701", Severity.INFO, "floats", where=Span(path, 4, 1, 6, 2))
    lines = lint_text("github", [in_file(path, one, two)], (), Severity.ERROR).splitlines()
    first, second = (COMMAND.fullmatch(line) for line in lines[:-1])
    assert first is not None
    assert second is not None
    properties = dict(pair.split("=") for pair in first[2].split(","))
    assert {name: unescaped(value) for name, value in properties.items()} == {
        "file": path, "line": "2", "col": "3", "endLine": "2", "endColumn": "7", "title": "SC101 unknown-option",
    }  # fmt: skip
    assert first[3] == "first%0Asecond: 50 %25 Do it."
    assert second[1] == "notice"
    assert "endColumn" not in second[2]
    assert lines[-1].startswith("1 file, ")


def test_junit_has_a_case_for_each_launch_and_a_failure_for_each_finding(lint: Lint) -> None:
    clean = lint("# specconf: release vllm=0.33.0\nvllm serve m\n", "clean.sh")
    root = ET.fromstring(lint_text("junit", [lint(TEXT), clean], (), Severity.ERROR))
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["run.sh", "clean.sh"]
    assert [(case.get("name"), len(case.findall("failure"))) for case in suites[0]] == [
        ("vllm m (0.33.0)", 2),
        ("vllm m #2 (0.33.0)", 0),
    ]
    assert (root.get("tests"), root.get("failures")) == ("3", "1")


def test_below_the_threshold_nothing_fails(lint: Lint) -> None:
    info = in_file("a.sh", Finding("SC701", Severity.INFO, "floats"))
    (case,) = ET.fromstring(lint_text("junit", [info], (), Severity.ERROR)).iter("testcase")
    assert case.find("failure") is None
    assert "floats" in (case.findtext("system-out") or "")
    (case,) = ET.fromstring(lint_text("junit", [info], (), Severity.INFO)).iter("testcase")
    assert case.find("failure") is not None


def test_junit_is_xml_whatever_stands_in_a_file() -> None:
    nasty = "a\0\x08\x1b[31m<&>\"']]>\ud800\uffff 😀"
    result = in_file(f"x{nasty}.sh", finding(nasty, fix=nasty))
    document = lint_text("junit", [result], (), Severity.ERROR)
    (failure,) = ET.fromstring(document.encode()).iter("failure")
    assert failure.get("message", "").startswith("a��\N{REPLACEMENT CHARACTER}[31m<&>\"']]>")
    assert failure.get("message", "").endswith("😀")
