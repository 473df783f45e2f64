"""One kind of CUDA GPU as argument validation sees it: name, capability, memory. No kernel ever runs."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from msgspec import Struct

GPUS_SHOWN = 8


class Gpu(Struct, frozen=True):
    """What a release may ask about a GPU."""

    capability: tuple[int, int]
    memory_mib: int
    processors: int


GPUS = {
    "A100": Gpu((8, 0), 81920, 108),
    "B200": Gpu((10, 0), 183359, 148),
    "H100": Gpu((9, 0), 81559, 132),
    "H200": Gpu((9, 0), 143771, 132),
}


def smooth_torch() -> None:
    """Differences between the CPU torch that is installed and the CUDA torch that a release pins."""
    if not hasattr(torch._C._cpu, "_is_amx_tile_supported"):  # asked by old releases
        torch._C._cpu._is_amx_tile_supported = lambda: False
    real = torch.library.register_fake

    def register_fake(op: Any, func: Any = None, **kwargs: Any) -> Any:
        def tolerant(inner: Callable[..., Any]) -> Any:
            try:
                return real(op, inner, **kwargs)
            except RuntimeError as error:
                if "does not exist" not in str(error):
                    raise
                return inner  # an op of a kernel package that is absent

        return tolerant if func is None else tolerant(func)

    torch.library.register_fake = register_fake


def install(kind: str) -> None:
    """Let torch and `nvidia-smi` answer as if GPUs of this kind were there."""
    gpu = GPUS[kind]
    total = gpu.memory_mib * 1024 * 1024
    properties = SimpleNamespace(
        name=f"NVIDIA {kind}",
        major=gpu.capability[0],
        minor=gpu.capability[1],
        total_memory=total,
        multi_processor_count=gpu.processors,
        gcnArchName="",
        warp_size=32,
        shared_memory_per_block_optin=232448,
        uuid="GPU-0",
    )
    answers: dict[str, Any] = {
        "is_available": True,
        "device_count": GPUS_SHOWN,
        "current_device": 0,
        "get_device_capability": gpu.capability,
        "get_device_name": properties.name,
        "get_device_properties": properties,
        "mem_get_info": (total, total),
        "_lazy_init": None,
        "synchronize": None,
        "empty_cache": None,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, _answering(answer))
    torch.version.cuda = "13.0"
    _put_nvidia_smi(gpu)


def _answering(answer: Any) -> Callable[..., Any]:
    return lambda *_args, **_kwargs: answer


def _put_nvidia_smi(gpu: Gpu) -> None:
    """Some releases ask the program for the memory size instead of torch. Its folder goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="specconf-smi-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = folder / "nvidia-smi"
    program.write_text("#!/bin/sh\n" + f"echo {gpu.memory_mib}\n" * GPUS_SHOWN)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
