"""Whole deployments at several releases: what is written, what the engine does, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import Database
from specconf.findings import Severity
from tests.engines.sglang.support import checkpoints, command, in_force, judge

KNOWN = checkpoints()
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
SMALL = "meta-llama/Llama-3.2-1B-Instruct"
DRAFT_MODEL: dict[str, Any] = {
    "target.model": LLAMA,
    "speculation.method": "draft_model",
    "speculation.num_draft_tokens": 4,
    "speculation.draft.model": SMALL,
    "serving.memory_fraction": 0.7,
    "serving.cuda_graph_max_batch": 8,
}
TREE: dict[str, Any] = {
    "target.model": LLAMA,
    "target.max_model_len": 2048,  # what the head takes
    "speculation.method": "eagle",
    "speculation.num_draft_tokens": 4,
    "speculation.draft.model": "yuhuili/EAGLE-LLaMA3.1-Instruct-8B",
    "speculation.tree.topk": 4,
    "speculation.tree.num_verify_tokens": 8,
    "serving.overlap_schedule": True,
    "hardware.gpu": "H100",
}


@pytest.mark.parametrize(
    ("release", "graph"), [("0.5.23", "--cuda-graph-max-bs-decode"), ("0.5.10", "--cuda-graph-max-bs")]
)
def test_a_draft_model(database: Database, release: str, graph: str) -> None:
    view = database.at(release)
    judgement = judge(DRAFT_MODEL, view, KNOWN)
    assert not judgement.errors
    assert command(judgement, view) == (
        [
            *("--model-path", LLAMA, "--mem-fraction-static", "0.7", graph, "8"),
            *("--speculative-algorithm", "STANDALONE", "--speculative-draft-model-path", SMALL),
            *("--speculative-num-steps", "4", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "5"),
        ],
        {},
    )


def _vocabulary(database: Database, release: str) -> Any:
    fields = {
        "target.model": "Qwen/Qwen2.5-7B-Instruct",
        "speculation.method": "draft_model",
        "speculation.num_draft_tokens": 4,
        "speculation.draft.model": "Qwen/Qwen2.5-1.5B-Instruct",
    }
    return judge(fields, database.at(release), KNOWN)


def test_vocabularies_that_differ_are_refused_by_the_newest_release(database: Database) -> None:
    (error,) = _vocabulary(database, "0.5.23").errors
    assert error.code == "SC302"
    assert "152064" in error.message
    assert "151936" in error.message


def test_vocabularies_that_differ_are_accepted_with_a_warning_before(database: Database) -> None:
    judgement = _vocabulary(database, "0.5.10")
    assert not judgement.errors
    assert [f.severity for f in judgement.findings if f.code == "SC302"] == [Severity.WARNING]


def test_a_tree_with_the_overlap_scheduler_is_refused(database: Database) -> None:
    view = database.at("0.5.10")
    judgement = judge(TREE, view, KNOWN)
    (error,) = judgement.errors
    assert (error.code, error.constraint) == ("SC205", "sglang/overlap-topk")
    assert error.releases == "[0.5.7, 0.5.11)"
    assert command(judgement, view)[1] == {"SGLANG_ENABLE_SPEC_V2": "1"}


@pytest.mark.parametrize("release", ["0.5.11", "0.5.12", "0.5.12.post1"])
def test_a_tree_switches_the_overlap_scheduler_off(database: Database, release: str) -> None:
    judgement = judge(TREE, database.at(release), KNOWN)
    assert not judgement.errors
    warnings = [f.constraint for f in judgement.findings if f.severity is Severity.WARNING]
    # The second is about the head, whose config names the class of a whole model.
    assert warnings == ["sglang/overlap-topk-falls-back", "sglang/head-under-a-model-s-name"]
    assert in_force(judgement, "disable_overlap_schedule") is True


@pytest.mark.parametrize("release", ["0.5.13", "0.5.14", "0.5.23"])
def test_a_tree_runs_with_the_overlap_scheduler(database: Database, release: str) -> None:
    view = database.at(release)
    judgement = judge(TREE, view, KNOWN)
    # This head names the class of a whole model in its config, which is another matter.
    assert not [f for f in judgement.findings if f.severity is not Severity.INFO and f.code != "SC303"]
    argv, env = command(judgement, view)
    assert argv[-6:] == [
        *("--speculative-num-steps", "4", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "8")
    ]
    assert bool(env) is (release == "0.5.13")


def test_a_tree_without_verify_tokens_says_what_to_write(database: Database) -> None:
    fields = {name: value for name, value in TREE.items() if not name.endswith("num_verify_tokens")}
    (error,) = judge(fields, database.at("0.5.23"), KNOWN).errors
    assert "speculation.tree.num_verify_tokens" in error.fix
    assert "from 5 to 53" in error.fix


def test_mtp_on_a_target_without_mtp_layers(database: Database) -> None:
    fields = {"target.model": LLAMA, "speculation.method": "mtp", "speculation.num_draft_tokens": 2}
    judgement = judge(fields, database.at("0.5.23"), KNOWN)
    about = [(f.code, f.severity, f.constraint) for f in judgement.findings if f.code == "SC301"]
    assert about == [
        ("SC301", Severity.ERROR, ""),
        ("SC301", Severity.WARNING, "sglang/mtp-no-layers"),
    ]


OVERLAP = [
    ("eagle", True, "0.5.3.post1", "refused"),
    ("eagle", True, "0.5.3.post2", ["--enable-beta-spec"]),
    ("eagle", True, "0.5.4", ["--enable-beta-spec"]),
    ("eagle", True, "0.5.4.post1", {"SGLANG_ENABLE_SPEC_V2": "1"}),
    ("eagle", True, "0.5.13.post1", {"SGLANG_ENABLE_SPEC_V2": "1"}),
    ("eagle", True, "0.5.14", []),
    ("draft_model", True, "0.5.7", "refused"),
    ("draft_model", True, "0.5.8", {"SGLANG_ENABLE_SPEC_V2": "1"}),
    ("eagle", False, "0.5.10.post1", {"SGLANG_ENABLE_SPEC_V2": "0"}),
    ("eagle", False, "0.5.11", ["--disable-overlap-schedule"]),
    ("eagle", False, "0.5.23", ["--disable-overlap-schedule"]),
    ("none", False, "0.5.6", ["--disable-overlap-schedule"]),
    ("none", True, "0.5.6", []),
]


@pytest.mark.parametrize(("method", "value", "release", "expected"), OVERLAP)
def test_the_overlap_scheduler_by_release(
    database: Database, method: str, value: bool, release: str, expected: Any
) -> None:
    fields: dict[str, Any] = {"target.model": LLAMA, "speculation.method": method, "serving.overlap_schedule": value}
    if method != "none":
        fields |= {"speculation.num_draft_tokens": 3, "speculation.draft.model": SMALL}
    view = database.at(release)
    judgement = judge(fields, view, KNOWN)
    refused = [f for f in judgement.findings if f.code == "SC250"]
    if expected == "refused":
        assert [f.option for f in refused] == ["serving.overlap_schedule"]
        return
    assert not refused
    argv, env = command(judgement, view)
    switches = [word for word in argv if word in {"--enable-beta-spec", "--disable-overlap-schedule"}]
    assert (switches, env) == ((expected, {}) if isinstance(expected, list) else ([], expected))
    if method != "none":
        assert in_force(judgement, "disable_overlap_schedule") in ({False, None} if value else {True})
