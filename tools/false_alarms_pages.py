"""The launches of a folder of documentation pages: fences, cells of notebooks, scripts, calls in Python, files of options.

The folder holds `sources.yaml`: which `engine` its pages are about, the `releases` that all of them are judged for, the newest
last, and per part of it (`path`) the `repository`, `commit` and perhaps `date` it is from, and the `release` that its pages are
written for, where that is known and they name none themselves; `skip` holds parts of the paths of pages about another
program.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from false_alarms_cases import MENTIONS, Case, Corpus, read_fence
from false_alarms_texts import PYTHON, Fence, blanked, fences, shell_text

from specconf.errors import SpecconfError
from specconf.readers.registry import read_launches
from specconf.words import Launch, words

_PAGES = (".md", ".mdx", ".rst", ".ipynb", ".sh", ".py", ".yaml", ".yml")
# TensorRT-LLM's classes of speculation, as the word that stands for each in a file; the one of draft and target has two.
_TAGS = {
    "AutoDecodingConfig": "AUTO",
    "DFlashDecodingConfig": "DFlash",
    "Eagle3DecodingConfig": "Eagle3",
    "EagleDecodingConfig": "Eagle",
    "LookaheadDecodingConfig": "Lookahead",
    "MTPDecodingConfig": "MTP",
    "MedusaDecodingConfig": "Medusa",
    "NGramDecodingConfig": "NGram",
    "PARDDecodingConfig": "PARD",
    "SADecodingConfig": "SA",
}


def collect(root: Path) -> Corpus:
    """Every launch of the folder."""
    told = yaml.safe_load((root / "sources.yaml").read_text(encoding="utf-8"))
    *more, newest = map(str, told["releases"])
    corpus = Corpus(told["engine"], newest, f"{told['title']}'s documentation", tuple(more))
    corpus.places = list(dict.fromkeys(map(_place, told["sources"])))
    for part in told["sources"]:
        base = root / part["path"]
        for path in sorted(p for p in base.rglob("*") if p.suffix in _PAGES and p.is_file()):
            if any(word in str(path.relative_to(base)) for word in part.get("skip", ())):
                corpus.count("pages about another program, skipped")
                continue
            name = f"{part['repository']}/{path.relative_to(base)}"
            _page(corpus, part["repository"], name, path, str(part["release"]) if "release" in part else None)
    return corpus


def _place(part: Mapping[str, Any]) -> str:
    """A part of the folder as a line of the page."""
    dated = f", {part['date']}" if "date" in part else ""
    stated = f", written for {part['release']}" if "release" in part else ""
    return f"{part['repository']} at {part['commit'][:12]}{dated}{stated}"


def _page(corpus: Corpus, kind: str, name: str, path: Path, release: str | None) -> None:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        corpus.count("notebooks")
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                _python(corpus, f"{kind}, notebooks", name, source, 0, release)
            else:
                _markdown(corpus, kind, name, source, release)
    elif path.suffix == ".py":
        _python(corpus, kind, name, text, 0, release)
    elif path.suffix == ".sh":
        corpus.count("scripts")
        corpus.read(kind, name, 1, text, release)
    elif path.suffix in {".yaml", ".yml"}:
        _yaml_file(corpus, kind, name, path, text, release)
    else:
        corpus.count("pages")
        _markdown(corpus, kind, name, text, release)


def _markdown(corpus: Corpus, kind: str, name: str, text: str, release: str | None) -> None:
    found = list(fences(text))
    if corpus.engine == "tensorrt-llm" and _whole_page(corpus, kind, name, text, found, release):
        found = [fence for fence in found if fence.language in {*PYTHON, "yaml", "yml"}]
    for fence in found:
        if fence.language in PYTHON:
            _python(corpus, f"{kind}, calls", name, fence.text, fence.line - 1, release)
        elif fence.language in {"yaml", "yml"} and corpus.engine == "tensorrt-llm":
            _options(corpus, f"{kind}, files", name, fence.line, fence.text, release)
        else:
            read_fence(corpus, kind, name, fence, 0, release)


def _whole_page(corpus: Corpus, kind: str, name: str, text: str, found: list[Fence], release: str | None) -> bool:
    """A page read as one script, for the file of options is written in one fence and named in another."""
    script = blanked(text, [fence for fence in found if fence.language not in {*PYTHON, "yaml", "yml", "json"}])
    before = len(corpus.unread)
    corpus.read(kind, name, 1, script, release)
    failed = len(corpus.unread) > before
    del corpus.unread[before:]
    return not failed


def _options(corpus: Corpus, kind: str, name: str, line: int, text: str, release: str | None) -> None:
    """A file of options by itself, if it says anything of speculation."""
    if "speculative_config:" not in text:
        return
    try:
        found = read_launches("options.yaml", text, engine=corpus.engine)
    except SpecconfError as error:
        corpus.unread.append((name, line, str(error)))
        return
    corpus.count("files of options")
    corpus.cases += [Case(kind, name, line, item.launch, release) for item in found]


def _yaml_file(corpus: Corpus, kind: str, name: str, path: Path, text: str, release: str | None) -> None:
    if corpus.engine == "tensorrt-llm":
        _options(corpus, f"{kind}, files", name, 1, text, release)
    elif "families:" in text:
        corpus.count("tables of the cookbook")
        stated = next((part[1:] for part in path.parts if part.startswith("v0.")), release)
        for launch in _cookbook(yaml.safe_load(text)):
            corpus.cases.append(Case(f"{kind}, tables", name, 1, launch, stated))


def _cookbook(table: Mapping[str, Any]) -> Iterator[Launch]:
    """The launches of a table of SGLang's cookbook: one for each model, GPU and configuration, and each of its roles."""
    for family in table["families"]:
        for model in family["models"]:
            for machine in (model.get("hardware") or {}).values():
                for choice in machine.get("configurations") or []:
                    weights = choice.get("quantized_model_path") or model["model_path"]
                    for role in ("engine", "prefill", "decode"):
                        if choice.get(role):
                            yield _cookbook_launch(weights, choice[role])


