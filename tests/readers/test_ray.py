"""Ray Serve's configurations of an LLM: where they stand, their words and places, and what is none of them."""

from __future__ import annotations

import textwrap

import pytest

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine
from specconf.errors import InputError
from specconf.readers.registry import detected_format, read_launches

CONFIG = """\
model_loading_config:
  model_id: chat
  model_source: org/m
engine_kwargs:
  tensor_parallel_size: 2
  enable_chunked_prefill: true
  dtype: ${DTYPE}
  speculative_config:
    method: ngram
    no_key: 1
runtime_env:
  env_vars:
    VLLM_USE_V1: "1"
    HF_TOKEN: secret
"""
ITEM = "- " + textwrap.indent(CONFIG, "  ")[2:]
APPLICATION = "applications:\n- name: llm\n  args:\n    llm_configs:\n" + textwrap.indent(ITEM, "    ")
SHAPES = {
    "an application": (APPLICATION, 4),
    "a list": ("llm_configs:\n" + ITEM, 1),
    "alone": (CONFIG, 0),
    "a manifest": (
        "apiVersion: ray.io/v1\nkind: RayService\nspec:\n  serveConfigV2: |\n" + textwrap.indent(APPLICATION, "    "),
        8,
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_configurations(name: str) -> None:
    text, before = SHAPES[name]
    (item,) = read_launches("serve.yaml", text)
    assert item.name == "chat"
    assert [word.value for word in item.launch.argv] == [
        "vllm", "serve", "org/m", "--tensor-parallel-size", "2", "--enable-chunked-prefill", None,
        "--speculative-config", '{"method": "ngram", "no_key": 1}',
    ]  # fmt: skip
    assert [(key, word.value) for key, word in item.launch.env] == [("HF_TOKEN", None), ("VLLM_USE_V1", "1")]
    flag = next(word for word in item.launch.argv if word.value == "--tensor-parallel-size")
    assert flag.span is not None
    assert flag.span.line == before + 5
    settings = get_engine("vllm").resolve(item.launch, load_database("vllm").at("0.33.0"))
    key = settings.setting("speculative_config.no_key")
    assert key is not None
    assert key.final.where is not None
    assert key.final.where.line == before + 10


def test_a_model_without_options_and_options_without_a_model() -> None:
    (item,) = read_launches("s.yaml", "llm_configs:\n- model_loading_config: {model_id: org/m}\n")
    assert [word.value for word in item.launch.argv] == ["vllm", "serve", "org/m"]
    assert read_launches("s.yaml", "llm_configs:\n- accelerator_type: H100\n# model_loading_config\n") == []


def test_the_configuration_in_a_program() -> None:
    text = (
        "from ray.serve.llm import LLMConfig\nLLMConfig(\n  model_loading_config=dict(model_id='a', model_source='org/m'),\n"
        "  engine_kwargs={'seed': 1},\n  runtime_env={'env_vars': {'VLLM_USE_V1': '1'}},\n)\n"
    )
    (item,) = read_launches("serve.py", text)
    assert item.name == "a"
    assert [word.value for word in item.launch.argv] == ["vllm", "serve", "org/m", "--seed", "1"]
    assert [(key, word.value) for key, word in item.launch.env] == [("VLLM_USE_V1", "1")]


def test_broken_files_are_errors_with_their_place() -> None:
    with pytest.raises(InputError) as caught:
        read_launches("s.yaml", "llm_configs:\n- model_loading_config: {\n")
    assert caught.value.where is not None
    assert caught.value.where.line >= 2


def test_other_files_are_not_claimed() -> None:
    chosen = detected_format("s.yaml", "applications:\n- name: text\n  import_path: app:app\n")
    assert chosen is None


def test_anchors_that_multiply_end() -> None:
    rows = ["a0: &a0 [1, 2]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 30)]
    text = "\n".join(rows) + "\nllm_configs:\n- model_loading_config: {model_id: m}\n  engine_kwargs: {x: *a29}\n"
    with pytest.raises(InputError, match="repeat themselves too often"):
        read_launches("s.yaml", text)
