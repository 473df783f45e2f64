"""The tables and messages that the vLLM harvester reads, on small trees of our own writing: one per way of declaring."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import Any

import pytest

from specconf.engines.vllm.harvest.run import SAYERS, SPECULATION, TABLES
from specconf.engines.vllm.harvest.source import Tree
from specconf.engines.vllm.harvest.tables import Reading
from specconf.engines.vllm.harvest.values import Evaluator
from specconf.harvest.archive import from_texts
from specconf.harvest.messages import message_rows


def read(files: dict[str, str]) -> tuple[list[dict[str, Any]], list[str]]:
    """The table rows of a package `vllm` of these modules, and the notes taken; a registry is there in every release."""
    if not any(name.startswith("model_executor/models/") for name in files):
        files = {"model_executor/models/registry.py": "_VLLM_MODELS = {}\n", **files}
    archive = from_texts({f"vllm/{name}": dedent(text) for name, text in files.items()})
    reading = Reading(Evaluator(Tree(archive, "1.0")), "1.0")
    return [row for reader in TABLES for row in reader(reading)], reading.notes


def table(files: dict[str, str], name: str) -> dict[str, dict[str, Any]]:
    """The columns of one table's rows by value; every row has one place."""
    rows = [row for row in read(files)[0] if row["table"] == name]
    assert all(len(row["evidence"]) == 1 and row["evidence"][0]["line"] > 0 for row in rows)
    return {row["value"]: {key: row[key] for key in row if key not in ("table", "value", "evidence")} for row in rows}


def test_a_registry_of_groups_names_each_architecture_once() -> None:
    found = table(
        {
            "model_executor/models/registry.py": """
            _TEXT_GENERATION_MODELS = {"PlainForCausalLM": ("plain", "PlainForCausalLM")}
            _EMBEDDING_MODELS = {
                **{arch: pair for arch, pair in _TEXT_GENERATION_MODELS.items() if arch},
                "PlainModel": ("plain", "PlainModel"),
            }
            _SPECULATIVE_DECODING_MODELS = {"HeadModel": ("vllm.heads", "Head")}
            _VLLM_MODELS = {**_TEXT_GENERATION_MODELS, **_EMBEDDING_MODELS, **_SPECULATIVE_DECODING_MODELS}
            """
        },
        "model_registry",
    )
    assert found == {
        "PlainForCausalLM": {"group": "text_generation", "module": "plain", "class": "PlainForCausalLM"},
        "PlainModel": {"group": "embedding", "module": "plain", "class": "PlainModel"},
        "HeadModel": {"group": "speculative_decoding", "module": "vllm.heads", "class": "Head"},
    }


def test_an_old_registry_is_one_dictionary_or_groups_of_other_names() -> None:
    one = {"model_executor/models/__init__.py": '_MODELS = {"OldModel": ("old", "OldModel")}\n'}
    assert table(one, "model_registry")["OldModel"]["group"] == "ungrouped"
    grouped = {
        "model_executor/models/__init__.py": """
        _GENERATION_MODELS = {"OldModel": ("old", "OldModel"), "SeenModel": ("old", "SeenModel")}
        _MULTIMODAL_MODELS = {"SeenModel": ("seen", "SeenModel")}
        _MODELS = {**_GENERATION_MODELS, **_MULTIMODAL_MODELS}
        """
    }
    found = table(grouped, "model_registry")
    assert {name: row["group"] for name, row in found.items()} == {
        "OldModel": "text_generation",
        "SeenModel": "multimodal",
    }


def test_models_of_earlier_releases_and_of_plugins() -> None:
    files = {
        "model_executor/models/registry.py": """
        _VLLM_MODELS = {}
        _PREVIOUSLY_SUPPORTED_MODELS = {"GoneModel": "0.9.2"}
        _OOT_SUPPORTED_MODELS = {"ElsewhereModel": "a page"}
        """
    }
    assert table(files, "models_removed") == {"GoneModel": {"last": "0.9.2"}}
    assert table(files, "models_out_of_tree") == {"ElsewhereModel": {}}


def test_an_unread_part_of_the_registry_is_noted() -> None:
    rows, notes = read({"model_executor/models/registry.py": "_VLLM_MODELS = {**more(), 'X': pair()}\n"})
    assert rows == []
    assert len(notes) == 2


