"""The argparse keywords that the engine derives from a configuration class, by that release's rules.

Since 0.8.4 the engine turns the fields of its configuration dataclasses into options (`get_kwargs`). The rules
changed a few times; which hold is read off the release's own function, by what it mentions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from msgspec import Struct

from specconf.engines.vllm.harvest.hints import Hint, kinds, read_hints
from specconf.engines.vllm.harvest.source import Tree
from specconf.engines.vllm.harvest.symbols import MISSING, ClassRef, Field, Unknown, Value
from specconf.engines.vllm.harvest.values import Evaluator

Keywords = dict[str, Value]

ARG_UTILS = "vllm.engine.arg_utils"
OBJECT = "dataclass"
# Where the field stands that keywords were derived from; not a keyword of argparse.
ORIGIN = "origin"
BOOLEAN_OPTIONAL = "argparse.BooleanOptionalAction"
_NAMES = (ast.Set, ast.Tuple, ast.List)
_RULE_FUNCTIONS = ("get_kwargs", "_compute_kwargs", "literal_to_kwargs")


class Rules(Struct, frozen=True):
    """What a release's `get_kwargs` does where releases differ."""

    typed_only: bool  # 0.8.4: only a type is derived, and nothing for bool
    dataclass_is_json: bool  # 0.9.0: a dataclass is read from JSON
    dict_or_str: bool  # 0.9.0: a dict beside other types is read as JSON only if it looks like it
    open_literals: bool  # 0.10.1: a Literal beside str restricts nothing
    optional_bool: bool  # 0.21.0: bool | str | None takes an optional value
    paired_switches: bool  # 0.33.0: --disable-x is added to a two-way switch --enable-x, and the reverse
    own_parsers: Mapping[str, str]  # 0.9.0: whole numbers that are read by a function of the engine's own, by field


def rules_of(tree: Tree) -> Rules:
    """Recognise the rules of a release by what its functions mention."""
    module = tree.module(ARG_UTILS)
    symbols = module.symbols if module else {}
    nodes = [symbols[name] for name in _RULE_FUNCTIONS if name in symbols]
    text = "\n".join(ast.unparse(node) for node in nodes if isinstance(node, ast.FunctionDef))
    return Rules(
        typed_only="BooleanOptionalAction" not in text,
        dataclass_is_json="is_dataclass" in text,
        dict_or_str="union_dict_and_str" in text,
        open_literals="metavar" in text,
        optional_bool="{bool, str, type(None)}" in text,
        paired_switches=_pairs_switches(tree),
        own_parsers={n: parser for node in nodes if isinstance(node, ast.AST) for n, parser in _own_parsers(node)},
    )


def _own_parsers(function: ast.AST) -> Iterator[tuple[str, str]]:
    """Fields that a branch on the field's name gives a parser of the engine's own (`16k`, `auto`), with its name."""
    sets = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, _NAMES)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(function):
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
            continue
        parsers = [
            step.value.id
            for step in node.body
            if isinstance(step, ast.Assign) and isinstance(step.value, ast.Name) and step.value.id.startswith("human_")
        ]
        right = node.test.comparators[0]
        named = sets.get(right.id) if isinstance(right, ast.Name) else right
        members = named.elts if isinstance(named, _NAMES) else [named]
        for member in members:
            if parsers and isinstance(member, ast.Constant) and isinstance(member.value, str):
                yield member.value, parsers[0]


def _pairs_switches(tree: Tree) -> bool:
    """Whether the parser class has an action of its own for two-way switches that knows inverse prefixes."""
    module = tree.module("vllm.utils.argparse_utils")
    actions = [node for node in module.symbols.values() if isinstance(node, ast.ClassDef)] if module else []
    return any("_inverse_prefixes" in ast.unparse(node) for node in actions)


def option_keywords(evaluator: Evaluator, owner: ClassRef, rules: Rules) -> dict[str, Keywords]:
    """The keywords of every field of a configuration class."""
    return {
        name: _keywords(evaluator, field, rules) | _parsed_by(name, rules)
        for name, field in evaluator.fields(owner).items()
    }


