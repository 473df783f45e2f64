"""What SGLang reads in the config of a draft that proposes whole blocks, and the context lengths of both models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from specconf.engines.sglang.derived import DERIVATIONS
from specconf.facts import Fact, Facts, Known, Missing

GOOD = {"dflash_config": {"mask_token_id": 5, "target_layer_ids": [1, 4]}, "block_size": 8}
TARGET = {"num_layers": 8, "vocab_size": 1024, "config": {}}


class Launch:
    """The facts of a launch with these two models; a key that a complete config does not have is known to be absent."""

    def __init__(
        self, draft: Mapping[str, Any], target: Mapping[str, Any] = TARGET, *, complete: bool = True, **options: Any
    ) -> None:
        self._tree = {"draft": draft, "target": target, "option": options}
        self._complete = complete

    def get(self, path: str) -> Fact:
        """The fact at a path."""
        value: Any = self._tree
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return Known(value) if value is not None or self._complete else Missing(path)


def derived(name: str, launch: Launch) -> Fact:
    """A derived fact of a launch."""
    return DERIVATIONS[name](cast(Facts, launch))


def with_config(**config: Any) -> Launch:
    """A launch whose draft has this config, with a good DFlash section where none is given."""
    return Launch({"config": {**GOOD, **config}})


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        ({"target_layer_ids": []}, "target_layer_ids is empty"),
        ({"target_layer_ids": 3}, "target_layer_ids is no list of layers"),
        ({"mask_token": ""}, "mask_token is no text"),
        ({"mask_token_id": True}, "mask_token_id is no token's number"),
        ({"mask_token_id": -1}, "mask_token_id is no token's number"),
        ({"block_size": 0}, "block_size is no positive number"),
    ],
)
def test_a_section_that_the_engine_cannot_read(section: dict[str, Any], fault: str) -> None:
    assert derived("block_draft_faults", with_config(dflash_config=section)) == Known([fault])


def test_a_good_config_has_no_faults() -> None:
    names = ("block_draft_faults", "block_draft_misfits", "block_draft_faults_later")
    assert [derived(name, with_config()) for name in names] == [Known([])] * 3


def test_layers_and_mask_token_must_fit_the_target() -> None:
    found = derived("block_draft_misfits", with_config(dflash_config={"target_layer_ids": [8], "mask_token_id": 1024}))
    assert found == Known(
        [
            "target_layer_ids names a layer that the target does not have",
            "mask_token_id is outside the target's vocabulary",
        ]
    )


def test_layers_of_a_looped_target_are_not_judged_by_its_depth() -> None:
    launch = Launch({"config": {"dflash_config": {"target_layer_ids": [8]}}}, {**TARGET, "config": {"num_loops": 2}})
    assert derived("block_draft_misfits", launch) == Known([])


def test_a_config_of_which_little_is_known_leaves_it_open() -> None:
    assert isinstance(derived("block_draft_faults", Launch({"config": {}}, complete=False)), Missing)


def test_the_block_of_dspark_is_looked_for_where_the_engine_looks() -> None:
    places = [with_config(dspark_block_size=5), with_config(dflash_config={"block_size": 6}), with_config(), Launch({})]
    assert [derived("draft_gamma", one) for one in places] == [Known(5), Known(6), Known(8), Known(None)]
    assert derived("draft_block", places[0]) == Known(8)


def test_a_config_that_cannot_be_read_gives_no_block() -> None:
    assert derived("draft_block", with_config(dflash_config={"target_layer_ids": []})) == Known(None)


def test_the_head_of_a_dspark_draft_counts_where_a_release_looks() -> None:
    section = {"markov_rank": 4, "markov_head_type": "vanilla", "mask_token_id": 5}
    launch = with_config(dflash_config=section)
    assert derived("dspark_faults", launch) == Known([])
    assert derived("dspark_faults_early", launch) == Known(["markov_rank is not positive"])


@pytest.mark.parametrize(
    ("rope", "length"),
    [
        ({"rope_type": "default"}, 512),
        ({"rope_type": "llama3", "rope_factor": 8}, 512),
        ({"rope_type": "linear", "rope_factor": 4}, 2048),
        ({"rope_type": "yarn", "rope_factor": 4, "rope_original_length": 128}, 512),
    ],
)
def test_the_context_of_a_draft(rope: dict[str, Any], length: int) -> None:
    launch = Launch({"max_position_embeddings": 512, "config": {}, **rope})
    assert derived("draft_context", launch) == Known(length)


def test_a_written_context_is_the_targets() -> None:
    assert derived("served_context", Launch({}, context_length=4096)) == Known(4096)
    assert derived("served_context", Launch({}, {"max_position_embeddings": 512, "rope_type": "default"})) == Known(512)
