"""A draft's config under `SpeculativeConfig.hf_config_override`, followed statement by statement with what is known of it.

A config is known by its model type or by its first architecture alone; everything else that the function reads is
remembered as "read from that key". A condition that depends on such a reading is taken to hold, as it does for the
checkpoints that the branch was written for, unless the branch refuses the checkpoint.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from msgspec import Struct, field

from specconf.engines.vllm.harvest.source import Import, Module, local_imports
from specconf.engines.vllm.harvest.symbols import MISSING
from specconf.engines.vllm.harvest.values import Evaluator

# A model type or architecture that equals none that a release tests for.
NONE_OF_THEM = "?"
_SPECIAL = ("model_type", "architectures")
_INNER = ("get_hf_text_config", "get_text_config")


class Config(Struct, frozen=True):
    """The config itself (an empty path) or one inside it (`text_config`)."""

    path: str

    def key(self, name: str) -> str:
        """The dotted key of one of its entries."""
        return f"{self.path}.{name}" if self.path else name


class Read(Struct, frozen=True):
    """A value that a checkpoint's config has under one of these keys, and what stands for it where it has none."""

    keys: tuple[str, ...]
    default: Any = None


class OneOf(Struct, frozen=True):
    """One of these texts; which, the checkpoint decides."""

    texts: tuple[str, ...]


class _Unknown:
    """Nothing is known of it."""


UNKNOWN = _Unknown()


class State(Struct):
    """What the function's names and the config's entries hold at one point."""

    names: dict[str, Any] = field(default_factory=dict)
    entries: dict[str, Any] = field(default_factory=dict)
    conditional: bool = False
    returned: Any = None
    refused: bool = False

    @property
    def ended(self) -> bool:
        """Whether the function has returned or refused here."""
        return self.returned is not None or self.refused


