"""The tool that makes launches of recipes and docs: what it renders, which fences it reads, what it leaves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

RECIPE: dict[str, Any] = {
    "meta": {"hardware": {"h200": "verified", "b200": "verified", "mi300x": "unsupported"}},
    "model": {"model_id": "x/base", "min_vllm_version": "0.20.0", "base_args": ["--max-num-seqs", "8"]},
    "features": {
        "reasoning": {"args": ["--reasoning-parser", "r"]},
        "text_only": {"args": ["--language-model-only"]},
        "spec_decoding": {
            "modes": {
                "mtp": {
                    "args": ["--speculative-config", '{"method":"mtp"}'],
                    "hardware_overrides": {"hopper": {"args": ["--speculative-config", '{"method":"hopper"}']}},
                },
                "dspark": {"variants": ["small"], "args": ["--speculative-config", '{"method":"dspark"}']},
            }
        },
    },
    "opt_in_features": ["spec_decoding", "text_only"],
    "variants": {
        "default": {"vram_minimum_gb": 100},
        "small": {
            "model_id": "x/small",
            "min_vllm_version": "0.25.0",
            "precision": "nvfp4",
            "tp": 2,
            "extra_args": ["--max-num-seqs", "4"],
        },
    },
    "compatible_strategies": ["single_node_tp", "multi_node_tep"],
    "hardware_overrides": {"blackwell": {"extra_env": {"VLLM_B": "1"}}},
}


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def rendered() -> dict[str, str | None]:
    from false_alarms_recipes import render

    return {item.text: item.release for item in render(RECIPE)}


def test_a_recipe_gives_each_variant_on_each_hardware_with_every_mode() -> None:
    found = rendered()
    reasoning = "--reasoning-parser r"
    base = "vllm serve x/base --max-num-seqs 8 --tensor-parallel-size 1"
    assert found[f"{base} {reasoning}"] == "0.20.0"
    assert f'{base} {reasoning} --speculative-config \'{{"method":"hopper"}}\'' in found
    assert f'VLLM_B=1 {base} {reasoning} --speculative-config \'{{"method":"mtp"}}\'' in found
    assert not any("x/base" in text and "dspark" in text for text in found)
    assert not any(text.startswith("vllm serve x/small") for text in found)  # NVFP4 is for Blackwell


def test_the_last_of_equal_flags_stays_and_a_variant_states_its_release() -> None:
    small = {text: release for text, release in rendered().items() if "x/small" in text}
    assert set(small.values()) == {"0.25.0"}
    assert all("--max-num-seqs 4 --tensor-parallel-size 2" in text and "--max-num-seqs 8" not in text for text in small)


def test_strategies_and_optional_features_are_tried_once() -> None:
    found = rendered()
    assert any("--enable-expert-parallel --tensor-parallel-size 16" in text for text in found)
    assert sum("--language-model-only" in text for text in found) == 2  # without speculation, and with the usual mode


def test_a_preset_lays_members_over_json_and_takes_flags_out() -> None:
    from false_alarms_recipes import render

    preset = {
        "hardware": "b200",
        "strategy": "single_node_tp",
        "select": {"features": {"spec_decoding": "mtp", "reasoning": False}},
        "json_args": {"--speculative-config": {"num_speculative_tokens": 3}},
        "points": {"c1": {"remove_args": ["--max-num-seqs"], "tp": 4, "env": {"VLLM_C": "1"}}},
    }
    texts = [item.text for item in render({**RECIPE, "presets": {"p": preset}})]
    config = """'{"method":"mtp","num_speculative_tokens":3}'"""
    assert f"VLLM_B=1 VLLM_C=1 vllm serve x/base --tensor-parallel-size 4 --speculative-config {config}" in texts


MARKDOWN = """
Text.

1. A list:

   ```console
   $ vllm serve <your model> \\
       --max-model-len 8
   INFO: started
   ```

```python
LLM("m", enforce_eager=True)
```
"""


def test_fences_keep_their_lines_and_a_session_only_what_was_typed() -> None:
    from false_alarms_texts import fences, shell_text

    first, second = fences(MARKDOWN)
    assert (first.language, first.line, second.language, second.line) == ("console", 7, "python", 13)
    assert shell_text(first) == "vllm serve ${your_model} \\\n    --max-model-len 8\n\n"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("vllm serve <m>", "vllm serve ${m}\n"),
        ("vllm serve ... --x", "vllm serve $ELIDED --x\n"),
        ('vllm serve m --c \'{"model": "<m>"}\'', 'vllm serve m --c \'{"model": "<m>"}\'\n'),
        ("cat <<EOF", "cat <<EOF\n"),
    ],
)
def test_placeholders_are_variables(written: str, read: str) -> None:
    from false_alarms_texts import Fence, shell_text

    assert shell_text(Fence("bash", written, 1)) == read


def test_calls_are_read_only_where_all_is_literal() -> None:
    from false_alarms_texts import as_argv, llm_calls

    source = (
        'LLM("m", speculative_config={"method": "ngram"}, enforce_eager=True, disable_log_stats=False)\nLLM(**kwargs)\n'
    )
    literal, other = llm_calls(source)
    assert other.arguments is None
    assert literal.arguments is not None
    argv = as_argv(literal.arguments)
    assert argv == ["vllm", "serve", "m", "--speculative-config", '{"method": "ngram"}', "--enforce-eager"]
