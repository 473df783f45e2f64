"""Options that have nothing to do with speculation, on the real databases: unknown, renamed, shortened, badly valued."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine
from specconf.findings import Finding
from specconf.rules.probes import run_probe

LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 8,
    "num_attention_heads": 4, "vocab_size": 1024, "max_position_embeddings": 32768,
}  # fmt: skip
START = {
    "vllm": ["vllm", "serve", "/models/target"],
    "sglang": ["python", "-m", "sglang.launch_server", "--model-path", "/models/target"],
}


def found(engine: str, release: str, *words: str) -> list[Finding]:
    """The findings at or above a warning."""
    probe = {"release": release, "argv": [*START[engine], *words], "target": LLAMA}
    _, judgement = run_probe(load_database(engine), get_engine(engine), probe)
    return [finding for finding in judgement.findings if finding.severity != "info"]


REFUSED = [
    (
        "sglang",
        "0.5.20",
        ["--cuda-graph-max-bs", "64"],
        "SC102",
        "exists before 0.5.20",
        "Write --cuda-graph-max-bs-decode",
    ),
    (
        "sglang",
        "0.4.9.post6",
        ["--cuda-graph-max-bs-decode", "8"],
        "SC101",
        "from 0.5.14 on",
        "Write --cuda-graph-max-bs:",
    ),
    ("vllm", "0.33.0", ["--tensor-paralel-size", "2"], "SC101", "no option", "Did you mean --tensor-parallel-size?"),
    ("sglang", "0.5.23", ["--tensor-paralel-size", "2"], "SC101", "no option", "Did you mean --tensor-parallel-size?"),
    ("vllm", "0.33.0", ["--swap-space", "4"], "SC101", "exists before 0.18.0", "Remove --swap-space"),
    ("vllm", "0.9.2", ["--kv-cache-dtype", "fp9"], "SC103", "auto, fp8, fp8_e4m3, fp8_e5m2", "Set --kv-cache-dtype"),
    ("sglang", "0.5.23", ["--kv-cache-dtype", "fp8"], "SC103", "fp8_e5m2", "Did you mean fp8_e5m2"),
    ("vllm", "0.33.0", ["--enable-prefix-caching", "true"], "SC103", "takes no value", "no value"),
    ("sglang", "0.5.23", ["--disable-radix-cache", "true", "false"], "SC103", "takes no value", "no value"),
    ("sglang", "0.5.23", ["--cuda-graph-bs", "1", "2", "4"], "SC102", "0.5.20)", "Write --cuda-graph-bs-decode"),
    (
        "sglang",
        "0.4.9",
        ["--enable-flashinfer-mla"],
        "SC101",
        "0.4.7.post1)",
        "Write --attention-backend, which took its place.",
    ),
    (
        "vllm",
        "0.33.0",
        ["--speculative-config", '{"method":"ngram","num_speculative_tokens":"x"}'],
        "SC103",
        "is 'x'",
        "Set",
    ),
    (
        "vllm",
        "0.33.0",
        ["--speculative-config", '{"method":"ngram","num_speculative_tokens":3.5}'],
        "SC103",
        "is 3.5",
        "Set",
    ),
    ("vllm", "0.33.0", ["--enable-prefix-caching=true"], "SC103", "takes no value", "no value"),
    ("vllm", "0.33.0", ["--no-enable-prefix-caching=1"], "SC103", "takes no value", "no value"),
    ("sglang", "0.5.23", ["--disable-radix-cache=true"], "SC103", "takes no value", "no value"),
    ("vllm", "0.33.0", ["--max", "2"], "SC102", "--max-model-len", "Write the option out in full."),
    ("sglang", "0.5.23", ["--pp", "2"], "SC102", "--pp-size", "Write the option out in full."),
    ("vllm", "0.33.0", ["--max-num-seqs", "many"], "SC103", "a whole number", "Give --max-num-seqs"),
    ("vllm", "0.33.0", ["--gpu-memory-utilization", "1.5"], "SC103", "> 0 and <= 1", "Set --gpu-memory-utilization"),
    ("vllm", "0.9.2", ["--rope-scaling", "{bad"], "SC103", "JSON", "whole JSON in single quotes"),
    ("vllm", "0.33.0", ["--max-num-seqs"], "SC103", "needs a value", "Write one after it."),
    ("sglang", "0.5.23", ["--attention-backend", "nosuch"], "SC103", "takes one of", "Set --attention-backend"),
    (
        "vllm",
        "0.10.2",
        ["--speculative-config", '{"method":"ngram","num_speculative_tokens":"3"}'],
        "SC103",
        "is '3'",
        "Set num_speculative_tokens",
    ),
]


@pytest.mark.parametrize(("engine", "release", "words", "code", "said", "fix"), REFUSED)
def test_what_the_parser_refuses(engine: str, release: str, words: list[str], code: str, said: str, fix: str) -> None:
    (finding,) = found(engine, release, *words)
    assert (finding.code, finding.severity, finding.effect) == (code, "error", "rejects")
    assert said in finding.message
    assert fix in finding.fix


OTHER_NAMES = [
    ("vllm", "0.20.0", "--disable-log-requests", "--no-enable-log-requests"),
    ("vllm", "0.10.2", "--enable-custom-all-reduce", "--no-disable-custom-all-reduce"),
    ("vllm", "0.32.0", "--disable-prefix-caching", "--no-enable-prefix-caching"),
    ("vllm", "0.12.0", "-ep", "--enable-expert-parallel"),
    ("vllm", "0.33.0", "--speculative-model=/d", "--spec-model"),
    ("sglang", "0.5.23", "--mamba-scheduler-strategy=x", "--mamba-radix-cache-strategy"),
    ("sglang", "0.4.6", "--enable-hicache", "--enable-hierarchical-cache"),
    # Nothing in these releases writes what the spelling writes: its opposite is no substitute.
    ("vllm", "0.6.0", "--no-enable-prefix-caching", ""),
    ("vllm", "0.5.2", "--no-enable-chunked-prefill", ""),
    ("sglang", "0.5.22", "--no-enable-tf32-matmul", ""),
]


@pytest.mark.parametrize(("engine", "release", "word", "instead"), OTHER_NAMES)
def test_another_name_never_turns_a_switch_round(engine: str, release: str, word: str, instead: str) -> None:
    fixes = [finding.fix for finding in found(engine, release, word) if finding.code in ("SC101", "SC102")]
    assert len(fixes) == 1
    written = f"Write {instead}: that is this release's name for {word.partition('=')[0]}"
    alone = fixes[0].partition(", or write ")[0].removesuffix(".")  # a member of an object may be written, too
    assert (alone == written) if instead else not any("name for" in fix for fix in fixes), fixes


ACCEPTED = [
    ("vllm", "0.33.0", ["--tensor-par", "2"]),
    ("vllm", "0.33.0", ["--max-model-len", "16k"]),
    ("vllm", "0.33.0", ["--enable-prefix-caching", "--no-enable-chunked-prefill"]),
    ("sglang", "0.5.20", ["--cuda-graph-max-bs-d", "64"]),
    ("sglang", "0.5.19", ["--cuda-graph-max-bs", "64"]),
    ("vllm", "0.33.0", ["-O", "3"]),
    ("vllm", "0.33.0", ["--hf-token"]),
    ("vllm", "0.9.1", ["--hf-token"]),
    ("vllm", "0.33.0", ["--kv-transfer-config", ""]),
    ("vllm", "0.33.0", ["--help"]),
    ("sglang", "0.5.23", ["-h"]),
    ("vllm", "0.33.0", ["-O3"]),
    ("vllm", "0.12.0", ["-O", "3"]),
    ("vllm", "0.33.0", ["--speculative-config", '{"method":"ngram","num_speculative_tokens":"3"}']),
    ("vllm", "0.33.0", ["--speculative-config", '{"method":"ngram","num_speculative_tokens":3.0}']),
    ("vllm", "0.33.0", ["--speculative-config", '{"method":"ngram","num_speculative_tokens":3,"enforce_eager":1}']),
    ("vllm", "0.33.0", ["-sc.method=ngram", "-sc.num_speculative_tokens=3", "-sc.max_model_len=1k"]),
    ("vllm", "0.33.0", ["--kv-transfer-config", '{"kv_buffer_size": 1G, "kv_role": "kv_both"}']),
    ("sglang", "0.5.23", ["--mem-frac", "0.8", "--tp", "2"]),
]


@pytest.mark.parametrize(("engine", "release", "words"), ACCEPTED)
def test_what_the_parser_accepts(engine: str, release: str, words: list[str]) -> None:
    assert [finding.message for finding in found(engine, release, *words)] == []


@pytest.mark.parametrize(
    ("engine", "release", "words", "full"),
    [
        ("vllm", "0.30.0", ["--device", "cuda"], "--device-ids"),
        ("sglang", "0.5.4", ["--disable-flashinfer"], "--disable-flashinfer-cutlass-moe-fp4-allgather"),
    ],
)
def test_a_removed_flag_that_now_begins_another_is_told(engine: str, release: str, words: list[str], full: str) -> None:
    (finding,) = found(engine, release, *words)
    assert (finding.code, finding.severity, finding.effect) == ("SC102", "warning", "ignores")
    assert f"reads it as short for {full}" in finding.message


def test_bounds_are_no_part_of_the_parser() -> None:
    (finding,) = found("vllm", "0.33.0", "--gpu-memory-utilization", "1.5")
    assert finding.stage == "config"


HEAD = {**LLAMA, "architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1, "draft_vocab_size": 512}
OPT = {**LLAMA, "architectures": ["OPTForCausalLM"], "model_type": "opt"}


@pytest.mark.parametrize(("eagle_config", "told"), [(None, True), ({"use_aux_hidden_state": False}, False)])
def test_a_head_that_reads_no_hidden_states_asks_for_no_interface(eagle_config: Any, told: bool) -> None:
    draft = {**HEAD, "eagle_config": eagle_config} if eagle_config else HEAD
    method = '{"method":"eagle3","model":"/models/draft","num_speculative_tokens":3}'
    argv = [*START["vllm"], "--speculative-config", method]
    probe = {"release": "0.33.0", "argv": argv, "target": OPT, "draft": draft}
    _, judgement = run_probe(load_database("vllm"), get_engine("vllm"), probe)
    assert ("vllm/eagle3-target-without-interface" in {f.constraint for f in judgement.findings}) is told


def test_members_of_an_object_that_is_not_known_keep_their_values() -> None:
    words = ["-cc.mode=3", "--kv-transfer-config.kv_role", "kv_both", "-cc.custom_ops+", "a,b"]
    settings, _ = run_probe(
        load_database("vllm"),
        get_engine("vllm"),
        {"release": "0.33.0", "argv": [*START["vllm"], *words], "target": LLAMA},
    )
    assert settings["compilation_config"] == {"mode": 3, "custom_ops": ["a", "b"]}
    assert settings["kv_transfer_config"] == {"kv_role": "kv_both"}


@pytest.mark.parametrize(
    ("words", "kept", "losses"),
    [
        # As vLLM 0.33.0's parser does: each spelling gathers members of its own, the one met last replaces the rest.
        (["-cc.mode=1", "--compilation-config.backend=eager"], {"backend": "eager"}, 1),
        (["--compilation-config.backend=eager", "-cc.mode=1"], {"mode": 1}, 1),
        (["--compilation-config.mode=1", "--compilation_config.backend=eager"], {"mode": 1, "backend": "eager"}, 0),
        (
            ["--compilation-config.mode=1", "-cc.backend=eager", "--compilation-config.cudagraph_mode=NONE"],
            {"backend": "eager"},
            2,
        ),
    ],
)
def test_members_by_two_spellings_of_one_object_replace_each_other(words: list[str], kept: object, losses: int) -> None:
    probe = {"release": "0.33.0", "argv": [*START["vllm"], *words], "target": LLAMA}
    settings, judgement = run_probe(load_database("vllm"), get_engine("vllm"), probe)
    assert settings["compilation_config"] == kept
    assert [f.code for f in judgement.findings].count("SC107") == losses


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("num_speculative_tokrns", "Did you mean num_speculative_tokens?"),
        ("ngram_prompt_lookup_max", "Did you mean prompt_lookup_max?"),
        ("max_draft_len", "Write num_speculative_tokens."),
        ("speculative_model", "Write model."),
        ("decoding_type", "Write method."),
        ("nothing_like_it", "Remove nothing_like_it."),
    ],
)
def test_a_key_that_is_not_in_the_speculative_config(key: str, fix: str) -> None:
    config = f'{{"method":"ngram","num_speculative_tokens":3,"{key}":3}}'
    (finding,) = [f for f in found("vllm", "0.33.0", "--speculative-config", config) if f.code == "SC101"]
    assert finding.fix == fix


@pytest.mark.parametrize(("word", "fix"), [("ngarm", "ngram"), ("'ngram'", "ngram"), ("eagle_3", "eagle3")])
def test_a_method_that_is_misspelt(word: str, fix: str) -> None:
    flagged = found("vllm", "0.33.0", "--speculative-config", f'{{"method":"{word}","num_speculative_tokens":3}}')
    assert any(f.code == "SC103" and fix in f.fix for f in flagged)


def spec(**keys: Any) -> str:
    """A speculative config as its option takes it."""
    return json.dumps({"num_speculative_tokens": 3, **keys})


@pytest.mark.parametrize(
    ("release", "method", "lived", "fix"),
    [
        ("0.33.0", "medusa", "medusa exists until 0.32.0", "a release that takes medusa"),
        ("0.11.0", "suffix", "suffix exists from 0.11.1 on", "a release that takes suffix"),
        ("0.10.0", "mtp", "mtp exists from 0.11.0 on", "Did you mean deepseek_mtp?"),
        ("0.33.0", "nonesuch", "", "Set method"),
    ],
)
def test_a_choice_of_another_release_says_where_it_lives(release: str, method: str, lived: str, fix: str) -> None:
    refused = [f for f in found("vllm", release, "--speculative-config", spec(method=method)) if f.code == "SC103"]
    assert [("exists" in f.message, lived in f.message) for f in refused] == [(bool(lived), True)]
    assert fix in refused[0].fix


def test_a_member_of_an_object_whose_short_name_was_given_away() -> None:
    (finding,) = [f for f in found("vllm", "0.15.0", "-O.cudagraph_mode=FULL") if f.code == "SC101"]
    assert finding.fix == "Write -cc.cudagraph_mode: that is this release's name for -O.cudagraph_mode."


def test_a_method_that_is_refused_is_not_also_overridden() -> None:
    config = spec(method="EAGLE3", model="/models/my-eagle3")
    codes = {f.code for f in found("vllm", "0.33.0", "--speculative-config", config)}
    assert "SC103" in codes
    assert "SC208" not in codes