def _cookbook_launch(model: str, told: Mapping[str, Any]) -> Launch:
    argv = ["python", "-m", "sglang.launch_server", "--model-path", model]
    for key in ("tp", "dp", "ep"):
        argv += [f"--{key}", str(told[key])] if told.get(key) else []
    argv += ["--enable-dp-attention"] if told.get("enable_dp_attention") else []
    argv += [str(word) for word in told.get("extra_args") or []]
    env = tuple((name, words(str(value))[0]) for name, value in (told.get("env_vars") or {}).items())
    return Launch("sglang", words(*argv), env)


def _python(corpus: Corpus, kind: str, name: str, source: str, offset: int, release: str | None) -> None:
    """Texts of commands, and calls of the engine's class with literal arguments."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    known = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and MENTIONS[corpus.engine].search(node.value)
        ):
            fence = Fence("", node.value + "\n", 1)
            corpus.read(kind, name, offset + node.lineno, shell_text(fence), release)
        elif isinstance(node, ast.Call):
            launch = _call(corpus, node, known)
            if launch is not None:
                corpus.cases.append(Case(kind, name, offset + node.lineno, launch, release))


def _call(corpus: Corpus, call: ast.Call, known: Mapping[str, ast.expr]) -> Launch | None:
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if called != {"sglang": "Engine", "tensorrt-llm": "LLM"}.get(corpus.engine):
        return None
    try:
        values = {word.arg or "**": _literal(word.value, known) for word in call.keywords}
        model = _literal(call.args[0], known) if call.args else values.pop("model", values.pop("model_path", None))
    except ValueError:
        model, values = None, {}
    if not isinstance(model, str) or "**" in values:
        corpus.count("calls with arguments that are no literals")
        return None
    corpus.count("calls read")
    if corpus.engine == "sglang":
        return Launch("sglang", words("python", "-m", "sglang.launch_server", "--model-path", model, *_flags(values)))
    text = yaml.safe_dump(values, sort_keys=True)
    return Launch("tensorrt-llm", words("trtllm-serve", model, "--config", "llm.yaml"), files=(("llm.yaml", text),))


def _literal(node: ast.expr, known: Mapping[str, ast.expr]) -> Any:
    """A value, where names stand for what was assigned to them and a class of speculation for its members."""
    if isinstance(node, ast.Name) and node.id in known:
        return _literal(known[node.id], {name: value for name, value in known.items() if name != node.id})
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _TAGS and not node.args:
        members = {str(word.arg): _literal(word.value, known) for word in node.keywords}
        return {"decoding_type": _TAGS[node.func.id], **members}
    return ast.literal_eval(node)


def _flags(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            yield flag
        elif isinstance(value, list | tuple):
            yield from [flag, *map(str, value)]
        elif value is not None and value is not False:
            yield from [flag, str(value)]
