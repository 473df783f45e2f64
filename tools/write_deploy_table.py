"""Writes docs/corpus/deploy-files.md: what lint finds in the deploy files of the tests, beside what a person found.

python tools/write_deploy_table.py [--check]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from specconf.findings import Severity  # noqa: E402  # the checkout's own package, wherever it is started
from tests.lint.conftest import linted  # noqa: E402

FOLDER = ROOT / "tests" / "corpus" / "deploy"
PAGE = ROOT / "docs" / "corpus" / "deploy-files.md"
HEAD = """# Deploy files

Written by `tools/write_deploy_table.py` from `tests/corpus/deploy/`: files after real shapes, and what a person found in
each. *Expected* counts the findings that are told at the right line, *false errors* the errors at lines where a person
found nothing wrong.

| file | launches | release, and from where | expected | false errors |
| --- | --- | --- | --- | --- |
"""


def rows() -> Iterator[str]:
    """One line for each file, and the sums."""
    files = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))["files"]
    launches = wanted = found = told = false = 0
    for row in files:
        result = linted(FOLDER / row["path"])
        if row["not_read"]:
            why, missed = f"{row['not_read']} is not read", len(row["expected"])
            yield f"| {row['path']} | 0 of {row['launches']} | {why} | 0 of {missed} | 0 |"
            wanted, found = wanted + row["launches"], found + len(row["expected"])
            continue
        lines = {f.where.line for f in result.all_findings if f.where is not None and f.severity is not Severity.INFO}
        hits = sum(expected["line"] in lines for expected in row["expected"])
        right = {expected["line"] for expected in row["expected"]}.union(row["beside"])
        errors = [f for f in result.all_findings if f.severity is Severity.ERROR]
        wrong = sum(f.where is None or f.where.line not in right for f in errors)
        stated = (
            "; ".join(dict.fromkeys(f"{one.chosen.text or '-'} ({one.chosen.how})" for one in result.launches)) or "-"
        )
        yield (
            f"| {row['path']} | {len(result.launches)} of {row['launches']} | {stated} "
            f"| {hits} of {len(row['expected'])} | {wrong} |"
        )
        launches, wanted = launches + len(result.launches), wanted + row["launches"]
        told, found, false = told + hits, found + len(row["expected"]), false + wrong
    yield f"| **{len(files)} files** | **{launches} of {wanted}** | | **{told} of {found}** | **{false}** |"


def main() -> int:
    """Write the page, or say whether it is as it would be written."""
    text = HEAD + "\n".join(rows()) + "\n"
    if "--check" in sys.argv:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    print(text.strip().rsplit("\n", 1)[-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
