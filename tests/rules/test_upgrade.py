"""What an upgrade does to one launch: two judgements of the same words."""

from __future__ import annotations

import pytest

from specconf.compat.database import load_database
from specconf.compat.store import load_rows
from specconf.engines.base import Models
from specconf.engines.registry import get_engine
from specconf.findings import Severity
from specconf.models import Mode, Resolver
from specconf.models.rows import RowTable
from specconf.models.view import written_models
from specconf.rules.judge import Judgement, judge_settings
from specconf.rules.upgrade import Outcome, Upgrade, compare
from specconf.words import Launch, words

VLLM = "vllm serve meta-llama/Llama-3.1-8B-Instruct"
NGRAM = """{"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":4}"""
SGLANG = "python -m sglang.launch_server --model-path"


def upgrade(engine: str, before: str, after: str, *argv: str) -> Upgrade:
    database, found = load_database(engine), get_engine(engine)
    resolver = Resolver(mode=Mode.OFFLINE, checkpoints=RowTable(load_rows("checkpoints")))
    views = database.at(before), database.at(after)

    def judged(release: str) -> Judgement:
        view = database.at(release)
        settings = found.resolve(Launch(engine, words(*argv)), view)
        models = Models(*written_models(found.model_path, found.draft_path, settings, resolver.resolve))
        return judge_settings(settings, found, view, models)

    return compare(judged(before), judged(after), found, views)


def changed(found: Upgrade) -> dict[str, tuple[object, object]]:
    return {change.path: (change.before.value, change.after.value) for change in found.changes}


def test_a_default_that_changes_is_told_though_no_flag_mentions_it() -> None:
    found = upgrade("vllm", "0.19.0", "0.20.0", *VLLM.split())
    (finding,) = [f for f in found.of(Outcome.CHANGES) if f.option == "gpu_memory_utilization"]
    assert (finding.code, finding.severity) == ("SC901", Severity.WARNING)
    assert "0.9 (its default) in 0.19.0 and is 0.92 (its default) in 0.20.0" in finding.message
    assert finding.fix == "To keep 0.9, write --gpu-memory-utilization 0.9."
    assert not found.breaks


def test_a_value_that_is_written_does_not_change() -> None:
    found = upgrade("vllm", "0.19.0", "0.20.0", *VLLM.split(), "--gpu-memory-utilization", "0.9")
    assert "gpu_memory_utilization" not in changed(found)


TRIPLE = ("speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens")


@pytest.mark.parametrize(
    ("target", "draft", "values"),
    [
        ("Qwen/Qwen3-8B", "Tengyunw/qwen3_8b_eagle3", ((5, 3), (4, 1), (8, 4))),
        ("meta-llama/Llama-3.1-8B-Instruct", "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", None),
    ],
)
def test_numbers_that_sglang_fills_in(target: str, draft: str, values: tuple[tuple[int, int], ...] | None) -> None:
    """Since 0.5.8 they are those of a chain; Llama keeps its tree."""
    argv = [*SGLANG.split(), target, "--speculative-algorithm", "EAGLE3", "--speculative-draft-model-path", draft]
    found = changed(upgrade("sglang", "0.5.7", "0.5.8", *argv))
    told = [tuple(side.values[0] for side in found[path]) for path in TRIPLE if path in found]  # type: ignore[attr-defined]
    assert told == list(values or ())


def test_an_option_that_goes_breaks_the_launch_and_its_new_name_is_told() -> None:
    argv = [*SGLANG.split(), "m/m", "--cuda-graph-max-bs", "8"]
    found = upgrade("sglang", "0.5.9", "0.5.23", *argv)
    (finding,) = found.of(Outcome.BREAKS)
    assert (finding.code, "--cuda-graph-max-bs-decode" in finding.fix) == ("SC102", True)
    assert found.breaks


def test_a_launch_that_is_refused_already_breaks_no_more() -> None:
    found = upgrade("vllm", "0.30.0", "0.33.0", *VLLM.split(), "--speculative-model", "d")
    assert not found.breaks
    assert [f.code for f in found.of(Outcome.REFUSED)] == ["SC904", "SC101"]
    assert not found.changes


def test_a_launch_that_starts_with_the_new_release_only() -> None:
    found = upgrade("vllm", "0.21.0", "0.33.0", *VLLM.split(), "--spec-method", "ngram", "--spec-tokens", "3")
    assert [f.code for f in found.of(Outcome.REFUSED)] == ["SC904"]
    assert {f.code for f in found.of(Outcome.POSSIBLE)} == {"SC903"}


def test_methods_that_only_the_new_release_has() -> None:
    found = upgrade("vllm", "0.19.0", "0.33.0", *VLLM.split(), "--speculative-config", NGRAM)
    assert any("dflash" in f.message for f in found.of(Outcome.POSSIBLE))


def test_nothing_is_told_of_the_same_release() -> None:
    found = upgrade("vllm", "0.33.0", "0.33.0", *VLLM.split(), "--speculative-config", NGRAM)
    assert (found.told, found.changes, found.uncertain) == ((), (), {})


def test_a_default_left_to_the_engine_may_change_and_no_more() -> None:
    found = upgrade("vllm", "0.19.0", "0.20.0", *VLLM.split())
    (finding,) = [f for f in found.of(Outcome.CHANGES) if f.option == "async_scheduling"]
    assert (finding.severity, " may be " in finding.message) == (Severity.INFO, True)
