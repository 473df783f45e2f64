"""Launches written out: argv and option files, by release."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from specconf.engines.base import Artifact
from specconf.engines.lowering import lower
from specconf.errors import UsageError
from specconf.spec.model import Spec
from tests.engines.vllm.support import ENGINE, UNKNOWN, lowered, view

SPEC: dict[str, Any] = {
    "target.model": "org/target",
    "speculation.method": "draft_model",
    "speculation.draft.model": "org/draft",
    "speculation.num_draft_tokens": 3,
    "serving.served_model_name": "chat",
    "serving.tensor_parallel_size": 2,
    "serving.enforce_eager": True,
    "serving.prefix_caching": False,
}


def written(release: str, form: str = "engine-yaml", fields: dict[str, Any] | None = None) -> Artifact:
    return ENGINE.emit(lowered(fields or SPEC, release).settings, view(release), form)


@pytest.mark.parametrize(
    ("release", "left", "speculation"),
    [
        ("0.33.0", [], {"speculative-config": {"method": "draft_model", "model": "org/draft", "num_speculative_tokens": 3}}),
        ("0.15.1", ["--no-enable-prefix-caching"],
         {"speculative-config": '{"method":"draft_model","model":"org/draft","num_speculative_tokens":3}'}),
        ("0.8.2", ["--served-model-name", "chat", "--no-enable-prefix-caching"],
         {"speculative-model": "org/draft", "num-speculative-tokens": 3}),
    ],
)  # fmt: skip
def test_option_file(release: str, left: list[str], speculation: dict[str, Any]) -> None:
    artifact = written(release)
    assert list(artifact.argv) == ["vllm", "serve", "org/target", "--config", "vllm.yaml", *left]
    data = yaml.safe_load(artifact.files["vllm.yaml"])
    assert {key: data[key] for key in speculation} == speculation
    assert data["tensor-parallel-size"] == 2
    assert data["enforce-eager"] is True


def test_no_option_file_before_there_was_one() -> None:
    with pytest.raises(UsageError, match="reads no option file"):
        written("0.5.5")


def test_nothing_for_an_option_file() -> None:
    artifact = written("0.33.0", fields={"target.model": "org/target", "speculation.method": "none"})
    assert artifact.argv == ("vllm", "serve", "org/target")
    assert artifact.files == {}


def test_environment_stands_beside() -> None:
    artifact = written("0.12.0", "argv", SPEC | {"serving.attention_backend": "FLASH_ATTN"})
    assert artifact.env == {"VLLM_ATTENTION_BACKEND": "FLASH_ATTN"}
    assert "--attention-backend" in written("0.13.0", "argv", SPEC | {"serving.attention_backend": "FLASH_ATTN"}).argv


def test_the_literal_of_082() -> None:
    options = {"speculative_config": {"disable_mqa_scorer": True, "revision": "abc"}}
    spec = Spec.from_fields(SPEC, engines={"vllm": {"options": options}})
    argv = ENGINE.emit(lower(spec, ENGINE, view("0.8.2"), UNKNOWN).settings, view("0.8.2"), "argv").argv
    assert argv[-1] == (
        "{'model': 'org/draft', 'num_speculative_tokens': 3, 'disable_mqa_scorer': True, 'revision': 'abc'}"
    )


def test_emission_is_the_same_every_time() -> None:
    assert written("0.33.0", "argv") == written("0.33.0", "argv")
