"""Helm values: images with the arguments beside them, and the models of vLLM's production stack and of llm-d's model service.

What a chart's templates make of the values is not known: they may add words. Rendered output is plain Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from msgspec.structs import replace

from specconf.compat.database import load_database
from specconf.patterns import pattern
from specconf.readers.commandparts import (
    Item,
    environment,
    image_word,
    known,
    mappings_in,
    split_items,
    yaml_items,
)
from specconf.readers.containers import image_of
from specconf.readers.filling import Filled
from specconf.readers.fragments import Document, Fragment
from specconf.readers.processes import Part, Process
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.words import Word

_ARGUMENTS = ("args", "extraArgs", "extra_args", "vllmArgs", "engineArgs", "serverArgs", "additionalArgs", "arguments")
# Keys of `vllmConfig` that the production stack's template turns into options.
_CONFIG = {
    "maxModelLen": "--max-model-len", "dtype": "--dtype", "tensorParallelSize": "--tensor-parallel-size",
    "maxNumSeqs": "--max-num-seqs", "gpuMemoryUtilization": "--gpu-memory-utilization", "maxLoras": "--max-loras",
    "pipelineParallelSize": "--pipeline-parallel-size", "kvCacheDtype": "--kv-cache-dtype",
}  # fmt: skip
# What llm-d's model service makes of `parallelism`; one is left out.
_PARALLEL = {
    "tensor": "--tensor-parallel-size",
    "data": "--data-parallel-size",
    "dataLocal": "--data-parallel-size-local",
}
_FLAG = pattern(r"--[A-Za-z]")
_FLAGS = {"enablePrefixCaching": "--enable-prefix-caching", "enableChunkedPrefill": "--enable-chunked-prefill"}


def fragments(document: Document) -> Iterator[Fragment]:
    """The engines that a values file configures."""
    yield from in_roots(document, placed_documents(document.source))


def in_roots(_document: Document, roots: Iterable[YamlNode]) -> Iterator[Fragment]:
    """The engines of values, which may be a part of another file."""
    for root in roots:
        specified: list[YamlNode] = []
        for mapping in mappings_in(root):
            for container, fragment in _model_service(mapping) if mapping.get("modelArtifacts") is not None else ():
                specified.append(container)
                yield fragment
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


# -- llm-d's model service: what its templates make of `modelCommand`


def _model_service(values: YamlNode) -> Iterator[tuple[YamlNode, Fragment]]:
    """The containers of both roles whose command the chart writes, each with its mapping."""
    for role in ("decode", "prefill"):
        parallel = values.get(role, "parallelism")
        for container in values.get(role, "containers") or ():
            command, image = container.get("modelCommand"), container.get("image")
            if command is None or command.text not in ("vllmServe", "imageDefault"):
                continue
            model = _model_of(values.get("modelArtifacts", "uri"), command)
            written = known(["vllm", "serve"], command) if command.text == "vllmServe" else known(["--model"], command)
            words = [*written, model, *_parallel(parallel)]
            name = values.get("modelArtifacts", "name")
            if name is not None and name.text:
                words += [*known(["--served-model-name"], name), name.word()]
            words += [word for word, _ in _items(container.get("args"))]
            yield container, Fragment(
                words=tuple(words), image=image.word() if image is not None and image.text else None, name=role,
                adds_program=command.text == "imageDefault", env=_env(container), where=command.span, open_ended=True,
            )  # fmt: skip


def _model_of(uri: YamlNode | None, command: YamlNode) -> Word:
    """A model of the Hub by its name; any other lies where the chart mounts it."""
    text = (uri.text if uri is not None else None) or ""
    if uri is None or not text.startswith("hf://"):
        return Word(None, command.span, "modelArtifacts.uri")
    return Word(text.removeprefix("hf://"), uri.span, text)


def _parallel(node: YamlNode | None) -> Iterator[Word]:
    for key, flag in _PARALLEL.items():
        value = node.get(key) if node is not None else None
        if value is not None and isinstance(number := value.plain(), int) and number > 1:
            yield Word(flag, value.span, key)
            yield value.word()


# -- images with words beside them


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
    if image is None:
        return
    command = mapping.get("command")
    given = [item for name in _ARGUMENTS for item in _items(mapping.get(name))]
    used = image_of(image)
    if used is not None:
        given += _flags_by_other_keys(mapping, used.image.engine)
    if not given and command is None:
        return
    entrypoint: list[Part] | None = [(word, Filled(text)) for word, text in _items(command)] or None
    if used is not None and command is None and not used.image.entrypoint and used.image.tags is None:
        entrypoint = [(word, None) for word in _program(used.image.engine, given, image)] or None
    process = Process(entrypoint, [(word, Filled(text)) for word, text in given], image, _env(mapping))
    fragment = process.fragment()
    yield replace(
        fragment, where=None, open_ended=fragment.script is None,
        mistakes=tuple(replace(one, certain=False) for one in fragment.mistakes),  # templates may write them otherwise
    )  # fmt: skip


def _program(engine: str, given: list[Item], image: Word) -> tuple[Word, ...]:
    """The program that a chart writes before flags alone, where the image starts none by itself."""
    if engine != "sglang" or not given or not _FLAG.match(given[0][0].text) or not _of_engine(given, engine):
        return ()
    return known(["python3", "-m", "sglang.launch_server"], image)


def _flags_by_other_keys(mapping: YamlNode, engine: str) -> list[Item]:
    """Flags beside an engine's image, whatever the chart calls them, if most of them are that engine's own."""
    found: list[Item] = []
    for key, value in mapping.items():
        if key.text in (*_ARGUMENTS, "command", "image"):
            continue
        items = _items(value) if value.kind == "scalar" or all(item.kind == "scalar" for item in value) else []
        if items and _FLAG.match(items[0][0].text) and _of_engine(items, engine):
            found += items
    return found


def _of_engine(items: list[Item], engine: str) -> bool:
    """Whether most flags are such as some release of an engine has, or begin as one does."""
    flags = [word.text.partition("=")[0] for word, _ in items if _FLAG.match(word.text)]
    return sum(any(name.startswith(flag) for name in _names_of(engine)) for flag in flags) * 2 > len(flags)


@cache
def _names_of(engine: str) -> frozenset[str]:
    """The flags that any release of an engine has."""
    rows = (row for _, row in load_database(engine).raw_options if str(row.get("scope")).endswith(".cli"))
    return frozenset(name for row in rows for name in row.get("names", ()))


def _env(mapping: YamlNode) -> tuple[tuple[str, Word], ...]:
    names = ("env", "extraEnv", "extraEnvs", "environment")
    return tuple(variable for name in names for variable in environment(mapping.get(name)))


def _items(node: YamlNode | None) -> list[Item]:
    if node is not None and node.kind == "scalar":
        return split_items(node.placed()) if node.text is not None else []
    return yaml_items(node)
