"""The static tree of `eagle_choices`: each choice is a path from the root, by the rank of the token at each depth."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.facts import Derivation, Fact, Facts, Known, Missing
from specconf.words import JsonValue

_CHOICES = "option.speculative_config.eagle_choices"
_Paths = set[tuple[int, ...]]


def _paths(facts: Facts) -> _Paths | Fact:
    """The paths without repetition; Known(None) where no tree is written."""
    choices = facts.get(_CHOICES)
    if not isinstance(choices, Known) or choices.value is None:
        return choices
    paths = [_path(choice) for choice in choices.value] if isinstance(choices.value, list) else []
    if not paths or None in paths:
        return Missing("paths of eagle_choices", "it is not a list of lists of whole numbers")
    return {path for path in paths if path is not None}


def _path(choice: JsonValue) -> tuple[int, ...] | None:
    if not isinstance(choice, list) or not choice:
        return None
    numbers = tuple(number for number in choice if isinstance(number, int) and not isinstance(number, bool))
    return numbers if len(numbers) == len(choice) else None


def _depth(facts: Facts) -> Fact:
    """The length of the longest path, which becomes the draft length."""
    paths = _paths(facts)
    return Known(max(map(len, paths))) if isinstance(paths, set) else paths


def _size(facts: Facts) -> Fact:
    """The number of paths, which is the number of draft tokens in the tree."""
    paths = _paths(facts)
    return Known(len(paths)) if isinstance(paths, set) else paths


def _connected(facts: Facts) -> Fact:
    """Whether the tree holds the path to every node above another one."""
    paths = _paths(facts)
    return Known(all(len(path) == 1 or path[:-1] in paths for path in paths)) if isinstance(paths, set) else paths


DERIVATIONS: Mapping[str, Derivation] = {
    "static_tree_depth": _depth,
    "static_tree_size": _size,
    "static_tree_connected": _connected,
}
