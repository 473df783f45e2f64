"""SGLang's harvester on small sources of our own, one a declaration style."""

import textwrap
from typing import Any

import pytest

from specconf.engines.sglang.harvest.assemble import parser_surprises, rows_of
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.renames import renames
from specconf.engines.sglang.harvest.run import HARVESTER
from specconf.harvest.archive import from_texts
from specconf.harvest.harvester import OPTIONS, joined

SERVER_ARGS = "sglang/srt/server_args.py"

PARSE = """
def prepare_server_args(argv):
    parser = argparse.ArgumentParser(prog="x")
    return parser.parse_args(argv)
"""

ACTIONS = """
class DeprecatedAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        raise ValueError(self.help)

class DeprecatedAliasStoreAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        warn(option_string)

class DeprecatedStoreConstAction(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        warn(option_string)
"""

BLOCK = (
    ACTIONS
    + """
from sglang.srt.choices import COLOURS, Shade

SIZES = ["small", *COLOURS]

class ServerArgs:
    shelf: str
    trust: bool = True
    width: Optional[int] = None
    depth: int = 10 * 1000
    paths: List[str] = dataclasses.field(default_factory=list)
    threads: int = dataclasses.field(default_factory=lambda: cores())

    @staticmethod
    def add_cli_args(parser):
        shades = [member.name.lower() for member in Shade]
        parser.add_argument("--shelf-path", "--shelf", type=str, required=True)
        parser.add_argument("--wide-size", "-w", "--width", type=int, default=ServerArgs.width)
        parser.add_argument("--depth", type=int, default=ServerArgs.depth, choices=[1, 2])
        parser.add_argument("--trust", action="store_true", help="Trust it.")
        parser.add_argument("--colour", choices=COLOURS + ["none"])
        parser.add_argument("--size", choices=SIZES, default=Shade.DARK)
        parser.add_argument("--shade", choices=["auto"] + shades, default="auto")
        parser.add_argument("--paths", nargs="*", default=ServerArgs.paths)
        parser.add_argument("--tags", nargs="+", type=int)
        parser.add_argument("--trace", nargs="?", const="", default=None)
        parser.add_argument("--threads", type=int, default=ServerArgs.threads)
        parser.add_argument("--extra", type=json.loads, default="{}")
        parser.add_argument("--patch", type=str, default="{}", help="A dictionary in JSON string format. Or not.")
        parser.add_argument("--tuned", type=str, help="A string in JSON format or a file path.")
        parser.add_argument("--fused", action=argparse.BooleanOptionalAction, default=None)
        parser.add_argument("--old-size", action=DeprecatedAction, help="It is now --size.")
        parser.add_argument("--tint", action=DeprecatedAliasStoreAction, dest="colour", new_flag="--colour",
                            default=argparse.SUPPRESS, choices=COLOURS + ["none"])
        parser.add_argument("--no-colour", action=DeprecatedStoreConstAction, dest="colour", const_value="none",
                            new_flag="--colour=none")

    @classmethod
    def from_cli_args(cls, args):
        args.width = args.wide_size
        return cls()
"""
    + PARSE
)

CHOICES = """
from enum import Enum

COLOURS = ["red", "blue"]

class Shade(Enum):
    DARK = "d"
    LIGHT = "l"
"""

ANNOTATED = (
    ACTIONS
    + """
from sglang.srt.choices import COLOURS

class ServerArgs:
    shelf: A[str, Arg(help="Where.", aliases=["--shelf-path"])]
    colour: A[Optional[str], Arg(help="Paint.", choices=COLOURS), NS("look")] = None
    mode: A[Literal["fast", "slow"], "How.", NS("x")] = "fast"
    trust: A[bool, "Trust it."] = False
    maybe: A[Optional[bool], Arg(help="Perhaps.", action=argparse.BooleanOptionalAction)] = None
    tags: A[list[int] | None, "Several."] = None
    rows: A[List[str], Arg(help="JSON.", type_parser=json_list_type)] = dataclasses.field(default_factory=list)
    wide: A[int, Arg(help="Width.", cli_name="--width")] = 4
    gone: A[bool, "[Deprecated] Use --mode instead."] = False
    hidden: A[bool, Arg(no_cli=True)] = False
    inner: A[Optional[Callable], NS("x")] = None
    plain: int = 0

    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        parser.add_argument("--paint", action=DeprecatedAliasStoreAction, dest="colour", new_flag="--colour")
        parser.add_argument("--hidden", action="store_true")
"""
    + PARSE
)

