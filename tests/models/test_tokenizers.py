"""Token tables beside two checkpoints: the same, relatives, strangers, and files that tell nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specconf import facts
from specconf.models import Missing, ModelFacts, model_facts, resolve_model
from specconf.models import tokenizers as module
from specconf.models.tokenizers import Tokens, read_token_table, same_token_table, unlike_tokens_percent
from specconf.models.view import model_views


def fast(vocabulary: Any, added: Any = ()) -> str:
    return json.dumps({"model": {"vocab": vocabulary}, "added_tokens": list(added)})


def put(tmp_path: Path, name: str, **files: str) -> Tokens:
    folder = tmp_path / name
    folder.mkdir()
    for file, text in files.items():
        (folder / file.replace("__", ".")).write_text(text)
    return Tokens.beside(folder)


def test_one_table_in_two_formats(tmp_path: Path) -> None:
    one = put(tmp_path, "a", tokenizer__json=fast({"a": 0, "b": 1}, [{"content": "<x>", "id": 2}]))
    decoder = {"added_tokens_decoder": {"2": {"content": "<x>"}}}
    two = put(tmp_path, "b", vocab__json='{"b": 1, "a": 0}', tokenizer_config__json=json.dumps(decoder))
    assert same_token_table(one, two) is True
    assert unlike_tokens_percent(one, two) == 0


def test_a_unigram_list(tmp_path: Path) -> None:
    one = put(tmp_path, "a", tokenizer__json=fast([["a", -1.0], ["b", -2.0]]))
    assert same_token_table(one, Tokens.given(["a", "b"])) is True
    assert same_token_table(one, Tokens.given(["b", "a"])) is False


def test_relatives_and_strangers() -> None:
    base = Tokens.given(map(str, range(100)))
    longer = Tokens.given([*map(str, range(100)), "<think>"])
    shuffled = Tokens.given([str(number) for number in reversed(range(100))])
    assert (same_token_table(base, longer), unlike_tokens_percent(base, longer)) == (False, 0)
    assert (same_token_table(base, shuffled), unlike_tokens_percent(base, shuffled)) == (False, 100)


def test_opaque_files_are_the_same_or_unknown(tmp_path: Path) -> None:
    one, two, other = (put(tmp_path, n, tokenizer__model=t) for n, t in (("a", "x"), ("b", "x"), ("c", "y")))
    assert same_token_table(one, two) is True
    for fact in (same_token_table, unlike_tokens_percent):
        assert isinstance(fact(one, other), Missing)


@pytest.mark.parametrize(
    "text", ["{", "[]", "[" * 100_000, fast({"a": "0"}), fast({}), fast(7), json.dumps({"model": 1}), "\udc80"]
)
def test_what_cannot_be_read_is_unknown(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokenizer.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert isinstance(read_token_table(tmp_path), Missing)


def test_no_files_and_too_large_a_file_are_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(read_token_table(tmp_path), Missing)
    (tmp_path / "tokenizer.json").write_text(fast({"a": 0}))
    monkeypatch.setattr(module, "MAX_TABLE_BYTES", 4)
    assert isinstance(read_token_table(tmp_path), Missing)


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, json_values)
def test_no_vocabulary_crashes(vocabulary: Any, added: Any) -> None:
    data = json.dumps({"model": {"vocab": vocabulary}, "added_tokens": added}).encode()
    module._fast(data)
    module._plain(data)


def test_a_draft_is_compared_with_its_target(tmp_path: Path) -> None:
    found: list[ModelFacts] = []
    for name, vocabulary in (("target", {"a": 0, "b": 1}), ("draft", {"b": 0, "a": 1})):
        put(tmp_path, name, tokenizer__json=fast(vocabulary), config__json='{"architectures": ["A"]}')
        facts_of = resolve_model(str(tmp_path / name))
        assert isinstance(facts_of, ModelFacts)
        found.append(facts_of)
    target, draft = model_views(*found)
    assert draft.fact("same_token_table") == facts.Known(False)
    assert draft.fact("unlike_tokens_percent") == facts.Known(100)
    assert draft.fact("token_tables_at_hand") == facts.Known(True)
    assert isinstance(target.fact("same_token_table"), facts.Missing)


def test_tables_that_are_not_at_hand_are_missing_by_one_name() -> None:
    _, draft = model_views(model_facts({}), model_facts({}))
    assert draft.fact("token_tables_at_hand") == facts.Known(False)
    missing = draft.fact("unlike_tokens_percent")
    assert isinstance(missing, facts.Missing)
    assert missing.needs == "tokenizers of target and draft (local copies)"