class Overrides:
    """Runs one release's function on what little is known of a config."""

    def __init__(self, evaluator: Evaluator, module: Module, function: ast.FunctionDef) -> None:
        self._evaluator = evaluator
        self._module = module
        self._function = function

    def of(self, model_type: str, architecture: str) -> State:
        """The state at the end, for a config with this model type and first architecture."""
        first, *others = self._function.args.args
        state = State({first.arg: Config("")}, {"model_type": model_type, "architectures": [architecture]})
        state.names.update({other.arg: None for other in others})
        self._run(self._function.body, state)
        return state

    def _run(self, body: list[ast.stmt], state: State) -> None:
        for node in body:
            if state.ended:
                return
            match node:
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, self._value(value, state), state)
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=owner, attr="update"), args=[ast.Dict() as given])
                ):
                    self._update(self._value(owner, state), given, state)
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="update"), args=[ast.Name(id=name)])):
                    self._put(self._value(owner, state), state.names.get(name), state)
                case ast.Import() | ast.ImportFrom():
                    state.names.update(local_imports(node, self._module))
                case ast.If():
                    self._branch(node, state)
                case ast.Return(value=ast.expr() as value):
                    state.returned = self._value(value, state)
                case ast.Raise():
                    state.refused = True
                case _:
                    pass

    def _branch(self, node: ast.If, state: State) -> None:
        test = truth(self._value(node.test, state))
        if test is not None:
            self._run(node.body if test else node.orelse, state)
            return
        taken, other = deepcopy(state), deepcopy(state)
        self._run(node.body, taken)
        self._run(node.orelse, other)
        if taken.refused:
            taken, other = other, taken
        put = {key: value for key, value in taken.entries.items() if state.entries.get(key, MISSING) != value}
        changed = any(key.rpartition(".")[2] in _SPECIAL for key in put)
        state.names = _joined(taken.names, other.names)
        state.entries = _joined(taken.entries, other.entries)
        state.conditional |= taken.conditional or changed
        state.returned, state.refused = taken.returned, taken.refused

    def _assign(self, target: ast.expr, value: Any, state: State) -> None:
        match target:
            case ast.Name(id=name):
                state.names[name] = value
            case ast.Attribute(value=owner, attr=name):
                config = self._value(owner, state)
                if isinstance(config, Config):
                    state.entries[config.key(name)] = value
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
                if isinstance(state.names.get(name), dict):
                    state.names[name][key] = value

    def _update(self, owner: Any, given: ast.Dict, state: State) -> None:
        self._put(owner, self._value(given, state), state)

    def _put(self, owner: Any, given: Any, state: State) -> None:
        if isinstance(owner, Config) and isinstance(given, dict):
            state.entries.update({owner.key(str(name)): value for name, value in given.items()})

    def _value(self, node: ast.expr, state: State) -> Any:
        handler = _VALUES.get(type(node))
        return handler(self, node, state) if handler else UNKNOWN

    def constant(self, node: ast.Constant, _: State) -> Any:
        return node.value

    def name(self, node: ast.Name, state: State) -> Any:
        bound = state.names.get(node.id, MISSING)
        if isinstance(bound, Import):
            module = self._evaluator.tree.module(bound.module)
            found = self._evaluator.symbol(module, bound.member) if module and bound.member else MISSING
            return UNKNOWN if found is MISSING else found
        if bound is not MISSING:
            return bound
        found = self._evaluator.symbol(self._module, node.id)
        return UNKNOWN if found is MISSING else found

    def attribute(self, node: ast.Attribute, state: State) -> Any:
        owner = self._value(node.value, state)
        return self._entry(owner, node.attr, None, state) if isinstance(owner, Config) else UNKNOWN

    def _entry(self, owner: Config, name: str, default: Any, state: State) -> Any:
        """What a config has under a name: what was put there, a config inside it, or a reading of the checkpoint."""
        key = owner.key(name)
        if key in state.entries:
            return state.entries[key]
        if name in _SPECIAL:
            return UNKNOWN
        if name.endswith("_config"):
            return Config(key)
        if isinstance(default, Read):
            return Read((key, *default.keys), default.default)
        return Read((key,), None if default is UNKNOWN else default)

    def sequence(self, node: ast.List | ast.Tuple | ast.Set, state: State) -> Any:
        return [self._value(item, state) for item in node.elts]

    def mapping(self, node: ast.Dict, state: State) -> Any:
        pairs = zip(node.keys, node.values, strict=True)
        return {key.value: self._value(value, state) for key, value in pairs if isinstance(key, ast.Constant)}

    def subscript(self, node: ast.Subscript, state: State) -> Any:
        owner, index = self._value(node.value, state), self._value(node.slice, state)
        if isinstance(owner, dict):
            return owner.get(index, UNKNOWN) if isinstance(index, str) else UNKNOWN
        return owner[index] if isinstance(owner, list) and isinstance(index, int) and index < len(owner) else UNKNOWN

    def walrus(self, node: ast.NamedExpr, state: State) -> Any:
        state.names[node.target.id] = self._value(node.value, state)
        return state.names[node.target.id]

    def choice(self, node: ast.IfExp, state: State) -> Any:
        test = truth(self._value(node.test, state))
        if test is not None:
            return self._value(node.body if test else node.orelse, state)
        texts = [_as_texts(self._value(side, state)) for side in (node.body, node.orelse)]
        return OneOf(tuple(dict.fromkeys((*texts[0], *texts[1])))) if all(texts) else UNKNOWN

    def negation(self, node: ast.UnaryOp, state: State) -> Any:
        test = truth(self._value(node.operand, state))
        return UNKNOWN if test is None or not isinstance(node.op, ast.Not) else not test

    def combined(self, node: ast.BoolOp, state: State) -> Any:
        stops = isinstance(node.op, ast.Or)
        value: Any = None
        unknown = False
        for operand in node.values:
            value = self._value(operand, state)
            test = truth(value)
            if test is stops:
                return value
            unknown |= test is None
        return UNKNOWN if unknown else value

    def compared(self, node: ast.Compare, state: State) -> Any:
        if len(node.ops) != 1:
            return UNKNOWN
        left, right = self._value(node.left, state), self._value(node.comparators[0], state)
        answers = {
            _comparison(node.ops[0], side, right) for side in (left.texts if isinstance(left, OneOf) else (left,))
        }
        return answers.pop() if len(answers) == 1 else UNKNOWN

    def call(self, node: ast.Call, state: State) -> Any:
        match node.func, node.args:
            case (ast.Name(id="getattr"), [owner, ast.Constant(value=str(name)), *rest]):
                return self._reading(owner, name, rest, state)
            case (ast.Attribute(value=owner, attr="get"), [ast.Constant(value=str(name)), *rest]):
                return self._reading(owner, name, rest, state)
            case (ast.Attribute(value=owner, attr="intersection"), [other]):
                left, right = self._value(owner, state), self._value(other, state)
                known = isinstance(left, list) and isinstance(right, list)
                return [item for item in left if item in right] if known else UNKNOWN
            case (ast.Attribute(attr="deepcopy") | ast.Name(id="int"), [inner]):
                return self._value(inner, state)
            case (ast.Name(id=name), [owner]) | (ast.Attribute(value=owner, attr=name), []) if name in _INNER:
                config = self._value(owner, state)
                return Config(config.key("text_config")) if isinstance(config, Config) else UNKNOWN
            case _:
                return UNKNOWN

    def _reading(self, owner: ast.expr, name: str, rest: list[ast.expr], state: State) -> Any:
        config = self._value(owner, state)
        default = self._value(rest[0], state) if rest else None
        return self._entry(config, name, default, state) if isinstance(config, Config) else UNKNOWN


