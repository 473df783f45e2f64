"""The tables of one release: small source trees of our own, one for each way in which SGLang has declared a fact."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent
from typing import Any

import pytest

from specconf.engines.sglang.harvest.algorithms import algorithm_rows
from specconf.engines.sglang.harvest.assemble import rows_of
from specconf.engines.sglang.harvest.backends import backend_rows
from specconf.engines.sglang.harvest.behaviour import metric_rows, order_rows, scope_rows
from specconf.engines.sglang.harvest.capture import capture_rows
from specconf.engines.sglang.harvest.drafting import drafting_rows
from specconf.engines.sglang.harvest.mentions import speculation_messages
from specconf.engines.sglang.harvest.multilayer import multi_layer_rows
from specconf.engines.sglang.harvest.numbers import number_rows
from specconf.engines.sglang.harvest.ownpath import own_path_rows
from specconf.engines.sglang.harvest.registry import registry_rows
from specconf.engines.sglang.harvest.release import Release
from specconf.engines.sglang.harvest.run import HARVESTER
from specconf.harvest.archive import from_texts

ARGS = "sglang/srt/server_args.py"
HOOK = "sglang/srt/arg_groups/speculative_hook.py"
PIPELINE = "sglang/srt/arg_groups/pipeline.py"
INFO = "sglang/srt/speculative/spec_info.py"
CONFIG = "sglang/srt/configs/model_config.py"
WORKER = "sglang/srt/speculative/eagle_worker.py"
FACTORY = "sglang/srt/speculative/draft_utils.py"
LOADER = "sglang/srt/model_loader/utils.py"
METRICS = "sglang/srt/metrics/collector.py"

PLAIN_ARGS = """
class ServerArgs:
    model_path: str = ""
    speculative_algorithm: str = None

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--speculative-algorithm", type=str)
"""


def release_of(files: Mapping[str, str]) -> Release:
    """A release of these files, and of an argument module where they have none."""
    texts = {ARGS: PLAIN_ARGS, **files}
    return Release.read(from_texts({file: dedent(text) for file, text in texts.items()}), "1.0")


def seen(rows: list[dict[str, Any]], *columns: str) -> list[Any]:
    """The values of the rows, with these columns."""
    return [(row["value"], *(row.get(column) for column in columns)) if columns else row["value"] for row in rows]


# --- model_registry and transformers_fallback


def test_registered_classes_are_read_from_each_modules_entry_class() -> None:
    release = release_of(
        {
            "sglang/srt/models/one.py": "class One:\n    pass\n\nEntryClass = One\n",
            "sglang/srt/models/more.py": "class A: ...\nclass B: ...\n\n\nEntryClass = [\n    A,\n    B,\n]\n",
            "sglang/srt/models/borrowed.py": "from sglang.srt.models.parts.inner import Inner as I\nEntryClass = [I]\n",
            "sglang/srt/models/parts/inner.py": "class Inner: ...\nEntryClass = Inner\n",
            "sglang/srt/models/registry.py": "def load(module):\n    return module.EntryClass\n",
        }
    )
    rows = registry_rows(release)
    assert seen(rows, "class", "module") == [
        ("Inner", "Inner", "sglang/srt/models/borrowed.py"),
        ("A", "A", "sglang/srt/models/more.py"),
        ("B", "B", "sglang/srt/models/more.py"),
        ("One", "One", "sglang/srt/models/one.py"),
    ]
    assert [row["evidence"][0]["line"] for row in rows] == [2, 5, 5, 4]
    assert release.unread == []


@pytest.mark.parametrize(
    "text",
    [
        "class A: ...\nif A:\n    EntryClass = A\n",
        "class A: ...\nEntryClass = [A]\nEntryClass += [A]\n",
        "EntryClass = make()\n",
        "from elsewhere import EntryClass\n",
    ],
)
def test_an_entry_class_that_is_not_plain_is_noted(text: str) -> None:
    release = release_of({"sglang/srt/models/a.py": text})
    registry_rows(release)
    assert release.unread


def test_the_fallback_of_a_release_is_a_fixed_class_or_one_of_those_that_share_a_first_part() -> None:
    models = {"sglang/srt/models/t.py": "class HfLm: ...\nclass HfMoeLm: ...\nEntryClass = [HfLm, HfMoeLm]\n"}
    fixed = """
    def resolve_transformers_arch(config, architectures):
        for i, arch in enumerate(architectures):
            architectures[i] = "HfLm"
    """
    built = """
    def _get_transformers_backend_arch(config, architectures):
        arch = "Hf"
        return arch + "Lm"

    def resolve_transformers_arch(config, architectures):
        return [_get_transformers_backend_arch(config, architectures)]
    """
    for text, expected in ((fixed, ["HfLm"]), (built, ["HfLm", "HfMoeLm"])):
        rows = registry_rows(release_of({**models, LOADER: text}))
        assert seen([row for row in rows if row["table"] == "transformers_fallback"]) == expected
    rows = registry_rows(release_of(models))
    assert {row["table"] for row in rows} == {"model_registry"}


# --- algorithm_words


def words_of(files: Mapping[str, str]) -> list[Any]:
    """The words of a release, each with what it is read as."""
    release = release_of(files)
    return seen(algorithm_rows(release, rows_of(release)), "alias_of")


def test_words_are_the_flags_choices_where_it_has_them() -> None:
    args = """
    class ServerArgs:
        speculative_algorithm: str = None

        def __post_init__(self):
            if self.speculative_algorithm == "NEXT":
                self.speculative_algorithm = "HAWK"

        @staticmethod
        def add_cli_args(parser):
            parser.add_argument("--speculative-algorithm", type=str, choices=["HAWK", "NEXT"])
    """
    assert words_of({ARGS: args, INFO: ""}) == [("HAWK", None), ("NEXT", "HAWK")]
    assert words_of({ARGS: args.replace("==", "!="), INFO: ""}) == [("HAWK", None), ("NEXT", None)]


ENUM = """
from enum import Enum, auto
from sglang.srt.speculative.spec_registry import RESERVED

