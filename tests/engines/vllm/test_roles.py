"""Roles of one deployment: which launches are peers, and what each is told of the others."""

from __future__ import annotations

import pytest

from specconf.engines.vllm.roles import role_facts
from specconf.settings import Settings
from tests.engines.vllm import support

TRANSFER = ["--kv-transfer-config", '{"kv_connector":"NixlConnector","kv_role":"kv_both"}']


def settings(*words: str, model: str = "m") -> Settings:
    return support.ENGINE.resolve(support.launch({"argv": ["vllm", "serve", model, *words]}), support.view("0.29.0"))


def drafting(number: int) -> list[str]:
    return ["--speculative-config", f'{{"method":"mtp","num_speculative_tokens":{number}}}']


def test_each_role_is_told_of_the_other() -> None:
    prefill, decode = settings(*TRANSFER, *drafting(1)), settings(*TRANSFER, *drafting(3))
    assert role_facts([prefill, decode]) == [
        {"role.draft_length": 1, "role.peer_draft_length": 3},
        {"role.draft_length": 3, "role.peer_draft_length": 1},
    ]


def test_a_role_without_speculation_drafts_nothing() -> None:
    first, _ = role_facts([settings(*TRANSFER), settings(*TRANSFER, *drafting(3))])
    assert first == {"role.draft_length": 0, "role.peer_draft_length": 3}


@pytest.mark.parametrize(
    "other",
    [
        settings(*drafting(3)),
        settings(*TRANSFER, *drafting(3), model="another"),
        settings(*TRANSFER, "--speculative-config", '{"method":"mtp"}'),
    ],
)
def test_no_peer_or_nothing_known_of_it(other: Settings) -> None:
    assert role_facts([settings(*TRANSFER, *drafting(1)), other])[0] == {}


def test_one_launch_has_no_peers() -> None:
    assert role_facts([settings(*TRANSFER, *drafting(1))]) == [{}]
