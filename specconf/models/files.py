"""Reading a checkpoint's small files on this machine: config.json, tensor names, a quantization file. Bounded in size
and depth; executes nothing and reads no weights.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from specconf.errors import InputError
from specconf.words import JsonValue, Span

MAX_CONFIG_BYTES = 16 * 1024 * 1024
MAX_INDEX_BYTES = 64 * 1024 * 1024
MAX_HEADER_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Beside:
    """What else a checkpoint's directory tells."""

    tensors: frozenset[str] | None = None
    quantization: str | None = None


def read_config(path: Path) -> dict[str, JsonValue]:
    """Read a config.json; what is wrong with it is an InputError that says where."""
    where = Span(str(path))
    try:
        data = _read_bytes(path, MAX_CONFIG_BYTES)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=where) from error
    if data is None:
        raise InputError(f"is larger than {MAX_CONFIG_BYTES // 2**20} MiB: not a model's config", where=where)
    return parse_config(data, str(path))


def parse_config(data: bytes, name: str) -> dict[str, JsonValue]:
    """Parse the bytes of a config.json named `name`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (byte {error.start})", where=Span(name)) from error
    try:
        loaded = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"is not valid JSON: {error.msg}", where=Span(name, error.lineno, error.colno)) from error
    except RecursionError as error:
        raise InputError("is nested too deeply", where=Span(name)) from error
    except ValueError as error:
        raise InputError(f"is not valid JSON: {error}", where=Span(name)) from error
    if not isinstance(loaded, dict):
        raise InputError("must hold a JSON object", where=Span(name, 1, 1))
    return loaded


def read_beside(directory: Path, *, tensors: bool) -> Beside:
    """Tensor names (only if asked: an index can be large) and the quantization method beside a config.json."""
    return Beside(_tensor_names(directory) if tensors else None, _quantization(directory))


def _read_bytes(path: Path, limit: int) -> bytes | None:
    with path.open("rb") as file:
        data = file.read(limit + 1)
    return data if len(data) <= limit else None


def _load(data: bytes | None) -> object:
    try:
        return json.loads(data) if data is not None else None
    except (ValueError, RecursionError):
        return None


def _tensor_names(directory: Path) -> frozenset[str] | None:
    """Names from the safetensors index, or from the header of a single file; None where neither can be read."""
    try:
        index = directory / "model.safetensors.index.json"
        if index.is_file():
            loaded = _load(_read_bytes(index, MAX_INDEX_BYTES))
            names = loaded.get("weight_map") if isinstance(loaded, dict) else None
        else:
            names = _load(_header(directory / "model.safetensors"))
    except OSError:
        return None
    return frozenset(names) - {"__metadata__"} if isinstance(names, dict) else None


def _header(path: Path) -> bytes | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        return file.read(size) if 0 < size <= MAX_HEADER_BYTES else None


def _quantization(directory: Path) -> str | None:
    """The method that a hf_quant_config.json stands for: modelopt for every algorithm but NVFP4, as vLLM names them."""
    path = directory / "hf_quant_config.json"
    try:
        loaded = _load(_read_bytes(path, MAX_CONFIG_BYTES)) if path.is_file() else None
    except OSError:
        return None
    inner = loaded.get("quantization") if isinstance(loaded, dict) else None
    algorithm = inner.get("quant_algo") if isinstance(inner, dict) else None
    if not isinstance(algorithm, str):
        return None
    return "modelopt_fp4" if "NVFP4" in algorithm.upper() else "modelopt"
