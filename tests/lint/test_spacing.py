"""A flag with blanks around its equals sign: one finding, in whichever of its forms."""

from __future__ import annotations

import pytest

from specconf.findings import Finding
from tests.lint.conftest import lint_text


def told(script: str) -> list[Finding]:
    return lint_text(script, vllm="0.33.0").all_findings


FORMS = {
    "vllm serve m --max-num-seqs = 4": ("SC103", "Write --max-num-seqs 4 or --max-num-seqs=4."),
    "vllm serve m --port= 8000": ("SC103", "Write --port 8000 or --port=8000."),
    "vllm serve m --port =8000 --max-num-seqs 4": ("SC103", "Write --port 8000 or --port=8000."),
    'vllm serve m --speculative-config = \'{"method":"ngram"}\'': (
        "SC703",
        'Write --speculative-config \'{"method":"ngram"}\' or --speculative-config=\'{"method":"ngram"}\'.',
    ),
}


@pytest.mark.parametrize("script", FORMS)
def test_one_finding_says_what_to_write(script: str) -> None:
    code, fix = FORMS[script]
    (found,) = [one for one in told(script) if one.severity == "error"]
    assert (found.code, found.fix) == (code, fix)
    assert "blanks around its equals sign" in found.message
    assert found.where is not None
    assert found.where.column == 14


def test_other_findings_stay() -> None:
    found = told("vllm serve m --spec-tokens = 4 --portt 3 x")
    assert sum("blanks around" in one.message for one in found) == 1
    assert any("--portt" in one.message for one in found)
