"""What an option that a release does not have is called there, what took its place, and which releases have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specconf.compat.releases import Ranges
from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.engines.options import as_text, loose, parent_object, written_key
from specconf.words import JsonValue, same


def instead(name: str, scope: str, near: tuple[str, ...], view: View, *, lived: bool) -> str:
    """What to write instead of an option that this release does not have."""
    later = successor(name, scope, view) or _member_successor(name, scope, view)
    inside = _as_member(name, scope, view)
    if later:
        return f"Write {later}: that is this release's name for {name}{f', or write {inside}' if inside else ''}."
    if inside:
        return f"Write {inside}."
    replaced = _replacement(name, scope, view)
    if replaced:
        return f"Write {replaced}, which took its place."
    elsewhere = _elsewhere(name, scope, view)
    if elsewhere:
        return f"Write {elsewhere}."
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Remove {name}, or choose a release that has it." if lived else f"Remove {name}."


# A table of words that are another program's for a key of this engine's, with the key in the column `means`.
_OTHER_WORDS = "other_words"


def _elsewhere(name: str, scope: str, view: View) -> str:
    """This engine's key for a word of another program; empty where none is known, or where the scope has no such key."""
    row, holds = view.lookup(_OTHER_WORDS, name.replace("-", "_"))
    means = str(row.columns.get("means", "")) if row is not None and holds else ""
    return means if means in view.names.get(scope, {}) else ""


def named(name: str, scope: str, view: View) -> list[tuple[Ranges, Mapping[str, Any]]]:
    """The rows of a scope, in any release, that have this spelling, with dashes or underscores."""
    bare = name.lstrip("-")
    names = {name, f"--{bare.replace('_', '-')}"} if scope.endswith("cli") else {name}
    found = {index for one in names for index in view.db.rows_by_name.get((scope, one), ())}
    return [view.db.raw_options[index] for index in sorted(found)]


def successor(name: str, scope: str, view: View) -> str:
    """How this release spells what the option wrote in others; empty where it writes no such thing, or another one.

    Of a switch, that is the spelling which writes the same value: the opposite one would turn the setting round.
    """
    found = {
        spelling
        for _, row in named(name, scope, view)
        for option in view.by_path.get(row["path"], ())
        if option.scope == scope and not option.deprecated
        for spelling in _same_writers(option, name, row)
    }
    return found.pop() if len(found) == 1 else ""


def _member_successor(name: str, scope: str, view: View) -> str:
    """How this release writes a member of an object whose short name it gave to another option: `-O.x` is `-cc.x` later."""
    head, dot, member = name.partition(".")
    if not dot or not head.startswith("-"):
        return ""
    objects = [row["path"] for _, row in named(head, scope, view) if row.get("kind") == "object"]
    for option in (o for path in dict.fromkeys(objects) for o in view.by_path.get(path, ())):
        known = view.names.get(option.members, {})
        if option.scope == scope and (not known or member.partition(".")[0] in known):
            short = next((n for n in option.names if not n.startswith("--")), "") if not head.startswith("--") else ""
            return f"{short or option.names[0]}.{member}"
    return ""


def _as_member(name: str, scope: str, view: View) -> str:
    """The member of an object that a flag of other releases wrote: `model in --speculative-config`."""
    if not scope.endswith("cli"):
        return ""
    found = set()
    for _, row in named(name, scope, view):
        whole = parent_object(row["path"], view)
        flag = next((n for n in whole.names if n.startswith("--")), "") if whole is not None else ""
        members = view.by_path.get(row["path"], ())
        if whole is not None and flag and any(o.scope == whole.members for o in members):
            found.add(f"{written_key(row['path'], view)} in {flag}")
    return found.pop() if len(found) == 1 else ""


def _replacement(name: str, scope: str, view: View) -> str:
    """What other releases say to write instead of an option, where this one has it."""
    said = [str(row["replaced_by"]) for _, row in named(name, scope, view) if row.get("replaced_by")]
    known = view.names.get(scope, {})
    return next((text for text in reversed(said) if text.partition("=")[0].partition(" ")[0] in known), "")


def _same_writers(option: Option, name: str, row: Mapping[str, Any]) -> Iterator[str]:
    """The first spelling of an option that writes what `name` wrote by its row of another release."""
    kind = row.get("kind", "value")
    if kind not in ("switch", "optional"):
        if option.kind == kind and "const" not in row:
            yield from option.names[:1]
        return
    written = row.get("const", True)
    if name not in (row.get("names") or ()) and loose(name) not in {loose(n) for n in row.get("names") or ()}:
        written = _opposite(written)
    if option.kind in ("switch", "optional") and written is not None:
        if same(option.const, written):
            yield from option.names[:1]
        elif same(_opposite(option.const), written):
            yield from option.no_names[:1]


def _opposite(value: JsonValue) -> JsonValue:
    """What the opposite spelling of a switch writes; None where it has none."""
    return not value if isinstance(value, bool) else None


def releases_with_choice(value: JsonValue, option: Option, view: View) -> str:
    """Until or from which other release an option takes a value that it does not take here; empty when in none is known."""
    line, here = view.db.line, view.point.positions
    rows = [view.db.raw_options[i] for i in view.db.rows_by_path.get(option.path, ())]
    held = [
        r for r, row in rows if row["scope"] == option.scope and any(same(value, c) for c in row.get("choices") or ())
    ]
    places = [position for position in range(len(line.names)) if any(ranges.at(position) for ranges in held)]
    before = [line.names[position] for position in places if position < min(here)]
    after = [line.names[position] for position in places if position > max(here)]
    parts = [f"until {before[-1]}"] if before else []
    parts += [f"from {after[0]} on"] if after else []
    return f"; {as_text(value)} exists {' and again '.join(parts)}" if parts else ""


def releases_with(name: str, scope: str, view: View) -> str:
    """In which other releases an option of this name exists, as an aside in brackets; empty when in none.

    A flag is asked for as its parser would look it up: not every one takes underscores for dashes.
    """
    line = view.db.line
    rows = named(name, scope, view)
    if name.startswith("-"):
        rows = [(r, row) for r, row in rows if name in {*(row.get("names") or ()), *(row.get("no_names") or ())}]
    held = [ranges for ranges, _ in rows]
    runs: list[tuple[int, int]] = []
    for position in range(len(line.names)):
        if any(ranges.at(position) for ranges in held):
            if runs and runs[-1][1] == position:
                runs[-1] = (runs[-1][0], position + 1)
            else:
                runs.append((position, position + 1))
    text = Ranges(tuple(runs)).text(line)
    word = "" if text.startswith("before") else "from " if text.endswith(" on") and ";" not in text else "in "
    return f"; it exists {word}{text}" if runs else ""
