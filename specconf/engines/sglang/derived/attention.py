"""The attention backend that SGLang takes where none is written, by the kind of GPU, the target and the draft tree.

Where the GPU is not known, the backends of all that it may be are candidates. Which of these rules a release follows, and
which of its architectures use latent attention, is the constraints' business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf, either
from specconf.words import JsonValue

HOPPER, BLACKWELL, RTX_BLACKWELL, OTHER = "hopper", "blackwell", "rtx-blackwell", "other-cuda"
CUDA = (HOPPER, BLACKWELL, RTX_BLACKWELL, OTHER)
_MAJOR = {9: HOPPER, 10: BLACKWELL, 12: RTX_BLACKWELL}
_DEVICES = {"cpu", "xpu", "npu", "hpu", "musa", "mps"}


def runs_on(facts: Facts) -> Fact:
    """What the model runs on: the device that is written, where it is no CUDA GPU, or the platform."""
    written = facts.get("option.device")
    if isinstance(written, Known) and written.value in _DEVICES:
        return written
    return facts.get("hardware.platform")


def gpu(facts: Facts) -> Fact:
    """The kind of CUDA GPU by its compute capability; of any other device, its name."""
    found = runs_on(facts)
    if not isinstance(found, Known) or found.value != "cuda":
        return found
    capability = facts.get("hardware.capability")
    if not isinstance(capability, Known) or not isinstance(capability.value, int | float):
        return Missing("hardware.capability")
    return Known(_MAJOR.get(int(capability.value), OTHER))


def kinds(facts: Facts) -> tuple[str, ...] | Missing:
    """The kinds of GPU that the launch may run on."""
    found = gpu(facts)
    if isinstance(found, Missing):
        return CUDA if found.needs == "hardware.capability" else found
    return tuple(str(value) for value in found.values)


def by_gpu(backends: Mapping[str, JsonValue], other: JsonValue) -> Derivation:
    """A fact that follows from the kind of GPU alone; `other` is that of every kind not named."""

    def fact(facts: Facts) -> Fact:
        found = kinds(facts)
        return found if isinstance(found, Missing) else either(backends.get(kind, other) for kind in found)

    return fact


class Plain(Struct, frozen=True):
    """How a default is picked for a target without latent attention.

    `fa3`: Hopper takes FlashAttention 3; `trtllm`: the GPUs that take TensorRT-LLM's; `topk_given`: those only where a
    launch that speculates gives topk, or drafts with one of `chains`, which always use 1; `sinks`: a target with attention
    sinks does without FlashInfer; `uneven`: one whose keys and values differ in width does without TensorRT-LLM's.
    """

    fa3: bool = True
    trtllm: frozenset[str] = frozenset()
    topk_given: bool = False
    chains: frozenset[str] = frozenset()
    sinks: bool = False
    uneven: bool = False


def plain_backend(rule: Plain, facts: Facts) -> Fact:
    """The backend of a target without latent attention."""
    found, chain = kinds(facts), _unpaged_chain(facts)
    if isinstance(found, Missing) or isinstance(chain, Missing):
        return found if isinstance(found, Missing) else chain
    given = _topk_given(rule, facts) if rule.topk_given else Known(True)
    sinks = _yes_or_no(rule.sinks, attention_sinks, facts)
    uneven = _yes_or_no(rule.uneven, uneven_heads, facts)
    if isinstance(given, Missing):
        return given
    return either(
        _plain_on(rule, kind, fits=fits is True, given=topk is True, sinks=sunk, uneven=apart)
        for kind in found
        for fits in chain.values
        for topk in given.values
        for sunk in sinks
        for apart in uneven
    )


def _plain_on(rule: Plain, kind: str, *, fits: bool, given: bool, sinks: bool, uneven: bool) -> str:
    if kind == HOPPER and fits and rule.fa3:
        return "fa3"
    if kind in rule.trtllm and fits and given:
        return "fa4" if uneven else "trtllm_mha"
    if kind in CUDA and not sinks:
        return "flashinfer"
    return {"rocm": "aiter", "npu": "ascend", "mps": "torch_native"}.get(kind, "triton")


def _unpaged_chain(facts: Facts) -> Known | OneOf | Missing:
    """Whether no topk is given, or topk 1 with pages of one token."""
    topk, page = facts.get("option.speculative_eagle_topk"), facts.get("option.page_size")
    if isinstance(topk, Missing) or isinstance(page, Missing):
        return topk if isinstance(topk, Missing) else page
    return either(k is None or (k == 1 and size in (1, None)) for k in topk.values for size in page.values)


def _topk_given(rule: Plain, facts: Facts) -> Known | OneOf | Missing:
    topk, word = facts.get("option.speculative_eagle_topk"), facts.get("option.speculative_algorithm")
    if isinstance(topk, Missing) or isinstance(word, Missing):
        return topk if isinstance(topk, Missing) else word
    return either(
        name is None or k is not None or str(name).upper() in rule.chains for k in topk.values for name in word.values
    )


def _yes_or_no(asked: bool, question: Derivation, facts: Facts) -> tuple[bool, ...]:
    answer = question(facts) if asked else Known(False)
    return (answer.value is True,) if isinstance(answer, Known) else (True, False)


def attention_sinks(facts: Facts) -> Fact:
    """Whether the target's layers have attention sinks, as the engine tells from its config."""
    architecture = facts.get("target.architecture")
    if not isinstance(architecture, Known):
        return architecture
    if architecture.value == "GptOssForCausalLM":
        return Known(True)
    keys = ("add_swa_attention_sink_bias", "add_full_attention_sink_bias", "learnable_sink")
    found = [facts.get(f"target.config.{key}") for key in keys]
    if any(isinstance(fact, Known) and bool(fact.value) for fact in found):
        return Known(True)
    return next((fact for fact in found if not isinstance(fact, Known)), Known(False))


