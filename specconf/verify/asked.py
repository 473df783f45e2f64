"""A launch that is put to engines, with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from specconf.oracle.asking import Question


@dataclass(frozen=True)
class Asked:
    """One question. `origin` tells who wrote the launch: a constraint's own example, a seeded array, people's documents."""

    origin: str
    question: Question
