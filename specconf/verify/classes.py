"""The classes of questions that could not be put, of all the files in which an engine names them."""

from __future__ import annotations

from importlib.resources import files

from specconf.oracle.engine import EngineOracle
from specconf.oracle.excluded import Excluded, read_excluded

# Of launches that are asked up to their config, and of those that are started for real.
FILES = ("excluded.yaml", "load_excluded.yaml")


def classes_of(oracle: EngineOracle) -> dict[str, tuple[Excluded, ...]]:
    """Every class by name; two files may name one, each for its own way of asking."""
    found: dict[str, tuple[Excluded, ...]] = {}
    for name in FILES:
        file = files(oracle.package).joinpath(name)
        for each in read_excluded(file) if file.is_file() else ():
            found[each.name] = (*found.get(each.name, ()), each)
    return found
