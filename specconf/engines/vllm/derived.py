"""Facts that are computed once per launch from its settings and models, free of any release: `derived.*`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from specconf.engines.vllm.inference import MODEL, NGRAM_MODELS
from specconf.facts import Derivation, Fact, Facts, Known, Missing, OneOf
from specconf.settings import Origin, Setting
from specconf.words import JsonValue

CONFIG = "speculative_config"
# What the separate flags of before 0.8.3 can say.
_FLAG_KEYS = frozenset(
    {
        "model", "quantization", "num_speculative_tokens", "disable_mqa_scorer", "draft_tensor_parallel_size",
        "max_model_len", "disable_by_batch_size", "prompt_lookup_max", "prompt_lookup_min", "acceptance_method",
        "posterior_threshold", "posterior_alpha", "disable_logprobs",
    }
)  # fmt: skip


def speculates(facts: Facts) -> Fact:
    """Whether the launch asks for speculation at all."""
    written = facts.settings.writes(CONFIG) and facts.settings.get(CONFIG, "members") is not None
    if not written and facts.settings.may_hold_more:
        return Missing("unresolved words of the launch")
    return Known(written)


def draft_is_target(facts: Facts) -> Fact:
    """Whether the target's own checkpoint drafts: no draft model is named, or the target is."""
    draft, target = facts.get(f"asked.{MODEL}"), facts.get("asked.model")
    if isinstance(draft, Known) and draft.value is None:
        return Known(True)
    if isinstance(draft, Known) and isinstance(target, Known):
        return Known(draft.value == target.value)
    return draft if isinstance(draft, Missing) else Missing("the names of target and draft")


def _drafter(path: str) -> Derivation:
    """A fact of whichever checkpoint drafts."""

    def derive(facts: Facts) -> Fact:
        own = draft_is_target(facts)
        if not isinstance(own, Known):
            return own
        return facts.get(f"target.{path}" if own.value else f"draft.{path}")

    return derive


def target_text_model_type(facts: Facts) -> Fact:
    """The model type of the target's language model, which checks of the engine look at."""
    inner = facts.get("target.config.text_config.model_type")
    return inner if isinstance(inner, Known) and inner.value is not None else facts.get("target.model_type")


def draft_name(facts: Facts) -> Fact:
    """The draft's name in lower case, as the engine searches it for the words of methods; empty where none is named."""
    asked = facts.get(f"asked.{MODEL}")
    if not isinstance(asked, Known):
        return asked
    return Known(asked.value.lower() if isinstance(asked.value, str) else "")


def named_by_flags(facts: Facts) -> Fact:
    """Whether the speculative config is written with separate flags rather than as one object."""
    settings = [s for path, s in facts.settings.items_by_path.items() if path.startswith(f"{CONFIG}.")]
    return Known(bool(settings) and all(_is_flag(s) for s in settings))


def _is_flag(setting: Setting) -> bool:
    """Whether a flag wrote it; what a spec sets is written as one where there is one (see `emit`)."""
    spelling, origin = setting.final.spelling, setting.final.origin
    if origin in {Origin.SPEC, Origin.OPTION}:
        return setting.path.rpartition(".")[2] in _FLAG_KEYS
    return spelling.startswith("-")


def draft_method(facts: Facts) -> Fact:
    """What the draft's name and config make of it where no key names the method."""
    speculating = speculates(facts)
    if not isinstance(speculating, Known) or not speculating.value:
        return speculating if not isinstance(speculating, Known) else Known(None)
    name = facts.get(f"asked.{MODEL}")
    if not isinstance(name, Known):
        return name
    if name.value in NGRAM_MODELS:
        return Known("ngram")
    if name.value is None:
        return Known("mtp")
    model_type = facts.get("draft.model_type")
    if isinstance(model_type, Missing):
        return model_type
    kind: JsonValue = model_type.value if isinstance(model_type, Known) else None
    own = draft_is_target(facts)
    if isinstance(own, Known) and own.value and facts.get("target.mtp_layers") != Known(0):
        return Known("mtp")
    return Known(kind if kind in ("eagle", "medusa", "mlp_speculator") else "draft_model")


def draft_vocab_differs(facts: Facts) -> Fact:
    """Whether target and draft differ in the size of their vocabularies; a target that drafts for itself does not."""
    if draft_is_target(facts) == Known(True):
        return Known(False)
    target, draft = facts.get("target.vocab_size"), facts.get("draft.vocab_size")
    for fact in (target, draft):
        if not isinstance(fact, Known):
            return fact
    assert isinstance(target, Known)
    assert isinstance(draft, Known)
    if target.value is None or draft.value is None:
        return Missing("vocabulary sizes of target and draft")
    return Known(target.value != draft.value)


