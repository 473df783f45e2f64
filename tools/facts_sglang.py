"""SGLang's facts file beside the harvested rows: one comparison for each flag, variable, algorithm, draft, message and release.

The facts give closed intervals of releases and histories of `[first release, value]`; both become spans of releases here.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from facts_common import Harvest, Record, Row, Span, between, compared, read_as, shown, skipped, span
from facts_sglang_checks import check_rows

ABOUT = (
    "Facts: an AST scan of all 105 wheels, made independently of this harvester. Written by `tools/compare_facts.py`; the "
    "explanations are in `tools/facts_explained/sglang.yaml`. Messages are compared both ways: `checks_measured: here only` "
    "has those of ours that the facts lack, by file and kind."
)
CLI, ENV = "sglang.cli", "sglang.env"
_TEXTS = re.compile(r"Literal|str\b|CudaGraphConfig")
_PRODUCT = re.compile(r"\d+(?: \* \d+)+")
_BRACES = re.compile(r"\{(\w+)[^}]*\}")
_LEFT = {
    "overlap_rule": "a rule in prose: the constraints and their probes hold it",
    "checks": "conditions in prose: the constraints and their probes hold them, checks_measured has their messages",
    "adaptive": "behaviour in prose: the constraints hold it",
    "memory": "behaviour in prose, and values for single machines",
    "docker": "about images, which no release's source shows",
    "traps": "advice in prose",
}


def rows(facts: Record, harvested: Harvest) -> Iterator[Row]:
    """Every row of the comparison, section by section."""
    sections: Sequence[Callable[[Record, Harvest], Iterable[Row]]] = (
        *(_releases, _flags, _all_flags, _abbreviations, _environment, _algorithms, _numbers, _mtp, _own_draft),
        *(_drafts, _backends, _metrics, check_rows, _launch_forms, _left),
    )
    for section in sections:
        yield from section(facts, harvested)


def intervals(order: Sequence[str], pairs: Iterable[Sequence[str]]) -> Span:
    """Closed intervals as one span."""
    return span(order, frozenset().union(*(between(order, first, last).members for first, last in pairs)))


def history(order: Sequence[str], values: dict[str, Any]) -> list[list[Any]]:
    """The values in releases as `[first release, value]` wherever the value changes, or begins again after a gap."""
    found: list[list[Any]] = []
    known = [release for release in order if release in values]
    places = {release: place for place, release in enumerate(order)}
    for before, release in pairwise([None, *known]):
        assert release is not None
        apart = before is not None and places[release] > places[before] + 1
        if before is None or apart or shown(values[before]) != shown(values[release]):
            found.append([release, values[release]])
    return found


def _releases(facts: Record, harvested: Harvest) -> Iterator[Row]:
    dates = {row["version"]: row["date"] for row in harvested.releases}
    for release in facts["releases"]:
        yield compared("releases", release["version"], release["date"], dates.get(release["version"], "absent"))


def _flags(facts: Record, harvested: Harvest) -> Iterator[Row]:
    for section in ("speculative_flags", "deployment_flags"):
        for flag, fact in facts[section].items():
            yield from _flag(section, flag, fact, harvested)


def _flag(section: str, flag: str, fact: Record, harvested: Harvest) -> Iterator[Row]:
    """One flag: its life, what it writes, and how it is read."""
    order, found = harvested.order, harvested.named(flag, CLI)
    held = intervals(order, fact["intervals"])
    yield compared(section, f"{flag} intervals", str(held), str(span(order, harvested.held_by(found))))
    if not found:
        return
    newest = max(found, key=lambda row: max(order.index(release) for release in harvested.held(row)))
    yield compared(section, f"{flag} dest", fact["dest"], newest["path"])
    yield _type_row(section, flag, fact, newest)
    ours = _defaults(harvested, found)
    read = _json_default if newest.get("type") == "json" else _literal
    yield compared(
        section, f"{flag} defaults", history(order, _told(order, held, fact["defaults"], read)), history(order, ours)
    )
    yield from _choices(section, flag, fact, harvested)
    yield from _deprecation(section, flag, fact, harvested)


def _choices(section: str, flag: str, fact: Record, harvested: Harvest) -> Iterator[Row]:
    """The words that a flag takes, wherever the facts list them."""
    order, ours = harvested.order, harvested.by_release(harvested.named(flag, CLI), "choices")
    told = _told(order, intervals(order, fact["intervals"]), fact["choices"] or [], lambda value: value)
    named = {release: value for release, value in told.items() if isinstance(value, str)}
    for name in sorted(set(named.values())):
        releases = span(order, (release for release in named if named[release] == name))
        yield skipped(section, f"{flag} choices {releases}", name, f"the facts give only the list's name, {name}")
    if not named or set(told) != set(named):
        left = {release: value for release, value in ours.items() if release not in named}
        listed = {release: value for release, value in told.items() if release not in named}
        yield compared(section, f"{flag} choices", history(order, listed), history(order, left))


def _type_row(section: str, flag: str, fact: Record, row: Record) -> Row:
    """The type, reduced to what a word is read as; a list to what its words are."""
    if not fact["type"]:
        return skipped(section, f"{flag} type", fact["type"], "the facts have no type")
    inner = re.sub(r"^Optional\[(.*)\]$", r"\1", fact["type"])
    inner = re.sub(r"^List\[(.*)\]$", r"\1", inner)
    told = "str" if _TEXTS.search(inner) else inner
    ours = row.get("type", "unknown")
    return compared(section, f"{flag} type", told, "str" if ours == "json" and told == "str" else ours)


def _literal(text: Any) -> Any:
    """A default's source text as its value; text that is no literal stays as it is."""
    if not isinstance(text, str):
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return math.prod(int(part) for part in text.split("*")) if _PRODUCT.fullmatch(text) else text


