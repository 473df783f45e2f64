"""What SGLang fills in by the memory of a GPU, in each form that it has had: figures that the engine itself gave."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import Database
from specconf.engines.sglang import ENGINE
from specconf.facts import Effective, Known, Missing, OneOf
from specconf.rules.probes import run_probe

TEXT = {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}
EAGLE = ("--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "d")
DECODE, PREFILL = (("--disaggregation-mode", mode) for mode in ("decode", "prefill"))
SHARE, CHUNK, LARGEST = "mem_fraction_static", "chunked_prefill_size", "cuda_graph_max_bs_decode"


def _effective(database: Database, release: str, gpu: str | None, *argv: str, **more: Any) -> dict[str, Effective]:
    probe = {
        "release": release,
        "argv": ["python", "-m", "sglang.launch_server", "--model-path", "t", *argv],
        "target": TEXT,
        "draft": {"architectures": ["LlamaForCausalLMEagle"], "model_type": "llama"},
        "facts": {} if gpu is None else {"hardware.gpu": gpu},
        **more,
    }
    return run_probe(database, ENGINE, probe)[1].result.effective


@pytest.mark.parametrize(
    ("release", "gpu", "argv", "share", "chunk"),
    [
        ("0.4.4.post3", "H100", ("--tp-size", "8"), 0.81, 8192),
        ("0.4.9.post6", "H200", EAGLE, 0.897, 8192),
        ("0.4.9.post6", "H200", (*EAGLE, "--tp-size", "8"), 0.872, 8192),
        ("0.4.9.post6", "H200", (*EAGLE, "--tp-size", "4", *DECODE), 0.886, 8192),
        ("0.4.9.post6", "H200", ("--tp-size", "2", *PREFILL), 0.907, 8192),
        ("0.5.6.post2", "B200", ("--tp-size", "2", *PREFILL), 0.856, 16384),
        ("0.5.12", "H100", EAGLE, 0.779, 8192),
        ("0.5.14", "H100", EAGLE, 0.83, 8192),
        ("0.5.23", "H100", ("--pp-size", "2"), 0.834, 8192),
        ("0.5.23", "B200", EAGLE, 0.854, 16384),
        ("0.5.19", "B200", (*EAGLE, "--enable-dp-attention"), 0.841, 16384),
        ("0.5.23", "B200", (*EAGLE, "--enable-dp-attention"), 0.854, 16384),
    ],
)
def test_share_and_prefill_size(
    database: Database, release: str, gpu: str, argv: tuple[str, ...], share: float, chunk: int
) -> None:
    found = _effective(database, release, gpu, *argv)
    assert found[CHUNK].value == Known(chunk)
    assert isinstance(found[SHARE].value, Known)
    assert found[SHARE].value.value == pytest.approx(share, abs=5e-4)


def test_a_share_that_is_written_stays(database: Database) -> None:
    assert _effective(database, "0.5.23", "H100", "--mem-fraction-static", "0.7")[SHARE].value == Known(0.7)


def test_without_a_gpu_nothing_is_known(database: Database) -> None:
    found = _effective(database, "0.5.23", None, *EAGLE)
    for path in (SHARE, CHUNK, LARGEST, "cuda_graph_bs_decode"):
        value = found[path].value
        assert isinstance(value, Missing)
        assert value.needs == "hardware.gpu"


def test_a_name_of_several_sizes_leaves_both(database: Database) -> None:
    found = _effective(database, "0.5.23", "A100")
    assert found[CHUNK].value == OneOf((4096, 8192))
    assert isinstance(found[SHARE].value, Missing)


def test_a_target_with_images_leaves_the_share_open(database: Database) -> None:
    target = {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "model_type": "gemma3",
        "vision_config": {"depth": 1},
    }
    found = _effective(database, "0.5.12", "H100", target=target)
    assert isinstance(found[SHARE].value, Missing)
    assert found[CHUNK].value == Known(8192)


@pytest.mark.parametrize(
    ("release", "argv", "largest", "sizes"),
    [
        ("0.5.23", ("--cuda-graph-max-bs-decode", "20"), 20, [1, 2, 4, 8, 12, 16, 20]),
        ("0.5.23", (*EAGLE, "--cuda-graph-max-bs-decode", "13"), 13, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13]),
        ("0.5.9", (*EAGLE, "--cuda-graph-max-bs", "13"), 13, [1, 2, 3, 4, 5, 6, 7, 8, 10, 12]),
        ("0.5.23", ("--max-running-requests", "3"), 3, [1, 2, 3]),
        ("0.5.21", ("--max-running-requests", "3", "--cuda-graph-max-bs-decode", "2"), 2, [1, 2]),
        ("0.5.23", ("--cuda-graph-max-bs-decode", "4", "--disable-cuda-graph-padding"), 4, [1, 2, 3, 4]),
        ("0.5.23", ("--cuda-graph-bs-decode", "1", "7"), 7, [1, 7]),
    ],
)
def test_sizes_of_decode_graphs(
    database: Database, release: str, argv: tuple[str, ...], largest: int, sizes: list[int]
) -> None:
    found = _effective(database, release, "H100", *argv)
    assert found[LARGEST].value == Known(largest)
    assert found["cuda_graph_bs_decode"].value == Known(sizes)


def test_a_limit_of_running_requests_holds_whatever_the_size_of_the_card(database: Database) -> None:
    assert _effective(database, "0.5.23", "A100", "--max-running-requests", "24")[LARGEST].value == Known(24)
    assert _effective(database, "0.5.23", "A100", "--max-running-requests", "64")[LARGEST].value == OneOf((32, 64))


def test_a_config_of_graphs_in_json_is_not_second_guessed(database: Database) -> None:
    found = _effective(database, "0.5.23", "H100", "--cuda-graph-config", '{"decode": {"backend": "disabled"}}')
    assert "cuda_graph_backend_decode" not in found
    assert isinstance(found[SHARE].value, Missing)
