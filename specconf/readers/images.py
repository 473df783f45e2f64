"""The published images of the engines, from the database: whose releases their tags carry, and what they start alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from specconf.compat.store import load_json

if TYPE_CHECKING:
    from specconf.compat.database import Database


class Image(Struct, frozen=True):
    """A published image of an engine. `entrypoint`: the program's words that the image adds itself; `module_entrypoint`:
    those of older releases, which take the model as an option. `tags`: releases by tag, where the tag is not the engine's
    own release; `fork`: builds of somebody's own, of about that release. `platform`: where it is not CUDA.
    `tag_prefix`: what the tags of all releases begin with; `own_tags_from`: the oldest release of those that each have a tag
    of nothing else, empty where that is not known. `registry`: where it is published, if not on Docker Hub.
    """

    engine: str
    repository: str
    entrypoint: tuple[str, ...] = ()
    module_entrypoint: tuple[str, ...] = ()
    tags: Mapping[str, str] | None = None
    fork: bool = False
    platform: str = ""
    tag_prefix: str = ""
    own_tags_from: str = ""
    registry: str = ""


_in_force: ContextVar[tuple[Image, ...] | None] = ContextVar("images", default=None)


def images_in(database: Database) -> tuple[Image, ...]:
    """The images of one engine, the longest name first."""
    return _images({database.engine: database.images})


@contextmanager
def images_of(databases: Iterable[Database]) -> Iterator[None]:
    """Read files with the images of these databases, which may hold a project's own."""
    token = _in_force.set(_images({database.engine: database.images for database in databases}))
    try:
        yield
    finally:
        _in_force.reset(token)


def known_images() -> tuple[Image, ...]:
    """Every image that is known, the longest name first."""
    found = _in_force.get()
    return _published() if found is None else found


@cache
def _published() -> tuple[Image, ...]:
    return _images(load_json("images"))


def _images(rows: Mapping[str, Iterable[Mapping[str, Any]]]) -> tuple[Image, ...]:
    found = [_image(engine, row) for engine, each in rows.items() for row in each]
    return tuple(sorted(found, key=lambda image: -len(image.repository)))


def _image(engine: str, row: Mapping[str, Any]) -> Image:
    tags = row.get("tags")
    return Image(
        engine,
        row["repository"],
        tuple(row.get("entrypoint", ())),
        tuple(row.get("module_entrypoint", ())),
        None if tags is None else {str(tag): str(release) for tag, release in tags.items()},
        bool(row.get("fork")),
        row.get("platform", ""),
        row.get("tag_prefix", ""),
        row.get("own_tags_from", ""),
        row.get("registry", ""),
    )
