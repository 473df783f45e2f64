"""SC7xx: what a file's own shape does to a launch before any engine reads it: flags cut off, quoting, variables as text."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from specconf.findings import Finding, Severity
from specconf.lint.cutoff import Cut, Why
from specconf.lint.handing import handing_findings
from specconf.patterns import pattern
from specconf.readers.found import ReadLaunch
from specconf.rules.notjson import diagnose
from specconf.settings import Origin, ProblemKind, Settings
from specconf.words import Unresolved

_VARIABLE = pattern(r"\$(?:\{[A-Za-z_]\w*[^}]*\}|[A-Za-z_]\w*)")
_QUOTES = "'\""
_SHOWN = 40


def shape_findings(launch: ReadLaunch, cut: Cut | None, engine: str, release: str, text: str) -> Iterator[Finding]:
    """What the words of a launch show by themselves. `cut`: what is cut off from it; `text`: that of its file."""
    found = (
        *_cut_off(cut),
        *_literal_variables(launch),
        *_kept_quotes(launch),
        *handing_findings(launch, text),
    )
    yield from (replace(finding, engine=engine, release=release, checked_as=release) for finding in found)


def _cut_off(cut: Cut | None) -> Iterator[Finding]:
    """Flags behind a comment or a line without its mark: they are read as something of their own."""
    if cut is None:
        return
    called = cut.language.called
    ends, fix = {
        Why.MISSING: ("before this line", f"End the line before with a {called}."),
        Why.BLANKS: (f"at this {called}, which blanks follow", f"Remove the blanks behind the {called}."),
        Why.COMMENT: ("at this comment", "Put the comment above the launch."),
        Why.WINDOWS: (
            f"at this {called}, which the line end of Windows follows",
            "Save the file with the line ends of Unix (LF).",
        ),
    }[cut.why]
    passed = "are not passed to it" if ", " in cut.flags else "is not passed to it"
    yield Finding(
        "SC704",
        Severity.ERROR,
        f"The launch ends {ends}: {cut.flags} {passed}, and {cut.language.does}.",
        fix=fix,
        where=cut.where,
        option=cut.words[0].text.partition("=")[0],
    )


def _literal_variables(launch: ReadLaunch) -> Iterator[Finding]:
    """`$NAME` in single quotes: the shell hands it on as it stands."""
    if not launch.in_script:
        return
    for word in launch.launch.argv:
        if word.value is None or not word.raw.startswith("'"):
            continue
        match = _VARIABLE.search(word.value)
        if match is not None:
            yield Finding(
                "SC705",
                Severity.ERROR if word.value.lstrip().startswith(("{", "[")) else Severity.WARNING,
                f"The shell does not put in {match[0]}, which stands in single quotes: the engine gets these characters.",
                fix="Write double quotes, with the JSON's own quotes behind backslashes, or end the single quotes around it.",
                where=word.span,
            )


def _kept_quotes(launch: ReadLaunch) -> Iterator[Finding]:
    """Quotes that no shell takes off: a list in YAML or JSON hands every item on as it is."""
    if launch.in_script:
        return
    for word in launch.launch.argv:
        value = word.value or ""
        _, sign, given = value.partition("=")
        text = given if sign and value.startswith("--") else value
        if len(text) > 1 and text[0] in _QUOTES and text[0] == text[-1]:
            yield Finding(
                "SC706",
                Severity.ERROR if text[1:2] in ("{", "[") else Severity.WARNING,
                f"The quotes around {_short(text)} are part of the value here, where no shell takes them off.",
                fix=_without_quotes(text),
                where=word.span,
            )


def _without_quotes(text: str) -> str:
    """What to write in place of a quoted value: JSON as one word where it also lost its own quotes."""
    diagnosis = diagnose(text) if text[1:2] == "{" and not text[1:].lstrip("{ ").startswith('"') else None
    if diagnosis is not None and diagnosis.meant:
        return f"Write it as one word, with its own quotes: '{diagnosis.meant}'"
    return f"Write the value without them: {text[1:-1][:200]}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def written_twice(settings: Settings, engine: str, release: str) -> Iterator[Finding]:
    """Flags that are written again with another value: the engine's parser takes the last in silence.

    What it refuses to take twice is told as that.
    """
    refused = {problem.where for problem in settings.problems if problem.kind is ProblemKind.EXCLUSIVE}
    for path, setting in settings.items_by_path.items():
        last = setting.final
        for earlier in setting.losers:
            lists = any(
                isinstance(one.value, list | Unresolved) for one in (last, earlier)
            )  # or what nobody can compare
            if (
                lists
                or earlier.origin is not Origin.ARGV
                or last.origin is not Origin.ARGV
                or earlier.value == last.value
                or last.where in refused
            ):
                continue
            yield Finding(
                "SC107",
                Severity.WARNING,
                f"{earlier.spelling or path} is written more than once: {last.value} counts, and {earlier.value} does not.",
                engine=engine,
                release=release,
                checked_as=release,
                fix="Remove the one that is not meant.",
                where=earlier.where,
                option=earlier.spelling,
            )


def recoded(findings: list[Finding], settings: Settings, shape: list[Finding]) -> list[Finding]:
    """Values that are no JSON because of the file's quoting are told under the quoting's code, and once."""
    broken = {problem.where for problem in settings.problems if problem.kind is ProblemKind.NOT_JSON}
    lines = [finding.where.line for finding in shape if finding.where and finding.code in ("SC705", "SC706")]
    told = {
        line for value in lines for line in (value, value - 1)
    }  # the option stands before its value, or a line above
    causes = {one.where for one in shape if one.code in ("SC704", "SC706") and one.severity is Severity.ERROR}
    findings = [one for one in findings if not (one.code in ("SC101", "SC103") and one.where in causes and one.where)]
    of_quoting = [finding.code == "SC103" and finding.where in broken for finding in findings]
    return [
        replace(finding, code="SC703") if quoting else finding
        for finding, quoting in zip(findings, of_quoting, strict=True)
        if not (quoting and finding.where and finding.where.line in told)
    ]
