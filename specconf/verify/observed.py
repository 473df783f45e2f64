"""What engine releases answered, as it is kept: `compat/<engine>/observed/`. Machine-written, never edited.

`<release>.jsonl` begins with a row about the environment (archive and its hash, versions, canaries, costs); the others hold one
answer each and name their launch by its key. `launches.jsonl` and `models.jsonl` hold what the releases were asked, once for
all of them. A row that does not say what ran, or refuses without the engine's exception, is no observation and cannot be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from specconf.errors import DatabaseError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict, digest
from specconf.oracle.locking import locked
from specconf.verify.proof import LOADED, STARTED, check_header, check_row
from specconf.whole import written_whole

# Of an engine's messages only as many words are kept as tell one from another.
WORDS = 12
LAUNCHES, MODELS = "launches.jsonl", "models.jsonl"
_SHARED = frozenset({LAUNCHES, MODELS})


class Whose(StrEnum):
    """Where launches are from: examples of our own rules; arrays and documents, of which nobody wrote a verdict; launches
    that were started for real, which are few and of our choice.
    """

    OWN = "own"
    NOBODY = "nobody"
    LOADED = "loaded"


class Source(StrEnum):
    """What launches of which nobody wrote a verdict are from."""

    ARRAY = "array"
    CORPUS = "corpus"


class Row(Struct, frozen=True):
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
    def source(self) -> Source | None:
        """What a launch that is nobody's is from; one of people's documents that the array has, too, counts as theirs."""
        if self.whose is not Whose.NOBODY:
            return None
        return Source.CORPUS if any(origin.startswith("corpus ") for origin in self.origins) else Source.ARRAY

    @property
    def loaded(self) -> bool:
        """Whether the launch was started for real."""
        return any(origin.startswith(LOADED) for origin in self.origins)


class Header(Struct, frozen=True):
    """What ran: the release's archive and its hash, the versions beside it, what each canary said, and what it cost.

    `broken` names the canaries that failed: then nothing else was asked. `plain`: values in force of a plain launch, by GPU.
    `edition`: the number of the way in which it was asked; None in files of a time before the ways were numbered.
    """

    engine: str
    release: str
    archive: str
    sha256: str
    python: str
    versions: Mapping[str, str]
    standins: tuple[str, ...] = ()
    seed: int = 0
    edition: int | None = None
    canaries: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    cost: Mapping[str, Any] = field(default_factory=dict)
    plain: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    loaded: Mapping[str, Any] = field(default_factory=dict)


class Observed(Struct, frozen=True):
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
    """The observed files of one engine, whose name is that of the folder above: `<engine>/observed`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def engine(self) -> str:
        """The engine whose releases answered."""
        return self.path.parent.name

    def releases(self) -> list[str]:
        """The releases that were asked, in no order."""
        return [path.stem for path in self.path.glob("*.jsonl") if path.name not in _SHARED]

    def locked(self, progress: Callable[[str], None] = lambda _: None) -> AbstractContextManager[None]:
        """Hold the folder: what is read of it and written back, no other process changes meanwhile."""
        self.path.mkdir(parents=True, exist_ok=True)
        return locked(self.path, "observed", progress)

    def read(self, release: str) -> Observed:
        """One release's answers. DatabaseError for a row that proves nothing."""
        path = self.path / f"{release}.jsonl"
        return self._observed(release, list(_lines(path)), path)

    def _observed(self, release: str, lines: list[dict[str, Any]], path: Path) -> Observed:
        if not lines:
            raise DatabaseError(f"{path}: nothing is recorded there.")
        check_header(lines[0], f"{path}:1", engine=self.engine, release=release)
        header = _header(lines[0])
        rows: list[Row] = []
        seen: dict[tuple[str, bool], int] = {}
        for number, line in enumerate(lines[1:], 2):
            check_row(line, f"{path}:{number}", wheel=bool(header.loaded))
            row = _row(line, header)
            first = seen.setdefault((row.launch, row.loaded), number)
            if first != number:
                raise DatabaseError(f"{path}:{number}: launch {row.launch} was answered in line {first} already.")
            rows.append(row)
        return Observed(header, tuple(rows))

    def questions(self) -> dict[str, Question]:
        """Every launch that any release was asked, by key. DatabaseError where one was changed after it was asked."""
        path = self.path / LAUNCHES
        models = self._models()
        found = {}
        for number, row in enumerate(_lines(path), 1):
            place = f"{path}:{number}"
            if not isinstance(row.get("launch"), str) or not isinstance(row.get("argv"), list):
                raise DatabaseError(f"{place}: it is no launch.")
            named = row.get("models", {})
            if unknown := sorted(set(named.values()) - models.keys()):
                raise DatabaseError(f"{place}: nobody knows what model {unknown[0]} was.")
            question = Question(
                tuple(row["argv"]),
                row.get("env", {}),
                row.get("files", {}),
                {name: models[key] for name, key in named.items()},
                row.get("gpu"),
            )
            if question.key != row["launch"]:
                raise DatabaseError(f"{place}: launch {row['launch']} is not what was asked.")
            found[question.key] = question
        return found

    def _models(self) -> dict[str, Any]:
        path = self.path / MODELS
        found = {}
        for number, row in enumerate(_lines(path), 1):
            if not isinstance(row.get("model"), str) or not isinstance(row.get("config"), dict):
                raise DatabaseError(f"{path}:{number}: it is no model.")
            found[row["model"]] = row["config"]
        return found

    def write(self, observed: Observed, questions: Mapping[str, Question]) -> None:
        """Write a release's answers, and of all launches those that some release was asked.

        The launches are there before an answer names them, and go once none does: whenever this is interrupted, what lies
        there can be read.
        """
        release = observed.header.release
        path = self.path / f"{release}.jsonl"
        with self.locked():
            known = self.questions() | dict(questions)
            if lost := sorted({row.launch for row in observed.rows} - known.keys()):
                raise DatabaseError(f"{path}: nobody knows what launch {lost[0]} was.")
            rows = sorted(
                (_answer_row(row, observed.header, known) for row in observed.rows),
                key=lambda line: (str(line["launch"]), str(line["origins"])),
            )
            # As they would be read: what could not be read again is not written.
            lines = [json.loads(_text(line)) for line in (_header_row(observed.header), *rows)]
            self._observed(release, lines, path)
            others = [self.read(other) for other in self.releases() if other != release]
            self._write_launches(known)
            _write(path, lines)
            used = {row.launch for other in (*others, observed) for row in other.rows}
            self._write_launches({key: question for key, question in known.items() if key in used}, gone=True)

    def _write_launches(self, questions: Mapping[str, Question], *, gone: bool = False) -> None:
        """Write what was asked: models before the launches that name them, or after, where some are `gone`."""
        models: dict[str, Any] = {}
        launches = []
        for key, question in sorted(questions.items()):
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
        whole = [
            (MODELS, [{"model": key, "config": models[key]} for key in sorted(models)]),
            (LAUNCHES, launches),
        ]
        for name, rows in reversed(whole) if gone else whole:
            _write(self.path / name, rows)


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


