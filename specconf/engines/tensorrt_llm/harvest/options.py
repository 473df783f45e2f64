"""The rows of the YAML file: the fields of the arguments' class, and those of the classes below it, scope by scope."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence

from msgspec import Struct

from specconf.engines.tensorrt_llm.harvest.annotations import Shape
from specconf.engines.tensorrt_llm.harvest.attributes import attributes, field_shape, names_of
from specconf.engines.tensorrt_llm.harvest.fields import ClassAt, Field, fields_of, unknown_member
from specconf.engines.tensorrt_llm.harvest.source import Tree
from specconf.engines.tensorrt_llm.harvest.tags import Tagged, aliases, tagged
from specconf.engines.tensorrt_llm.harvest.validators import Validators, validators_of
from specconf.errors import HarvestError
from specconf.harvest.intervals import Row

ARGUMENTS = "tensorrt_llm/llmapi/llm_args.py"
ROOT = "trtllm.yaml"
SPECULATIVE = "speculative_config"
# PyTorch's arguments first: the other backends are not served any more in the newest releases.
_CLASSES = ("TorchLlmArgs", "LlmArgs", "BaseLlmArgs")
_SCHEDULE = f"{SPECULATIVE}.draft_len_schedule"
# Keys whose path is that of the field's newest name.
_PATHS = {
    f"{SPECULATIVE}.speculative_model_dir": f"{SPECULATIVE}.speculative_model",
    f"{SPECULATIVE}.pytorch_weights_path": f"{SPECULATIVE}.speculative_model",
    f"{SPECULATIVE}.pytorch_eagle_weights_path": f"{SPECULATIVE}.speculative_model",
    f"{SPECULATIVE}.BEGIN_THINKING_PHASE_TOKEN": f"{SPECULATIVE}.begin_thinking_phase_token",
    f"{SPECULATIVE}.END_THINKING_PHASE_TOKEN": f"{SPECULATIVE}.end_thinking_phase_token",
}


class Member(Struct, frozen=True, eq=False):
    """One field of one class in a scope, with the row that it gives; `tag` is empty where there are no tags.

    `rewritten`: the engine may change what was written for it before it is read.
    """

    tag: str
    field: Field
    shape: Shape
    row: Row
    rewritten: bool


class Reader:
    """Reads one release's classes into `options` and `tables`."""

    def __init__(self, tree: Tree, release: str) -> None:
        self.tree = tree
        self.release = release
        self.options: list[Row] = []
        self.tables: list[Row] = []

    def read(self) -> None:
        """All scopes, from the class of the arguments down."""
        self._scope(ROOT, "", "", [("", _arguments(self.tree))], ())

    def evidence(self, file: str, line: int) -> list[Row]:
        """The one entry of evidence of a row."""
        return [{"kind": "source", "release": self.release, "file": file, "line": line}]

    def _scope(
        self, scope: str, prefix: str, tag_name: str, classes: Sequence[tuple[str, ClassAt]], above: tuple[int, ...]
    ) -> None:
        """The rows of one scope. `classes` holds one class without a tag, or every class with its tag."""
        self._scope_rule(scope, [at for _, at in classes])
        members = [
            member for tag, at in classes for member in self._members(prefix, tag, at) if member.field.name != tag_name
        ]
        inside: dict[str, list[Member]] = {}
        for member in members:
            if member.shape.classes:
                inside.setdefault(member.field.name, []).append(member)
        opened = {name: self._nested(scope, prefix, name, holders, above) for name, holders in inside.items()}
        for member in members:
            if opened.get(member.field.name):
                member.row["members"] = f"{scope}.{member.field.name}"
        self.options += _grouped(members, {tag for tag, _ in classes}, scope)

    def _members(self, prefix: str, tag: str, at: ClassAt) -> Iterator[Member]:
        validators = validators_of(self.tree, at)
        for name, line in validators.rewriters.items():
            self.tree.note(f"{at[1].name}.{name} (line {line}) may rewrite what was written: not followed")
        for field in fields_of(self.tree, *at):
            shape = field_shape(self.tree, field)
            row = attributes(self.tree, field, shape, validators)
            if not prefix:
                row.pop("required", None)  # the command line gives what the file leaves out
            path = f"{prefix}{field.name}"
            row["path"] = _schedule_path(self.tree, validators) if path == _SCHEDULE else _PATHS.get(path, path)
            row["names"] = names_of(self.tree, field, at)
            row["evidence"] = self.evidence(field.module.file, field.line)
            yield Member(tag, field, shape, row, "parser" in row or field.name in validators.rewritten)

    def _nested(self, scope: str, prefix: str, name: str, holders: Sequence[Member], above: tuple[int, ...]) -> bool:
        """Read the classes of a field as a scope of their own; False if that cannot be done."""
        shape = holders[0].shape
        inner, path = f"{scope}.{name}", f"{prefix}{name}"
        if any(other.shape.classes != shape.classes for other in holders):
            self.tree.note(f"{inner}: its class depends on the tag of {scope}: members not read")
            return False
        if any(id(node) in above for _, node in shape.classes):
            return False
        below = (*above, *(id(node) for _, node in shape.classes))
        found = tagged(self.tree, shape)
        if found is not None:
            self._tag_row(inner, path, found, required=found.required and not any(each.rewritten for each in holders))
            self._scope(inner, f"{path}.", found.name, list(found.classes.items()), below)
        elif len(shape.classes) == 1:
            self._scope(inner, f"{path}.", "", [("", shape.classes[0])], below)
        else:
            classes = ", ".join(node.name for _, node in shape.classes)
            self.tree.note(f"{inner}: the tags of {classes} could not be told: members not read")
            return False
        return True

    def _tag_row(self, scope: str, path: str, found: Tagged, *, required: bool) -> None:
        """The member that holds the tag, and for speculation the tables of tags and of their aliases."""
        tags = sorted(found.classes)
        file, line = min(found.places.values())
        if found.written:
            row: Row = {"kind": "value", "type": "str", "choices": tags, "names": [found.name]}
            row |= {"required": True} if required else {}
            place = {"scope": scope, "path": f"{path}.{found.name}", "evidence": self.evidence(file, line)}
            self.options.append({**row, **place})
        if path != SPECULATIVE:
            return
        for tag in tags:
            at, place_of = found.classes[tag], found.places[tag]
            self._table("decoding_types", tag, *place_of, {"class": at[1].name})
        module = self.tree.module(ARGUMENTS)
        for alias in aliases(self.tree, module, found) if module else ():
            self._table("decoding_type_aliases", alias.value, alias.file, alias.line, {"key": alias.key})

    def _scope_rule(self, scope: str, classes: Sequence[ClassAt]) -> None:
        answers = {unknown_member(self.tree, at) for at in classes}
        if len(answers) > 1 or "unknown" in answers:
            names = ", ".join(sorted({node.name for _, node in classes}))
            self.tree.note(f"{scope}: what {names} do with an unknown member is not one answer that can be read")
        module, node = classes[0]
        answer = answers.pop() if len(answers) == 1 else "unknown"
        self._table("scope_rules", scope, module.file, node.lineno, {"unknown_member": answer})

    def _table(self, table: str, value: str, file: str, line: int, columns: Row) -> None:
        self.tables.append({"table": table, "value": value, **columns, "evidence": self.evidence(file, line)})


