"""What every engine derives under one name, so that a constraint can be written once for all of them."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.engines.base import default_fact
from specconf.engines.common import ASKED_OF_ENGINES, in_words_of_the_spec
from specconf.engines.registry import get_engine
from specconf.facts import Context, Fact, Facts, Known, Missing, OneOf
from specconf.rules.probes import probe_launch, probe_models

VLLM = ["vllm", "serve", "t"]
SGLANG = ["python", "-m", "sglang.launch_server", "--model-path", "t"]
TRTLLM = ["trtllm-serve", "t", "--config", "llm.yaml"]
RELEASES = {"vllm": "0.33.0", "sglang": "0.5.23", "tensorrt-llm": "1.3.0rc14"}


def derived(engine: str, name: str, *words: str, config: str = "", **models: Any) -> Fact:
    """A derived fact of a launch; `config` is what stands in TensorRT-LLM's option file."""
    parts, database = get_engine(engine), load_database(engine)
    start = {"vllm": VLLM, "sglang": SGLANG, "tensorrt-llm": TRTLLM}[engine]
    launch = probe_launch(engine, {"argv": [*start, *words], "files": {"llm.yaml": config} if config else {}})
    view = database.at(RELEASES[engine])
    pair = probe_models(models)
    facts = Facts(
        parts.resolve(launch, view),
        Context(pair.target, pair.draft, {}, None),
        default=default_fact(view),
        derivations=parts.derivations,
        model_path=parts.model_path,
        draft_path=parts.draft_path,
    )
    return facts.get(f"derived.{name}")


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_every_engine_derives_the_common_facts(name: str) -> None:
    assert set(ASKED_OF_ENGINES) <= get_engine(name).derivations.keys()


@pytest.mark.parametrize(
    ("engine", "words", "config", "method"),
    [
        ("vllm", [], "", None),
        ("vllm", ["--speculative-config", '{"method":"eagle","model":"d","num_speculative_tokens":3}'], "", "eagle"),
        ("vllm", ["--speculative-config", '{"method":"ngram_gpu","num_speculative_tokens":3}'], "", "ngram"),
        ("sglang", [], "", None),
        ("sglang", ["--speculative-algorithm", "nextn"], "", "mtp"),
        ("sglang", ["--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "d"], "", "eagle"),
        ("sglang", ["--speculative-algorithm", "EAGLE", "--speculative-draft-model-path", "t"], "", "mtp"),
        ("sglang", ["--speculative-algorithm", "STANDALONE", "--speculative-draft-model-path", "d"], "", "draft_model"),
        ("sglang", ["--speculative-algorithm", "UNO"], "", "uno"),
        ("tensorrt-llm", [], "{}", None),
        ("tensorrt-llm", [], "speculative_config: {decoding_type: Draft_Target, speculative_model: d}", "draft_model"),
        ("tensorrt-llm", [], "speculative_config: {decoding_type: MTP}", "mtp"),
    ],
)
def test_what_drafts_is_told_in_the_words_of_the_spec(
    engine: str, words: list[str], config: str, method: str | None
) -> None:
    assert derived(engine, "spec_method", *words, config=config) == Known(method)


@pytest.mark.parametrize(
    ("engine", "words", "length"),
    [
        ("vllm", [], 512),
        ("vllm", ["--max-model-len", "128"], 128),
        ("sglang", [], 512),
        ("sglang", ["--context-length", "128"], 128),
        ("tensorrt-llm", ["--max_seq_len", "128"], 128),
    ],
)
def test_a_launch_serves_what_it_asks_for_or_what_the_target_can(engine: str, words: list[str], length: int) -> None:
    target = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 512}
    config = "{}" if engine == "tensorrt-llm" else ""
    assert derived(engine, "served_length", *words, config=config, target=target) == Known(length)


@pytest.mark.parametrize(
    ("words", "quantization"),
    [
        ([], None),
        (["--quantization", "awq"], "awq"),
        (["--quantization", "awq", "--speculative-draft-model-quantization", "unquant"], None),
        (["--quantization", "awq", "--speculative-draft-model-quantization", "fp8"], "fp8"),
    ],
)
def test_a_draft_of_sglang_takes_over_how_the_target_is_read(words: list[str], quantization: str | None) -> None:
    assert derived("sglang", "draft_quantization", *words) == Known(quantization)


def _of_size(vocabulary: int | None) -> dict[str, Any]:
    sized = {} if vocabulary is None else {"vocab_size": vocabulary}
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **sized}


@pytest.mark.parametrize(
    ("draft", "differs", "another"), [(1000, False, False), (1024, True, False), (3000, True, True)]
)
def test_vocabularies_of_two_sizes_may_be_one_that_is_padded(draft: int, differs: bool, another: bool) -> None:
    words = ["--speculative-algorithm", "STANDALONE", "--speculative-draft-model-path", "d"]
    sizes = {"target": _of_size(1000), "draft": _of_size(draft)}
    assert derived("sglang", "draft_vocab_differs", *words, **sizes) == Known(differs)
    assert derived("sglang", "draft_vocab_is_another", *words, **sizes) == Known(another)


def test_a_vocabulary_that_is_not_known_is_no_other_one() -> None:
    words = ["--speculative-algorithm", "STANDALONE", "--speculative-draft-model-path", "d"]
    found = derived("sglang", "draft_vocab_differs", *words, target=_of_size(1000), draft=_of_size(None))
    assert isinstance(found, Missing)
    assert derived("sglang", "draft_vocab_differs", "--speculative-algorithm", "NEXTN", target=_of_size(None)) == Known(
        False
    )


def test_words_that_mean_one_method_are_no_several() -> None:
    words = {"Eagle": "eagle3"}
    assert in_words_of_the_spec(OneOf(("Eagle", "EAGLE3")), words) == Known("eagle3")
    assert in_words_of_the_spec(OneOf(("Eagle", None)), words) == OneOf(("eagle3", None))
    assert isinstance(in_words_of_the_spec(Missing("words"), words), Missing)
