"""A question for an engine, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from specconf.oracle.asking import Question


@dataclass(frozen=True, slots=True)
class Asked:
    """`origin` says who wrote the launch: a constraint's example, an array's row, a line of a document."""

    origin: str
    question: Question
