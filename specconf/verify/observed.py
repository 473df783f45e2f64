"""What engine releases answered, as it is kept: `compat/<engine>/observed/`. Machine-written, never edited.

`<release>.jsonl` begins with a row about the environment (archive and its hash, versions, canaries, costs); the others hold one
answer each and name their launch by its key. `launches.jsonl` and `models.jsonl` hold what the releases were asked, once for
all of them. A row that does not say what ran, or refuses without the engine's exception, is no observation and cannot be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from specconf.errors import DatabaseError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict, digest
from specconf.whole import written_whole

# Of an engine's messages only as many words are kept as tell one from another.
WORDS = 12
LAUNCHES, MODELS = "launches.jsonl", "models.jsonl"
_SHARED = frozenset({LAUNCHES, MODELS})
# What a header must say: without them nobody knows what was asked.
_PROVEN = ("archive", "sha256", "torch", "python")


class Whose(StrEnum):
    """Where launches are from: examples of our own rules; arrays and documents, of which nobody wrote a verdict; launches
    that were started for real, which are few and of our choice.
    """

    OWN = "own"
    NOBODY = "nobody"
    LOADED = "loaded"


@dataclass(frozen=True, slots=True)
class Row:
    """One answer. `values` are those in force that were looked at, by path; `unanswered` is why there is no verdict."""

    launch: str
    origins: tuple[str, ...]
    verdict: Verdict | None
    stage: str
    exception: str | None = None
    says: str = ""
    where: str = ""
    warnings: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    unanswered: str = ""

    @property
    def whose(self) -> Whose:
        """Whose launch it is; one that is an example of our rules, too, counts as ours."""
        if self.loaded:
            return Whose.LOADED
        return Whose.OWN if any(origin.startswith(("probe ", "twin ")) for origin in self.origins) else Whose.NOBODY

    @property
    def loaded(self) -> bool:
        """Whether the launch was started for real."""
        return any(origin.startswith("load ") for origin in self.origins)


@dataclass(frozen=True, slots=True)
class Header:
    """What ran: the release's archive and its hash, the versions beside it, what each canary said, and what it cost.

    `broken` names the canaries that failed: then nothing else was asked. `plain`: values in force of a plain launch, by GPU.
    """

    engine: str
    release: str
    archive: str
    sha256: str
    python: str
    versions: Mapping[str, str]
    standins: tuple[str, ...] = ()
    seed: int = 0
    canaries: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    cost: Mapping[str, Any] = field(default_factory=dict)
    plain: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    loaded: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Observed:
    """One release's file."""

    header: Header
    rows: tuple[Row, ...]


def row_of(key: str, origins: Iterable[str], answer: Answer | Unanswered, values: Mapping[str, Any]) -> Row:
    """An answer as it is kept."""
    named = tuple(dict.fromkeys(origins))
    if isinstance(answer, Unanswered):
        return Row(key, named, None, "", says=first_words(answer.reason), unanswered=answer.excluded or "unclassified")
    return Row(
        launch=key,
        origins=named,
        verdict=answer.verdict,
        stage=answer.stage,
        exception=answer.exception,
        says=first_words(answer.message),
        where=answer.where,
        warnings=tuple(dict.fromkeys(first_words(text) for text in answer.warnings)),
        values=dict(values) if answer.accepts else {},
    )


def first_words(message: str) -> str:
    """The first words of what an engine said, without what its parser says around them."""
    return " ".join(message.rpartition("error: ")[2].split()[:WORDS])


class Folder:
    """The observed files of one engine."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def releases(self) -> list[str]:
        """The releases that were asked, in no order."""
        return [path.stem for path in self.path.glob("*.jsonl") if path.name not in _SHARED]

    def read(self, release: str) -> Observed:
        """One release's answers. DatabaseError for a row that proves nothing."""
        path = self.path / f"{release}.jsonl"
        lines = list(_lines(path))
        if not lines:
            raise DatabaseError(f"{path}: it is empty.")
        header = _header(lines[0], path)
        rows = []
        for number, line in enumerate(lines[1:], 2):
            rows.append(_row(line, header, f"{path}:{number}"))
        return Observed(header, tuple(rows))

    def questions(self) -> dict[str, Question]:
        """Every launch that any release was asked, by key. DatabaseError where one was changed after it was asked."""
        models = {row["model"]: row["config"] for row in _lines(self.path / MODELS)}
        found = {}
        for row in _lines(self.path / LAUNCHES):
            question = Question(
                tuple(row["argv"]),
                row.get("env", {}),
                row.get("files", {}),
                {name: models[key] for name, key in row.get("models", {}).items()},
                row.get("gpu"),
            )
            if question.key != row["launch"]:
                raise DatabaseError(f"{self.path / LAUNCHES}: launch {row['launch']} is not what was asked.")
            found[question.key] = question
        return found

    def write(self, observed: Observed, questions: Mapping[str, Question]) -> None:
        """Write a release's answers, and of all launches those that some release was asked."""
        self.path.mkdir(parents=True, exist_ok=True)
        lines = [_header_row(observed.header), *(_answer_row(row, observed.header, questions) for row in observed.rows)]
        release = observed.header.release
        others = [self.read(other) for other in self.releases() if other != release]
        asked = self.questions() | dict(questions)
        used = {row.launch for other in (*others, observed) for row in other.rows}
        _write(self.path / f"{release}.jsonl", [lines[0], *sorted(lines[1:], key=lambda line: str(line["launch"]))])
        self._write_launches({key: asked[key] for key in sorted(used)})

    def _write_launches(self, questions: Mapping[str, Question]) -> None:
        models: dict[str, Any] = {}
        launches = []
        for key, question in questions.items():
            names = {name: digest(dict(config)) for name, config in question.models.items()}
            models |= {names[name]: dict(config) for name, config in question.models.items()}
            row = {
                "launch": key,
                "argv": list(question.argv),
                "env": dict(question.env),
                "files": dict(question.files),
                "models": names,
                "gpu": question.gpu,
            }
            launches.append({name: value for name, value in row.items() if value})
        _write(self.path / LAUNCHES, launches)
        _write(self.path / MODELS, [{"model": key, "config": models[key]} for key in sorted(models)])


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DatabaseError(f"{path}:{number}: {error}") from error
        if not isinstance(row, dict):
            raise DatabaseError(f"{path}:{number}: a row is a JSON object.")
        yield row


