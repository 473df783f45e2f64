"""Launches whose verdict nobody wrote: those of people's documents, word for word, as questions to a release.

Every launch is asked of every release, whatever release its document is for. Models become configs of their family
(`specconf.verify.placing`); a launch is left out, and counted, where a word is not known or a model cannot be placed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from specconf.compat.store import load_rows
from specconf.compat.view import View
from specconf.engines.base import Engine
from specconf.engines.registry import get_engine, get_oracle
from specconf.models.rows import RowTable
from specconf.oracle.asking import Question, digest
from specconf.settings import Settings
from specconf.verify.asked import Asked
from specconf.verify.beside import chat_template, tokenizer
from specconf.verify.placing import Placer
from specconf.verify.tiny import Config, list_of
from specconf.words import Launch, Word, words

_SPECULATION = ("speculative_", "spec_", "enable_beta_spec", "env.SGLANG_ENABLE_SPEC")
# GPUs that engines are shown, and how often of a hundred. A model in NVFP4 is one for the newest.
_GPUS = (("H100", 70), ("B200", 15), ("H200", 10), ("A100", 5))


class Lifted(Struct):
    """Launches of documents as questions, and why others are none."""

    asked: list[Asked] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def lifted(engine_name: str, view: View, rows: Iterable[Mapping[str, Any]], *, seed: int, size: int) -> list[Asked]:
    """So many launches of documents, those that speculate first, spread over the documents by the seed."""
    return lift(engine_name, view, rows, seed=seed, size=size).asked


def lift(engine_name: str, view: View, rows: Iterable[Mapping[str, Any]], *, seed: int, size: int) -> Lifted:
    """The same, with the number of launches left out by reason. A row: argv, file, line, and env and files if there are."""
    chance = random.Random(f"{seed} {engine_name} corpus")  # noqa: S311 (a text: the same in every process)
    shuffled = list(rows)
    chance.shuffle(shuffled)
    reader = _Reader(get_engine(engine_name), view)
    found = Lifted()
    seen: set[str] = set()
    speculating: list[Asked] = []
    others: list[Asked] = []
    for row in shuffled:
        read = reader.read(row, chance)
        if isinstance(read, str):
            found.left_out[read] += 1
            continue
        if read.bears in seen:
            found.left_out["the same in all that bears on speculation"] += 1
            continue
        seen.add(read.bears)
        (speculating if read.speculates else others).append(read.asked)
    found.asked = _spread(speculating)[:size]
    found.asked += _spread(others)[: size - len(found.asked)]
    return found


def row_of(launch: Launch, file: str, line: int) -> dict[str, Any]:
    """A launch that was read from a script as a row; a word that is not known is an object."""
    row: dict[str, Any] = {"argv": [_plain(word) for word in launch.argv], "file": file, "line": line}
    return row | {"env": {name: _plain(word) for name, word in launch.env}, "files": dict(launch.files)}


def _plain(word: Word) -> Any:
    return word.value if word.value is not None else {"raw": word.raw}


def _spread(asked: list[Asked]) -> list[Asked]:
    """One of each document, then a second of each, and so on: no document crowds the others out."""
    turns: dict[str, list[Asked]] = {}
    for each in asked:
        turns.setdefault(each.origin.rpartition(":")[0], []).append(each)
    longest = max((len(group) for group in turns.values()), default=0)
    return [group[turn] for turn in range(longest) for group in turns.values() if turn < len(group)]


class _Read(Struct, frozen=True):
    """A launch as a question. `bears` names all of it that bears on speculation."""

    asked: Asked
    speculates: bool
    bears: str


class _Reader:
    """Rows as questions to one release."""

    def __init__(self, engine: Engine, view: View) -> None:
        self._engine = engine
        self._view = view
        self._oracle = get_oracle(engine.name)
        self._placer = Placer(RowTable(load_rows("checkpoints")))

    def read(self, row: Mapping[str, Any], chance: random.Random) -> _Read | str:
        """A row's question, or why it is none."""
        shown = chance.random()
        argv, env, files = row["argv"], row.get("env") or {}, row.get("files") or {}
        if not all(isinstance(word, str) for word in (*argv, *env.values())):
            return "a word is not known"
        given = tuple((name, Word(value, raw=value)) for name, value in env.items())
        settings = self._engine.resolve(
            Launch(self._engine.name, words(*argv), given, tuple(files.items())), self._view
        )
        models = self._models(settings)
        if isinstance(models, str):
            return models
        beside = {**tokenizer(next(iter(models))), **chat_template(settings.get("chat_template")), **files}
        question = Question(tuple(argv), dict(env), beside, models, self._gpu(models, shown))
        asked = Asked(f"corpus {row['file']}:{row['line']}", question)
        speculates = any(path.startswith(_SPECULATION) for path in settings)
        return _Read(asked, speculates, self._bears(settings, models, speculates))

    def _models(self, settings: Settings) -> dict[str, Config] | str:
        """The configs of the models that a launch names, or why there are none."""
        target, drafter = settings.get(self._engine.model_path), settings.get(self._engine.draft_path)
        if not isinstance(target, str):
            return "no target is named"
        if _leads_away(target) or (isinstance(drafter, str) and _leads_away(drafter)):
            return "a model is no name of the hub"
        placed = self._placer.target(target)
        if placed is None:
            return "the target's family is not known"
        if self._oracle.own_code & set(map(str, list_of(placed))):
            return "the target brings code of its own"
        models = {target: placed}
        if isinstance(drafter, str) and drafter != target:
            drafts = self._placer.draft(drafter, placed)
            if drafts is None:
                return "the draft's kind is not known"
            models[drafter] = drafts
        return models

    def _gpu(self, models: Mapping[str, Config], shown: float) -> str | None:
        if not self._oracle.gpus:
            return None
        if any("fp4" in name.lower() for name in models):
            return "B200"
        share = shown * sum(weight for _, weight in _GPUS)
        for gpu, weight in _GPUS:
            share -= weight
            if share < 0:
                return gpu
        return _GPUS[-1][0]

    def _bears(self, settings: Settings, models: Mapping[str, Config], speculates: bool) -> str:
        """The models, what is compared with the engine and what is written about speculation; without any, every option."""
        names = {self._engine.model_path, self._engine.draft_path}
        written = {path: str(value) for path, value in settings.items() if path not in names}
        if speculates:
            compared = self._oracle.effective
            written = {
                path: value
                for path, value in written.items()
                if path in compared or path.startswith(_SPECULATION) or path.endswith("parallel_size")
            }
        return digest([sorted(written.items()), [sorted(map(digest, models.values()))]])


def _leads_away(name: str) -> bool:
    """Whether a name is no relative one: a path of the author's machine, an address, or a place to fill in."""
    return name.startswith(("/", "~", ".", "$")) or ":" in name or "<" in name or "$" in name
