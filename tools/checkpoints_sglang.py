"""Which draft SGLang's tests launch each target with: the pairs of constants in the test module of its wheel. Read from the
text, without running it; the rows hold nothing else.
"""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODULE = "sglang/test/test_utils.py"
DRAFT, TARGET = "DEFAULT_DRAFT_MODEL_", "DEFAULT_TARGET_MODEL_"
# Endings of the constants' names that say how the draft drafts; any other pair is taken as a pair alone.
DRAFTS_BY = {"EAGLE": "eagle", "EAGLE3": "eagle3", "DFLASH": "dflash"}
PLAIN = "STANDALONE"


def test_pairs(wheel: Path) -> Iterator[dict[str, Any]]:
    """One row for each draft that the tests name a target for."""
    release = wheel.name.split("-")[1]
    with zipfile.ZipFile(wheel) as archive:
        constants = {name: (value, line) for name, value, line in texts(ast.parse(archive.read(MODULE)))}
    for name, (draft, line) in constants.items():
        ending = name.removeprefix(DRAFT)
        target = constants.get(f"{TARGET}{ending}")
        if not name.startswith(DRAFT) or target is None:
            continue
        row: dict[str, Any] = {"id": draft, "kind": "plain" if ending == PLAIN else "unknown", "config": {}}
        row["drafts_for"] = [target[0]]
        if ending in DRAFTS_BY:
            row["drafts_by"] = DRAFTS_BY[ending]
        source = {"kind": "source", "package": "sglang", "release": release, "file": MODULE, "line": line}
        yield row | {"source": [source | {"note": f"the draft of its tests' pair {ending}"}]}


def texts(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """Name, value and line of every constant that is a text."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for name in node.targets:
                if isinstance(name, ast.Name):
                    yield name.id, node.value.value, node.lineno