class SpeculativeAlgorithm(Enum):
    HAWK = auto()
    CROW = auto()
    NOTHING = auto()

    @classmethod
    def from_string(cls, name):
        if name is None:
            return cls.NOTHING
        upper = name.upper()
        if upper in RESERVED:
            return cls.HAWK
        return cls[upper]
"""


def test_words_are_the_members_and_the_reserved_aliases() -> None:
    files = {INFO: ENUM, "sglang/srt/speculative/spec_registry.py": 'RESERVED = frozenset({"NEXT"})\n'}
    assert words_of(files) == [("HAWK", None), ("CROW", None), ("NEXT", "HAWK")]


def test_a_function_for_aliases_is_read_and_what_it_does_for_single_drafts_is_not() -> None:
    hook = """
    def _resolve_speculative_algorithm_alias(speculative_algorithm, draft):
        if speculative_algorithm == "CROW" and draft:
            raise ValueError("no")
        if speculative_algorithm == "NEXT" or speculative_algorithm == "HAWK":
            if draft:
                return "CROW"
            return "HAWK"
        return speculative_algorithm
    """
    info = ENUM.replace("        if upper in RESERVED:\n            return cls.HAWK\n", "")
    assert words_of({INFO: info, HOOK: hook}) == [("HAWK", None), ("CROW", None), ("NEXT", "HAWK")]


def test_calls_that_register_can_give_aliases() -> None:
    info = 'class SpeculativeAlgorithm: ...\nregister_speculative_algorithm("HAWK", aliases=("NEXT",))\n'
    args = PLAIN_ARGS.replace("type=str)", 'type=str, choices=["HAWK", "NEXT"])')
    assert words_of({ARGS: args, INFO: info}) == [("HAWK", None), ("NEXT", "HAWK")]


# --- auto_numbers

CHOOSE = """
class ServerArgs:
    speculative_algorithm: str = None

    @staticmethod
    def add_cli_args(parser): ...

