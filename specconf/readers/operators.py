"""Kinds of operators that write the engine's command from fields of their own: KubeAI, KAITO, and Ray's services and jobs.

Their release is that of an image the file names; where the operator chooses it, none is stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from specconf.readers.cluster import Cluster, text_at
from specconf.readers.fragments import Fragment
from specconf.readers.kubepods import environment
from specconf.readers.optionmaps import values_alone
from specconf.readers.processes import Process
from specconf.readers.ray import in_node
from specconf.readers.source import Placed
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.words import Span, Word

# -- KubeAI


def kubeai_model(node: YamlNode, cluster: Cluster) -> Iterator[Fragment]:
    """A model that KubeAI serves by vLLM, the only one of its engines that is known here."""
    spec = node.get("spec")
    if spec is None or text_at(spec, "engine") != "VLLM":
        return
    env, env_files = environment((), (spec.get("envFrom"),), cluster)
    variables = spec.get("env")
    env |= {key.text or "": value.word() for key, value in variables.items()} if variables is not None else {}
    url, image = spec.get("url"), spec.get("image")
    place = (url or spec).span
    program = ["python3", "-m", "vllm.entrypoints.openai.api_server"]
    words = [(Word(text, place, text), None) for text in program]
    yield Process(
        entrypoint=[*words, (_model_option(url, place), None)],
        # KubeAI's own words go before; variables are not put into these.
        arguments=[(item.word(), None) for item in spec.get("args") or ()],
        image=image.word() if image is not None else None,
        env=tuple(env.items()),
        env_files=env_files,
        files=_kubeai_files(spec),
        name=text_at(node, "metadata", "name") or "",
        open_ended=spec.get("jsonPatches") is not None,
    ).fragment()


def _model_option(url: YamlNode | None, place: Span) -> Word:
    """A Hub model by its name; any other is fetched to a folder that the file does not name."""
    text = (url.text if url is not None else None) or ""
    known = text.startswith("hf://")
    return Word(f"--model={text.removeprefix('hf://')}" if known else None, place, f"--model={text}")


def _kubeai_files(spec: YamlNode) -> Mapping[str, str | Placed]:
    files = [(text_at(item, "path"), item.get("content")) for item in spec.get("files") or ()]
    return {path: text.placed() for path, text in files if path and text is not None and text.text is not None}


# -- KAITO

_CONFIG_KEY = "inference_config.yaml"
_SPECULATION = "kaito.sh/enable-speculative-decoding"


def kaito(node: YamlNode, cluster: Cluster) -> Iterator[Fragment] | None:
    """A preset with options of its own or with KAITO's speculation; None where a workspace brings its own pods."""
    held = node.get("inference") or node.get("spec", "template", "inference")
    preset = text_at(held, "preset", "name")
    if held is None or preset is None:
        return None
    annotations = node.get("metadata", "annotations")
    inner = node.get("spec", "template", "metadata", "annotations")
    text = (cluster.config_map(text_at(held, "config")) or {}).get(_CONFIG_KEY)
    if "transformers" in [text_at(marked, "kaito.sh/runtime") for marked in (annotations, inner)]:
        return iter(())
    asked = any(text_at(marked, _SPECULATION) == "true" for marked in (annotations, inner))
    place = (held.get("preset", "name") or held).span
    return _preset(text_at(node, "metadata", "name") or "", Word(preset, place, preset), text, asked=asked)


def _preset(name: str, model: Word, text: Placed | None, *, asked: bool) -> Iterator[Fragment]:
    if text is not None:
        yield from kaito_config(text, name, model)
    elif asked:
        yield _kaito_launch((), name, model)


def kaito_config(text: Placed, name: str, model: Word | None = None) -> Iterator[Fragment]:
    """The launch that the options of a ConfigMap make. A text that is no YAML is KAITO's to refuse, and an error here."""
    for root in placed_documents(text.source()):
        options = root.get("vllm")
        if options is not None and options.kind == "mapping":
            yield _kaito_launch(tuple(values_alone(options)), name, model or Word(None, options.span, "the preset"))


def _kaito_launch(options: tuple[Word, ...], name: str, model: Word) -> Fragment:
    program = tuple(Word(text, model.span, text) for text in ("vllm", "serve"))
    return Fragment(words=(*program, model, *options), name=name, where=model.span, open_ended=True)


# -- Ray


def ray_service(node: YamlNode, _cluster: Cluster) -> Iterator[Fragment]:
    """The engines of the applications that a service's text configures, in the cluster's image."""
    image = _ray_image(node)
    yield from (replace(fragment, image=image) for fragment in in_node(node))


def _ray_image(node: YamlNode) -> Word | None:
    cluster = node.get("spec", "rayClusterConfig")
    head = cluster.get("headGroupSpec", "template", "spec", "containers") if cluster is not None else None
    image = next((held.get("image") for held in head or ()), None)
    return image.word() if image is not None else None


def ray_job(node: YamlNode, _cluster: Cluster) -> Iterator[Fragment]:
    """The command of a job, which Ray gives to a shell."""
    entrypoint = node.get("spec", "entrypoint")
    if entrypoint is not None and entrypoint.text is not None:
        yield Fragment(script=entrypoint.placed(), image=_ray_image(node), name=text_at(node, "metadata", "name") or "")
