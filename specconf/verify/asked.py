"""A question with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from specconf.oracle.asking import Question


@dataclass(frozen=True, slots=True)
class Asked:
    """One launch to put to a release. `origin` begins with its kind: probe, twin, array, corpus or load."""

    origin: str
    question: Question
