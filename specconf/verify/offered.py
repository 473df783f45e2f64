"""Which levels of an engine's factors a release has: by the database's rows of its options, choices, variables and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from specconf.compat.releases import parse_version
from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.oracle.factors import Factor, Factors, Level
from specconf.verify.tiny import TARGETS, list_of
from specconf.words import JsonValue


def offered(factors: Factors, view: View) -> tuple[Factor, ...]:
    """The factors with the levels that a release has; a factor of which only one is left makes no difference and stays."""
    return tuple(
        replace(
            factor,
            levels=tuple(_at(view, level) for level in factor.levels if has_level(factors, view, level)),
        )
        for factor in factors.factors
    )


def _at(view: View, level: Level) -> Level:
    """A level as it is in a release: odd before the one from which it is sound."""
    early = bool(level.sound_since) and parse_version(view.release) < parse_version(level.sound_since)
    return replace(level, odd=True) if early else level


def has_level(factors: Factors, view: View, level: Level) -> bool:
    """Whether a release has everything that a level writes, and takes its words."""
    return (
        _has_flags(factors, view, level)
        and all(_has_member(factors, view, level, name, value) for name, value in level.keys.items())
        and all(view.has(f"env.{name}") is not False for name in level.env)
        and all(view.lookup(table, value)[1] is not False for table, value in level.listed.items())
        and (not level.scope or level.scope in view.names)
        and _has_target(view, level.target)
    )


def _has_flags(factors: Factors, view: View, level: Level) -> bool:
    """Whether every flag is one of the release's, written out, with a value that is among its choices where it lists them."""
    words = level.argv
    for number, word in enumerate(words):
        if not re.match(r"--?[A-Za-z]", word):
            continue
        option = view.names.get(factors.cli, {}).get(flag_of(word))
        if option is None:
            return False
        if (
            not level.odd
            and number + 1 < len(words)
            and option.kind == "value"
            and not _takes(option, words[number + 1])
        ):
            return False
    return True


def flag_of(word: str) -> str:
    """The name of a flag: without `=value`, and of `-O3` without its level."""
    name = word.partition("=")[0]
    return "-O" if re.fullmatch(r"-O\d", name) else name


def _takes(option: Option, word: JsonValue) -> bool:
    return option.choices is None or str(word) in map(str, option.choices)


def _has_member(factors: Factors, view: View, level: Level, name: str, value: JsonValue) -> bool:
    option = view.names.get(factors.members, {}).get(name)
    if option is None:
        return False
    if value == "{drawn}":
        return bool(drawn_words(option, level))
    return level.odd or not isinstance(value, str) or value.startswith("{") or _takes(option, value)


def drawn_words(option: Option, level: Level) -> list[str]:
    """The choices of an option that a level draws from."""
    return sorted(str(word) for word in option.choices or () if re.fullmatch(level.draws, str(word)))


def _has_target(view: View, target: str) -> bool:
    """Whether the engine has an architecture: of those that nothing runs there is no answer about speculation."""
    if not target or "model_registry" not in view.db.tables:
        return True
    return all(view.lookup("model_registry", name)[1] is True for name in list_of(TARGETS[target]))


def missing_flags(factors: Factors, view: View) -> list[str]:
    """Flags that other releases of the engine have and this one has not, none of them the beginning of one that it has."""
    here = set(view.names.get(factors.cli, {}))
    ever = {
        str(name)
        for index in view.db.rows_by_scope.get(factors.cli, ())
        for name in view.db.raw_options[index][1].get("names") or ()
    }
    known: Mapping[str, bool] = {name: any(each.startswith(name) for each in here) for name in ever}
    return sorted(name for name, begins in known.items() if name.startswith("--") and not begins)
