"""A small format for tests: launches in YAML, as lists of words, as lines without a shell, and as scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from specconf.compat.database import load_database
from specconf.engines.base import Engine, Models
from specconf.lint.fixing import Fixed, fix_text
from specconf.lint.run import FileResult, Linter
from specconf.models.view import model_views
from specconf.readers import registry
from specconf.readers.commandline import words_of
from specconf.readers.found import ReadLaunch
from specconf.readers.fragments import Document, Fragment
from specconf.readers.launches import in_fragment
from specconf.readers.yamltext import placed_documents
from specconf.settings import Settings


def box_fragments(document: Document) -> Iterator[Fragment]:
    """`args`: words; `line`: a command line; `script`: what a shell runs."""
    for root in placed_documents(document.source):
        for key, value in root.items():
            if key.text == "args":
                yield Fragment(words=tuple(item.word() for item in value), where=value.span)
            elif key.text == "line":
                yield Fragment(words=words_of(value.placed()), where=value.span)
            elif key.text == "script":
                yield Fragment(script=value.placed(), where=value.span)


class BoxFormat(registry.Format):
    """The format of files that end in .box.yaml."""

    def read(self, document: Document) -> list[ReadLaunch]:
        return [launch for fragment in box_fragments(document) for launch in in_fragment(fragment, document.path)]


@pytest.fixture
def boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads .box.yaml files."""
    one = BoxFormat("box", lambda path, _: path.endswith(".box.yaml"), "")
    monkeypatch.setattr(registry, "FORMATS", (one, *registry.FORMATS))


def _no_models(_settings: Settings, _engine: Engine, _folder: Path) -> Models:
    return Models(*model_views(None, None))


def linter(vllm: str = "0.33.0", sglang: str = "0.5.20") -> Linter:
    """A linter that knows no model."""
    return Linter(load_database, _no_models, {"vllm": vllm, "sglang": sglang})


def judged(text: str, path: str = "run.sh", judge: Linter | None = None) -> FileResult:
    """A text with what is found in it."""
    return (judge or linter()).file(path, text.encode())


def fixed(text: str, path: str = "run.sh", *, unsafe: bool = False, judge: Linter | None = None) -> Fixed:
    """A text after fixing."""
    judge = judge or linter()
    return fix_text(judge, judged(text, path, judge), unsafe=unsafe)
