"""vLLM's facts file beside what was harvested: every section that the harvested files can answer, row by row.

Spans are compared over the releases that the facts read: where the harvest has read more, its bounds are finer and
count as equal. Sections that hold prose only are not compared here; constraints carry them, with evidence of their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from facts_common import UNREAD, Harvest, Record, Row, Sides, compared, read_as, skipped, span
from facts_vllm_families import family_rows
from facts_vllm_messages import message_rows

ABOUT = (
    "The facts file read 72 of the 77 releases from 0.4.1 to 0.33.0; spans are compared over those. It is a check, never a"
    " source: where the two differ, the engine's own source of the release decides, and says so below. Messages are compared"
    " both ways: `message_index: here only` has those of ours that the facts lack, by file and kind."
)
CLI, MEMBERS = "vllm.cli", "vllm.speculative_config"
_VERSION = re.compile(r"\d+(?:\.\w+)+")
_EFFECTS = {"TypeError": "rejects", "validation error": "rejects", "silently ignored": "drops"}


def rows(facts: Mapping[str, Any], harvested: Harvest) -> Iterator[Row]:
    """All comparisons, section by section."""
    sides = Sides(facts, harvested, tuple(row["release"] for row in facts["releases"]))
    for section in _SECTIONS:
        yield from section(sides)
    yield from message_rows(facts["message_index"], harvested, sides.order, sides.span)


def _fields(sides: Sides) -> Iterator[Row]:
    section = "spec_config_fields"
    for fact in sides.facts[section]:
        name = fact["field"]
        ours = sides.ours.paths(f"speculative_config.{name}", MEMBERS)
        yield compared(
            section, f"{name}: releases", str(sides.lasting(fact["first"], fact["last"])), str(sides.held(ours))
        )
        yield compared(section, f"{name}: internal", fact["internal"], any(row.get("internal") for row in ours))
        said = [(sides.span(item["releases"]).members, item) for item in fact["history"]]
        within = frozenset().union(*(members for members, _ in said))
        given = {release: _default(item["default"]) for members, item in said for release in members}
        yield compared(section, f"{name}: default", sides.runs(given), sides.history(ours, _our_default, within))
        limits = {release: _limits(item["default"]) for members, item in said for release in members}
        yield compared(section, f"{name}: bounds", sides.runs(limits), sides.history(ours, _our_limits, within))
        if not fact["internal"]:
            types = {release: _type(item["type"]) for members, item in said for release in members}
            yield compared(section, f"{name}: type", sides.runs(types), sides.history(ours, _our_type, within))
        yield from _allowed(sides, fact, ours)
        if fact["renamed_to"]:
            yield skipped(section, f"{name}: renamed_to", fact["renamed_to"], "prose about what may stand in its place")


def _allowed(sides: Sides, fact: Record, ours: Sequence[Record]) -> Iterator[Row]:
    """The values that a field takes."""
    section, key, allowed = "spec_config_fields", f"{fact['field']}: allowed", fact["allowed"]
    if isinstance(allowed, str):
        yield skipped(section, key, allowed, "prose; the words of `method` are compared below, rules are constraints")
    if isinstance(allowed, list):
        allowed = {f"{fact['first']}-{fact['last'] or ''}": allowed}
    for releases, values in allowed.items() if isinstance(allowed, dict) else ():
        within = sides.span(releases).members
        given = sides.runs(dict.fromkeys(within, sorted(values)))
        yield compared(section, f"{key} {releases}", given, sides.history(ours, _our_choices, within))


def _our_default(row: Record) -> object:
    return row.get("default", row.get("default_expr", UNREAD))


def _our_limits(row: Record) -> object:
    return row.get("bounds") or {}


def _our_choices(row: Record) -> object:
    return sorted(row.get("choices") or [])


def _our_type(row: Record) -> object:
    return row.get("type", "of the engine") + (", nullable" if row.get("nullable") else "")


def _call(text: str) -> ast.Call | None:
    """`Field(default=None, ge=1)` as syntax; None for anything else."""
    node = ast.parse(text, mode="eval").body if text != "<req>" else None
    return node if isinstance(node, ast.Call) and ast.unparse(node.func).lower() == "field" else None


def _default(text: str) -> object:
    """The value of a default that the facts give as the engine writes it; the text where it is an expression."""
    if text == "<req>":
        return UNREAD
    call = _call(text)
    given = {keyword.arg: keyword.value for keyword in call.keywords} if call else {}
    if "default_factory" in given:
        made = ast.unparse(given["default_factory"])
        return {} if made == "dict" else f"{made}()"
    try:
        return ast.literal_eval(given.get("default", text))
    except (ValueError, SyntaxError):
        return text


def _limits(text: str) -> dict[str, object]:
    call = _call(text)
    keywords = call.keywords if call else []
    return {str(word.arg): ast.literal_eval(word.value) for word in keywords if word.arg in ("gt", "ge", "lt", "le")}


def _type(text: str) -> str:
    """An annotation in the words of the option table; every alias that the facts name is one of texts."""
    bare = re.sub(r"^(?:SkipValidation|Optional)\[(.*)\]$", r"\1", text)
    nullable = ", nullable" if text.startswith("Optional[") or bare.endswith(" | None") else ""
    bare = bare.removesuffix(" | None")
    if bare in ("bool", "int", "float", "str"):
        return bare + nullable
    if bare.endswith("Config"):
        return "of the engine" + nullable
    return ("json" if bare.startswith("list[") else "str") + nullable


def _renames(sides: Sides) -> Iterator[Row]:
    """At the release of a rename the old value goes and the new one is there."""
    section = "value_renames"
    for fact in sides.facts[section]:
        at, key = fact["at"], f"{fact['field']}: {fact['old']}"
        if " " in fact["old"]:
            yield compared(
                section, f"{key}: mtp begins", at, sides.held(sides.ours.table("method_words", value="mtp")).first
            )
            continue
        ours = sides.ours.paths(f"speculative_config.{fact['field']}", MEMBERS)
        old = sides.held([row for row in ours if fact["old"] in row.get("choices", ())])
        field, _, value = fact["new"].rpartition("=")
        named = sides.ours.paths(f"speculative_config.{field or fact['field']}", MEMBERS)
        new = sides.held([row for row in named if value.strip("'") in row.get("choices", ())])
        last = sides.order[sides.order.index(at) - 1]
        yield compared(
            section,
            key,
            f"to {last}, then {fact['new']} from {at}",
            f"to {old.last}, then {fact['new']} from {new.first}",
        )


def _unknown_keys(sides: Sides) -> Iterator[Row]:
    section = "unknown_keys"
    ours = sides.ours.table("scope_rules", value=MEMBERS)
    for fact in sides.facts[section]:
        within = sides.span(fact["releases"]).members
        said = sides.history(ours, lambda row: row["unknown_member"], within)
        yield compared(section, fact["releases"], sides.runs(dict.fromkeys(within, _EFFECTS[fact["effect"]])), said)


def _methods(sides: Sides) -> Iterator[Row]:
    section = "methods"
    for fact in sides.facts[section]:
        for word in fact["method"].split(", "):
            ours = sides.held(sides.ours.table("method_words", value=word))
            literal = re.search(r"Literal (?:from )?([\d.]+)", fact["first"])
            if not literal and not _VERSION.fullmatch(fact["first"]):
                yield skipped(
                    section,
                    f"{word}: first",
                    fact["first"],
                    "prose on engines and keys; the word itself is compared below",
                )
                continue
            yield compared(section, f"{word}: first", literal.group(1) if literal else fact["first"], ours.first)
            if fact["last"] is None or _VERSION.fullmatch(fact["last"]):
                yield compared(section, f"{word}: last", fact["last"], ours.last)
    for word, releases in sides.facts["method_literal_intervals"].items():
        ours = sides.held(sides.ours.table("method_words", value=word))
        yield compared("method_literal_intervals", word, str(sides.span(releases)), str(ours))
    known = {row["value"] for row in sides.ours.table("method_words")} - set(sides.facts["method_literal_intervals"])
    for word in sorted(known):
        yield compared(
            "method_literal_intervals",
            word,
            "not listed",
            str(sides.held(sides.ours.table("method_words", value=word))),
        )


def _old_flags(sides: Sides) -> Iterator[Row]:
    section = "cli.old_spec_flags"
    for fact in sides.facts["cli"]["old_spec_flags"]:
        flag, ours = fact["flag"], sides.ours.named(fact["flag"], CLI)
        yield compared(section, f"{flag}: releases", str(sides.span(fact["releases"])), str(sides.held(ours)))
        yield compared(section, f"{flag}: aliases", sorted(fact["aliases"]), _others(ours, flag))
        yield compared(
            section, f"{flag}: config_key", fact["config_key"], ours[-1]["path"].rpartition(".")[2] if ours else ""
        )
        deprecated = sides.held([row for row in ours if row.get("deprecated")])
        yield compared(section, f"{flag}: deprecated", fact["deprecated"], deprecated.first)
        last = sides.held(ours).last
        removed = sides.order[sides.order.index(last) + 1] if last in sides.order else "never"
        yield compared(section, f"{flag}: removed", fact["removed"], removed)


def _others(ours: Iterable[Record], flag: str) -> list[str]:
    """The spellings of an option besides one."""
    return sorted({name for row in ours for name in row["names"]} - {flag})


def _config_flag(sides: Sides) -> Iterator[Row]:
    section, fact = "cli.spec_config_flag", sides.facts["cli"]["spec_config_flag"]
    ours = sides.ours.named("--speculative-config", CLI)
    yield compared(section, "first", fact["first"], sides.held(ours).first)
    short, first = fact["short"].split()
    yield compared(section, "short", first.rstrip("+"), sides.held(sides.ours.named(short, CLI)).first)
    releases, flags = fact["spec_flags"].split(";")[0].split(": ")
    for flag in flags.split(", "):
        yield compared(section, flag, releases.rstrip("+"), sides.held(sides.ours.named(flag, CLI)).first)
    yield from _forms(sides, section, fact)
    yield _abbreviation(sides, section, fact)
    yield skipped(section, "parsing", fact["parsing"], "which function reads the JSON text: no row states it")


def _forms(sides: Sides, section: str, fact: Record) -> Iterator[Row]:
    """Since when each way of writing the members is read: of the scope's forms, and of the option for a file."""
    dashes = re.search(r"from ([\d.]+) dashes in keys become underscores", fact["dotted"])
    nested = re.search(r"nested mapping ([\d.]+)\+", fact["yaml"])
    told = {
        "dotted": re.match(r"[\d.]+(?=\+)", fact["dotted"]),
        "dotted_dashes": dashes,
        "yaml": nested,
        "json": re.search(r"as JSON string in any release from ([\d.]+)", fact["yaml"]),
    }
    for form, found in told.items():
        ours = [row for row in sides.ours.scopes.get(MEMBERS, ()) if form in row.get("forms", ())]
        yield compared(section, f"form {form}", found[found.re.groups] if found else "not said", sides.held(ours).first)
    file = re.match(r"(--\S+) \S+ ([\d.]+)\+", fact["yaml"])
    flag, first = file.groups() if file else ("--config", "not said")
    yield compared(section, f"yaml: {flag}", first, sides.held(sides.ours.named(flag, CLI)).first)
    for part in ("--config=file form 0.17.0+", "CLI wins over YAML"):
        said = part if part in fact["yaml"] else "not said"
        yield skipped(
            section, f"yaml: {part}", said, "how the file is found and merged: tests of the option reader hold it"
        )
    for part in fact["dotted"].split("; ")[1:]:
        if "dashes" not in part:
            yield skipped(
                section, f"dotted: {part}", part, "how keys and values are read: tests of the option reader hold it"
            )