SPLIT = (
    """
from sglang.srt.fields.look import Look
from sglang.srt.fields.work import Work

class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        parser.add_argument("--finish", choices=["auto"] + _finishes(), default=_declared_default("finish"))

_INPUT_NAMESPACES = [Look, Work]

def _finishes():
    if cached:
        return cached
    from sglang.srt.choices import COLOURS
    return list(COLOURS)
"""
    + PARSE
)

LOOK = """
class Look(msgspec.Struct):
    _NS_PATH = "look"
    colour: A[str, "Paint."] = "red"
    finish: Optional[str] = None
"""
WORK = """
class Work(msgspec.Struct):
    _NS_PATH = "work"
    speed: A[Optional[int], "Pace.", NS("x")] = None
"""

ENVIRON = """
class Envs:
    SGLANG_FAST = EnvBool(True)
    SGLANG_LIMIT = EnvIntWithAlias(3, deprecated_name="SGLANG_MAX")
    SGLANG_DIR = EnvStr(lambda: default_folder())

_DEPRECATED_ENVS = {
    "SGLANG_QUICK": _DeprecatedEnv(replacement="SGLANG_FAST"),
    "SGLANG_NOTHING": _DeprecatedEnv(note="Pass --colour instead."),
}
"""

SERVE = """
def _positional(words):
    if words and not words[0].startswith("-"):
        return ["--model-path", words[0], *words[1:]]
    return words
"""


