"""What vLLM's own documentation and recipes say of checkpoints: which ids an architecture's row names, which a recipe
serves, and which draft each is launched with. Read from the text of an sdist; the rows hold nothing else.
"""

from __future__ import annotations

import ast
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
SUPPORTED = "docs/models/supported_models.md"
FEATURES = "docs/features/speculative_decoding/"
RECIPES = "recipes/models/"
# The part of the tables that lists models run through transformers' own classes; its ids say nothing of an architecture.
NOT_NATIVE = "TransformersFor"
# Words of the method key that say how a draft drafts; in which format its checkpoint is written they do not say.
METHODS = frozenset({"eagle", "eagle3", "dflash", "dspark", "medusa"})
CONFIG = re.compile(r"\{[^{}]*?[\"']method[\"']\s*:[^{}]*\}")
SERVED = re.compile(rf"(?:vllm serve\s+|^\s*model\s*=\s*[\"']|--model[ =])(?P<id>{HUB_ID.pattern})", re.MULTILINE)

Row = dict[str, Any]


def texts(sdist: Path, *folders: str) -> Iterator[tuple[str, str]]:
    """Path inside the release, and text, of the files in some folders."""
    root = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            path = member.name.removeprefix(f"{root}/")
            if member.isfile() and path.startswith(folders) and path.endswith((".md", ".yaml")):
                file = archive.extractfile(member)
                assert file is not None
                yield path, file.read().decode()


def release_of(sdist: Path) -> str:
    return sdist.name.removeprefix("vllm-").removesuffix(".tar.gz")


def documented(sdist: Path) -> Iterator[Row]:
    """One row for each id in the tables of supported models, and for each draft in the pages on speculation."""
    where = {"kind": "docs", "package": "vllm", "release": release_of(sdist)}
    rows: dict[str, Row] = {}
    for path, text in texts(sdist, SUPPORTED, FEATURES):
        if path == SUPPORTED:
            for number, line in enumerate(text.splitlines(), 1):
                add_table_row(rows, line, where | {"file": path, "line": number})
        else:
            for draft in drafts_in(text):
                add_draft(rows, draft, where | {"file": path, "line": draft["line"]})
    yield from rows.values()


def add_table_row(rows: dict[str, Row], line: str, where: Row) -> None:
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    named = re.findall(r"`([A-Za-z0-9_]+)`", cells[0]) if len(cells) > 2 else []
    if len(named) != 1 or named[0].startswith(NOT_NATIVE):
        return
    for found in re.findall(r"`([^`]+)`", cells[2]):
        if HUB_ID.fullmatch(found):
            row = {"id": found, "kind": "plain", "config": {"architectures": named}, "source": [where]}
            rows.setdefault(found, row)


def recipes(sdist: Path) -> Iterator[Row]:
    """One row for each id that a recipe serves, with its variants, and for each draft of its launches."""
    where = {"kind": "docs", "package": "vllm", "release": release_of(sdist)}
    rows: dict[str, Row] = {}
    drafts: list[tuple[Row, Row]] = []
    for path, text in texts(sdist, RECIPES):
        recipe = yaml.safe_load(text)
        target = recipe["model"]["model_id"]
        variants = (recipe.get("variants") or {}).values()
        for served in (target, *(variant.get("model_id") for variant in variants)):
            if isinstance(served, str) and HUB_ID.fullmatch(served):
                source = where | {"file": path, "line": line_of(text, served)}
                rows.setdefault(served, {"id": served, "kind": "plain", "config": {}, "source": [source]})
        for draft in drafts_in(text):
            drafts.append(({**draft, "target": target}, where | {"file": path, "line": draft["line"]}))
    for draft, source in drafts:
        add_draft(rows, draft, source)
    yield from rows.values()


def drafts_in(text: str) -> Iterator[Row]:
    """Method, draft and target of every speculative config that names a draft of its own; the last id served is its target."""
    served = [(found.start(), found["id"]) for found in SERVED.finditer(text)]
    for found in CONFIG.finditer(text):
        config = parsed(found[0])
        draft, method = config.get("model"), config.get("method")
        if not isinstance(draft, str) or not HUB_ID.fullmatch(draft) or folder_in_a_checkpoint(draft, text):
            continue
        if method in METHODS or method in {"draft_model", "mtp"}:
            before = [name for at, name in served if at < found.start()]
            line = text.count("\n", 0, found.start()) + 1
            known = method in METHODS and not config.get("parallel_drafting")
            target = before[-1] if before else None
            yield {"id": draft, "method": method, "by": method if known else None, "target": target, "line": line}


def folder_in_a_checkpoint(draft: str, text: str) -> bool:
    """Whether the text fetches a checkpoint of the name before the slash, so that the draft is a folder of it."""
    return re.search(rf"/{re.escape(draft.partition('/')[0])}(?![\w./-])", text) is not None


def parsed(text: str) -> dict[str, Any]:
    """A JSON object or a Python literal; empty where it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text.replace('\\"', '"'))
        except (ValueError, SyntaxError):
            continue
        if isinstance(found, dict):
            return found
    return {}


def add_draft(rows: dict[str, Row], draft: Row, where: Row) -> None:
    target, method = draft["target"], draft["method"]
    if draft["id"] == target or "drafts_for" not in rows.get(draft["id"], {"drafts_for": ()}):
        return
    row = rows.setdefault(
        draft["id"],
        {
            "id": draft["id"],
            "kind": "plain" if method == "draft_model" else "unknown",
            "config": {},
            "drafts_for": [],
            "source": [where | {"note": f"drafts by method {method}"}],
        }
        | ({"drafts_by": draft["by"]} if draft["by"] else {}),
    )
    if isinstance(target, str):
        row["drafts_for"] = sorted({*row["drafts_for"], target})


def line_of(text: str, word: str) -> int:
    at = re.search(rf"{re.escape(word)}(?![\w.-])", text)
    return text.count("\n", 0, at.start()) + 1 if at else 1
