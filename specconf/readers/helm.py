"""Helm values: images in two parts with the arguments beside them, and the model specifications of vLLM's production stack.

What a chart's templates make of the values is not known: they may add words. Rendered output is plain Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from specconf.readers.commandparts import (
    Item,
    environment,
    image_word,
    known,
    mappings_in,
    shell_script,
    split_items,
    yaml_items,
)
from specconf.readers.fragments import Document, Fragment
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.words import Word

_ARGUMENTS = ("args", "extraArgs", "extra_args", "vllmArgs", "engineArgs", "serverArgs", "additionalArgs", "arguments")
# Keys of `vllmConfig` that the production stack's template turns into options.
_CONFIG = {
    "maxModelLen": "--max-model-len", "dtype": "--dtype", "tensorParallelSize": "--tensor-parallel-size",
    "maxNumSeqs": "--max-num-seqs", "gpuMemoryUtilization": "--gpu-memory-utilization", "maxLoras": "--max-loras",
    "pipelineParallelSize": "--pipeline-parallel-size", "kvCacheDtype": "--kv-cache-dtype",
}  # fmt: skip
_FLAGS = {"enablePrefixCaching": "--enable-prefix-caching", "enableChunkedPrefill": "--enable-chunked-prefill"}


def fragments(document: Document) -> Iterator[Fragment]:
    """The engines that a values file configures."""
    yield from in_roots(document, placed_documents(document.source))


def in_roots(_document: Document, roots: Iterable[YamlNode]) -> Iterator[Fragment]:
    """The engines of values, which may be a part of another file."""
    for root in roots:
        specified: list[YamlNode] = []
        for spec in root.get("servingEngineSpec", "modelSpec") or ():
            specified.append(spec)
            yield _model_spec(spec, root)
        for mapping in mappings_in(root):
            if not any(mapping.node is spec.node for spec in specified) and mapping.get("image") is not None:
                yield from _with_image(mapping)


def _model_spec(spec: YamlNode, root: YamlNode) -> Fragment:
    config = spec.get("vllmConfig")
    image = image_word(spec.get("repository"), spec.get("tag"))
    model, name = spec.get("modelURL"), spec.get("name")
    words = list(known(["vllm", "serve"], spec.get("repository") or spec))
    words.append(model.word() if model is not None and model.text else Word(None, spec.span, "modelURL"))
    for key, node in config.items() if config is not None else ():
        flag = _FLAGS.get(key.text or "")
        if flag is not None and node.plain() in (True, False):
            if node.plain():
                words.append(Word(flag, key.span, key.raw))
            elif key.text == "enableChunkedPrefill":
                words.append(Word("--no-" + flag[2:], key.span, key.raw))
        elif key.text in _CONFIG and node.text is not None:
            words += [Word(_CONFIG[key.text], key.span, key.raw), node.word()]
    extra = config.get("extraArgs") if config is not None else None
    words += [word for word, _ in yaml_items(extra)]
    env = (*environment(root.get("servingEngineSpec", "env")), *environment(spec.get("env")))
    return Fragment(
        words=tuple(words), image=image, env=env, name=(name.text or "") if name is not None else "", where=spec.span,
        open_ended=True,
    )  # fmt: skip


def _with_image(mapping: YamlNode) -> Iterator[Fragment]:
    """A mapping with an image and the arguments of what runs in it, at its own level or below the image."""
    node = mapping.get("image")
    if node is None:
        return
    image: Word | None = node.word()
    if not node.text:
        image = image_word(node.get("repository") or node.get("name"), node.get("tag"), node.get("registry"))
    if node.text and (tag := mapping.get("tag") or mapping.get("imageTag")) is not None and ":" not in node.text:
        image = image_word(node, tag)
    command = mapping.get("command")
    items = [*_items(command)]
    for name in _ARGUMENTS:
        items += _items(mapping.get(name))
    if not items or image is None:
        return
    script = shell_script(items)
    yield Fragment(
        words=() if script is not None else tuple(word for word, _ in items), script=script, image=image,
        adds_program=command is None, env=_env(mapping), open_ended=script is None,
    )  # fmt: skip


def _env(mapping: YamlNode) -> tuple[tuple[str, Word], ...]:
    names = ("env", "extraEnv", "extraEnvs", "environment")
    return tuple(variable for name in names for variable in environment(mapping.get(name)))


def _items(node: YamlNode | None) -> list[Item]:
    if node is not None and node.kind == "scalar":
        return split_items(node.placed()) if node.text is not None else []
    return yaml_items(node)
