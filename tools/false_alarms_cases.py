"""Launches of texts as cases to judge, each with its place and the releases it is for; those of an unpacked vLLM sdist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from false_alarms_recipes import render
from false_alarms_texts import PYTHON, SHELL, Fence, as_argv, fences, llm_calls, shell_text
from msgspec import Struct, field

from specconf.errors import SpecconfError
from specconf.readers.registry import ReadLaunch, read_launches
from specconf.words import Launch, words

# Words by which a text names an engine's server.
MENTIONS = {
    "vllm": re.compile(r"vllm serve|vllm\.entrypoints\.openai\.api_server"),
    "sglang": re.compile(r"sglang\.launch_server|sglang serve"),
    "tensorrt-llm": re.compile(r"trtllm-serve"),
}


class Case(Struct, frozen=True):
    """One launch. `kind` is where it was found; `stated` is the release that stands beside it, None where none does."""

    kind: str
    file: str
    line: int
    launch: Launch
    stated: str | None
    of: str = ""


class Corpus(Struct):
    """All cases, the newest release they are judged for and `more` such releases, and what was looked at on the way.

    That is counts, the launches that could not be read, and the `source`: what the page says that they are launches of.
    """

    engine: str
    release: str
    source: str
    more: tuple[str, ...] = ()
    cases: list[Case] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    unread: list[tuple[str, int, str]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, name: str, number: int = 1) -> None:
        """Adds to a count."""
        self.counts[name] = self.counts.get(name, 0) + number

    def read(self, kind: str, file: str, line: int, text: str, stated: str | None, of: str = "") -> None:
        """The launches of a shell text whose first line is at `line`."""
        try:
            found = read_launches("text.sh", text, engine=self.engine)
        except SpecconfError as error:
            self.unread.append((file, line, str(error)))
            return
        if not found and MENTIONS[self.engine].search(text):
            self.count("shell texts that name the server without starting it")
        for item in found:
            at = line + (item.launch.span.line - 1 if item.launch.span else 0)
            self.cases.append(Case(kind, file, at, item.launch, _final(item) or stated, of))


def _final(item: ReadLaunch) -> str | None:
    """The release of an image's tag, where it is one of a release."""
    return item.release if item.release and re.fullmatch(r"\d+(\.\d+)+", item.release) else None


def collect(root: Path) -> Corpus:
    """Every launch of the sdist."""
    information = (root / "PKG-INFO").read_text(encoding="utf-8")
    release = re.search(r"^Version: (\S+)", information, re.MULTILINE)[1]  # type: ignore[index]
    corpus = Corpus("vllm", release, f"vLLM {release}'s recipes, docs and examples")
    for path in sorted((root / "recipes" / "models").rglob("*.yaml")):
        _recipe(corpus, path, str(path.relative_to(root)))
    for path in sorted([*(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md")]):
        kind = "docs" if path.is_relative_to(root / "docs") else "examples"
        for fence in fences(path.read_text(encoding="utf-8")):
            read_fence(corpus, kind, str(path.relative_to(root)), fence, 0, None)
    for path in sorted((root / "examples").rglob("*.sh")):
        corpus.count("shell scripts in examples/")
        corpus.read("examples", str(path.relative_to(root)), 1, path.read_text(encoding="utf-8"), None)
    for path in sorted((root / "examples").rglob("*.py")):
        _python(corpus, "examples", str(path.relative_to(root)), path.read_text(encoding="utf-8"), 0)
    return corpus


def _recipe(corpus: Corpus, path: Path, name: str) -> None:
    text = path.read_text(encoding="utf-8")
    recipe = yaml.safe_load(text)
    corpus.count("recipes")
    launches = list(render(recipe))
    written = [value for word, value in pairwise(_list_words(recipe)) if word == "--speculative-config"]
    corpus.count("speculative configs in recipes", len(written))
    rendered = {word for item in launches for word in shlex.split(item.text)}
    corpus.count("speculative configs that a rendered launch has", sum(value in rendered for value in written))
    corpus.count("dotted or short speculative options in recipes", sum(map(_names_a_method, _list_words(recipe))))
    stated = recipe["model"].get("min_vllm_version")
    stated = str(stated) if stated and stated != "nightly" else None
    for item in launches:
        corpus.read("recipes, rendered", name, 1, item.text, item.release, item.of)
    for fence in fences(recipe.get("guide") or ""):
        read_fence(corpus, "recipes, guides", name, fence, _line_of(text, "guide"), stated)


def _list_words(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for value in node.values():
            yield from _list_words(value)
    elif isinstance(node, list):
        for value in node:
            yield from [value] if isinstance(value, str) else _list_words(value)


def _names_a_method(word: str) -> bool:
    return word in {"--spec-method", "--speculative-config.method"}


def _line_of(text: str, key: str) -> int:
    """The line a top-level key stands at; its block scalar starts on the next one."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.startswith(f"{key}:"))


def read_fence(corpus: Corpus, kind: str, name: str, fence: Fence, offset: int, stated: str | None) -> None:
    """The launches of a fence of a text, which starts `offset` lines into its file."""
    if fence.language in PYTHON:
        _python(corpus, kind, name, fence.text, offset + fence.line - 1)
    elif fence.language in SHELL:
        corpus.count(f"shell fences in {kind}")
        corpus.read(kind, name, offset + fence.line, shell_text(fence), stated)
    elif MENTIONS[corpus.engine].search(fence.text):
        corpus.count("other fences that name the server")


def _python(corpus: Corpus, kind: str, name: str, source: str, offset: int) -> None:
    for call in llm_calls(source):
        if call.arguments is None:
            corpus.count("LLM calls with arguments that are no literals")
            continue
        corpus.count("LLM calls read")
        launch = Launch("vllm", words(*as_argv(call.arguments)))
        corpus.cases.append(Case(f"{kind}, LLM calls", name, offset + call.line, launch, None))