def _json_default(text: Any) -> Any:
    """A default that is a JSON text, as the value that it stands for."""
    value = _literal(text)
    return json.loads(value) if isinstance(value, str) else value


def _told(
    order: Sequence[str], held: Span, told: Iterable[Sequence[Any]], read: Callable[[Any], Any]
) -> dict[str, Any]:
    """A history of the facts as the value in every release in which the flag is there."""
    values: dict[str, Any] = dict.fromkeys(held.members)
    for first, value in told:
        for release in between(order, first, None).members & held.members:
            values[release] = read(value)
    return values


def _defaults(harvested: Harvest, found: Iterable[Record]) -> dict[str, Any]:
    """The default that a flag's path has in each release: of its own row, or of the path's first."""
    values: dict[str, Any] = {}
    for row in found:
        for release in harvested.held(row):
            mates = [row, *(mate for mate in harvested.paths(row["path"], CLI) if release in harvested.held(mate))]
            stated = next((mate for mate in mates if "default" in mate or "default_expr" in mate), {})
            missing = "<required>" if any(mate.get("required") for mate in mates) else None
            values[release] = stated.get("default", stated.get("default_expr", missing))
    return values


def _deprecation(section: str, flag: str, fact: Record, harvested: Harvest) -> Iterator[Row]:
    """Since when a flag is called deprecated, and what is to be written instead."""
    retired = [row for row in harvested.named(flag, CLI) if row.get("deprecated")]
    first = span(harvested.order, harvested.held_by(retired)).first
    if fact["deprecated_since"] or retired:
        yield compared(section, f"{flag} deprecated since", fact["deprecated_since"] or "never", first)
    replaced = [row for row in retired if "replaced_by" in row]
    newest = max(replaced, key=lambda row: max(map(harvested.order.index, harvested.held(row))), default={})
    if fact["replaced_by"]:
        told = re.split(r"[ =]", _BRACES.sub(r"\1", fact["replaced_by"]))[0]
        yield compared(section, f"{flag} replaced by", told, newest.get("replaced_by", "nothing"))
    elif newest:
        yield skipped(
            section,
            f"{flag} replaced by",
            "",
            f"the facts name none; the release's own words name {newest['replaced_by']}",
        )


