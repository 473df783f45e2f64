"""Files of programs that start engines themselves: llama-swap, GPUStack, Truss, srt-slurm recipes. One function each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.readers.commandparts import (
    environment,
    known,
    mappings_in,
    one_line,
    plain_text,
    shell_script,
    split_items,
    yaml_items,
)
from specconf.readers.containers import image_of
from specconf.readers.fragments import Document, Fragment
from specconf.readers.optionmaps import switches_and_values
from specconf.readers.source import Placed
from specconf.readers.stated import Firmness, Stated
from specconf.readers.templates import Template
from specconf.readers.values import NotKnown, Pairs, as_json, of_yaml
from specconf.readers.yamltext import YamlNode, placed_documents
from specconf.words import Word

# -- llama-swap

_MACRO = pattern(r"\$\{(?P<name>[\w.-]+)\}")


def llama_swap_fragments(document: Document) -> Iterator[Fragment]:
    """The command of each model. Line ends are blanks there, lines that begin with # are comments, macros are put in."""
    for root in placed_documents(document.source):
        models = root.get("models")
        for name, model in models.items() if models is not None else ():
            command = model.get("cmd")
            if command is None or command.text is None:
                continue
            macros = {**_macros(root.get("macros")), **_macros(model.get("macros")), "MODEL_ID": name.text or ""}
            template = Template(_MACRO, lambda match, macros=macros: macros.get(match["name"]))  # type: ignore[misc]
            yield _one_text(command.placed(), template, name.text or "", env=environment(model.get("env"), template))


def _macros(node: YamlNode | None) -> dict[str, str]:
    found = {}
    for part in [node] if node is None or node.kind == "mapping" else list(node):
        for name, value in part.items() if part is not None else ():
            text = plain_text(value.plain()) if value.kind == "scalar" else None
            if name.text and text is not None:
                found[name.text] = text
    return found


def _one_text(
    text: Placed, template: Template, name: str, *, image: Word | None = None, env: tuple[tuple[str, Word], ...] = (),
    adds_program: bool = False, stated: tuple[Stated, ...] = (), open_ended: bool = False,
) -> Fragment:  # fmt: skip
    """A process whose command line is one text that is split without a shell."""
    filled = one_line(template.text(one_line(text)))
    items = split_items(filled)
    script = shell_script(items)
    return Fragment(
        words=() if script is not None else tuple(word for word, _ in items), script=script, image=image, env=env,
        adds_program=adds_program and script is None, name=name, stated=stated, holes=template.holes, open_ended=open_ended,
    )  # fmt: skip


# -- GPUStack

_DOUBLE = pattern(r"\{\{\s*(?P<name>[\w.]+)\s*\}\}")
_GPUSTACK_ENGINES = {"vllm": ("vllm", "serve"), "sglang": ("python3", "-m", "sglang.launch_server")}


def gpustack_fragments(document: Document) -> Iterator[Fragment]:
    """The commands of inference backends, by version, and the models that name a backend and its parameters."""
    template = Template(_DOUBLE)
    for root in placed_documents(document.source):
        for mapping in mappings_in(root):
            command, image = mapping.get("run_command"), mapping.get("image_name")
            if command is None and image is not None:
                command = root.get("default_run_command")
            if command is not None and command.text is not None:
                word = image.word() if image is not None and image.text else None
                name = mapping.get("backend_name") or root.get("backend_name")
                yield _one_text(
                    command.placed(), template, (name.text or "") if name is not None else "", image=word,
                    adds_program=True, open_ended=True, env=environment(mapping.get("env"), template),
                )  # fmt: skip
            yield from _gpustack_model(mapping, template)


def _gpustack_model(mapping: YamlNode, template: Template) -> Iterator[Fragment]:
    parameters, backend = mapping.get("backend_parameters"), mapping.get("backend")
    engine = (backend.text or "").lower() if backend is not None else ""
    if parameters is None or backend is None or engine not in _GPUSTACK_ENGINES:
        return
    sources = ("huggingface_repo_id", "model_scope_model_id", "local_path")
    model = next((node for key in sources if (node := mapping.get(key)) is not None), None)
    program = known(_GPUSTACK_ENGINES[engine], backend)
    if model is not None and model.text:
        program += (*known(["--model-path"] if engine == "sglang" else [], model), model.word())
    name, version = mapping.get("name"), mapping.get("backend_version")
    yield Fragment(
        words=(*program, *(word for word, _ in yaml_items(parameters, template))),
        env=environment(mapping.get("env"), template),
        stated=_stated(engine, version, "backend_version"),
        name=(name.text or "") if name is not None else "",
        open_ended=True,
        holes=template.holes,
    )


def _stated(engine: str, version: YamlNode | None, how: str) -> tuple[Stated, ...]:
    text = (version.text or "").removeprefix("v") if version is not None else ""
    if version is None or not re.match(r"\d+\.\d+", text):
        return ()
    return (Stated(engine, text, Firmness.EXACT, how, version.span),)


# -- Truss

_NOTHING = pattern(r"(?!)")


def truss_fragments(document: Document) -> Iterator[Fragment]:
    """The start command of a Truss configuration's server, in its base image."""
    for root in placed_documents(document.source):
        command, image = root.get("docker_server", "start_command"), root.get("base_image", "image")
        if command is None or command.text is None:
            continue
        name = root.get("model_name")
        word = image.word() if image is not None and image.text else None
        env = environment(root.get("environment_variables"))
        yield _one_text(
            command.placed(), Template(_NOTHING), (name.text or "") if name is not None else "", image=word, env=env
        )


