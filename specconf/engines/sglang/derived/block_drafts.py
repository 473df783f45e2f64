"""What the config of a draft that proposes whole blocks (DFLASH, DSPARK) says of its block, and what in it the engine refuses.

A fault is named in words of a list; which of them a release looks for stands in the constraints. A member of the config that is
not known keeps the answer open, unless a fault is seen anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.words import JsonValue

_HEADS = ("vanilla", "gated", "rnn")
_PREFIXED = ("block_size", "markov_rank", "noise_token_id", "target_layer_ids")
_LILICORR = (
    "candidate_topk",
    "hidden_size",
    "num_layers",
    "num_heads",
    "mlp_ratio",
    "factor_dim",
    "vector_eps",
    "logit_scale",
)
_WIDEST = 16


class _Unknown(Exception):
    """A member of the config that nobody knows; carries what would have to be known."""

    def __init__(self, fact: Missing) -> None:
        super().__init__(fact.needs)
        self.fact = fact


class _Draft:
    """The config of the draft, read member by member."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def fact(self, path: str) -> JsonValue:
        """Any fact, or None where it is known not to be there."""
        found = self._facts.get(path)
        if isinstance(found, Known):
            return found.value
        raise _Unknown(found if isinstance(found, Missing) else Missing(path))

    def first(self, key: str, *sections: str) -> JsonValue:
        """The member of the first section that has it; an empty section is the config itself."""
        paths = [f"draft.config.{section}.{key}" if section else f"draft.config.{key}" for section in sections]
        return next((value for path in paths if (value := self.fact(path)) is not None), None)

    def dflash(self, key: str) -> JsonValue:
        """A member of the DFlash section, else of the config itself."""
        return self.first(key, "dflash_config", "")


def _number(value: JsonValue) -> float | None:
    """A number as the engine's `int` and `float` take it; None for what they cannot read."""
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _below(value: JsonValue, least: float) -> bool:
    """Whether a member that is there is no number, or too small."""
    number = _number(value)
    return value is not None and (number is None or number < least)