def _all_flags(facts: Record, harvested: Harvest) -> Iterator[Row]:
    order, told = harvested.order, facts["all_flags"]
    ours = {name for row in harvested.options if row["scope"] == CLI for name in row["names"] if name.startswith("--")}
    for flag in sorted({*told, *ours}):
        held = span(order, harvested.held_by(harvested.named(flag, CLI)))
        if flag not in told:
            yield compared("all_flags", flag, "never", str(held))
            continue
        yield compared("all_flags", flag, str(intervals(order, told[flag]["intervals"])), str(held))
        if flag not in facts["speculative_flags"] and flag not in facts["deployment_flags"]:
            yield from _deprecation("all_flags", flag, told[flag], harvested)


def _abbreviations(facts: Record, harvested: Harvest) -> Iterator[Row]:
    order = harvested.order
    spelled: dict[str, set[str]] = {release: {"--help"} for release in order}
    for row in harvested.options:
        if row["scope"] == CLI:
            for release in harvested.held(row):
                spelled[release].update((*row["names"], *row.get("no_names", ())))
    for word, told in facts["flag_abbreviations"]["history"].items():
        ours = {release: read_as(word, names) for release, names in spelled.items()}
        yield compared("flag_abbreviations", word, told, history(order, ours))


def _environment(facts: Record, harvested: Harvest) -> Iterator[Row]:
    order = harvested.order
    for fact in facts["environment"]:
        name, found = fact["name"], harvested.named(fact["name"], ENV)
        if "first" not in fact:
            yield skipped("environment", name, fact.get("note", ""), "the facts give no releases")
            continue
        held = between(order, fact["first"], fact["last"])
        read = span(order, harvested.held_by(row for row in found if not isinstance(row.get("deprecated"), str)))
        yield compared("environment", f"{name} releases", str(held), str(read))
        if "defaults" in fact:
            ours = {
                release: value
                for release, value in harvested.by_release(found, "default").items()
                if release in held.members
            }
            yield compared("environment", f"{name} defaults", fact["defaults"], history(order, ours))


def _algorithms(facts: Record, harvested: Harvest) -> Iterator[Row]:
    for fact in facts["algorithms"]:
        name = fact["name"]
        if name.startswith("<"):
            yield skipped(
                "algorithms",
                f"{name} {fact['first']}",
                fact["api"],
                "names that plugins register are not in the source",
            )
            continue
        held = span(harvested.order, harvested.held_by(harvested.table("algorithm_words", value=name)))
        told = "never" if fact["first"] is None else str(between(harvested.order, fact["first"], fact["last"]))
        yield compared("algorithms", name, told, str(held))
        if "alias_of" in fact:
            aliased = span(
                harvested.order, harvested.held_by(harvested.table("algorithm_words", value=name, alias_of="EAGLE"))
            )
            yield compared(
                "algorithms", f"{name} alias since", re.findall(r"since (\S+)", fact["alias_of"])[0], aliased.first
            )


def _numbers(facts: Record, harvested: Harvest) -> Iterator[Row]:
    """What the facts list for a target beside what it gets here: by its own row, or as every other target."""
    order = harvested.order
    others = _triples(harvested, "*")
    for fact in facts["auto_params"]:
        held = intervals(order, fact["intervals"])
        own = _triples(harvested, fact["arch"])
        effective = {**others, **own}
        told = {release: list(ast.literal_eval(fact["params"])) for release in held.members}
        ours = {release: effective.get(release) for release in held.members}
        yield compared("auto_params", f"{fact['arch']} {fact['params']}", history(order, told), history(order, ours))


