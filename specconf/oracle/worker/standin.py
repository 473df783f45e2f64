"""Modules that stand in for absent packages with GPU kernels, so that an engine's argument code can be imported.

The finder comes last on `sys.meta_path`: a package that is installed wins. What was answered by a stand-in is recorded.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

VERSION = "99.0.0"
VERSIONS = {"triton": "3.5.0"}


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class Anything:
    """The instance of a stand-in class: callable, and a decorator that changes nothing."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and not kwargs and callable(args[0]) else Anything()

    def __getattr__(self, name: str) -> Anything:
        if _is_dunder(name):
            raise AttributeError(name)
        return Anything()

    def __getitem__(self, item: Any) -> Anything:
        return Anything()

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class StandinMeta(type):
    """A class every attribute of which is a stand-in class; it can be subclassed, subscripted and used in unions."""

    def __getattr__(cls, name: str) -> type:
        if _is_dunder(name):
            raise AttributeError(name)
        made = standin_class(name)
        setattr(cls, name, made)
        return made

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not cls.__dict__.get("is_standin"):
            return super().__call__(*args, **kwargs)
        bare = len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], StandinMeta)
        return args[0] if bare else Anything()

    def __getitem__(cls, item: Any) -> type:
        return cls

    def __or__(cls, other: Any) -> Any:
        return object

    def __ror__(cls, other: Any) -> Any:
        return object

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __bool__(cls) -> bool:
        return True


def _any_schema(cls: type, source: Any, handler: Any) -> Any:
    from pydantic_core import core_schema

    return core_schema.any_schema()


def standin_class(name: str) -> type:
    """A stand-in class; pydantic takes it for any value."""
    members = {
        "is_standin": True,
        "__module__": "standin",
        "__get_pydantic_core_schema__": classmethod(_any_schema),
    }
    return StandinMeta(name, (), members)


class StandinModule(types.ModuleType):
    """A module every attribute of which exists."""

    __path__: list[str] = []  # noqa: RUF012 (what makes it a package)

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return VERSIONS.get(self.__name__.partition(".")[0], VERSION)
        if _is_dunder(name):
            raise AttributeError(name)
        made = standin_class(name)
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers imports below the given top-level names."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self.used: set[str] = set()

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        self.used.add(spec.name.partition(".")[0])
        return StandinModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__ == "triton":
            module.__dict__["runtime"] = importlib.import_module("triton.runtime")
        elif module.__name__ == "triton.runtime":
            # some releases ask at import time which vendor's driver is active
            target = types.SimpleNamespace(backend="cuda", arch=90, warp_size=32)
            active = types.SimpleNamespace(get_current_target=lambda: target, get_current_device=lambda: 0)
            module.__dict__["driver"] = types.SimpleNamespace(active=active)


def install(names: Iterable[str]) -> Finder:
    """Answer imports of the names from now on, where nothing else does."""
    finder = Finder(names)
    sys.meta_path.append(finder)
    return finder
