"""Files that an engine reads beside a config.json on its way to a verdict: a tokenizer just large enough to be one."""

from __future__ import annotations

import json
from collections.abc import Mapping

# Tokens that engines look up by their text: where a model's thinking begins and ends.
_MARKS = (
    *("<think>", "</think>", "<mm:think>", "</mm:think>", "<seed:think>", "</seed:think>"),
    *("<|channel>", "<channel|>", "<|channel|>", "<|message|>", "<|start|>", "<|end|>"),
)


def tokenizer(folder: str) -> Mapping[str, str]:
    """The files of a tokenizer in a model's folder: it knows nothing but the marks."""
    numbers = {"[UNK]": 0} | {mark: number for number, mark in enumerate(_MARKS, 1)}
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    whole = {
        "version": "1.0",
        "added_tokens": [{"id": numbers[mark], "content": mark, **plain} for mark in _MARKS],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": numbers, "unk_token": "[UNK]"},
    }
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}
    return {
        f"{folder}/tokenizer.json": json.dumps(whole, separators=(",", ":")),
        f"{folder}/tokenizer_config.json": json.dumps(settings),
    }


def chat_template(path: object) -> Mapping[str, str]:
    """A chat template of the name that a launch gives it; none where it gives the template itself."""
    if not isinstance(path, str) or "{" in path or path.startswith("/"):
        return {}
    return {path: "{{ messages }}"}
