"""The share of a GPU's memory that SGLang gives to weights and cache where none is written, in each form it has had.

Every form takes off what activations and graphs may need, and most of them something more for a draft. A target that is not
text only takes off more, by a rule of its own that is not followed here: its share is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from specconf.engines.sglang.derived.memory import GIB, gpu_mib
from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.words import JsonValue

_OTHER_INPUT = (
    "vision_config",
    "audio_config",
    "thinker_config",
    "sound_config",
    "mm_vision_tower",
    "vision_tower",
    "img_processor",
)
# A class with this name has parts beside the text's, with sizes of its own where its config gives none.
_OF_MORE_THAN_TEXT = "ForConditionalGeneration"


def text_only(facts: Facts) -> Fact:
    """Whether the target's config speaks of text alone; where it speaks of images or sound, that decides nothing here."""
    found = [facts.get(f"target.config.{name}") for name in _OTHER_INPUT]
    missing = next((fact for fact in found if isinstance(fact, Missing)), None)
    if missing is not None:
        return missing
    named = facts.get("target.architecture")
    if isinstance(named, Missing):
        return named
    if all(fact == Known(None) for fact in found):
        if isinstance(named, Known) and str(named.value).endswith(_OF_MORE_THAN_TEXT):
            return Missing("what the target's config class assumes of images or sound")
        return Known(True)
    return Missing("whether the release serves the target with images or sound")


def _read(facts: Facts, *names: str) -> dict[str, JsonValue] | Missing:
    """The values of facts, or the first one that is not known."""
    values: dict[str, JsonValue] = {}
    for name in names:
        fact = facts.get(name)
        if not isinstance(fact, Known):
            return fact if isinstance(fact, Missing) else Missing(name)
        values[name.rpartition(".")[2]] = fact.value
    return values


def _number(value: JsonValue, otherwise: int = 0) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _left(memory: float, reserved: float) -> Fact:
    """The share that is left of a GPU's memory, in the digits that the engine keeps."""
    return Known(round((memory - reserved) / memory, 3))


def _by_width(width: float) -> float:
    return next(share for least, share in ((16, 0.79), (8, 0.81), (4, 0.85), (2, 0.87), (0, 0.88)) if width >= least)


def share_by_width(facts: Facts) -> Fact:
    """By the number of GPUs that share the model, and nothing else."""
    values = _read(facts, "option.tp_size")
    return values if isinstance(values, Missing) else Known(_by_width(_number(values["tp_size"])))


def _one_size(facts: Facts) -> float | Missing:
    memory = gpu_mib(facts)
    if isinstance(memory, Known):
        return _number(memory.value)
    return memory if isinstance(memory, Missing) else Missing("which size of memory the GPU has")


def share_by_width_or_13(facts: Facts) -> Fact:
    """By the number of GPUs up to 80 GiB, and all but 13 GiB of a larger one."""
    memory = _one_size(facts)
    if isinstance(memory, Missing):
        return memory
    return share_by_width(facts) if memory <= 81920 else Known((memory - 13 * GIB) / memory)


def share_by_ranks(facts: Facts, *, drafts: bool = False) -> Fact:
    """By the number of GPUs of all stages; of a large one all but 18 GiB at most. `drafts`: a draft takes its part."""
    memory = _one_size(facts)
    values = _read(facts, "option.tp_size", "option.pp_size", "option.speculative_algorithm")
    if isinstance(memory, Missing) or isinstance(values, Missing):
        return memory if isinstance(memory, Missing) else values  # type: ignore[return-value]
    share = _by_width(_number(values["tp_size"], 1) * _number(values["pp_size"], 1)) if memory <= 81920 else 0.88
    drafting = drafts and values["speculative_algorithm"] is not None
    if drafts and memory > 180_000:
        return Known(0.79)
    if memory > 96 * GIB:
        reserve = (20 if drafting else 18) * GIB
        return Known(min(share + 48 * GIB * (1 - share) / memory, (memory - reserve) / memory))
    return Known(share * 0.95 if drafting else share)


