"""KServe: inference services, whose runtimes hold the command, and LLM inference services, whose words pass through a shell.

The template of an LLMInferenceService runs `eval "exec vllm serve … ${VLLM_ADDITIONAL_ARGS} $@"`, so quotes in `args` are
those of a shell there, unless the container has a command of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec.structs import replace

from specconf.readers.cluster import Cluster, text_at
from specconf.readers.fragments import Fragment
from specconf.readers.kubepods import Variables, container, containers_of, environment, put_in, volumes_of
from specconf.readers.processes import Process
from specconf.readers.source import Placed, SourceText, joined
from specconf.readers.yamltext import YamlNode
from specconf.words import Word

ADDITIONAL = "VLLM_ADDITIONAL_ARGS"
MOUNTED = "/mnt/models"
_MODEL = f"--model={MOUNTED}"

# What the stock runtimes start for a model format, as KServe's own cluster runtimes have it.
STOCK: dict[str, tuple[str, ...]] = {
    "vllm": ("python3", "-m", "vllm.entrypoints.openai.api_server", _MODEL),
    "huggingface": ("python3", "-m", "huggingfaceserver", f"--model_dir={MOUNTED}"),
    "sglang": ("python3", "-m", "sglang.launch_server", "--model-path", MOUNTED),
}
_NAMES_MODEL = frozenset({"--model", "--model-id", "--model-dir", "--model-path"})
_SERVER_IMAGE = "huggingfaceserver"
_STOCK_RUNTIMES = frozenset({"kserve-huggingfaceserver", "kserve-vllmserver", "kserve-huggingfaceserver-multinode"})


# -- LLMInferenceService


def llm_inference_service(node: YamlNode, cluster: Cluster) -> Iterator[Fragment]:
    """The engine in each role: the head or decode pods, further nodes, and the prefill pods."""
    spec = node.get("spec")
    if spec is None:
        return
    roles = [("template",), ("worker",), ("prefill", "template"), ("prefill", "worker")]
    name = text_at(node, "metadata", "name") or ""
    prefill = spec.get("prefill")
    for role in roles:
        pod = spec.get(*role)
        # The template's own pods exist without being written.
        if pod is None and role != ("template",) and not (role == ("prefill", "template") and prefill is not None):
            continue
        yield from _role(spec, pod, cluster, name, decodes=role[0] != "prefill")


def _role(spec: YamlNode, pod: YamlNode | None, cluster: Cluster, name: str, *, decodes: bool) -> Iterator[Fragment]:
    speculator = spec.get("speculator") if decodes else None
    volumes = volumes_of(pod, cluster) if pod is not None else {}
    engine = False
    for _, _, node in containers_of(pod) if pod is not None else ():
        main = text_at(node, "name") in ("main", None)
        process = container(node, cluster, volumes)
        engine = engine or main
        if not main or process.entrypoint is not None:
            yield process.fragment()
        else:
            env, _ = environment((node.get("env"),), (node.get("envFrom"),), cluster)
            yield _evaluated(spec, node, process, env, speculator)
    if not engine:
        bare = Process(None, (), name=name)
        yield _evaluated(spec, spec.get("model") or spec, bare, {}, speculator)


def _evaluated(
    spec: YamlNode, node: YamlNode, process: Process, env: Variables, speculator: YamlNode | None
) -> Fragment:
    """What the template's shell makes of a container's words, behind the engine's own."""
    source, start = node.source, node.node.start_mark.index
    uri = spec.get("model", "uri")
    texts = [_made("vllm serve", source, start), _model(uri, source, start)]
    texts += [text for text in (_variable(node, env),) if text is not None]
    texts += [text.script() for _, text in process.arguments if text is not None]
    if speculator is not None:
        texts.append(_speculation(speculator, source))
    return Fragment(
        script=joined(texts, " "),
        image=process.image,
        env=tuple((name, word) for name, word in process.env if name != ADDITIONAL),
        files=process.files,
        env_files=process.env_files,
        name=process.name,
        where=process.arguments[0][0].span if process.arguments else node.span,
    )


def _made(text: str, source: SourceText, at: int) -> Placed:
    return Placed(text, source, [at] * len(text))


def _model(uri: YamlNode | None, source: SourceText, start: int) -> Placed:
    """The model as the Hub names it; the engine gets the folder into which it is fetched."""
    written = uri.text if uri is not None else None
    if uri is None or written is None or not written.startswith("hf://"):
        return _made(MOUNTED, source, start)
    return _made(_quoted(written.removeprefix("hf://")), source, uri.node.start_mark.index)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _variable(node: YamlNode, env: Variables) -> Placed | None:
    """The text of the variable that the template adds; a shell variable where its value is not known."""
    if ADDITIONAL not in env:
        return None
    item = next((item for item in node.get("env") or () if text_at(item, "name") == ADDITIONAL), None)
    value = item.get("value") if item is not None else None
    text = put_in(value, env) if value is not None else None
    if text is not None:
        return text.script()
    return _made(f"${{{ADDITIONAL}}}", node.source, (item or node).node.start_mark.index)


