"""Launches of documents as questions: word for word, with configs of the family that a name or row tells, or not at all."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.compat.store import load_rows
from specconf.compat.view import View
from specconf.models.rows import RowTable
from specconf.readers.registry import read_launches
from specconf.verify.beside import chat_template
from specconf.verify.lifted import Lifted, lift, lifted, row_of
from specconf.verify.placing import DRAFT_NAMES, FAMILIES, Placer, cleaned, stem
from specconf.verify.tiny import DRAFTS, TARGETS, draft, text

CORPUS = Path(__file__).parents[1] / "corpus"
NEWEST = {"vllm": "0.33.0", "sglang": "0.5.23"}


@cache
def rows(engine: str) -> tuple[dict[str, Any], ...]:
    """The documents' launches, and those of the reports' scripts."""
    found = [
        json.loads(line) for line in (CORPUS / f"{engine}_launches.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for path in sorted((CORPUS / engine).glob("*.sh")):
        name = f"{engine}/{path.name}"
        for read in read_launches(name, path.read_text(encoding="utf-8"), engine=engine):
            found.append(row_of(read.launch, name, read.launch.span.line if read.launch.span else 1))
    return tuple(found)


@cache
def view(engine: str) -> View:
    return load_database(engine).at(NEWEST[engine])


@cache
def whole(engine: str) -> Lifted:
    """All that the corpus gives."""
    return lift(engine, view(engine), rows(engine), seed=1, size=10_000)


@cache
def placer() -> Placer:
    return Placer(RowTable(load_rows("checkpoints")))


def row(*argv: str, line: int = 1, **more: Any) -> dict[str, Any]:
    return {"argv": list(argv), "file": "a.md", "line": line, **more}


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_corpus_gives_launches_word_for_word(engine: str) -> None:
    found = whole(engine)
    written = {(each["file"], tuple(map(str, each["argv"]))) for each in rows(engine)}
    assert len(found.asked) > 400
    assert len(found.asked) + sum(found.left_out.values()) == len(rows(engine))
    for each in found.asked:
        file = each.origin.removeprefix("corpus ").rpartition(":")[0]
        assert (file, each.question.argv) in written
        assert each.question.models


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_launches_that_speculate_come_first_and_no_document_crowds_out_others(engine: str) -> None:
    asked = whole(engine).asked[:60]
    assert all("spec" in " ".join((*each.question.argv, *each.question.files.values())) for each in asked)
    documents = [each.origin.rpartition(":")[0] for each in asked]
    assert max(map(documents.count, documents)) < 20


def test_no_more_than_asked_for() -> None:
    assert len(lifted("sglang", view("sglang"), rows("sglang")[:150], seed=1, size=9)) == 9


def test_the_seed_decides() -> None:
    def keys(seed: int) -> list[str]:
        return [
            each.question.key for each in lifted("sglang", view("sglang"), rows("sglang")[:150], seed=seed, size=40)
        ]

    assert keys(1) == keys(1)
    assert keys(1) != keys(2)


SERVE = ("vllm", "serve", "Qwen/Qwen3-8B")
NGRAM = ("--speculative-config", '{"method": "ngram", "num_speculative_tokens": 3}')
LEFT_OUT: dict[str, dict[str, Any]] = {
    "a word is not known": row("vllm", "serve", {"raw": "$MODEL"}),  # type: ignore[arg-type]
    "the target's family is not known": row("vllm", "serve", "somebody/unheard-of-9b"),
    "the draft's kind is not known": row(*SERVE, "--speculative-config", '{"model": "x/Qwen3-8B_peagle"}'),
    "a model is no name of the hub": row("vllm", "serve", "/data/Qwen3-8B"),
    "the target brings code of its own": row("vllm", "serve", "moonshotai/Kimi-K2.5"),
    "no target is named": row("vllm", "serve", "--port", "1"),
}


@pytest.mark.parametrize("reason", LEFT_OUT)
def test_what_cannot_be_asked_is_left_out_and_counted(reason: str) -> None:
    found = lift("vllm", view("vllm"), [LEFT_OUT[reason]], seed=1, size=5)
    assert found.asked == []
    assert found.left_out == {reason: 1}


def test_what_bears_on_speculation_tells_launches_apart() -> None:
    again = row(*SERVE, *NGRAM, "--port", "8001", line=2)
    other = row(*SERVE, *NGRAM, "--max-num-seqs", "8", line=3)
    found = lift("vllm", view("vllm"), [row(*SERVE, *NGRAM), again, other], seed=1, size=5)
    assert len(found.asked) == 2
    assert sum(found.left_out.values()) == 1
    assert len(lifted("vllm", view("vllm"), [row(*SERVE), row(*SERVE, "--port", "8001")], seed=1, size=5)) == 2


def test_gpus() -> None:
    assert {each.question.gpu for each in whole("vllm").asked} == {None}
    asked = whole("sglang").asked
    shown = [each.question.gpu for each in asked]
    assert set(shown) == {"H100", "H200", "B200", "A100"}
    assert shown.count("H100") > len(shown) / 2
    assert all(each.question.gpu == "B200" for each in asked if any("FP4" in name for name in each.question.models))


TARGETS_BY_NAME = {
    "Qwen/Qwen3-0.6B": "Qwen3ForCausalLM",
    "somebody/Qwen3-30B-A3B-Instruct-2507-FP8": "Qwen3MoeForCausalLM",
    "deepseek-ai/DeepSeek-R1-0528": "DeepseekV3ForCausalLM",
    "meta-llama/Llama-3.3-70B-Instruct": "LlamaForCausalLM",
    "openai/gpt-oss-20b": "GptOssForCausalLM",
    "zai-org/GLM-4.6-FP8": "Glm4MoeForCausalLM",
}


@pytest.mark.parametrize("name", TARGETS_BY_NAME)
def test_a_name_or_row_tells_the_family(name: str) -> None:
    config = placer().target(name)
    assert config is not None
    assert config["architectures"] == [TARGETS_BY_NAME[name]]
    assert "auto_map" not in config


def test_names_that_tell_nothing_have_no_config() -> None:
    for name in ("xxx", "somebody/model", "Qwen/Qwen3-Omni-30B-A3B-Instruct", "RedHatAI/Qwen3-32B-FP8-dynamic"):
        assert placer().target(name) is None


@pytest.mark.parametrize(
    ("name", "method"),
    [("x/Qwen3-8B-FP8", "fp8"), ("x/Qwen3-8B-AWQ", "awq"), ("x/Qwen3-8B-NVFP4", "modelopt"), ("x/Qwen3-8B", None)],
)
def test_a_name_tells_the_precision(name: str, method: str | None) -> None:
    config = placer().target(name)
    assert config is not None
    quantization = config.get("quantization_config")
    assert (quantization["quant_method"] if isinstance(quantization, dict) else None) == method


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("RedHatAI/Qwen3-32B-speculator.eagle3", "speculators-eagle3"),
        ("a/Qwen3-32B-Eagle3", "eagle3"),
        ("a/EAGLE-Qwen3-32B", "eagle"),
        ("a/Qwen3-32B-DFlash", "dflash"),
    ],
)
def test_a_drafts_name_tells_its_kind(name: str, kind: str) -> None:
    target = TARGETS["qwen3"]
    assert placer().draft(name, target) == draft(kind, target)


def test_stems_are_what_makes_of_one_model_share() -> None:
    assert stem("nvidia/Kimi-K2.6-NVFP4") == stem("moonshotai/Kimi-K2.6") == "kimi-k2.6"
    assert stem("a/Qwen3-30B-A3B-Instruct-2507-FP8") == stem("Qwen/Qwen3-30B-A3B")
    assert stem("Qwen/Qwen3-8B") != stem("Qwen/Qwen3-4B")


def test_families_and_kinds_exist() -> None:
    architectures = {name for each in TARGETS.values() for name in each["architectures"]}  # type: ignore[union-attr]
    rows_here = RowTable(load_rows("checkpoints"))
    for _, place in FAMILIES:
        if "/" in place:
            assert rows_here[place].config["architectures"], place
        else:
            assert place in architectures, place
    assert {kind for _, kind in DRAFT_NAMES if kind} <= set(DRAFTS)


def test_nothing_leads_to_files_that_are_not_there() -> None:
    assert cleaned({"auto_map": {}, "a": 1, "text_config": {"auto_map": {}, "b": 2}}) == {
        "a": 1,
        "text_config": {"b": 2},
    }


@pytest.mark.parametrize("kind", DRAFTS)
def test_drafts_are_whole_for_every_target(kind: str) -> None:
    for target in TARGETS.values():
        made = draft(kind, target)
        assert made["architectures"]
        kinds, layers = made.get("layer_types"), made.get("num_hidden_layers")
        assert not isinstance(kinds, list) or len(kinds) == layers
        if "vocab" not in kind and kind != "llama" and "vocab_size" in made:
            assert made["vocab_size"] == text(target)["vocab_size"]


def test_files_beside_a_model() -> None:
    written = row(*SERVE, *NGRAM, "--chat-template", "examples/tools.jinja")
    (asked,) = lifted("vllm", view("vllm"), [written], seed=1, size=1)
    assert set(asked.question.files) == {
        "Qwen/Qwen3-8B/tokenizer.json",
        "Qwen/Qwen3-8B/tokenizer_config.json",
        "examples/tools.jinja",
    }
    vocabulary = json.loads(asked.question.files["Qwen/Qwen3-8B/tokenizer.json"])["model"]["vocab"]
    assert vocabulary["<think>"] == 1
    assert chat_template("{{ messages }}") == chat_template(None) == {}


def test_a_family_with_code_of_its_own_has_a_config_that_engines_read() -> None:
    config = placer().target("XiaomiMiMo/MiMo-7B-Base")
    assert config is not None
    assert (config["architectures"], config["model_type"]) == (["MiMoForCausalLM"], "qwen2")


@pytest.mark.parametrize("kind", ["eagle", "eagle3", "dflash", "dspark"])
def test_a_head_is_divided_like_its_target(kind: str) -> None:
    target = placer().target("Qwen/Qwen3-32B")
    assert target is not None
    assert draft(kind, target)["num_attention_heads"] == target["num_attention_heads"] == 64


def test_a_tiny_config_is_made_large_enough_for_many_parts() -> None:
    config = placer().target("mistralai/Mistral-7B-v0.1")
    assert config is not None
    assert config["num_attention_heads"] == 32
    assert config["num_hidden_layers"] == TARGETS["mistral"]["num_hidden_layers"]
