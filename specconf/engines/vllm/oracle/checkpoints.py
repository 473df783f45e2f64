"""Writes tiny checkpoints that vLLM can load: weights with the names and shapes that each architecture has, from a seed.

Run by the python of a serving environment (torch, safetensors and tokenizers are there, specconf is not):
`python checkpoints.py FOLDER` reads `{name: {"config": {...}, "kind": "plain" | "eagle" | …}}` from standard input, writes
`FOLDER/name/` with config.json, weights and, but for heads without one, a tokenizer, and prints `{"unknown": {name: why}}`
for those whose weights it cannot write. The same input gives the same bytes. Random weights only: what the text that such a
model generates is worth, nobody should ask.
"""

from __future__ import annotations

import json
import pydoc_data.topics
import sys
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from msgspec import Struct
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

Weights = dict[str, torch.Tensor]
Config = Mapping[str, Any]

SPECIAL = ("<|pad|>", "<|bos|>", "<|eos|>")
CHAT = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "
# A larger vocabulary would need more text to be trained on; a tokenizer may have fewer tokens than the model has rows.
MOST_TOKENS = 1024

_PROJECTIONS = ("q_proj", "k_proj", "v_proj")


class UnknownArchitectureError(Exception):
    """Nothing here says which weights a checkpoint of this architecture has."""


class Shape(Struct, frozen=True):
    """The sizes of a decoder, with the defaults that `transformers` has where a config leaves one out."""

    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int

    @classmethod
    def of(cls, config: Config, *, own_head_dim: bool = True) -> Shape:
        """The sizes that a config states. `own_head_dim`: whether the architecture reads `head_dim`."""
        hidden, heads = config["hidden_size"], config["num_attention_heads"]
        stated = config.get("head_dim") if own_head_dim else None
        return cls(
            hidden,
            config["intermediate_size"],
            config["num_hidden_layers"],
            heads,
            config.get("num_key_value_heads") or heads,
            stated or hidden // heads,
            config["vocab_size"],
        )


class Maker:
    """Random tensors of a seed that depends on the checkpoint's name and config alone."""

    def __init__(self, config: Config) -> None:
        self._generator = torch.Generator().manual_seed(zlib.crc32(json.dumps(config, sort_keys=True).encode()))

    def matrix(self, *shape: int, scale: float = 0.05) -> torch.Tensor:
        """Normally distributed numbers."""
        return torch.randn(*shape, generator=self._generator) * scale

    def layer(
        self, shape: Shape, prefix: str, *, read: int | None = None, bias: bool = False, head_norms: bool = False
    ) -> Weights:
        """One decoder layer as Llama and its kin have it. `read`: the width that attention reads, where it is another."""
        widths = (shape.heads, shape.kv_heads, shape.kv_heads)
        found: Weights = {}
        for name, count in zip(_PROJECTIONS, widths, strict=True):
            rows = count * shape.head_dim
            found[f"self_attn.{name}.weight"] = self.matrix(rows, read or shape.hidden)
            if bias:
                found[f"self_attn.{name}.bias"] = torch.zeros(rows)
        found["self_attn.o_proj.weight"] = self.matrix(shape.hidden, shape.heads * shape.head_dim)
        if head_norms:
            found |= {f"self_attn.{name}_norm.weight": torch.ones(shape.head_dim) for name in "qk"}
        found["mlp.gate_proj.weight"] = self.matrix(shape.inner, shape.hidden)
        found["mlp.up_proj.weight"] = self.matrix(shape.inner, shape.hidden)
        found["mlp.down_proj.weight"] = self.matrix(shape.hidden, shape.inner)
        found |= {
            f"{name}.weight": torch.ones(shape.hidden) for name in ("input_layernorm", "post_attention_layernorm")
        }
        return {prefix + name: tensor for name, tensor in found.items()}

    def decoder(self, shape: Shape, *, tied: bool, bias: bool = False, head_norms: bool = False) -> Weights:
        """A whole model of Llama's kind."""
        found = {
            "model.embed_tokens.weight": self.matrix(shape.vocabulary, shape.hidden, scale=1.0),
            "model.norm.weight": torch.ones(shape.hidden),
        }
        if not tied:
            found["lm_head.weight"] = self.matrix(shape.vocabulary, shape.hidden, scale=1.0)
        for number in range(shape.layers):
            found |= self.layer(shape, f"model.layers.{number}.", bias=bias, head_norms=head_norms)
        return found