def _arguments(tree: Tree) -> ClassAt:
    """The class whose fields are the top of the YAML file."""
    module = tree.module(ARGUMENTS)
    if module is None:
        raise HarvestError(f"{tree.archive.origin} does not hold {ARGUMENTS}")
    for name in _CLASSES:
        node = module.symbols.get(name)
        if isinstance(node, ast.ClassDef):
            return module, node
    raise HarvestError(f"{tree.archive.origin}: {ARGUMENTS} has none of the classes {', '.join(_CLASSES)}")


def _grouped(members: Sequence[Member], tags: set[str], scope: str) -> list[Row]:
    """Members as rows: one row for all tags whose classes give a field the same attributes."""
    groups: dict[str, list[Member]] = {}
    for member in members:
        plain = {name: value for name, value in member.row.items() if name != "evidence"}
        groups.setdefault(json.dumps(plain, sort_keys=True), []).append(member)
    rows = []
    for group in groups.values():
        methods = sorted({member.tag for member in group})
        first = min(group, key=lambda member: (member.field.module.file, member.field.line))
        rows.append({**first.row, "scope": scope} | ({} if set(methods) == tags else {"methods": methods}))
    return rows


def _schedule_path(tree: Tree, validators: Validators) -> str:
    """The path of the schedule of draft lengths: its keys were lower bounds first, with key 1 demanded, upper ones later."""
    function = validators.functions.get("draft_len_schedule")
    for node in ast.walk(function) if function else ():
        match node:
            case ast.Compare(left=ast.Constant(value=1), ops=[ast.NotIn()]):
                return f"{_SCHEDULE}@lower"
            case ast.Call(func=ast.Name(id="min")):
                return f"{_SCHEDULE}@upper"
    tree.note(f"{_SCHEDULE}: its validator does not show whether keys are lower or upper bounds")
    return _SCHEDULE