def share_by_class(facts: Facts, *, standalone: int = 2) -> Fact:
    """What a size class of GPUs keeps free, by the number of GPUs, with a part for a draft and one for attention DP."""
    memory = _one_size(facts)
    names = ("tp_size", "pp_size", "speculative_algorithm", "enable_dp_attention")
    values = _read(facts, *(f"option.{name}" for name in names), "derived.text_only")
    if isinstance(memory, Missing) or isinstance(values, Missing):
        return memory if isinstance(memory, Missing) else values  # type: ignore[return-value]
    ranks = _number(values["tp_size"], 1) * _number(values["pp_size"], 1)
    classes = ((35, 2.8 + ranks / 10), (90, 9.5 + ranks / 2), (160, 12 + ranks / 2), (float("inf"), 32))
    reserved = next(gib for below, gib in classes if memory < below * GIB)
    if values["speculative_algorithm"] is not None:
        reserved += standalone if values["speculative_algorithm"] == "STANDALONE" else 2
    if values["enable_dp_attention"] is True:
        reserved += 4
    return _left(memory, reserved * GIB)


def _prefill_sizes(top: float) -> int:
    """How many sizes the graphs of a prefill step are captured for."""
    steps = (range(4, 33, 4), range(48, 257, 16), range(288, 513, 32), range(576, 1025, 64), range(1280, 4097, 256))
    return sum(size <= top for each in steps for size in each) + len(range(4608, int(top) + 1, 512))


def _prefill_graphs(facts: Facts, limits: tuple[str, ...]) -> float | Missing:
    """Memory for the graphs of a prefill step."""
    values = _read(
        facts, "option.chunked_prefill_size", "option.model_path", "target.latent_attention",
        "option.cuda_graph_max_bs_prefill", *(f"option.{name}" for name in limits),
    )  # fmt: skip
    if isinstance(values, Missing):
        return values
    if values["latent_attention"] is True:
        return 1.5 * GIB
    top = _number(values["cuda_graph_max_bs_prefill"]) or _number(values["chunked_prefill_size"])
    if values["cuda_graph_max_bs_prefill"] is None:
        caps = [_number(values[name]) for name in limits if values[name] is not None]
        caps += [4096] if "llama-2" in str(values["model_path"]).lower() else []
        top = min([top, *caps])
    return _prefill_sizes(top) * 8


def _activations(values: Mapping[str, JsonValue], *, roles: bool) -> float:
    chunk = _number(values["chunked_prefill_size"])
    if roles and values["disaggregation_mode"] == "decode":
        running = _number(values["max_running_requests"]) or _number(values["cuda_graph_max_bs_decode"]) or 1
        tokens = running * (_number(values["speculative_num_draft_tokens"]) or 1)
    else:
        tokens = chunk if chunk > 0 else _number(values["max_prefill_tokens"])
    return max(tokens, 2048) * 1.5


_ASKED = (
    "option.tp_size", "option.pp_size", "option.dp_size", "option.chunked_prefill_size", "option.max_prefill_tokens",
    "option.cuda_graph_max_bs_decode", "option.speculative_algorithm", "option.disaggregation_mode",
    "option.max_running_requests", "option.speculative_num_draft_tokens", "option.enable_dp_attention",
    "option.attn_dp_size", "derived.text_only",
)  # fmt: skip


def _reserve(facts: Facts, graphs: float | Missing, *, roles: bool = False, draft: int = 0) -> Fact:
    """Activations and graphs, at least 10 GiB of a GPU with more than 60; then a draft's part."""
    memory, values = _one_size(facts), _read(facts, *_ASKED)
    if isinstance(memory, Missing) or isinstance(values, Missing):
        return memory if isinstance(memory, Missing) else values  # type: ignore[return-value]
    if isinstance(graphs, Missing):
        return graphs
    largest, prefills = _number(values["cuda_graph_max_bs_decode"]), values["disaggregation_mode"] == "prefill"
    reserved = 512 + _activations(values, roles=roles) + graphs
    reserved += _number(values["tp_size"], 1) * _number(values["pp_size"], 1) / 8 * GIB
    groups = max(_number(values["dp_size"], 1), _number(values["attn_dp_size"], 1))
    spread = values["enable_dp_attention"] is True or _number(values["attn_dp_size"], 1) > 1
    # Releases without a width of its own for attention DP go by the switch, which counts for one group as well.
    alone = groups == 1 and values["attn_dp_size"] is not None
    if spread and not (roles and (prefills or alone)):
        reserved += largest * groups * (4.5 if largest > 300 else 3)
    if memory > 60 * GIB:
        reserved = max(reserved, 10 * GIB)
    algorithm = values["speculative_algorithm"]
    if draft and algorithm not in (None, "NGRAM"):
        reserved += (6 if algorithm == "STANDALONE" else draft) * GIB
    return _left(memory, reserved)


