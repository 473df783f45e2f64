"""Image tags that are written without the letter that all published tags of their repository begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from specconf.findings import Finding, Severity
from specconf.readers.found import ReadLaunch
from specconf.readers.images import Image, known_images
from specconf.readers.source import SourceText
from specconf.readers.stated import IMAGE_TAG
from specconf.words import Span


class BareTag(Struct, frozen=True):
    """A tag as written, and where it begins in the text."""

    image: Image
    tag: str
    at: int


def tag_findings(launch: ReadLaunch, source: SourceText) -> Iterator[Finding]:
    """The tags of a launch's image that are not published as they are written; a mirror may name its own as it likes."""
    for stated in launch.stated:
        if stated.how != IMAGE_TAG or (found := bare_tag(stated.where, source)) is None:
            continue
        prefix, repository = found.image.tag_prefix, found.image.repository
        yield Finding(
            "SC702",
            Severity.WARNING,
            f"{repository} has no tag {found.tag}: those of its releases begin with {prefix}.",
            engine=stated.engine,
            release=stated.text,
            fix=f"Write {repository}:{prefix}{found.tag}.",
            where=stated.where,
            option=found.tag,
        )


def bare_tag(where: Span | None, source: SourceText) -> BareTag | None:
    """A tag at a place that lacks the letter; None where what stands there names no such image itself."""
    if where is None or where.path != source.path or not where.end_line or not where.column:
        return None
    start, end = source.at(where.line, where.column), source.at(where.end_line, where.end_column)
    for image in known_images():
        if not image.tag_prefix:
            continue
        found = re.compile(
            rf"['\"]?(?:(?:index\.)?docker\.io/)?{re.escape(image.repository)}:(?P<tag>\d+\.\d+[\w.-]*)"
        ).match(source.text, start, end)
        if found is not None:
            return BareTag(image, found["tag"], found.start("tag"))
    return None
