"""Whether something else than the launches of a fix reads what the fix changes: a variable that another program is given, an
anchor of YAML, a file or ConfigMap of several workloads.

What the text defines around an edit has a name. Every other place that names it is put out of use in turn: where no launch
changes by that, something else reads it there. Names that are handed on are followed.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from msgspec import Struct

from specconf.errors import InputError
from specconf.lint.edits import Edit
from specconf.lint.results import FileResult
from specconf.patterns import pattern
from specconf.readers.found import ReadLaunch
from specconf.readers.fragments import Around
from specconf.readers.pytext import range_of
from specconf.readers.registry import read_launches
from specconf.readers.source import Placed, SourceText
from specconf.readers.splitting import closing_position, word_end
from specconf.words import Span

_MOST_MENTIONS = 40
# Formats in which a value reaches to the end of its line, and words that are settings there rather than variables.
_BY_LINE = frozenset({"batch", "makefile", "powershell", "systemd"})
_SCRIPTS = frozenset({"shell", "dockerfile", "markdown", *_BY_LINE})
_SETTINGS = frozenset({"Environment", "ExecStart", "ExecStartPre", "ExecStartPost", "ExecReload", "Exec", "Image"})
_ASSIGNED = pattern(
    r"(?<![\w$.-])(?:\$(?:\w+:)?)?(?P<name>[A-Za-z_]\w*)(?P<blank>[ \t]*)(?:::?:?|[+?])?=(?!=)(?P<behind>[ \t]*)"
    r"|^[ \t]*(?:ENV|ARG)[ \t]+(?P<env>[A-Za-z_]\w*)[ \t]+(?![=\s])",
    re.MULTILINE,
)
_EXPORTED = pattern(r"\b(?:export|(?:declare|typeset)\s+-\w*x\w*)\s+(?:\w+=\S*\s+)*\Z")
_KEY = pattern(r"^(?P<indent>[ ]*(?:-[ ]+)*)(?P<quote>['\"]?)(?P<name>[A-Za-z_]\w*)(?P=quote)[ \t]*[:=]")
_ITEM_NAME = pattern(r"^[ ]*(?:-[ ]+)?name:[ \t]*['\"]?(?P<name>[A-Za-z_]\w*)")
_FUNCTION_CALL = pattern(r"[ \t]*(?P<name>[A-Za-z_][\w-]*)(?=\s|\Z)")
_PARAMETER = pattern(r"\$\{[@*1-9][^}\n]*\}|\$[@*1-9]")
_ROOT_KEY = pattern(r"^(?P<name>[A-Za-z._][\w.-]*)\s*:", re.MULTILINE)
_ONLY_SHARED = ("x-", ".", "anchors", "definitions", "templates")
_CHANGERS = frozenset({"append", "extend", "insert", "update", "setdefault"})


class _Named(Struct, frozen=True):
    """What is defined: how it is found elsewhere, what a mention becomes when it is put out of use, and in which part."""

    pattern: re.Pattern[str]
    gone: str = r"\g<0>_"
    part: tuple[int, int] | None = None


Shown = tuple[object, ...]


def is_shared(result: FileResult, edits: Sequence[Edit], launch: int, around: Around) -> bool:
    """Whether what the edits of a launch change is read by something that is no launch."""
    return _Text(result, around).shares(edits, result.launches[launch].read)


class _Text:
    """One judged text, read anew with parts of it out of use."""

    def __init__(self, result: FileResult, around: Around) -> None:
        self.path, self.text, self.format, self.around = result.path, result.text, result.format, around
        self.source = SourceText(self.text, self.path)
        self.launches = _shown([launch.read for launch in result.launches])
        self.waiting: list[_Named] = []
        self.seen: set[_Named] = set()

    def shares(self, edits: Sequence[Edit], launch: ReadLaunch) -> bool:
        if self._anchored_elsewhere(edits):
            return True
        for edit in edits:
            if not self._within(edit.start, launch.launch.span) and self._is_exported(edit.start):
                return True
            self._names_at(edit.start, launch)
        while self.waiting:
            if self._is_read_elsewhere(self.waiting.pop(), launch):
                return True
        return False

    def _is_read_elsewhere(self, named: _Named, launch: ReadLaunch) -> bool:
        part = named.part or (0, len(self.text))
        found = [match for match in named.pattern.finditer(self.text, *part) if not self._in_comment(match.start())]
        if len(found) > _MOST_MENTIONS:
            return True
        for match in found:
            text = self.text[: match.start()] + match.expand(named.gone) + self.text[match.end() :]
            if self._read(text) == self.launches:
                return True
            self._names_at(match.start(), launch)
        return False

    def _read(self, text: str) -> list[Shown] | None:
        try:
            return _shown(read_launches(self.path, text, around=self.around))
        except InputError:
            return None

    def _within(self, index: int, span: Span | None) -> bool:
        if span is None or span.path != self.path or not span.end_line:
            return False
        return self.source.at(span.line, span.column) <= index < self.source.at(span.end_line, span.end_column)

    def _in_comment(self, index: int) -> bool:
        line = self.text[self.text.rfind("\n", 0, index) + 1 : index]
        if re.match(r"\s*(?:#|//|::|@?rem\s)", line, re.IGNORECASE):
            return True
        sign = re.search(r"\s#\s", line)
        return sign is not None and all(line.count(quote, 0, sign.start()) % 2 == 0 for quote in "'\"")

    # -- names

    def _wait(self, named: _Named) -> None:
        if named not in self.seen:
            self.seen.add(named)
            self.waiting.append(named)

    def _names_at(self, index: int, launch: ReadLaunch) -> None:
        """What is defined around a place, beside the launch itself."""
        if self._within(index, launch.launch.span):
            return
        for name in self._variables_at(index):
            flags = re.IGNORECASE if self.format in {"batch", "powershell"} else 0
            self._wait(_Named(re.compile(rf"(?<![\w-]){re.escape(name)}(?!\w)", flags)))
        if self.format not in _SCRIPTS and self.format != "python":
            for name in self._keys_at(index):
                self._wait(_Named(re.compile(rf"(?:\$\{{?|\$\(|\benv\.|%){re.escape(name)}(?!\w)")))
            if (mounted := self._config_map_at(index)) is not None:
                self._wait(_Named(re.compile(rf"(?<![\w./-]){re.escape(mounted)}(?![\w./-])")))
        for file, placed in launch.launch.places.items():
            if isinstance(placed, Placed) and self._within(index, placed.span):
                last = file.rpartition("/")[2]
                self._wait(_Named(re.compile(rf"(?<![\w.-]){re.escape(last)}(?![\w.-])")))
        if self.format != "python":
            self._parameters_at(index)

    def _variables_at(self, index: int) -> Iterator[str]:
        if self.format == "python":
            yield from _python_names(self.source, index)
            return
        for match in _ASSIGNED.finditer(self.text, 0, index + 1):
            name = match["name"] or match["env"]
            if name not in _SETTINGS and match.end() <= index < self._value_end(match):
                yield name

    def _value_end(self, match: re.Match[str]) -> int:
        text, start = self.text, match.end()
        opening = re.compile(r"@?\(").match(text, start)
        if opening:
            return closing_position(text, opening.end() - 1) + 1
        by_line = self.format in _BY_LINE or match["env"]
        if not by_line and (match["blank"] or match["behind"]):
            return start  # no shell takes it for an assignment
        if not by_line:
            return word_end(text, start)
        end = re.compile(r"[^\n]*?(?:(?<![\\`^])\r?\n|\Z)|(?:[^\n]*[\\`^]\r?\n)+[^\n]*").match(text, start)
        return end.end() if end else start

    def _is_exported(self, index: int) -> bool:
        """Whether a place belongs to a variable that every program gets which is started from here."""
        return any(
            match.end() <= index < self._value_end(match)
            and _EXPORTED.search(self.text, self.text.rfind("\n", 0, match.start()) + 1, match.start())
            for match in _ASSIGNED.finditer(self.text, 0, index + 1)
            if self.format != "python"
        )

    def _keys_at(self, index: int) -> Iterator[str]:
        """The keys around a place of YAML that are variables: their own names, or the name beside a value."""
        lines = self.text[: self.text.find("\n", index) if "\n" in self.text[index:] else len(self.text)].split("\n")
        indent = len(lines[-1]) + 1
        for at in range(len(lines) - 1, -1, -1):
            line = lines[at]
            own = len(line) - len(line.lstrip(" "))
            if not line.strip() or own >= indent:
                continue
            if (key := _KEY.match(line)) is not None:
                indent = len(key["indent"])
                yield key["name"]
                if key["name"] == "value":
                    beside = (_ITEM_NAME.match(other) for other in lines[max(0, at - 2) : at])
                    yield from (found["name"] for found in beside if found)

    def _config_map_at(self, index: int) -> str | None:
        start = max((m.end() for m in re.finditer(r"^---.*$", self.text, re.MULTILINE) if m.end() <= index), default=0)
        end = self.text.find("\n---", index)
        document = self.text[start : end if end >= 0 else len(self.text)]
        if not re.search(r"^kind:\s*['\"]?ConfigMap\b", document, re.MULTILINE):
            return None
        found = re.search(
            r"^metadata:[^\n]*\n(?:[ ]+[^\n]*\n)*?[ ]+name:\s*['\"]?(?P<name>[\w.-]+)", document, re.MULTILINE
        )
        return found["name"] if found else None

    def _parameters_at(self, index: int) -> None:
        """The words of a call of the file's own function, or of `set`, are its parameters."""
        start = self.text.rfind("\n", 0, index) + 1
        while re.search(r"\\\r?\n\Z", self.text[max(0, start - 3) : start]):
            start = self.text.rfind("\n", 0, start - 1) + 1
        call = _FUNCTION_CALL.match(self.text, start)
        if call is None or _PARAMETER.search(self.text) is None:
            return
        function = re.search(rf"\b(?:function\s+)?{re.escape(call['name'])}\s*\(\s*\)\s*\{{", self.text)
        if function is None and call["name"] != "set":
            return
        begin = function.end() - 1 if function else 0
        end = closing_position(self.text, begin) if function else len(self.text)
        self._wait(_Named(_PARAMETER, "$unset_", (begin, end)))

    # -- anchors of YAML

    def _anchored_elsewhere(self, edits: Sequence[Edit]) -> bool:
        if self.format in _SCRIPTS or self.format == "python" or not re.search(r"(?<![\w*])\*\w", self.text):
            return False
        try:
            anchors = list(_anchors(self.text))
        except yaml.YAMLError:
            return True  # which of its parts are used twice is not known
        around = [a for a in anchors if any(a.start <= edit.start < a.end for edit in edits)]
        places = [place for anchor in around for place in anchor.aliases]
        if any(self._read(_without(self.text, [place])) == self.launches for place in places):
            return True
        if not places or self._in_shared_part(min(anchor.start for anchor in around)):
            return False
        alone = _without(self.text, places)
        parts, at = [], 0
        for edit in sorted(edits):
            parts += [alone[at : edit.start], edit.text]
            at = edit.end
        return self._read(alone) == self._read("".join([*parts, alone[at:]]))  # no launch stands at the anchor itself

    def _in_shared_part(self, index: int) -> bool:
        found = list(_ROOT_KEY.finditer(self.text, 0, index))
        return bool(found) and found[-1]["name"].startswith(_ONLY_SHARED)


