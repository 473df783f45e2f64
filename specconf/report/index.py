"""What `specconf compile --all` wrote into a folder, as its `index.json` (schema: `schemas/index.schema.json`) and README."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from specconf.findings import Finding, NotChecked, Severity
from specconf.report.json_report import finding_json, not_checked_json, render_json

INDEX, PAGE = "index.json", "README.md"
MARK = "<!-- written by specconf compile --all: do not edit -->"
SCHEMA = 1


class FormatFiles(Struct, frozen=True):
    """One format of one launch. `files` are paths in the folder; `refused` says why there are none."""

    form: str
    files: tuple[str, ...] = ()
    refused: str | None = None


class CompiledEngine(Struct, frozen=True):
    """What became of a spec for one engine.

    `release`: as it was judged, or as it was asked for where no such release is known. `image`: the spec's own. `refused`: why
    nothing was written. `forced`: written in spite of errors. `alternatives`: the smallest changes that would pass.
    """

    engine: str
    title: str
    release: str
    release_from: str
    image: str | None = None
    refused: str | None = None
    forced: bool = False
    findings: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    alternatives: tuple[str, ...] = ()
    formats: tuple[FormatFiles, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """Everything that was written for it."""
        return tuple(file for form in self.formats for file in form.files)

    @property
    def missing(self) -> bool:
        """Whether anything was refused."""
        return self.refused is not None or any(form.refused is not None for form in self.formats)


def index_text(spec: str, compiled: Iterable[CompiledEngine], stale: Iterable[str]) -> str:
    """The index as JSON. `spec`: the spec's file; `stale`: files of earlier runs that this one did not write."""
    return render_json(
        {
            "schema": SCHEMA,
            "spec": spec,
            "launches": [_engine_json(each, spec) for each in compiled],
            "stale": list(stale),
        }
    )


def _engine_json(each: CompiledEngine, spec: str) -> dict[str, Any]:
    return {
        "engine": each.engine,
        "release": each.release,
        "release_from": each.release_from,
        "image": each.image,
        "refused": each.refused,
        "forced": each.forced,
        "findings": [finding_json(finding, spec) for finding in each.findings],
        "not_checked": [not_checked_json(item) for item in each.not_checked],
        "alternatives": list(each.alternatives),
        "formats": [{"format": one.form, "files": list(one.files), "refused": one.refused} for one in each.formats],
    }


def listed_files(text: str) -> set[str] | None:
    """The files that an index of an earlier run lists; None for a file that is no such index."""
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            return None
        formats = [form for each in data["launches"] for form in each["formats"]]
        names = [*data["stale"], *(name for form in formats for name in form["files"])]
    except (ValueError, KeyError, TypeError):
        return None
    return {name for name in names if isinstance(name, str) and _inside(name)}


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def page_text(spec: str, compiled: Iterable[CompiledEngine], stale: Iterable[str]) -> str:
    """The same for people: a table of what was written, then what was found, what was refused and why, and what is stale."""
    compiled, stale = list(compiled), list(stale)
    lines = [MARK, "", f"# Launches of {_cell(spec)}", "", "| engine | release | image | format | files | findings |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for each in compiled:
        lines += _rows(each)
    for each in compiled:
        lines += _section(each)
    if stale:
        lines += ["", "## Stale", "", "Written by an earlier run and no longer: nothing was deleted.", ""]
        lines += [f"- `{name}`" for name in stale]
    return "\n".join(lines) + "\n"


def _rows(each: CompiledEngine) -> Iterable[str]:
    head = f"| {each.title} | {_cell(each.release)} ({_cell(each.release_from)}) | {_cell(each.image or '-')} |"
    counted = _counts(each.findings) + (", forced" if each.forced else "")
    if each.refused is not None:
        return [f"{head} - | refused | {counted} |"]
    return [
        f"{head} {one.form} | {'refused' if one.refused else ', '.join(f'[{f}]({f})' for f in one.files)} | {counted} |"
        for one in each.formats
    ]


def _counts(findings: Iterable[Finding]) -> str:
    found = list(findings)
    counted: Mapping[Severity, int] = {s: sum(f.severity is s for f in found) for s in Severity}
    texts = [f"{n} {s}{'' if n == 1 or s is Severity.INFO else 's'}" for s, n in counted.items() if n]
    return ", ".join(texts) or "none"


def _section(each: CompiledEngine) -> list[str]:
    """What is told of one engine behind the table; nothing where there is nothing."""
    told = [f"Refused: {_cell(each.refused)}"] if each.refused is not None else []
    told += [f"{one.form} was refused: {_cell(one.refused)}" for one in each.formats if one.refused is not None]
    told += [f"{f.severity} {f.code}: {_cell(f.message)}{_fix(f)}" for f in each.findings]
    told += [f"Would pass: {_cell(text)}" for text in each.alternatives]
    if each.not_checked:
        told.append(
            f"Rules that could not be decided: {len(each.not_checked)} (`{INDEX}` says which, and what is missing)"
        )
    return ["", f"## {each.title} {_cell(each.release)}", "", *(f"- {text}" for text in told)] if told else []


def _fix(finding: Finding) -> str:
    return f" {_cell(finding.fix)}" if finding.fix else ""


def _cell(text: str) -> str:
    """A text that may hold anything, on one line and inert in a table."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
