"""The vLLM harvester on small trees of our own writing, one per way of declaring options, and the merging of rows."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from specconf.engines.vllm.harvest.release import row_key
from specconf.engines.vllm.harvest.run import HARVESTER
from specconf.errors import HarvestError
from specconf.harvest.archive import from_texts
from specconf.harvest.harvester import json_lines
from specconf.harvest.intervals import merge_rows

HARVESTED = Path(__file__).resolve().parents[2] / "compat" / "vllm" / "harvested"

GET_KWARGS = """
    def get_kwargs(cls):
        if is_dataclass(cls) or union_dict_and_str:
            return BooleanOptionalAction, {bool, str, type(None)}
    """
FRONT = """
    from vllm.engine.arg_utils import AsyncEngineArgs

    def make_arg_parser(parser):
        parser.add_argument("model_tag", type=str, nargs="?")
        parser = AsyncEngineArgs.add_cli_args(parser)
        return parser
    """
SERVE = """
    from vllm.entrypoints.openai.cli_args import make_arg_parser

    class ServeSubcommand:
        name = "serve"

        def subparser_init(self, subparsers):
            serve_parser = subparsers.add_parser(self.name, usage="...")
            bench_parser = subparsers.add_parser("bench")
            bench_parser.add_argument("--not-of-serve")
            return make_arg_parser(serve_parser)
    """


def options_of(files: dict[str, str]) -> list[dict[str, Any]]:
    """The option rows of a package `vllm` of these modules."""
    complete = {"model_executor/models/__init__.py": "_MODELS = {}\n", **files}
    return HARVESTER.read(from_texts({f"vllm/{name}": dedent(text) for name, text in complete.items()}), "1.0").options


def rows_of(files: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The harvested rows by canonical name, or by path for a positional, without place and scope."""
    found = {}
    for row in options_of(files):
        name = row["names"][0] if row["names"] else row["path"]
        found[name] = {key: value for key, value in row.items() if key not in ("evidence", "scope", "names")}
    return found


def engine_args(body: str, fields: str = "model: str = 'm'", head: str = "") -> str:
    """An `arg_utils` module: `head`, the engine's argument class with these fields, and this parser body."""
    return (
        dedent(head)
        + "\nclass EngineArgs:\n"
        + "".join(f"    {line}\n" for line in dedent(fields).strip().splitlines())
        + "    @staticmethod\n    def add_cli_args(parser):\n"
        + "".join(f"        {line}\n" for line in dedent(body).strip().splitlines())
        + "        return parser\n"
        + "class AsyncEngineArgs(EngineArgs):\n    pass\n"
    )


LITERAL = [
    ("'--tp', '-t', type=int, default=1", {"kind": "value", "type": "int", "default": 1}),
    ("'--tp', type=int, default=EngineArgs.tp", {"kind": "value", "type": "int", "default": 4}),
    ("'--tp'", {"kind": "value", "type": "str", "default": None, "nullable": True}),
    ("'--tp', action='store_true'", {"kind": "switch", "type": "bool", "const": True, "default": False}),
    ("'--tp', action='store_false'", {"kind": "switch", "type": "bool", "const": False, "default": True}),
    (
        "'--tp', action=argparse.BooleanOptionalAction, default=True",
        {"kind": "switch", "type": "bool", "const": True, "no_names": ["--no-tp"], "default": True},
    ),
    (
        "'--tp', action=StoreBoolean, default=False, nargs='?', const='True'",
        {"kind": "optional", "type": "bool", "const": True, "default": False},
    ),
    ("'--tp', nargs='+', type=float, default=[0.5]", {"kind": "list", "type": "float", "default": [0.5]}),
    ("'--tp', action='append', type=str, default=[]", {"kind": "append", "type": "str", "default": []}),
    (
        "'--tp', type=nullable_str, choices=[*METHODS, None], default=None",
        {"kind": "value", "type": "str", "choices": ["a", "b"], "default": None, "nullable": True},
    ),
    (
        "'--tp', choices=[f.value for f in Format], default=Format.ONE.value",
        {"kind": "value", "type": "str", "choices": ["one", "two"], "default": "one"},
    ),
    (
        "'--tp', choices=get_args(Task), default='x'",
        {"kind": "value", "type": "str", "choices": ["x", "y"], "default": "x"},
    ),
    (
        "'--tp', default=16 if on_some_device() else 8, type=int",
        {"kind": "value", "type": "int", "default_expr": "16 if on_some_device() else 8"},
    ),
    ("'--tp', help='[DEPRECATED] x', required=True, default='a'", {"deprecated": True, "required": True}),
    ("'--tp', type=json.loads, default=['*']", {"kind": "value", "type": "json", "default": ["*"]}),
    (
        "'--table', type=json.loads, default=None",
        {"kind": "object", "members": "vllm.table", "type": "json", "default": None, "nullable": True},
    ),
]


