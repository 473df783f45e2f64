"""What a spec is written as: single fields by release, and the emitted forms."""

from __future__ import annotations

from typing import Any

import pytest

from specconf.compat.database import Database
from specconf.engines.lowering import lower
from specconf.engines.sglang import ENGINE
from specconf.errors import UsageError
from specconf.spec import ALL_FIELDS
from specconf.spec.model import Spec
from tests.engines.sglang.support import UNKNOWN_MODELS

HEAD: dict[str, Any] = {
    "target.model": "t",
    "speculation.method": "eagle3",
    "speculation.num_draft_tokens": 3,
    "speculation.draft.model": "d",
}
NGRAM: dict[str, Any] = {"target.model": "t", "speculation.method": "ngram", "speculation.num_draft_tokens": 7}
NONE: dict[str, Any] = {"target.model": "t", "speculation.method": "none"}


def test_every_field_has_one_row_at_every_release(database: Database) -> None:
    for release in database.line.names:
        mapping = database.at(release).mapping
        for field in ALL_FIELDS:
            assert [held for _, held in mapping.get(field, ())] == [True], (field, release)


def test_every_path_written_exists_where_it_is_written(database: Database) -> None:
    for release in database.line.names:
        view = database.at(release)
        for rows in view.mapping.values():
            for row, _ in rows:
                assert not row.path or view.has(row.path), (row.field, row.path, release)


def _lowered(database: Database, release: str, fields: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    lowered = lower(Spec.from_fields(fields), ENGINE, database.at(release), UNKNOWN_MODELS)
    return lowered.settings.flat(), [f.option for f in lowered.findings if f.code != "SC601"]


WRITTEN: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (HEAD, "0.5.23", {"speculative_num_steps": 3, "speculative_eagle_topk": 1, "speculative_num_draft_tokens": 4}),
    (
        HEAD | {"speculation.tree.topk": 2, "speculation.tree.num_verify_tokens": 6},
        "0.5.6",
        {"speculative_num_draft_tokens": 6},
    ),
    (
        HEAD | {"speculation.method": "dflash"},
        "0.5.23",
        {"speculative_algorithm": "DFLASH", "speculative_dflash_block_size": 4},
    ),
    (
        HEAD | {"speculation.method": "dspark"},
        "0.5.23",
        {"speculative_algorithm": "DSPARK", "speculative_dspark_block_size": 3},
    ),
    (NGRAM, "0.5.23", {"speculative_algorithm": "NGRAM", "speculative_num_draft_tokens": 8}),
    (NGRAM | {"speculation.ngram.max": 5}, "0.5.9", {"speculative_ngram_max_match_window_size": 5}),
    (HEAD | {"speculation.method": "mtp"}, "0.4.3.post1", {"speculative_algorithm": "NEXTN"}),
    (HEAD | {"speculation.method": "mtp"}, "0.4.3.post3", {"speculative_algorithm": "EAGLE"}),
    (HEAD | {"speculation.draft.revision": "r"}, "0.5.2", {"speculative_draft_model_revision": "r"}),
    (HEAD | {"speculation.draft.quantization": "fp8"}, "0.5.7", {"speculative_draft_model_quantization": "fp8"}),
    (HEAD | {"speculation.sampling.rejection": "standard"}, "0.5.14", {"speculative_use_rejection_sampling": True}),
    (HEAD | {"speculation.sampling.rejection": "block"}, "0.5.22", {"speculative_use_block_verification": True}),
    (HEAD | {"speculation.adaptive": True}, "0.5.11", {"speculative_adaptive": True}),
    (HEAD | {"speculation.adaptive": {"config": "a.json"}}, "0.5.23", {"speculative_adaptive_config": "a.json"}),
    (
        HEAD | {"speculation.verification": {"mode": "accept_threshold", "single": 0.9}},
        "0.5.23",
        {"speculative_accept_threshold_single": 0.9},
    ),
    (NONE | {"serving.attention_data_parallel_size": 4}, "0.5.21", {"dp_size": 4, "enable_dp_attention": True}),
    (NONE | {"serving.attention_data_parallel_size": 4}, "0.5.22", {"attn_dp_size": 4}),
    (
        NONE | {"serving.attention_data_parallel_size": 4, "serving.tensor_parallel_size": 4},
        "0.4.4",
        {"tp_size": 4, "enable_dp_attention": True},
    ),
    (NONE | {"serving.data_parallel_size": 2}, "0.5.10", {"dp_size": 2}),
    (NONE | {"serving.expert_parallel_size": 4}, "0.4.10", {"ep_size": 4}),
    (NONE | {"serving.expert_parallel_size": 4, "serving.tensor_parallel_size": 4}, "0.4.9", {"enable_ep_moe": True}),
    (NONE | {"serving.chunked_prefill": False}, "0.5.23", {"chunked_prefill_size": -1}),
    (NONE | {"serving.prefix_caching": False}, "0.5.23", {"disable_radix_cache": True}),
    (NONE | {"serving.enforce_eager": True}, "0.5.23", {"disable_cuda_graph": True}),
    (NONE | {"serving.kv_cache_dtype": "fp8"}, "0.5.23", {"kv_cache_dtype": "fp8_e4m3"}),
    (NONE | {"serving.seed": 1}, "0.5.23", {"random_seed": 1}),
]