def auto_choose_speculative_params(self: ServerArgs):
    if not self.speculative_algorithm:
        raise ValueError("no")
    if self.speculative_algorithm == "ALONE":
        return (3, 1, 4)
    if arch in ["LlamaX"]:
        return (5, 4, 8)
    elif arch in ("DeepX", "DeepY"):
        return (3, 1, 4)
    else:
        return (5, 4, 8)
"""


def test_an_architecture_has_numbers_of_its_own_where_they_are_not_everyones() -> None:
    release = release_of({ARGS: CHOOSE})
    assert seen(number_rows(release), "steps", "topk", "tokens") == [
        ("ALONE", 3, 1, 4),
        ("DeepX", 3, 1, 4),
        ("DeepY", 3, 1, 4),
        ("*", 5, 4, 8),
    ]
    assert release.unread == []


def test_numbers_of_a_function_that_cannot_run_are_none() -> None:
    release = release_of({ARGS: CHOOSE.replace("if not self.speculative_algorithm", "if self.forgotten")})
    assert number_rows(release) == []
    assert "forgotten" in release.unread[0]


# --- mtp_targets and bundled_drafts

DRAFTS = """
from sglang.srt.configs.dots import DotConfig
LISTED = ("ListA", "ListB")

class ModelConfig:
    def _config_draft_model(self):
        is_draft_model = self.is_draft_model
        if is_draft_model and self.hf_config.architectures[0] == "One":
            self.hf_config.architectures[0] = "OneMTP"
        if is_draft_model and self.hf_config.architectures[0] in ["TwoA", "TwoB"]:
            self.hf_config.architectures[0] = "TwoMTP"
            self.hf_config.layers = 1
        elif is_draft_model and self.hf_config.architectures[0] in LISTED:
            self.hf_config.architectures = ["ListMTP"]
        if is_draft_model and self.hf_config.architectures[0] == "Both":
            if bundles(self.hf_config) and self.speculative_algorithm in (None, "SPARK"):
                self.hf_config.architectures[0] = "BothSpark"
            else:
                self.hf_config.architectures[0] = "BothMTP"
        if is_draft_model and isinstance(self.hf_text_config, DotConfig):
            self.hf_config.architectures[0] = self.hf_text_config.configure_draft_model()
        if self.hf_config.architectures[0] == "NoDraft":
            self.hf_config.architectures[0] = "Other"