def _header(line: Mapping[str, Any]) -> Header:
    return Header(
        engine=line["engine"],
        release=line["release"],
        archive=line["archive"],
        sha256=line["sha256"],
        python=line["python"],
        versions=line["versions"],
        standins=tuple(line.get("standins", ())),
        seed=line.get("seed", 0),
        edition=line.get("edition"),
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
        "edition": header.edition,
        "canaries": list(header.canaries),
        "broken": list(header.broken),
        "cost": dict(header.cost),
        "plain": {gpu: dict(values) for gpu, values in header.plain.items()},
        "loaded": dict(header.loaded),
    }
    return {name: value for name, value in row.items() if value}


def profile_of(gpu: str | None) -> str:
    """The name in a header's `plain` of what a release is shown."""
    return gpu or "cpu"


def _row(line: Mapping[str, Any], header: Header) -> Row:
    origins = tuple(line["origins"])
    if "unanswered" in line:
        return Row(line["launch"], origins, None, "", says=line.get("says", ""), unanswered=line["unanswered"])
    verdict = Verdict(line["verdict"])
    plain = header.plain.get(line.get("gpu", "cpu"), {})
    looked_at = verdict is Verdict.ACCEPTS and line["stage"] not in STARTED
    values = {**plain, **line.get("values", {})} if looked_at else {}
    gone = line.get("unset", ())
    return Row(
        launch=line["launch"],
        origins=origins,
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
    profile = profile_of(questions[row.launch].gpu)
    plain = header.plain.get(profile, {})
    accepted = row.verdict is Verdict.ACCEPTS and row.stage not in STARTED
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
    replace_text(path, "".join(_text(row) + "\n" for row in rows))


def _text(row: Mapping[str, Any]) -> str:
    return json.dumps(row, sort_keys=True, ensure_ascii=False)


def replace_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with written_whole(path) as stream:
        stream.write(text)
