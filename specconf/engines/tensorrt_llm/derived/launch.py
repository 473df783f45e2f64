"""What TensorRT-LLM makes of a launch as a whole: the backend, and whether the draft runs in an engine of its own."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf
from specconf.words import JsonValue

_TENSORRT = {"tensorrt", "trt"}
_TYPE = "option.speculative_config.decoding_type"
# The key that chooses between one model and two, by decoding_type.
_ONE_MODEL = {
    "Eagle": "option.speculative_config.eagle3_one_model",
    "Eagle3": "option.speculative_config.eagle3_one_model",
    "MTP": "option.speculative_config.mtp_eagle_one_model",
}


def _backend(facts: Facts) -> Fact:
    """`pytorch`, `tensorrt` or `_autodeploy`: the part of the engine that runs the model."""
    backend = facts.get("option.cli.backend")
    if isinstance(backend, OneOf):
        names = {"tensorrt" if value in _TENSORRT else value for value in backend.values}
        return OneOf(tuple(names)) if len(names) > 1 else Known(names.pop())
    if isinstance(backend, Missing):
        return backend
    return Known("tensorrt") if backend.value in _TENSORRT else backend


def _two_model(facts: Facts) -> Fact:
    """Whether the draft runs in an engine of its own beside the target's; MTP does so only with one layer that is replayed."""
    word = facts.get(_TYPE)
    if isinstance(word, Missing):
        return word
    answers = [_two_model_of(value, facts) for value in word.values]
    return answers[0] if all(answer == answers[0] for answer in answers) else OneOf((True, False))


def _two_model_of(word: JsonValue, facts: Facts) -> Fact:
    if word == "DraftTarget":  # its successor Draft_Target drafts inside the target's engine
        return Known(True)
    key = _ONE_MODEL.get(word) if isinstance(word, str) else None
    if key is None:
        return Known(False)
    one_model = facts.get(key)
    if not isinstance(one_model, Known):
        return one_model
    if one_model.value is not False:
        return Known(False)
    return Known(True) if word != "MTP" else _replayed_layer(facts)


def _replayed_layer(facts: Facts) -> Fact:
    vanilla = facts.get("option.speculative_config.use_mtp_vanilla")
    if not isinstance(vanilla, Known) or vanilla.value is True:
        return Known(False) if isinstance(vanilla, Known) else vanilla
    layers = facts.get("target.mtp_layers")
    if not isinstance(layers, Known):
        return layers
    return Known(layers.value == 1)


DERIVATIONS: Mapping[str, Derivation] = {"backend": _backend, "two_model": _two_model}