BACKENDS = """
    _TRANSFORMERS_MODELS = {
        "TransformersForCausalLM": ("transformers", "A"),
        "TransformersMoEForCausalLM": ("transformers", "B"),
        "TransformersForMTP": ("transformers", "C"),
    }
    _VLLM_MODELS = {**_TRANSFORMERS_MODELS}

    class Registry:
        def inspect(self, config):
            if config.model_impl == "transformers":
                return self.resolve_transformers(config)
            if self.lacks(config) and config.model_impl == "auto":
                return self.resolve_transformers(config)
    """


def test_the_fallback_is_pasted_together_by_the_model_configuration() -> None:
    files = {
        "model_executor/models/registry.py": BACKENDS,
        "config/__init__.py": """
        class ModelConfig:
            def _get_transformers_backend_cls(self):
                cls = "Transformers"
                cls += "MoE" if self.is_moe else ""
                if self.pooling:
                    cls += "EmbeddingModel"
                else:
                    cls += "ForCausalLM"
                return cls
        """,
    }
    assert table(files, "transformers_fallback") == {
        "TransformersForCausalLM": {"model_impl": ["auto", "transformers"]},
        "TransformersMoEForCausalLM": {"model_impl": ["auto", "transformers"]},
    }


def test_the_fallback_is_written_over_the_architecture_by_the_loader() -> None:
    files = {
        "model_executor/models/registry.py": "_VLLM_MODELS = {}\n",
        "model_executor/model_loader/utils.py": """
        def resolve_transformers_fallback(config, architectures):
            for i, arch in enumerate(architectures):
                if config.model_impl == ModelImpl.AUTO:
                    architectures[i] = "TransformersModel"
        """,
    }
    assert table(files, "transformers_fallback") == {"TransformersModel": {"model_impl": ["auto"]}}


def speculative(body: str, front: str = "") -> dict[str, str]:
    """A tree whose `vllm.config` has a class with this body, and this above it."""
    inner = indent(dedent(body).strip(), "    ")
    return {"config.py": f"{dedent(front)}\n\nclass SpeculativeConfig:\n{inner}\n"}


def test_families_follow_what_the_override_makes_of_a_config() -> None:
    body = """
    def hf_config_override(hf_config):
        first = hf_config.architectures[0]
        wide = hf_config.model_type in ("alpha_wide",)
        if hf_config.model_type in ("alpha", "alpha_wide"):
            hf_config.model_type = "alpha_mtp"
        if hf_config.model_type == "alpha_mtp":
            n_predict = getattr(hf_config, "num_layers", None)
            if n_predict is None:
                n_predict = getattr(hf_config.text_config, "num_layers", None)
            hf_config.update({"n_predict": n_predict, "architectures": ["WideMTP" if wide else "AlphaMTP"]})
        if (arch := hf_config.architectures[0]) in ("BetaForCausalLM", "GammaForCausalLM"):
            hf_config.model_type = "beta_mtp"
            hf_config.update({"n_predict": 1, "architectures": [{"BetaForCausalLM": "BetaMTP"}.get(arch)]})
        if hf_config.model_type == "delta" and getattr(hf_config, "layers", 0) > 0:
            hf_config = getattr(hf_config, "text_config", hf_config)
            hf_config.model_type = "delta_mtp"
            hf_config.update({"n_predict": getattr(hf_config, "layers", 2), "architectures": ["DeltaMTP"]})
        if "epsilon" in hf_config.model_type:
            if getattr(hf_config, "layers", 0) < 1:
                raise ValueError("no layers")
            hf_config.update({"n_predict": getattr(hf_config, "layers", None), "architectures": ["EpsilonMTP"]})
        if first == "ZetaForCausalLM":
            hf_config.update({"architectures": ["EagleZeta"]})
        return hf_config

    def __post_init__(self):
        if self.draft_model_config.hf_config.model_type in ("alpha_mtp", "beta_mtp"):
            self.method = "alpha_word"
        if self.target_model_config.hf_text_config.model_type == "alpha":
            self.model = self.target_model_config.model
    """
    found = table(speculative(body), "mtp_families")
    layers = {"depth_keys": ["num_layers", "text_config.num_layers"]}
    alpha = {"by": "model_type", "draft_model_type": "alpha_mtp", "word": "alpha_word", **layers}
    assert found["alpha"] == {**alpha, "draft_architectures": ["AlphaMTP"], "fills_model": True}
    assert found["alpha_wide"] == {**alpha, "draft_architectures": ["WideMTP"]}
    assert found["alpha_mtp"] == {**alpha, "draft_architectures": ["AlphaMTP"]}
    assert found["BetaForCausalLM"]["by"] == "architecture"
    assert found["BetaForCausalLM"]["depth"] == 1
    assert found["delta"] == {
        "by": "model_type",
        "draft_model_type": "delta_mtp",
        "draft_architectures": ["DeltaMTP"],
        "depth_keys": ["text_config.layers"],
        "depth_default": 2,
        "conditional": True,
    }
    assert found["epsilon"]["match"] == "contains"
    assert "ZetaForCausalLM" not in found
    assert table(speculative(body), "mtp_filled_in") == {"alpha": {}}


