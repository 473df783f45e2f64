"""Whether two checkpoints number the same tokens alike, by the token tables beside their configs. Reads only what is on this
machine, within limits, and only when asked; what cannot be read is unknown, never an exception.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from specconf.models.config import Missing

MAX_TABLE_BYTES = 64 * 1024 * 1024
# Tables of other formats: two files of the same content are the same table, and two others tell nothing.
_OPAQUE = ("tokenizer.model", "tiktoken.model", "qwen.tiktoken", "tekken.json", "spiece.model")


class TokenTable(Struct, frozen=True):
    """The tokens of a checkpoint. `numbers` is None for a table known by the hash of its file alone."""

    numbers: Mapping[str, int] | None
    digest: str
    file: str


class Tokens:
    """The token table of a checkpoint: at hand, to be read when asked for, or not known."""

    def __init__(self, read: Callable[[], TokenTable | Missing]) -> None:
        self.read = cache(read)

    @classmethod
    def unknown(cls, origin: str) -> Tokens:
        """Of a checkpoint whose files are not here."""
        return cls(lambda: Missing(f"the tokenizer of {origin} is not at hand"))

    @classmethod
    def beside(cls, directory: Path) -> Tokens:
        """Of the tokenizer's files in a directory."""
        return cls(lambda: read_token_table(directory))

    @classmethod
    def given(cls, tokens: Iterable[str]) -> Tokens:
        """Of a list: a token's number is its place."""
        numbers = {token: number for number, token in enumerate(tokens)}
        return cls(lambda: TokenTable(numbers, _digest_of(numbers), "the tokens given"))


def same_token_table(first: Tokens, second: Tokens) -> bool | Missing:
    """Whether both give every token the same number."""
    pair = _pair(first, second)
    if isinstance(pair, Missing):
        return pair
    one, two = pair
    if one.digest == two.digest:
        return True
    if one.numbers is None or two.numbers is None:
        return Missing(f"{one.file} and {two.file} differ as files, and their tokens were not read")
    return one.numbers == two.numbers


def unlike_tokens_percent(first: Tokens, second: Tokens) -> int | Missing:
    """Of the numbers that both tables use, the share that stands for another token in each, in whole percent.

    Tokens that only one of two relatives adds do not count: neither model is led astray by the other's.
    """
    same, pair = same_token_table(first, second), _pair(first, second)
    if isinstance(same, Missing) or isinstance(pair, Missing):
        return same if isinstance(same, Missing) else 0
    if same:
        return 0
    one, two = ({number: token for token, number in (table.numbers or {}).items()} for table in pair)
    shared = one.keys() & two.keys()
    return 100 * sum(one[number] != two[number] for number in shared) // len(shared) if shared else 100


def token_tables_at_hand(first: Tokens, second: Tokens) -> bool:
    """Whether the two can be compared, which rules ask first that are not worth naming where they cannot."""
    return not isinstance(same_token_table(first, second), Missing)


PAIR_FACTS: Mapping[str, Callable[[Tokens, Tokens], bool | int | Missing]] = {
    "token_tables_at_hand": token_tables_at_hand,
    "same_token_table": same_token_table,
    "unlike_tokens_percent": unlike_tokens_percent,
}


def _pair(first: Tokens, second: Tokens) -> tuple[TokenTable, TokenTable] | Missing:
    one, two = first.read(), second.read()
    if isinstance(one, Missing):
        return one
    return two if isinstance(two, Missing) else (one, two)


def read_token_table(place: Path) -> TokenTable | Missing:
    """The table of the tokenizer whose files are in a directory."""
    for name, read in (("tokenizer.json", _fast), ("vocab.json", _plain)):
        data = _bytes(place / name)
        if isinstance(data, Missing):
            return data
        if data is None:
            continue
        numbers = read(data)
        if numbers is None:
            return Missing(f"{place / name} holds no token table that specconf reads")
        if added := _added(place):
            numbers = {**added, **numbers}
        return TokenTable(numbers, _digest_of(numbers), str(place / name))
    for name in _OPAQUE:
        data = _bytes(place / name)
        if isinstance(data, Missing):
            return data
        if data is not None:
            return TokenTable(None, _digest(data), str(place / name))
    return Missing(f"{place} holds no tokenizer's files")


def _bytes(path: Path) -> bytes | Missing | None:
    """The content of a file; None where there is none."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(MAX_TABLE_BYTES + 1)
    except OSError as error:
        return Missing(f"{path} cannot be read: {error.strerror or error}")
    if len(data) > MAX_TABLE_BYTES:
        return Missing(f"{path} is larger than {MAX_TABLE_BYTES // 2**20} MiB")
    return data


def _load(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _fast(data: bytes) -> dict[str, int] | None:
    """The table of a tokenizer.json: its model's vocabulary, a mapping or (unigram) a list, and the added tokens."""
    loaded = _load(data)
    model = loaded.get("model") if isinstance(loaded, dict) else None
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(vocabulary, list):
        vocabulary = {
            item[0]: number
            for number, item in enumerate(vocabulary)
            if isinstance(item, list) and item and isinstance(item[0], str)
        }
    numbers = _numbers(vocabulary)
    if numbers is None or not isinstance(loaded, dict):
        return None
    listed = loaded.get("added_tokens")
    for token in listed if isinstance(listed, list) else []:
        if isinstance(token, dict) and isinstance(token.get("content"), str) and type(token.get("id")) is int:
            numbers[token["content"]] = token["id"]
    return numbers


def _plain(data: bytes) -> dict[str, int] | None:
    return _numbers(_load(data))


def _added(place: Path) -> dict[str, int]:
    """Tokens that only tokenizer_config.json adds."""
    data = _bytes(place / "tokenizer_config.json")
    loaded = _load(data) if isinstance(data, bytes) else None
    decoder = loaded.get("added_tokens_decoder") if isinstance(loaded, dict) else None
    found: dict[str, int] = {}
    for number, token in decoder.items() if isinstance(decoder, dict) else ():
        content = token.get("content") if isinstance(token, dict) else None
        if isinstance(content, str) and number.isascii() and number.isdigit() and len(number) < 10:
            found[content] = int(number)
    return found


def _numbers(vocabulary: object) -> dict[str, int] | None:
    if not isinstance(vocabulary, dict) or not vocabulary:
        return None
    if not all(isinstance(token, str) and type(number) is int for token, number in vocabulary.items()):
        return None
    return dict(vocabulary)


def _digest_of(numbers: Mapping[str, int]) -> str:
    return _digest(json.dumps(sorted(numbers.items())).encode())


def _digest(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()
