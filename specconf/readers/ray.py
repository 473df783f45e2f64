"""Ray Serve's configurations of an LLM: `engine_kwargs` are vLLM's options, `model_loading_config` says the model.

They stand in an application's arguments, in a file of their own, or as a text in a RayService's manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from specconf.readers.fragments import Document, Fragment
from specconf.readers.values import Pairs, Text, Value, of_yaml, option_words, word_of
from specconf.readers.yamltext import YamlNode, placed_documents


def fragments(document: Document) -> Iterable[Fragment]:
    """One launch for each configuration."""
    for root in placed_documents(document.source):
        yield from in_node(root)


def in_node(root: YamlNode) -> Iterator[Fragment]:
    """The launches that a document's configurations make, wherever in it Ray looks for them."""
    inner = root.get("spec", "serveConfigV2")
    if inner is not None and inner.text is not None:
        for document in placed_documents(inner.placed().source()):
            yield from in_node(document)
        return
    yield from _configs(root.get("llm_configs"))
    for application in root.get("applications") or ():
        for name in ("llm_configs", "llm_config"):
            yield from _configs(application.get("args", name))
    if root.get("model_loading_config") is not None:
        yield from _configs(root)


def _configs(node: YamlNode | None) -> Iterator[Fragment]:
    for one in node if node is not None and node.kind == "sequence" else [node] if node is not None else []:
        value = of_yaml(one)
        found = llm_config(value) if isinstance(value, Pairs) else None
        if found is not None:
            yield found


def llm_config(config: Pairs) -> Fragment | None:
    """The launch of one configuration; None where it names neither a model nor options."""
    loading, options = config.get("model_loading_config"), config.get("engine_kwargs")
    if not isinstance(loading, Pairs) and not isinstance(options, Pairs):
        return None
    model, name = _model(loading) if isinstance(loading, Pairs) else (None, "")
    if not isinstance(options, Pairs):
        at = loading if isinstance(loading, Pairs) else config
        options = Pairs((), at.span, at.at, more=options is not None)
    made = option_words("vllm", model, Pairs(options.pairs, options.span, options.at, options.more))
    runtime = config.get("runtime_env")
    variables = runtime.get("env_vars") if isinstance(runtime, Pairs) else None
    env = tuple((key.text, word_of(value)) for key, value in variables.pairs) if isinstance(variables, Pairs) else ()
    return Fragment(words=made.words, env=env, name=name, where=config.span)


def _model(loading: Pairs) -> tuple[Value | None, str]:
    """Where the model comes from, and what it is called."""
    name = loading.get("model_id")
    shown = name.text if isinstance(name, Text) else ""
    source = loading.get("model_source")
    return (source if source is not None and not isinstance(source, Pairs) else name), shown