# RoPE scaling that leaves max_position_embeddings as the length a checkpoint is good for.
_PLAIN_ROPE = ("default", "llama3", "longrope", "su")


def _config_length(role: str, facts: Facts) -> Fact:
    """The longest sequence that a checkpoint's config allows, where no RoPE scaling stretches it."""
    for key in ("rope_scaling", "rope_parameters"):
        scaling = facts.get(f"{role}.config.{key}")
        if not isinstance(scaling, Known):
            return scaling
        kind = scaling.value.get("rope_type", scaling.value.get("type")) if isinstance(scaling.value, dict) else None
        if scaling.value is not None and kind not in _PLAIN_ROPE:
            return Missing(f"the length of the {role}", "its RoPE scaling stretches it by release")
    length = facts.get(f"{role}.max_position_embeddings")
    return Missing(f"{role} max_position_embeddings") if length == Known(None) else length


def target_length(facts: Facts) -> Fact:
    """The longest sequence served: as the launch says, else as the target's config allows."""
    asked = facts.get("option.max_model_len")
    if isinstance(asked, Known) and isinstance(asked.value, int) and asked.value > 0:
        return asked
    return _config_length("target", facts) if isinstance(asked, Known) else asked


def draft_length(facts: Facts) -> Fact:
    """The longest sequence that the draft takes: as the launch says, else as its config allows."""
    if draft_is_target(facts) == Known(True):
        return target_length(facts)
    asked = facts.get(f"asked.{CONFIG}.max_model_len")
    if isinstance(asked, Known) and asked.value is None:
        return _config_length("draft", facts)
    return asked


def attention_backend(facts: Facts) -> Fact:
    """The attention backend that --attention-backend names, in the upper case in which the engine looks it up."""
    asked = facts.get("asked.attention_backend")
    if isinstance(asked, Known) and isinstance(asked.value, str):
        return Known(asked.value.upper())
    return asked


_RUNNER = "env.VLLM_USE_V2_MODEL_RUNNER"


def v2_runner_forced(facts: Facts) -> Fact:
    """Whether an option takes the V2 model runner whatever else is written: watermarks and HiSparse (0.30.0 on)."""
    asked = (facts.get("asked.watermark_config"), _member(facts, "attention_config", "hisparse_config"))
    missing = [fact for fact in asked if not isinstance(fact, Known)]
    return missing[0] if missing else Known(any(fact != Known(None) for fact in asked))


def model_runner(facts: Facts) -> Fact:
    """The model runner of a V1 engine, V1 or V2, for releases that take V2 unless something speaks against it (0.29.0 on).

    The rules that fall back set the variable; before 0.29.0 a list of targets decides, which is not modelled: no rule of
    those releases may ask for this.
    """
    forced = v2_runner_forced(facts)
    if forced != Known(False):
        return Known("V2") if isinstance(forced, Known) else forced
    asked = facts.get(f"option.{_RUNNER}")
    if isinstance(asked, Missing):
        return asked
    values = asked.values if isinstance(asked, OneOf) else (asked.value,)
    runners: list[JsonValue] = []
    for value in values:
        runner = _default_runner(facts) if value is None else Known(_runner(value))
        if not isinstance(runner, Known):
            return runner
        runners += [runner.value] if runner.value not in runners else []
    return OneOf(tuple(runners)) if len(runners) > 1 else Known(runners[0])


def _runner(value: JsonValue) -> str:
    return "V1" if str(value).strip().lower() in {"0", "false"} else "V2"


def _default_runner(facts: Facts) -> Fact:
    """V2 on CUDA; a CPU has no Triton, which V2 needs; elsewhere it depends on the target and on what is installed."""
    platform = facts.get("hardware.platform")
    if not isinstance(platform, Known):
        return platform
    known = {"cuda": "V2", "cpu": "V1"}.get(str(platform.value))
    return Known(known) if known else Missing("the model runner", f"its default on {platform.value} is not known")


def _member(facts: Facts, option: str, *keys: str) -> Fact:
    """A member of an option that is an object whose members are not harvested; None where it is not written."""
    asked = facts.get(f"asked.{option}")
    for key in keys:
        if not isinstance(asked, Known):
            return asked
        asked = Known(asked.value.get(key) if isinstance(asked.value, dict) else None)
    return asked


_COMPILATION_MODES: Mapping[str, str] = {"0": "NONE", "1": "STOCK_TORCH_COMPILE"}
_GRAPH_MODES: Mapping[str, str] = {"0": "NONE", "1": "PIECEWISE"}
_NO_OPTIMIZATION = ("0", "O0")


