"""Files that stand as texts in other files: what a playbook copies to a host, what a machine is given at its first start.

The name of the file that is written tells the kind, as it does of a file that lies in a folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from specconf.readers.fragments import Document, Fragment
from specconf.readers.source import Placed

_DEEPEST = 3  # files in files
_TEMPLATE_NAMES = (".j2", ".jinja", ".jinja2", ".tpl", ".tftpl")
_SCRIPTS = frozenset({"shell"})


def in_file(name: str, text: Placed, outer: Document, holes: Mapping[str, str] | None = None) -> Iterator[Fragment]:
    """The processes of a file of this name with this text. `holes`: the characters that stand for parts that are not known."""
    from specconf.readers.registry import detected_format

    for ending in _TEMPLATE_NAMES:
        name = name.removesuffix(ending)
    found = detected_format(name, text.text) if outer.depth < _DEEPEST else None
    if found is None:
        return
    if found.name in _SCRIPTS:
        yield Fragment(script=text, holes=holes or {}, name=_last(name))
    elif not found.whole:
        inner = Document(outer.path, text.text, inside=text, depth=outer.depth + 1)
        for fragment in found.fragments(inner):
            yield replace(fragment, holes={**fragment.holes, **(holes or {})}, name=fragment.name or _last(name))


def _last(name: str) -> str:
    return name.rpartition("/")[2]