"""
DOTS = 'class DotConfig:\n    def configure_draft_model(self):\n        self.n = 1\n        return "DotLmNextN"\n'


def test_renamed_drafts_in_every_way_they_are_written() -> None:
    release = release_of(
        {
            CONFIG: DRAFTS,
            "sglang/srt/configs/dots.py": DOTS,
            "sglang/srt/models/dots.py": "class DotLm: ...\nEntryClass = DotLm\n",
        }
    )
    rows = drafting_rows(release)
    assert seen([row for row in rows if row["table"] == "mtp_targets"], "draft") == [
        ("One", "OneMTP"),
        ("TwoA", "TwoMTP"),
        ("TwoB", "TwoMTP"),
        ("ListA", "ListMTP"),
        ("ListB", "ListMTP"),
        ("Both", "BothMTP"),
        ("DotLm", "DotLmNextN"),
    ]
    bundled = [row for row in rows if row["table"] == "bundled_drafts"]
    assert seen(bundled, "draft", "algorithms") == [("Both", "BothSpark", ["SPARK"])]
    assert release.unread == []


def test_a_config_that_is_loaded_as_anothers_is_renamed_like_that() -> None:
    config = """
    KNOWN = ["DeepseekV3ForX", "DeepseekV32ForX"]

    class ModelConfig:
        def __init__(self, is_draft_model):
            if is_draft_model and self.hf_config.architectures[0] == "DeepseekV3ForX":
                self.hf_config.architectures[0] = "DeepDraft"
    """
    loader = """
    def _load_deepseek_v32_model(path):
        config_json["architectures"] = ["DeepseekV3ForX"]
        config_json["model_type"] = "deepseek_v3"
    """
    rows = drafting_rows(release_of({CONFIG: config, "sglang/srt/utils/hf_transformers_utils.py": loader}))
    assert seen(rows, "draft") == [("DeepseekV3ForX", "DeepDraft"), ("DeepseekV32ForX", "DeepDraft")]


def test_a_rename_that_is_not_understood_is_noted() -> None:
    config = """
    class ModelConfig:
        def _config_draft_model(self):
            if is_draft_model and self.hf_config.architectures[0] == "One":
                self.hf_config.architectures[0] = pick(self)
    """
    release = release_of({CONFIG: config})
    assert drafting_rows(release) == []
    assert "pick(self)" in release.unread[0]


# --- draft_from_target


@pytest.mark.parametrize(
    "body",
    [
        'if self.speculative_draft_model_path is None and model_arch in ["A", "B"]:\n'
        "    self.speculative_draft_model_path = self.model_path",
        'if model_arch in ["A", "B"]:\n'
        "    if self.speculative_draft_model_path is None:\n"
        "        self.speculative_draft_model_path = self.model_path",
        'if model_arch in ["A", "B"]:\n'
        "    if cfg.path is None:\n"
        "        declare(self, speculative_draft_model_path=cfg.model_path)",
    ],
)
def test_targets_whose_own_path_is_the_drafts(body: str) -> None:
    text = "def handle(self):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    assert seen(own_path_rows(release_of({HOOK: text}))) == ["A", "B"]


# --- multi_layer_eagle


@pytest.mark.parametrize(
    "text",
    [
        """
        LISTED = ["A", "B"]

        def adjust(self):
            if "Other" in model_arch:
                self.page = 1
            elif model_arch in LISTED:
                if self.speculative_algorithm == "EAGLE":
                    self.enable_multi_layer_eagle = True
        """,
        """
        @_register_for("A", "B")
        def overrides(args, config):
            overrides = {}
            if cfg.speculative_algorithm == "EAGLE":
                log("on")
                overrides["enable_multi_layer_eagle"] = True
            return overrides
        """,
        """
        @register_model_override_predicate(lambda arch: "A" in arch or "B" in arch)
        def overrides(args, config):
            if args.speculative_algorithm == "EAGLE":
                return {"enable_multi_layer_eagle": True}
            return {}

        @_register_for("Other")
        def others(args, config):
            if args.enable_multi_layer_eagle:
                raise ValueError("no")
        """,
    ],
)
def test_architectures_that_draft_with_several_layers(text: str) -> None:
    release = release_of({"sglang/srt/arg_groups/overrides.py": text})
    assert seen(multi_layer_rows(release)) == ["A", "B"]
    assert release.unread == []


# --- draft_attention_backends


def test_backends_from_a_chain_of_comparisons() -> None:
    worker = """
    class Worker:
        def init_attention_backend(self):
            self.draft_extend_attn_backend = None
            if self.server_args.attention_backend == "fast":
                if self.mla:
                    self.draft_attn_backend = Fast(self)
                    self.draft_extend_attn_backend = FastExtend(self)
            elif self.server_args.attention_backend == "slow":
                self.draft_attn_backend = Slow(self)
            else:
                raise ValueError("no")
    """
    rows = backend_rows(release_of({WORKER: worker}))
    assert seen(rows, "decode", "prefill") == [("fast", True, True), ("slow", True, None)]


@pytest.mark.parametrize(("file", "mark"), [(WORKER, "_"), (FACTORY, "")])
def test_backends_from_tables_of_makers(file: str, mark: str) -> None:
    text = f"""
    class Factory:
        def {mark}create_decode_backend(self):
            backend_map = {{"fast": self.a, "slow": (self.a if new() else self.b)}}
            return self._create_backend("decode", backend_map)

        def {mark}create_draft_extend_backend(self):
            backend_map = {{"fast": self.c}}
            return self._create_backend("prefill", backend_map)
    """
    rows = backend_rows(release_of({file: text}))
    assert seen(rows, "decode", "prefill") == [("fast", True, True), ("slow", True, None)]


# --- resolution_order, scope_rules, metrics


def test_the_order_of_resolution_in_the_record_itself() -> None:
    args = PLAIN_ARGS + dedent(
        """
        def __post_init__(self):
            self._handle_first()
            arch = self.get_arch()
            if arch:
                auto_choose(self)
            view = resolved_view(self)
            self._handle_last(view)

        def _handle_first(self): ...
        def _handle_last(self, view): ...
        def get_arch(self): ...
        """
    ).replace("\n", "\n    ")
    assert seen(order_rows(release_of({ARGS: args})), "calls") == [
        ("ServerArgs.__post_init__", ["_handle_first", "auto_choose", "_handle_last"])
    ]


def test_the_order_of_resolution_in_a_pipeline_of_hooks() -> None:
    pipeline = """
    def run_resolution_pipeline(server_args):
        cfg = resolving_view(server_args)
        run_hook(handle_first, server_args)
        run_post_process_pass(server_args, _middle)
        finish(server_args)
    """
    assert seen(order_rows(release_of({PIPELINE: pipeline})), "calls") == [
        ("run_resolution_pipeline", ["handle_first", "_middle", "finish"])
    ]


PREPARE = """
def prepare_server_args(argv):
    parser = argparse.ArgumentParser({built})
    ServerArgs.add_cli_args(parser)
    if "--{file}" in argv:
        argv = merge(argv)
    return parser.{read}(argv)
