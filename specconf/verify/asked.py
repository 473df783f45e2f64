"""A launch that is put to engines, with where it comes from."""

from __future__ import annotations

from msgspec import Struct

from specconf.oracle.asking import Question


class Asked(Struct, frozen=True):
    """One question. `origin` tells who wrote the launch: a constraint's own example, a seeded array, people's documents."""

    origin: str
    question: Question
