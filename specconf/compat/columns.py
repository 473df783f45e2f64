"""The columns that a written row of each kind may have, which of them it must have, and the words that stand in some of them.

Said once: the linters read these lists, docs/database.md says what the columns mean, `specconf.compat.rows` are the rows
that the program works with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from specconf.compat.rows import Action
from specconf.findings import Effect, EvidenceKind, Severity, Stage


class Columns(Struct, frozen=True):
    """The columns of one kind of row. `words`: what may stand in a column, where that is a closed list."""

    required: frozenset[str]
    optional: frozenset[str]
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def known(self) -> frozenset[str]:
        """Every column that a row may have."""
        return self.required | self.optional


def _columns(required: str, optional: str = "", **words: str | Iterable[str]) -> Columns:
    listed = {key: frozenset(value.split() if isinstance(value, str) else value) for key, value in words.items()}
    return Columns(frozenset(required.split()), frozenset(optional.split()), listed)


_MODELS = "target draft target_tensors draft_tensors target_tokens draft_tokens"
_CHANGES = "results exactness k performance description"

COLUMNS: Mapping[str, Columns] = {
    "release": _columns("version source", "date file sha256", source="sdist wheel checkout docs report"),
    "option": _columns(
        "scope path names releases evidence",
        "no_names kind type parser nargs nullable const default default_expr required choices bounds deprecated"
        " replaced_by internal methods members",
        kind="value switch optional list append object positional",
        type="str int float bool json",
    ),
    "scope": _columns(
        "completeness unknown_member releases evidence",
        "forms abbreviations tag coerces note",
        completeness="complete partial unknown",
        unknown_member="rejects drops passes_on unknown",
        forms="json dotted dotted_dashes yaml",
    ),
    "method": _columns("value spec_method releases evidence", "alias_of note"),
    "table": _columns("value releases evidence", "where note"),
    "message": _columns(
        "kind fragment where releases evidence",
        "exception",
        kind="raise assert warning error info unsupported",
    ),
    "mapping": _columns(
        "field action releases evidence",
        "path transform value changes because otherwise note",
        action=Action,
        changes=_CHANGES,
    ),
    "named table": _columns("rows", "closed about"),
    "otherwise": _columns("changes because", changes=_CHANGES),
    "step": _columns("stage order releases evidence", "", stage=Stage),
    "image": _columns(
        "repository evidence", "entrypoint module_entrypoint tags tag_prefix own_tags_from registry fork platform"
    ),
    "constraint": _columns(
        "id code releases stage effect message evidence",
        "kind step severity severity_reason when set try after unless fix probe twin also common",
        kind="executable described resolves",
        stage=Stage,
        effect=Effect,
        severity=Severity,
    ),
    "example": _columns("release argv", f"env files facts {_MODELS}"),
    "also": _columns("", f"argv env files facts {_MODELS}"),
    "evidence": _columns("", "kind confidence release file line symbol ref probe note", kind=EvidenceKind),
}

# Columns that hold a list, in rows of every kind that has them.
LISTS = frozenset(
    [
        "names",
        "no_names",
        "choices",
        "methods",
        "forms",
        "order",
        "after",
        "unless",
        "also",
        "entrypoint",
        "module_entrypoint",
    ]
    + [f"{role}_{what}" for role in ("target", "draft") for what in ("tensors", "tokens")]
)

# The further columns of each harvested table; those of a curated one are named in its `about`.
TABLE_COLUMNS: Mapping[str, frozenset[str]] = {
    name: frozenset(columns.split())
    for name, columns in {
        "algorithm_words": "alias_of",
        "attention_free_interface": "module",
        "auto_numbers": "steps topk tokens",
        "bundled_drafts": "algorithms draft",
        "decoding_type_aliases": "key",
        "decoding_types": "class",
        "dflash_capture": "",
        "draft_architecture_lists": "",
        "draft_attention_backends": "decode prefill",
        "draft_from_target": "",
        "dspark_capture": "",
        "eagle3_capture": "",
        "eagle3_interface": "module",
        "eagle3_targets": "match methods",
        "hybrid_interface": "module",
        "kv_cache_dtypes": "",
        "method_words": "in",
        "metrics": "kind",
        "model_registry": "group module class",
        "models_out_of_tree": "last",
        "models_removed": "last",
        "mtp_families": "by match draft_model_type draft_architectures depth_keys depth depth_default word fills_model"
        " conditional",
        "mtp_filled_in": "",
        "mtp_targets": "draft",
        "multi_layer_eagle": "",
        "quantization_methods": "",
        "resolution_order": "calls",
        "rewritten_architectures": "",
        "runner_architectures": "",
        "scope_rules": "unknown_member abbreviations forms",
        "speculators_algorithms": "",
        "transformers_fallback": "model_impl",
    }.items()
}
