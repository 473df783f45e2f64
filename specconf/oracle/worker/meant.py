"""Which exceptions an engine raises for its user, and which are accidents of its code.

Written once for the two places that judge: the worker, which holds the exception, and the reader of a server's log, which
has its name alone. Runs inside an engine's environment: the standard library only.
"""

from __future__ import annotations

import argparse
import builtins

# Engines raise these on purpose. An assertion, with words or without, is a check that its author wrote down.
DELIBERATE = (ValueError, AssertionError, NotImplementedError, RuntimeError, ImportError, argparse.ArgumentError)
# ValueErrors of libraries, by the names under which tracebacks show them.
_NAMES = frozenset({"ValidationError", "JSONDecodeError"})


def is_deliberate(error: BaseException) -> bool:
    """Whether an exception is a word to the user."""
    return isinstance(error, DELIBERATE)


def is_deliberate_name(name: str) -> bool:
    """The same of an exception of which only its class's name is known."""
    found = getattr(builtins, name, getattr(argparse, name, None))
    return name in _NAMES or (isinstance(found, type) and issubclass(found, DELIBERATE))
