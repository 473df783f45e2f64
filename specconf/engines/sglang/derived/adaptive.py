"""What the file of `--speculative-adaptive-config` says, where its text stands beside the launch.

Newer releases read entries under batch sizes, older ones a flat list of steps; which one a release reads is the constraints'.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.words import JsonValue

_FILE = "speculative_adaptive_config"
_STEPS = "candidate_steps"
_UNREADABLE = "it is not JSON"


def _content(facts: Facts) -> JsonValue | Missing | str:
    """What is in the file; text where that is no JSON, so that it never passes for an object."""
    named = facts.get(f"option.{_FILE}")
    if isinstance(named, Missing):
        return named
    name = named.value if isinstance(named, Known) else None
    text = facts.settings.files.get(name) if isinstance(name, str) else None
    if text is None:
        return Missing(f"the text of the file that {_FILE} names")
    try:
        read: JsonValue = json.loads(text)
    except ValueError:
        return _UNREADABLE
    return read


def _fault_of_steps(steps: JsonValue) -> str | None:
    if not isinstance(steps, list) or not steps:
        return "no list of steps"
    if not all(isinstance(step, int) and step >= 0 for step in steps):
        return "steps that are no whole numbers from 0 on"
    return None


def _entries(content: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: entry for key, entry in content.items() if key.isdigit()}


def adaptive_file_fault(facts: Facts) -> Fact:
    """Why a reader of entries under batch sizes stops at the file, in words; None where it does not."""
    content = _content(facts)
    if isinstance(content, Missing):
        return content
    if not isinstance(content, dict):
        return Known(_UNREADABLE if content == _UNREADABLE else "it is no JSON object")
    entries = _entries(content)
    for key, entry in entries.items():
        if not isinstance(entry, dict):
            return Known(f"the entry {key} is no object")
        fault = _fault_of_steps(entry.get(_STEPS))
        if fault is not None:
            return Known(f"the entry {key} has {fault}")
    return Known(None if entries else "it has no entry under a batch size")


def adaptive_steps(facts: Facts) -> Fact:
    """All numbers of steps that the entries of a sound file move between, in order."""
    content, fault = _content(facts), adaptive_file_fault(facts)
    if fault != Known(None):
        return fault if isinstance(fault, Missing) else Missing(f"a sound file behind {_FILE}")
    assert isinstance(content, dict)
    found: set[int] = set()
    for entry in _entries(content).values():
        steps = entry[_STEPS] if isinstance(entry, dict) else []
        found.update(step for step in (steps if isinstance(steps, list) else []) if isinstance(step, int))
    return Known([*sorted(found)])


def adaptive_middle_step(facts: Facts) -> Fact:
    """The number of steps that adaptive mode starts with where none is given: the middle one of the file's."""
    steps = adaptive_steps(facts)
    if not isinstance(steps, Known) or not isinstance(steps.value, list):
        return steps
    return Known(steps.value[len(steps.value) // 2])


def adaptive_file_is_object(facts: Facts) -> Fact:
    """Whether the file holds a JSON object."""
    content = _content(facts)
    return content if isinstance(content, Missing) else Known(isinstance(content, dict))


def adaptive_by_batch(facts: Facts) -> Fact:
    """Whether the file has entries under batch sizes."""
    content = _content(facts)
    if isinstance(content, Missing):
        return content
    return Known(isinstance(content, dict) and bool(_entries(content)))


def adaptive_flat_steps(facts: Facts) -> Fact:
    """The numbers of steps that a flat file lists; None where it lists none."""
    content = _content(facts)
    if isinstance(content, Missing):
        return content
    return Known(content.get(_STEPS) if isinstance(content, dict) else None)


DERIVATIONS: Mapping[str, Derivation] = {
    "adaptive_file_fault": adaptive_file_fault,
    "adaptive_steps": adaptive_steps,
    "adaptive_middle_step": adaptive_middle_step,
    "adaptive_file_is_object": adaptive_file_is_object,
    "adaptive_by_batch": adaptive_by_batch,
    "adaptive_flat_steps": adaptive_flat_steps,
}
