"""TensorRT-LLM's harvester on small sources of our own, one a declaration style."""

import textwrap
from pathlib import Path
from typing import Any

import pytest

from specconf.engines.tensorrt_llm.harvest.options import ARGUMENTS
from specconf.engines.tensorrt_llm.harvest.run import HARVESTER
from specconf.engines.tensorrt_llm.harvest.serve import COMMANDS
from specconf.errors import HarvestError
from specconf.harvest.archive import from_texts, open_archive
from specconf.harvest.harvester import KINDS, Harvested, joined, json_lines

SPECULATIVE = "trtllm.yaml.speculative_config"

STRICT = """
class StrictBaseModel(BaseModel):
    model_config = ConfigDict(extra="forbid")
"""

# The table of a from_dict reads the tag; what the classes call themselves is not what a file writes.
DISPATCH = """
class Drafting(BaseModel):
    max_draft_len: Optional[int] = None
    speculative_model_dir: Optional[Union[str, Path]] = None

    @classmethod
    def from_dict(cls, data: dict):
        kind = data.get("decoding_type")
        table = {"Oak": Oak, "TallOak": TallOak, "Fir": Fir}
        if kind == "Oak" and data.get("tall"):
            return TallOak(**data)
        return table[kind](**data)

class Oak(Drafting):
    decoding_type: ClassVar[str] = "OAK"
    acorns: Optional[List[int]] = None
    _shade: int = PrivateAttr(default=3)

class TallOak(Oak):
    decoding_type: ClassVar[str] = "TALL_OAK"

class Fir(Drafting):
    decoding_type: ClassVar[str] = "FIR"
    needles: int = 4
    max_draft_len: Optional[int] = Field(default=1, init=False)

class TorchLlmArgs(BaseModel):
    speculative_config: Optional[Union[Oak, TallOak, Fir]] = None
"""

UNION = (
    STRICT
    + """
class Enhancer(StrictBaseModel):
    threshold: PositiveInt = 4

class Drafting(StrictBaseModel):
    max_draft_len: Optional[NonNegativeInt] = Field(default=None)

class Oak(Drafting):
    decoding_type: Literal["Oak", "Quercus"] = Field(default="Oak")
    acorns: int = 2
    enhancer: Optional[Enhancer] = Field(default=None, status="beta")

class Fir(Drafting):
    decoding_type: Literal["Fir"] = "Fir"
    enhancer: Optional[Enhancer] = Field(default=None, status="beta")

Speculative: TypeAlias = Annotated[
    Union[Oak, Fir],
    Field(discriminator="decoding_type"),
]

class BaseLlmArgs(StrictBaseModel):
    speculative_config: Optional[Speculative] = None

class TorchLlmArgs(BaseLlmArgs):
    pass

LlmArgs = TorchLlmArgs
"""
)

# Tags on the classes, without a discriminator and without a table.
LITERALS = """
class Oak(BaseModel):
    decoding_type: Literal["Oak"] = "Oak"
    acorns: int = 2

class Fir(BaseModel):
    decoding_type: Literal["Fir"] = "Fir"

class LlmArgs(BaseModel):
    speculative_config: Oak | Fir | None = None
"""

SERVE = """
LEVELS = {"loud": logging.LOUD, "quiet": logging.QUIET}

@click.command("mind")
@click.option("--other", type=int)
def mind(other): ...

@click.command("serve")
@click.argument("model", type=str)
@click.option("--tp_size", "--tensor_parallel_size", type=int, default=1)
@click.option("--config", "--extra_llm_api_options", "extra_llm_api_options", type=str, default=None)
@click.option("--backend", type=ChoiceWithAlias(["torch", "trt"], {"tensorrt": "trt"}), default="torch")
@click.option("--log_level", type=click.Choice(LEVELS.keys()), default="quiet")
@click.option("--parser", type=click.Choice(Parsers.known.keys()), default=None)
@click.option("--mode", type=click.Choice(["A"], case_sensitive=False))
@click.option("--trust_remote_code", is_flag=True, default=False)
@click.option("--telemetry/--no-telemetry", default=True)
@click.option("--dirs", type=click.Path(exists=True), multiple=True, default=None)
@click.option("--max_batch_size", type=int, default=TorchLlmArgs.model_fields["max_batch_size"].default)
@click.option("--share", type=click.FloatRange(0, 1), default=0.9)
@stability_option("--kv_cache_dtype", type=str, required=True, status="deprecated", help="Word.")
@common
@elsewhere
def serve(model, **options):
    if not options:
        raise ValueError("speculative drafts need options")

def common(f):
    f = optgroup.option("--ep", "moe_expert_parallel_size", type=int, default=None)(f)
    return option_from_field("depth")(f)
"""

