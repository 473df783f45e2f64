"""GPUs by name: the compute capability and the memory that engines ask for. Source: NVIDIA's table of CUDA-capable GPUs and
its data sheets.
"""

from __future__ import annotations

_CAPABILITY = {
    "V100": 7.0,
    "T4": 7.5,
    "A100": 8.0,
    "A100 40GB": 8.0,
    "A100 80GB": 8.0,
    "A30": 8.0,
    "A10": 8.6,
    "A10G": 8.6,
    "A40": 8.6,
    "RTX 3090": 8.6,
    "L4": 8.9,
    "L40": 8.9,
    "L40S": 8.9,
    "RTX 4090": 8.9,
    "H100": 9.0,
    "H200": 9.0,
    "H20": 9.0,
    "GH200": 9.0,
    "B200": 10.0,
    "GB200": 10.0,
    "B300": 10.3,
    "GB300": 10.3,
    "RTX 5090": 12.0,
    "RTX PRO 6000": 12.0,
}

# Gigabytes of the smallest card sold under the name: engines choose by size class, in which all of a name fall.
_MEMORY = {
    "V100": 16,
    "T4": 16,
    "A100": 40,
    "A100 40GB": 40,
    "A100 80GB": 80,
    "A30": 24,
    "A10": 24,
    "A10G": 24,
    "A40": 48,
    "RTX 3090": 24,
    "L4": 24,
    "L40": 48,
    "L40S": 48,
    "RTX 4090": 24,
    "H100": 80,
    "H200": 141,
    "H20": 96,
    "GH200": 96,
    "B200": 180,
    "GB200": 186,
    "B300": 270,
    "GB300": 270,
    "RTX 5090": 32,
    "RTX PRO 6000": 96,
}

# Mebibytes that the driver reports, for every size that is sold under the name. H100, H200, B200 and the larger A100 are held
# by recorded answers of SGLang; the others are what drivers are commonly seen to print, and were not.
_REPORTED = {
    "T4": (15360,),
    "A100": (40960, 81920),
    "A100 40GB": (40960,),
    "A100 80GB": (81920,),
    "A10": (23028,),
    "A10G": (23028,),
    "A40": (46068,),
    "RTX 3090": (24576,),
    "L4": (23034,),
    "L40": (46068,),
    "L40S": (46068,),
    "RTX 4090": (24564,),
    "H100": (81559,),
    "H200": (143771,),
    "H20": (97871,),
    "B200": (183359,),
    "RTX 5090": (32607,),
}


def capability(gpu: str) -> float | None:
    """CUDA compute capability of a GPU by its name in a spec, or None when it is not in the table."""
    return _CAPABILITY.get(plain_name(gpu))


def memory(gpu: str) -> int | None:
    """Gigabytes of memory of a GPU by its name in a spec, or None when it is not in the table."""
    return _MEMORY.get(plain_name(gpu))


def reported_memory(gpu: str) -> tuple[int, ...]:
    """Mebibytes of memory that the driver reports for a GPU by its name in a spec; none when it is not in the table."""
    return _REPORTED.get(plain_name(gpu), ())


def plain_name(gpu: str) -> str:
    """A GPU's name in a spec as the tables here write it: `NVIDIA H100` and `h100` are H100."""
    return gpu.upper().replace("-", " ").replace("_", " ").removeprefix("NVIDIA ").strip()
