"""Fixes of what a file's own quoting does to a launch: JSON that it breaks, variables it leaves as text, quotes it keeps, and
flags that a lost backslash or a comment cuts off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from specconf.findings import Finding, Severity
from specconf.lint.cutoff import Why
from specconf.lint.site import Change, Replace, Site
from specconf.lint.wording import for_cmd
from specconf.lint.writing import in_shell
from specconf.patterns import pattern
from specconf.rules.notjson import diagnose

_VARIABLE = pattern(r"\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*)")
_QUOTES = "'\""
_OF_CMD = (".bat", ".cmd")


def meant_json(site: Site, finding: Finding) -> Iterator[Change]:
    """A value that is no JSON, where the JSON that was meant is known."""
    flag = site.flag_of(finding)
    if flag is None or finding.severity is not Severity.ERROR:
        return
    if site.judged.read.in_script:
        yield from _unquoted_json(site, flag, '"', lambda text: in_shell(text, "'"))
    elif site.path.lower().endswith(_OF_CMD):
        yield from _unquoted_json(site, flag, "'", for_cmd)
    found = site.value_of(flag)
    if found is None:
        return
    word, before, text = found
    diagnosis = diagnose(text)
    if diagnosis is not None and diagnosis.meant:
        yield Change((Replace(word, before + diagnosis.meant),))


def _unquoted_json(site: Site, flag: int, quote: str, write: Callable[[str], str]) -> Iterator[Change]:
    """JSON that stands in the script as it should reach the engine, but bare or in quotes that do not keep its own."""
    place = site.bounds(site.argv[flag].span)
    if place is None:
        return
    inline = "=" in site.written(flag)
    start = site.text.index("=", place[0]) + 1 if inline else place[1]
    while site.text[start : start + 1] in (" ", "\t"):
        start += 1
    opening = site.text[start : start + 1]
    inside = start + (opening == quote)
    try:
        value, end = json.JSONDecoder().raw_decode(site.text, inside)
    except (ValueError, RecursionError):
        return
    text = site.text[inside:end]
    if not isinstance(value, dict) or re.search(r"[$`'\n]", text):
        return
    stop = end + (opening == quote)
    if (opening == quote and site.text[end:stop] != quote) or not re.match(r"\s|\Z|[;&|)]", site.text[stop : stop + 1]):
        return
    first = flag if inline else flag + 1
    last = _words_until(site, first, stop)
    if last is None:
        return
    name = f"{site.argv[flag].text.partition('=')[0]}=" if inline else ""
    after = (*site.values[:first], name + text, *site.values[last:])
    yield Change(edits=(site.edit(start, stop, write(text)),), argv=after)


def _words_until(site: Site, first: int, stop: int) -> int | None:
    """The index behind the words that stand before a place; None where one reaches over it."""
    at = first
    while at < len(site.argv):
        place = site.bounds(site.argv[at].span)
        if place is None or place[0] >= stop:
            break
        if place[1] > stop:
            return None
        at += 1
    return at if at > first else None


def literal_variables(site: Site, finding: Finding) -> Iterator[Change]:
    """`$NAME` in the single quotes around JSON: the quotes end before it and begin again behind it."""
    at = [i for i, word in enumerate(site.argv) if word.span == finding.where and word.raw.startswith("'")]
    place = site.bounds(finding.where)
    if len(at) != 1 or place is None:
        return
    raw = site.text[place[0] : place[1]]
    inside = raw[1:-1]
    names = {match[0].strip("${}") for match in _VARIABLE.finditer(inside)}
    if not re.match(r"'\s*[{\[]", raw) or not raw.endswith("'") or "'" in inside or not names:
        return
    if any(not re.search(rf"(?:^|[\s;&(]){name}=", site.text, re.MULTILINE) for name in names):
        return  # what nothing sets may be meant as text
    edits = [
        site.edit(place[0] + 1 + match.start(), place[0] + 1 + match.end(), f"'\"{match[0]}\"'")
        for match in _VARIABLE.finditer(inside)
    ]
    yield Change(edits=tuple(edits))


def kept_quotes(site: Site, finding: Finding) -> Iterator[Change]:
    """Quotes around a value where no shell takes them off."""
    for index, word in enumerate(site.argv):
        if word.span != finding.where or word.value is None:
            continue
        name, sign, given = word.value.partition("=")
        before, text = (f"{name}=", given) if sign and name.startswith("--") else ("", word.value)
        if len(text) > 1 and text[0] in _QUOTES and text[0] == text[-1]:
            yield Change((Replace(index, before + text[1:-1]),))
            diagnosis = diagnose(text)
            if diagnosis is not None and diagnosis.meant:
                yield Change((Replace(index, before + diagnosis.meant),))


def without_blanks(site: Site, finding: Finding) -> Iterator[Change]:
    """Flags behind a mark that blanks follow: without the blanks it continues the line, as it was written to do."""
    cut = site.judged.cut
    if cut is not None and cut.why is Why.BLANKS:
        yield from joined_again(site, finding)


def joined_again(site: Site, finding: Finding) -> Iterator[Change]:
    """Flags on the lines behind a launch: the line before gets its mark, blanks behind it go, a comment goes above."""
    cut = site.judged.cut
    if cut is None or cut.end < 0 or cut.where != finding.where or cut.why is Why.WINDOWS:
        return
    mark, comment = cut.language.mark, cut.language.comment
    own_end = cut.end + len(cut.own)
    line_end = "\r\n" if cut.own.endswith("\r\n") else "\n"
    said = re.search(rf"{comment}[^\r\n]*", cut.own)
    if said and cut.why is not Why.COMMENT:
        return  # a comment ends the line that lacks its mark
    between = site.text[own_end : cut.first]
    lines = [line.strip() for line in [said[0] if said else "", *between.splitlines()]]
    comments = [line for line in lines if line]
    indent = re.search(r"[ \t]*\Z", between)
    edits = [site.edit(cut.end, cut.first, f" {mark}{line_end}{indent[0] if indent else ''}")]
    if comments and not (cut.language.inside and not said):
        if (above := _launch_line(site, mark)) is None:
            return
        start = re.match(r"[ \t]*", site.text[above:])
        own = start[0] if start else ""
        edits.insert(0, site.edit(above, above, "".join(f"{own}{line}{line_end}" for line in comments)))
    elif comments:
        edits = [site.edit(cut.end, own_end, f" {mark}{line_end}")]
    yield Change(edits=tuple(edits), argv=(*site.values, *(word.value for word in cut.words)))


def _launch_line(site: Site, mark: str) -> int | None:
    """The beginning of the line on which the launch's command begins, as far as lines are continued before it."""
    span = site.judged.read.launch.span
    if span is None or span.path != site.path:
        return None
    start = site.source.at(span.line)
    while re.search(rf"{re.escape(mark)}\r?\n\Z", site.text[:start]):
        start = site.text.rfind("\n", 0, start - 1) + 1
    return start
