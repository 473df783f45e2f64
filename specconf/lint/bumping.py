"""Where a deploy file states the release of a launch, with the release to come in its place.

Only what states one release is changed: image tags as they are published, pins, and variables. A digest, a range, a tag of a
variant, and a comment (which says what somebody tried) stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from specconf.lint.edits import Edit
from specconf.lint.results import Judged
from specconf.readers.images import Image, known_images
from specconf.readers.source import SourceText
from specconf.readers.stated import IMAGE_TAG

_WRITTEN = frozenset({"pin", "variable", IMAGE_TAG})


def bumps(launches: Sequence[Judged], goals: Mapping[str, str], path: str, text: str) -> list[Edit]:
    """The edits, each place once."""
    source = SourceText(text, path)
    found: dict[tuple[int, int], Edit] = {}
    for judged in launches:
        goal = goals.get(judged.read.launch.engine)
        if goal is not None:
            for edit in _of(judged, goal, source):
                found.setdefault((edit.start, edit.end), edit)
    return list(found.values())


def _of(judged: Judged, goal: str, source: SourceText) -> Iterator[Edit]:
    chosen = judged.chosen
    where = chosen.where
    if (
        chosen.how not in _WRITTEN
        or where is None
        or where.path != source.path
        or not where.column
        or not where.end_line
    ):
        return
    start, end = source.at(where.line, where.column), source.at(where.end_line, where.end_column)
    if chosen.how == IMAGE_TAG:
        yield from _image(source, start, end, goal, judged.read.launch.engine)
        return
    written = list(re.finditer(rf"(?<![\w.]){re.escape(chosen.text)}(?![\w.])", source.text[start:end]))
    if len(written) == 1:
        at = start + written[0].start()
        yield _edit(source, at, at + len(chosen.text), goal)


def _image(source: SourceText, start: int, end: int, goal: str, engine: str) -> Iterator[Edit]:
    for image in known_images():
        if image.engine != engine or image.fork:
            continue
        found = re.compile(rf"[\w./:-]*?{re.escape(image.repository)}:(?P<tag>[\w.-]+)(?![\w.@-])").search(
            source.text, start, end
        )
        if found is None:
            continue
        tag = _tag(image, found["tag"], goal)
        if tag is not None:
            yield _edit(source, found.start("tag"), found.end("tag"), tag)
        return


def _edit(source: SourceText, start: int, end: int, text: str) -> Edit:
    return Edit(source.path, start, end, source.span_of(start, end), text)


def _tag(image: Image, written: str, goal: str) -> str | None:
    """The tag of a release, where the written one is a plain tag of a release too."""
    if image.tags is not None:
        return next((tag for tag, release in image.tags.items() if release == goal), None)
    plain = re.fullmatch(rf"{re.escape(image.tag_prefix)}?\d+(?:\.\d+)+(?:\.?(?:post|rc|dev)\d+)?", written)
    return f"{image.tag_prefix}{goal}" if plain else None
