"""How an environment of an SGLang release is made: its wheel's Python files, with what its argument parsing imports."""

from __future__ import annotations

from packaging.utils import canonicalize_name

from specconf.oracle.recipe import Recipe, applying, plain
from specconf.oracle.unpacking import Stated

# What the argument groups import; everything else that is absent is answered by the worker's stand-in modules.
_LIGHT = """
    transformers tokenizers msgspec orjson pydantic fastapi numpy psutil requests aiohttp pyzmq packaging pillow tqdm
    uvicorn uvloop pybase64 setproctitle partial-json-parser einops prometheus-client nvidia-ml-py openai openai-harmony
    sentencepiece dill tiktoken xxhash python-multipart huggingface-hub regex scipy zstandard
"""
# Younger than the oldest releases, which do not import them.
_IF_STATED = frozenset({"openai-harmony"})
# Old releases state what a server needs under these extras.
_EXTRAS = ("", "runtime_common", "srt")


def wanted(stated: Stated) -> list[str]:
    """What argument parsing imports, at the release's own pins."""
    by_name = {canonicalize_name(each.name): each for each in applying(stated.requires, _EXTRAS)}
    needed = [canonicalize_name(name) for name in _LIGHT.split() if name in by_name or name not in _IF_STATED]
    return sorted(plain(by_name[name]) if name in by_name else name for name in needed)


RECIPE = Recipe(
    package="sglang",
    kinds=("wheel",),
    wanted=wanted,
    unstated={"0.4.3.post2": ("transformers<4.49",)},  # 4.49 moved a function that it imports
)