def share_after_graphs(facts: Facts) -> Fact:
    """What activations and decode graphs leave, with 2 GiB for a draft; prefill graphs that are asked for are not counted."""
    values = _read(facts, "option.cuda_graph_max_bs_decode", "option.enable_piecewise_cuda_graph")
    if isinstance(values, Missing):
        return values
    if values["enable_piecewise_cuda_graph"] is True:
        return Missing("what piecewise graphs of prefill steps take")
    return _reserve(facts, _number(values["cuda_graph_max_bs_decode"]) * 2, draft=2)


def share_after_piecewise(facts: Facts, *, limits: tuple[str, ...] = ("max_total_tokens",)) -> Fact:
    """What activations and the graphs of both kinds leave, with 4 GiB for a draft."""
    values = _read(facts, "option.cuda_graph_max_bs_decode", "option.disable_piecewise_cuda_graph")
    if isinstance(values, Missing):
        return values
    prefill = 0.0 if values["disable_piecewise_cuda_graph"] is True else _prefill_graphs(facts, limits)
    return prefill if isinstance(prefill, Missing) else _reserve(
        facts, _number(values["cuda_graph_max_bs_decode"]) * 2 + prefill, draft=4
    )  # fmt: skip


def share_after_both(facts: Facts, *, roles: bool = True, limits: tuple[str, ...] = ("max_total_tokens",)) -> Fact:
    """What activations and the graphs of both kinds leave; nothing is kept for a draft. `roles`: what a role does not
    run takes nothing."""
    names = (
        "cuda_graph_max_bs_decode",
        "cuda_graph_backend_decode",
        "cuda_graph_backend_prefill",
        "disaggregation_mode",
        "moe_a2a_backend",
    )
    values = _read(facts, *(f"option.{name}" for name in names))
    if isinstance(values, Missing):
        return values
    if values["moe_a2a_backend"] not in (None, "none"):
        return Missing("what the buffers between experts take")
    decode, prefill = values["cuda_graph_backend_decode"], values["cuda_graph_backend_prefill"]
    if decode is None or prefill is None:
        return Missing("option.cuda_graph_config")
    mode = values["disaggregation_mode"]
    graphs = _number(values["cuda_graph_max_bs_decode"]) * 2
    if roles and (mode == "prefill" or decode == "disabled"):
        graphs = 0
    if prefill != "disabled" and not (roles and mode == "decode"):
        more = _prefill_graphs(facts, limits)
        if isinstance(more, Missing):
            return more
        graphs += more
    return _reserve(facts, graphs, roles=roles)


DERIVATIONS: Mapping[str, Derivation] = {
    "text_only": text_only,
    "share_by_width": share_by_width,
    "share_by_width_or_13": share_by_width_or_13,
    "share_by_ranks": share_by_ranks,
    "share_by_ranks_and_draft": partial(share_by_ranks, drafts=True),
    "share_by_class": share_by_class,
    "share_by_class_or_standalone": partial(share_by_class, standalone=6),
    "share_after_graphs": share_after_graphs,
    "share_after_piecewise": share_after_piecewise,
    "share_after_piecewise_in_context": partial(share_after_piecewise, limits=("max_total_tokens", "context_length")),
    "share_after_both_always": partial(share_after_both, roles=False, limits=("max_total_tokens", "context_length")),
    "share_after_both_in_context": partial(share_after_both, limits=("max_total_tokens", "context_length")),
    "share_after_both": share_after_both,
}
