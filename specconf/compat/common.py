"""Constraints that are written once for several engines: `compat/common/constraints/*.yaml`.

Such a row says once what holds of a target, its draft and the method whatever engine runs them, in facts that every engine
derives under the same name. `engines` names the engines it stands in, with what differs between them: releases, evidence and
examples. In an engine's database it is a constraint like any other, `<engine>/<id>`. Of `unless` each engine keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from specconf.compat.sources import SourceTree
from specconf.errors import DatabaseError

FOLDER = "common"
# What a row says for each engine by itself.
_BY_ENGINE = frozenset({"releases", "evidence", "probe", "twin", "also"})


def common_constraints(tree: SourceTree, engine: str) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """The rows of each file as they stand in one engine. Raises DatabaseError for a row that cannot stand in any."""
    for path, data in tree.yaml_dir(FOLDER, "constraints"):
        rows = data.get("constraints") if isinstance(data, dict) else None
        if not isinstance(rows, list) or set(data) != {"constraints"}:
            raise DatabaseError(f"{FOLDER}/constraints/{path.name}: it holds constraints and nothing else")
        yield path, [found for row in rows for found in _of_engine(row, engine, path.name)]


def _of_engine(row: Any, engine: str, name: str) -> Iterator[dict[str, Any]]:
    engines = row.get("engines") if isinstance(row, dict) else None
    if not isinstance(engines, Mapping) or not all(isinstance(own, Mapping) for own in engines.values()):
        raise DatabaseError(f"{FOLDER}/constraints/{name}: a row has `engines`, a mapping of engines to what is theirs")
    if strange := sorted({key for own in engines.values() for key in own} - _BY_ENGINE):
        raise DatabaseError(f"{FOLDER}/constraints/{name}: {row.get('id')} says for one engine: {', '.join(strange)}")
    if engine not in engines:
        return
    shared = {key: value for key, value in row.items() if key != "engines"}
    shared["id"] = f"{engine}/{row.get('id')}"
    if own_unless := [name for name in row.get("unless") or () if str(name).startswith(f"{engine}/")]:
        shared["unless"] = own_unless
    else:
        shared.pop("unless", None)
    yield {**shared, **engines[engine], "common": True}
