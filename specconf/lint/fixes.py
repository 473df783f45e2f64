"""What to write instead, for each kind of finding: one small function each, in one table by code.

A fixer looks at a launch and one of its findings and proposes changes, the best first, or none. It need not be sure that a
change comes out right: each is tried on the text and dropped where it does not. `safe`: the launch then does what it was
written to do; what changes that is left to whoever asks for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

from specconf.engines.near import near_names
from specconf.engines.options import as_text
from specconf.findings import Effect, Finding, Severity
from specconf.lint.handing import continued_lines, right_variable, split_words, without_backslash
from specconf.lint.joining import joined_flags
from specconf.lint.keyed import joined_keys, object_in_code, renamed_keyword
from specconf.lint.quoting import joined_again, kept_quotes, literal_variables, meant_json, without_blanks
from specconf.lint.site import Change, Remove, Rename, Replace, Site
from specconf.lint.tags import bare_tag
from specconf.rules.othernames import successor
from specconf.rules.spelling import in_one_word
from specconf.settings import ProblemKind
from specconf.words import JsonValue

Fixer: TypeAlias = "Callable[[Site, Finding], Iterator[Change]]"


class Row(Struct, frozen=True):
    """One kind of fix: the codes that it is for, prefixes allowed, and whether it is safe."""

    codes: tuple[str, ...]
    fixer: Fixer
    safe: bool = True


def changes_for(site: Site, finding: Finding, *, unsafe: bool) -> Iterator[Change]:
    """The changes to try for a finding, safe ones first. Of a build of somebody's own, only the file's shape is known."""
    if site.judged.chosen.fork and not finding.code.startswith("SC7"):
        return
    for row in sorted(FIXERS, key=lambda row: not row.safe):
        if (row.safe or unsafe) and finding.code.startswith(row.codes):
            yield from row.fixer(site, finding)


def renamed_flag(site: Site, finding: Finding) -> Iterator[Change]:
    """A flag that the release has under another name, with a value of the same form."""
    if (later := _later_name(site, finding)) is None or (flag := site.flag_of(finding)) is None:
        return
    spelling, new = later
    yield Change((Rename(flag, spelling, new),))


def renamed_key(site: Site, finding: Finding) -> Iterator[Change]:
    """A key of an option file that the release has under another name."""
    if (later := _later_name(site, finding)) is None or finding.where is None or finding.where.path != site.path:
        return
    yield from renamed_keyword(site, finding, *later)
    old, new = (name.removeprefix("--") for name in later)
    place = site.bounds(finding.where)
    if place is not None and re.match(rf"['\"]?{re.escape(old)}['\"]?[ \t]*:\s", site.text[place[0] :]):
        start = place[0] + (site.text[place[0]] in "'\"")
        yield Change(edits=(site.edit(start, start + len(old), new),))
        return
    for name in dict.fromkeys((old, old.replace("-", "_"), old.replace("_", "-"))):
        found = list(
            re.finditer(rf"^(?P<quote>['\"]?){re.escape(name)}(?P=quote)(?=[ \t]*:\s)", site.text, re.MULTILINE)
        )
        if len(found) == 1 and site.judged.read.launch.files:
            start = found[0].start() + len(found[0]["quote"])
            written = new.replace("-", "_") if "_" in name else new
            yield Change(edits=(site.edit(start, start + len(name), written),))


def _later_name(site: Site, finding: Finding) -> tuple[str, str] | None:
    """How the option of a finding is written, and how this release writes it."""
    view, settings = site.view, site.judged.settings
    if view is None or settings is None:
        return None
    for problem in settings.problems:
        if problem.where == finding.where and problem.spelling == finding.option:
            new = successor(problem.spelling, problem.scope, view)
            return (problem.spelling, new) if new else None
    setting = settings.setting(finding.option)
    if setting is None or finding.code not in ("SC101", "SC102", "SC105", "SC106"):
        return None
    spelling = setting.final.spelling
    rows = view.by_path.get(setting.path, ())
    scopes = {row.scope for row in rows}
    names = {successor(spelling, scope, view) for scope in scopes} - {"", spelling}
    return (spelling, names.pop()) if len(names) == 1 and "." not in spelling else None


def engines_value(site: Site, finding: Finding) -> Iterator[Change]:
    """A written value in whose place the engine puts another one, which the rule knows: that one is written."""
    settings, view = site.judged.settings, site.view
    if finding.effect is not Effect.OVERRIDES or settings is None or view is None:
        return
    constraint = view.db.constraint(finding.constraint)
    setting = settings.setting(finding.option)
    if constraint is None or setting is None or list(constraint.sets) != [finding.option]:
        return
    value = _evaluated(constraint.sets[finding.option], site)
    if value is not None and not isinstance(value, bool | list | dict):
        yield from _with_value(site, finding, as_text(value))


def _evaluated(expression: object, site: Site) -> JsonValue:
    """A value, an option's value, or a sum of those; None where that is not known or something else is asked."""
    settings = site.judged.settings
    if isinstance(expression, bool | int | float | str):
        return expression
    if not isinstance(expression, dict) or settings is None or len(expression) != 1:
        return None
    [(kind, inside)] = expression.items()
    if kind == "fact" and isinstance(inside, str) and inside.startswith("option."):
        value = settings.get(inside.removeprefix("option."))
        return value if isinstance(value, bool | int | float | str) else None
    if kind == "add" and isinstance(inside, list):
        numbers = [_evaluated(part, site) for part in inside]
        whole = [number for number in numbers if isinstance(number, int) and not isinstance(number, bool)]
        return sum(whole) if len(whole) == len(numbers) else None
    return None


