"""Launches whose options code names, or an option file: what is told of them in their own words, and what --fix writes."""

from __future__ import annotations

import pytest

from specconf.findings import Finding, Severity, Stage
from specconf.lint.wording import as_keywords
from tests.lint.boxes import fixed, judged, linter
from tests.lint.conftest import lint_text

CALLS = {
    'LLM("m", speculative_model="d", num_speculative_tokens=5)': (
        'LLM("m", speculative_config={"model": "d", "num_speculative_tokens": 5})'
    ),
    'LLM("m", num_speculative_tokens=K, dtype="auto", speculative_model=args.draft)': (
        'LLM("m", speculative_config={"model": args.draft, "num_speculative_tokens": K}, dtype="auto")'
    ),
    'LLM(\n    "m",\n    speculative_model="[ngram]",\n    num_speculative_tokens=5,  # K\n    ngram_prompt_lookup_max=4\n)': (
        'LLM(\n    "m",\n    speculative_config={"method": "ngram", "num_speculative_tokens": 5, '
        '"prompt_lookup_max": 4},  # K\n)'
    ),
    'LLM("m", **{"speculative_model": "d", "max_num_seqs": 3, "num_speculative_tokens": 5})': (
        'LLM("m", **{"speculative_config": {"model": "d", "num_speculative_tokens": 5}, "max_num_seqs": 3})'
    ),
    """LLM("m", speculative_config='{"method": "ngram", "num_speculative_tokens": 3, "parallel_drafting": true}')""": (
        'LLM("m", speculative_config={"method": "ngram", "num_speculative_tokens": 3, "parallel_drafting": True})'
    ),
    'AsyncEngineArgs(model="m", speculative_config=json.dumps({"method": "ngram", "num_speculative_tokens": K}))': (
        'AsyncEngineArgs(model="m", speculative_config={"method": "ngram", "num_speculative_tokens": K})'
    ),
}
HEAD = "import json\nfrom vllm import AsyncEngineArgs, LLM\n"


@pytest.mark.parametrize("call", CALLS)
def test_fixes_of_keyword_arguments(call: str) -> None:
    assert fixed(f"{HEAD}e = {call}\n", "run.py").text == f"{HEAD}e = {CALLS[call]}\n"


def test_a_renamed_parameter() -> None:
    text = 'import sglang\ne = sglang.Engine(model_path="m", **{"cuda_graph_max_bs": 8})\n'
    assert fixed(text, "run.py").text == text.replace("max_bs", "max_bs_decode")


def test_a_text_that_a_name_holds_is_told_and_left_alone() -> None:
    """Something else may read it."""
    text = HEAD + 'SPEC = \'{"method": "ngram", "num_speculative_tokens": 3}\'\ne = LLM("m", speculative_config=SPEC)\n'
    found = fixed(text, "run.py")
    assert found.text == text
    (finding,) = found.result.all_findings
    assert (finding.code, finding.severity, finding.stage) == ("SC103", Severity.ERROR, Stage.CONFIG)
    assert finding.message.startswith("speculative_config is a text, but in code")


@pytest.mark.parametrize(
    ("path", "text", "release"),
    [
        ("run.py", HEAD + 'e = LLM("m", speculative_config={"method": "ngram", "num_speculative_tokens": 3})\n', "0.33.0"),
        ("run.py", HEAD + 'e = LLM("m", speculative_config=config)\n', "0.33.0"),
        ("run.py", HEAD + 'e = LLM("m", speculative_config=\'{"model": "d", "num_speculative_tokens": 3}\')\n', "0.8.2"),
        ("run.sh", "vllm serve m --speculative-config '{\"method\": \"ngram\", \"num_speculative_tokens\": 3}'\n", "0.33.0"),
    ],
)  # fmt: skip
def test_an_object_or_a_text_that_the_release_reads(path: str, text: str, release: str) -> None:
    assert "SC103" not in [f.code for f in judged(text, path, linter(vllm=release)).all_findings]


def test_a_launch_of_code_is_told_in_keywords() -> None:
    text = HEAD + 'e = LLM("m", speculative_model=DRAFT, speculative_config="{")\n'
    said = [finding.message + finding.fix for finding in lint_text(text, "run.py", vllm="0.33.0").all_findings]
    assert any("no option speculative_model" in one for one in said)
    assert not any("--" in one for one in said)


def test_json_behind_a_flag_is_told_as_an_object() -> None:
    fix = "Write single braces: write --speculative-config '{\"n\": true}', or --no-enable-lora."
    told = as_keywords(Finding("SC103", Severity.ERROR, "--spec-tokens is 3", fix=fix))
    assert told.message == "spec_tokens is 3"
    assert told.fix == 'Write single braces: write speculative_config={"n": True}, or enable_lora=False.'


OPTION_FILE = """\
model: a/b
speculative_model: "[ngram]"  # x
num-speculative-tokens: 3
tensor-parallel-size: 2
ngram-prompt-lookup-max: 4
"""
JOINED_FILE = """\
model: a/b
speculative_config: '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":4}'  # x
tensor-parallel-size: 2
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_old_keys_of_an_option_file_are_joined(end: str) -> None:
    before, after = OPTION_FILE.replace("\n", end), JOINED_FILE.replace("\n", end)
    assert fixed(before, "vllm.yaml").text == after
    assert fixed(after, "vllm.yaml").text == after


@pytest.mark.parametrize("model", ["{a: 1}", "&d x\n  y", "!!int 3\nspeculative_model: d"])
def test_what_is_no_plain_entry_of_its_own_line_is_not_joined(model: str) -> None:
    text = f"max-model-len: 8\nspeculative-model: {model}\nnum-speculative-tokens: 3\n"
    assert "config" not in fixed(text, "vllm.yaml").text
