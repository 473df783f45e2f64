"""A parsed config.json and what is known of it: lookups by dotted path, the nested text model, and the three answers
"here it is", "it is not there" and "this source does not show it". Pure; no meaning of any key lives here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct, field

from specconf.words import JsonValue

Config: TypeAlias = Mapping[str, JsonValue]

# Where multimodal and wrapped checkpoints keep the language model's own values, in the order they are tried.
NESTED = (
    "text_config",
    "llm_config",
    "language_config",
    "thinker_config.text_config",
    "transformer_layer_config",
    "model",
)


class Missing(Struct, frozen=True):
    """No value, and why. `absent`: the config is known not to have it, as opposed to nobody knowing."""

    reason: str
    absent: bool = False


class ConfigView(Struct, frozen=True):
    """A config and its limits: a partial one shows only its own keys, a complete one all but the paths in `elided`."""

    config: Config
    complete: bool
    elided: frozenset[str] = frozenset()
    origin: str = "config.json"
    text_path: str | None = field(default=None)

    @classmethod
    def of(
        cls, config: Config, *, complete: bool, elided: frozenset[str] = frozenset(), origin: str = "config.json"
    ) -> ConfigView:
        """A view whose nested text model is found once."""
        path = next((path for path in NESTED if isinstance(_walk(config, path.split(".")), dict)), None)
        return cls(config, complete, elided, origin, path)

    def raw(self, path: str) -> JsonValue | Missing:
        """The value at exactly this dotted path; digits index lists."""
        found = _walk(self.config, path.split("."))
        return self._missing(path) if isinstance(found, _NotThere) else found

    def get(self, path: str) -> JsonValue | Missing:
        """The value at this path, or at the same path inside the text model where the top level has none."""
        found = self.raw(path)
        if not isinstance(found, Missing) or self.text_path is None:
            return found
        nested = self.raw(f"{self.text_path}.{path}")
        if not isinstance(nested, Missing):
            return nested
        return found if not found.absent else nested

    def first(self, *paths: str) -> JsonValue | Missing:
        """The first of several spellings that is there and not null; unknown where none is and one may be."""
        unknown: Missing | None = None
        for path in paths:
            found = self.get(path)
            if isinstance(found, Missing):
                unknown = unknown or (None if found.absent else found)
            elif found is not None:
                return found
        return unknown or Missing(f"{self.origin} has no {paths[0]}", absent=True)

    def _missing(self, path: str) -> Missing:
        parts = path.split(".")
        hidden = any(".".join(parts[:end]) in self.elided for end in range(1, len(parts) + 1))
        if not self.complete:
            # A parent that is shown, but is null or a plain value, cannot hold the key.
            parent = _walk(self.config, parts[:-1]) if len(parts) > 1 else self.config
            if not isinstance(parent, _NotThere) and not isinstance(parent, dict | list | Mapping):
                return Missing(f"{self.origin} has no {path}", absent=True)
        if hidden or not self.complete:
            return Missing(f"{self.origin} does not show {path}")
        return Missing(f"{self.origin} has no {path}", absent=True)


class _NotThere:
    """Marks a path that leads nowhere, since null is a value."""


_NOT_THERE = _NotThere()


def _walk(node: Config | JsonValue, parts: list[str]) -> JsonValue | _NotThere:
    current: object = node
    for part in parts:
        if isinstance(current, Mapping) and part in current:
            current = current[part]
        elif isinstance(current, list) and part.isascii() and part.isdigit() and int(part) < len(current):
            current = current[int(part)]
        else:
            return _NOT_THERE
    return current  # type: ignore[return-value]  # every step came out of a JsonValue