def _llama(config: Config) -> Weights:
    return Maker(config).decoder(Shape.of(config), tied=bool(config.get("tie_word_embeddings")))


def _qwen2(config: Config) -> Weights:
    shape = Shape.of(config, own_head_dim=False)
    return Maker(config).decoder(shape, tied=bool(config.get("tie_word_embeddings")), bias=True)


def _qwen3(config: Config) -> Weights:
    # Qwen3's own default, whatever hidden size and heads come to.
    shape = Shape.of({"head_dim": 128, **config})
    return Maker(config).decoder(shape, tied=bool(config.get("tie_word_embeddings")), head_norms=True)


def _mimo(config: Config) -> Weights:
    shape, make = Shape.of(config, own_head_dim=False), Maker(config)
    found = make.decoder(shape, tied=bool(config.get("tie_word_embeddings")), bias=True)
    for number in range(config.get("num_nextn_predict_layers") or 0):
        prefix = f"model.mtp_layers.{number}."
        norms = ("token_layernorm", "hidden_layernorm", "final_layernorm")
        found |= make.layer(shape, prefix, bias=True)
        found |= {f"{prefix}{name}.weight": torch.ones(shape.hidden) for name in norms}
        found[prefix + "input_proj.weight"] = make.matrix(shape.hidden, 2 * shape.hidden)
    return found


def _opt(config: Config) -> Weights:
    make, hidden, inner = Maker(config), config["hidden_size"], config["ffn_dim"]
    positions = config["max_position_embeddings"] + 2  # OPT keeps two rows before the first position
    found = {
        "embed_tokens.weight": make.matrix(config["vocab_size"], hidden, scale=1.0),
        "embed_positions.weight": torch.zeros(positions, hidden),
        **_norm("final_layer_norm", hidden),
    }
    for number in range(config["num_hidden_layers"]):
        prefix = f"layers.{number}."
        for name in (*_PROJECTIONS, "out_proj"):
            found |= make_linear(make, f"{prefix}self_attn.{name}", hidden, hidden)
        found |= make_linear(make, f"{prefix}fc1", inner, hidden) | make_linear(make, f"{prefix}fc2", hidden, inner)
        found |= _norm(f"{prefix}self_attn_layer_norm", hidden) | _norm(f"{prefix}final_layer_norm", hidden)
    return {f"model.decoder.{name}": tensor for name, tensor in found.items()}


def make_linear(make: Maker, name: str, rows: int, columns: int) -> Weights:
    """A linear layer with a bias."""
    return {f"{name}.weight": make.matrix(rows, columns), f"{name}.bias": torch.zeros(rows)}


def _norm(name: str, size: int) -> Weights:
    return {f"{name}.weight": torch.ones(size), f"{name}.bias": torch.zeros(size)}


def _eagle(config: Config) -> Weights:
    """An EAGLE-1 head: embeddings and output are the target's, and the first layer has no norm before it."""
    shape, make = Shape.of(config), Maker(config)
    found = {"fc.weight": make.matrix(shape.hidden, 2 * shape.hidden)}
    for number in range(shape.layers):
        found |= make.layer(shape, f"layers.{number}.")
    del found["layers.0.input_layernorm.weight"]
    return found


def _eagle3(config: Config, *, layer: str = "midlayer.") -> Weights:
    """An EAGLE-3 head: reads token and hidden state side by side, and may draft from a part of the vocabulary."""
    shape, make = Shape.of(config), Maker(config)
    drafted = config.get("draft_vocab_size") or shape.vocabulary
    read = (config.get("target_hidden_size") or shape.hidden) * 3
    found = make.layer(shape, layer, read=2 * shape.hidden) | {
        f"{layer}hidden_norm.weight": torch.ones(shape.hidden),
        "fc.weight": make.matrix(shape.hidden, read),
        "norm.weight": torch.ones(shape.hidden),
        "lm_head.weight": make.matrix(drafted, shape.hidden, scale=1.0),
    }
    if drafted != shape.vocabulary:
        known = torch.zeros(shape.vocabulary, dtype=torch.bool)
        known[:drafted] = True
        found |= {"d2t": torch.zeros(drafted, dtype=torch.int64), "t2d": known}
    return found