def _triples(harvested: Harvest, value: str) -> dict[str, list[int]]:
    return {
        release: [row["steps"], row["topk"], row["tokens"]]
        for row in harvested.table("auto_numbers", value=value)
        for release in harvested.held(row)
    }


def _mtp(facts: Record, harvested: Harvest) -> Iterator[Row]:
    order = harvested.order
    found: dict[tuple[str, str], list[Record]] = {}
    for row in (*harvested.table("mtp_targets"), *harvested.table("bundled_drafts")):
        found.setdefault((row["value"], row["draft"]), []).append(row)
    told = {(fact["target"], fact["draft"]): fact["intervals"] for fact in facts["mtp_families"]["mtp"]}
    for pair in dict.fromkeys([*told, *found]):
        held = span(order, harvested.held_by(found.get(pair, ())))
        yield compared("mtp_families", " -> ".join(pair), str(intervals(order, told.get(pair, ()))), str(held))


def _own_draft(facts: Record, harvested: Harvest) -> Iterator[Row]:
    told, order = facts["mtp_families"]["draft_path_defaults_to_target"], harvested.order
    found = {row["value"] for row in harvested.table("draft_from_target")}
    for name in dict.fromkeys([*told, *sorted(found)]):
        held = span(order, harvested.held_by(harvested.table("draft_from_target", value=name)))
        yield compared("draft_path_defaults_to_target", name, str(intervals(order, told.get(name, ()))), str(held))


def _drafts(facts: Record, harvested: Harvest) -> Iterator[Row]:
    for name, fact in facts["draft_architectures"].items():
        found = harvested.table("model_registry", value=name)
        held = span(harvested.order, harvested.held_by(found))
        yield compared("draft_architectures", name, str(intervals(harvested.order, fact["intervals"])), str(held))
        newest = max(
            found, key=lambda row: max(map(harvested.order.index, harvested.held(row))), default={"module": ""}
        )
        yield compared("draft_architectures", f"{name} file", fact["file"], newest["module"].rpartition("/")[2])


def _backends(facts: Record, harvested: Harvest) -> Iterator[Row]:
    told, order = facts["draft_attention_backends"], harvested.order
    for name in sorted({*told, *(row["value"] for row in harvested.table("draft_attention_backends"))}):
        for use in ("decode", "prefill"):
            held = span(
                order, harvested.held_by(harvested.table("draft_attention_backends", value=name, **{use: True}))
            )
            pairs = told.get(name, {}).get(use, [])
            yield compared("draft_attention_backends", f"{name} {use}", str(intervals(order, pairs)), str(held))


def _metrics(facts: Record, harvested: Harvest) -> Iterator[Row]:
    told = {fact["name"]: fact for fact in facts["metrics"]["prometheus"]}
    for name in dict.fromkeys([*told, *(row["value"] for row in harvested.table("metrics"))]):
        found = harvested.table("metrics", value=name)
        fact = told.get(name, {"kind": "absent", "first": "never"})
        ours = [span(harvested.order, harvested.held_by(found)).first, *sorted({row["kind"] for row in found})]
        yield compared("metrics", name, [fact["first"], fact["kind"]], ours)


def _launch_forms(facts: Record, harvested: Harvest) -> Iterator[Row]:
    order = harvested.order
    derived = {
        "--config file.yaml": harvested.table("scope_rules", forms=["yaml"]),
        "sglang serve M (positional model)": [
            row for row in harvested.paths("model_path", CLI) if row["kind"] == "positional"
        ],
    }
    for fact in facts["launch_forms"]:
        form = fact["form"]
        if form in derived:
            held = span(order, harvested.held_by(derived[form]))
            yield compared("launch_forms", form, str(between(order, fact["first"], fact["last"])), str(held))
        else:
            yield skipped("launch_forms", form, json.dumps(fact), "an entry point: no row states it")


def _left(facts: Record, _: Harvest) -> Iterator[Row]:
    for section, reason in _LEFT.items():
        yield skipped(section, f"all {len(facts[section])}", "", reason)
