"""Named predicates, for conditions that the language of docs/database.md cannot say. Kept few on purpose."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.rules.conditions import Predicate

PREDICATES: Mapping[str, Predicate] = {}
