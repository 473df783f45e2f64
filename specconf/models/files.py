"""Reading a checkpoint's small files on this machine: config.json, tensor names, a quantization file. Bounded in size
and depth; executes nothing and reads no weights.
"""

from __future__ import annotations

import json
from pathlib import Path

from specconf.errors import InputError
from specconf.words import JsonValue, Span

MAX_CONFIG_BYTES = 16 * 1024 * 1024
MAX_INDEX_BYTES = 64 * 1024 * 1024
MAX_HEADER_BYTES = 32 * 1024 * 1024
MAX_FILES = 64


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


def _read_bytes(path: Path, limit: int) -> bytes | None:
    with path.open("rb") as file:
        data = file.read(limit + 1)
    return data if len(data) <= limit else None


def _load(data: bytes | None) -> object:
    try:
        return json.loads(data) if data is not None else None
    except (ValueError, RecursionError):
        return None


def read_tensor_names(directory: Path) -> frozenset[str] | None:
    """Names from the safetensors index, else from the headers of the files; None where they cannot all be read."""
    try:
        index = directory / "model.safetensors.index.json"
        if index.is_file():
            loaded = _load(_read_bytes(index, MAX_INDEX_BYTES))
            names = loaded.get("weight_map") if isinstance(loaded, dict) else None
            return frozenset(names) if isinstance(names, dict) else None
        files = sorted(path for path in directory.glob("*.safetensors") if path.is_file())
        headers = [_load(_header(path)) for path in files[: MAX_FILES + 1]]
    except OSError:
        return None
    if not headers or len(headers) > MAX_FILES:
        return None
    found: set[str] = set()
    for header in headers:
        if not isinstance(header, dict):
            return None
        found |= set(header)
    return frozenset(found - {"__metadata__"})


def _header(path: Path) -> bytes | None:
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        return file.read(size) if 0 < size <= MAX_HEADER_BYTES else None


def read_quantization(directory: Path) -> dict[str, JsonValue] | None:
    """What a hf_quant_config.json says of the quantization, where there is one that names an algorithm."""
    path = directory / "hf_quant_config.json"
    try:
        loaded = _load(_read_bytes(path, MAX_CONFIG_BYTES)) if path.is_file() else None
    except OSError:
        return None
    inner = loaded.get("quantization") if isinstance(loaded, dict) else None
    return inner if isinstance(inner, dict) and isinstance(inner.get("quant_algo"), str) else None