@pytest.mark.parametrize(("call", "expected"), LITERAL, ids=[call for call, _ in LITERAL])
def test_a_literal_declaration(call: str, expected: dict[str, Any]) -> None:
    head = """
    import argparse, json
    from enum import Enum
    from typing import Literal, get_args
    METHODS = {"a": object(), "b": object()}
    Task = Literal["x", "y"]
    class Format(str, Enum):
        ONE = "one"
        TWO = "two"
    class StoreBoolean(argparse.Action):
        pass
    def nullable_str(val):
        return val
    """
    text = engine_args(f"parser.add_argument({call})", "tp: int = 4\ntable: Optional[dict] = None", head)
    rows = rows_of({"engine/arg_utils.py": text, "entrypoints/openai/cli_args.py": FRONT})
    row = next(row for name, row in rows.items() if name != "model")
    assert expected.items() <= row.items()


def test_the_positional_model_and_other_subcommands() -> None:
    files = {
        "engine/arg_utils.py": engine_args("parser.add_argument('--model', default='m')"),
        "entrypoints/openai/cli_args.py": FRONT,
        "entrypoints/cli/serve.py": SERVE,
    }
    rows = rows_of(files)
    assert rows == {
        "model": {"kind": "positional", "path": "model", "type": "str"},
        "--model": {"kind": "value", "path": "model", "type": "str", "default": "m"},
    }


def test_old_speculative_flags_write_members() -> None:
    body = """
    parser.add_argument('--speculative-model', type=str, default=None)
    parser.add_argument('-k', '--num-speculative-tokens', type=int, default=None)
    parser.add_argument('--speculative-config', type=json.loads, default=None)
    """
    files = {"engine/arg_utils.py": engine_args(body), "entrypoints/openai/cli_args.py": FRONT}
    rows = rows_of(files)
    assert rows["--num-speculative-tokens"]["path"] == "speculative_config.num_speculative_tokens"
    assert rows["--speculative-model"]["replaced_by"] == "--speculative-config"
    assert rows["--speculative-config"]["members"] == "vllm.speculative_config"


CONFIG = [
    ("bool = True", {"kind": "switch", "no_names": ["--no-field"], "default": True}),
    ("bool | None = None", {"kind": "switch", "default": None, "nullable": True}),
    ("bool | str | None = None", {"kind": "optional", "type": "str", "const": True, "nullable": True}),
    ("Optional[int] = Field(default=None, ge=1)", {"type": "int", "bounds": {"ge": 1}, "nullable": True}),
    ("Kind = 'b'", {"type": "str", "choices": ["a", "b"], "default": "b"}),
    ("list[str] = field(default_factory=list)", {"kind": "list", "type": "str", "default": []}),
    ("list[Kind] | None = None", {"kind": "list", "type": "str", "choices": ["a", "b"], "nullable": True}),
    ("dict[str, int] = field(default_factory=dict)", {"kind": "object", "members": "vllm.field", "default": {}}),
    ("'Inner' = Field(default_factory=Inner)", {"kind": "object", "members": "vllm.field"}),
    ("SkipValidation[Colour] = Colour.RED", {"kind": "value", "type": "str", "default": "red"}),
    ("float = BASE * 2", {"type": "float", "default": 3.0}),
]


@pytest.mark.parametrize(("declaration", "expected"), CONFIG, ids=[declaration for declaration, _ in CONFIG])
def test_a_field_of_a_configuration_class(declaration: str, expected: dict[str, Any]) -> None:
    config = f"""
    from enum import Enum
    from vllm.kinds import *
    BASE = 1.5
    class Colour(Enum):
        RED = "red"
    @config
    class Inner:
        depth: int = 1
    @config
    class Parent:
        field: {declaration}
    @config
    class Config(Parent):
        other: int = 0
    """
    body = """
    kwargs = get_kwargs(Config)
    group = parser.add_argument_group(title="x")
    group.add_argument("--field", "-f", **kwargs["field"])
    """
    head = dedent(GET_KWARGS) + "from vllm.config import Config\n"
    files = {
        "engine/arg_utils.py": engine_args(body, head=head),
        "entrypoints/openai/cli_args.py": FRONT,
        "config/__init__.py": "from vllm.config.parts import Config\n",
        "config/parts.py": config,
        "kinds.py": 'from typing import Literal\nKind = Literal["b", "a"]\n',
    }
    row = rows_of(files)["--field"]
    assert expected.items() <= row.items()