SERVE_FILES = {
    COMMANDS: "from tensorrt_llm.llmapi.llm_args import TorchLlmArgs\n" + SERVE,
    ARGUMENTS: "class TorchLlmArgs(BaseModel):\n    max_batch_size: Optional[int] = 8 * 256\n",
}


def harvested(arguments: str = "", release: str = "1.2.0", **files: str) -> Harvested:
    """What is read from one file of arguments."""
    return HARVESTER.read(from_texts({ARGUMENTS: textwrap.dedent(arguments), **files}), release)


def fields(body: str) -> dict[str, dict[str, Any]]:
    """The top-level rows of a class with these fields, by path, without their place."""
    source = STRICT + "class TorchLlmArgs(StrictBaseModel):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    return {row["path"]: row for row in harvested(source).options if row["scope"] == "trtllm.yaml"}


def members(source: str) -> list[tuple[str, Any]]:
    """The members of the speculative scope with their tags, None for all."""
    return [
        (row["path"].removeprefix("speculative_config."), row.get("methods"))
        for row in harvested(source).options
        if row["scope"] == SPECULATIVE
    ]


def table(found: Harvested, name: str) -> dict[str, dict[str, Any]]:
    """The rows of one table by value."""
    return {row["value"]: row for row in found.tables if row["table"] == name}


def test_the_table_of_from_dict_names_the_tags() -> None:
    found = harvested(DISPATCH)
    assert members(DISPATCH) == [
        ("decoding_type", None),
        ("acorns", ["Oak", "TallOak"]),
        ("max_draft_len", ["Oak", "TallOak"]),
        ("speculative_model", None),
        ("needles", ["Fir"]),
        ("max_draft_len", ["Fir"]),
    ]
    rows = [row for row in found.options if row["scope"] == SPECULATIVE]
    assert rows[0]["choices"] == ["Fir", "Oak", "TallOak"]
    assert rows[0]["required"] is True
    assert rows[3]["names"] == ["speculative_model_dir"]
    assert rows[5]["internal"] is True
    types = table(found, "decoding_types")
    assert {tag: row["class"] for tag, row in types.items()} == {"Fir": "Fir", "Oak": "Oak", "TallOak": "TallOak"}
    assert table(found, "decoding_type_aliases")["Oak"]["key"] == "TallOak"
    assert table(found, "scope_rules")[SPECULATIVE]["unknown_member"] == "drops"


def test_a_discriminated_union_names_the_tags() -> None:
    found = harvested(UNION)
    assert members(UNION) == [
        ("decoding_type", None),
        ("acorns", ["Oak", "Quercus"]),
        ("enhancer", None),
        ("max_draft_len", None),
    ]
    inner = [row for row in found.options if row["scope"] == f"{SPECULATIVE}.enhancer"]
    assert [(row["path"], row["bounds"]) for row in inner] == [("speculative_config.enhancer.threshold", {"gt": 0})]
    assert set(table(found, "decoding_types")) == {"Fir", "Oak", "Quercus"}
    assert {row["unknown_member"] for row in table(found, "scope_rules").values()} == {"rejects"}


def test_literals_name_the_tags_of_a_plain_union() -> None:
    rows = [row for row in harvested(LITERALS).options if row["scope"] == SPECULATIVE]
    assert [(row["path"], row.get("required")) for row in rows] == [
        ("speculative_config.decoding_type", None),
        ("speculative_config.acorns", None),
    ]


def test_classes_whose_tags_cannot_be_told_are_not_opened() -> None:
    found = harvested(LITERALS.replace("decoding_type", "kind", 1))
    row = next(row for row in found.options if row["path"] == "speculative_config")
    assert row["kind"] == "object"
    assert "members" not in row
    assert any("could not be told" in note for note in found.notes)