def truth(value: Any) -> bool | None:
    """Whether a value counts as true; None when the checkpoint decides."""
    if isinstance(value, Read | OneOf) or value is UNKNOWN:
        return None
    return True if isinstance(value, Config) else bool(value)


def _comparison(operator: ast.cmpop, left: Any, right: Any) -> Any:
    """The answer of one comparison of two values."""
    if isinstance(operator, ast.In | ast.NotIn) and isinstance(left, str) and isinstance(right, list | str):
        known = isinstance(right, str) or all(isinstance(item, str) for item in right)
        return (left in right) == isinstance(operator, ast.In) if known else UNKNOWN
    if isinstance(operator, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) and _is_plain(left) and _is_plain(right):
        return (left == right) == isinstance(operator, ast.Eq | ast.Is)
    if isinstance(operator, ast.Is | ast.IsNot) and right is None and isinstance(left, Config):
        return isinstance(operator, ast.IsNot)
    return UNKNOWN


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int)


def _as_texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, OneOf):
        return value.texts
    return (value,) if isinstance(value, str) else ()


def _joined(taken: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What holds after a branch that a checkpoint decides: what the branch says, with the readings of both ways."""
    found = {**other, **taken}
    for name, value in taken.items():
        before = other.get(name)
        if isinstance(value, Read) and isinstance(before, Read) and value != before:
            found[name] = Read(tuple(dict.fromkeys((*before.keys, *value.keys))), value.default)
    return found


_VALUES: dict[type[ast.expr], Callable[[Overrides, Any, State], Any]] = {
    ast.Constant: Overrides.constant,
    ast.Name: Overrides.name,
    ast.Attribute: Overrides.attribute,
    ast.List: Overrides.sequence,
    ast.Tuple: Overrides.sequence,
    ast.Set: Overrides.sequence,
    ast.Dict: Overrides.mapping,
    ast.Subscript: Overrides.subscript,
    ast.NamedExpr: Overrides.walrus,
    ast.IfExp: Overrides.choice,
    ast.UnaryOp: Overrides.negation,
    ast.BoolOp: Overrides.combined,
    ast.Compare: Overrides.compared,
    ast.Call: Overrides.call,
}