@pytest.mark.parametrize(("rule", "choices"), [("metavar", None), ("choices", ["a"])])
def test_a_literal_beside_str_restricts_by_release(rule: str, choices: list[str] | None) -> None:
    head = dedent(GET_KWARGS) + f"def literal_to_kwargs(hints):\n    return '{rule}'\n"
    head += "from typing import Literal\nclass Config:\n    field: Literal['a'] | str = 'a'\n"
    body = "parser.add_argument('--field', **get_kwargs(Config)['field'])"
    files = {"engine/arg_utils.py": engine_args(body, head=head), "entrypoints/openai/cli_args.py": FRONT}
    assert rows_of(files)["--field"].get("choices") == choices


def test_paired_switches_have_the_inverse_prefix_too() -> None:
    action = """
    class PairAction(BooleanOptionalAction):
        _inverse_prefixes = {}
    """
    body = """
    parser.add_argument('--enable-x', '-x', action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument('--disable-y', action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument('--enable-z', action='store_true')
    """
    files = {
        "engine/arg_utils.py": engine_args(body),
        "entrypoints/openai/cli_args.py": FRONT,
        "utils/argparse_utils.py": action,
    }
    rows = rows_of(files)
    assert rows["--enable-x"]["no_names"] == ["--no-enable-x", "--disable-x"]
    assert rows["--disable-y"]["no_names"] == ["--no-disable-y", "--enable-y"]
    assert "no_names" not in rows["--enable-z"]


def test_choices_from_a_registry_filled_at_import_are_unknown() -> None:
    head = "class Registry:\n    parsers: dict = {}\n"
    body = "parser.add_argument('--parser', choices=list(Registry.parsers), default=None)"
    files = {"engine/arg_utils.py": engine_args(body, head=head), "entrypoints/openai/cli_args.py": FRONT}
    assert "choices" not in rows_of(files)["--parser"]


def test_changes_of_the_derived_keywords() -> None:
    head = dedent(GET_KWARGS) + dedent("""
    class Config:
        first: int = 3
        second: list[str] | None = None
        third: bool = False
    """)
    body = """
    kwargs = get_kwargs(Config)
    kwargs["first"]["choices"] = [3, 4, 5]
    kwargs["first"]["choices"].remove(4)
    if "nargs" in kwargs["second"]:
        del kwargs["second"]["nargs"]
    kwargs["second"]["type"] = optional_type(json.loads)
    parser.add_argument("--first", **{**kwargs["first"], "default": None})
    parser.add_argument("--second", **kwargs["second"])
    if not ("serve" in sys.argv):
        parser.add_argument("--third", **kwargs["third"])
    for name, kind in [("--x", str), ("--y", bool)]:
        parser.add_argument(name, type=kind, deprecated=True)
    """
    files = {"engine/arg_utils.py": engine_args(body, head=head), "entrypoints/openai/cli_args.py": FRONT}
    rows = rows_of(files)
    assert rows["--first"] == {
        "path": "first", "kind": "value", "type": "int", "choices": [3, 5], "default": None, "nullable": True,
    }  # fmt: skip
    assert rows["--second"]["kind"] == "value"
    assert rows["--second"]["type"] == "json"
    assert {"--third", "--x", "--y"} <= set(rows)
    assert rows["--y"]["type"] == "bool"
    assert rows["--y"]["deprecated"] is True


def test_frontend_arguments_are_added_in_a_loop() -> None:
    front = """
    import json
    from vllm.engine.arg_utils import AsyncEngineArgs, get_kwargs
    class Base:
        allowed_hosts: list[str] = field(default_factory=lambda: ["*"])

        @classmethod
        def customize(cls, kwargs):
            kwargs["allowed_hosts"]["type"] = json.loads
            del kwargs["allowed_hosts"]["nargs"]
            return kwargs

        @classmethod
        def add_cli_args(cls, parser):
            kwargs = cls.customize(get_kwargs(cls))
            for key, value in kwargs.items():
                extra = value.pop("flags", [])
                parser.add_argument(*extra, f"--{key.replace('_', '-')}", **value)
            return parser
    class FrontendArgs(Base):
        api_port: int = 8000

        @classmethod
        def customize(cls, kwargs):
            kwargs = super().customize(kwargs)
            kwargs["api_port"]["flags"] = ["-p"]
            return kwargs
    def make_arg_parser(parser):
        parser = FrontendArgs.add_cli_args(parser)
        return AsyncEngineArgs.add_cli_args(parser)
    """
    files = {
        "engine/arg_utils.py": engine_args("parser.add_argument('--seed')", head=GET_KWARGS),
        "entrypoints/openai/cli_args.py": front,
    }
    rows = rows_of(files)
    assert set(rows) == {"--allowed-hosts", "--api-port", "--seed"}
    assert rows["--allowed-hosts"]["default"] == ["*"]
    assert rows["--allowed-hosts"]["kind"] == "value"
    assert rows["--api-port"]["default"] == 8000