def _with_value(site: Site, finding: Finding, value: str) -> Iterator[Change]:
    flag = site.flag_of(finding)
    found = site.value_of(flag) if flag is not None else None
    if found is not None:
        word, before, _ = found
        yield Change((Replace(word, before + value),))


def published_tag(site: Site, finding: Finding) -> Iterator[Change]:
    """The tag of an image as it is published."""
    found = bare_tag(finding.where, site.source)
    if found is not None and found.tag == finding.option:
        yield Change(edits=(site.edit(found.at, found.at, found.image.tag_prefix),), argv=site.values)


# -- what changes what the launch does


def in_two(site: Site, finding: Finding) -> Iterator[Change]:
    """A word that holds a flag and its value, as one that the parser takes: where the flag is one and takes a value."""
    two, view = in_one_word(finding.option), site.view
    if two is None or view is None or (flag := site.flag_of(finding)) is None or "=" in site.argv[flag].text:
        return
    options = [names[two[0]] for scope, names in view.names.items() if scope.endswith("cli") and two[0] in names]
    if any(option.kind in {"value", "optional", "object", "append"} for option in options):
        yield Change((Replace(flag, f"{two[0]}={two[1]}"),))


def near_choice(site: Site, finding: Finding) -> Iterator[Change]:
    """A value that is none of the choices, where one choice alone comes close to it."""
    setting, view = site.setting_of(finding), site.view
    if setting is None or view is None:
        return
    choices = [c for row in view.by_path.get(setting.path, ()) for c in row.choices or () if isinstance(c, str)]
    if isinstance(setting.value, str) and len(near := near_names(setting.value.strip("'\""), choices)) == 1:
        yield from _with_value(site, finding, near[0])


def near_flag(site: Site, finding: Finding) -> Iterator[Change]:
    """A flag that no release has, where one flag of this release alone comes close to it."""
    settings = site.judged.settings
    if settings is None or (flag := site.flag_of(finding)) is None or in_one_word(finding.option) is not None:
        return
    near = [p.near for p in settings.problems if p.kind is ProblemKind.UNKNOWN and p.where == finding.where]
    if len(near) == 1 and len(near[0]) == 1:
        yield Change((Rename(flag, finding.option, near[0][0]),))


def without_option(site: Site, finding: Finding) -> Iterator[Change]:
    """An option that the release refuses or does nothing with goes, with its value."""
    if finding.severity is Severity.INFO or finding.effect not in (Effect.REJECTS, Effect.IGNORES):
        return
    if in_one_word(finding.option) is not None:
        return  # it holds a value, which somebody meant
    if (flag := site.flag_of(finding)) is None:
        return
    setting = site.setting_of(finding)
    if setting is not None and not setting.final.spelling.startswith("-"):
        yield from _without_key(site, setting.final.spelling, flag)
        return
    end = _end_of_values(site, finding, flag)
    if not any(word.may_be_many for word in site.argv[flag:end]):  # which may be more than a value
        yield Change((Remove(flag, end),))


def _end_of_values(site: Site, finding: Finding, flag: int) -> int:
    """The index behind a flag's values: none of a switch's, all of a list's."""
    settings, view = site.judged.settings, site.view
    rows = view.by_path.get(finding.option, ()) if view is not None and settings is not None else ()
    kind = rows[0].kind if rows else "value"
    end = flag + 1
    if "=" in site.argv[flag].text or kind == "switch":
        return end
    while end < len(site.argv) and not re.match(r"--?[A-Za-z]", site.argv[end].text):
        end += 1
        if kind != "list":
            break
    return end


def _without_key(site: Site, key: str, flag: int) -> Iterator[Change]:
    found = site.value_of(flag)
    if found is None:
        return
    word, before, text = found
    try:
        value = json.loads(text)
    except ValueError:
        return
    if isinstance(value, dict) and key in value and len(value) > 1:
        del value[key]
        spaced = re.search(r'"\s*:\s', text) is not None
        separators = (", ", ": ") if spaced else (",", ":")
        yield Change((Replace(word, before + json.dumps(value, ensure_ascii=False, separators=separators)),))


# In the order in which they are tried for a finding: safe ones first, and among those the first that comes out right.
FIXERS: tuple[Row, ...] = (
    Row(("SC101",), in_two),
    Row(("SC101",), joined_flags),
    Row(("SC101",), joined_keys),
    Row(("SC101", "SC102", "SC105", "SC106"), renamed_flag),
    Row(("SC101", "SC102", "SC105", "SC106"), renamed_key),
    Row(("SC2",), engines_value),
    Row(("SC702",), published_tag),
    Row(("SC103",), object_in_code),
    Row(("SC703", "SC103"), meant_json),
    Row(("SC705",), literal_variables),
    Row(("SC706",), kept_quotes),
    Row(("SC706",), without_backslash),
    Row(("SC705",), right_variable),
    Row(("SC704",), continued_lines),
    Row(("SC704",), without_blanks),
    Row(("SC709",), split_words),
    Row(("SC704",), joined_again, safe=False),
    Row(("SC103",), near_choice, safe=False),
    Row(("SC101",), near_flag, safe=False),
    Row(("SC101", "SC106"), without_option, safe=False),
)
