"""Facts that TensorRT-LLM's rules compute: two models or one, the rows of a schedule, static trees, DSpark heads."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.engines.tensorrt_llm.derived import DERIVATIONS
from specconf.facts import Fact, Known, Missing, OneOf


class Written:
    """Facts from a plain table; what is not in it is not known."""

    def __init__(self, known: dict[str, Any]) -> None:
        self.known = known

    def get(self, path: str) -> Fact:
        value = self.known.get(path, Missing(path))
        return value if isinstance(value, Missing | OneOf) else Known(value)


def derived(name: str, **known: Any) -> Fact:
    table = {f"option.speculative_config.{key}": value for key, value in known.items() if "." not in key}
    table |= {key: value for key, value in known.items() if "." in key}
    return DERIVATIONS[name](Written(table))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("known", "answer"),
    [
        ({"decoding_type": "DraftTarget"}, Known(True)),
        ({"decoding_type": "Draft_Target"}, Known(False)),
        ({"decoding_type": "Eagle", "eagle3_one_model": False}, Known(True)),
        ({"decoding_type": "Eagle3", "eagle3_one_model": True}, Known(False)),
        ({"decoding_type": OneOf(("Eagle", "Eagle3")), "eagle3_one_model": False}, Known(True)),
        ({"decoding_type": OneOf(("DraftTarget", "Draft_Target"))}, OneOf((True, False))),
        ({"decoding_type": "MTP", "mtp_eagle_one_model": True}, Known(False)),
        ({"decoding_type": "NGram"}, Known(False)),
    ],
)
def test_which_launches_run_the_draft_in_an_engine_of_its_own(known: dict[str, Any], answer: Fact) -> None:
    assert derived("two_model", **known) == answer


@pytest.mark.parametrize(
    ("vanilla", "layers", "answer"),
    [
        (False, 1, Known(True)),
        (True, 1, Known(False)),
        (False, 3, Known(False)),
        (False, Missing("target.mtp_layers"), Missing("target.mtp_layers")),
    ],
)
def test_two_model_mtp_replays_one_layer(vanilla: bool, layers: Any, answer: Fact) -> None:
    asked = {"decoding_type": "MTP", "mtp_eagle_one_model": False, "use_mtp_vanilla": vanilla}
    assert derived("two_model", **asked, **{"target.mtp_layers": layers}) == answer


def test_a_schedule_is_read_by_batch_size_whatever_its_order() -> None:
    asked = {"draft_len_schedule@upper": {"32": 1, "4": 3, "8": 2}}
    named = ("first_batch", "first", "last", "longest", "shortest")
    assert [derived(f"schedule_{name}", **asked) for name in named] == [Known(n) for n in (4, 3, 1, 3, 1)]


def test_no_schedule_has_no_numbers_and_a_wrong_one_unknown_ones() -> None:
    nothing = {"draft_len_schedule@upper": None, "draft_len_schedule@lower": None}
    assert derived("schedule_first", **nothing) == Known(None)
    assert isinstance(derived("schedule_first", **{"draft_len_schedule@lower": {"four": 3}}), Missing)
    assert isinstance(derived("schedule_first", **{"draft_len_schedule@upper": {"4": True}}), Missing)


def test_a_static_tree_has_a_depth_a_size_and_is_connected_or_not() -> None:
    tree = {"eagle_choices": [[0], [1], [0, 0], [0, 0]]}
    assert derived("static_tree_depth", **tree) == Known(2)
    assert derived("static_tree_size", **tree) == Known(3)  # what is written twice counts once
    assert derived("static_tree_connected", **tree) == Known(True)
    assert derived("static_tree_connected", eagle_choices=[[0], [1, 0]]) == Known(False)
    assert derived("static_tree_depth", eagle_choices=None) == Known(None)
    assert isinstance(derived("static_tree_depth", eagle_choices="mc_sim"), Missing)


@pytest.mark.parametrize(
    ("config", "block"),
    [
        ({"dspark_config.block_size": 5}, Known(5)),
        ({"dspark_config.block_size": None, "dflash_config.block_size": 4}, Known(4)),
        ({"dspark_config.block_size": None, "dflash_config.block_size": None, "dspark_block_size": 6}, Known(6)),
        (
            {
                "dspark_config.block_size": None,
                "dflash_config.block_size": None,
                "dspark_block_size": None,
                "block_size": None,
            },
            Known(3),
        ),
        ({}, Missing("draft.config.dspark_config.block_size")),
    ],
)
def test_the_block_of_a_dspark_head_by_the_spellings_of_its_config(config: dict[str, Any], block: Fact) -> None:
    model = {f"draft.config.{key}": value for key, value in config.items()}
    assert derived("dspark_block", block_size=None, max_draft_len=3, **model) == block


def test_a_written_block_counts_before_the_checkpoint() -> None:
    assert derived("dspark_block", block_size=7, **{"draft.config.dspark_config.block_size": 5}) == Known(7)


def test_an_eagle_3_1_head_is_known_by_its_norms() -> None:
    assert derived("eagle_3_1_head", **{"draft.config.fc_norm": True}) == Known(True)
    assert derived("eagle_3_1_head", **{"draft.config.fc_norm": None, "draft.config.norm_output": True}) == Known(True)
    assert derived("eagle_3_1_head", **{"draft.config.fc_norm": None, "draft.config.norm_output": False}) == Known(
        False
    )
    assert isinstance(derived("eagle_3_1_head"), Missing)