@pytest.mark.parametrize(("origin", "choices"), [("dataclasses", None), ("pydantic.dataclasses", ["x", "y", "z"])])
def test_members_of_the_speculative_configuration(origin: str, choices: list[str] | None) -> None:
    config = f"""
    from typing import Literal, Optional
    from {origin} import dataclass
    More = Literal["y", "z"]
    Method = Literal["x", More]
    @dataclass
    class SpeculativeConfig:
        num_speculative_tokens: int = Field(default=None, gt=0)
        method: Optional[Method] = None
        rates: list[float] | None = None
        quantization: "Other | str | None" = None
        target_model_config: ModelConfig = None
    """
    body = "parser.add_argument('--speculative-config', type=json.loads, default=None)"
    files = {
        "engine/arg_utils.py": engine_args(body),
        "entrypoints/openai/cli_args.py": FRONT,
        "config.py": config,
    }
    rows = rows_of(files)
    tokens = rows["num_speculative_tokens"]
    assert tokens["bounds"] == {"gt": 0}
    assert tokens["default"] is None
    assert "nullable" not in tokens
    assert rows["method"].get("choices") == choices
    assert rows["method"]["nullable"] is True
    assert rows["rates"]["type"] == "json"
    assert rows["quantization"]["type"] == "str"
    assert rows["target_model_config"]["internal"] is True
    assert rows["method"]["path"] == "speculative_config.method"


def test_environment_variables_have_a_default_only_where_both_places_agree() -> None:
    envs = """
    if TYPE_CHECKING:
        VLLM_A: bool = False
        VLLM_B: int = 5
        VLLM_C: str | None = None
        VLLM_D: int = 7
        VLLM_F: int = 0
        VLLM_G: int | None = None
    environment_variables: dict = {
        "VLLM_A": lambda: bool(int(os.getenv("VLLM_A", "0"))),
        "VLLM_B": lambda: int(os.environ.get("VLLM_B", "6")),
        "VLLM_C": lambda: os.getenv("VLLM_C", None),
        "VLLM_D": lambda: read_somehow("VLLM_D"),
        "VLLM_E": lambda: os.getenv("VLLM_E"),
        "VLLM_F": lambda: int(os.getenv("VLLM_F", "0")) if "VLLM_F" in os.environ else None,
        "VLLM_G": lambda: int(os.getenv("VLLM_G", "0")) if "VLLM_G" in os.environ else None,
    }
    """
    files = {"engine/arg_utils.py": engine_args("pass"), "entrypoints/openai/cli_args.py": FRONT, "envs.py": envs}
    rows = rows_of(files)
    assert rows["VLLM_A"] == {"path": "env.VLLM_A", "kind": "value", "type": "bool", "default": False}
    assert rows["VLLM_C"]["default"] is None
    assert rows["VLLM_G"]["default"] is None
    assert [name for name in ("VLLM_B", "VLLM_D", "VLLM_E", "VLLM_F") if "default" in rows[name]] == []


def test_a_tree_without_a_parser_is_refused() -> None:
    with pytest.raises(HarvestError, match=r"release 1\.0"):
        options_of({"__init__.py": ""})


# Merging

ORDER = ["1.0", "1.1", "1.2", "1.10", "2.0", "2.1"]
VALUES = st.dictionaries(st.sampled_from("abc"), st.integers(0, 1), max_size=3)


def per_release_rows(values: dict[str, dict[str, int]]) -> dict[str, list[dict[str, Any]]]:
    """One row per key and release, with evidence that differs from release to release."""
    return {
        release: [
            {"path": key, "default": value, "evidence": [{"line": line, "release": release}]}
            for line, (key, value) in enumerate(sorted(known.items()))
        ]
        for release, known in values.items()
    }


def key(row: dict[str, Any]) -> tuple[str, ...]:
    return (row["path"],)


def holds(ranges: list[dict[str, Any]], release: str) -> bool:
    """Membership of a harvested release in written ranges; a bracket's known side decides it."""

    def bound(value: Any, side: str) -> Version:
        return Version(value[side] if isinstance(value, dict) else value)

    return any(
        ("since" not in found or Version(release) >= bound(found["since"], "in"))
        and ("before" not in found or Version(release) < bound(found["before"], "not_in"))
        for found in ranges
    )


