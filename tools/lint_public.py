"""Lints whole repositories and holds the result against a text search: flags that stand in no launch, a sample to judge.

    python tools/lint_public.py FOLDER... [--sample N] [--seed N]

For each folder: files by format, launches by engine and by where their release was found, findings by code; then every line
that holds a flag or key of speculation and is in no launch that was found, by the kind of file and the reason that can be told
(a comment, a text that is no launch, a kind of file that is not read). `--sample` prints that many findings by chance, with
their lines, for a person to judge.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from specconf.compat.database import load_database  # noqa: E402  # the checkout's own package, wherever it is started
from specconf.lint.files import around, candidates, read_bytes  # noqa: E402
from specconf.lint.run import FileResult, Linter  # noqa: E402
from specconf.report.lint_text import excerpt  # noqa: E402
from tests.lint.conftest import models  # noqa: E402

FLAG = re.compile(
    r"--speculative[-_a-z.]+|(?<![\w-])-sc(?=[\s.=])|--spec-(?:method|model|tokens)|\bspeculative[-_](?:config|algorithm|num_steps|"
    r"eagle_topk|draft_model_path|num_draft_tokens)\b|\bdecoding_type\b"
)
COMMENT = re.compile(r"^\s*(?:#|//|;|::|rem\b|<!--)", re.IGNORECASE)


def covered(result: FileResult) -> set[int]:
    """The lines of a file that a launch, one of its words, or a file that it reads stands on."""
    lines: set[int] = set()
    for launch in result.launches:
        spans = [launch.read.launch.span, *(word.span for word in launch.read.launch.argv)]
        settings = launch.settings.items_by_path.values() if launch.settings else ()
        spans += [written.where for setting in settings for written in setting.written]
        for span in spans:
            if span is not None and span.line and span.path == result.path:
                lines.update(range(span.line, max(span.line, span.end_line) + 1))
        lines.update(word.span.line for word in launch.read.orphans if word.span)
    return lines


def main() -> int:
    """Print the account of every folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--missed", type=int, default=20, help="how many missed lines to show of each kind")
    given = parser.parse_args()
    linter = Linter(load_database, models)
    for folder in given.folders:
        results = []
        for candidate in candidates([folder]):
            data = read_bytes(candidate)
            if isinstance(data, bytes):
                results.append(linter.file(candidate.path, data, around(candidate.path)))
        account(folder, results, given)
    return 0


def account(folder: str, results: list[FileResult], given: argparse.Namespace) -> None:
    """One folder."""
    launches = [(result, launch) for result in results for launch in result.launches]
    print(f"== {folder}: {len(results)} files, {len(launches)} launches")
    print("formats with launches:", dict(Counter(result.format for result, _ in launches).most_common()))
    print("engines:", dict(Counter(launch.read.launch.engine for _, launch in launches).most_common()))
    print("release from:", dict(Counter(launch.chosen.how for _, launch in launches).most_common()))
    findings = [(result, f) for result in results for f in result.all_findings]
    print("findings:", dict(Counter(f"{f.severity} {f.code}" for _, f in findings).most_common()))
    hits, inside = 0, 0
    missed: dict[str, list[str]] = {}
    for result in results:
        text = result.text
        if not text:
            try:
                text = Path(result.path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
        lines = covered(result)
        for number, line in enumerate(text.split("\n"), 1):
            if not FLAG.search(line):
                continue
            hits += 1
            if number in lines:
                inside += 1
                continue
            kind = Path(result.path).suffix or Path(result.path).name
            why = "comment" if COMMENT.match(line) else result.skipped or f"in no launch ({result.format})"
            missed.setdefault(f"{kind}: {why}", []).append(f"{result.path}:{number}: {line.strip()[:110]}")
    print(f"lines with a flag or key of speculation: {hits}; in a launch that was found: {inside}")
    for why, places in sorted(missed.items(), key=lambda row: -len(row[1])):
        print(f"  {len(places):5} {why}")
        for place in random.Random(given.seed).sample(places, min(given.missed, len(places))):  # noqa: S311
            print(f"          {place}")
    for result, finding in random.Random(given.seed).sample(findings, min(given.sample, len(findings))):  # noqa: S311
        print(f"-- {finding.severity} {finding.code} {finding.message} [{finding.where}]")
        print("\n".join(excerpt(result.text, finding.where)))


if __name__ == "__main__":
    sys.exit(main())
