"""Texts that should be JSON: what is said to be wrong, and the JSON that was meant, where it can be told."""

from __future__ import annotations

import json

import pytest

from specconf.rules.notjson import diagnose, written_as
from tests.engines.vllm import support

MEANT = {"method": "mtp", "num_speculative_tokens": 2}
PLAIN = '{"method":"mtp","num_speculative_tokens":2}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"'{PLAIN}'", "quote character '"),
        (f"''{PLAIN}''", "quote character '"),
        (f"`{PLAIN}`", "quote character `"),
        (r"\{\"method\":\"mtp\",\"num_speculative_tokens\":2\}", "backslashes"),
        (r"{\"method\":\"mtp\",\"num_speculative_tokens\":2}", "backslashes"),
        (r"{\\\"method\\\":\\\"mtp\\\",\\\"num_speculative_tokens\\\":2}", "backslashes"),
        ('{{"method":"mtp","num_speculative_tokens":2}}', "braces are doubled"),
        ("{method:mtp,num_speculative_tokens:2}", "no double quotes"),
        ("{method: mtp, num_speculative_tokens: 2}", "no double quotes"),
        ('{"method": mtp, "num_speculative_tokens": 2}', "mtp stands in it without"),
        ("{'method': 'mtp', 'num_speculative_tokens': 2}", "as Python"),
        ('{"method":"mtp","num_speculative_tokens":2,}', "comma"),
        ("{\u201cmethod\u201d:\u201cmtp\u201d,\u201cnum_speculative_tokens\u201d:2}", "typographic"),
        ("method=mtp,num_speculative_tokens=2", "KEY=VALUE"),
        (PLAIN.replace('"', "&quot;"), "entities"),
        (PLAIN.replace('"', '""'), "doubled"),
    ],
)
def test_the_json_that_was_meant_is_shown(text: str, why: str) -> None:
    diagnosis = diagnose(text)
    assert diagnosis is not None
    assert why in diagnosis.why
    assert json.loads(diagnosis.meant) == MEANT
    assert written_as("--speculative-config", diagnosis, dotted=True).endswith(f"write --speculative-config '{PLAIN}'.")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("", "variable in its place was empty"),
        ("method:mtp", "whole JSON in single quotes"),
        ('{"method":', "whole JSON in single quotes"),
        ("ngram", "word under its key"),
        ("spec.json", "what the file holds"),
        ('{"method":"mtp","num_speculative_tokens":{num_speculative_tokens}}', "{num_speculative_tokens}"),
        ('{{"method":"mtp","num_speculative_tokens":{k}}}', "{k}"),
        ('{"method":"mtp","num_speculative_tokens":${K}}', "${K}"),
        ('{"method":"mtp","num_speculative_tokens":<k>}', "<k>"),
        ("{{ .Values.speculative | toJson }}", ".Values.speculative"),
        ('{"method":"mtp","num_speculative_tokens":%d}', "%d"),
    ],
)
def test_what_cannot_be_repaired_says_what_to_do(text: str, remedy: str) -> None:
    diagnosis = diagnose(text)
    assert diagnosis is not None
    assert not diagnosis.meant
    assert remedy in diagnosis.remedy


def test_values_with_braces_and_quotes_in_texts_are_left_alone() -> None:
    diagnosis = diagnose('{"model":"/m/{a}","method":"mtp",}')
    assert diagnosis is not None
    assert json.loads(diagnosis.meant) == {"model": "/m/{a}", "method": "mtp"}


def test_a_fault_of_no_known_kind_has_no_diagnosis() -> None:
    assert diagnose('{"method":"mtp" "num_speculative_tokens":2}') is None


def test_key_by_key_only_where_the_release_reads_it() -> None:
    launch = ["vllm", "serve", "m", "--speculative-config", "method:mtp", "num_speculative_tokens:2"]
    (old,) = [f for f in support.judged({"argv": launch, "release": "0.9.0"}).findings if f.code == "SC103"]
    (new,) = [f for f in support.judged({"argv": launch, "release": "0.27.1"}).findings if f.code == "SC103"]
    assert "KEY VALUE" not in old.fix
    assert "--speculative-config.KEY VALUE" in new.fix


def test_a_json_text_that_holds_an_object_is_no_object() -> None:
    launch = ["vllm", "serve", "m", "--speculative-config", json.dumps(PLAIN)]
    (finding,) = [f for f in support.judged({"argv": launch, "release": "0.33.0"}).findings if f.code == "SC103"]
    assert "quotes" in finding.fix
    assert PLAIN in finding.fix


@pytest.mark.parametrize(
    ("value", "part"),
    [("[" + PLAIN + "]", "Remove the brackets"), ("5", "Write a JSON object"), ("true", "Write a JSON object")],
)
def test_other_json_is_no_object(value: str, part: str) -> None:
    launch = ["vllm", "serve", "m", "--speculative-config", value]
    (finding,) = [f for f in support.judged({"argv": launch, "release": "0.33.0"}).findings if f.code == "SC103"]
    assert part in finding.fix


def test_no_speculation_at_all_is_an_object_too() -> None:
    launch = ["vllm", "serve", "m", "--speculative-config", "null"]
    assert not [f for f in support.judged({"argv": launch, "release": "0.33.0"}).findings if f.severity == "error"]