@given(st.dictionaries(st.sampled_from(ORDER), VALUES, min_size=1))
def test_merged_rows_say_for_every_harvested_release_what_was_seen_there(values: dict[str, dict[str, int]]) -> None:
    rows = merge_rows(per_release_rows(values), ORDER, key)
    for release, known in values.items():
        assert {(row["path"], row["default"]) for row in rows if holds(row["releases"], release)} == set(known.items())


@given(st.dictionaries(st.sampled_from(ORDER), VALUES, min_size=1))
def test_merged_rows_are_minimal_ordered_and_keep_the_newest_evidence(values: dict[str, dict[str, int]]) -> None:
    rows = merge_rows(per_release_rows(values), ORDER, key)
    assert rows == merge_rows(per_release_rows(dict(reversed(values.items()))), ORDER, key)
    assert len({(row["path"], row["default"]) for row in rows}) == len(rows)
    assert [row["path"] for row in rows] == sorted(row["path"] for row in rows)
    harvested = [release for release in ORDER if release in values]
    for row in rows:
        newest = [release for release in harvested if values[release].get(row["path"]) == row["default"]]
        assert row["evidence"][-1]["release"] == newest[-1]
        assert len(row["evidence"]) == len(row["releases"])
        for earlier, later in pairwise(row["releases"]):
            assert "before" in earlier
            assert "since" in later


def test_a_bound_over_unharvested_releases_is_a_bracket() -> None:
    values: dict[str, dict[str, int]] = {"1.0": {}, "1.2": {"a": 1}, "1.10": {"a": 1}, "2.1": {}}
    (row,) = merge_rows(per_release_rows(values), ORDER, key)
    assert row["releases"] == [{"since": {"not_in": "1.0", "in": "1.2"}, "before": {"in": "1.10", "not_in": "2.1"}}]


def test_outermost_bounds_are_left_out() -> None:
    (row,) = merge_rows(per_release_rows({release: {"a": 1} for release in ORDER}), ORDER, key)
    assert row["releases"] == [{}]


def test_conflicting_rows_and_strange_releases_are_refused() -> None:
    twice = per_release_rows({"1.0": {"a": 1}})["1.0"] * 2
    with pytest.raises(ValueError, match="two rows"):
        merge_rows({"1.0": twice}, ORDER, key)
    with pytest.raises(ValueError, match=r"9\.9"):
        merge_rows({"9.9": []}, ORDER, key)


# The committed table


def table() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HARVESTED / "options.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_table_is_written_as_the_harvester_writes_it() -> None:
    assert json_lines(table()) == (HARVESTED / "options.jsonl").read_text(encoding="utf-8")


def test_every_object_has_a_scope() -> None:
    scopes = yaml.safe_load((HARVESTED.parent / "scopes.yaml").read_text(encoding="utf-8"))["scopes"]
    assert {row["members"] for row in table() if "members" in row} | {row["scope"] for row in table()} == set(scopes)


def test_the_table_has_one_row_for_an_option_at_a_time() -> None:
    order = [json.loads(line)["version"] for line in (HARVESTED / "releases.jsonl").read_text().splitlines()]
    assert order == sorted(order, key=Version)
    for release in order:
        here = [{name: value for name, value in row.items() if name != "releases"} for row in table_at(release)]
        assert len(merge_rows({release: here}, order, row_key)) == len(here)


def table_at(release: str, rows: list[dict[str, Any]] = table()) -> list[dict[str, Any]]:  # noqa: B008 - read once
    return [row for row in rows if holds(row["releases"], release)]


@pytest.mark.parametrize(
    ("release", "name", "path"),
    [
        ("0.8.2", "--speculative-model", "speculative_config.model"),
        ("0.8.2", "--speculative-config", "speculative_config"),
        ("0.22.0", "--spec-tokens", "speculative_config.num_speculative_tokens"),
        ("0.33.0", "-tp", "tensor_parallel_size"),
        ("0.33.0", "fly_window_size", "speculative_config.fly_window_size"),
        ("0.20.2", "speculative_token_tree", "speculative_config.speculative_token_tree"),
    ],
)
def test_the_table_knows(release: str, name: str, path: str) -> None:
    assert [row["path"] for row in table_at(release) if name in row["names"]] == [path]


@pytest.mark.parametrize(
    ("release", "name"),
    [("0.8.3", "--speculative-model"), ("0.21.0", "--spec-tokens"), ("0.21.0", "speculative_token_tree")],
)
def test_the_table_does_not_know(release: str, name: str) -> None:
    assert not [row for row in table_at(release) if name in row["names"]]