class _Anchor(Struct):
    start: int
    end: int
    aliases: list[tuple[int, int]]


def _anchors(text: str) -> Iterator[_Anchor]:
    """The anchored nodes of a YAML text, each with the places of its aliases. YAMLError for a text that is none."""
    named: dict[str, _Anchor] = {}
    found: list[_Anchor] = []
    opened: list[_Anchor | None] = []
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if event.start_mark is None or event.end_mark is None:
            continue
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in named:
                named[event.anchor].aliases.append((start, end))
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = opened.pop()
            if closed is not None:
                closed.end = end
        elif isinstance(event, yaml.NodeEvent):
            anchor = None
            if event.anchor is not None:
                anchor = named[event.anchor] = _Anchor(start, end, [])
                found.append(anchor)
            if isinstance(event, yaml.CollectionStartEvent):
                opened.append(anchor)
    yield from found


def _without(text: str, aliases: Sequence[tuple[int, int]]) -> str:
    """A text with empty values in the place of aliases; nothing else moves."""
    for start, end in aliases:
        merged = re.search(r"<<\s*:\s*(?:\[[^\]]*)?\Z", text[max(0, start - 80) : start]) is not None
        text = text[:start] + ("{}" if merged else "''").ljust(end - start)[: end - start] + text[end:]
    return text