def _speculation(node: YamlNode, source: SourceText) -> Placed:
    """`spec.speculator`: a map of texts, which become numbers and truth values where they look like such."""
    config = node.get("config")
    pairs = [(key, value) for key, value in (config.items() if config is not None else ()) if key.text != "model"]
    texts = [(f"{json.dumps(key.text)}: {json.dumps(_typed(value.text or ''))}", key) for key, value in pairs]
    uri = node.get("model", "uri")
    if uri is not None and uri.text:
        texts.append((f'"model": {json.dumps(uri.text.removeprefix("hf://"))}', uri))
    start = (config or node).node.start_mark.index
    inner = [_made(text.replace("'", "'\\''"), source, place.node.start_mark.index) for text, place in texts]
    opened = _made("--speculative-config '{", source, start)
    closed = _made("}'", source, inner[-1].at[-1] if inner else start)
    return joined([opened, joined(inner, ", "), closed] if inner else [opened, closed], "")


def _typed(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "True": True, "t": True, "false": False, "False": False, "f": False}.get(text, text)


# -- InferenceService


def inference_service(node: YamlNode, cluster: Cluster) -> Iterator[Fragment] | None:
    """The engine that a model's format or runtime starts; None leaves containers of its own to be read as pods."""
    predictor = node.get("spec", "predictor")
    model = predictor.get("model") if predictor is not None else None
    if predictor is None or model is None:
        return None
    return _model_server(node, predictor, model, cluster)


def _model_server(node: YamlNode, predictor: YamlNode, model: YamlNode, cluster: Cluster) -> Iterator[Fragment]:
    volumes = volumes_of(predictor, cluster)
    own = container(model, cluster, volumes, name=text_at(node, "metadata", "name") or "")
    runtime = text_at(model, "runtime") or ""
    written = _runtime(runtime, cluster)
    if own.entrypoint is not None:
        yield own.fragment()
    elif written is not None:
        base = _runtime_container(written, cluster)
        if base is not None:
            yield _merged(base, own).fragment()
    elif not runtime or runtime in _STOCK_RUNTIMES:
        program = STOCK.get((text_at(model, "modelFormat", "name") or "").lower())
        if program is not None:
            place = (model.get("modelFormat") or model).span
            words = [(Word(text, place, text), None) for text in _without_model(program, own)]
            yield replace(own, entrypoint=words, open_ended=True).fragment()


def _without_model(program: tuple[str, ...], own: Process) -> tuple[str, ...]:
    """A stock program without the mounted model, where the service's own words name another one."""
    named = {word.text.partition("=")[0].replace("_", "-") for word, _ in own.arguments}
    if not named & _NAMES_MODEL:
        return program
    kept = tuple(word for word in program if MOUNTED not in word)
    return kept[:-1] if kept[-1] == "--model-path" else kept


def _runtime(name: str, cluster: Cluster) -> YamlNode | None:
    found = cluster.objects("ServingRuntime", "ClusterServingRuntime")
    return next((node for node in found if name and text_at(node, "metadata", "name") == name), None)


def _runtime_container(node: YamlNode, cluster: Cluster) -> Process | None:
    spec = node.get("spec")
    held = [place for place in containers_of(spec) if place[0] == "containers"] if spec is not None else []
    chosen = next((c for c in held if text_at(c[2], "name") == "kserve-container"), held[0] if held else None)
    if spec is None or chosen is None:
        return None
    return _with_program(container(chosen[2], cluster, volumes_of(spec, cluster)))


def _with_program(process: Process) -> Process:
    """A container of KServe's own server image, which starts that server by itself."""
    name = process.image.text.partition("@")[0].rpartition("/")[2].partition(":")[0] if process.image else ""
    if process.entrypoint is not None or name != _SERVER_IMAGE or process.image is None:
        return process
    words = [(Word(text, process.image.span, text), None) for text in STOCK["huggingface"][:3]]
    return replace(process, entrypoint=words)


def _merged(base: Process, own: Process) -> Process:
    """A runtime's container with a service's own words and variables."""
    return Process(
        entrypoint=base.entrypoint,
        arguments=(*base.arguments, *own.arguments),
        image=own.image or base.image,
        env=tuple({**dict(base.env), **dict(own.env)}.items()),
        files={**base.files, **own.files},
        env_files=(*base.env_files, *own.env_files),
        name=own.name,
    )


def serving_runtime(node: YamlNode, cluster: Cluster) -> Iterator[Fragment]:
    """A runtime by itself: services add their words. One that a service of the same file uses is read there."""
    name = text_at(node, "metadata", "name")
    used = {text_at(one, "spec", "predictor", "model", "runtime") for one in cluster.objects("InferenceService")}
    spec = node.get("spec")
    if spec is None or name in used:
        return
    for pod in (spec, spec.get("workerSpec")):
        volumes = volumes_of(pod, cluster) if pod is not None else {}
        for _, _, held in containers_of(pod) if pod is not None else ():
            yield replace(_with_program(container(held, cluster, volumes)), open_ended=True).fragment()
