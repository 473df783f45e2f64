"""The line that is shown under a finding: the mark stands under its place, and a long line is read through once."""

from __future__ import annotations

import click
import pytest

from specconf.report import lint_text
from specconf.report.lint_text import excerpt
from specconf.words import Span


def _mark(line: str, column: int, end: int) -> str:
    shown = list(excerpt([line], Span("run.sh", 1, column, 1, end)))
    return click.unstyle(shown[1]).partition("| ")[2]


@pytest.mark.parametrize(
    ("line", "word", "before"),
    [
        ("vllm serve --bad", "--bad", 11),
        ("\tvllm serve --bad\r", "--bad", 12),
        ("# 日本語 --bad", "--bad", 9),
        ("e\N{COMBINING ACUTE ACCENT} --bad", "--bad", 2),
        ("HF_TOKEN=hf_abcdefghijkl vllm --bad", "--bad", 30),
    ],
)
def test_the_mark_stands_under_its_place(line: str, word: str, before: int) -> None:
    column = line.index(word) + 1
    assert _mark(line, column, column + len(word)) == " " * before + "^" * len(word)


def test_wide_characters_are_marked_over_their_whole_width() -> None:
    assert _mark("x 日本", 3, 5) == "  ^^^^"


def test_a_place_at_the_end_of_a_line_has_a_mark() -> None:
    assert _mark("x:", 3, 3) == "  ^"


def test_a_line_with_many_findings_is_masked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    masked: list[str] = []
    monkeypatch.setattr(lint_text, "masked", lambda line: masked.append(line) or line)
    line = "vllm serve " + " ".join(f"--no-such-{i}" for i in range(200))
    for column in range(1, 200):
        list(excerpt([line], Span("run.sh", 1, column, 1, column + 1)))
    assert len(masked) == 1