def _abbreviation(sides: Sides, section: str, fact: Record) -> Row:
    """The releases in which the parser takes the facts' abbreviation for the option: all that have it."""
    word = fact["prefix_match"].rpartition(" ")[2].rstrip(")")
    flag, spelled = "--speculative-config", dict[str, set[str]]()
    for row in sides.ours.options:
        if row["scope"] == CLI:
            for release in sides.ours.held(row):
                spelled.setdefault(release, {"--help"}).update((*row.get("names", ()), *row.get("no_names", ())))
    taken = [release for release, names in spelled.items() if read_as(word, names) == f"abbrev:{flag}"]
    return compared(section, f"prefix_match: {word}", f"{fact['first']}..", str(span(sides.order, taken)))


def _deployment_flags(sides: Sides) -> Iterator[Row]:
    section = "cli.deployment_flags"
    for fact in sides.facts["cli"]["deployment_flags"]:
        flag, ours = fact["flag"], sides.ours.named(fact["flag"], CLI)
        yield compared(section, f"{flag}: releases", str(sides.span(fact["releases"])), str(sides.held(ours)))
        yield compared(section, f"{flag}: aliases", sorted(fact["aliases"]), _others(ours, flag))
        given = sides.span(fact["deprecated_in"]) if fact["deprecated_in"] else span(sides.order, ())
        deprecated = sides.held([row for row in ours if row.get("deprecated")])
        yield compared(section, f"{flag}: deprecated", str(given), str(deprecated))
        said = [(sides.span(item["releases"]).members, item["default"]) for item in fact["defaults"]]
        within = frozenset().union(*(members for members, _ in said))
        defaults = {release: _default(text) for members, text in said for release in members}
        yield compared(section, f"{flag}: default", sides.runs(defaults), sides.history(ours, _our_default, within))
        limits = {release: _limits(text) for members, text in said for release in members}
        yield compared(section, f"{flag}: bounds", sides.runs(limits), sides.history(ours, _our_limits, within))


