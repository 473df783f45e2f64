"""What the releases' own parsers say: canaries for the harness, and the launches specconf writes most often."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from engine_parser import EngineParser, HarnessError
from tiny_models import EAGLE3_HEAD, LLAMA, QWEN3, QWEN3_OTHER_VOCABULARY, QWEN3_SMALL

from specconf.oracle.asking import Answer

pytestmark = pytest.mark.engine

Parsers = Callable[[str, str], EngineParser]

TARGET, DRAFT = "Qwen/Qwen3-4B-Thinking-2507", "Qwen/Qwen3-0.6B"
MODELS = {TARGET: QWEN3, DRAFT: QWEN3_SMALL, "other/vocabulary": QWEN3_OTHER_VOCABULARY}


def vllm_launch(*words: str, **speculation: Any) -> list[str]:
    return ["vllm", "serve", TARGET, "--speculative-config", json.dumps(speculation), *words]


def draft_model(**changes: Any) -> dict[str, Any]:
    return {"method": "draft_model", "model": DRAFT, "num_speculative_tokens": 5, **changes}


@pytest.fixture(scope="module")
def vllm(engine_parser: Parsers) -> EngineParser:
    return engine_parser("vllm", "0.33.0")


@pytest.fixture(scope="module")
def sglang(engine_parser: Parsers) -> EngineParser:
    return engine_parser("sglang", "0.5.23")


def test_vllm_parses_a_draft_model_without_any_config(vllm: EngineParser) -> None:
    answer = vllm.ask(vllm_launch(**draft_model()), until="parse")
    assert answer.accepts
    assert answer.stage == "parse"
    assert answer.parsed["speculative_config"] == draft_model()


def test_vllm_builds_the_config_of_a_draft_model(vllm: EngineParser) -> None:
    answer = vllm.ask(vllm_launch(**draft_model()), models=MODELS)
    assert answer.accepts
    assert answer.stage == "config"
    assert answer.effective["speculative_config.method"] == "draft_model"
    assert answer.effective["speculative_config.num_speculative_tokens"] == 5
    assert answer.effective["speculative_config.draft_tensor_parallel_size"] == 1


VLLM_REFUSED: dict[str, tuple[list[str], str, str]] = {
    "unknown option": (vllm_launch("--no-such-option", **draft_model()), "parse", "unrecognized arguments"),
    "removed option": (["vllm", "serve", TARGET, "--speculative-model", DRAFT], "parse", "unrecognized arguments"),
    "broken JSON": (["vllm", "serve", TARGET, "--speculative-config", "{bad"], "parse", "cannot be converted"),
    "unknown method": (vllm_launch(**draft_model(method="foo")), "config", "Input should be"),
    "unknown key": (vllm_launch(**draft_model(bogus=1)), "config", "Unexpected keyword argument"),
    "no K": (vllm_launch(method="draft_model", model=DRAFT), "config", "num_speculative_tokens"),
    "K of 0": (vllm_launch(**draft_model(num_speculative_tokens=0)), "config", "greater than 0"),
    "draft TP 3": (vllm_launch(**draft_model(draft_tensor_parallel_size=3)), "config", "cannot be other value than 1"),
    "other vocabulary": (vllm_launch(**draft_model(model="other/vocabulary")), "config", "same vocabulary size"),
    "medusa": (vllm_launch(**draft_model(method="medusa")), "config", "Input should be"),
}


@pytest.mark.parametrize("name", VLLM_REFUSED)
def test_vllm_refuses(vllm: EngineParser, name: str) -> None:
    argv, stage, message = VLLM_REFUSED[name]
    refused(vllm.ask(argv, models=MODELS), stage, message)


def refused(answer: Answer, stage: str, message: str) -> None:
    assert (answer.verdict, answer.stage) == ("rejects", stage)
    assert message in answer.message


VLLM_SPELLINGS: dict[str, list[str]] = {
    "JSON": ["--speculative-config", '{"method": "ngram", "num_speculative_tokens": 3}'],
    "equals sign": ['--speculative_config={"method": "ngram", "num_speculative_tokens": 3}'],
    "alias": ["-sc", '{"method": "ngram", "num_speculative_tokens": 3}'],
    "prefix": ["--speculative-conf", '{"method": "ngram", "num_speculative_tokens": 3}'],
    "dotted": ["--speculative-config.method", "ngram", "--speculative-config.num_speculative_tokens", "3"],
    "short": ["--spec-method", "ngram", "--spec-tokens", "3"],
    "file": ["--config", "options.yaml"],
}


@pytest.mark.parametrize("spelling", VLLM_SPELLINGS)
def test_vllm_spellings_mean_the_same(vllm: EngineParser, spelling: str) -> None:
    files = {"options.yaml": "speculative-config:\n  method: ngram\n  num_speculative_tokens: 3\n"}
    answer = vllm.ask(["vllm", "serve", TARGET, *VLLM_SPELLINGS[spelling]], files=files, models=MODELS)
    assert answer.accepts, answer.message
    assert answer.effective["speculative_config.method"] == "ngram"
    assert answer.effective["speculative_config.num_speculative_tokens"] == 3


def test_vllm_api_server_module(vllm: EngineParser) -> None:
    argv = ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", TARGET, "--max-num-seqs", "8"]
    answer = vllm.ask(argv, models=MODELS)
    assert answer.accepts, answer.message
    assert answer.effective["scheduler_config.max_num_seqs"] == 8


def sglang_launch(algorithm: str, *words: str, draft: str | None = "D") -> list[str]:
    path = ["--speculative-draft-model-path", draft] if draft else []
    return [
        *["python3", "-m", "sglang.launch_server", "--model-path", "T"],
        *["--speculative-algorithm", algorithm, *path, *words],
    ]


SGLANG_MODELS = {"T": QWEN3, "D": QWEN3_SMALL, "L": LLAMA, "E3": EAGLE3_HEAD}
CHAIN = ["--speculative-num-steps", "4", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "5"]
STANDALONE = sglang_launch("STANDALONE", *CHAIN, "--mem-fraction-static", "0.7", "--cuda-graph-max-bs-decode", "8")


def test_sglang_parses_standalone_without_any_config(sglang: EngineParser) -> None:
    answer = sglang.ask(STANDALONE, until="parse")
    assert answer.accepts
    assert answer.parsed["speculative_num_steps"] == 4
    assert answer.parsed["cuda_graph_max_bs_decode"] == 8


@pytest.mark.parametrize("program", [STANDALONE[:5], ["sglang", "serve", "T"], ["sglang", "serve", "--model-path=T"]])
def test_sglang_resolves_standalone(sglang: EngineParser, program: list[str]) -> None:
    answer = sglang.ask([*program, *STANDALONE[5:]], models=SGLANG_MODELS)
    assert answer.accepts, answer.message
    assert answer.stage == "config"
    shown = {name: answer.effective[f"speculative_{name}"] for name in ("num_steps", "eagle_topk", "num_draft_tokens")}
    assert shown == {"num_steps": 4, "eagle_topk": 1, "num_draft_tokens": 5}
    assert answer.effective["mem_fraction_static"] == 0.7


def test_sglang_rewrites_the_draft_tokens_of_a_chain(sglang: EngineParser) -> None:
    words = ["--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "9"]
    answer = sglang.ask(sglang_launch("STANDALONE", *words), models=SGLANG_MODELS)
    assert answer.accepts
    assert answer.effective["speculative_num_draft_tokens"] == 4
    assert any("speculative_num_steps + 1" in warning for warning in answer.warnings)


def test_sglang_option_file(sglang: EngineParser) -> None:
    files = {"options.yaml": "model-path: T\nspeculative-algorithm: NGRAM\n"}
    answer = sglang.ask(["sglang", "serve", "--config", "options.yaml"], files=files, models=SGLANG_MODELS)
    assert answer.accepts, answer.message
    assert answer.effective["speculative_algorithm"] == "NGRAM"


SGLANG_REFUSED: dict[str, tuple[list[str], str, str]] = {
    "unknown backend": (sglang_launch("EAGLE3", "--attention-backend", "zzz"), "parse", "invalid choice"),
    "ambiguous prefix": (sglang_launch("STANDALONE", "--cuda-graph-max-bs", "8"), "parse", "ambiguous option"),
    "unknown algorithm": (sglang_launch("LOOKAHEAD"), "config", "Unknown speculative algorithm"),
    "dflash without draft": (sglang_launch("DFLASH", draft=None), "config", "draft"),
    "tokens without steps": (sglang_launch("EAGLE", "--speculative-num-draft-tokens", "4"), "config", ""),
}


@pytest.mark.parametrize("name", SGLANG_REFUSED)
def test_sglang_refuses(sglang: EngineParser, name: str) -> None:
    argv, stage, message = SGLANG_REFUSED[name]
    refused(sglang.ask(argv, models=SGLANG_MODELS), stage, message)


def test_sglang_steps_alone_is_an_accident(sglang: EngineParser) -> None:
    answer = sglang.ask(sglang_launch("STANDALONE", "--speculative-num-steps", "3"), models=SGLANG_MODELS)
    assert (answer.verdict, answer.exception) == ("crashes", "TypeError")


@pytest.mark.parametrize(("engine", "release"), [("vllm", "0.33.0"), ("sglang", "0.5.23")])
def test_a_missing_model_config_is_no_verdict(engine_parser: Parsers, engine: str, release: str) -> None:
    argv = {"vllm": vllm_launch(**draft_model()), "sglang": STANDALONE}[engine]
    with pytest.raises(HarnessError, match="model config is missing"):
        engine_parser(engine, release).ask(argv)