@pytest.mark.parametrize(("fields", "release", "expected"), WRITTEN)
def test_what_is_written(database: Database, fields: dict[str, Any], release: str, expected: dict[str, Any]) -> None:
    settings, refused = _lowered(database, release, fields)
    assert not refused
    assert expected.items() <= settings.items()


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (HEAD, "0.4.1.post3", "speculation.method"),
    (HEAD | {"speculation.method": "medusa"}, "0.5.23", "speculation.method"),
    (HEAD | {"speculation.method": "draft_model"}, "0.5.1.post3", "speculation.method"),
    (HEAD | {"speculation.tree.topk": 4}, "0.5.23", "speculation.tree.topk"),
    (HEAD | {"speculation.schedule": [{"up_to": 4, "k": 3}]}, "0.5.23", "speculation.schedule"),
    (HEAD | {"speculation.disable_above": 8}, "0.5.23", "speculation.disable_above"),
    (HEAD | {"speculation.draft.tensor_parallel_size": 2}, "0.5.23", "speculation.draft.tensor_parallel_size"),
    (HEAD | {"speculation.draft.max_model_len": 2048}, "0.5.23", "speculation.draft.max_model_len"),
    (HEAD | {"speculation.draft.revision": "r"}, "0.5.1", "speculation.draft.revision"),
    (HEAD | {"speculation.sampling.draft": "greedy"}, "0.5.23", "speculation.sampling.draft"),
    (HEAD | {"speculation.verification": {"mode": "typical"}}, "0.5.23", "speculation.verification"),
    (NGRAM | {"speculation.ngram.max": 5}, "0.5.10", "speculation.ngram.max"),
    (NGRAM | {"speculation.tree.num_verify_tokens": 4}, "0.5.23", "speculation.num_draft_tokens"),
    (NONE | {"serving.max_num_batched_tokens": 8192}, "0.5.23", "serving.max_num_batched_tokens"),
    (
        NONE | {"serving.data_parallel_size": 2, "serving.attention_data_parallel_size": 4},
        "0.5.21",
        "serving.data_parallel_size",
    ),
    (NONE | {"serving.pipeline_parallel_size": 2}, "0.4.6.post1", "serving.pipeline_parallel_size"),
]


@pytest.mark.parametrize(("fields", "release", "field"), REFUSED)
def test_what_is_refused(database: Database, fields: dict[str, Any], release: str, field: str) -> None:
    assert _lowered(database, release, fields)[1] == [field]


def test_the_draft_may_be_split_as_the_target(database: Database) -> None:
    same = {"serving.tensor_parallel_size": 4, "speculation.draft.tensor_parallel_size": 4}
    assert _lowered(database, "0.5.23", HEAD | same)[1] == []


def test_an_option_file(database: Database) -> None:
    fields = HEAD | {"target.trust_remote_code": True, "serving.memory_fraction": 0.8}
    view = database.at("0.5.23")
    artifact = ENGINE.emit(lower(Spec.from_fields(fields), ENGINE, view, UNKNOWN_MODELS).settings, view, "engine-yaml")
    assert artifact.argv == ("python", "-m", "sglang.launch_server", "--config", "sglang.yaml")
    assert artifact.files == {
        "sglang.yaml": "model-path: t\ntrust-remote-code: true\nmem-fraction-static: 0.8\n"
        "speculative-algorithm: EAGLE3\nspeculative-draft-model-path: d\n"
        "speculative-num-steps: 3\nspeculative-eagle-topk: 1\nspeculative-num-draft-tokens: 4\n"
    }


def test_no_option_file_before(database: Database) -> None:
    view = database.at("0.5.2")
    settings = lower(Spec.from_fields(HEAD), ENGINE, view, UNKNOWN_MODELS).settings
    with pytest.raises(UsageError, match="reads no option file"):
        ENGINE.emit(settings, view, "engine-yaml")
