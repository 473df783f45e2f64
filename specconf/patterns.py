"""Regular expressions of modules, compiled when they are first used.

Compiling all those of the modules that one command imports costs as much as importing them, and a run uses few. `pattern`
is written where `re.compile` would be in a module that `lint` or `check` loads; slow commands (harvest, oracle, verify)
have no need of it.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Waiting:
    """A pattern before its first use. What was asked of it once is kept as its own attribute, and is not asked again."""

    def __init__(self, expression: str, flags: int) -> None:
        self._written = (expression, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copying and pickling ask for these, and are told what a plain object would say
            raise AttributeError(name)
        found = self.__dict__[name] = getattr(re.compile(*self._written), name)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return re.compile, self._written


def pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern of this expression, compiled on first use. An expression that does not compile raises re.error then."""
    return cast("re.Pattern[str]", _Waiting(expression, flags))
