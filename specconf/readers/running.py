"""What a command gives to a shell to run, or to another reader of files: the script in its words, or on its standard input."""

from __future__ import annotations

import re

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.readers.found import ReadLaunch
from specconf.readers.fragments import Document
from specconf.readers.nested import NestedScript, script_text
from specconf.readers.relocating import relocated
from specconf.readers.scope import NOTHING_FILLED, SHELL_HOLES
from specconf.readers.source import SourceText
from specconf.readers.templates import Template
from specconf.readers.wrappers import PYTHON, SHELLS, behind_wrappers, program_name
from specconf.words import Word

SCRIPT = "script"
# Formats that hold launches by themselves when a script writes them; an engine's option file needs its launch.
_NOT_ALONE = frozenset({"engine-yaml", "markdown"})
_COMMAND_OPTION = pattern(r"-[a-zA-Z]*c[a-zA-Z]*\Z")
_VALUED_OPTION = pattern(r"[-+][a-zA-Z]*[oO]\Z|--(rcfile|init-file)\Z")
_APPLIES = frozenset({"apply", "create", "replace", "run"})
_COMPOSE = frozenset({"docker-compose", "podman-compose"})
_ENGINES_OF_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})


def operand(words: tuple[Word, ...]) -> int | None:
    """The index of a shell's first word that is no option."""
    if not words or program_name(words[0]) not in SHELLS:
        return None
    at = 1
    while at < len(words) and (words[at].value or "").startswith(("-", "+")):
        at += 2 if _VALUED_OPTION.match(words[at].text) else 1
    return at if at < len(words) else None


def has_command_option(words: tuple[Word, ...]) -> bool:
    """Whether the options of a shell say that its first operand is the script itself."""
    return any(_COMMAND_OPTION.match(word.value or "") for word in words)


def script_index(words: tuple[Word, ...]) -> int | None:
    """The index of the script in `bash -c SCRIPT`, when its text is known; further options may stand before it."""
    at = operand(words)
    if at is None or not has_command_option(words[1:at]):
        return None
    return at if words[at].value is not None else None


def given_script(words: tuple[Word, ...], path: str) -> NestedScript | None:
    """The script in a command's words: of `bash -c SCRIPT`, or of a wrapper that has a shell run it."""
    template = Template(NOTHING_FILLED, first=SHELL_HOLES)
    behind = behind_wrappers(words)
    if behind.script:
        return script_text(behind.script, path, template, behind.places, behind.between)
    at = operand(words)
    if at is None or not has_command_option(words[1:at]):
        return None
    if words[at].value is None and words[at].places is None:
        return None
    return script_text(words[at : at + 1], path, template)


def read_from_input(words: tuple[Word, ...]) -> str:
    """What a command takes its standard input for: a script, a file of the kind that the name tells, or nothing."""
    name, values = program_name(words[0]), [word.value for word in words]
    at = operand(words)
    if name in SHELLS:
        return SCRIPT if at is None or _reads_options(words[1:at]) else ""
    if PYTHON.match(name):
        return (
            "script.py"
            if all((value or "x").startswith("-") and value not in ("-c", "-m") for value in values[1:])
            else ""
        )
    if name in ("kubectl", "oc") and _APPLIES & set(values) and _from_input(words):
        return "manifest.yaml"
    composes = name in _COMPOSE or (name in _ENGINES_OF_CONTAINERS and "compose" in values[:4])
    if composes and _from_input(words):
        return "compose.yaml"
    behind = behind_wrappers(words)
    return SCRIPT if behind.reads_input and not behind.script else ""


def _reads_options(words: tuple[Word, ...]) -> bool:
    return any(re.match(r"-[a-z]*s[a-z]*\Z", word.value or "") for word in words)


def _from_input(words: tuple[Word, ...]) -> bool:
    """`-f -`, `-f-` or `--filename=-`."""
    for word, following in zip(words, (*words[1:], None), strict=True):
        if (
            word.value in ("-f", "--filename", "--file")
            and following is not None
            and following.value in ("-", "/dev/stdin")
        ):
            return True
        if word.value in ("-f-", "-f=-", "--filename=-", "--file=-"):
            return True
    return False


def in_document(name: str, text: NestedScript, path: str) -> list[ReadLaunch]:
    """The launches in a file that stands in a script, by what its name and its text tell it to be.

    What is none of the formats, or cannot be read as one, holds none that could be found.
    """
    from specconf.readers.registry import detected_format

    chosen = detected_format(name, text.text)
    if chosen is None or chosen.name in _NOT_ALONE:
        return []
    try:
        found = chosen.read(Document(path, text.text))
    except InputError:
        return []
    source = SourceText(text.text, path)
    return [relocated(item, source, text.places) for item in found]
