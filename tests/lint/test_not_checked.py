"""Options of which nothing is known are one line for a release, however many launches write them."""

from __future__ import annotations

from specconf.findings import Severity
from specconf.report.text import not_checked_lines
from tests.lint.conftest import lint_text

FILE = """\
# tensorrt-llm
kv_cache_config:
  free_gpu_memory_fractio: 0.5
print_iter_log: true
flibbert_gibbet: 3
moe_config:
  quibble: 1
"""


def test_options_that_are_known_in_part_are_told_once() -> None:
    result = lint_text(FILE, "opts.yaml", **{"tensorrt-llm": "1.3.0rc14"})
    (finding,) = result.all_findings  # one that comes close to another is worth a line of its own
    assert (finding.severity, finding.option) == (Severity.INFO, "free_gpu_memory_fractio")
    undecided = list(result.launches[0].not_checked)
    told = [line for line in not_checked_lines([*undecided, *undecided], verbose=False) if "options" in line]
    assert told == [
        "not checked: whether tensorrt-llm 1.3.0rc14 has flibbert_gibbet, print_iter_log, quibble: "
        "its options are known only in part (2 launches)"
    ]