def test_a_drafts_architecture_may_hang_on_its_checkpoint() -> None:
    body = """
    def hf_config_override(hf_config):
        if hf_config.model_type == "eta":
            is_moe = getattr(hf_config.text_config, "model_type", None) == "eta_moe"
            hf_config.update({"n_predict": 1, "architectures": ["EtaMoeMTP" if is_moe else "EtaMTP"]})
        return hf_config
    """
    assert table(speculative(body), "mtp_families")["eta"]["draft_architectures"] == ["EtaMTP", "EtaMoeMTP"]


def test_the_words_of_method_stand_in_the_innermost_alias() -> None:
    front = """
    from typing import Literal, Optional

    Heads = Literal["eagle", "mtp"]
    Methods = Literal["ngram", Heads]
    """
    found = table(speculative("method: Optional[Methods] = None", front), "method_words")
    assert found == {"ngram": {"in": "Methods"}, "eagle": {"in": "Heads"}, "mtp": {"in": "Heads"}}
    assert table(speculative("method: Methods | None = None", front), "method_words") == found
    assert table(speculative("method: str = 'ngram'"), "method_words") == {}


@pytest.mark.parametrize("place", ["__init__.py", "cache.py"])
def test_words_that_a_later_check_compares_with(place: str) -> None:
    text = """
    from typing import Literal

    Plain = Literal["auto", "fp8"]
    CacheDType = Literal["nvfp4"] | Plain
    """
    files = {"config/__init__.py": "", f"config/{place}": text}
    assert table(files, "kv_cache_dtypes") == {"auto": {}, "fp8": {}, "nvfp4": {}}


@pytest.mark.parametrize(
    "test",
    [
        'not any(name in self.target_model_config.hf_text_config.model_type for name in ["llama"])',
        "not any(name in self.target_model_config.hf_text_config.model_type for name in allowed)",
        '"llama" not in self.target_model_config.hf_text_config.model_type',
    ],
)
def test_targets_of_eagle3_from_the_condition_that_refuses_others(test: str) -> None:
    body = f"""
    def verify(self):
        allowed = ["llama"]
        if self.method in ("eagle3", "dflash") and {test}:
            raise ValueError("only for some")
    """
    found = table(speculative(body), "eagle3_targets")
    assert found == {"llama": {"match": "contains", "methods": ["eagle3", "dflash"]}}


def test_architectures_that_choose_a_runner() -> None:
    files = {"config/vllm.py": 'DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES = frozenset({"PlainForCausalLM"})\n'}
    found = table(files, "runner_architectures")
    assert found == {"PlainForCausalLM": {"where": "default_v2_model_runner_architectures"}}


def test_lists_beside_the_speculative_configuration() -> None:
    files = {
        "config/__init__.py": "from vllm.config.speculative import SpeculativeConfig\n",
        "config/speculative.py": '_ODD_ARCHITECTURES = frozenset(["OddModel"])\n\nclass SpeculativeConfig:\n    pass\n',
    }
    assert table(files, "draft_architecture_lists") == {"OddModel": {"where": "odd_architectures"}}


def test_algorithms_of_speculators_checkpoints() -> None:
    text = '@register_speculator("eagle3")\ndef update(config): ...\n\ndef other(): ...\n'
    files = {"transformers_utils/configs/speculators/algos.py": text}
    assert table(files, "speculators_algorithms") == {"eagle3": {}}


