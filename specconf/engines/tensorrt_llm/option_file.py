"""The YAML file of a launch as settings, by the engine's own rules: PyYAML's safe loader, which is YAML 1.1.

A key written twice counts once, the last time; keys merged in (`<<`) give way to written ones. Nested objects become their
members' paths; values are converted as the engine's models convert them.
"""

from __future__ import annotations

from typing import Any

import yaml

from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.engines import options as values
from specconf.engines.filekeys import PlaceOf
from specconf.engines.near import near_names
from specconf.settings import Origin, Problem, ProblemKind, SettingsBuilder, Written
from specconf.words import JsonValue, Span

SCOPE = "trtllm.yaml"
_DEEPEST = 50
_MOST_NODES = 50_000


class FileError(Exception):
    """A file that the engine could not take; `expected` says what it takes instead."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


class OptionFile:
    """One pass over one file into a builder."""

    def __init__(self, text: str, place: PlaceOf, view: View, builder: SettingsBuilder) -> None:
        self._place = place
        self.view = view
        self.builder = builder
        self._loader: Any = yaml.SafeLoader(text)
        self._nodes = 0

    def read(self) -> None:
        """Raises FileError for a file that is no mapping or no YAML."""
        try:
            node = self._loader.get_single_node()
            if node is None or node.tag == "tag:yaml.org,2002:null":
                return
            if not isinstance(node, yaml.MappingNode):
                raise FileError("a file with one mapping of options")
            self._members(node, SCOPE, "", 0)
        except yaml.MarkedYAMLError as error:
            line = f" (line {error.problem_mark.line + 1})" if error.problem_mark is not None else ""
            raise FileError(f"a file of valid YAML{line}") from None
        except (yaml.YAMLError, ValueError):
            raise FileError("a file of valid YAML") from None
        except RecursionError:
            raise FileError("a file that is less deeply nested") from None
        finally:
            self._loader.dispose()

    def _members(self, node: Any, scope: str, parent: str, depth: int) -> None:
        known = self.view.names.get(scope, {})
        for key, value, at in self._entries(node, scope, parent):
            option = known.get(key)
            path = option.path if option is not None else f"{parent}.{key}" if parent else key
            if option is not None and self._is_object(option) and isinstance(value, yaml.MappingNode):
                self._visit(depth)
                self._members(value, option.members, option.path, depth + 1)
                continue
            if option is None and path not in self.view.db.scopes_by_path and not parent:
                self._problem(ProblemKind.UNKNOWN, scope, key, at, near=near_names(key, known))
            if option is None and parent and path in self.view.by_path:  # this release writes it by another key
                self._problem(ProblemKind.UNKNOWN, scope, key, at, near=near_names(key, known))
                continue
            plain = self._plain(value, depth, scope, key)
            # Of a key that this release does not have, the key is what is wrong.
            where = self._span(at) if option is None else self._value_span(at, value)
            written = Written(_converted(option, plain), Origin.FILE, key, where=where)
            self.builder.write(path, written)

    def _is_object(self, option: Option) -> bool:
        return option.kind == "object" and bool(self.view.names.get(option.members))

    def _entries(self, node: Any, scope: str, parent: str) -> list[tuple[str, Any, Any]]:
        """Keys and values as they count, in the order of the file, each with the node of its key."""
        own = {id(value) for key, value in node.value if key.tag != "tag:yaml.org,2002:merge"}
        self._loader.flatten_mapping(node)
        last: dict[str, tuple[Any, Any]] = {}
        for key, value in node.value:
            name = self._key(key)
            earlier = last.pop(name, None)
            if earlier is not None and id(earlier[0]) in own:
                path = f"{parent}.{name}" if parent else name
                self._problem(ProblemKind.OVERWRITTEN, scope, name, earlier[1], value=path)
            last[name] = value, key
        return [(name, value, key) for name, (value, key) in last.items()]

    def _key(self, node: Any) -> str:
        """A key as text: numbers as JSON writes them, everything else as in the file."""
        if not isinstance(node, yaml.ScalarNode):
            raise FileError(f"keys that are plain text (line {node.start_mark.line + 1})")
        value = self._loader.construct_object(node)
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else str(node.value)

    def _plain(self, node: Any, depth: int, scope: str, key: str) -> JsonValue:
        self._visit(depth)
        if isinstance(node, yaml.MappingNode):
            entries = self._entries(node, scope, key)
            return {name: self._plain(value, depth + 1, scope, f"{key}.{name}") for name, value, _ in entries}
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item, depth + 1, scope, key) for item in node.value]
        value = self._loader.construct_object(node, deep=True)
        if value is None or isinstance(value, bool | int | float | str):
            return value
        shown = str(node.value)
        self._problem(
            ProblemKind.INVALID, scope, key, node, value=shown, expected="text in quotes, which YAML reads as text"
        )
        return shown

    def _visit(self, depth: int) -> None:
        self._nodes += 1
        if depth > _DEEPEST or self._nodes > _MOST_NODES:
            raise FileError("a file that is smaller and less deeply nested")

    def _span(self, node: Any) -> Span:
        return self._place(node.start_mark, node.end_mark)

    def _value_span(self, key: Any, value: Any) -> Span:
        """The place of a value that begins beside its key, else the key's."""
        return self._span(value if value.start_mark.line == key.start_mark.line else key)

    def _problem(
        self,
        kind: ProblemKind,
        scope: str,
        key: str,
        node: Any,
        *,
        value: str = "",
        expected: str = "",
        near: tuple[str, ...] = (),
    ) -> None:
        self.builder.problem(Problem(kind, scope, key, value, expected, near, self._span(node)))


def _converted(option: Option | None, value: JsonValue) -> JsonValue:
    """A text or whole float where the engine's model holds a number or switch, as that."""
    if option is None or option.type not in {"int", "float", "bool"}:
        return value
    if isinstance(value, float) and option.type == "int" and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    try:
        return values.from_text(option, value)
    except values.BadValue:
        return value
