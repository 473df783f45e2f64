"""Answers as they are kept: what is written reads back, and a row that proves nothing is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specconf.errors import DatabaseError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.verify.observed import Folder, Header, Observed, Row, Whose, first_words, row_of

HEADER = Header(
    engine="vllm",
    release="0.33.0",
    archive="vllm-0.33.0.tar.gz",
    sha256="ab" * 32,
    python="3.11.7",
    versions={"torch": "2.13.0"},
    plain={"cpu": {"max_num_seqs": 128, "enforce_eager": False}},
)
PLAIN = Question(("vllm", "serve", "t"), models={"t": {"vocab_size": 8}})
OTHER = Question(
    ("vllm", "serve", "t", "--max-num-seqs", "4"), {"A": "1"}, {"f.yaml": "x: 1\n"}, {"t": {"vocab_size": 8}}
)
REFUSED = Question(("vllm", "serve", "t", "--nope"))
ACCEPTED = Answer(Verdict.ACCEPTS, "config", warnings=("one", "one"))


def observed() -> tuple[Observed, dict[str, Question]]:
    said = Answer(
        Verdict.REJECTS, "parse", "SystemExit", "vllm serve: error: unrecognized arguments: --nope", "vllm/x.py:1"
    )
    rows = (
        row_of(PLAIN.key, ["twin vllm/a"], ACCEPTED, {"max_num_seqs": 128, "enforce_eager": False}),
        row_of(OTHER.key, ["array 1:2", "array 1:2"], ACCEPTED, {"max_num_seqs": 4}),
        row_of(REFUSED.key, ["probe vllm/a"], said, {}),
    )
    return Observed(HEADER, rows), {question.key: question for question in (PLAIN, OTHER, REFUSED)}


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    folder, (whole, questions) = Folder(tmp_path), observed()
    folder.write(whole, questions)
    back = folder.read("0.33.0")
    assert back.header == HEADER
    assert sorted(back.rows, key=lambda row: row.launch) == sorted(whole.rows, key=lambda row: row.launch)
    assert folder.questions() == questions
    assert folder.releases() == ["0.33.0"]


def test_only_what_differs_from_a_plain_launch_is_written(tmp_path: Path) -> None:
    whole, questions = observed()
    Folder(tmp_path).write(whole, questions)
    lines = [json.loads(line) for line in (tmp_path / "0.33.0.jsonl").read_text().splitlines()]
    by_launch = {line.get("launch"): line for line in lines}
    assert "values" not in by_launch[PLAIN.key]
    assert by_launch[OTHER.key]["values"] == {"max_num_seqs": 4}
    assert by_launch[OTHER.key]["unset"] == ["enforce_eager"]


def test_writing_twice_gives_the_same_bytes_and_forgets_launches_that_nobody_was_asked(tmp_path: Path) -> None:
    folder, (whole, questions) = Folder(tmp_path), observed()
    folder.write(whole, questions)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    folder.write(folder.read("0.33.0"), folder.questions())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first
    folder.write(replace(whole, rows=whole.rows[:1]), questions)
    assert list(folder.questions()) == [PLAIN.key]


def test_launches_of_other_releases_stay(tmp_path: Path) -> None:
    folder, (whole, questions) = Folder(tmp_path), observed()
    folder.write(whole, questions)
    folder.write(Observed(replace(HEADER, release="0.32.0"), whole.rows[:1]), {PLAIN.key: PLAIN})
    assert set(folder.questions()) == set(questions)


def test_an_unanswered_question_names_its_class(tmp_path: Path) -> None:
    folder, row = Folder(tmp_path), row_of(PLAIN.key, ["twin vllm/a"], Unanswered("no module x", "missing-package"), {})
    folder.write(Observed(HEADER, (row,)), {PLAIN.key: PLAIN})
    assert folder.read("0.33.0").rows == (row,)
    assert row.unanswered == "missing-package"


def spoiled(tmp_path: Path, number: int, **changes: Any) -> Folder:
    """The file with one of its rows changed; None takes a key away."""
    whole, questions = observed()
    Folder(tmp_path).write(whole, questions)
    path = tmp_path / "0.33.0.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    at = next(i for i, line in enumerate(lines) if i == number or (line.get("verdict") == "rejects" and number < 0))
    lines[at] = {key: value for key, value in (lines[at] | changes).items() if value is not None}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Folder(tmp_path)


@pytest.mark.parametrize("missing", ["archive", "sha256", "python", "versions"])
def test_a_file_that_does_not_say_what_ran_is_refused(tmp_path: Path, missing: str) -> None:
    with pytest.raises(DatabaseError, match="does not say what ran"):
        spoiled(tmp_path, 0, **{missing: None}).read("0.33.0")


def test_a_refusal_without_an_exception_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="names no exception"):
        spoiled(tmp_path, -1, exception=None).read("0.33.0")


def test_a_load_without_its_wheel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="no wheel that loaded it"):
        spoiled(tmp_path, -1, stage="load").read("0.33.0")


def test_a_launch_that_was_changed_afterwards_is_refused(tmp_path: Path) -> None:
    whole, questions = observed()
    Folder(tmp_path).write(whole, questions)
    path = tmp_path / "launches.jsonl"
    path.write_text(path.read_text().replace("--nope", "--other"))
    with pytest.raises(DatabaseError, match="is not what was asked"):
        Folder(tmp_path).questions()


def test_a_line_that_is_no_json_is_refused_with_its_place(tmp_path: Path) -> None:
    whole, questions = observed()
    Folder(tmp_path).write(whole, questions)
    path = tmp_path / "0.33.0.jsonl"
    path.write_text(path.read_text() + "{\n")
    with pytest.raises(DatabaseError, match=r"0\.33\.0\.jsonl:5"):
        Folder(tmp_path).read("0.33.0")


def test_messages_are_cut_to_their_first_words() -> None:
    assert first_words("usage: x\nvllm: error: " + "word " * 40) == " ".join(["word"] * 12)


def test_a_row_is_ours_if_any_of_its_origins_is() -> None:
    assert Row("k", ("array 1:1", "twin vllm/a"), Verdict.ACCEPTS, "config").whose is Whose.OWN
    assert Row("k", ("array 1:1", "corpus a.md:3"), Verdict.ACCEPTS, "config").whose is Whose.NOBODY
    assert Row("k", ("load ngram",), Verdict.ACCEPTS, "request").whose is Whose.LOADED