def test_metrics_by_the_kind_that_is_made_of_each() -> None:
    files = {
        "v1/spec_decode/metrics.py": """
        class Made:
            "About vllm:spec_decode_rate."

            def __init__(self, labels):
                self.rate = self._gauge_cls(name="vllm:spec_decode_rate", documentation="x")
                self.all = [
                    self._counter_cls(name=name, documentation=text)
                    for name, text in [("vllm:spec_decode_drafts", "x"), ("vllm:spec_decode_tokens", "x")]
                ]
                self.other = self._gauge_cls(name="vllm:running", documentation="x")

            def read(self, name):
                return name == "vllm:spec_decode_of_elsewhere"
        """
    }
    where = {"where": "vllm/v1/spec_decode/metrics.py"}
    assert table(files, "metrics") == {
        "vllm:spec_decode_rate": {"kind": "gauge", **where},
        "vllm:spec_decode_drafts": {"kind": "counter", **where},
        "vllm:spec_decode_tokens": {"kind": "counter", **where},
    }


@pytest.mark.parametrize(
    ("front", "decorators", "answer"),
    [
        ("from dataclasses import dataclass", "@dataclass", "rejects"),
        ("from pydantic.dataclasses import dataclass\ndef config(cls): return cls", "@config\n@dataclass", "drops"),
        ("from pydantic.dataclasses import dataclass", "@dataclass(config=ConfigDict(extra='forbid'))", "rejects"),
        (
            "from pydantic.dataclasses import dataclass\ndef config(cls): return dataclass(cls, config=Rules(extra='forbid'))",
            "@config",
            "rejects",
        ),
        ("from pydantic.dataclasses import dataclass\ndef config(cls): return dataclass(cls)", "@config", "drops"),
    ],
)
def test_unknown_keys_by_how_the_class_is_made(front: str, decorators: str, answer: str) -> None:
    files = {"config.py": f"{front}\n\n{decorators}\nclass SpeculativeConfig:\n    pass\n"}
    assert table(files, "scope_rules") == {"vllm.speculative_config": {"unknown_member": answer}}


def test_a_class_that_is_no_dataclass_says_nothing_of_keys() -> None:
    assert table({"config.py": "class SpeculativeConfig:\n    pass\n"}, "scope_rules") == {}


def messages(text: str, file: str = "config.py") -> set[tuple[str, str, str]]:
    """The function, kind and fragment of every message that is kept of a module."""
    archive = from_texts({f"vllm/{file}": dedent(text)})
    rows = message_rows(archive, "1.0", SPECULATION, SAYERS, archive.files)
    return {(row["where"].partition(":")[2], row["kind"], row["fragment"]) for row in rows}


def test_messages_about_speculation() -> None:
    text = """
    class Config:
        def check(self, unsupported):
            if self.speculative:
                unsupported.append(f"the method {self.method}")
                listed.append("not a message")
            assert self.draft is not None
            assert self.draft, "a draft is needed"
            raise ValueError("other things are wrong")

        def older(self):
            if self.speculative:
                _raise_or_fallback(feature_name="Drafting", recommend=False)
    """
    assert messages(text) == {
        ("Config.check", "unsupported", "the method ~"),
        ("Config.check", "assert", "a draft is needed"),
        ("Config.older", "raise", "Drafting"),
    }


@pytest.mark.parametrize(
    "said",
    [
        "ngram_prompt_lookup_max must be positive",
        "only ngram is supported",
        "NgramProposer needs a window",
        "DeepSeekMTP has one layer",
        "num_mtp_layers is odd",
        "an eagle head is needed",
        "synthetic acceptance is off",
        "the rejection sampler is off",
    ],
)
def test_words_of_speculation(said: str) -> None:
    assert messages(f"def check(): raise ValueError({said!r})") == {("check", "raise", said)}


