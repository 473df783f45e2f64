"""One constraint explained: what `specconf explain` prints, its JSON form, and the pages of `docs/rules/`.

All of it comes from the database; nothing is said here in words of its own.

The bad and the good example are the constraint's own probe and twin, which the tests run.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from specconf.codes import CODES, SCHEMA_CODES, Code
from specconf.compat.database import Database
from specconf.compat.rows import Constraint
from specconf.findings import Severity, capped_severity, default_severity

Explained: TypeAlias = tuple[Database, Constraint]


def severity_of(constraint: Constraint) -> Severity:
    """How bad it is where exact outputs are asked for and a value was written."""
    severity = constraint.severity or default_severity(constraint.effect)
    return capped_severity(severity, constraint.best_evidence, schema_fact=constraint.code in SCHEMA_CODES)


def general(text: str) -> str:
    """A message without a launch: the release dropped, facts by their names."""
    return re.sub(r"\{([^}]+)\}", r"<\1>", text.replace(" {release}", ""))


def example_text(example: Mapping[str, Any]) -> str:
    """An example's launch as one line, its files below it."""
    env = [f"{name}={shlex.quote(str(value))}" for name, value in (example.get("env") or {}).items()]
    words = [*env, *(shlex.quote(str(word)) for word in example.get("argv", ()))]
    files = (example.get("files") or {}).items()
    return " ".join(words) + "".join(
        f"\n  {name}:\n    " + text.rstrip().replace("\n", "\n    ") for name, text in files
    )


def example_models(example: Mapping[str, Any]) -> Iterator[str]:
    """The models of an example: what their config.json says, and the names of tensors where these matter."""
    for role in ("target", "draft"):
        if example.get(role) is not None:
            yield f"{role} config.json: {json.dumps(example[role])}"
        if example.get(f"{role}_tensors") is not None:
            yield f"{role} tensors: {', '.join(example[f'{role}_tensors']) or 'none'}"
    yield from (f"{name}: {json.dumps(value)}" for name, value in (example.get("facts") or {}).items())


def examples_of(constraint: Constraint) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The launches that show it: one that meets it, one that does not."""
    for label, example in (("meets it", constraint.probe), ("does not", constraint.twin)):
        if example:
            yield label, example


def remark(constraint: Constraint) -> str:
    """What sets it apart from a constraint that yields findings; empty where nothing does."""
    if constraint.resolves:
        return "not a finding: it is what the engine fills in, and shows in the effective configuration"
    return "" if constraint.evaluated else "not checked before launch: nothing in a launch decides it"


def constraint_lines(database: Database, constraint: Constraint) -> Iterator[str]:
    """A constraint as text, line by line."""
    yield f"{constraint.id}  ({constraint.code} {CODES[constraint.code].name})"
    yield general(constraint.message)
    if not constraint.resolves:
        yield f"fix: {general(constraint.fix)}" if constraint.fix else "fix: none is known"
    yield f"releases: {constraint.ranges.text(database.line)}"
    yield f"effect: {constraint.effect} at {constraint.stage}" + (
        "" if remark(constraint) else f" ({severity_of(constraint)})"
    )
    for evidence in constraint.evidence:
        yield f"evidence: {evidence.kind} {evidence.text}".rstrip()
    if confirmed := database.confirmed.get(constraint.id):
        yield f"confirmed by the engine's own answers to these examples: {', '.join(confirmed)}"
    if remark(constraint):
        yield remark(constraint)
    for label, example in examples_of(constraint):
        yield f"{label} ({example['release']}): {example_text(example)}"
        yield from (f"    {line}" for line in example_models(example))


def constraint_json(database: Database, constraint: Constraint) -> dict[str, Any]:
    """A constraint as plain data."""
    return {
        "id": constraint.id,
        "code": constraint.code,
        "kind": constraint.kind,
        "engine": database.engine,
        "releases": constraint.ranges.text(database.line),
        "stage": str(constraint.stage),
        "effect": str(constraint.effect),
        "message": constraint.message,
        "fix": constraint.fix or None,
        "when": constraint.when,
        "set": constraint.sets or None,
        "confirmed": list(database.confirmed.get(constraint.id, ())),
        "evidence": [{"kind": str(e.kind), "text": e.text} for e in constraint.evidence],
        "probe": constraint.probe,
        "twin": constraint.twin,
    }


def explained(name: str, databases: Iterable[Database]) -> list[Explained]:
    """The constraints of a code, or the one of an id."""
    return [(db, c) for db in databases for c in db.constraints if c.id == name or c.code == name.upper()]


def rule_pages(databases: Sequence[Database]) -> dict[str, str]:
    """The pages of `docs/rules/` by file name: one for each code, and an index."""
    pages = {f"{code.code}.md": _page(code, explained(code.code, databases)) for code in CODES.values()}
    return {"README.md": _index(databases), **pages}


_WRITTEN = "<!-- Written by tools/write_rule_docs.py from compat/: do not edit. -->"


def _index(databases: Sequence[Database]) -> str:
    engines = [database.engine for database in databases]
    lines = [
        "# Rules", "", _WRITTEN, "",
        "One page for each finding code. `specconf explain CODE` and `specconf explain CONSTRAINT` print the same.", "",
        f"| code | name | about | {' | '.join(engines)} |", f"| --- | --- | --- |{' --- |' * len(engines)}",
    ]  # fmt: skip
    for code in CODES.values():
        numbers = [str(sum(c.code == code.code for c in database.constraints)) for database in databases]
        lines.append(f"| [{code.code}]({code.code}.md) | {code.name} | {code.about} | {' | '.join(numbers)} |")
    return "\n".join(lines) + "\n"


def _page(code: Code, found: Sequence[Explained]) -> str:
    lines = [f"# {code.code} {code.name}", "", _WRITTEN, "", code.about]
    if code.fix:
        lines += ["", f"What to do: {code.fix}"]
    if not found:
        lines += ["", "It comes from the reading of specs and launches, not from a constraint of an engine."]
    for database, constraint in found:
        lines += ["", *_section(database, constraint)]
    return "\n".join(lines) + "\n"


def _section(database: Database, constraint: Constraint) -> Iterator[str]:
    yield f"## {constraint.id}"
    yield ""
    yield general(constraint.message)
    if constraint.fix:
        yield ""
        yield f"What to do: {general(constraint.fix)}"
    yield ""
    yield "| releases | effect | stage | severity | evidence |"
    yield "| --- | --- | --- | --- | --- |"
    severity = "none" if remark(constraint) else str(severity_of(constraint))
    releases = constraint.ranges.text(database.line)
    yield f"| {releases} | {constraint.effect} | {constraint.stage} | {severity} | {constraint.best_evidence} |"
    if remark(constraint):
        yield ""
        yield f"{remark(constraint).capitalize()}."
    yield ""
    yield from (f"- {evidence.kind} {evidence.text}".rstrip() for evidence in constraint.evidence)
    for label, example in examples_of(constraint):
        yield ""
        yield f"{label.capitalize()} ({database.engine} {example['release']}):"
        yield ""
        yield "```sh"
        yield example_text(example)
        yield from (f"# {line}" for line in example_models(example))
        yield "```"