def _whole(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _parse_faults(draft: _Draft) -> Iterator[str]:
    """What stops the reading of the config itself in every release that has DFLASH."""
    for key in ("block_size", "num_target_layers"):
        if _below(draft.dflash(key), 1):
            yield f"{key} is no positive number"
    layers = draft.dflash("target_layer_ids")
    if layers is not None and (not isinstance(layers, list) or not layers):
        yield "target_layer_ids is no list of layers" if layers != [] else "target_layer_ids is empty"
    token = draft.fact("draft.config.dflash_config.mask_token")
    if token is not None and (not isinstance(token, str) or not token):
        yield "mask_token is no text"
    number = draft.fact("draft.config.dflash_config.mask_token_id")
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
        yield "mask_token_id is no token's number"


def _fit_faults(draft: _Draft) -> Iterator[str]:
    """What does not fit the target: its layers and its vocabulary."""
    layers = draft.dflash("target_layer_ids")
    if isinstance(layers, list) and layers:
        depth, loops = draft.fact("target.num_layers"), draft.fact("target.config.num_loops")
        if loops is None and any(isinstance(n, int) and isinstance(depth, int) and not 0 <= n < depth for n in layers):
            yield "target_layer_ids names a layer that the target does not have"
    number = draft.fact("draft.config.dflash_config.mask_token_id")
    if isinstance(number, int) and number >= 0:
        size = draft.fact("target.vocab_size")
        if isinstance(size, int) and number >= size:
            yield "mask_token_id is outside the target's vocabulary"


def _later_faults(draft: _Draft) -> Iterator[str]:
    """What releases look for that also know grouped convolutions, selectors and Domino heads."""
    section = "draft.config.dflash_config"
    for name, pair in (
        ("convolution", ("conv_kernel_size", "conv_group_size")),
        ("selector", ("selector_rank", "selector_top_k")),
    ):
        values = [draft.fact(f"{section}.{key}") for key in pair]
        if any(_below(value, 0) for value in values) or bool(values[0]) != bool(values[1]):
            yield f"{' and '.join(pair)} of the {name} do not stand together"
    multiplier = draft.fact(f"{section}.output_multiplier")
    if _below(multiplier, 0) or multiplier == 0:
        yield "output_multiplier is not positive"
    sink, scale = (draft.fact(f"{section}.{key}") for key in ("attention_sink_bias", "attention_value_scale"))
    if sink is not None and not isinstance(sink, bool):
        yield "attention_sink_bias is no boolean"
    if scale is not None and (isinstance(scale, bool) or not isinstance(scale, int | float)):
        yield "attention_value_scale is no number"
    if draft.dflash("projector_type") == "domino":
        yield from _domino_faults(draft)


def _domino_faults(draft: _Draft) -> Iterator[str]:
    if not isinstance(draft.dflash("shift_label"), bool):
        yield "shift_label of the Domino head is no boolean"
    if draft.dflash("pure_draft_prefix_len") != 1:
        yield "pure_draft_prefix_len of the Domino head is not 1"
    for key in ("gru_hidden_dim", "emb_dim"):
        if draft.dflash(key) is None or _below(draft.dflash(key), 1):
            yield f"{key} of the Domino head is missing"
    inside, outside = draft.fact("draft.config.dflash_config.emb_dim"), draft.fact("draft.config.emb_dim")
    if inside is not None and outside is not None and inside != outside:
        yield "emb_dim of the Domino head is given twice"
    if draft.dflash("block_size") == 1:
        yield "block_size is 1, too small for a Domino head"


def _layer_faults(draft: _Draft) -> Iterator[str]:
    """What is wrong with the kinds of attention that the config lists for the draft's own layers."""
    kinds = draft.first("layer_types", "text_config", "")
    if kinds is None:
        return
    if not isinstance(kinds, list):
        yield "layer_types is no list"
        return
    layers = draft.fact("draft.num_layers")
    if isinstance(layers, int) and len(kinds) < layers:
        yield "layer_types has not one entry for each layer"
    if any(kind not in ("full_attention", "sliding_attention") for kind in kinds):
        yield "layer_types names a kind of attention that is neither full nor sliding"


def _lilicorr_faults(draft: _Draft) -> Iterator[str]:
    """What the head that corrects a block by its own candidates needs of the config."""
    for key in _LILICORR:
        value = draft.fact(f"draft.config.dflash_config.lilicorr_{key}")
        number = _number(value)
        if number is None or (number <= 0 and key != "hidden_size"):
            yield f"lilicorr_{key} is missing or not positive"
    width = draft.fact("draft.config.dflash_config.lilicorr_candidate_topk")
    if isinstance(width, int) and (width > _WIDEST or width & (width - 1)):
        yield f"lilicorr_candidate_topk is no power of two up to {_WIDEST}"


# Where the members of DSPARK's head stand, in the order in which they are looked for.
_SECTIONS = ("dspark_config", "dflash_config", "text_config", "")


def _dspark_faults(draft: _Draft, *sections: str) -> Iterator[str]:
    """What DSPARK looks for beside what DFLASH does; `sections` are where a release looks for the members of its head."""
    prefixed = {key: draft.fact(f"draft.config.dspark_{key}") for key in _PREFIXED}
    yield from _head_faults(draft, prefixed, sections)
    layers = prefixed["target_layer_ids"]
    if layers is not None and (not isinstance(layers, list) or not layers):
        yield "dspark_target_layer_ids is no list of layers"
    yield from _mask_faults(draft, prefixed["noise_token_id"], sections)


def _head_faults(draft: _Draft, prefixed: Mapping[str, JsonValue], sections: tuple[str, ...]) -> Iterator[str]:
    rank = prefixed["markov_rank"]
    rank = draft.first("markov_rank", *sections) if rank is None else rank
    number = _number(0 if rank is None else rank)
    if number is None or number < 1:
        yield "markov_rank is not positive"
    head = draft.fact("draft.config.dspark_markov_head_type")
    head = draft.first("markov_head_type", *sections) if head is None else head
    if head is None and number and all(value is None for value in prefixed.values()):
        yield "markov_head_type is missing"
    if head is not None and str(head).lower() not in _HEADS:
        yield "markov_head_type is unknown"


def _mask_faults(draft: _Draft, noise: JsonValue, sections: tuple[str, ...]) -> Iterator[str]:
    token = draft.first("mask_token_id", *sections, "dflash_config") if noise is None else noise
    if token is None:
        yield "mask_token_id is missing"
        return
    if _below(token, 0):
        yield "mask_token_id is no token's number"
        return
    rows = draft.fact("target.config.padded_vocab_size") or draft.fact("target.vocab_size")
    if _whole(token) and isinstance(rows, int) and isinstance(token, int) and token >= rows:
        yield "mask_token_id is outside the target's embedding"


def _list_of(find: Callable[[_Draft], Iterator[str]]) -> Derivation:
    """A fact that lists the faults; missing where none was seen before a member that is not known."""

    def faults(facts: Facts) -> Fact:
        found: list[JsonValue] = []
        try:
            for fault in find(_Draft(facts)):
                found.append(fault)
        except _Unknown as unknown:
            return Known(found) if found else unknown.fact
        return Known(found)

    return faults


def _block(facts: Facts, *, prefixed: bool) -> Fact:
    """The block that the draft's config gives, None where it gives none or cannot be read."""
    draft = _Draft(facts)
    try:
        own = draft.fact("draft.config.dspark_block_size") if prefixed else None
        broken = next(_parse_faults(draft), None)
        value = None if broken else draft.dflash("block_size") if own is None else own
    except _Unknown as unknown:
        return unknown.fact
    number = _number(value)
    return Known(None if number is None else int(number))


def draft_block(facts: Facts) -> Fact:
    """The block size that DFLASH reads in the draft's config."""
    return _block(facts, prefixed=False)


def draft_gamma(facts: Facts) -> Fact:
    """The number of tokens that DSPARK reads in the draft's config, where it can read its head: a block is one token longer."""
    draft = _Draft(facts)
    try:
        prefixed = {key: draft.fact(f"draft.config.dspark_{key}") for key in _PREFIXED}
        unread = [each for each in _head_faults(draft, prefixed, _SECTIONS) if "head_type" in each]
    except _Unknown as unknown:
        return unknown.fact
    return Known(None) if unread else _block(facts, prefixed=True)


DERIVATIONS: Mapping[str, Derivation] = {
    "draft_block": draft_block,
    "draft_gamma": draft_gamma,
    "block_draft_faults": _list_of(_parse_faults),
    "block_draft_misfits": _list_of(_fit_faults),
    "block_draft_faults_later": _list_of(_later_faults),
    "block_draft_layer_faults": _list_of(_layer_faults),
    "lilicorr_faults": _list_of(_lilicorr_faults),
    "dspark_faults": _list_of(lambda draft: _dspark_faults(draft, *_SECTIONS)),
    "dspark_faults_early": _list_of(lambda draft: _dspark_faults(draft, "dspark_config", "text_config", "")),
}