def _shown(launches: Sequence[ReadLaunch]) -> list[Shown]:
    """What launches say, wherever they stand."""
    return [
        (
            one.launch.engine,
            tuple(word.text for word in one.launch.argv),
            tuple((name, word.text) for name, word in one.launch.env),
            one.launch.files,
        )
        for one in launches
    ]


def _python_names(source: SourceText, index: int) -> Iterator[str]:
    """The names that the statement at a place of a program gives its value to."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file's own escapes
            tree = ast.parse(source.text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not _covers(source, node, index):
            continue
        if isinstance(node, ast.Assign):
            yield from (name for target in node.targets for name in _targets(target))
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            yield from _targets(node.target)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            func: Any = node.value.func
            if isinstance(func, ast.Attribute) and func.attr in _CHANGERS:
                yield from _targets(func.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [*node.args.posonlyargs, *node.args.args][::-1]
            pairs = [
                *zip(given, node.args.defaults[::-1], strict=False),
                *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
            ]
            yield from (name.arg for name, default in pairs if default is not None and _covers(source, default, index))
            if any(isinstance(inner, ast.Return) and _covers(source, inner, index) for inner in ast.walk(node)):
                yield node.name


def _covers(source: SourceText, node: ast.expr | ast.stmt, index: int) -> bool:
    start, end = range_of(source, node)
    return start <= index < end


def _targets(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Subscript | ast.Starred):
        yield from _targets(node.value)
    elif isinstance(node, ast.Tuple | ast.List):
        for inner in node.elts:
            yield from _targets(inner)