@pytest.mark.parametrize(
    ("file", "function", "said"),
    [
        ("models/engram.py", "allocate", "Engram huge-page allocation failed"),
        ("models/ngram_embedding.py", "Qwen4ExpNGramEmbedding", "tokens must be a 2D tensor"),
        ("models/config.py", "check", "heads_per_ngram must be positive"),
        ("models/config.py", "check", "divisible by total ngram heads"),
        ("models/norm.py", "MiniMaxText01RMSNormTP", "no residual connection"),
        ("models/moe.py", "_decode_mtpr", "DECODE_MTPR must be positive"),
        ("models/eagle2_5_vl.py", "Eagle2_5_VLProcessor", "no image token"),
        ("models/warmup.py", "warm", "does not fall back to synthetic forward passes"),
    ],
)
def test_words_that_other_things_are_called_as_well(file: str, function: str, said: str) -> None:
    assert messages(f"def {function}(): raise ValueError({said!r})", file) == set()


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("self.is_draft_model", True),
        ("not self.is_draft_model", False),
        ("self.runner_type != 'draft'", False),
        ("arch in ('PlainForCausalLM', 'PlainMTPModel')", False),
        ("self.speculative_config is None", False),
        ("mode.is_extend_without_speculative()", False),
        ("not mode.is_extend_without_speculative()", True),
    ],
)
def test_a_condition_that_leads_to_a_message(condition: str, kept: bool) -> None:
    found = messages(f"def check():\n    if {condition}:\n        raise ValueError('it is wrong')")
    assert found == ({("check", "raise", "it is wrong")} if kept else set())


def test_only_an_else_stands_under_the_conditions_before_it() -> None:
    text = """
    def check():
        if not self.is_draft_model:
            raise ValueError("of the target")
        elif self.other:
            raise ValueError("of another")
        else:
            raise ValueError("of the draft")
    """
    assert messages(text) == {("check", "raise", "of the draft")}


def test_architectures_whose_class_has_the_eagle3_interface() -> None:
    files = {
        "model_executor/models/registry.py": """
            _TEXT_GENERATION_MODELS = {
                "PlainForCausalLM": ("plain", "PlainForCausalLM"),
                "OwnForCausalLM": ("own", "OwnForCausalLM"),
                "HeirForCausalLM": ("heir", "HeirForCausalLM"),
                "FlagForCausalLM": ("flag", "FlagForCausalLM"),
            }
            _VLLM_MODELS = {**_TEXT_GENERATION_MODELS}
            """,
        "model_executor/models/interfaces.py": "class SupportsEagle3: ...\n",
        "model_executor/models/plain.py": "class PlainForCausalLM: ...\n",
        "model_executor/models/own.py": """
            from .interfaces import SupportsEagle3

            class OwnForCausalLM(SupportsEagle3): ...
            """,
        "model_executor/models/heir.py": """
            from vllm.model_executor.models.own import OwnForCausalLM

            class HeirForCausalLM(OwnForCausalLM): ...
            """,
        "model_executor/models/flag.py": """
            class FlagForCausalLM:
                supports_eagle3 = True
            """,
    }
    assert table(files, "eagle3_interface") == {
        "OwnForCausalLM": {"module": "own"}, "HeirForCausalLM": {"module": "heir"}, "FlagForCausalLM": {"module": "flag"},
    }  # fmt: skip


def test_architectures_whose_class_is_hybrid_or_has_no_attention() -> None:
    files = {
        "model_executor/models/registry.py": """
            _TEXT_GENERATION_MODELS = {
                "PlainForCausalLM": ("plain", "PlainForCausalLM"),
                "MixedForCausalLM": ("mixed", "MixedForCausalLM"),
                "FlagForCausalLM": ("flag", "FlagForCausalLM"),
                "FreeForCausalLM": ("free", "FreeForCausalLM"),
            }
            _VLLM_MODELS = {**_TEXT_GENERATION_MODELS}
            """,
        "model_executor/models/interfaces.py": "class IsHybrid: ...\nclass IsAttentionFree: ...\n",
        "model_executor/models/plain.py": "class PlainForCausalLM: ...\n",
        "model_executor/models/mixed.py": """
            from .interfaces import IsHybrid

            class MixedForCausalLM(IsHybrid): ...
            """,
        "model_executor/models/flag.py": """
            class FlagForCausalLM:
                is_hybrid = True
            """,
        "model_executor/models/free.py": """
            from .interfaces import IsAttentionFree

            class FreeForCausalLM(IsAttentionFree): ...
            """,
    }
    assert table(files, "hybrid_interface") == {
        "MixedForCausalLM": {"module": "mixed"}, "FlagForCausalLM": {"module": "flag"},
    }  # fmt: skip
    assert table(files, "attention_free_interface") == {"FreeForCausalLM": {"module": "free"}}
    assert table(files, "eagle3_interface") == {}