def _parsed_by(name: str, rules: Rules) -> Keywords:
    return {"type": Unknown(rules.own_parsers[name])} if name in rules.own_parsers else {}


def _keywords(evaluator: Evaluator, field: Field, rules: Rules) -> Keywords:
    hints = read_hints(evaluator, field.annotation, field.module)
    keywords: Keywords = {"help": field.doc.strip(), ORIGIN: (field.module.file, field.line)}
    default = evaluator.default(field)
    if default is not MISSING:
        keywords["default"] = default
    bounds = evaluator.bounds(field)
    if bounds:
        keywords["bounds"] = bounds
    found = kinds(hints)
    if found & {"dict", "dataclass"} and "str" not in found:
        keywords["mapping"] = True
    keywords.update(_typed_only(hints) if rules.typed_only else _derived(hints, rules))
    return keywords


def _typed_only(hints: tuple[Hint, ...]) -> Keywords:
    """The rules of 0.8.4, whose options still write their own action and choices."""
    found = kinds(hints)
    if found == {"bool"}:
        return {}
    if "none" in found:
        return {"type": Unknown("nullable_str")}
    if "str" in found and len(found) > 1:
        return {"type": Unknown("str")}
    return {"type": Unknown(hints[0].name or hints[0].kind)}


def _derived(hints: tuple[Hint, ...], rules: Rules) -> Keywords:
    """The rules since 0.8.5: the first kind of the list that the annotation holds decides."""
    found = kinds(hints)
    if "dataclass" in found and rules.dataclass_is_json:
        return _nullable({"type": Unknown(OBJECT)}, found)
    if found == {"bool", "str", "none"} and rules.optional_bool:
        return {"type": Unknown("str"), "nargs": "?", "const": True, "nullable": True}
    if "bool" in found:
        return {"action": Unknown(BOOLEAN_OPTIONAL), "nullable": "none" in found}
    if "literal" in found:
        # Of several Literals the engine takes whichever comes first in a set, so that the choices change from run to run.
        several = sum(hint.kind == "literal" for hint in hints) > 1
        open_ended = several or (rules.open_literals and "str" in found)
        return _nullable(_literal(_of_kind(hints, "literal"), open_ended=open_ended), found)
    for container in ("tuple", "list", "set"):
        if container in found:
            return _nullable(_container(_of_kind(hints, container)), found)
    for plain in ("int", "float"):
        if plain in found:
            return _nullable({"type": Unknown(plain)}, found)
    if "dict" in found:
        mixed = found & {"str", "class"} or any(hint.generic for hint in hints if hint.kind == "dict")
        text = "union_dict_and_str" if mixed and rules.dict_or_str else "json.loads"
        return _nullable({"type": Unknown(text)}, found)
    return _nullable({"type": Unknown("str")}, found)


def _nullable(keywords: Keywords, found: set[str]) -> Keywords:
    return {**keywords, "nullable": True} if "none" in found else keywords


def _of_kind(hints: tuple[Hint, ...], kind: str) -> Hint:
    return next(hint for hint in hints if hint.kind == kind)


def _literal(hint: Hint, *, open_ended: bool) -> Keywords:
    keywords: Keywords = {"type": Unknown(type(hint.values[0]).__name__)}
    if not open_ended:
        keywords["choices"] = sorted(hint.values)
    return keywords


def _container(hint: Hint) -> Keywords:
    """A container's elements are single words: one or more, or exactly as many as a closed tuple has."""
    nargs: Value = len(hint.items) if hint.kind == "tuple" and not hint.open_ended else "+"
    element = hint.items[0] if hint.items else (Hint("str"),)
    if kinds(element) == {"literal"}:
        return {**_literal(element[0], open_ended=False), "nargs": nargs}
    text = element[0].kind if len(element) == 1 and element[0].kind in ("int", "float", "bool") else "str"
    return {"type": Unknown(text), "nargs": nargs}
