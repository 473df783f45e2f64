"""One launch at its place in a file: which words stand where exactly, and the edits that rename, replace or remove them.

Words that come from a variable, from parts, or from another file have no exact place: there is no edit for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from specconf.findings import Finding
from specconf.lint.edits import Edit
from specconf.lint.writing import Style, styles
from specconf.patterns import pattern
from specconf.readers.source import SourceText
from specconf.words import Span, Word

if TYPE_CHECKING:
    from specconf.compat.view import View
    from specconf.lint.run import Judged
    from specconf.settings import Setting

Argv: TypeAlias = "tuple[str | None, ...]"

_BEFORE = pattern(r"(?:[ \t]|\\\r?\n)+\Z")
_AFTER = pattern(r"(?:[ \t]|\\\r?\n)+")
_BETWEEN = pattern(r"(?:[ \t]|\\\r?\n|\r?\n)*\Z")
_ITEM_BEFORE = pattern(r"[ \t]*-[ \t]+\Z")
_LINE_REST = pattern(r"[ \t]*,?[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_COMMA = pattern(r"\s*,[ \t]*")
_COMMA_BEFORE = pattern(r",\s*\Z")
_COMMA_BETWEEN = pattern(r"\s*,\s*\Z")


class Rename(Struct, frozen=True):
    """A flag's name at the beginning of a word becomes another one."""

    word: int
    old: str
    new: str


class Replace(Struct, frozen=True):
    """A word gets another value."""

    word: int
    value: str


class Write(Struct, frozen=True):
    """A word of a script is written anew as shell text; `value`: what it is then, None where that is not known."""

    word: int
    text: str
    value: str | None


class Remove(Struct, frozen=True):
    """Words of a launch go away."""

    first: int
    end: int


Op: TypeAlias = "Rename | Replace | Write | Remove"


class Change(Struct, frozen=True):
    """What a fix does to a launch: operations on its words, or edits of its file with the words that there are afterwards."""

    ops: tuple[Op, ...] = ()
    edits: tuple[Edit, ...] = ()
    argv: Argv | None = None