"""


@pytest.mark.parametrize(
    ("built", "file", "read", "expected"),
    [
        ("", "other", "parse_args", ("rejects", True, [])),
        ("allow_abbrev=False", "config", "parse_known_args", ("passes_on", False, ["yaml"])),
    ],
)
def test_what_the_parser_does_with_words_it_does_not_know(built: str, file: str, read: str, expected: Any) -> None:
    args = PLAIN_ARGS + PREPARE.format(built=built, file=file, read=read)
    rows = scope_rows(release_of({ARGS: args}))
    assert seen(rows, "unknown_member", "abbreviations", "forms") == [("sglang.cli", *expected)]


def test_a_release_without_its_parser_is_noted() -> None:
    release = release_of({})
    assert scope_rows(release) == []
    assert release.unread


def test_metrics_about_speculation_and_their_kinds() -> None:
    text = """
    class Collector:
        def __init__(self):
            self.a = Gauge(name="sglang:spec_length", documentation="x")
            self.b = prometheus_client.Counter("sglang:spec_calls_total", "y")
            self.c = Gauge(name="sglang:queue", documentation="z")
            self.d = Other(name="sglang:spec_other")
    """
    assert seen(metric_rows(release_of({METRICS: text})), "kind") == [
        ("sglang:spec_length", "gauge"),
        ("sglang:spec_calls_total", "counter"),
    ]


# --- messages


def test_messages_about_speculation_keep_their_lines_where_other_blocks_are_left_out() -> None:
    text = """\
    import x

    def unrelated(page):
        raise ValueError("page size is odd")

    @decorated
    def check(args):
        if args.speculative_algorithm:
            raise ValueError(f"page size {args.page} is odd")
        logger.info("speculative decoding is on")
    """
    archive = from_texts({"sglang/srt/a.py": dedent(text), "sglang/test/b.py": 'raise ValueError("draft is odd")\n'})
    rows = speculation_messages(archive, "1.0")
    assert [(row["where"], row["fragment"], row["evidence"][0]["line"]) for row in rows] == [
        ("sglang/srt/a.py:check", "page size ~ is odd", 9)
    ]


def test_a_file_that_begins_with_a_byte_order_mark_is_read() -> None:
    text = "\ufeffdef draft():\n    raise ValueError('the draft is odd')\n"
    assert [row["fragment"] for row in speculation_messages(from_texts({"sglang/srt/a.py": text}), "1.0")] == [
        "the draft is odd"
    ]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("assert draft.size == 1", []),  # an assert without words has only its condition, which is code
        ("assert draft.size == 1, 'one draft is needed'", ["one draft is needed"]),
        ("raise ValueError('STANDALONE needs a draft')", ["STANDALONE needs a draft"]),
        ("raise ValueError('UNO needs a GPU')", ["UNO needs a GPU"]),
        ("raise ValueError('ragged verify is off')", ["ragged verify is off"]),
        ("if algorithm.is_standalone():\n    raise ValueError('it is off')", ["it is off"]),
    ],
)
def test_words_of_speculation(text: str, kept: list[str]) -> None:
    archive = from_texts({"sglang/srt/a.py": text})
    assert [row["fragment"] for row in speculation_messages(archive, "1.0")] == kept


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("layers/engram.py", "engram shards do not fit"),
        ("layers/n_gram_embedding.py", "Unknown ngram embedding weight name"),
        ("mem_cache/store.py", "standalone_storage=True requires an allocator"),
        ("layers/awq.py", "Falling back to unoptimized kernels"),
        ("constrained/grammar.py", "Grammar accept_token failed"),
        ("dllm/scheduler.py", "the accept lengths of the draft block are missing"),
        ("models/minimax_m2.py", "RMSNormTP does not support residuals"),
    ],
)
def test_words_that_are_no_speculation(file: str, said: str) -> None:
    archive = from_texts({f"sglang/srt/{file}": f"raise ValueError({said!r})"})
    assert speculation_messages(archive, "1.0") == []


# --- all of it


def test_every_row_of_a_release_has_one_place_and_is_there_once() -> None:
    files = {
        ARGS: CHOOSE + PREPARE.format(built="", file="config", read="parse_args"),
        INFO: ENUM,
        CONFIG: DRAFTS,
        "sglang/srt/models/one.py": "class One: ...\nEntryClass = One\n",
    }
    found = HARVESTER.read(from_texts(files), "1.0")
    keys = [(row["table"], row["value"], row.get("where", "")) for row in found.tables]
    assert len(keys) == len(set(keys))
    assert {row["table"] for row in found.tables} >= {"auto_numbers", "mtp_targets", "model_registry", "scope_rules"}
    for row in (*found.tables, *found.messages):
        (evidence,) = row["evidence"]
        assert set(evidence) == {"kind", "release", "file", "line"}


# --- eagle3_capture, dflash_capture, dspark_capture


def test_the_capture_tables_follow_what_a_registered_class_inherits() -> None:
    found = capture_of(
        base="""
        class LlamaForCausalLM:
            def set_eagle3_layers_to_capture(self, layer_ids=None):
                ...

        EntryClass = LlamaForCausalLM
        """,
        other="""
        from sglang.srt.models.base import LlamaForCausalLM

        class Phi3ForCausalLM(LlamaForCausalLM):
            def set_dflash_layers_to_capture(self, layer_ids):
                ...

        class GemmaForCausalLM:
            pass

        EntryClass = [Phi3ForCausalLM, GemmaForCausalLM]
        """,
    )
    assert found == {"eagle3_capture": ["LlamaForCausalLM", "Phi3ForCausalLM"], "dflash_capture": ["Phi3ForCausalLM"]}


def test_a_class_that_hands_names_on_may_have_every_method_that_the_release_knows() -> None:
    found = capture_of(
        base="""
        class LlamaForCausalLM:
            def set_dspark_layers_to_capture(self, layer_ids):
                ...

        class Wrapper:
            def __getattr__(self, name):
                return getattr(self.inner, name)

        EntryClass = [LlamaForCausalLM, Wrapper]
        """
    )
    assert found == {"dspark_capture": ["LlamaForCausalLM", "Wrapper"]}


def capture_of(**modules: str) -> dict[str, list[str]]:
    """The architectures of each capture table, in a release with these model files."""
    release = release_of({f"sglang/srt/models/{name}.py": text for name, text in modules.items()})
    found: dict[str, list[str]] = {}
    for row in capture_rows(release, registry_rows(release)):
        found.setdefault(row["table"], []).append(row["value"])
    return {table: sorted(values) for table, values in found.items()}
