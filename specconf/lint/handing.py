"""SC704 to SC706 and SC709: what the format of a file does to words on their way to the engine, and how that is mended."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specconf.findings import Finding, Severity
from specconf.lint.edits import Edit
from specconf.lint.site import Change, Remove, Replace, Site
from specconf.lint.writing import in_item
from specconf.patterns import pattern
from specconf.readers.commandline import words_of
from specconf.readers.found import ReadLaunch
from specconf.readers.mistakes import OPERATOR, Mistake, MistakeKind
from specconf.readers.source import SourceText
from specconf.words import Word

_BACKSLASH = pattern(r"(?:\A|\s+)\\\s*\Z")  # the end of a line that a shell would continue
_ESCAPED_BLANK = pattern(r"\\[ \t\n]")
_FLAG = pattern(r"--?[A-Za-z]")
_SHOWN = 60


def handing_findings(launch: ReadLaunch, text: str) -> Iterator[Finding]:
    """What keeps the words of a launch from reaching the engine as they are meant."""
    for mistake in launch.mistakes:
        code, message, fix = _TOLD[mistake.kind](mistake)
        severity = Severity.ERROR if mistake.certain else Severity.WARNING
        yield Finding(code, severity, message, fix=fix, where=mistake.where, option=mistake.text)
    yield from _kept_backslashes(launch)
    yield from _escaped_blanks(launch, text)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _unsplit(mistake: Mistake) -> tuple[str, str, str]:
    unless = "" if mistake.certain else ", unless the image's entrypoint is a shell"
    shell = OPERATOR.search(mistake.text) is not None
    return (
        "SC709",
        f"Nothing splits {_short(mistake.text)!r}: a program of this whole name is looked for, and nothing starts{unless}.",
        "Give the text to a shell: sh, -c, and the text as one item."
        if shell
        else "Write each word as an item of its own.",
    )


def _shell_arguments(mistake: Mistake) -> tuple[str, str, str]:
    return (
        "SC704",
        f"The shell takes one word behind -c as its script: {_short(mistake.text)} is not a part of it, and does nothing.",
        "Write the command as one text behind -c, or leave the shell out.",
    )


def _behind_program(mistake: Mistake) -> tuple[str, str, str]:
    return (
        "SC709",
        f"The image starts a program of its own, which gets {_short(mistake.text)!r} as an argument.",
        "Write these words in place of the image's program (command in Kubernetes, entrypoint in Compose), or only what "
        "stands behind it.",
    )


def _literal(mistake: Mistake) -> tuple[str, str, str]:
    fix = f"Write {mistake.instead}." if mistake.instead else "Give the command to a shell, or write the value."
    return "SC705", f"Nothing puts in {mistake.text} here: the engine gets these characters.", fix


def _outer(mistake: Mistake) -> tuple[str, str, str]:
    return (
        "SC705",
        f"Compose puts in {mistake.text} from its own environment or .env, not from the service's environment.",
        f"Write ${mistake.text} where a shell in the container reads it, or write the value.",
    )


def _one_letter(mistake: Mistake) -> tuple[str, str, str]:
    return (
        "SC705",
        f"make takes {mistake.text[:2]} for a variable of one letter, and {mistake.text[2:]} for text behind it.",
        f"Write {mistake.instead}.",
    )


_TOLD = {
    MistakeKind.UNSPLIT: _unsplit,
    MistakeKind.SHELL_ARGUMENTS: _shell_arguments,
    MistakeKind.BEHIND_PROGRAM: _behind_program,
    MistakeKind.LITERAL: _literal,
    MistakeKind.OUTER: _outer,
    MistakeKind.ONE_LETTER: _one_letter,
}


def _kept_backslashes(launch: ReadLaunch) -> Iterator[Finding]:
    """The backslash of a continued line, copied into a list, where no shell takes it off."""
    if launch.in_script:
        return
    for word in launch.launch.argv:
        if _BACKSLASH.search(word.value or ""):
            yield Finding(
                "SC706",
                Severity.ERROR,
                f"The backslash behind {_short(_without(word)) or 'nothing'} is part of the value here, where no shell "
                "continues lines.",
                fix="Remove it: an item of a list needs none.",
                where=word.span,
                option=word.text,
            )


def _without(word: Word) -> str:
    return _BACKSLASH.sub("", word.text)


def _escaped_blanks(launch: ReadLaunch, text: str) -> Iterator[Finding]:
    """A backslash with a blank behind it continues no line: the blank becomes a part of the next word, or one of its own."""
    found = [word for word in launch.launch.argv if is_escaped_blank(word)]
    if not found or found[0].span is None:
        return
    first, span = found[0], found[0].span
    source = SourceText(text, span.path)
    start = source.at(span.line, span.column)
    if text[start : start + 1] != "\\":
        return
    behind = re.match(r"[ \t]*\r?\n", text[start + 1 :])
    flags = ", ".join(word.text.strip().partition("=")[0] for word in found if word.text.strip())
    if behind is not None and behind[0].strip("\r\n"):
        why, fix = "A blank stands behind this backslash, which so continues no line", "Remove the blank."
    elif behind is not None:
        why, fix = (
            "The lines are one when the shell reads them, with a blank behind this backslash",
            "Remove the backslash.",
        )
    else:
        why, fix = "A blank stands behind this backslash", "Remove the backslash."
    what = f"the blank becomes a part of {flags}" if flags else "the blank is a word of its own"
    if not flags and launch.orphans:
        what += f", and {launch.orphans[0].text.partition('=')[0]} is run as a command"
    yield Finding("SC704", Severity.ERROR, f"{why}: {what}.", fix=fix, where=span, option=first.text)


def is_escaped_blank(word: Word) -> bool:
    """Whether a word is a blank that a backslash keeps, or one before a flag."""
    if not _ESCAPED_BLANK.match(word.raw) or word.value is None:
        return False
    inside = word.value.lstrip()
    return not inside or _FLAG.match(inside) is not None


# -- fixes


def split_words(site: Site, finding: Finding) -> Iterator[Change]:
    """A whole command line in one item: each of its words as an item, or the text behind `sh -c`."""
    place = site.bounds(finding.where)
    if place is None or finding.code != "SC709":
        return
    written = site.text[place[0] : place[1]]
    mistake = _mistake(site, finding, MistakeKind.UNSPLIT)
    if mistake is None or "\n" in written:
        return
    if OPERATOR.search(mistake.text):
        items = ["sh", "-c", written]
    else:
        words = words_of(SourceText(mistake.text, "").part(0, len(mistake.text)))
        if any(word.value is None for word in words):
            return
        items = [in_item(word.value or "", written[:1]) for word in words]
    line = site.text.rfind("\n", 0, place[0]) + 1
    before = re.fullmatch(r"(?P<indent>[ \t]*)-(?P<blank>[ \t]+)", site.text[line : place[0]])
    if before is not None:
        end = "\r\n" if site.text.startswith("\r\n", place[1]) else "\n"
        text = f"{end}{before['indent']}-{before['blank']}".join(items)
    elif re.search(r"[\[,]\s*\Z", site.text[: place[0]]):
        text = ", ".join(items)
    else:
        return
    yield Change(edits=(site.edit(*place, text),))


def _mistake(site: Site, finding: Finding, kind: MistakeKind) -> Mistake | None:
    found = site.judged.read.mistakes
    return next((one for one in found if one.kind is kind and one.where == finding.where), None)


def right_variable(site: Site, finding: Finding) -> Iterator[Change]:
    """A variable as the format puts it in."""
    place = site.bounds(finding.where)
    for kind in (MistakeKind.LITERAL, MistakeKind.ONE_LETTER):
        mistake = _mistake(site, finding, kind)
        if mistake is None or not mistake.instead or place is None:
            continue
        if site.text[place[0] : place[1]] == mistake.text:
            yield Change(edits=(site.edit(*place, mistake.instead),))


def without_backslash(site: Site, finding: Finding) -> Iterator[Change]:
    """An item without the backslash that a shell would have taken."""
    for index, word in enumerate(site.argv):
        if word.span == finding.where and word.value is not None and _BACKSLASH.search(word.value):
            rest = _without(word)
            yield Change((Replace(index, rest),) if rest else (Remove(index, index + 1),))


def continued_lines(site: Site, _finding: Finding) -> Iterator[Change]:
    """Backslashes with a blank behind them: without the blank where a line ends there, else without the backslash."""
    edits: list[Edit] = []
    for word in site.argv:
        place = site.bounds(word.span) if is_escaped_blank(word) else None
        if place is None or site.text[place[0]] != "\\":
            continue
        trailing = re.match(r"[ \t]+(?=\r?\n)", site.text[place[0] + 1 :])
        if trailing is not None:
            edits.append(site.edit(place[0] + 1, place[0] + 1 + trailing.end(), ""))
        else:
            before = re.search(r"[ \t]*\Z", site.text[: place[0]])
            edits.append(site.edit(before.start() if before else place[0], place[0] + 1, ""))
    if edits:
        yield Change(edits=tuple(edits))
