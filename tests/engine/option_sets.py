"""How the database's options at one release differ from what the release registers: one value a difference.

What is compared: the spellings, the destination, whether and how an argument is taken, the default, the choices, what a
switch writes, whether the option is required, and that what the release calls deprecated is known to be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine_parser import Listing, NoDefault, Registered
from msgspec import Struct

from specconf.compat.rows import UNKNOWN, Option
from specconf.compat.view import View

HELP = frozenset({"-h", "--help"})
_ARITY = {None: "value", 0: "switch", "?": "optional"}
NONE = frozenset({None, "None"})


class Difference(Struct, frozen=True):
    """One attribute of one option of a release, as the database has it and as the release has it."""

    option: str
    attribute: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        return f"{self.option}: {self.attribute}: database {self.ours!r}, release {self.theirs!r}"


def spellings(options: Sequence[Option] | Sequence[Registered]) -> set[str]:
    """Every flag of the options; help aside, which the database leaves out."""
    return {name for option in options for name in _names(option)} - HELP


def _names(option: Option | Registered) -> tuple[str, ...]:
    return (*option.names, *option.no_names) if isinstance(option, Option) else option.names


def differences(view: View, listing: Listing, paths: Mapping[str, str]) -> list[Difference]:
    """Everything in which the database and a release differ. `paths`: destination → path, where they are not the same."""
    found = option_differences(_held(view, f"{view.engine}.cli"), listing.options, paths)
    for scope, members in listing.members.items():
        found += member_differences(_held(view, scope), members)
    return found


def _held(view: View, scope: str) -> list[Option]:
    return [option for option, _ in view.options_of(scope)]


def option_differences(
    ours: Sequence[Option], theirs: Sequence[Registered], paths: Mapping[str, str]
) -> list[Difference]:
    """Differences between the options of a scope and those of a parser."""
    found = [*_set_differences(ours, theirs, paths)]
    by_name = {name: option for option in theirs for name in option.names}
    by_path = {paths.get(option.dest, option.dest): option for option in theirs if not option.names}
    for option in ours:
        same = by_name.get(option.names[0]) if option.names else by_path.get(option.path)
        if same is not None:
            found += _attribute_differences(option, same, paths)
    return found


def _set_differences(
    ours: Sequence[Option], theirs: Sequence[Registered], paths: Mapping[str, str]
) -> Iterator[Difference]:
    mine, registered = spellings(ours), spellings(theirs)
    mine |= {option.path for option in ours if not option.names}
    registered |= {paths.get(option.dest, option.dest) for option in theirs if not option.names}
    for name in sorted(mine ^ registered):
        yield Difference(name, "spelling", name in mine, name in registered)


def _attribute_differences(ours: Option, theirs: Registered, paths: Mapping[str, str]) -> Iterator[Difference]:
    compared = {
        "path": (ours.path, paths.get(theirs.dest, theirs.dest)),
        "arity": ("value" if ours.kind == "object" else ours.kind, _arity(theirs)),
        "required": (ours.required, theirs.required),
    }
    for attribute, (mine, registered) in compared.items():
        if mine != registered:
            yield Difference(theirs.key, attribute, mine, registered)
    if theirs.deprecated and not ours.deprecated:
        yield Difference(theirs.key, "deprecated", ours.deprecated, theirs.deprecated)
    yield from _default_differences(ours, theirs)
    yield from _choice_differences(ours, theirs)
    yield from _stored_differences(ours, theirs)


def _arity(option: Registered) -> str:
    if not option.names:
        return "positional"
    return "append" if "Append" in option.action else _ARITY.get(option.nargs, "list")


def _default_differences(ours: Option, theirs: Registered) -> Iterator[Difference]:
    """A default that the database does not know differs only from one that a row could hold."""
    default = theirs.default
    if isinstance(default, str) and ours.type == "json":
        default = json.loads(default)
    if ours.default is not UNKNOWN:
        held = None if isinstance(default, NoDefault) and not default.text else default
        if ours.default != held:
            yield Difference(theirs.key, "default", ours.default, default)
    elif not isinstance(default, NoDefault) and default is not None and not ours.deprecated:
        yield Difference(theirs.key, "default", "unknown", default)


def _choice_differences(ours: Option, theirs: Registered) -> Iterator[Difference]:
    """None among a release's choices, written so or as text, is the database's `nullable`."""
    registered = set(theirs.choices or ())
    if ours.nullable:
        registered -= NONE
    if set(ours.choices or ()) != registered:
        yield Difference(theirs.key, "choices", ours.choices, theirs.choices)


def _stored_differences(ours: Option, theirs: Registered) -> Iterator[Difference]:
    if ours.kind not in ("switch", "optional"):
        return
    for name in _names(ours):
        expected: Mapping[str, Any] | None = {theirs.dest: ours.const if name in ours.names else not ours.const}
        if ours.deprecated == "the launch stops":
            expected = None
        elif "does nothing" in ours.deprecated:
            expected = {}
        if name in theirs.stores and theirs.stores[name] != expected:
            yield Difference(name, "stores", expected, theirs.stores[name])


def member_differences(ours: Sequence[Option], theirs: Mapping[str, Any]) -> Iterator[Difference]:
    """Members of an object or registry. The database may know old names that are deprecated and no longer declared."""
    mine = {name: option for option in ours for name in option.names}
    for name in sorted(mine.keys() ^ theirs.keys()):
        if name in theirs or not mine[name].deprecated:
            yield Difference(name, "member", name in mine, name in theirs)
    for name in sorted(mine.keys() & theirs.keys()):
        default = mine[name].default
        if default is not UNKNOWN and default != theirs[name]:
            yield Difference(name, "default", default, theirs[name])