def test_the_tag_need_not_be_written_where_a_validator_may_fill_it_in() -> None:
    filling = """
    @model_validator(mode="before")
    @classmethod
    def fill(cls, data):
        data["speculative_config"].setdefault("decoding_type", "Oak")
        return data
"""
    found = harvested(
        UNION.replace("class TorchLlmArgs(BaseLlmArgs):\n    pass", f"class TorchLlmArgs(BaseLlmArgs):{filling}")
    )
    row = next(row for row in found.options if row["path"] == "speculative_config.decoding_type")
    assert "required" not in row
    assert any("TorchLlmArgs.fill" in note for note in found.notes)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("a: int = 3", {"kind": "value", "type": "int", "default": 3}),
        ("a: Optional[bool] = None", {"kind": "value", "type": "bool", "default": None, "nullable": True}),
        ("a: Union[str, Path, None] = 'x'", {"kind": "value", "type": "str", "default": "x", "nullable": True}),
        ("a: 'Optional[float]' = 0.5", {"kind": "value", "type": "float", "default": 0.5, "nullable": True}),
        ("a: dict[int, int] = Field(default_factory=dict)", {"kind": "value", "type": "json", "default": {}}),
        ("a: List[int] = Field(...)", {"kind": "value", "type": "json"}),
        ("a: Union[str, int] = 1", {"kind": "value", "default": 1}),
        ("a: Literal['x', 'y'] = 'x'", {"kind": "value", "type": "str", "choices": ["x", "y"], "default": "x"}),
        ("a: Optional[PositiveInt] = 2", {"kind": "value", "type": "int", "bounds": {"gt": 0}, "default": 2, "nullable": True}),
        ("a: float = Field(1, ge=0, le=2)", {"kind": "value", "type": "float", "bounds": {"ge": 0, "le": 2}, "default": 1}),
        ("a: Annotated[int, Field(lt=9)] = 2 ** 3", {"kind": "value", "type": "int", "bounds": {"lt": 9}, "default": 8}),
        ("a: int = native.default_size()", {"kind": "value", "type": "int", "default_expr": "native.default_size()"}),
        ("a: int = Field(1, deprecated='Use b.')", {"kind": "value", "type": "int", "default": 1, "deprecated": True}),
        ("a: int = Field(1, status='deprecated')", {"kind": "value", "type": "int", "default": 1, "deprecated": True}),
        ("a: int = Field(1, status='prototype')", {"kind": "value", "type": "int", "default": 1}),
        ("a: int = Field(1, exclude=True)", {"kind": "value", "type": "int", "default": 1, "internal": True}),
    ],
)  # fmt: skip
def test_a_field_gives_its_columns(declared: str, expected: dict[str, Any]) -> None:
    row = fields(declared)["a"]
    assert {name: row[name] for name in row if name not in ("scope", "path", "names", "evidence")} == expected


@pytest.mark.parametrize(
    ("declared", "names"),
    [
        ("a: int = Field(1, alias='_a')", ["_a"]),
        ("a: int = Field(1, validation_alias=AliasChoices('a', 'old_a'))", ["a", "old_a"]),
        ("model_config = ConfigDict(populate_by_name=True)\na: int = Field(1, alias='b')", ["a", "b"]),
    ],
)
def test_aliases_are_spellings(declared: str, names: list[str]) -> None:
    assert fields(declared)["a"]["names"] == names


def test_class_variables_and_private_names_are_no_members() -> None:
    assert set(fields("a: int = 1\nkind: ClassVar[str] = 'x'\n_b: int = PrivateAttr(2)\nmodel_config = {}")) == {"a"}


@pytest.mark.parametrize(
    ("body", "bounds"),
    [
        ("if v <= 0:\n        raise ValueError()", {"gt": 0}),
        ("if v is not None and v < 2:\n        raise ValueError()", {"ge": 2}),
        ("if v is not None:\n        if not 0 < v <= 1:\n            raise ValueError()", {"gt": 0, "le": 1}),
        ("if v == 3:\n        raise ValueError()", {}),
        ("if v < other():\n        raise ValueError()", {}),
    ],
)
def test_a_validator_that_compares_with_a_number_sets_a_bound(body: str, bounds: dict[str, Any]) -> None:
    declared = (
        f"a: Optional[int] = 1\n@field_validator('a')\n@classmethod\ndef check(cls, v):\n    {body}\n    return v\n"
    )
    assert fields(declared)["a"].get("bounds", {}) == bounds


def test_a_validator_that_reads_the_word_first_is_a_parser() -> None:
    row = fields("a: Literal['X'] = 'X'\n@field_validator('a', mode='before')\ndef upper(cls, v): return v.upper()\n")[
        "a"
    ]
    assert row["parser"] == "upper"
    assert "choices" not in row


def test_a_key_that_a_class_still_reads_but_calls_deprecated() -> None:
    declared = """
    a: Optional[int] = Field(None, init=False)

    @model_validator(mode="before")
    @classmethod
    def remap(cls, data):
        if "a" in data:
            warn("'a' is deprecated")
        return data
    """
    row = fields(declared)["a"]
    assert row["deprecated"] is True
    assert "internal" not in row


