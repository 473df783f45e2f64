"""Lists of words that an option takes as text and a later check compares with: KV-cache dtypes, quantization methods."""

from __future__ import annotations

import ast

from specconf.engines.vllm.harvest.method_words import literal_words
from specconf.engines.vllm.harvest.tables import CONFIG, Reading
from specconf.harvest.intervals import Row

# Table → the modules that may have the alias of `Literal`, over the years, and the alias.
_LISTS = {
    "kv_cache_dtypes": ((CONFIG, f"{CONFIG}.cache"), "CacheDType"),
    "quantization_methods": (("vllm.model_executor.layers.quantization",), "QuantizationMethods"),
}


def list_rows(reading: Reading) -> list[Row]:
    """The rows of these tables; none in a release that declares no such alias."""
    rows: list[Row] = []
    for table, (modules, alias) in _LISTS.items():
        found = next((one for module in modules if (one := reading.named(module, alias)) is not None), None)
        if found is not None and isinstance(found.node, ast.expr):
            words = literal_words(reading, found.module, found.node, alias)
            rows += [reading.row(table, word, file, line) for word, file, line, _ in words]
    return rows
