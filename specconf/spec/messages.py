"""What pydantic finds wrong with a spec, in the words of the spec and with the places of the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from specconf.spec.contradictions import CONTRADICTION
from specconf.spec.engines import ENGINE_ALIASES
from specconf.spec.leaves import leaf_infos
from specconf.spec.model import KNOWN_VERSIONS, Spec
from specconf.spec.nodes import Entry, Mapping, Node, Scalar, Sequence
from specconf.spec.problems import Problem
from specconf.words import Span

Location = tuple[int | str, ...]
VERSION_HINT = (
    f"write `specconf: {KNOWN_VERSIONS[-1]}` as the first line; known versions: {', '.join(map(str, KNOWN_VERSIONS))}"
)

_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping of keys and values",
    "model_type": "a mapping of keys and values",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
_TEXT_RULES = {
    "name": "letters, digits, dots, dashes and underscores, with a letter or digit at both ends",
    "deployment.namespace": "lower-case letters, digits and dashes, with a letter or digit at both ends",
}
_ONE_LINE_RULE = "one line of text that does not start with a dash or a space"
_SHOWN_TEXT = 60


def problems_of(error: ValidationError, root: Mapping) -> Iterator[Problem]:
    """Every error of a validation as a problem of the file whose nodes are given."""
    for item in error.errors(include_url=False):
        kind, loc = item["type"], item["loc"]
        if kind == CONTRADICTION:
            yield from _contradictions(root, loc, item["ctx"]["problems"])
        elif kind == "extra_forbidden":
            yield _unknown_key(root, loc)
        elif kind == "missing":
            yield _missing(root, loc)
        else:
            node = _find(root, loc)[0]
            message, hint = _explained(kind, item, dotted(root, loc), node)
            yield Problem(node.span, message, hint)


def missing_version(root: Mapping) -> Problem:
    """The problem of a file that does not say which version of the spec format it is."""
    return Problem(_start(root.span), "the key specconf, the version of the spec format, is missing", VERSION_HINT)


def found(node: Node) -> str:
    """What was written, for a message."""
    if isinstance(node, Sequence):
        return "a list"
    if isinstance(node, Mapping):
        return "a mapping"
    if node.value is None:
        return "nothing"
    text = node.text if len(node.text) <= _SHOWN_TEXT else node.text[:_SHOWN_TEXT] + "…"
    if isinstance(node.value, str):
        return f"the text {text!r}"
    return text if isinstance(node.value, bool) else f"the number {text}"


def dotted(root: Mapping, loc: Location) -> str:
    """A location as the user writes it: without the marks pydantic leaves for unions."""
    return ".".join(str(part) for part in _find(root, loc)[2])


def _find(root: Mapping, loc: Location) -> tuple[Node, Entry | None, Location]:
    """The node of a location, the entry that holds it, and the parts of the location that were found in the file."""
    node: Node = root
    entry: Entry | None = None
    path: list[int | str] = []
    for part in loc:
        if isinstance(node, Mapping):
            inner = _entry(node, str(part))
            if inner is not None:
                node, entry = inner.node, inner
                path.append(inner.key)
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
            path.append(part)
    return node, entry, tuple(path)


def _entry(node: Mapping, key: str) -> Entry | None:
    aliases = (alias for alias, name in ENGINE_ALIASES.items() if name == key)
    return next((entry for entry in map(node.entry, (key, *aliases)) if entry is not None), None)


def _contradictions(root: Mapping, loc: Location, problems: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    for field, message in problems:
        holder = _find(root, loc)[0]
        whole = isinstance(holder, Mapping) and holder.entry(field) is not None
        parts = (field,) if whole else tuple(int(part) if part.isdigit() else part for part in field.split("."))
        full = (*loc, *(part for part in parts if part != ""))
        node, entry, path = _find(root, full)
        about_key = entry is not None and path[:1] == ("engines",)
        span = entry.key_span if entry is not None and about_key else node.span
        written = ".".join(str(part) for part in path) or "speculation"
        yield Problem(_start(span) if isinstance(node, Mapping) and not about_key else span, f"{written}: {message}")


def _missing(root: Mapping, loc: Location) -> Problem:
    node = _find(root, loc)[0]
    name = ".".join(str(part) for part in loc)
    info = leaf_infos(Spec).get(name)
    about = (info.description if info else _section_about(str(loc[-1]))) or ""
    return Problem(_start(node.span), f"{name} is missing", f"add it: {_first_lower(about)}" if about else "add it")


def _section_about(name: str) -> str:
    info = Spec.model_fields.get(name)
    return (info.description if info else "") or ""


def _unknown_key(root: Mapping, loc: Location) -> Problem:
    _, entry, path = _find(root, loc)
    assert entry is not None, "an unknown key is in the file"
    where = ".".join(str(part) for part in path[:-1])
    message = f"unknown key {entry.key!r}" + (f" under {where}" if where else "")
    return Problem(entry.key_span, message, _instead(entry.key, _known_keys(loc[:-1]), where))


def _instead(key: str, known: tuple[str, ...], where: str) -> str:
    near = nearest(key, known)
    if near:
        return f"did you mean {near}?"
    elsewhere = [field for field in leaf_infos(Spec) if field.rpartition(".")[2] == key.replace("-", "_")]
    if elsewhere:
        return f"did you mean {elsewhere[0]}?"
    if not where and key in _known_keys(("engines",)):
        return f"an engine's own settings stand under engines.{key}"
    return f"known here: {', '.join(known)}"


def nearest(text: str, choices: Iterable[str]) -> str | None:
    """The choice a user most likely meant, or None."""
    from rapidfuzz import fuzz, process

    normal: Callable[[str], str] = lambda word: word.lower().replace("-", "_").replace(" ", "_")  # noqa: E731
    best = process.extractOne(text, tuple(choices), scorer=fuzz.ratio, processor=normal, score_cutoff=70)
    return str(best[0]) if best else None


def _known_keys(loc: Location) -> tuple[str, ...]:
    model: type[BaseModel] | None = Spec
    for part in loc:
        if model is None:
            return ()
        if isinstance(part, str):
            by_key = {info.alias or name: info for name, info in model.model_fields.items()}
            model = _model_in(by_key[part].annotation) if part in by_key else None
    return tuple(info.alias or name for name, info in model.model_fields.items()) if model else ()


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for model in map(_model_in, get_args(annotation)) if model is not None), None)


def _explained(kind: str, item: Any, name: str, node: Node) -> tuple[str, str]:
    """The message and hint for one value that does not fit its field."""
    if kind in _KINDS:
        return f"{name} must be {_KINDS[kind]}, found {found(node)}", _type_hint(kind, node)
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        return f"{name} must be {words} {item['ctx'][key]:g}, found {found(node)}", ""
    if kind in ("enum", "literal_error"):
        choices = re.findall(r"'([^']*)'", item["ctx"]["expected"])
        near = nearest(node.text, choices) if isinstance(node, Scalar) else None
        return (
            f"{name} must be one of {', '.join(choices)}, found {found(node)}",
            f"did you mean {near}?" if near else "",
        )
    if kind == "string_pattern_mismatch":
        rule = _TEXT_RULES.get(name, _ONE_LINE_RULE)
        shown = "" if name.startswith("deployment.secrets") else f", found {found(node)}"
        return f"{name} must be {rule}{shown}", ""
    if kind == "bare_release":
        text = node.text if isinstance(node, Scalar) else ""
        return f"{name} must be text, found {found(node)}", f'write it in quotes: "{text}"'
    if kind in ("string_too_short", "too_short"):
        return f"{name} must not be empty", "write a value, or remove the key"
    if kind == "string_too_long":
        return f"{name} must have at most {item['ctx']['max_length']} characters", ""
    return f"{name}: {item['msg']}", ""


def _type_hint(kind: str, node: Node) -> str:
    if not isinstance(node, Scalar):
        return ""
    value = node.value
    if value is None:
        return "write its keys under it" if kind == "model_type" else "write a value, or remove the key"
    if kind == "string_type":
        return f'write it in quotes: "{node.text}"'
    if kind in ("int_type", "float_type") and isinstance(value, str):
        return "remove the quotes" if not node.plain and re.fullmatch(r"[0-9.]+", value) else ""
    if kind == "int_type" and isinstance(value, float) and value.is_integer():
        return f"write {int(value)}"
    if kind == "bool_type" and str(value).lower() in ("yes", "on", "no", "off", "y", "n", "1", "0", "true", "false"):
        return "write true" if str(value).lower() in ("yes", "on", "y", "1", "true") else "write false"
    if kind in ("tuple_type", "list_type"):
        return f"write [{node.text}]"
    return ""


def _start(span: Span) -> Span:
    return Span(span.path, span.line, span.column, span.line, span.column)


def _first_lower(text: str) -> str:
    text = text.rstrip(".")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
