"""One misspelling is one finding: rules draw nothing from what it leaves unset."""

from __future__ import annotations

import pytest

from specconf.findings import Severity
from tests.lint.conftest import lint_text

VLLM, SGLANG = "vllm serve m ", "python -m sglang.launch_server --model-path m "
ROOTS = {
    VLLM + """-sc '{"method":"ngrm","num_speculative_tokens":3}'""": ("SC103", "Did you mean ngram?"),
    VLLM + "--spec-method eagl3 --spec-tokens 3": ("SC103", "Did you mean eagle3 or eagle?"),
    VLLM + """-sc '{"mehtod":"ngram","num_speculative_tokens":3}'""": ("SC101", "Did you mean method?"),
    VLLM + "-sc.mehtod ngram -sc.num_speculative_tokens 3": ("SC101", "Did you mean method?"),
    VLLM + """-sc '{"method":"ngram","num_speculative_token":3}'""": ("SC101", "Did you mean num_speculative_tokens?"),
    VLLM + "--spec-method ngram --spec-token5 3": ("SC101", "Did you mean --spec-tokens?"),
    VLLM + """-sc '{"method":"mtp"}' --num-speculative-tokens 1""": (
        "SC101",
        "Write --spec-tokens: that is this release's name for --num-speculative-tokens, "
        "or write num_speculative_tokens in --speculative-config.",
    ),
    SGLANG + "--speculative-algoritm EAGLE3 --speculative-num-steps 3": ("SC101", "Did you mean --speculative-algorithm?"),
}  # fmt: skip


@pytest.mark.parametrize("launch", ROOTS)
def test_the_root_alone_is_told(launch: str) -> None:
    found = lint_text(launch + "\n", vllm="0.33.0", sglang="0.5.20").all_findings
    assert [(f.code, f.fix) for f in found if f.severity is not Severity.INFO] == [ROOTS[launch]]


def test_what_depends_on_it_is_not_checked() -> None:
    result = lint_text(VLLM + "--spec-method eagl3 --spec-tokens 3\n", vllm="0.33.0")
    missing = {fact for row in result.launches[0].not_checked for fact in row.missing}
    assert "the value of speculative_config.method" in missing


@pytest.mark.parametrize(
    "launch",
    [
        VLLM + "--spec-method eagle3 --spec-tokens 3",  # nothing misspelt: the draft is missing
        VLLM + """-sc '{"method":"eagle3","num_speculative_tokens":3,"flibbert":1}'""",  # not near to anything
    ],
)
def test_what_is_said_clearly_is_judged(launch: str) -> None:
    assert "SC204" in [f.code for f in lint_text(launch + "\n", vllm="0.33.0").all_findings]