@pytest.mark.parametrize(
    ("test", "path"),
    [
        ("if 1 not in v: raise ValueError()", "draft_len_schedule@lower"),
        ("first = min(v.keys())", "draft_len_schedule@upper"),
        ("pass", "draft_len_schedule"),
    ],
)
def test_the_schedule_of_draft_lengths_says_which_bounds_its_keys_are(test: str, path: str) -> None:
    validator = (
        "    draft_len_schedule: Optional[dict[int, int]] = None\n"
        "    @field_validator('draft_len_schedule')\n"
        f"    def check(cls, v):\n        {test}\n        return v\n"
    )
    source = UNION.replace("class Oak(", f"{validator}\nclass Oak(", 1)
    assert (path, None) in members(source)


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        ("class Inner(StrictBaseModel):\n", "rejects"),
        ("class Inner(BaseModel):\n", "drops"),
        ('class Inner(BaseModel):\n    model_config = {"extra": "allow"}\n', "passes_on"),
        ('class Inner(BaseModel):\n    class Config:\n        extra = "forbid"\n', "rejects"),
        ("class Inner(BaseModel, extra='forbid'):\n", "rejects"),
        (
            "@dataclass\nclass Inner:\n    @classmethod\n    def from_dict(cls, d):\n        return cls(**d)\n",
            "rejects",
        ),
        ("@dataclass(slots=True)\nclass Inner:\n", "unknown"),
    ],
)
def test_what_a_scope_does_with_an_unknown_member(head: str, answer: str) -> None:
    source = f"{STRICT}\n{head}    a: int = 1\n\nclass LlmArgs(BaseModel):\n    inner: Inner = Field(default_factory=Inner)\n"
    found = harvested(source)
    assert table(found, "scope_rules")["trtllm.yaml.inner"]["unknown_member"] == answer
    assert [row["members"] for row in found.options if row["path"] == "inner"] == ["trtllm.yaml.inner"]


def test_classes_enums_and_constants_are_followed_into_other_files() -> None:
    found = HARVESTER.read(
        from_texts(
            {
                ARGUMENTS: "from ..sizes import SIZE\nfrom .parts import Shade, Inner as In\n"
                "class LlmArgs(BaseModel):\n    shade: Shade = Shade.DARK\n    size: int = SIZE\n    inner: In = None\n",
                "tensorrt_llm/sizes.py": "SIZE = 4 * 1024\n",
                "tensorrt_llm/llmapi/parts/__init__.py": "from .inside import *\nfrom .inside import Shade, Inner\n",
                "tensorrt_llm/llmapi/parts/inside.py": "class Shade(StrEnum):\n    DARK = 'dark'\n    LIGHT = 'light'\n"
                "class Inner(BaseModel):\n    a: int = 1\n",
            }
        ),
        "1.2.0",
    )
    rows = {row["path"]: row for row in found.options}
    assert rows["shade"]["choices"] == ["dark", "light"]
    assert rows["shade"]["default"] == "dark"
    assert rows["size"]["default"] == 4096
    assert rows["inner.a"]["evidence"][0]["file"] == "tensorrt_llm/llmapi/parts/inside.py"


def test_what_is_defined_outside_is_noted_and_not_guessed() -> None:
    found = harvested("from elsewhere import Tokenizer\nclass LlmArgs(BaseModel):\n    a: Optional[Tokenizer] = None\n")
    assert "type" not in found.options[0]
    assert any("Tokenizer is not defined in these sources" in note for note in found.notes)
    assert any(COMMANDS in note for note in found.notes)


@pytest.mark.parametrize("source", ["", "class Other: ...\n", "class LlmArgs(\n"])
def test_sources_without_the_arguments_are_refused(source: str) -> None:
    with pytest.raises(HarvestError):
        harvested(source)


