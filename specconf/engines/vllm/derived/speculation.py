"""What drafts, and by which method: facts of the speculative config and of the checkpoint that drafts."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from specconf.engines.vllm.inference import METHOD, MODEL, NGRAM_MODELS
from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.patterns import pattern
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
    """Whether the launch asks for speculation at all, or the served checkpoint brings it along."""
    if (draft := facts.override_of(MODEL)) is not None and isinstance(draft.value, Known) and draft.value.value:
        return Known(True)
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


def drafter_role(facts: Facts) -> str | Fact:
    """Whether the target's own checkpoint drafts or another: target or draft, else the fact that is missing to tell."""
    own = draft_is_target(facts)
    if not isinstance(own, Known):
        return own
    return "target" if own.value else "draft"


def drafter(facts: Facts, path: str) -> Fact:
    """A fact of whichever checkpoint drafts."""
    role = drafter_role(facts)
    return facts.get(f"{role}.{path}") if isinstance(role, str) else role


def _drafter(path: str) -> Derivation:
    return lambda facts: drafter(facts, path)


def draft_name(facts: Facts) -> Fact:
    """The draft's name in lower case, as the engine searches it for the words of methods; empty where none is named.

    With a method for MTP, a draft that is not named is the target, whose name is then searched alike.
    """
    asked = facts.get(f"asked.{MODEL}")
    if not isinstance(asked, Known):
        return asked
    method = facts.get(f"asked.{METHOD}")
    if asked.value is None and isinstance(method, Known) and str(method.value).endswith("mtp"):
        asked = facts.get("asked.model")
        if not isinstance(asked, Known):
            return asked
    return Known(asked.value.lower() if isinstance(asked.value, str) else "")


def draft_known(facts: Facts) -> Fact:
    """Whether the config of the checkpoint that drafts is at hand."""
    return Known(not isinstance(_drafter("model_type")(facts), Missing))


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


# What huggingface_hub.utils.validate_repo_id takes for the name of a repository.
_REPOSITORY = pattern(r"(?!.*(--|\.\.))(?!.*\.git$)(\w([\w.-]*\w)?/)?(?=.{1,96}$)\w([\w.-]*\w)?")


def verifier_is_local(facts: Facts) -> Fact:
    """Whether a speculators checkpoint names no repository as its verifier: a path, or a name that is a path here too."""
    config = facts.get("checkpoint.config.speculators_config")
    if not isinstance(config, Known) or not isinstance(config.value, dict):
        return Known(False) if isinstance(config, Known) else config
    verifier = config.value.get("verifier")
    name = verifier.get("name_or_path") if isinstance(verifier, dict) else None
    if not isinstance(name, str) or not _REPOSITORY.fullmatch(name):
        return Known(True)
    return Missing(f"whether a path {name} exists where the engine starts")


def token_tree_branches(facts: Facts) -> Fact:
    """Whether the tree of drafted tokens that the launch writes has two tokens at one depth."""
    asked = facts.get("asked.speculative_config.speculative_token_tree")
    if not isinstance(asked, Known) or asked.value is None:
        return Known(False) if isinstance(asked, Known) else asked
    try:
        nodes = ast.literal_eval(str(asked.value))
        depths = [len(node) for node in nodes]
    except (ValueError, SyntaxError, TypeError):
        return Missing("a tree that can be read")
    return Known(len(depths) > len(set(depths)))


DERIVATIONS: Mapping[str, Derivation] = {
    "speculates": speculates,
    "draft_is_target": draft_is_target,
    "drafter_model_type": _drafter("model_type"),
    "drafter_architecture": _drafter("architecture"),
    "drafter_mtp_layers": _drafter("mtp_layers"),
    "mtp_modules": _drafter("config.num_nextn_predict_layers"),
    "draft_known": draft_known,
    "draft_name": draft_name,
    "named_by_flags": named_by_flags,
    "draft_method": draft_method,
    "token_tree_branches": token_tree_branches,
    "verifier_is_local": verifier_is_local,
}
