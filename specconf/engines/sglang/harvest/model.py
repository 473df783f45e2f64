"""One option as a release declares it, whichever of the declaration styles it came from, and its row of the database.

`Declared` is what the readers of the styles produce; `row` writes it in the format of docs/database.md. Joining several
declarations of one destination path, and releases into ranges, is done elsewhere.
"""

import json
import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

_FLAG = re.compile(r"--[a-z0-9][a-z0-9-]*[a-z0-9]")
_DEPRECATED_HELP = re.compile(
    r"^\W*(note: )?(\S+ is )?deprecated\b|\(deprecated\b|\[deprecated\b|is deprecated now", re.IGNORECASE
)

# What argparse is told to read the word with, in the database's words. Readers that accept more than their type's own
# spelling are named in the row too (`parser`).
_TYPES = {
    "str": "str",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "json.loads": "json",
    "json_list_type": "json",
    "nullable_str": "str",
    "human_readable_int": "int",
    "parse_cuda_graph_backend_arg": "str",
    "parse_cuda_graph_config_arg": "json",
}
# Help texts of options that take a text and read it as JSON later; one that may be a file instead is not among them.
_JSON_HELP = re.compile(r"\bin json (string )?format\b|^json config\b|^json-formatted\b", re.IGNORECASE)
_FILE_HELP = re.compile(r"\b(file|path)\b", re.IGNORECASE)
_PLAIN_PARSERS = ("str", "int", "float", "json.loads")

_CONST_ACTION = "DeprecatedStoreConstAction"
_ALIAS_ACTION = "DeprecatedAliasStoreAction"
_STORING = ("store", "LoRAPathAction", _ALIAS_ACTION)


class Known(Struct, frozen=True):
    """A value that the source states."""

    value: Any


class Computed(Struct, frozen=True):
    """A value that is computed when the engine starts; its source text."""

    text: str


Value = Known | Computed | None


class Place(Struct, frozen=True):
    """Where in a release's sources something is declared."""

    release: str
    file: str
    line: int

    def evidence(self) -> dict[str, Any]:
        """The place as a row's evidence."""
        return {"kind": "source", "release": self.release, "file": self.file, "line": self.line}


class Declared(Struct, frozen=True):
    """One declaration of a flag: the arguments that argparse is given, evaluated."""

    names: tuple[str, ...]
    path: str
    place: Place
    action: str = "store"
    parser: str = "str"
    nargs: str | None = None
    const: Value = None
    default: Value = None
    choices: tuple[Any, ...] | None = None
    nullable: bool = False
    required: bool = False
    stops: bool = False
    new_flag: str = ""
    help: str = ""

    @property
    def deprecated(self) -> bool:
        """Whether the engine itself calls this spelling deprecated."""
        return self.action.startswith("Deprecated") or bool(_DEPRECATED_HELP.search(self.help))

    @property
    def json_text(self) -> bool:
        """Whether the word is a JSON text that the engine reads after its parser, as the help says."""
        first = self.help.partition(". ")[0]
        return self.parser == "str" and bool(_JSON_HELP.search(first)) and not _FILE_HELP.search(first)


def row(declared: Declared) -> dict[str, Any]:
    """The row of one declaration, without `releases`."""
    found: dict[str, Any] = {"scope": "sglang.cli", "path": declared.path, "names": list(canonical(declared.names))}
    found.update(_shape(declared))
    found.update(_values(declared))
    found.update(_deprecation(declared))
    found["evidence"] = [declared.place.evidence()]
    return found


def canonical(names: tuple[str, ...]) -> tuple[str, ...]:
    """The spellings with the first long one in front."""
    head = next((name for name in names if name.startswith("--")), None)
    return names if head is None else (head, *(name for name in names if name != head))


def _shape(declared: Declared) -> dict[str, Any]:
    """How many words follow the flag, and what they are read as."""
    if declared.action == "argparse.BooleanOptionalAction":
        return {
            "kind": "switch",
            "type": "bool",
            "no_names": [f"--no-{n[2:]}" for n in declared.names if n[:2] == "--"],
        }
    if declared.action == _CONST_ACTION and declared.nargs == "1":
        return {"kind": "value", "type": "str"}
    if declared.action not in (*_STORING, "append"):
        return {
            "kind": "switch",
            **({} if declared.action in ("DeprecatedAction", _CONST_ACTION) else {"type": "bool"}),
        }
    found: dict[str, Any] = {"kind": {"?": "optional", "+": "list", "*": "list"}.get(declared.nargs or "", "value")}
    if declared.action == "append":
        found["kind"] = "append"
    if declared.nargs == "*":
        found["nargs"] = "*"
    if declared.parser in _TYPES:
        found["type"] = "json" if declared.json_text else _TYPES[declared.parser]
    if declared.parser not in _PLAIN_PARSERS:
        found["parser"] = declared.parser
    return found


def _values(declared: Declared) -> dict[str, Any]:
    """What can be written, and what holds when nothing is."""
    found: dict[str, Any] = {}
    match declared.const or _implied_const(declared):
        case Known(value=value):
            found["const"] = value
    match declared.default:
        case Known(value=value):
            found["default"] = json.loads(value) if declared.json_text and isinstance(value, str) else value
        case Computed(text=text):
            found["default_expr"] = text
    if declared.choices is not None:
        found["choices"] = list(declared.choices)
    if declared.nullable or declared.parser == "nullable_str":
        found["nullable"] = True
    if declared.required:
        found["required"] = True
    return found


def _implied_const(declared: Declared) -> Value:
    """What an action writes by its own nature."""
    if declared.action in ("store_true", "argparse.BooleanOptionalAction", "DeprecatedStoreTrueAction"):
        return Known(True)
    return Known(False) if declared.action == "store_false" else None


def _deprecation(declared: Declared) -> dict[str, Any]:
    """That a spelling is deprecated, what it still does, and what to write instead."""
    if not declared.deprecated:
        return {}
    flags = _replacements(declared)
    found: dict[str, Any] = {"deprecated": _deprecation_note(declared, flags)}
    if flags:
        found["replaced_by"] = flags[0]
    return found


def _deprecation_note(declared: Declared, flags: list[str]) -> bool | str:
    """A few own words where "deprecated" alone would mislead."""
    if declared.action == "DeprecatedAction":
        return "the launch stops" if declared.stops else "accepted, does nothing"
    written = [flag for flag in _expanded(declared.new_flag).split() if flag.startswith("--")]
    return True if written == flags[: len(written)] and len(written) < 2 else f"write {' '.join(written)}"


def _replacements(declared: Declared) -> list[str]:
    """The flags that the engine names in place of a deprecated one, the spelling itself left out."""
    text = _expanded(declared.new_flag or declared.help)
    return [flag for flag in dict.fromkeys(_FLAG.findall(text)) if flag not in declared.names]


def _expanded(text: str) -> str:
    """`--a-{b,c}=d` as `--a-b=d --a-c=d`."""
    match = re.search(r"(\S*)\{([^{}]*)\}(\S*)", text)
    if match is None or not match[1].startswith("-") or match[1].endswith(" "):
        return text
    spelled = " ".join(f"{match[1]}{middle}{match[3]}" for middle in match[2].split(","))
    return text[: match.start()] + spelled + text[match.end() :]


def without_default(declared: Declared) -> Declared:
    """The same declaration, silent about the default: another declaration of its path decides it."""
    return replace(declared, default=None)
