"""Spec files to specs: text in, a spec with places out, or one `SpecError` that lists every problem."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from pydantic import ValidationError

from specconf.spec.engines import engine_name, option_key
from specconf.spec.messages import VERSION_HINT, found, missing_version, problems_of
from specconf.spec.model import KNOWN_VERSIONS, Spec
from specconf.spec.nodes import Mapping, Node, Scalar, plain_value
from specconf.spec.problems import Problem, SpecError
from specconf.spec.yaml12 import compose
from specconf.words import Span


class LoadedSpec(Struct, frozen=True):
    """A spec with the file it came from. `spans` and `key_spans` are keyed by dotted names of what is written."""

    spec: Spec
    path: str
    text: str
    spans: dict[str, Span]
    key_spans: dict[str, Span]

    def span(self, field: str) -> Span | None:
        """The place of a field's value, or None if the file does not write it.

        Engine settings have names too: `engines.vllm.options.<key>`, in either separator and with `trtllm` for
        `tensorrt-llm`.
        """
        return self.spans.get(_canonical(field))

    def key_span(self, field: str) -> Span | None:
        """The place of a field's key, or None if the file does not write it."""
        return self.key_spans.get(_canonical(field))


def load_spec(text: str | bytes, path: str) -> LoadedSpec:
    """Read a spec. `path` is only used for places; a `SpecError` holds every problem."""
    root = compose(text, path)
    if not isinstance(root, Mapping):
        message = f"a spec is a mapping of keys and values, found {found(root)}"
        raise SpecError([Problem(root.span, message, VERSION_HINT)])
    problems = list(_version_problems(root))
    if problems and root.entry("specconf") is not None:
        raise SpecError(problems)
    try:
        spec = Spec.model_validate(plain_value(root))
    except ValidationError as error:
        raise SpecError([*problems, *problems_of(error, root)]) from None
    if problems:
        raise SpecError(problems)
    spans, key_spans = _places(root)
    decoded = text.decode("utf-8") if isinstance(text, bytes) else text
    return LoadedSpec(spec, path, decoded.removeprefix("\ufeff"), spans, key_spans)


def _version_problems(root: Mapping) -> Iterator[Problem]:
    entry = root.entry("specconf")
    if entry is None:
        yield missing_version(root)
        return
    node = entry.node
    whole = isinstance(node, Scalar) and isinstance(node.value, int) and not isinstance(node.value, bool)
    if not whole or plain_value(node) not in KNOWN_VERSIONS:
        yield Problem(
            node.span, f"specconf must be a known version of the spec format, found {found(node)}", VERSION_HINT
        )


def _places(root: Mapping) -> tuple[dict[str, Span], dict[str, Span]]:
    spans: dict[str, Span] = {}
    key_spans: dict[str, Span] = {}
    for name, key_span, node in _walk(root, ""):
        spans[_canonical(name)] = node.span
        key_spans[_canonical(name)] = key_span
    return spans, key_spans


def _walk(node: Mapping, prefix: str) -> Iterator[tuple[str, Span, Node]]:
    for entry in node.entries:
        name = prefix + entry.key
        yield name, entry.key_span, entry.node
        if isinstance(entry.node, Mapping):
            yield from _walk(entry.node, f"{name}.")


def _canonical(name: str) -> str:
    """One spelling of a dotted name: an engine's own name, and one separator in keys of its options."""
    head, _, rest = name.partition(".")
    if head != "engines" or not rest:
        return name
    engine, _, rest = rest.partition(".")
    kind, dot, key = rest.partition(".")
    if kind in ("options", "cli"):
        key = option_key(key)
    return ".".join(part for part in ("engines", engine_name(engine), kind + dot + key) if part)