def _eagle(sides: Sides) -> Iterator[Row]:
    facts, section, listed = sides.facts["eagle"], "eagle.target_allow_list", set[str]()
    ours = sides.ours.table("eagle3_targets")
    for fact in facts["target_allow_list"]:
        listed |= {*fact.get("model_type_contains", ()), *fact.get("add", ())}
        within = sides.span(fact["releases"])
        wanted = set() if "rule" in fact else listed
        for release in (release for release in sides.order if release in within.members):
            found = sorted({row["value"] for row in ours if release in sides.ours.held(row)})
            yield compared(section, release, sorted(wanted), found)
    for name, releases in facts["architectures"].items():
        held = sides.held(sides.ours.table("model_registry", value=name))
        yield compared("eagle.architectures", name, str(sides.span(releases)), str(held))
    drafts = {row["value"] for row in sides.ours.table("model_registry", group="speculative_decoding")}
    for name in sorted(drafts - set(facts["architectures"])):
        held = sides.held(sides.ours.table("model_registry", value=name, group="speculative_decoding"))
        yield compared("eagle.architectures", name, "not listed", str(held))
    yield from _interface(sides, facts["supports_eagle3_files_0_33_0"])
    for key in ("recognition", "vocab"):
        yield skipped("eagle", key, facts[key], "prose on code; lowering and constraints carry it")


