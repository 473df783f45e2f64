"""Fixes where options are named in code or in an option file: renamed there, joined into one object, given as an object.

Each option is an entry: its key and its value as they stand in the text. Values of code are moved as they are written,
whatever they are; those of a file must be plain ones.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Sequence

import yaml
from msgspec import Struct

from specconf.compat.view import View
from specconf.engines.emitting import sorted_keys
from specconf.engines.filekeys import entries as file_entries
from specconf.engines.options import compact_json, python_literal, written_key
from specconf.findings import Finding
from specconf.lint.edits import Edit
from specconf.lint.site import Change, Site
from specconf.lint.wording import in_code
from specconf.patterns import pattern
from specconf.readers.pytext import range_of
from specconf.readers.source import SourceText
from specconf.rules.othernames import named
from specconf.settings import Problem, ProblemKind
from specconf.words import JsonValue, Span

SCOPE, OBJECT = "vllm.cli", "speculative_config"
_NGRAM = "[ngram]"  # how releases with separate options named the method
_DUMPED = pattern(r"json\.dumps\((?P<inside>\{.*\})\)", re.DOTALL)
_REST_OF_LINE = pattern(r"[ \t]*,?[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_COMMA_BEFORE = pattern(r",\s*\Z")

Range = tuple[int, int]


class Entry(Struct, frozen=True):
    """An option by its key: where key and value stand."""

    key: Range
    value: Range


def renamed_keyword(site: Site, finding: Finding, old: str, new: str) -> Iterator[Change]:
    """The name of a parameter, as the release calls it."""
    place = site.bounds(finding.where)
    if place is None or not in_code(site.argv):
        return
    written = site.text[place[0] : place[1]]
    quote = written[:1] if written[:1] in ("'", '"') else ""
    if written.strip("'\"") == _parameter(old):
        yield Change(edits=(site.edit(*place, f"{quote}{_parameter(new)}{quote}"),))


def _parameter(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def object_in_code(site: Site, finding: Finding) -> Iterator[Change]:
    """A text that code gives for an object, as that object."""
    settings = site.judged.settings
    problems = settings.problems if settings is not None else ()
    found = [p for p in problems if p.kind is ProblemKind.TEXT_IN_CODE and p.where == finding.where]
    entry = _code_entries(site).get(site.bounds(finding.where) or (0, 0)) if found else None
    if entry is None:
        return
    written = site.text[entry.value[0] : entry.value[1]]
    dumped = _DUMPED.fullmatch(written)
    literal = dumped["inside"] if dumped else python_literal(found[0].value) if written[:1] in "'\"(rR" else ""
    if literal:
        yield Change(edits=(site.edit(*entry.value, literal),))


def joined_keys(site: Site, finding: Finding) -> Iterator[Change]:
    """vLLM's old separate options of a launch in code, or of an option file, as one object where the first of them stands."""
    view, settings = site.view, site.judged.settings
    if view is None or settings is None or view.engine != "vllm" or settings.writes(OBJECT):
        return
    old = [(problem, path) for problem in settings.problems if (path := _old_path(problem, view))]
    if not any(problem.where == finding.where for problem, _ in old):
        return
    known = _code_entries(site) if in_code(site.argv) else _file_entries(site)
    found = [(path, known.get(site.bounds(problem.where) or (0, 0))) for problem, path in old]
    placed = [(path, entry) for path, entry in found if entry is not None]
    if len(placed) != len(old) or len({path for path, _ in placed}) != len(placed):
        return
    if any(not view.by_path.get(path) for path, _ in placed):
        return
    placed.sort(key=lambda pair: pair[1].key)
    write = _code_edits if in_code(site.argv) else _file_edits
    if (edits := write(site, placed, view)) is not None:
        yield Change(edits=tuple(edits))


def _old_path(problem: Problem, view: View) -> str:
    """The member of the object that an option which only older releases have wrote there."""
    if problem.kind is not ProblemKind.UNKNOWN or problem.scope != SCOPE:
        return ""
    paths = [row["path"] for _, row in named(problem.looked_up, SCOPE, view)]
    return next((str(path) for path in reversed(paths) if str(path).startswith(f"{OBJECT}.")), "")