def _header(line: Mapping[str, Any], path: Path) -> Header:
    versions = line.get("versions") or {}
    said = {**line, "torch": versions.get("torch")}
    if missing := [name for name in _PROVEN if not said.get(name)]:
        raise DatabaseError(f"{path}:1: it does not say what ran: {', '.join(missing)}.")
    return Header(
        engine=line["engine"],
        release=line["release"],
        archive=line["archive"],
        sha256=line["sha256"],
        python=line["python"],
        versions=versions,
        standins=tuple(line.get("standins", ())),
        seed=line.get("seed", 0),
        canaries=tuple(line.get("canaries", ())),
        broken=tuple(line.get("broken", ())),
        cost=line.get("cost", {}),
        plain=line.get("plain", {}),
        loaded=line.get("loaded", {}),
    )


def _header_row(header: Header) -> dict[str, Any]:
    row = {
        "engine": header.engine,
        "release": header.release,
        "archive": header.archive,
        "sha256": header.sha256,
        "python": header.python,
        "versions": dict(header.versions),
        "standins": list(header.standins),
        "seed": header.seed,
        "canaries": list(header.canaries),
        "broken": list(header.broken),
        "cost": dict(header.cost),
        "plain": {gpu: dict(values) for gpu, values in header.plain.items()},
        "loaded": dict(header.loaded),
    }
    return {name: value for name, value in row.items() if value}


def _profile(gpu: str | None) -> str:
    return gpu or "cpu"


def _row(line: Mapping[str, Any], header: Header, place: str) -> Row:
    if "unanswered" in line:
        return Row(
            line["launch"], tuple(line["origins"]), None, "", says=line.get("says", ""), unanswered=line["unanswered"]
        )
    verdict = Verdict(line["verdict"])
    if verdict is not Verdict.ACCEPTS and not line.get("exception"):
        raise DatabaseError(f"{place}: it {verdict} and names no exception.")
    if line["stage"] in ("load", "request") and not header.loaded.get("sha256"):
        raise DatabaseError(f"{place}: it was loaded, and the header names no wheel that loaded it.")
    plain = header.plain.get(line.get("gpu", "cpu"), {})
    looked_at = verdict is Verdict.ACCEPTS and line["stage"] not in ("load", "request")
    values = {**plain, **line.get("values", {})} if looked_at else {}
    gone = line.get("unset", ())
    return Row(
        launch=line["launch"],
        origins=tuple(line["origins"]),
        verdict=verdict,
        stage=line["stage"],
        exception=line.get("exception"),
        says=line.get("says", ""),
        where=line.get("where", ""),
        warnings=tuple(line.get("warnings", ())),
        values={path: value for path, value in values.items() if path not in gone},
    )


def _answer_row(row: Row, header: Header, questions: Mapping[str, Question]) -> dict[str, Any]:
    """A row of a file: of the values in force those that differ from a plain launch's."""
    line: dict[str, Any] = {"launch": row.launch, "origins": list(row.origins)}
    if row.verdict is None:
        return line | {"unanswered": row.unanswered, "says": row.says}
    profile = _profile(questions[row.launch].gpu)
    plain = header.plain.get(profile, {})
    accepted = row.verdict is Verdict.ACCEPTS and row.stage not in ("load", "request")
    told = {
        "gpu": profile,
        "verdict": str(row.verdict),
        "stage": row.stage,
        "exception": row.exception,
        "says": row.says,
        "where": row.where,
        "warnings": list(row.warnings),
        "values": {path: value for path, value in row.values.items() if path not in plain or plain[path] != value},
        "unset": [path for path in plain if path not in row.values] if accepted else [],
    }
    return line | {name: value for name, value in told.items() if value}


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    replace_text(path, "".join(json.dumps(row, sort_keys=True, ensure_ascii=False) + "\n" for row in rows))


def replace_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with written_whole(path) as stream:
        stream.write(text)
