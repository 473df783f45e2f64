"""The names of all fields of the spec, derived from the model, with what each says about itself."""

from __future__ import annotations

from specconf.spec.leaves import leaf_infos
from specconf.spec.model import Spec

ALL_FIELDS: tuple[str, ...] = tuple(leaf_infos(Spec))
"""Dotted names of every field, in the order of the spec; `specconf` and `engines` are not fields."""

SPEC_DEFAULTS: tuple[str, ...] = ("speculation.tree.topk", "speculation.verification", "hardware.platform")
"""Fields that always count as set (`tree.topk`: where the method has a tree)."""


def description(field: str) -> str:
    """What a field means, with its unit and scope."""
    return leaf_infos(Spec)[field].description or ""
