"""Reading `parser.add_argument(...)` calls: every option to 0.5.13, the deprecated spellings since."""

import ast
from typing import Any

from specconf.engines.sglang.harvest.evaluate import Scope, bindings
from specconf.engines.sglang.harvest.model import Declared, Known, Value
from specconf.engines.sglang.harvest.release import (
    Field,
    Release,
    choices_of,
    evaluated,
    field_default,
    optional_of,
    prose_of,
    text_of,
)

_CONST_ACTION = "DeprecatedStoreConstAction"


class ArgparseCalls:
    """Reads `parser.add_argument(...)` calls."""

    def __init__(self, release: Release, fields: dict[str, Field], function: ast.FunctionDef) -> None:
        self._release = release
        self._fields = fields
        self._scope = Scope(release.module, local=bindings(function.body, release.module.name))
        self._renamed = _copied_attributes(release.method("from_cli_args"))

    def one(self, call: ast.Call) -> Declared:
        """The declaration that one call makes."""
        words = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        names = tuple(str(self._release.evaluator.value(argument, self._scope)) for argument in call.args)
        action = text_of(words["action"]) if "action" in words else "store"
        dest = text_of(words["dest"]) if "dest" in words else _dest(names)
        path = self._renamed.get(dest, dest)
        default = self._default(words.get("default"), action)
        required = "required" in words and text_of(words["required"]) == "True"
        suppressed = "default" in words and ast.unparse(words["default"]) == "argparse.SUPPRESS"
        return Declared(
            names=names,
            path=path,
            place=self._release.place(self._release.module, call.lineno),
            action=action,
            parser=text_of(words["type"]) if "type" in words else "str",
            nargs=_nargs(words, action),
            const=self._const(words),
            default=None if suppressed else default,
            choices=self._choices(words.get("choices"), names),
            required=required,
            nullable=not required and self._nullable(path, default),
            stops="error_message" in words or _always_raises(self._release, action),
            new_flag=prose_of(words.get("new_flag")),
            help=prose_of(words.get("error_message")) or prose_of(words.get("help")),
        )

    def _default(self, node: ast.expr | None, action: str) -> Value:
        """argparse's own default where none is given; else the value, or its text."""
        if node is None:
            return None if action == "DeprecatedAction" else Known(_switched_off(action))
        match node:
            case ast.Attribute(value=ast.Name(id="ServerArgs"), attr=name) if name in self._fields:
                return field_default(self._release, self._fields[name])
            case ast.Call(func=ast.Name(id="_declared_default"), args=[ast.Constant(value=str(name))]):
                return field_default(self._release, self._fields[name])
        return evaluated(self._release, node, self._scope)

    def _const(self, words: dict[str, ast.expr]) -> Value:
        """The value written when the flag stands alone."""
        node = words.get("const", words.get("const_value"))
        return None if node is None else evaluated(self._release, node, self._scope)

    def _choices(self, node: ast.expr | None, names: tuple[str, ...]) -> tuple[Any, ...] | None:
        return choices_of(self._release, node, self._scope, names)

    def _nullable(self, path: str, default: Value) -> bool:
        """None is legal where it is the default or the record's annotation says so."""
        return default == Known(None) or (
            path in self._fields and optional_of(self._fields[path].annotation) is not None
        )


def _nargs(words: dict[str, ast.expr], action: str) -> str | None:
    """How many words follow; None is one for a storing action, and none for the action that writes a constant."""
    if "nargs" not in words:
        return None
    given = text_of(words["nargs"])
    if action == _CONST_ACTION and given == "None":
        return "1"
    return None if given == "None" else given


def _switched_off(action: str) -> bool | None:
    """The default argparse supplies to an action that has none."""
    if action in ("store_true", "DeprecatedStoreTrueAction"):
        return False
    return True if action == "store_false" else None


def _dest(names: tuple[str, ...]) -> str:
    """The destination argparse derives from the first long spelling."""
    long = [name for name in names if name.startswith("--")]
    return (long or list(names))[0].lstrip("-").replace("-", "_")


def _copied_attributes(function: ast.FunctionDef | None) -> dict[str, str]:
    """Destinations that are copied to the record's own field names (`args.tp_size = args.tensor_parallel_size`)."""
    found: dict[str, str] = {}
    for node in ast.walk(function) if function is not None else ():
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="args"), attr=to)],
                value=ast.Attribute(value=ast.Name(id="args"), attr=origin),
            ):
                found[origin] = to
    return found


def _always_raises(release: Release, action: str) -> bool:
    """Whether a custom action does nothing but refuse."""
    if not action.startswith("Deprecated"):
        return False
    module, node = release.evaluator.sources.find(release.module, action)
    assert isinstance(node, ast.ClassDef), f"{module.file}: {action} is not a class"
    calls = [inner for inner in node.body if isinstance(inner, ast.FunctionDef) and inner.name == "__call__"]
    return any(isinstance(statement, ast.Raise) for call in calls for statement in call.body)
