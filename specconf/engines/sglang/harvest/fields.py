"""Reading annotated fields: those of one dataclass (0.5.14 to 0.5.19), or one module a namespace (0.5.20 on).

How an annotated field becomes an argparse argument follows the engine's own rules, case by case in the engine's order.
"""

import ast
from typing import Any

from msgspec.structs import replace

from specconf.engines.sglang.harvest.evaluate import Scope
from specconf.engines.sglang.harvest.model import Declared, Known
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


class AnnotatedFields:
    """Reads fields annotated with `A[type, "help"]` or `A[type, Arg(...)]`."""

    def __init__(self, release: Release) -> None:
        self._release = release

    def all(self, fields: dict[str, Field]) -> list[Declared]:
        """The declarations of all fields that have a command-line surface."""
        return [found for one in fields.values() if (found := self.one(one)) is not None]

    def one(self, one: Field) -> Declared | None:
        """The declaration of one field, or None where it has no flag."""
        match one.annotation:
            case ast.Subscript(value=ast.Name(id="A" | "Annotated"), slice=ast.Tuple(elts=[inner, *metadata])):
                words = _metadata(metadata)
            case _:
                return None
        if words is None or _flag(words, "no_cli"):
            return None
        scope = Scope(one.module)
        cli_name = self._release.evaluator.value(words["cli_name"], scope) if "cli_name" in words else None
        aliases = self._release.evaluator.value(words["aliases"], scope) if "aliases" in words else None
        names = (cli_name or "--" + one.name.replace("_", "-"), *(aliases or ()))
        default = field_default(self._release, one) if one.default is not None else None
        base = Declared(
            names=names,
            path=one.name,
            place=self._release.place(one.module, one.line),
            default=default,
            nullable=optional_of(inner) is not None or default == Known(None),
            help=prose_of(words.get("help")),
        )
        return self._shaped(base, inner, words, one)

    def _shaped(self, base: Declared, inner: ast.expr, words: dict[str, ast.expr], one: Field) -> Declared:
        """Add what follows from the type: the engine's own order of cases."""
        scope = Scope(one.module)
        if _given(words, "action"):
            return self._custom(base, words, scope)
        kind = optional_of(inner) or inner
        literals = _literals(self._release, kind, scope)
        nargs = text_of(words["nargs"]) if _given(words, "nargs") else None
        const = evaluated(self._release, words["const"], scope) if _given(words, "const") else None
        choices = choices_of(self._release, words.get("choices"), scope, base.names) or literals
        parser = text_of(words["type_parser"]) if _given(words, "type_parser") else None
        found = replace(base, choices=choices, const=const)
        if literals is not None:
            return replace(found, parser=parser or _parser_for(type(literals[0]).__name__))
        element = _list_of(kind)
        if element is not None and parser is None:
            return replace(found, parser=_parser_for(element), nargs=nargs or "+")
        if ast.unparse(kind) == "bool":
            return replace(base, action="store_true", default=base.default or Known(False))
        return replace(
            found,
            parser=parser or _parser_for(ast.unparse(kind)),
            nargs=nargs,
            required=_flag(words, "required") or ("required" not in words and one.default is None),
        )

    def _custom(self, base: Declared, words: dict[str, ast.expr], scope: Scope) -> Declared:
        """A field with an action of its own and the keywords it is given."""
        extra: dict[str, Any] = {}
        if isinstance(words.get("action_kwargs"), ast.Dict):
            given = words["action_kwargs"]
            assert isinstance(given, ast.Dict)
            pairs = zip(given.keys, given.values, strict=True)
            extra = {text_of(key): value for key, value in pairs if key is not None}
        return replace(
            base,
            action=text_of(words["action"]),
            parser=text_of(extra["type"]) if "type" in extra else "str",
            nargs=text_of(extra["nargs"]) if "nargs" in extra else None,
            choices=choices_of(self._release, extra.get("choices"), scope, base.names),
        )


def _metadata(items: list[ast.expr]) -> dict[str, ast.expr] | None:
    """The keywords of `Arg(...)`, or the bare help text as one; None where the field has neither."""
    for item in items:
        if isinstance(item, ast.Call) and ast.unparse(item.func).rpartition(".")[2] == "Arg":
            return {keyword.arg: keyword.value for keyword in item.keywords if keyword.arg}
        if isinstance(item, ast.JoinedStr | ast.BinOp) or (
            isinstance(item, ast.Constant) and isinstance(item.value, str)
        ):
            return {"help": item}
    return None


def _literals(release: Release, node: ast.expr, scope: Scope) -> tuple[Any, ...] | None:
    """The values of a `Literal[...]`."""
    match node:
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return tuple(release.evaluator.plain(part, scope) for part in parts)
        case _:
            return None


def _list_of(node: ast.expr) -> str | None:
    """The element type of a list type."""
    match node:
        case ast.Subscript(value=ast.Name(id="List" | "list"), slice=inner):
            return ast.unparse(inner)
        case _:
            return None


def _parser_for(name: str) -> str:
    """The function the engine reads a word of that type with: the type itself for scalars, text for all else."""
    return name if name in ("str", "int", "float") else "str"


def _given(words: dict[str, ast.expr], name: str) -> bool:
    return name in words and ast.unparse(words[name]) != "None"


def _flag(words: dict[str, ast.expr], name: str) -> bool:
    return name in words and ast.unparse(words[name]) == "True"
