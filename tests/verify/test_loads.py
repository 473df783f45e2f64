"""The launches to be loaded: whole questions, each with what a start needs."""

from __future__ import annotations

import re

import pytest

from specconf.compat.database import load_database
from specconf.verify import loads
from specconf.verify.asked import Asked

VIEW = load_database("vllm").at("0.32.0")
ALL = [*loads.methods(), *loads.examples(VIEW)]


def _by_id(asked: Asked) -> str:
    return asked.origin


def test_no_question_is_put_twice_and_no_origin_names_two() -> None:
    assert len({asked.question.key for asked in ALL}) == len(ALL)
    assert len({asked.origin for asked in ALL}) == len(ALL)


@pytest.mark.parametrize("asked", ALL, ids=_by_id)
def test_every_folder_that_a_launch_names_has_a_config(asked: Asked) -> None:
    words = " ".join(asked.question.argv)
    assert "/models/" not in words
    if "custom_class" not in words:  # its model is the name of a Python class
        assert set(re.findall(r"models/[\w.-]+", words)) <= asked.question.models.keys()


@pytest.mark.parametrize("asked", loads.methods(), ids=_by_id)
def test_the_cpu_s_kernels_take_the_heads(asked: Asked) -> None:
    for config in asked.question.models.values():
        inner = config.get("transformer_layer_config", config)
        assert isinstance(inner, dict)
        if "num_attention_heads" not in inner:  # Medusa's heads do not attend
            continue
        own = inner.get("head_dim") if inner["model_type"] not in ("qwen2", "opt") else None
        assert (own or inner["hidden_size"] // inner["num_attention_heads"]) == 32


def test_examples_are_those_of_the_release_that_show_themselves_late() -> None:
    names = {asked.origin.partition(" ")[0] for asked in loads.examples(VIEW)}
    assert "vllm/eagle3-target-without-interface" in names
    assert "vllm/synthetic-on-cpu" in names  # only a CPU shows it
    assert "vllm/padded-batch-needed" not in names  # ends before 0.31.0
    assert "vllm/aiter-shuffled-cache" not in names  # only ROCm shows it
    assert "vllm/mtp-tensors-missing" not in names  # needs tensors of its own choice


def test_a_completed_example_keeps_what_it_states() -> None:
    config = loads.completed({"model_type": "llama", "hidden_size": 96, "num_attention_heads": 3})
    assert (config["hidden_size"], config["num_attention_heads"], config["num_key_value_heads"]) == (96, 3, 3)
    assert config["head_dim"] == 32
