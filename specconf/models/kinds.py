"""What sort of checkpoint a config describes: a plain model or one of the drafting heads. Decided by the config, and by
tensor names where those are known; never by the checkpoint's own name, which a copy does not keep. Where neither can
tell: unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from specconf.models.config import ConfigView, Missing


class Kind(StrEnum):
    """The sort of checkpoint, a closed list."""

    PLAIN = "plain"
    EAGLE = "eagle"
    EAGLE3 = "eagle3"
    MTP_ASSISTANT = "mtp_assistant"
    DFLASH = "dflash"
    DSPARK = "dspark"
    MEDUSA = "medusa"
    MLP_SPECULATOR = "mlp_speculator"
    SPECULATORS = "speculators"
    UNKNOWN = "unknown"


# Architecture names that say what they are, each with a part that it must hold, which is looked for first; the first match
# wins. NVIDIA's Eagle2.5-VL is a plain multimodal model.
_ARCHITECTURES: tuple[tuple[str, str, Kind], ...] = (
    ("PEagle", r"", Kind.UNKNOWN),
    ("Medusa", r"", Kind.MEDUSA),
    ("MLPSpeculator", r"", Kind.MLP_SPECULATOR),
    ("DSpark", r"", Kind.DSPARK),
    ("DFlash", r"", Kind.DFLASH),
    ("MuseGlimmerAssistantModel", r"^MuseGlimmerAssistantModel$", Kind.DFLASH),
    ("Eagle3", r"^Eagle3[A-Z]|Eagle3$", Kind.EAGLE3),
    ("EAGLEModel", r"^EAGLEModel$", Kind.EAGLE),
    ("Eagle", r"^Eagle[A-Z].*(ForCausalLM|MTPModel)$|ForCausalLMEagle$", Kind.EAGLE),
    ("Assistant", r"Assistant(ForCausalLM|Model)$", Kind.MTP_ASSISTANT),
    ("MTP", r"(MTP|MTPModel|MTPDraftModel)$", Kind.MTP_ASSISTANT),
    ("NextN", r"NextN$", Kind.MTP_ASSISTANT),
    ("Draft", r"", Kind.UNKNOWN),
    ("Speculator", r"", Kind.UNKNOWN),
    ("XPress", r"", Kind.UNKNOWN),
)
_MODEL_TYPES: tuple[tuple[str, str, Kind], ...] = (
    ("medusa", r"^medusa$", Kind.MEDUSA),
    ("mlp_speculator", r"^mlp_speculator$", Kind.MLP_SPECULATOR),
    ("dspark", r"", Kind.DSPARK),
    ("dflash", r"", Kind.DFLASH),
    ("eagle3", r"^eagle3$", Kind.EAGLE3),
    ("eagle", r"^eagle$", Kind.EAGLE),
    ("_mtp", r"_mtp$", Kind.MTP_ASSISTANT),
    ("_assistant", r"_assistant$", Kind.MTP_ASSISTANT),
)


def classify(
    view: ConfigView,
    tensors: frozenset[str] | None,
    architectures: list[str],
    model_type: str | None,
    layers: int | None,
) -> tuple[Kind, str]:
    """The kind, and the sentence that says by what it was told."""
    if any(not isinstance(view.raw(key), Missing) for key in ("speculators_model_type", "speculators_config")):
        return Kind.SPECULATORS, "speculators_config or speculators_model_type in the config"
    for name, table in ((architectures, _ARCHITECTURES), ([model_type] if model_type else [], _MODEL_TYPES)):
        for text in name:
            for part, pattern, kind in table:
                if part in text and re.search(pattern, text):
                    return kind, f"the config names {text}" + (
                        "" if kind is not Kind.UNKNOWN else ", a head of another sort"
                    )
    for test in (_by_keys, _by_tensors(tensors)):
        if answer := test(view):
            return answer
    return _by_shape(view, tensors, architectures, layers)


def _by_keys(view: ConfigView) -> tuple[Kind, str] | None:
    projector = view.raw("dflash_config.projector_type")
    if not isinstance(view.raw("dflash_config"), Missing):
        kind = Kind.DSPARK if projector == "dspark" else Kind.DFLASH
        return kind, "dflash_config in the config"
    for key, kind in (
        ("medusa_num_heads", Kind.MEDUSA),
        ("num_medusa_heads", Kind.MEDUSA),
        ("draft_vocab_size", Kind.EAGLE3),
        ("eagle_aux_hidden_state_layer_ids", Kind.EAGLE3),
    ):
        if not isinstance(view.raw(key), Missing):
            return kind, f"{key} in the config"
    return None


def _by_tensors(tensors: frozenset[str] | None) -> Callable[[ConfigView], tuple[Kind, str] | None]:
    def test(_: ConfigView) -> tuple[Kind, str] | None:
        if not tensors:
            return None
        if any(name in {"d2t", "t2d"} or "midlayer." in name for name in tensors):
            return Kind.EAGLE3, "tensors d2t, t2d or midlayer beside the config"
        if any(name.startswith("medusa_head") for name in tensors):
            return Kind.MEDUSA, "medusa_head tensors beside the config"
        if any(name in {"fc.weight", "model.fc.weight"} for name in tensors):
            return Kind.EAGLE, "an fc.weight tensor, and none of EAGLE-3's, beside the config"
        return None

    return test


def _by_shape(
    view: ConfigView, tensors: frozenset[str] | None, architectures: list[str], layers: int | None
) -> tuple[Kind, str]:
    if not architectures:
        return Kind.UNKNOWN, "the config names no architecture"
    if layers == 1 and not tensors:
        # EAGLE-1 and EAGLE-2 heads are a one-layer Llama whose `bias` key only EAGLE's own code reads.
        if isinstance(view.raw("bias"), bool):
            return Kind.EAGLE, "one layer, and the key bias of EAGLE-1 and EAGLE-2 heads"
        return Kind.UNKNOWN, "a one-layer model may be an EAGLE head: only its tensor names can tell"
    if layers is None and not view.complete:
        return Kind.UNKNOWN, f"{view.origin} shows too little to tell a head from a model"
    return Kind.PLAIN, f"the config names {architectures[0]} and nothing of a drafting head"
