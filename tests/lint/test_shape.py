"""What a file's own shape does to a launch."""

from __future__ import annotations

import pytest

from specconf.findings import Severity
from tests.lint.conftest import lint_text

IMAGE = "docker run vllm/vllm-openai:v0.33.0 org/m"
SPEC = '{"method":"ngram","num_speculative_tokens":3}'
SHAPES = {
    f"{IMAGE} \\\n  --port 1\n  --max-num-seqs 4\n": [("SC704", 3, Severity.ERROR)],
    f"{IMAGE} \\\n  # a note \\\n  --max-num-seqs 4\n": [("SC704", 2, Severity.ERROR)],
    f"{IMAGE} -sc '{SPEC[:-2]}$N}}'\n": [("SC705", 1, Severity.ERROR)],
    f"{IMAGE} -sc '{SPEC}'\n": [],
    f'{IMAGE} -sc "{SPEC}"\n': [("SC703", 1, Severity.ERROR)],
    f"{IMAGE} --max-num-seqs 4 --max-num-seqs 8\n": [("SC107", 1, Severity.WARNING)],
    f"{IMAGE} --max-num-seqs 4 --max-num-seqs 4\n": [],
    f"{IMAGE} -sc='{SPEC}' --spec-tokens=4\n": [("SC103", 1, Severity.ERROR)],
    f"{IMAGE} -sc '{SPEC}' --spec-tokens 4\n": [("SC103", 1, Severity.ERROR)],
    f"{IMAGE} --middleware a --middleware b\n": [],
    f"{IMAGE} -sc.method ngram --speculative-config.num_speculative_tokens 3\n": [
        ("SC107", 1, Severity.WARNING),
        ("SC204", 1, Severity.ERROR),
    ],
    f"{IMAGE} -sc.method ngram -sc.num_speculative_tokens 3\n": [],
    f"{IMAGE} --served-model-name '$NAME'\n": [("SC705", 1, Severity.WARNING)],
    f"echo {IMAGE} --speculative-model x\n# {IMAGE} --speculative-model x\n": [],
}


@pytest.mark.parametrize("text", SHAPES)
def test_a_shape_is_told_once_at_its_line(text: str) -> None:
    found = [(f.code, f.where.line if f.where else 0, f.severity) for f in lint_text(text).all_findings]
    told = [row for row in found if row[2] is not Severity.INFO]
    assert sorted(told) == sorted(SHAPES[text])


def test_what_cannot_be_read_is_told_where() -> None:
    (finding,) = lint_text('vllm serve org/m --x "\n').all_findings
    assert (finding.code, finding.where.line if finding.where else 0) == ("SC707", 1)


@pytest.mark.parametrize("data", [b"\xff\xfe vllm", b"vllm \x00 serve", b"hello"])
def test_files_that_are_no_text_or_no_business_of_ours_are_skipped(data: bytes) -> None:
    from specconf.compat.database import load_database
    from specconf.lint.run import Linter
    from tests.lint.conftest import models

    result = Linter(load_database, models).file("x.sh", data)
    assert result.skipped
    assert result.all_findings == []
