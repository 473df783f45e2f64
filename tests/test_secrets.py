"""Names that hold secrets, and names that only look like it."""

from __future__ import annotations

import pytest

from specconf.secrets import holds_secret, is_secret_name, masked, without_credentials


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


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("vllm serve m --api-key abc --port 1", "vllm serve m --api-key *** --port 1"),
        ("vllm serve m --api-key=abc", "vllm serve m --api-key=***"),
        ('["--api-key", "a b", "--port", "1"]', '["--api-key", "***", "--port", "1"]'),
        ("export HF_TOKEN=abcd; echo", "export HF_TOKEN=***** echo"),
        ("HF_TOKEN: 'a b'", "HF_TOKEN: '***'"),
        ('{"api_key": "abc", "n": 3}', '{"api_key": "***", "n": 3}'),
        ("- --x HF_TOKEN=ab", "- --x HF_TOKEN=**"),
        ("HF_TOKEN=$HF_TOKEN vllm serve m", "HF_TOKEN=$HF_TOKEN vllm serve m"),
        ("serve m hf_abcdefgh12", "serve m *************"),
        ("git clone https://me:pw@host/x", "git clone https://*****@host/x"),
        ("--speculative-num-draft-tokens 4 --max-num-batched-tokens 8", None),
    ],
)
def test_a_shown_line_holds_no_secret_and_stays_as_long(line: str, shown: str | None) -> None:
    assert masked(line) == (shown or line)
    assert len(masked(line)) == len(line)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("hf_" + "a" * 20, True),
        ("see sk-" + "b" * 16 + " for it", True),
        ("https://user:word@host/e:1", True),
        ("https://host/e:1", False),
        ("hf-token", False),
        ("registry.example/e@sha256:00ff", False),
        ("Qwen/Qwen3-8B", False),
    ],
)
def test_a_secret_by_its_looks(text: str, secret: bool) -> None:
    assert holds_secret(text) is secret
