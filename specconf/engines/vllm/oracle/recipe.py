"""How an environment of a vLLM release is made: from its sdist, which is the smallest and states requirements by device."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from specconf.errors import OracleError
from specconf.oracle.recipe import HEAVY, Recipe, applying, plain
from specconf.oracle.unpacking import Stated

_COMMON = ("requirements/common.txt", "requirements-common.txt")

# vLLM imports these without stating them for every device, or has them through a package that is left out.
_BESIDES = ("pyyaml", "packaging", "setuptools<81", "jinja2", "cloudpickle")


def wanted(stated: Stated) -> list[str]:
    """All that a release states for every device, except what is heavy."""
    lines = next((stated.texts[name].splitlines() for name in _COMMON if name in stated.texts), list(stated.requires))
    if not lines:
        raise OracleError(
            f"The archive states no requirements (looked for {' and '.join(_COMMON)}).",
            hint="Give the release's wheel with --archive FILE.",
        )
    by_name = {canonicalize_name(each.name): each for each in applying(lines)}
    chosen = [plain(each) for name, each in by_name.items() if name not in HEAVY]
    chosen += [extra for extra in _BESIDES if canonicalize_name(Requirement(extra).name) not in by_name]
    return sorted(chosen)


def _no_device(release: str) -> Mapping[str, str]:
    # pip asks an sdist for its metadata before it keeps it: with no device chosen, that builds nothing.
    return {
        "VLLM_TARGET_DEVICE": "empty",
        "VLLM_VERSION_OVERRIDE": release,
        "SETUPTOOLS_SCM_PRETEND_VERSION": release,
    }


RECIPE = Recipe(
    package="vllm",
    kinds=("sdist", "wheel"),
    wanted=wanted,
    texts=_COMMON,
    build_needs=(
        "setuptools<81",
        "setuptools-scm",
        "setuptools-rust",
        "wheel",
        "packaging",
        "jinja2",
        "cmake",
        "ninja",
    ),
    build_environ=_no_device,
    version_suffix="+cpu",  # vLLM recognises the CPU platform by this
)
