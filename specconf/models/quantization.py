"""How a checkpoint is quantised, as its config or the file beside it says: the method, the format, and what was left out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from specconf.models.config import ConfigView, Missing
from specconf.models.reading import text, whole
from specconf.patterns import pattern
from specconf.words import JsonValue

_SECTIONS = ("quantization_config", "compression_config")
# Every spelling of the list of modules that were left as they are.
_IGNORED = (
    "ignore",
    "ignored_layers",
    "modules_to_not_convert",
    "exclude_modules",
    "exclude",
    "llm_int8_skip_modules",
)
_FORMAT = ("format", "quant_algo", "fmt", "weight_dtype")
_PROJECTION = pattern(r"(mtp|nextn)(?!\w*\\?\.layers)|(^|\W)(fc|eh_proj)\b", re.IGNORECASE)
_LAYER = pattern(r"layers\\?[.\[]+(\d{1,6})")


class Quantized(Struct, frozen=True):
    """`quantization` is None for weights as they were trained. `quantization_ignores` lists what was left out, and
    `quantization_ignores_mtp` says whether the MTP layers are among it, as far as the list names them, and
    `quantization_ignores_projection` the same of the projection in front of them."""

    quantization: JsonValue | Missing
    quantization_format: JsonValue | Missing
    quantization_bits: JsonValue | Missing
    quantization_ignores: JsonValue | Missing
    quantization_ignores_mtp: bool | Missing | None
    quantization_ignores_projection: bool | Missing | None

    @classmethod
    def of(cls, view: ConfigView, beside: Mapping[str, JsonValue] | None, layers: int | Missing) -> Quantized:
        """What a config, and what the `hf_quant_config.json` beside it (its inner part), say."""
        section = _section(view)
        if isinstance(section, Missing):
            return cls(section, section, section, section, section, section)
        if section is None:
            if beside is None:
                nothing = Missing(f"{view.origin} describes no quantization", absent=True)
                return cls(None, nothing, nothing, nothing, nothing, nothing)
            return cls._beside(beside, layers)
        ignores = _ignores(view, section)
        return cls(
            quantization=text(view, f"{section}.quant_method"),
            quantization_format=text(view, *(f"{section}.{key}" for key in _FORMAT)),
            quantization_bits=_bits(view, section),
            quantization_ignores=ignores,
            quantization_ignores_mtp=_left_out(view.get(section), _ignores_mtp(ignores, layers)),
            quantization_ignores_projection=_left_out(view.get(section), _ignores_projection(ignores)),
        )

    @classmethod
    def _beside(cls, beside: Mapping[str, JsonValue], layers: int | Missing) -> Quantized:
        algorithm = beside.get("quant_algo")
        method = modelopt_method(beside)
        listed = beside.get("exclude_modules")
        ignores: list[JsonValue] | Missing = Missing("hf_quant_config.json lists no exclude_modules", absent=True)
        if isinstance(listed, list):
            ignores = [item for item in listed if isinstance(item, str)]
        return cls(
            quantization=method,
            quantization_format=algorithm if isinstance(algorithm, str) else Missing("no quant_algo", absent=True),
            quantization_bits=Missing("hf_quant_config.json gives no bits", absent=True),
            quantization_ignores=ignores,
            quantization_ignores_mtp=_left_out(beside, _ignores_mtp(ignores, layers)),
            quantization_ignores_projection=_left_out(beside, _ignores_projection(ignores)),
        )


def modelopt_method(inner: Mapping[str, JsonValue]) -> str | None:
    """The method that a hf_quant_config.json stands for: modelopt for every algorithm but NVFP4, as vLLM names them."""
    algorithm = inner.get("quant_algo")
    if not isinstance(algorithm, str):
        return None
    return "modelopt_fp4" if "NVFP4" in algorithm.upper() else "modelopt"


def _section(view: ConfigView) -> str | Missing | None:
    """The key that describes the quantization; None where the config is known to have none."""
    for key in _SECTIONS:
        found = view.get(key)
        if isinstance(found, Missing):
            if not found.absent:
                return found
        elif found is not None:
            return key
    return None


def _bits(view: ConfigView, section: str) -> JsonValue | Missing:
    for key, bits in (("load_in_4bit", 4), ("load_in_8bit", 8)):
        if view.get(f"{section}.{key}") is True:
            return bits
    return whole(view, *(f"{section}.{key}" for key in ("bits", "w_bit", "weight_bits", "wbits")))


def _ignores(view: ConfigView, section: str) -> list[JsonValue] | Missing:
    dynamic = view.get(f"{section}.dynamic")
    if isinstance(dynamic, dict):
        # GPTQModel: patterns with a minus in front are left out.
        return [pattern.removeprefix("-:") for pattern in dynamic if pattern.startswith("-:")]
    found = view.first(*(f"{section}.{key}" for key in _IGNORED))
    if isinstance(found, Missing):
        return found
    if isinstance(found, str):
        return [found]
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        return Missing(f"the list of modules left out in {view.origin} is not a list of names")
    return found


def _ignores_mtp(ignores: list[JsonValue] | Missing, layers: int | Missing) -> bool | Missing:
    """Whether a name or pattern of the list speaks of MTP layers. Patterns are looked at, not run."""
    if isinstance(ignores, Missing):
        return False if ignores.absent else ignores
    names = [item for item in ignores if isinstance(item, str)]
    if any(word in name.lower() for name in names for word in ("mtp", "nextn")):
        return True
    numbers = [int(found) for name in names for found in _LAYER.findall(name)]
    if isinstance(layers, Missing):
        return layers if numbers else False
    return any(number >= layers for number in numbers)


def _ignores_projection(ignores: list[JsonValue] | Missing) -> bool | Missing:
    """Whether an entry speaks of the projection itself, or of MTP without narrowing that down to its layers."""
    if isinstance(ignores, Missing):
        return False if ignores.absent else ignores
    return any(isinstance(item, str) and _PROJECTION.search(item) is not None for item in ignores)


def _left_out(section: object, ignored: bool | Missing) -> bool | Missing:
    """What a list of modules left out says, unless the quantization lists the modules that it applies to."""
    if not isinstance(section, Mapping) or ignored is True:
        return ignored
    if isinstance(listed := section.get("quantized_layers"), Mapping):
        return not any(word in str(name).lower() for name in listed for word in ("mtp", "nextn")) or Missing(
            "quantized_layers lists MTP layers in part"
        )
    groups = section.get("config_groups")
    groups = groups.values() if isinstance(groups, Mapping) else ()
    targets = [group.get("targets") for group in groups if isinstance(group, Mapping)]
    named = [name for listed in targets if isinstance(listed, list) for name in listed if isinstance(name, str)]
    if named and all(name.startswith("re:") or "." in name for name in named):
        return Missing("config_groups names modules by patterns, which specconf does not run")
    return ignored
