"""Chosen levels of vLLM's factors as a launch: the object of speculation in one of its spellings, then the flags."""

from __future__ import annotations

import json
from collections.abc import Mapping

from specconf.oracle.factors import Level, Written
from specconf.words import JsonValue

OPTION = "--speculative-config"
FILE = "options.yaml"
SHORT = {"method": "--spec-method", "model": "--spec-model", "num_speculative_tokens": "--spec-tokens"}

# Words that look like options and that no release has had.
STRAY = ("--speculative-eagle-topk=4", "--draft-model", "--enable-speculation", "--num-draft-tokens=4")


def words(levels: Mapping[str, Level], target: str, draft: str) -> Written:
    """The launch. The spelling's own words are examples: its name says how the object is written."""
    keys: dict[str, JsonValue] = {}
    for level in levels.values():
        keys |= {name: target if value == "{target}" else value for name, value in level.keys.items()}
    if draft:
        keys["model"] = draft
    spelling = levels["spelling"].name
    argv = [word for factor, level in levels.items() if factor != "spelling" for word in level.argv]
    env = {name: value for level in levels.values() for name, value in level.env.items()}
    spoken, files = _spoken(keys, spelling) if keys else ([], {})
    program = ["vllm", "serve", target]
    if spelling == "module":
        program = ["python", "-m", "vllm.entrypoints.openai.api_server", "--model", target]
    return Written((*program, *spoken, *argv), env, files)


def _spoken(keys: Mapping[str, JsonValue], spelling: str) -> tuple[list[str], dict[str, str]]:
    """The object of speculation as words, or as an option file."""
    match spelling:
        case "dotted":
            return [word for name, value in keys.items() for word in (f"{OPTION}.{name}", _word(value))], {}
        case "flags":
            short = [word for name, value in keys.items() if name in SHORT for word in (SHORT[name], _word(value))]
            rest = {name: value for name, value in keys.items() if name not in SHORT}
            return [*short, *([OPTION, json.dumps(rest)] if rest else [])], {}
        case "file with a text":
            return ["--config", FILE], {FILE: f"speculative-config: {json.dumps(json.dumps(keys))}\n"}
        case "file with a mapping":
            # JSON is YAML, and a mapping stays a mapping.
            return ["--config", FILE], {FILE: f"speculative-config: {json.dumps(keys)}\n"}
        case _:
            return [OPTION, json.dumps(keys)], {}


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)
