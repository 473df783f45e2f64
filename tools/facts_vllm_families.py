"""The MTP families of vLLM's facts file, whose targets and layers are written as prose, beside the harvested table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from facts_common import Record, Row, Sides, compared


def family_rows(sides: Sides) -> Iterator[Row]:
    section = "mtp_families"
    for fact in sides.facts[section]:
        listed = [(_known(sides, word), first) for word, first in _targets(fact)]
        for value, first in listed:
            ours = sides.ours.table(section, value=value)
            key = f"{fact['target']}: {value}" if value != fact["target"] else value
            yield compared(section, f"{key}: releases", str(sides.lasting(first, fact["last"])), str(sides.held(ours)))
        ours = [row for value, _ in listed for row in sides.ours.table(section, value=value)]
        named = set(re.findall(r"\b[A-Z]\w*MTP\w*", fact["draft_architecture"]))
        architectures = {name for row in ours for name in row.get("draft_architectures", ())}
        yield compared(section, f"{fact['target']}: draft", sorted(named), sorted(architectures))
        yield compared(section, f"{fact['target']}: layers", *_depths(fact["n_predict_from"], ours))
    yield from _unlisted(sides)


def _targets(fact: Record) -> Iterator[tuple[str, str]]:
    """The model types and architectures that a row's prose names, with the first release of each."""
    text = fact["target"]
    for inner in re.findall(r"\(([^)]*)\)", text):
        later = re.search(r"([\d.]+)\+$", inner)
        for word in _words(inner.rsplit(" ", 1)[0]) if later else ():
            yield word, later.group(1) if later else ""
    text = re.sub(r"\([^)]*\)|\bwith .*| as a separate.*| draft$|\*", "", text)
    for word in _words(text):
        yield word, fact["first"]


def _known(sides: Sides, word: str) -> str:
    """A word of the prose, or the one architecture of our table that it is the stem of."""
    values = {row["value"] for row in sides.ours.table("mtp_families")}
    whole = [value for value in values if value.startswith(f"{word}For")]
    return whole[0] if word not in values and len(whole) == 1 else word


def _words(text: str) -> list[str]:
    """Names joined by slashes or `and`: `arch Step3p5/Step3p7` are the architectures of that stem."""
    pieces = re.split(r"\s*/\s*|,\s*|\s+and\s+", re.sub(r"^and |\barch ", "", text.strip()))
    return [piece.strip() for piece in pieces if re.fullmatch(r"\w+", piece.strip())]


def _depths(text: str, ours: Sequence[Record]) -> tuple[str, str]:
    """Where the number of layers comes from: the keys in the order in which they are asked, or `fixed`."""
    keys = re.findall(r"(?:\w+\.)?\w*(?:num_\w+)", text)
    given = "fixed" if text.startswith("fixed") else " else ".join(keys)
    default = re.search(r"default (\d+)", text)
    found = {" else ".join(row.get("depth_keys", ("fixed",))) for row in ours}
    defaults = {str(row["depth_default"]) for row in ours if "depth_default" in row}
    said = " or ".join(sorted(found)) + (f" (default {', '.join(sorted(defaults))})" if defaults else "")
    return given + (f" (default {default.group(1)})" if default else ""), said


def _unlisted(sides: Sides) -> Iterator[Row]:
    """Values that our table has beside those of the facts; a draft's own model type stands beside its target's."""
    listed = {_known(sides, word) for fact in sides.facts["mtp_families"] for word, _ in _targets(fact)}
    drafts = {row["draft_model_type"] for row in sides.ours.table("mtp_families") if "draft_model_type" in row}
    for value in sorted({row["value"] for row in sides.ours.table("mtp_families")} - listed - drafts):
        held = sides.held(sides.ours.table("mtp_families", value=value))
        yield compared("mtp_families", f"{value}: releases", "not listed", str(held))
