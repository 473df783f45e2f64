"""The commands of the shell itself that change its variables, and what stands before a command that a variable holds."""

from __future__ import annotations

from specconf.readers.assignments import expanded, forget_parameters, number, shift
from specconf.readers.quoting import Parameter, word_pieces
from specconf.readers.scope import Scope
from specconf.readers.source import SourceText
from specconf.readers.wrappers import ASSIGNMENT, SCRIPTED, WRAPPERS, behind_wrappers, program_name
from specconf.words import Word

# Commands that give values to the variables they name, and sourced files that leave a script's own variables alone.
_SETTERS = frozenset({"read", "mapfile", "readarray", "getopts", "printf", "let"})
_HARMLESS_SOURCES = frozenset({"activate", ".bashrc", ".profile"})
_RUN_HERE = frozenset({"eval", "trap", "source", "."})
_STARTERS = frozenset({"docker", "podman", "nerdctl", "kubectl", "oc"})


def has_own_effects(word: Word) -> bool:
    """Whether a command runs a script in the shell that it stands in."""
    return word.value in _RUN_HERE


def effects(words: tuple[Word, ...], scope: Scope) -> None:
    """What a command does to the variables of its shell, as far as its name tells."""
    name, arguments = words[0].value or "", words[1:]
    if name in {"source", ".", "eval"}:
        if not (arguments and program_name(arguments[0]) in _HARMLESS_SOURCES):
            scope.forget_all()
    elif name in _SETTERS:
        for argument in arguments:
            variable = argument.text.partition("=")[0]
            if variable in scope.values:
                scope.forget(variable)
    elif name == "shift":
        shift(arguments, scope)
    elif name == "set" and arguments:
        _set(arguments, scope)


def _set(arguments: tuple[Word, ...], scope: Scope) -> None:
    """`set -a`, and the parameters of `set -- A B`."""
    texts = [argument.text for argument in arguments[:2]]
    if texts[0] in {"-a", "+a"} or texts in (["-o", "allexport"], ["+o", "allexport"]):
        scope.export_all = texts[0].startswith("-")
    at = 0
    while at < len(arguments):
        text = arguments[at].text
        if text == "--":
            number(arguments[at + 1 :], scope)
            return
        if text == "-":
            break
        if not text.startswith(("-", "+")):
            break
        at += 2 if text in ("-o", "+o") or (text[-1] == "o" and not text.startswith("--")) else 1
    if at >= len(arguments):
        return
    if arguments[at].value is None and arguments[at].may_be_many:
        forget_parameters(scope)
    else:
        number(arguments[at:], scope)


def chosen_variable(ranges: list[tuple[int, int]], source: SourceText, scope: Scope) -> str:
    """The variable that holds what a command runs, where branches left several values for it; else empty.

    Before it may stand only what starts another command.
    """
    for index, (start, end) in enumerate(ranges):
        raw = source.text[start:end]
        if "$" not in raw:
            continue
        names = [piece.name for piece in word_pieces(raw) if isinstance(piece, Parameter)]
        name = next((one for one in names if scope.chosen(one)), "")
        if name:
            return name if _waits(expanded(ranges[:index], source, scope)) else ""
    return ""


def _waits(words: list[Word]) -> bool:
    """Whether words only start what comes behind them."""
    if not words:
        return True
    behind = behind_wrappers(tuple(words)).words
    name = program_name(behind[0])
    started = name in WRAPPERS or name in SCRIPTED or (name in _STARTERS and not _names_image(behind))
    return started or ASSIGNMENT.match(behind[0].text) is not None


def _names_image(words: tuple[Word, ...]) -> bool:
    from specconf.readers.containers import image_of

    return any(image_of(word) is not None for word in words[2:])