# -- srt-slurm

_RECIPE_ENGINES = {"sglang": "sglang", "vllm": "vllm", "trtllm": "tensorrt-llm"}


def srt_slurm_fragments(document: Document) -> Iterator[Fragment]:
    """The workers of a recipe: options as keys below `backend.<engine>_config.<role>`, or as a role's `args`."""
    for root in placed_documents(document.source):
        swept = root.get("sweep")
        names = [key.text for key, _ in swept.items() if key.text] if swept is not None else []
        for recipe in (root, *(node for key, node in root.items() if key.text == "base")):
            for fragment in _workers(recipe):
                yield _swept(fragment, names) if names else fragment


def _swept(fragment: Fragment, names: Sequence[str]) -> Fragment:
    """A worker of a recipe that makes several jobs: `{name}` of a swept parameter stands for another value in each."""
    holes = re.compile("|".join(rf"\{{{re.escape(name)}\}}" for name in names))
    words = tuple(
        replace(word, value=None, raw=word.text, partial="") if word.value and holes.search(word.value) else word
        for word in fragment.words
    )
    known_files = {
        name: text
        for name, text in fragment.files.items()
        if not holes.search(text if isinstance(text, str) else text.text)
    }
    return replace(fragment, words=words, files=known_files)


def _workers(recipe: YamlNode) -> Iterator[Fragment]:
    backend = recipe.get("backend")
    for name in _RECIPE_ENGINES:
        config = backend.get(f"{name}_config") if backend is not None else None
        for role, given in config.items() if config is not None else ():
            env = environment(backend.get(f"{role.text}_environment") if backend is not None else None)
            if given.kind == "mapping":
                yield _worker(recipe, name, role, given, env)
    shared = _named(recipe.get("engine") or recipe.get("backend"))
    roles = recipe.get("roles")
    for role, node in roles.items() if roles is not None else ():
        name = _named(node.get("engine")) or shared
        options = node.get("args")
        if options is not None and name in _RECIPE_ENGINES:
            yield _worker(recipe, name, role, options, environment(node.get("env")), node.get("container"))


def _named(engine: YamlNode | None) -> str:
    """The engine's name, written alone or as the type of a mapping."""
    found = engine if engine is None or engine.kind == "scalar" else engine.get("type")
    return (found.text or "").lower() if found is not None else ""


def _container(recipe: YamlNode, own: YamlNode | None) -> Word | None:
    """The image of a role. Where that is an alias of the cluster's or a file, the one that the recipe says it stands for."""
    nodes = (own, recipe.get("model", "container"), recipe.get("identity", "container", "image"))
    words = [node.word() for node in nodes if node is not None and node.text]
    return next((word for word in words if image_of(word) is not None), words[0] if words else None)


_PROGRAMS = {
    "vllm": ["vllm", "serve"],
    "sglang": ["python3", "-m", "sglang.launch_server"],
    "tensorrt-llm": ["trtllm-serve"],
}
_FRONTED = {"vllm": ["python3", "-m", "dynamo.vllm"], "sglang": ["python3", "-m", "dynamo.sglang"]}


def _as_file(options: YamlNode) -> str | Placed:
    """A mapping as the option file that is made of it, each key and value at its place as far as they are known."""
    value = of_yaml(options)
    try:
        return as_json(value, value.at) if isinstance(value, Pairs) else json.dumps(options.plain(), default=str)
    except NotKnown:
        return json.dumps(options.plain(), default=str)


def _worker(
    recipe: YamlNode,
    name: str,
    role: YamlNode,
    options: YamlNode,
    env: tuple[tuple[str, Word], ...],
    container: YamlNode | None = None,
) -> Fragment:
    engine = _RECIPE_ENGINES[name]
    model, image = recipe.get("model", "path"), _container(recipe, container)
    where = role
    files: dict[str, str | Placed] = {}
    # The recipe names its model and its image as the cluster's own settings do: an alias is no path.
    path = model.word() if model is not None and model.text else Word(None, role.span, "model.path")
    if engine == "tensorrt-llm" and options.kind == "mapping":
        option_file = f"{role.text}.yaml"
        files = {option_file: _as_file(options)}
        words = (*known(["trtllm-serve"], where), path, *known(["--config", option_file], options))
    else:
        told = {str(key.text).replace("_", "-") for key, _ in options.items()}
        # Options of Dynamo's own say that its front end starts the engine.
        fronted = any(name.startswith("dyn-") for name in told)
        words = known(_FRONTED[engine] if fronted and engine in _FRONTED else _PROGRAMS[engine], where)
        if engine == "vllm" and fronted:
            words += (*known(["--model"], where), path)
        elif engine != "sglang":
            words += (path,)
        elif "model-path" not in told:
            words += (*known(["--model-path"], where), path)
        if options.kind == "mapping":
            words += tuple(switches_and_values(options))
        else:
            words += tuple(word for word, _ in yaml_items(options))
    stated = _stated(engine, recipe.get("identity", "frameworks", name), "identity.frameworks")
    return Fragment(
        words=words, image=image, env=env, files=files, stated=stated,
        name=role.text or "", where=role.span, open_ended=True,
    )  # fmt: skip
