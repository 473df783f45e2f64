"""Arguments of the engine's parser as rows of the option table (docs/database.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from specconf.engines.vllm.harvest.configs import BOOLEAN_OPTIONAL, OBJECT, Keywords
from specconf.engines.vllm.harvest.parsers import Argument
from specconf.engines.vllm.harvest.symbols import SUPPRESS, Unknown, Value, contains_unknown, to_json
from specconf.harvest.intervals import Row

CLI = "vllm.cli"
# Flags that write a member of the speculative configuration, by argparse destination: the separate ones that the
# configuration object replaced, and the short ones that were added beside it.
OLD_MEMBER_FLAGS = {
    "speculative_model": "model",
    "speculative_model_quantization": "quantization",
    "num_speculative_tokens": "num_speculative_tokens",
    "speculative_disable_mqa_scorer": "disable_mqa_scorer",
    "speculative_draft_tensor_parallel_size": "draft_tensor_parallel_size",
    "speculative_max_model_len": "max_model_len",
    "speculative_disable_by_batch_size": "disable_by_batch_size",
    "ngram_prompt_lookup_max": "prompt_lookup_max",
    "ngram_prompt_lookup_min": "prompt_lookup_min",
    "spec_decoding_acceptance_method": "acceptance_method",
    "typical_acceptance_sampler_posterior_threshold": "posterior_threshold",
    "typical_acceptance_sampler_posterior_alpha": "posterior_alpha",
    "disable_logprobs_during_spec_decoding": "disable_logprobs",
}
SHORT_MEMBER_FLAGS = {
    "spec_method": "method",
    "spec_model": "model",
    "spec_tokens": "num_speculative_tokens",
}
MEMBER_FLAGS = OLD_MEMBER_FLAGS | SHORT_MEMBER_FLAGS
SPECULATIVE = "speculative_config"
_PAIRS = (("--enable-", "--disable-"), ("--disable-", "--enable-"))
_POSITIONAL = {"model_tag": "model"}
_DEPRECATED = re.compile(
    r"^\W*(?:\[?deprecated|(?:this argument|`?--[\w-]+`?)\s+(?:is|has been)\s+deprecated)", re.IGNORECASE
)
_NULLABLE_TYPES = re.compile(r"^(?:optional|nullable)_")
_WRAPPED = re.compile(r"^(?:optional_type|parse_type)\((.*)\)$")
_CONFIG_READERS = ("from_cli", "from_json")
# These take more than their type: `16k`, `1M`, `auto`.
_OWN_PARSERS = frozenset({"human_readable_int", "human_readable_int_or_auto"})
_NAMED_TYPES = {
    "str": "str",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "human_readable_int": "int",
    "human_readable_int_or_auto": "int",
    "nullable_str": "str",
    "optional_str": "str",
    "optional_int": "int",
    "optional_float": "float",
    "nullable_kvs": "str",
    "parse_reasoning_parser": "str",
    "json.loads": "json",
    "parse_json": "json",
}


class Surroundings(Struct, frozen=True):
    """What a row depends on besides its own `add_argument` call.

    `object_fields` are the destinations whose engine argument is a mapping, so that a JSON text given for them has
    members; `defaults` are the engine arguments' own, which hold where the parser suppresses its default; `paired` says
    that the parser adds `--disable-x` to a two-way switch `--enable-x` and the reverse (0.33.0).
    """

    release: str
    object_fields: frozenset[str]
    defaults: Mapping[str, Value]
    paired: bool


def argument_row(argument: Argument, around: Surroundings) -> Row:
    """One row of scope `vllm.cli`."""
    row: Row = {"scope": CLI, "path": _path(argument)}
    evidence = {"file": argument.file, "kind": "source", "line": argument.line, "release": around.release}
    row["evidence"] = [evidence]
    if not argument.names[0].startswith("-"):
        required = argument.keywords.get("nargs") != "?"
        return {**row, "kind": "positional", "names": [], "type": "str", **({"required": True} if required else {})}
    row["names"] = _canonical_first(argument.names)
    row.update(_shape(argument.keywords, row, around))
    row.update(_default(argument.keywords, row["kind"], around.defaults.get(_destination(argument), Unknown(""))))
    row.update(_limits(argument.keywords))
    if row.get("default", 0) is None or argument.keywords.get("nullable") is True:
        row["nullable"] = True
    return row


def mark_replaced(rows: Iterable[Row]) -> None:
    """Mark the separate speculative flags as deprecated in the release that has the configuration object as well."""
    listed = list(rows)
    if not any(row["path"] == SPECULATIVE for row in listed):
        return
    for row in listed:
        if row["names"] and row["names"][0].lstrip("-").replace("-", "_") in OLD_MEMBER_FLAGS:
            row.update(deprecated=True, replaced_by="--speculative-config")


def _destination(argument: Argument) -> str:
    given = argument.keywords.get("dest")
    if isinstance(given, str):
        return given
    return _canonical_first(argument.names)[0].lstrip("-").replace("-", "_")


def _path(argument: Argument) -> str:
    destination = _destination(argument)
    if not argument.names[0].startswith("-"):
        return _POSITIONAL.get(destination, destination)
    member = MEMBER_FLAGS.get(destination)
    return f"{SPECULATIVE}.{member}" if member else destination


def _canonical_first(names: tuple[str, ...]) -> list[str]:
    """The option strings with the first long one in front, as argparse takes the destination from it."""
    canonical = next((name for name in names if name.startswith("--")), names[0])
    return [canonical, *(name for name in names if name != canonical)]


def _shape(keywords: Keywords, row: Row, around: Surroundings) -> dict[str, Any]:
    """Kind, type and the constants of switches."""
    action = _text(keywords.get("action"))
    if action == BOOLEAN_OPTIONAL:
        negated = _negated(row["names"], paired=around.paired)
        return {"kind": "switch", "type": "bool", "const": True, "no_names": negated}
    if action in ("store_true", "store_false"):
        return {"kind": "switch", "type": "bool", "const": action == "store_true"}
    if action == "StoreBoolean":
        return {"kind": "optional", "type": "bool", "const": True}
    kind = "append" if action == "append" else _kind(keywords)
    found = _type(keywords, row["path"], around.object_fields)
    if kind == "value" and found.pop("object", False):
        return {"kind": "object", "members": f"vllm.{row['path']}", **found, "type": "json"}
    found.pop("object", None)
    if kind == "optional" and not contains_unknown(keywords.get("const")):
        found["const"] = keywords.get("const")
    return {"kind": kind, **found}


def _negated(names: list[str], *, paired: bool) -> list[str]:
    """The spellings that turn a two-way switch off."""
    found = ["--no-" + name.removeprefix("--") for name in names if name.startswith("--")]
    for prefix, inverse in _PAIRS if paired else ():
        found += [inverse + name.removeprefix(prefix) for name in names if name.startswith(prefix)]
    return found


def _kind(keywords: Keywords) -> str:
    nargs = keywords.get("nargs")
    if nargs == "?":
        return "optional"
    return "value" if nargs is None else "list"


def _text(value: Value) -> str:
    return value.text if isinstance(value, Unknown) else str(value or "")


def _type(keywords: Keywords, path: str, object_fields: frozenset[str]) -> dict[str, Any]:
    """The type of one word, with `object` set if it is read as a mapping."""
    text = _text(keywords.get("type", Unknown("str")))
    nullable = {"nullable": True} if _NULLABLE_TYPES.match(text) else {}
    wrapped = _WRAPPED.match(text)
    text = wrapped.group(1) if wrapped else text
    mapping = path in object_fields or keywords.get("mapping") is True
    if text == OBJECT or text in _CONFIG_READERS or path == SPECULATIVE:
        return {"type": "json", "object": True, **nullable}
    if text == "json.loads":
        return {"type": "json", "object": mapping, **nullable}
    if text == "union_dict_and_str":
        return {"object": mapping, **nullable}
    if text.startswith("lambda") and "choices" in keywords:
        return {"type": "str", **nullable}
    known = _NAMED_TYPES.get(text)
    lenient = {"parser": text} if text in _OWN_PARSERS else {}
    return {"type": known, **lenient, **nullable} if known else dict(nullable)


def _default(keywords: Keywords, kind: str, engine_default: Value) -> dict[str, Any]:
    if "default" not in keywords:
        action = _text(keywords.get("action"))
        return {"default": {"store_true": False, "store_false": True}.get(action)}
    default = keywords["default"]
    if default == SUPPRESS:
        default = engine_default
    value = to_json(default)
    if not contains_unknown(value):
        return {"default": value}
    text = default.text if isinstance(default, Unknown) else ""
    # An object's default is the configuration class's own, which its members' defaults describe.
    return {} if kind == "object" or not text else {"default_expr": text}


def _limits(keywords: Keywords) -> dict[str, Any]:
    """Choices, bounds, whether it must be given and whether it is deprecated."""
    found: dict[str, Any] = {}
    choices = to_json(keywords.get("choices"))
    if isinstance(choices, dict):
        choices = list(choices)
    # An empty list is a registry that the engine fills while it is being imported.
    if isinstance(choices, list) and choices and not contains_unknown(choices):
        found["choices"] = [choice for choice in choices if choice not in (None, "None")]
    if keywords.get("bounds"):
        found["bounds"] = keywords["bounds"]
    if keywords.get("required") is True:
        found["required"] = True
    notes = keywords.get("help")
    warned = keywords.get("deprecated") is True or "Deprecated" in _text(keywords.get("action"))
    if warned or (isinstance(notes, str) and _DEPRECATED.match(notes)):
        found["deprecated"] = True
    return found
