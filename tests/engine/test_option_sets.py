"""The database against what the releases' own parsers register, for releases spread over each engine's life."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from engine_parser import Listing, NoDefault, Registered
from msgspec import Struct
from msgspec.structs import replace
from option_sets import Difference, differences, member_differences, option_differences, spellings

from specconf.compat.database import load_database
from specconf.compat.releases import Ranges
from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.findings import EvidenceKind

Listings = Callable[[str, str], Listing]

RELEASES = {
    "vllm": (
        *("0.6.3.post1", "0.7.3", "0.8.5", "0.9.2", "0.10.2", "0.12.0"),
        *("0.16.0", "0.20.2", "0.24.0", "0.28.0", "0.31.0", "0.33.0"),
    ),
    "sglang": (
        *("0.4.1.post4", "0.4.3.post2", "0.4.6.post5", "0.4.9.post6", "0.5.2", "0.5.5"),
        *("0.5.8.post1", "0.5.10.post1", "0.5.13.post1", "0.5.16", "0.5.20", "0.5.23"),
    ),
}
EVERY = [(engine, release) for engine, releases in RELEASES.items() for release in releases]

# Destinations whose path has another name: vLLM's flags that feed one object, and what SGLang renamed later on
# (a row keeps one path over all releases, the newest: docs/database.md).
PATHS = {
    "vllm": {
        "model_tag": "model",
        "speculative_model": "speculative_config.model",
        "speculative_model_quantization": "speculative_config.quantization",
        "num_speculative_tokens": "speculative_config.num_speculative_tokens",
        "speculative_disable_mqa_scorer": "speculative_config.disable_mqa_scorer",
        "speculative_draft_tensor_parallel_size": "speculative_config.draft_tensor_parallel_size",
        "speculative_max_model_len": "speculative_config.max_model_len",
        "speculative_disable_by_batch_size": "speculative_config.disable_by_batch_size",
        "ngram_prompt_lookup_max": "speculative_config.prompt_lookup_max",
        "ngram_prompt_lookup_min": "speculative_config.prompt_lookup_min",
        "spec_decoding_acceptance_method": "speculative_config.acceptance_method",
        "typical_acceptance_sampler_posterior_threshold": "speculative_config.posterior_threshold",
        "typical_acceptance_sampler_posterior_alpha": "speculative_config.posterior_alpha",
        "disable_logprobs_during_spec_decoding": "speculative_config.disable_logprobs",
        "spec_method": "speculative_config.method",
        "spec_model": "speculative_config.model",
        "spec_tokens": "speculative_config.num_speculative_tokens",
    },
    "sglang": {
        "tensor_parallel_size": "tp_size",
        "pipeline_parallel_size": "pp_size",
        "data_parallel_size": "dp_size",
        "expert_parallel_size": "ep_size",
        "moe_data_parallel_size": "moe_dp_size",
        "attention_context_parallel_size": "attn_cp_size",
        "cuda_graph_bs": "cuda_graph_bs_decode",
        "cuda_graph_max_bs": "cuda_graph_max_bs_decode",
        "piecewise_cuda_graph_compiler": "cuda_graph_tc_compiler",
        "piecewise_cuda_graph_max_tokens": "cuda_graph_max_bs_prefill",
        "piecewise_cuda_graph_tokens": "cuda_graph_bs_prefill",
        "enable_gdn_replayssm_spec": "enable_linear_replayssm_spec",
        "enable_nsa_prefill_context_parallel": "enable_dsa_prefill_context_parallel",
        "nsa_decode_backend": "dsa_decode_backend",
        "nsa_prefill_backend": "dsa_prefill_backend",
        "nsa_prefill_cp_mode": "dsa_prefill_cp_mode",
        "grpc_http_sidecar_port": "smg_http_sidecar_port",
        "hierarchical_sparse_attention_extra_config": "hisparse_config",
        "mamba_scheduler_strategy": "mamba_radix_cache_strategy",
        "stream_output": "incremental_streaming_output",
    },
}


class Explained(Struct, frozen=True):
    """A difference that stays, and why: what depends on the machine or is made outside the parser."""

    engine: str
    option: str
    attribute: str
    why: str


EXPLAINED = (
    Explained("vllm", "--guided-decoding-backend", "default", "`auto` or `xgrammar`, by the variable VLLM_USE_V1"),
    Explained("vllm", "--guided-decoding-backend", "choices", "of one engine core or the other, by the same variable"),
    Explained("vllm", "--reasoning-parser", "choices", "registered at import, by plugins too"),
    Explained("vllm", "--mm-hasher-algorithm", "default", "from the variable VLLM_MM_HASHER_ALGORITHM"),
    Explained("vllm", "--mm-processor-device", "choices", "the type of the machine's device is one of them"),
    Explained(
        "vllm", "--collect-detailed-traces", "choices", "with pairs joined by commas, which the harvester leaves open"
    ),
    Explained("sglang", "--max-queued-requests", "default", "sys.maxsize, which is the machine's"),
    Explained("sglang", "model_path", "spelling", "the program `sglang serve` takes it, before the server's parser"),
)


def at(engine: str, release: str) -> View:
    return load_database(engine).at(release)


def unexplained(engine: str, found: list[Difference]) -> list[Difference]:
    known = {(row.engine, row.option, row.attribute) for row in EXPLAINED}
    return [difference for difference in found if (engine, difference.option, difference.attribute) not in known]


OURS = Option(
    scope="vllm.cli",
    path="mode",
    names=("--mode",),
    no_names=(),
    kind="value",
    type="str",
    own_parser=False,
    nullable=True,
    const=None,
    default="a",
    required=False,
    choices=("a", "b"),
    bounds={},
    deprecated="",
    replaced_by="",
    internal=False,
    methods=(),
    members="",
    ranges=Ranges(((0, 1),)),
    evidence=EvidenceKind.SOURCE,
)
THEIRS = Registered(
    names=("--mode",),
    dest="mode",
    nargs=None,
    default="a",
    choices=("a", "b", None),
    action="_StoreAction",
    required=False,
    deprecated=False,
    stores={},
)
SWITCH = replace(OURS, kind="switch", type="bool", const=True, no_names=("--no-mode",), default=None, choices=None)
PAIR = replace(
    THEIRS,
    names=("--mode", "--no-mode"),
    nargs=0,
    default=None,
    choices=None,
    stores={"--mode": {"mode": True}, "--no-mode": {"mode": False}},
)


@pytest.mark.parametrize(("ours", "theirs"), [(OURS, THEIRS), (SWITCH, PAIR)])
def test_what_agrees_does_not_differ(ours: Option, theirs: Registered) -> None:
    assert option_differences([ours], [theirs, replace(THEIRS, names=("-h", "--help"))], {}) == []


DIFFERENT: dict[str, tuple[Option, Registered]] = {
    "spelling": (OURS, replace(THEIRS, names=("--mode", "--fashion"))),
    "path": (OURS, replace(THEIRS, dest="fashion")),
    "arity": (OURS, replace(THEIRS, nargs="?")),
    "required": (OURS, replace(THEIRS, required=True)),
    "deprecated": (OURS, replace(THEIRS, deprecated=True)),
    "default": (OURS, replace(THEIRS, default=NoDefault("<object>"))),
    "choices": (replace(OURS, nullable=False), THEIRS),
    "stores": (SWITCH, replace(PAIR, stores={"--mode": {"mode": True}, "--no-mode": {"mode": True}})),
}


@pytest.mark.parametrize("attribute", DIFFERENT)
def test_a_difference_is_found(attribute: str) -> None:
    ours, theirs = DIFFERENT[attribute]
    assert [difference.attribute for difference in option_differences([ours], [theirs], {})] == [attribute]


def test_members_that_one_side_lacks_are_found() -> None:
    old = replace(OURS, names=("OLD",), deprecated="deprecated")
    found = member_differences([replace(OURS, names=("A",)), old], {"A": "b", "B": None})
    assert [(row.option, row.attribute) for row in found] == [("B", "member"), ("A", "default")]


@pytest.mark.engine
@pytest.mark.parametrize(("engine", "release"), EVERY)
def test_the_database_has_what_the_release_registers(engine_listing: Listings, engine: str, release: str) -> None:
    view, listing = at(engine, release), engine_listing(engine, release)
    found = differences(view, listing, PATHS[engine])
    mine = spellings([option for option, _ in view.options_of(f"{engine}.cli")])
    counted = Counter(difference.attribute for difference in found)
    print(f"{engine} {release}: {len(mine)} flags, the release {len(spellings(listing.options))}; {dict(counted)}")
    left = unexplained(engine, found)
    assert not left, "\n".join(map(str, left))


@pytest.mark.engine
def test_every_explanation_is_needed(engine_listing: Listings) -> None:
    seen = {
        (engine, difference.option, difference.attribute)
        for engine, release in EVERY
        for difference in differences(at(engine, release), engine_listing(engine, release), PATHS[engine])
    }
    assert not [row for row in EXPLAINED if (row.engine, row.option, row.attribute) not in seen]
    renamed = {option.dest for engine, release in EVERY for option in engine_listing(engine, release).options}
    assert not {dest for table in PATHS.values() for dest in table} - renamed