def compilation_mode(facts: Facts) -> Fact:
    """The compilation mode that --compilation-config names, by its name; None where it names none."""
    mode = _member(facts, "compilation_config", "mode")
    if not isinstance(mode, Known) or mode.value is None:
        return mode
    return Known(_COMPILATION_MODES.get(str(mode.value), str(mode.value).upper()))


def sequence_parallelism(facts: Facts) -> Fact:
    """Whether --compilation-config asks for sequence parallelism."""
    return _member(facts, "compilation_config", "pass_config", "enable_sp")


def cudagraph_mode(facts: Facts) -> Fact:
    """The CUDA-graph mode that the launch asks for, in upper case; None where the engine chooses."""
    eager = facts.get("option.enforce_eager")
    if not isinstance(eager, Known):
        return eager
    mode = _member(facts, "compilation_config", "cudagraph_mode")
    level = facts.get("asked.optimization_level")
    if eager.value is True:
        return Known("NONE")
    if not isinstance(mode, Known) or mode.value is not None:
        return Known(_GRAPH_MODES.get(str(mode.value), str(mode.value).upper())) if isinstance(mode, Known) else mode
    if not isinstance(level, Known):
        return level
    return Known("NONE" if level.value is not None and str(level.value) in _NO_OPTIMIZATION else None)


# What huggingface_hub.utils.validate_repo_id takes for the name of a repository.
_REPOSITORY = re.compile(r"(?!.*(--|\.\.))(?!.*\.git$)(\w([\w.-]*\w)?/)?(?=.{1,96}$)\w([\w.-]*\w)?")


def verifier_is_local(facts: Facts) -> Fact:
    """Whether a speculators checkpoint names no repository as its verifier: a path, or a name that is a path here too."""
    config = facts.get("target.config.speculators_config")
    if not isinstance(config, Known) or not isinstance(config.value, dict):
        return Known(False) if isinstance(config, Known) else config
    verifier = config.value.get("verifier")
    name = verifier.get("name_or_path") if isinstance(verifier, dict) else None
    if not isinstance(name, str) or not _REPOSITORY.fullmatch(name):
        return Known(True)
    return Missing(f"whether a path {name} exists where the engine starts")


def config_file_in_one_word(facts: Facts) -> Fact:
    """Whether the command line names an option file as --config=FILE: the two-word form is read, and leaves no setting."""
    setting = facts.settings.items_by_path.get("config")
    if setting is None:
        return Missing("unresolved words of the launch") if facts.settings.may_hold_more else Known(False)
    return Known(setting.final.origin not in {Origin.SPEC, Origin.OPTION})


# Endings of architecture names that stand for each other: vllm/config/model.py, _SUFFIX_TO_DEFAULTS (0.33.0).
_GENERATIVE = ("ForCausalLM", "ForConditionalGeneration", "ChatModel", "LMHeadModel")
_ENDINGS = (*_GENERATIVE, "ForTextEncoding", "EmbeddingModel", "ForSequenceClassification", "ForTokenClassification",
            "ForAudioClassification", "ForImageClassification", "ForVideoClassification", "ClassificationModel",
            "ForRewardModeling", "RewardModel", "Model")  # fmt: skip


def architecture_names(facts: Facts) -> Fact:
    """The target's architectures, and the names with another ending under which the engine looks for a class, too."""
    found = facts.get("target.architectures")
    if not isinstance(found, Known) or not isinstance(found.value, list):
        return found
    names: list[JsonValue] = []
    for name in found.value:
        ending = next((end for end in _GENERATIVE if isinstance(name, str) and name.endswith(end)), None)
        stem = str(name).removesuffix(ending or "")
        names += [name, *(stem + end for end in _ENDINGS if ending is not None)]
    return Known(names)


DERIVATIONS: Mapping[str, Derivation] = {
    "architecture_names": architecture_names,
    "speculates": speculates,
    "draft_is_target": draft_is_target,
    "drafter_model_type": _drafter("model_type"),
    "drafter_architecture": _drafter("architecture"),
    "drafter_mtp_layers": _drafter("mtp_layers"),
    "target_text_model_type": target_text_model_type,
    "draft_name": draft_name,
    "named_by_flags": named_by_flags,
    "attention_backend": attention_backend,
    "config_file_in_one_word": config_file_in_one_word,
    "v2_runner_forced": v2_runner_forced,
    "model_runner": model_runner,
    "compilation_mode": compilation_mode,
    "sequence_parallelism": sequence_parallelism,
    "cudagraph_mode": cudagraph_mode,
    "verifier_is_local": verifier_is_local,
    "draft_method": draft_method,
    "draft_vocab_differs": draft_vocab_differs,
    "target_length": target_length,
    "draft_length": draft_length,
}
