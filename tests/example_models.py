"""The models that the examples name, and the fixture with the config.json of each."""

from __future__ import annotations

from pathlib import Path

FIXTURES = Path(__file__).resolve().parent / "fixtures" / "models"
CONFIGS = {
    "Qwen/Qwen3-4B-Thinking-2507": "qwen3-4b",
    "Qwen/Qwen3-0.6B": "qwen3-0.6b",
    "meta-llama/Llama-3.1-8B-Instruct": "llama-3.1-8b",
    "meta-llama/Llama-3.2-1B-Instruct": "llama-3.2-1b",
    "XiaomiMiMo/MiMo-7B-Base": "mimo-7b",
    "Qwen/Qwen2.5-7B-Instruct": "qwen2.5-7b",
    "Qwen/Qwen2.5-1.5B-Instruct": "qwen2.5-1.5b",
    "yuhuili/EAGLE-LLaMA3.1-Instruct-8B": "eagle-llama3.1-8b",
    "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B": "eagle3-llama3.1-8b",
}
