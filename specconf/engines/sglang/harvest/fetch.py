"""Getting SGLang's published wheels: one release is downloaded, its few source files unpacked, the wheel dropped.

Only the files an option, a default or a speculative rule can come from are kept; nothing is installed or imported.
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

# Releases from 0.5.11 on are platform wheels; the newest glibc tag seen is manylinux_2_34.
_PLATFORMS = (
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
    "manylinux_2_28_x86_64",
    "manylinux_2_34_x86_64",
    "manylinux_2_35_x86_64",
)

_KEPT = re.compile(
    r"""sglang/(
        launch_server\.py | version\.py | cli/.*\.py
      | (jit_kernel|kernels/ops)/kv_canary/consts\.py
      | srt/[^/]+\.py
      | srt/(arg_groups|speculative|configs|utils|connector|function_call|parser|platforms)/.*\.py
      | srt/model_executor/[^/]+\.py
      | srt/managers/(scheduler|tokenizer_manager|schedule_batch|tp_worker)[^/]*\.py
      | srt/entrypoints/(engine|http_server)\.py
      | srt/(lora|disaggregation|mem_cache|constrained|eplb|dllm|debug_utils|hardware_backend/npu)/[^/]+\.py
      | srt/layers/[^/]+\.py | srt/layers/(attention|moe|quantization|dp_attention)/[^/]+\.py
      | srt/models/(registry|[^/]*(nextn|mtp|eagle|dflash|dspark|medusa|assistant)[^/]*)\.py
    )$""",
    re.VERBOSE,
)


def release_root(cache: Path, release: str) -> Path:
    """Where one release's sources lie in the cache (the folder that holds ``sglang/``)."""
    return cache / release


def ensure(cache: Path, release: str) -> Path:
    """Return the unpacked sources of ``release``, downloading them once.

    The unpacking goes to a neighbour folder first, so that an interrupted download is never taken for a release.
    """
    root = release_root(cache, release)
    if (root / "sglang" / "srt" / "server_args.py").is_file():
        return root
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".fetch-") as scratch:
        wheel = _download(release, Path(scratch))
        staged = Path(scratch) / "unpacked"
        _unpack(wheel, staged)
        staged.rename(root)
    return root


def _download(release: str, folder: Path) -> Path:
    """Let pip fetch the wheel of ``release`` into ``folder`` and return its path."""
    platforms = [word for tag in _PLATFORMS for word in ("--platform", tag)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--python-version", "3.11", *platforms, "--dest", str(folder), f"sglang=={release}"]
    subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - fixed words and a version
    (wheel,) = folder.glob("*.whl")
    return wheel


def _unpack(wheel: Path, target: Path) -> None:
    """Write the kept sources of ``wheel`` below ``target``."""
    with zipfile.ZipFile(wheel) as archive:
        for name in kept(archive.namelist()):
            archive.extract(name, target)


def kept(names: Iterable[str]) -> list[str]:
    """The members of a wheel that a harvest or a reader of the engine's rules needs, in order."""
    return sorted(name for name in names if _KEPT.match(name) or name.endswith("dist-info/entry_points.txt"))
