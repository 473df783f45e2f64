"""Names that hold secrets, and names that only look like it."""

from __future__ import annotations

import pytest

from specconf.secrets import is_secret_name, without_credentials


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "env.HF_TOKEN",
        "api_key",
        "--api-key",
        "admin-api-key",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "hf_token",
    ],
)
def test_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "num_speculative_tokens",
        "speculative_token_map",
        "tokenizer",
        "max_total_tokens",
        "kv_cache_dtype",
        "allow_credentials",
        "begin_thinking_phase_token",
        "monkey",
    ],
)
def test_no_secrets(name: str) -> None:
    assert not is_secret_name(name)


def test_an_address_is_shown_without_its_name_and_password() -> None:
    assert (
        without_credentials("at https://me:pw@host.example/simple, then /a@b")
        == "at https://***@host.example/simple, then /a@b"
    )