def test_click_options_are_the_command_line() -> None:
    found = HARVESTER.read(from_texts(SERVE_FILES), "1.2.0")
    rows = [row for row in found.options if row["scope"] == "trtllm.cli"]
    plain = [{name: row[name] for name in row if name not in ("scope", "evidence")} for row in rows]
    value: dict[str, Any] = {"kind": "value", "type": "str"}
    absent: dict[str, Any] = {"default": None, "nullable": True}
    assert plain == [
        {"kind": "positional", "names": [], "path": "model", "type": "str", "required": True},
        {
            **value,
            "names": ["--tp_size", "--tensor_parallel_size"],
            "path": "tensor_parallel_size",
            "type": "int",
            "default": 1,
        },
        {**value, **absent, "names": ["--config", "--extra_llm_api_options"], "path": "cli.config"},
        {
            **value,
            "names": ["--backend"],
            "path": "cli.backend",
            "choices": ["torch", "trt", "tensorrt"],
            "default": "torch",
        },
        {**value, "names": ["--log_level"], "path": "cli.log_level", "choices": ["loud", "quiet"], "default": "quiet"},
        {**value, **absent, "names": ["--parser"], "path": "cli.parser"},
        {**value, **absent, "names": ["--mode"], "path": "cli.mode", "parser": "Choice"},
        {
            **{"kind": "switch", "type": "bool", "const": True, "default": False},
            **{"names": ["--trust_remote_code"], "path": "cli.trust_remote_code"},
        },
        {
            **{"kind": "switch", "type": "bool", "const": True, "default": True},
            **{"names": ["--telemetry"], "no_names": ["--no-telemetry"], "path": "cli.telemetry"},
        },
        {"kind": "append", "type": "str", "default": [], "names": ["--dirs"], "path": "cli.dirs"},
        {**value, "names": ["--max_batch_size"], "path": "max_batch_size", "type": "int", "default": 2048},
        {
            **value,
            "names": ["--share"],
            "path": "cli.share",
            "type": "float",
            "bounds": {"ge": 0, "le": 1},
            "default": 0.9,
        },
        {
            **value,
            "names": ["--kv_cache_dtype"],
            "path": "kv_cache_config.dtype",
            "required": True,
            "deprecated": True,
        },
        {**value, **absent, "names": ["--ep"], "path": "moe_expert_parallel_size", "type": "int"},
    ]
    assert table(found, "scope_rules")["trtllm.cli"]["unknown_member"] == "rejects"
    for text in ("the choices of --parser", "made from a field", "the options that elsewhere adds"):
        assert any(text in note for note in found.notes)


def test_every_row_has_the_one_place_it_was_read_from() -> None:
    for files in ({ARGUMENTS: DISPATCH}, {ARGUMENTS: UNION}, {ARGUMENTS: LITERALS}, SERVE_FILES):
        found = HARVESTER.read(from_texts(files), "1.2.0")
        for row in (row for kind in KINDS for row in found.rows(kind)):
            [evidence] = row["evidence"]
            assert set(evidence) == {"kind", "release", "file", "line"}
            assert files[evidence["file"]].splitlines()[evidence["line"] - 1].strip()
        keys = [HARVESTER.option_key(row) for row in found.options]
        assert len(keys) == len(set(keys))


def test_what_the_engine_says_of_speculation_is_kept() -> None:
    found = HARVESTER.read(from_texts(SERVE_FILES), "1.2.0")
    assert [(row["where"], row["kind"], row["fragment"]) for row in found.messages] == [
        (f"{COMMANDS}:serve", "raise", "speculative drafts need options")
    ]


def test_releases_are_joined_the_same_way_every_time() -> None:
    order = ["1.1.0", "1.2.0"]
    found = {release: harvested(source, release) for release, source in zip(order, (DISPATCH, UNION), strict=True)}
    for kind in KINDS:
        rows = {release: each.rows(kind) for release, each in found.items()}
        back = {release: rows[release][::-1] for release in reversed(order)}
        assert json_lines(joined(HARVESTER, kind, rows, order)) == json_lines(joined(HARVESTER, kind, back, order))


def test_the_one_file_of_arguments_is_enough(tmp_path: Path) -> None:
    alone = tmp_path / "llm_args.py"
    alone.write_text(UNION, encoding="utf-8")
    archive = open_archive(alone, HARVESTER.package, HARVESTER.lone_files)
    assert archive.files == (ARGUMENTS,)
    assert HARVESTER.read(archive, "1.2.0").options == harvested(UNION).options


def test_other_single_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "config.py"
    other.write_text(UNION, encoding="utf-8")
    with pytest.raises(HarvestError, match=r"llm_args\.py"):
        open_archive(other, HARVESTER.package, HARVESTER.lone_files)
    with pytest.raises(HarvestError, match="none can be read"):
        open_archive(other, "vllm")


def test_a_checkout_is_read_like_its_files(tmp_path: Path) -> None:
    file = tmp_path / ARGUMENTS
    file.parent.mkdir(parents=True)
    file.write_text(DISPATCH, encoding="utf-8")
    assert HARVESTER.read(open_archive(tmp_path, HARVESTER.package), "1.2.0").options == harvested(DISPATCH).options