# -- code


def _code_entries(site: Site) -> dict[Range, Entry]:
    """The keyword arguments and the members of dicts in a program, by the places of their keys."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file's own escapes
            tree = ast.parse(site.text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}  # the file was read otherwise: a YAML of Ray's, whose entries are not moved
    found: dict[Range, Entry] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg is not None:
            start = range_of(site.source, node)[0]
            found[start, start + len(node.arg)] = Entry(
                (start, start + len(node.arg)), range_of(site.source, node.value)
            )
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    place = range_of(site.source, key)
                    found[place] = Entry(place, range_of(site.source, value))
    return found


def _code_edits(site: Site, placed: Sequence[tuple[str, Entry]], view: View) -> list[Edit] | None:
    members = {written_key(path, view): site.text[entry.value[0] : entry.value[1]] for path, entry in placed}
    if members.get("model", "").strip("'\"") == _NGRAM:
        members["method"] = '"ngram"'
        del members["model"]
    order = sorted_keys(dict.fromkeys(members))
    value = "{" + ", ".join(f"{json.dumps(key)}: {members[key]}" for key in order) + "}"
    first = placed[0][1]
    written = site.text[first.key[0] : first.key[1]]
    quote = written[:1] if written[:1] in ("'", '"') else ""
    between = site.text[first.key[1] : first.value[0]]
    edits = [site.edit(first.key[0], first.value[1], f"{quote}{OBJECT}{quote}{between}{value}")]
    edits += [_without_argument(site, entry) for _, entry in placed[1:]]
    return edits


def _without_argument(site: Site, entry: Entry) -> Edit:
    """An argument goes: its lines where it stands alone on them, else with the comma before it."""
    start, end = entry.key[0], entry.value[1]
    line = site.text.rfind("\n", 0, start) + 1
    rest = _REST_OF_LINE.match(site.text, end)
    if rest and "#" not in rest[0] and not site.text[line:start].strip():
        return site.edit(line, rest.end(), "")
    comma = _COMMA_BEFORE.search(site.text, 0, start)
    return site.edit(comma.start() if comma else start, end, "")


# -- option files


def _file_entries(site: Site) -> dict[Range, Entry]:
    """The options of a file that is an option file itself, by the places of their keys."""
    source = SourceText(site.text, site.path)

    def place(start: yaml.Mark, end: yaml.Mark) -> Span:
        return source.span_of(start.index, end.index)

    found: dict[Range, Entry] = {}
    for entry in file_entries(site.text, place).values():
        key, value = site.bounds(entry.key), site.bounds(entry.value)
        if key is not None and value is not None:
            found[key] = Entry(key, value)
    return found


def _file_edits(site: Site, placed: Sequence[tuple[str, Entry]], view: View) -> list[Edit] | None:
    members: dict[str, JsonValue] = {}
    for path, entry in placed:
        written = site.text[entry.value[0] : entry.value[1]]
        value = yaml.safe_load(written) if written[:1] not in ("&", "*", "!") else None
        if not isinstance(value, bool | int | float | str):
            return None
        members[written_key(path, view)] = value
    if members.get("model") == _NGRAM:
        members["method"] = "ngram"
        del members["model"]
    lines = [_own_line(site, entry) for _, entry in placed]
    text = compact_json(sorted_keys(members))
    if any(line is None for line in lines) or "'" in text:
        return None
    first = placed[0][1]
    name = OBJECT if "_" in site.text[first.key[0] : first.key[1]] else OBJECT.replace("_", "-")
    edits = [site.edit(first.key[0], first.value[1], f"{name}: '{text}'")]
    return edits + [site.edit(*line, "") for line in lines[1:] if line is not None]


def _own_line(site: Site, entry: Entry) -> Range | None:
    """The line that an entry alone stands on."""
    line = site.text.rfind("\n", 0, entry.key[0]) + 1
    rest = _REST_OF_LINE.match(site.text, entry.value[1])
    alone = rest is not None and "," not in rest[0].partition("#")[0] and not site.text[line : entry.key[0]].strip()
    return (line, rest.end()) if alone and rest is not None else None
