"""What several files say alike is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from specconf.lint.results import told_once
from tests.lint.conftest import linted

FILES = {
    "opts.yaml": "# specconf: release vllm=0.33.0\nmax-num-seqs: 4\nno-such-option: 3\n",
    "a.sh": "# specconf: release vllm=0.33.0\nvllm serve m --config opts.yaml\nvllm serve n --config opts.yaml --no-such\n",
    "b.sh": "# specconf: release vllm=0.12.0\nvllm serve m --config opts.yaml\n",
}


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a.sh", "opts.yaml"], {"a.sh": ["--no-such"], "opts.yaml": ["--no-such-option"]}),
        (["opts.yaml", "a.sh"], {"a.sh": ["--no-such"], "opts.yaml": ["--no-such-option"]}),
        (["a.sh"], {"a.sh": ["--no-such", "--no-such-option"]}),
        # said of another release, it is another thing
        (["opts.yaml", "b.sh"], {"b.sh": ["--no-such-option"], "opts.yaml": ["--no-such-option"]}),
    ],
)
def test_a_finding_about_an_option_file_is_told_once(
    tmp_path: Path, names: list[str], told: dict[str, list[str]]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    results = [linted(tmp_path / name) for name in names]
    told_once(results)
    found = {Path(r.path).name: sorted(f.option for f in r.all_findings if f.code == "SC101") for r in results}
    assert found == told
