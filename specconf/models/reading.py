"""Values of a parsed config by type: whole numbers, numbers, texts, and lists of them, or the reason why there is none. No
key has a meaning here.
"""

from __future__ import annotations

import math

from specconf.models.config import ConfigView, Missing
from specconf.words import JsonValue

# No size, count or length of a model is larger; what is was not meant as a number.
LARGEST = 2**48


def whole(view: ConfigView, *paths: str) -> int | Missing:
    """The first of several spellings, where it is a whole number that can be a size."""
    found = view.first(*paths)
    if isinstance(found, Missing):
        return found
    if type(found) is not int:
        return Missing(f"{paths[0]} in {view.origin} is not a whole number")
    if not 0 <= found <= LARGEST:
        return Missing(f"{paths[0]} in {view.origin} is no size that a model can have")
    return found


def number(view: ConfigView, *paths: str) -> float | int | Missing:
    """The first of several spellings, where it is a finite number."""
    found = view.first(*paths)
    if isinstance(found, Missing):
        return found
    if isinstance(found, bool) or not isinstance(found, int | float):
        return Missing(f"{paths[0]} in {view.origin} is not a number")
    if abs(found) > LARGEST or not math.isfinite(found):
        return Missing(f"{paths[0]} in {view.origin} is no number that a model can have")
    return found


def text(view: ConfigView, *paths: str) -> str | Missing:
    """The first of several spellings, where it is a text."""
    found = view.first(*paths)
    if isinstance(found, Missing | str):
        return found
    return Missing(f"{paths[0]} in {view.origin} is not a text")


def whole_numbers(view: ConfigView, *paths: str) -> list[JsonValue] | Missing:
    """The first of several spellings, where it is a list of whole numbers."""
    found = view.first(*paths)
    if isinstance(found, Missing):
        return found
    if not isinstance(found, list) or any(type(item) is not int or abs(item) > LARGEST for item in found):
        return Missing(f"{paths[0]} in {view.origin} is not a list of whole numbers")
    return found


def texts(view: ConfigView, *paths: str) -> list[JsonValue] | Missing:
    """The first of several spellings, where it is a list of texts."""
    found = view.first(*paths)
    if isinstance(found, Missing):
        return found
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        return Missing(f"{paths[0]} in {view.origin} is not a list of texts")
    return found
