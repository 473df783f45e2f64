"""What has to be known of one engine to make an environment of one of its releases, and where that is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Literal

from msgspec import Struct, field
from packaging.requirements import InvalidRequirement, Requirement

from specconf.compat.names import ENGINE_NAMES
from specconf.errors import OracleError
from specconf.oracle.unpacking import Stated

Kind = Literal["sdist", "wheel"]

# Packages that a release's parser never needs on a CPU, or that would bring another torch; stated or brought in by others.
_HEAVY = """
    torch torchaudio torchvision torchcodec triton xformers flashinfer-python numba opencv-python-headless
    intel-extension-for-pytorch ray bitsandbytes datasets outlines timm modelscope
"""
HEAVY = frozenset(_HEAVY.split())


class Recipe(Struct, frozen=True):
    """How one engine's environments are made.

    `kinds`: the archives to take, the preferred first. `build_needs` and `build_environ` (of a release): what an sdist's
    own build script needs to say its metadata. `texts`: files of an sdist that state requirements. `wanted`: what to
    install for what a release states. `unstated`: what single releases need besides. `version_suffix` is put behind the
    release in the metadata that the engine reads of itself.
    """

    package: str
    kinds: tuple[Kind, ...]
    wanted: Callable[[Stated], list[str]]
    texts: tuple[str, ...] = ()
    build_needs: tuple[str, ...] = ()
    build_environ: Callable[[str], Mapping[str, str]] = lambda _: {}
    unstated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version_suffix: str = ""


def recipe_of(engine: str) -> Recipe:
    """An engine's recipe, found by its place: this package lies below the engines and knows none of them.

    OracleError for an engine for which no environment can be made.
    """
    if engine not in ENGINE_NAMES:
        raise OracleError(f"{engine} is no engine that specconf knows.", hint=f"Known: {', '.join(ENGINE_NAMES)}.")
    module = f"specconf.engines.{engine.replace('-', '_')}.oracle.recipe"
    try:
        recipe: Recipe = import_module(module).RECIPE
    except ModuleNotFoundError as error:
        if not error.name or not module.startswith(error.name):
            raise
        raise OracleError(
            f"No environment can be made for {engine}: it has no package that installs without a GPU's libraries.",
            hint="Where it is installed, name the Python of that installation: --engine-python PATH",
        ) from None
    return recipe


def applying(lines: Sequence[str], extras: Sequence[str] = ("",)) -> list[Requirement]:
    """The requirements that hold on this machine with the extras, from lines of a requirement file or of metadata."""
    found = []
    for line in lines:
        text = re.sub(r"(^|\s)#.*$", "", line).strip()
        if not text or text.startswith("-"):
            continue
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue  # a line for another tool; what the engine misses without it, it says itself
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            found.append(requirement)
    return found


def plain(requirement: Requirement) -> str:
    """A requirement without its marker, which was evaluated already."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}{requirement.specifier}"