def uneven_heads(facts: Facts) -> Fact:
    """Whether keys and values differ in width."""
    widths = (("head_dim", "v_head_dim"), ("config.swa_head_dim", "config.swa_v_head_dim"))
    unknown: Fact = Known(False)
    for keys, written in widths:
        value = facts.get(f"target.{written}")
        if isinstance(value, Known) and value.value is None:
            continue
        key = facts.get(f"target.{keys}")
        if isinstance(value, Known) and isinstance(key, Known):
            if key.value is not None and key != value:
                return Known(True)
        else:
            unknown = key if isinstance(value, Known) else value
    return unknown


def keeps_latent_attention(facts: Facts) -> Fact:
    """Whether a family that can use latent attention does so here: false only where the config says that it does not."""
    architecture = facts.get("target.architecture")
    if not isinstance(architecture, Known):
        return architecture
    if architecture.value == "DeepseekVL2ForCausalLM":
        used = facts.get("target.config.use_mla")
        return Known(used.value is not False) if isinstance(used, Known) else used
    if architecture.value == "PixtralForConditionalGeneration":
        return facts.get("target.latent_attention")
    return Known(True)


def _latent_on(blackwell: str, chain_only: bool, idle_only: bool, facts: Facts) -> Fact:
    """The backend of a target with latent attention, for a release's backend on B200 and its rules on Hopper and ROCm."""
    found = kinds(facts)
    chain: Known | OneOf | Missing = _unpaged_chain(facts) if chain_only else Known(True)
    if isinstance(found, Missing) or isinstance(chain, Missing):
        return found if isinstance(found, Missing) else chain
    fixed: dict[str, str] = {BLACKWELL: blackwell, "npu": "ascend", "mps": "torch_native"}
    return either(
        backend
        for kind in found
        for fits in chain.values
        for backend in (
            _aiter(facts, idle_only)
            if kind == "rocm"
            else ("fa3" if fits else "triton",)
            if kind == HOPPER
            else (fixed.get(kind, "triton"),)
        )
    )


def _aiter(facts: Facts, idle_only: bool) -> tuple[str, ...]:
    """On ROCm: AITER's kernels are there for 16 and for 128 heads of a GPU; an older rule keeps them from speculation."""
    heads, width, word = (
        facts.get(path) for path in ("target.num_kv_heads", "option.tp_size", "option.speculative_algorithm")
    )
    if idle_only and isinstance(word, Known) and word.value is not None:
        return ("triton",)
    if not (isinstance(heads, Known) and isinstance(heads.value, int) and isinstance(width, Known)):
        return ("aiter", "triton")
    share = max(1, heads.value // width.value) if isinstance(width.value, int) and width.value > 0 else 0
    return ("aiter" if share in (16, 128) else "triton",)


def _plain(**rule: object) -> Callable[[Facts], Fact]:
    return partial(plain_backend, Plain(**rule))  # type: ignore[arg-type]  # the fields of Plain


_B200 = frozenset({BLACKWELL})

DERIVATIONS: Mapping[str, Derivation] = {
    "runs_on": runs_on,
    "gpu": gpu,
    "keeps_latent_attention": keeps_latent_attention,
    "plain_backend_fa3": _plain(),
    "plain_backend_no_fa3": _plain(fa3=False),
    "plain_backend_fa3_any_blackwell": _plain(trtllm=frozenset({BLACKWELL, RTX_BLACKWELL})),
    "plain_backend_no_fa3_any_blackwell": _plain(fa3=False, trtllm=frozenset({BLACKWELL, RTX_BLACKWELL})),
    "plain_backend_fa3_trtllm": _plain(trtllm=_B200, topk_given=True),
    "plain_backend_no_fa3_trtllm": _plain(fa3=False, trtllm=_B200, topk_given=True),
    "plain_backend_sinks": _plain(trtllm=_B200, topk_given=True, sinks=True),
    "plain_backend_uneven": _plain(trtllm=_B200, topk_given=True, sinks=True, uneven=True),
    "plain_backend_dflash": _plain(
        trtllm=_B200, topk_given=True, chains=frozenset({"DFLASH"}), sinks=True, uneven=True
    ),
    "latent_backend_hopper_chain": partial(_latent_on, "triton", True, True),
    "latent_backend_hopper": partial(_latent_on, "triton", False, True),
    "latent_backend_idle_aiter": partial(_latent_on, "flashinfer", False, True),
    "latent_backend_triton": by_gpu({}, "triton"),
    "latent_backend_no_fa3": by_gpu({BLACKWELL: "flashinfer", "npu": "ascend"}, "triton"),
    "latent_backend": partial(_latent_on, "flashinfer", False, False),
}