def release_of(files: dict[str, str], name: str = "1.0") -> Release:
    """A release whose sources are these files."""
    return Release.read(from_texts({file: textwrap.dedent(text) for file, text in files.items()}), name)


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Every spelling with what its row says, place and scope left out."""
    left_out = ("evidence", "scope", "names")
    return {
        name: {key: value for key, value in row.items() if key not in left_out} for row in rows for name in row["names"]
    }


@pytest.fixture
def block() -> Release:
    return release_of({SERVER_ARGS: BLOCK, "sglang/srt/choices.py": CHOICES})


@pytest.fixture
def annotated() -> Release:
    return release_of({SERVER_ARGS: ANNOTATED, "sglang/srt/choices.py": CHOICES})


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("--shelf", {"path": "shelf_path", "kind": "value", "type": "str", "required": True}),
        ("--width", {"path": "width", "kind": "value", "type": "int", "default": None, "nullable": True}),
        ("--depth", {"path": "depth", "kind": "value", "type": "int", "default": 10000, "choices": [1, 2]}),
        ("--trust", {"path": "trust", "kind": "switch", "type": "bool", "const": True, "default": False}),
        (
            "--size",
            {"path": "size", "kind": "value", "type": "str", "default": "d", "choices": ["small", "red", "blue"]},
        ),
        (
            "--shade",
            {"path": "shade", "kind": "value", "type": "str", "default": "auto", "choices": ["auto", "dark", "light"]},
        ),
        ("--paths", {"path": "paths", "kind": "list", "nargs": "*", "type": "str", "default": []}),
        ("--tags", {"path": "tags", "kind": "list", "type": "int", "default": None, "nullable": True}),
        (
            "--trace",
            {"path": "trace", "kind": "optional", "type": "str", "const": "", "default": None, "nullable": True},
        ),
        ("--threads", {"path": "threads", "kind": "value", "type": "int", "default_expr": "cores()"}),
        ("--extra", {"path": "extra", "kind": "value", "type": "json", "default": "{}"}),
        ("--patch", {"path": "patch", "kind": "value", "type": "json", "default": {}}),
        ("--tuned", {"path": "tuned", "kind": "value", "type": "str", "default": None, "nullable": True}),
        (
            "--fused",
            {
                "path": "fused",
                "kind": "switch",
                "type": "bool",
                "const": True,
                "no_names": ["--no-fused"],
                "default": None,
                "nullable": True,
            },
        ),
        (
            "--old-size",
            {"path": "old_size", "kind": "switch", "deprecated": "the launch stops", "replaced_by": "--size"},
        ),
        (
            "--no-colour",
            {
                "path": "colour",
                "kind": "switch",
                "const": "none",
                "nullable": True,
                "deprecated": "write --colour=none",
                "replaced_by": "--colour",
            },
        ),
    ],
)
def test_argparse_block(block: Release, flag: str, expected: dict[str, Any]) -> None:
    assert by_name(rows_of(block))[flag] == expected


def test_the_first_long_flag_is_canonical_and_the_place_is_kept(block: Release) -> None:
    row = next(row for row in rows_of(block) if row["path"] == "width")
    assert row["names"] == ["--wide-size", "-w", "--width"]
    (evidence,) = row["evidence"]
    line = textwrap.dedent(BLOCK).splitlines()[evidence["line"] - 1]
    assert (evidence["release"], evidence["file"]) == ("1.0", SERVER_ARGS)
    assert '"--wide-size"' in line


def test_an_old_spelling_is_a_row_of_its_own_without_a_default(block: Release) -> None:
    rows = [row for row in rows_of(block) if row["path"] == "colour"]
    assert [(row["names"], "default" in row) for row in rows] == [
        (["--colour"], True),
        (["--tint"], False),
        (["--no-colour"], False),
    ]
    assert rows[1]["deprecated"] is True
    assert rows[1]["replaced_by"] == "--colour"


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("--shelf-path", {"path": "shelf", "kind": "value", "type": "str", "required": True}),
        (
            "--colour",
            {
                "path": "colour",
                "kind": "value",
                "type": "str",
                "default": None,
                "nullable": True,
                "choices": ["red", "blue"],
            },
        ),
        ("--mode", {"path": "mode", "kind": "value", "type": "str", "default": "fast", "choices": ["fast", "slow"]}),
        ("--trust", {"path": "trust", "kind": "switch", "type": "bool", "const": True, "default": False}),
        (
            "--maybe",
            {
                "path": "maybe",
                "kind": "switch",
                "type": "bool",
                "const": True,
                "no_names": ["--no-maybe"],
                "default": None,
                "nullable": True,
            },
        ),
        ("--tags", {"path": "tags", "kind": "list", "type": "int", "default": None, "nullable": True}),
        ("--rows", {"path": "rows", "kind": "value", "type": "json", "parser": "json_list_type", "default": []}),
        ("--width", {"path": "wide", "kind": "value", "type": "int", "default": 4}),
        (
            "--gone",
            {
                "path": "gone",
                "kind": "switch",
                "type": "bool",
                "const": True,
                "default": False,
                "deprecated": True,
                "replaced_by": "--mode",
            },
        ),
        (
            "--paint",
            {
                "path": "colour",
                "kind": "value",
                "type": "str",
                "nullable": True,
                "deprecated": True,
                "replaced_by": "--colour",
            },
        ),
        ("--hidden", {"path": "hidden", "kind": "switch", "type": "bool", "const": True, "default": False}),
    ],
)
def test_annotated_fields(annotated: Release, flag: str, expected: dict[str, Any]) -> None:
    assert by_name(rows_of(annotated))[flag] == expected


def test_fields_without_help_have_no_flag(annotated: Release) -> None:
    assert not {"--inner", "--plain"} & set(by_name(rows_of(annotated)))


def test_split_field_modules() -> None:
    files = {
        SERVER_ARGS: SPLIT,
        "sglang/srt/choices.py": CHOICES,
        "sglang/srt/fields/look.py": LOOK,
        "sglang/srt/fields/work.py": WORK,
        "sglang/cli/serve.py": SERVE,
    }
    rows = rows_of(release_of(files))
    found = by_name(rows)
    assert found["--finish"]["choices"] == ["auto", "red", "blue"]
    assert found["--finish"]["default"] is None
    assert found["--speed"] == {"path": "speed", "kind": "value", "type": "int", "default": None, "nullable": True}
    places = {row["path"]: row["evidence"][0]["file"] for row in rows}
    assert places["colour"] == "sglang/srt/fields/look.py"
    (positional,) = [row for row in rows if row["kind"] == "positional"]
    assert (positional["path"], positional["names"]) == ("model_path", [])


def test_a_choice_list_that_cannot_be_settled_is_reported_not_guessed() -> None:
    source = SPLIT.replace("return list(COLOURS)", "return ask_the_driver(1)")
    files = {SERVER_ARGS: source, "sglang/srt/fields/look.py": LOOK, "sglang/srt/fields/work.py": WORK}
    release = release_of(files)
    assert "choices" not in by_name(rows_of(release))["--finish"]
    assert any(text.startswith("--finish choices:") for text in release.unread)


def test_environment() -> None:
    reader = 'import os\nif os.getenv("SGLANG_ENABLE_SPEC_V2") is not None:\n    warn()\n'
    files = {SERVER_ARGS: BLOCK, "sglang/srt/choices.py": CHOICES, "sglang/srt/environ.py": ENVIRON}
    rows = rows_of(release_of({**files, "sglang/srt/hook.py": reader}))
    found = by_name([row for row in rows if row["scope"] == "sglang.env"])
    assert found == {
        "SGLANG_FAST": {"path": "env.SGLANG_FAST", "kind": "value", "type": "bool", "default": True},
        "SGLANG_LIMIT": {"path": "env.SGLANG_LIMIT", "kind": "value", "type": "int", "default": 3},
        "SGLANG_MAX": {
            "path": "env.SGLANG_LIMIT",
            "kind": "value",
            "type": "int",
            "deprecated": True,
            "replaced_by": "SGLANG_LIMIT",
        },
        "SGLANG_DIR": {
            "path": "env.SGLANG_DIR",
            "kind": "value",
            "type": "str",
            "default_expr": "lambda: default_folder()",
        },
        "SGLANG_QUICK": {
            "path": "env.SGLANG_FAST",
            "kind": "value",
            "deprecated": True,
            "replaced_by": "SGLANG_FAST",
        },
        "SGLANG_NOTHING": {
            "path": "env.SGLANG_NOTHING",
            "kind": "value",
            "deprecated": "warned about, does nothing",
            "replaced_by": "--colour",
        },
        "SGLANG_ENABLE_SPEC_V2": {
            "path": "env.SGLANG_ENABLE_SPEC_V2",
            "kind": "value",
            "deprecated": "warned about, does nothing",
        },
    }


def test_a_parser_without_prefixes_is_noticed(annotated: Release) -> None:
    assert parser_surprises(annotated) == []
    strict = ANNOTATED.replace('prog="x"', "allow_abbrev=False").replace("parse_args(", "parse_known_args(")
    assert len(parser_surprises(release_of({SERVER_ARGS: strict}))) == 2


def flag_row(flag: str, path: str, **more: Any) -> dict[str, Any]:
    return {"scope": "sglang.cli", "names": [flag], "path": path, "kind": "value", "evidence": [], **more}


def test_a_renamed_field_keeps_one_path() -> None:
    per_release = {
        "1.0": [flag_row("--max-bs", "max_bs")],
        "1.1": [flag_row("--max-bs-decode", "max_bs_decode"), flag_row("--max-bs", "max_bs_decode", deprecated=True)],
    }
    assert renames(per_release, ["1.0", "1.1"]) == {"max_bs": "max_bs_decode"}
    rows = joined(HARVESTER, OPTIONS, per_release, ["1.0", "1.1"])
    assert {row["path"] for row in rows} == {"max_bs_decode"}
    assert [(row["names"], row["releases"]) for row in rows] == [
        (["--max-bs"], [{"before": "1.1"}]),
        (["--max-bs-decode"], [{"since": "1.1"}]),
        (["--max-bs"], [{"since": "1.1"}]),
    ]


@pytest.mark.parametrize(
    "later",
    [
        [flag_row("--a", "b", const="off")],
        [flag_row("--a", "b"), flag_row("--c", "a")],
        [flag_row("--a", "b", kind="switch")],
    ],
    ids=["writes a constant", "the old field still has a flag", "takes other words"],
)
def test_what_is_not_a_rename(later: list[dict[str, Any]]) -> None:
    assert renames({"1.0": [flag_row("--a", "a")], "1.1": later}, ["1.0", "1.1"]) == {}


def test_two_fields_that_lived_side_by_side_are_not_one() -> None:
    per_release = {
        "1.0": [flag_row("--a", "a"), flag_row("--b", "b")],
        "1.1": [flag_row("--a", "b"), flag_row("--b", "b")],
    }
    assert renames(per_release, ["1.0", "1.1"]) == {}
