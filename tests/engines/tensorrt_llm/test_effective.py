"""What TensorRT-LLM ends up with: the method behind an alias, the draft length, overlap, CUDA graphs, one model or two."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from specconf.facts import Known
from specconf.rules.probes import run_probe
from tests.engines.tensorrt_llm.support import DB, ENGINE

THREE_LAYERS = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "num_hidden_layers": 4,
    "vocab_size": 1024,
    "num_nextn_predict_layers": 3,
}
HEAD = {"max_draft_len": 3, "speculative_model": "/models/head"}


def effective(release: str, speculative: dict[str, Any], path: str, **more: Any) -> Any:
    """The value in force of a path, in a launch of a target with three MTP layers."""
    text = yaml.safe_dump({"speculative_config": speculative, **more})
    argv = ["trtllm-serve", "org/target", "--config", "llm.yaml"]
    probe = {"release": release, "argv": argv, "files": {"llm.yaml": text}, "target": THREE_LAYERS}
    item = run_probe(DB, ENGINE, probe)[1].result.effective[path]
    assert isinstance(item.value, Known)
    return item.value.value


@pytest.mark.parametrize(
    ("release", "speculative", "path", "value"),
    [
        ("1.3.0rc14", {"decoding_type": "Eagle", **HEAD}, "speculative_config.decoding_type", "Eagle3"),
        ("1.2.1", {"decoding_type": "Eagle", **HEAD}, "speculative_config.decoding_type", "Eagle"),
        ("1.2.1", {"decoding_type": "AUTO"}, "speculative_config.decoding_type", "NGram"),
        ("1.2.1", {"decoding_type": "AUTO"}, "speculative_config.max_draft_len", 3),
        ("1.2.1", {"decoding_type": "AUTO"}, "speculative_config.max_concurrency", 32),
        ("1.2.1", {"decoding_type": "MTP", "max_draft_len": 3}, "speculative_config.max_draft_len", 1),
        ("1.3.0rc14", {"decoding_type": "MTP", "num_nextn_predict_layers": 2}, "speculative_config.max_draft_len", 2),
        ("1.3.0rc22", {"decoding_type": "MTP", "num_nextn_predict_layers": 2}, "speculative_config.max_draft_len", 2),
        ("1.3.0rc22", {"decoding_type": "MTP"}, "speculative_config.max_draft_len", 3),
        ("1.3.0rc14", {"decoding_type": "NGram", "max_draft_len": 3}, "disable_overlap_scheduler", True),
        (
            "1.3.0rc26",
            {"decoding_type": "Eagle3", "eagle3_one_model": False, **HEAD},
            "speculative_config.eagle3_one_model",
            True,
        ),
        (
            "1.3.0rc24",
            {"decoding_type": "Eagle3", "eagle3_one_model": False, **HEAD},
            "speculative_config.eagle3_one_model",
            False,
        ),
        ("1.3.0rc14", {"decoding_type": "SaveState", "output_directory": "/d"}, "max_batch_size", 1),
        ("1.3.0rc14", {"decoding_type": "SaveState", "output_directory": "/d"}, "disable_overlap_scheduler", True),
        ("1.3.0rc14", {"decoding_type": "SaveState", "output_directory": "/d"}, "cuda_graph_config", None),
        (
            "1.3.0rc14",
            {"decoding_type": "Eagle3", "draft_len_schedule": {4: 3, 8: 1}, **HEAD},
            "cuda_graph_config.enable_padding",
            True,
        ),
        (
            "1.3.0rc14",
            {"decoding_type": "Eagle3", "dynamic_tree_max_topK": 4, **HEAD},
            "speculative_config.use_dynamic_tree",
            True,
        ),
        (
            "1.3.0rc14",
            {"decoding_type": "Eagle3", "eagle_choices": [[0], [0, 0]], **HEAD},
            "speculative_config.max_draft_len",
            2,
        ),
        ("1.3.0rc14", {"decoding_type": "Eagle3", **HEAD}, "speculative_config.max_total_draft_tokens", 3),
        (
            "1.3.0rc24",
            {"decoding_type": "Eagle3", "use_dynamic_tree": True, "dynamic_tree_max_topK": 4, **HEAD},
            "speculative_config.max_total_draft_tokens",
            12,
        ),
    ],
)
def test_what_is_in_force(release: str, speculative: dict[str, Any], path: str, value: Any) -> None:
    assert effective(release, speculative, path) == value


def test_auto_drafts_more_tokens_in_a_small_batch() -> None:
    assert effective("1.2.1", {"decoding_type": "AUTO"}, "speculative_config.max_draft_len", max_batch_size=4) == 5


def test_guided_decoding_takes_overlap_from_a_two_model_draft() -> None:
    two = {"decoding_type": "Eagle", "eagle3_one_model": False, **HEAD}
    assert effective("1.2.1", two, "disable_overlap_scheduler", guided_decoding_backend="xgrammar") is True
    one = {"decoding_type": "Eagle", **HEAD}
    with pytest.raises(KeyError):  # nothing is written and nothing changes it
        effective("1.2.1", one, "disable_overlap_scheduler", guided_decoding_backend="xgrammar")
