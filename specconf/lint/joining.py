"""Flags of their own, as vLLM took them before there was an object for speculation, joined into that object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from specconf.compat.view import View
from specconf.engines.emitting import EmitError, object_value
from specconf.engines.options import compact_json
from specconf.findings import Finding
from specconf.lint.site import Change, Op, Remove, Rename, Replace, Site, Write
from specconf.patterns import pattern
from specconf.rules.othernames import named, successor
from specconf.words import JsonValue

# A value that is a variable: `$NAME`, `${NAME}`, or one of those in double quotes, with plain text around it.
_VARIABLE = pattern(
    r"(?P<quote>\"?)(?P<inside>[\w./-]*\$(?:\{[A-Za-z_]\w*(?::?-[\w./-]*)?\}|[A-Za-z_]\w*)[\w./-]*)(?P=quote)"
)

SCOPE = "vllm.cli"
OBJECT = "speculative_config"
FLAG = "--speculative-config"
# What releases with the object take and do not look at.
_LEFT_OUT = "speculative_config.draft_tensor_parallel_size"


class _Old(Struct, frozen=True):
    """An old flag: its word and name, the word of its value (the same where it stands behind `=`, -1 where it has none),
    its path, the type of its value, and the value, None where it is not known from the flag's own words.
    """

    flag: int
    name: str
    value_word: int
    path: str
    type: str
    value: JsonValue

    @property
    def end(self) -> int:
        """The index behind its words."""
        return max(self.flag, self.value_word) + 1


def joined_flags(site: Site, finding: Finding) -> Iterator[Change]:
    """All old flags of a launch as one object, where the first of them stands; else each by its name of today."""
    view, settings = site.view, site.judged.settings
    if view is None or settings is None or view.engine != "vllm":
        return
    old = _old_flags(site, view)
    if not any(site.argv[one.flag].span == finding.where for one in old):
        return
    if not settings.writes(OBJECT) and FLAG in view.names.get(SCOPE, {}):
        yield from _as_object(site, old, view)
        if any(one.path == _LEFT_OUT for one in old):
            yield from _as_object(site, old, view, leave_out=_LEFT_OUT)
    names = [successor(one.name.replace("_", "-"), SCOPE, view) for one in old]
    if all(names):
        yield Change(tuple(Rename(one.flag, one.name, name) for one, name in zip(old, names, strict=True)))


def _old_flags(site: Site, view: View) -> list[_Old]:
    """The flags of a launch that only older releases have, and that write a key of the object there."""
    found: list[_Old] = []
    for at, word in enumerate(site.argv):
        name = word.text.partition("=")[0]
        known = name.replace("_", "-")  # which vLLM takes for the same
        if not name.startswith("--") or known in view.names.get(SCOPE, {}):
            continue
        rows = [row for _, row in named(known, SCOPE, view) if row["path"].startswith(f"{OBJECT}.")]
        if rows:
            found.append(_old_flag(site, at, name, rows[-1]))
    return found


def _old_flag(site: Site, flag: int, name: str, row: Mapping[str, object]) -> _Old:
    path, kind = str(row["path"]), str(row.get("type"))
    if row.get("kind", "value") == "switch":
        return _Old(flag, name, -1, path, "bool", row.get("const", True) is True or None)
    found = site.value_of(flag)
    if found is not None:
        try:
            return _Old(flag, name, found[0], path, kind, _typed(found[2], kind))
        except ValueError:
            return _Old(flag, name, found[0], path, kind, None)
    separate = "=" not in site.argv[flag].text and flag + 1 < len(site.argv)
    return _Old(flag, name, flag + 1 if separate else flag, path, kind, None)


def _typed(text: str, kind: str) -> JsonValue:
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind == "bool":
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    return text


def _as_object(site: Site, old: list[_Old], view: View, *, leave_out: str = "") -> Iterator[Change]:
    kept = [one for one in old if one.path != leave_out]
    if any(not view.by_path.get(one.path) for one in kept):
        return
    ops: list[Op] = [Remove(one.flag, one.end) for one in old[1:]]
    first = old[0]
    if all(one.value is not None for one in kept):
        try:
            value = _object({one.path: one.value for one in kept}, view)
        except EmitError:
            return
        if first.value_word == first.flag:
            yield Change((Replace(first.flag, f"{FLAG}={value}"), *ops))
        elif first.value_word > 0:
            yield Change((Replace(first.flag, FLAG), Replace(first.value_word, value), *ops))
    written = _with_variables(site, kept, view)
    if written is not None and first.value_word == first.flag + 1:
        yield Change((Replace(first.flag, FLAG), Write(first.value_word, *written), *ops))


def _object(members: dict[str, JsonValue], view: View) -> str:
    if members.get(f"{OBJECT}.model") == "[ngram]":  # how releases with separate flags named the method
        members[f"{OBJECT}.method"] = "ngram"
        del members[f"{OBJECT}.model"]
    return compact_json(object_value(OBJECT, members, view))


def _with_variables(site: Site, old: list[_Old], view: View) -> tuple[str, str | None] | None:
    """The object as shell text whose single quotes end around each variable, and its value where all of them are known."""
    if not site.judged.read.in_script:
        return None
    members: dict[str, JsonValue] = {}
    holes: dict[str, tuple[str, str | None]] = {}
    for one in old:
        raw = site.argv[one.value_word].raw if one.value_word > one.flag else ""
        variable = _VARIABLE.fullmatch(raw)
        if variable is None:
            if one.value is None:
                return None
            members[one.path] = one.value
            continue
        mark = f"@{len(holes)}@"
        members[one.path] = mark
        around = ('"', '"') if one.type not in ("int", "float", "bool") else ("", "")
        known = None if one.value is None else compact_json(one.value)
        holes[f'"{mark}"'] = (f"{around[0]}'\"{variable['inside']}\"'{around[1]}", known)
    if not holes:
        return None
    try:
        text = value = _object(members, view)
    except EmitError:
        return None
    if "'" in text:
        return None
    for mark, (shell, known) in holes.items():
        text = text.replace(mark, shell)
        value = value.replace(mark, known or "")
    return f"'{text}'", value if all(known is not None for _, known in holes.values()) else None
