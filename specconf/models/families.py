"""What is true of every checkpoint of a family though its config.json does not say so. Plain data, out of the index."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct, field


class Families(Struct, frozen=True):
    """Families by model type or architecture.

    `mtp_layers`: how many MTP layers a checkpoint holds whose config gives no number; None: that config cannot tell.
    `remote_code`: the config class exists only in the checkpoint's own repository.
    """

    mtp_layers: Mapping[str, int | None] = field(default_factory=dict)
    remote_code: frozenset[str] = frozenset()


@cache
def known_families() -> Families:
    """The families of the database."""
    from specconf.compat.store import load_json

    found = load_json("families")
    return Families(found["mtp_layers"], frozenset(found["remote_code"]))