def _interface(sides: Sides, files: Sequence[str]) -> Iterator[Row]:
    """The files whose classes name the interface, beside those where the classes of our architectures have it from.

    A package that chooses a file for the platform is one module here, and stands for all of its files.
    """
    section, release = "eagle.supports_eagle3_files_0_33_0", "0.33.0"
    rows = [row for row in sides.ours.table("eagle3_interface") if release in sides.ours.held(row)]
    if not rows:
        yield skipped(section, "all files", f"{len(files)} files", "not harvested")
        return
    places = {item["file"] for row in rows for item in row["evidence"] if item["release"] == release}
    declared = {place.removeprefix("vllm/").removesuffix(".py") for place in places}
    packages = tuple(
        row["module"].removeprefix("vllm.").replace(".", "/") + "/" for row in rows if "." in row["module"]
    )
    for file in files:
        there = file in declared or file.startswith(packages)
        yield compared(section, file, "there", "there" if there else "not there")
    yield compared(section, "files besides", [], sorted(declared.difference(files)))


def _speculators(sides: Sides) -> Iterator[Row]:
    section, facts = "eagle.speculators", sides.facts["eagle"]["speculators"]
    table = "speculators_algorithms"
    yield compared(section, "first", facts["first"], sides.held(sides.ours.table(table)).first)
    for name, text in facts["algorithms"].items():
        held = sides.held(sides.ours.table(table, value=name))
        yield compared(section, name, str(sides.span(text.split(" (")[0])), str(held))
    for key in ("serve", "user_config", "eagle3_draft_arch", "verifier_path", "served_name"):
        yield skipped(section, key, facts[key], "prose on code; constraints carry it")