class Site(Struct, frozen=True, dict=True):
    """A judged launch in the text of its file."""

    judged: Judged
    path: str
    text: str

    @cached_property
    def source(self) -> SourceText:
        """The file's text with its lines."""
        return SourceText(self.text, self.path)

    @property
    def view(self) -> View | None:
        """The one release that it is judged at; None where it may be one of several."""
        views = self.judged.chosen.views
        return views[0] if len(views) == 1 else None

    @property
    def argv(self) -> tuple[Word, ...]:
        """Its words."""
        return self.judged.read.launch.argv

    @cached_property
    def values(self) -> Argv:
        """Its words' values, None where one is not known."""
        return tuple(word.value for word in self.argv)

    def bounds(self, span: Span | None) -> tuple[int, int] | None:
        """The indices of a place in this file; None where it is no exact one."""
        if span is None or span.path != self.path or not (span.line and span.column and span.end_line):
            return None
        start, end = self.source.at(span.line, span.column), self.source.at(span.end_line, span.end_column)
        if self.text.startswith("\r\n", end - 1):  # a shell takes it for a part of the word; it is the line's end
            end -= 1
        return (start, end) if start < end else None

    def edit(self, start: int, end: int, text: str) -> Edit:
        """An edit of this file."""
        return Edit(self.path, start, end, self.source.span_of(start, end), text)

    def written(self, index: int) -> str:
        """A word as it stands in the file; empty where it has no place in it."""
        found = self.bounds(self.argv[index].span)
        return self.text[found[0] : found[1]] if found else ""

    def setting_of(self, finding: Finding) -> Setting | None:
        """The setting that a finding is about: its path, or what is written at its place under the name it gives."""
        settings = self.judged.settings
        if settings is None:
            return None
        if (found := settings.setting(finding.option)) is not None:
            return found
        return next(
            (
                one
                for one in settings.items_by_path.values()
                if finding.where and one.final.where == finding.where and one.final.spelling == finding.option
            ),
            None,
        )

    def flag_of(self, finding: Finding) -> int | None:
        """The index of the flag that a finding is about, or about a key of whose value it is."""
        setting = self.setting_of(finding)
        names = {finding.option, setting.final.spelling if setting is not None else ""}
        in_object = setting is not None and not setting.final.spelling.startswith("-")
        at = [
            index
            for index, word in enumerate(self.argv)
            if word.span == finding.where and (in_object or word.text.partition("=")[0] in names)
        ]
        return at[0] if len(at) == 1 and self.argv[at[0]].text.startswith("-") else None

    def value_of(self, flag: int) -> tuple[int, str, str] | None:
        """Where a flag's value stands: the word's index, what stands before it in that word, and the value."""
        text = self.values[flag]
        if text is None:
            return None
        name, sign, value = text.partition("=")
        if sign:
            return flag, f"{name}=", value
        following = self.values[flag + 1] if flag + 1 < len(self.values) else None
        if following is None or re.match(r"--?[A-Za-z]", following):
            return None
        return flag + 1, "", following

    # -- operations as edits

    def written_changes(self, change: Change) -> Iterator[tuple[tuple[Edit, ...], Argv | None]]:
        """The edits of a change, in each manner in which they may be written, with the words that should come of them."""
        if change.edits:
            yield change.edits, change.argv
            return
        after = self._after(change.ops)
        seen: set[tuple[Edit, ...]] = set()
        for style in styles(in_script=self.judged.read.in_script):
            edits = self._edits(change.ops, style)
            if edits is not None and edits not in seen:
                seen.add(edits)
                yield edits, after

    def _after(self, ops: Sequence[Op]) -> Argv:
        values = list(self.values)
        gone: set[int] = set()
        for op in ops:
            if isinstance(op, Remove):
                gone |= set(range(op.first, op.end))
            elif isinstance(op, Replace | Write):
                values[op.word] = op.value
            else:
                text = values[op.word]
                values[op.word] = None if text is None else op.new + text[len(op.old) :]
        return tuple(value for index, value in enumerate(values) if index not in gone)

    def _edits(self, ops: Sequence[Op], style: Style) -> tuple[Edit, ...] | None:
        found: list[Edit] = []
        for op in ops:
            if isinstance(op, Rename):
                edits = self._renamed(op)
            elif isinstance(op, Replace):
                edits = self._replaced(op, style)
            elif isinstance(op, Write):
                edits = self._rewritten(op, style)
            else:
                edits = self._removed(op, style)
            if edits is None:
                return None
            found += edits
        found.sort()
        return tuple(found) if all(a.end <= b.start for a, b in pairwise(found)) else None

    def _renamed(self, op: Rename) -> list[Edit] | None:
        found = self.bounds(self.argv[op.word].span)
        if found is None:
            return None
        start = found[0] + (self.text[found[0]] in "'\"")
        if not self.text.startswith(op.old, start) or re.match(r"[\w.-]", self.text[start + len(op.old) :][:1]):
            return None
        return [self.edit(start, start + len(op.old), op.new)]

    def _exact(self, index: int, style: Style) -> tuple[int, int] | None:
        """The place of a word that stands there in this style."""
        found = self.bounds(self.argv[index].span)
        value = self.values[index]
        if found is None or value is None or style.read(self.text[found[0] : found[1]]) != value.rstrip("\r"):
            return None
        return found

    def _as_raw(self, index: int, style: Style) -> tuple[int, int] | None:
        """The place of a script's word that stands there as it was read, whatever a variable in it makes of it."""
        word = self.argv[index]
        found = self.bounds(word.span)
        if found is None or style.name != "shell":
            return None
        return found if self.text[found[0] : found[1]] == word.raw and not _spliced(self.argv, index) else None

    def _replaced(self, op: Replace, style: Style) -> list[Edit] | None:
        found = self._exact(op.word, style)
        if found is None:
            return None
        written = self.text[found[0] : found[1]]
        return [self.edit(*found, style.write(op.value, written))]

    def _rewritten(self, op: Write, style: Style) -> list[Edit] | None:
        found = self.bounds(self.argv[op.word].span)
        if found is None or style.name != "shell" or self.text[found[0] : found[1]] != self.argv[op.word].raw:
            return None
        return [self.edit(*found, op.text)]

    def _removed(self, op: Remove, style: Style) -> list[Edit] | None:
        places = [self._exact(index, style) or self._as_raw(index, style) for index in range(op.first, op.end)]
        if any(place is None for place in places):
            return None
        known = [place for place in places if place is not None]
        between = _COMMA_BETWEEN if style.name == "item" else _BETWEEN
        joined: list[tuple[int, int]] = []
        for start, end in known:
            if joined and between.match(self.text[joined[-1][1] : start]):
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((start, end))
        if style.name != "item":
            return [self._without_words(*place) for place in joined]
        edits = [self._without_items(*place) for place in joined]
        return None if None in edits else [edit for edit in edits if edit is not None]

    def _without_words(self, start: int, end: int) -> Edit:
        """Words of a command line with the blanks and the continuation before them, or the line that is all theirs."""
        line = self.text.rfind("\n", 0, start) + 1
        before = _BEFORE.search(self.text, max(0, start - 400), start)
        first = before.start() if before else start
        if first > line or self._continued(line):
            return self.edit(first, end, "")
        rest = _LINE_REST.match(self.text, end)
        if rest and not re.search(r"[#,]", rest[0]):
            return self.edit(line, rest.end(), "")
        after = _AFTER.match(self.text, end)
        return self.edit(start, after.end() if after else end, "")

    def _continued(self, line: int) -> bool:
        return re.search(r"\\\r?\n\Z", self.text[max(0, line - 3) : line]) is not None

    def _without_items(self, start: int, end: int) -> Edit | None:
        """Items of a list: their lines where they stand alone on them, else with a comma. None where it is no list."""
        line = self.text.rfind("\n", 0, start) + 1
        rest = _LINE_REST.match(self.text, end)
        before = self.text[line:start]
        if rest and (_ITEM_BEFORE.match(before) or (not before.strip() and "," in rest[0].partition("#")[0])):
            return self.edit(line, rest.end(), "")
        after = _COMMA.match(self.text, end)
        if after:
            return self.edit(start, after.end(), "")
        comma = _COMMA_BEFORE.search(self.text, max(0, start - 400), start)
        return self.edit(comma.start(), end, "") if comma else None


def _spliced(argv: Sequence[Word], index: int) -> bool:
    """Whether several words stand at the place of one, as where a variable or braces make many of it."""
    return sum(word.span == argv[index].span for word in argv) > 1
