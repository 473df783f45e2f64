"""GPUs by name: the compute capability that engines ask for. Source: NVIDIA's table of CUDA-capable GPUs."""

from __future__ import annotations

_CAPABILITY = {
    "V100": 7.0,
    "T4": 7.5,
    "A100": 8.0,
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
}


def capability(gpu: str) -> float | None:
    """CUDA compute capability of a GPU by its name in a spec, or None when it is not in the table."""
    wanted = gpu.upper().replace("-", " ").replace("_", " ").removeprefix("NVIDIA ").strip()
    return _CAPABILITY.get(wanted)