def _metrics(sides: Sides) -> Iterator[Row]:
    """The exposition adds `_total` to a counter whose name in the source lacks it, so both names are one."""
    section, listed = "metrics.prometheus", set[str]()
    for fact in sides.facts["metrics"]["prometheus"]:
        folder = "vllm/v1/" if fact["engine"] == "V1" else "vllm/engine/"
        for kind in ("gauge", "counter"):
            for name in fact.get(f"{kind}s", ()):
                stem = name.partition("{")[0].removesuffix("_total")
                listed.add(stem)
                ours = [
                    row
                    for row in sides.ours.table("metrics", kind=kind)
                    if row["value"].removesuffix("_total") == stem and row["where"].startswith(folder)
                ]
                yield compared(
                    section, f"{fact['engine']} {name}", str(sides.span(fact["releases"])), str(sides.held(ours))
                )
    for name in sorted({row["value"].removesuffix("_total") for row in sides.ours.table("metrics")} - listed):
        rows = [row for row in sides.ours.table("metrics") if row["value"].removesuffix("_total") == name]
        yield compared(section, name, "not listed", str(sides.held(rows)))


def _runners(sides: Sides) -> Iterator[Row]:
    section, table, listed = "model_runner_default", "runner_architectures", set[str]()
    ours = sides.ours.table(table, where="default_v2_model_runner_architectures")
    for fact in sides.facts[section]:
        names = set(re.findall(r"\b(?:Qwen\w+|Llama|Mistral|DeepseekV2|GraniteMoe)\b", fact["rule"]))
        if not names:
            yield skipped(
                section, fact["releases"], fact["rule"], "a rule in code, which the steps of the engine carry"
            )
            continue
        names = {name.removesuffix("ForCausalLM") for name in names}
        listed = listed | names if fact["rule"].startswith("+") else names
        for release in (release for release in sides.order if release in sides.span(fact["releases"]).members):
            found = sorted(row["value"].removesuffix("ForCausalLM") for row in ours if release in sides.ours.held(row))
            yield compared(section, release, sorted(listed), found)


def _releases(sides: Sides) -> Iterator[Row]:
    section = "releases"
    ours = {row["version"]: row for row in sides.ours.releases}
    for fact in sides.facts[section]:
        row = ours.get(fact["release"], {})
        yield compared(section, f"{fact['release']}: date", fact["date"], row.get("date"))
        yield compared(section, f"{fact['release']}: sdist", fact["sdist"], row.get("source") == "sdist")


def _elsewhere(sides: Sides) -> Iterator[Row]:
    """What the facts hold besides, so that nothing is left out in silence."""
    for section, reason in _ELSEWHERE.items():
        found = sides.facts
        for part in section.split("."):
            found = found[part]
        yield skipped(section, "all rows", f"{len(found)} rows", reason)


_RULES = "behaviour, not declarations: constraints, steps and lowering say it, each with a probe that tests run"
_ELSEWHERE = {
    "checks": _RULES,
    "method_inference": _RULES,
    "mtp_rules": _RULES,
    "lossless": _RULES,
    "memory": "rules of thumb on memory, which no table of this database answers",
    "cli.launch": "entry points are rows of people, with evidence of their own",
    "docker": "images are rows of people; no source distribution holds them",
    "metrics.formulas": "how the numbers are computed is not harvested",
    "metrics.log_lines": "lines of the log are compared as messages, in message_index",
}
_SECTIONS: tuple[Callable[[Sides], Iterator[Row]], ...] = (
    _releases,
    _fields,
    _renames,
    _unknown_keys,
    _methods,
    _old_flags,
    _config_flag,
    _deployment_flags,
    family_rows,
    _eagle,
    _speculators,
    _metrics,
    _runners,
    _elsewhere,
)
