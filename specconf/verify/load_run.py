"""Starting a release's launches for real and keeping how far they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from specconf.oracle.asking import Answer, Question, Unanswered
from specconf.oracle.serving import Serving
from specconf.verify.asked import Asked
from specconf.verify.loading import load
from specconf.verify.observed import Header, Observed, Row, row_of

# Where it listens says nothing about the launch, and differs every time.
_PLACE = ("--host", "--port")


def as_started(question: Question, added: Iterable[str]) -> Question:
    """The launch with the words that it was started with beside its own."""
    words = list(added)
    for name in _PLACE:
        if name in words:
            at = words.index(name)
            del words[at : at + 2]
    return replace(question, argv=(*question.argv, *words))


def load_row(asked: Asked, added: Iterable[str], answer: Answer | Unanswered) -> tuple[Row, Question]:
    """A load as it is kept."""
    started = as_started(asked.question, added)
    origin = asked.origin if asked.origin.startswith("load ") else f"load {asked.origin}"
    return row_of(started.key, [origin], answer, {}), started


def load_release(
    serving: Serving, asked: Iterable[Asked], progress: Callable[[str], None]
) -> tuple[list[Row], dict[str, Question]]:
    """Start every launch, one after the other."""
    rows: list[Row] = []
    questions: dict[str, Question] = {}
    for one in asked:
        said = load(serving, one.question)
        row, started = load_row(one, said.added, said.answer)
        rows.append(row)
        questions[started.key] = started
        progress(f"{serving.engine} {serving.release} {row.origins[0]}: {row.verdict or row.unanswered} {row.stage}")
    return rows, questions


def with_loads(observed: Observed, rows: Iterable[Row], loaded: Mapping[str, object]) -> Observed:
    """A release's answers with its loads, in place of earlier ones. `loaded` says what served them."""
    config = [row for row in observed.rows if not row.loaded]
    header: Header = replace(observed.header, loaded=dict(loaded))
    return Observed(header, (*config, *rows))