def _speculators(config: Config) -> Weights:
    """The same head in the speculators format, which has embeddings of its own."""
    if config.get("speculators_model_type") != "eagle3":
        raise UnknownArchitectureError(f"speculators_model_type {config.get('speculators_model_type')}")
    inner = dict(config["transformer_layer_config"]) | {"draft_vocab_size": config.get("draft_vocab_size")}
    embeddings = Maker(config).matrix(inner["vocab_size"], inner["hidden_size"], scale=1.0)
    return _eagle3(inner, layer="layers.0.") | {"embed_tokens.weight": embeddings}


def _dflash(config: Config) -> Weights:
    """A DFlash head: Qwen3 layers that read the layers of the target it names; embeddings and output are the target's."""
    shape, make = Shape.of({"head_dim": 128, **config}), Maker(config)
    taps = (config.get("dflash_config") or {}).get("target_layer_ids")
    if not taps:
        raise UnknownArchitectureError("a DFlash head that names no layers of its target")
    found = {
        "fc.weight": make.matrix(shape.hidden, len(taps) * (config.get("target_hidden_size") or shape.hidden)),
        "hidden_norm.weight": torch.ones(shape.hidden),
        "norm.weight": torch.ones(shape.hidden),
    }
    for number in range(shape.layers):
        found |= make.layer(shape, f"layers.{number}.", head_norms=True)
    return found


def _medusa(config: Config) -> Weights:
    make, hidden = Maker(config), config["hidden_size"]
    found: Weights = {}
    for head in range(config["num_heads"]):
        for number in range(config.get("num_hidden_layers", 1)):
            found[f"blocks.{head}.layers.{number}.weight"] = make.matrix(hidden, hidden)
        found[f"lm_heads.{head}.weight"] = make.matrix(config["vocab_size"], hidden, scale=1.0)
    return found


# What a checkpoint of each kind holds, then of each architecture of a plain model.
KINDS: Mapping[str, Callable[[Config], Weights]] = {
    "eagle": _eagle,
    "eagle3": _eagle3,
    "dflash": _dflash,
    "speculators": _speculators,
    "medusa": _medusa,
}
ARCHITECTURES: Mapping[str, Callable[[Config], Weights]] = {
    "LlamaForCausalLM": _llama,
    "MiMoForCausalLM": _mimo,
    "MistralForCausalLM": _llama,
    "OPTForCausalLM": _opt,
    "Qwen2ForCausalLM": _qwen2,
    "Qwen3ForCausalLM": _qwen3,
}
# Real heads of these kinds are published without a tokenizer.
WITHOUT_TOKENIZER = frozenset({"dflash", "eagle", "eagle3", "medusa"})


def weights(config: Config, kind: str) -> Weights:
    """The tensors of a checkpoint; UnknownArchitectureError where nobody knows them."""
    if kind in KINDS:
        return KINDS[kind](config)
    architecture = (config.get("architectures") or ["no architecture"])[0]
    if architecture not in ARCHITECTURES:
        raise UnknownArchitectureError(str(architecture))
    return ARCHITECTURES[architecture](config)


def write_tokenizer(folder: Path, size: int) -> None:
    """A byte-level tokenizer, trained on the help texts that every Python has."""
    tokenizer = Tokenizer(models.BPE(unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator([text for _, text in sorted(pydoc_data.topics.topics.items())], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    pad, bos, eos = SPECIAL
    said = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": bos,
        "eos_token": eos,
        "pad_token": pad,
        "chat_template": CHAT,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")


def write(folder: Path, config: Config, kind: str) -> None:
    """One checkpoint."""
    tensors = weights(config, kind)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(
        {name: tensor.contiguous() for name, tensor in tensors.items()},
        str(folder / "model.safetensors"),
        metadata={"format": "pt"},
    )
    if kind not in WITHOUT_TOKENIZER:
        inner = config.get("transformer_layer_config", config)
        write_tokenizer(folder, min(inner["vocab_size"], MOST_TOKENS))


def main() -> None:
    """Write what standard input asks for."""
    root = Path(sys.argv[1])
    unknown = {}
    for name, asked in json.load(sys.stdin).items():
        try:
            write(root / name, asked["config"], asked["kind"])
        except UnknownArchitectureError as error:
            unknown[name] = str(error)
    print(json.dumps({"unknown": unknown}))


if __name__ == "__main__":
    main()
