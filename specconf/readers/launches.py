"""Which commands of a script start an engine: one table of program shapes, and the environment that matters to them.

A launch keeps its words as written. What an option means, in which release, is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from specconf.errors import InputError
from specconf.readers.containers import Container, image_of, path_inside, started_container
from specconf.readers.found import ReadLaunch
from specconf.readers.fragments import Document, Fragment
from specconf.readers.front_ends import as_engine
from specconf.readers.mistakes import holds_flags, of_words, shell_arguments, takes_arguments
from specconf.readers.nested import NestedScript
from specconf.readers.shell import Script, ShellCommand, ShellFile, read_shell
from specconf.readers.source import Placed, SourceText
from specconf.readers.stated import Stated
from specconf.readers.templates import holes_in, without_holes
from specconf.readers.wrappers import assignment_of, program_name, stripped
from specconf.secrets import is_secret_name
from specconf.words import Launch, Span, Word

_PYTHON = re.compile(r"(python|pypy)(\d+(\.\d+)*)?\Z")
_PYTHON_VALUED = frozenset({"-X", "-W", "--check-hash-based-pycs"})

HIDDEN = "<hidden>"
# What the shell itself needs says nothing about a launch.
_SHELL_OWN = frozenset({"PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "TERM", "LANG", "PS1", "IFS"})


@dataclass(frozen=True, slots=True)
class Program:
    """One way to start an engine.

    `module`: started as `python -m MODULE`; else `name` is the program. One of `subcommands` must come next; with
    `bare` it may be left out, unless `other` names what stands there.
    """

    engine: str
    name: str = ""
    module: str = ""
    subcommands: frozenset[str] = frozenset()
    bare: bool = False
    other: frozenset[str] = frozenset()

    def __str__(self) -> str:
        start = self.name or f"python -m {self.module}"
        shown = f"[{'|'.join(sorted(self.subcommands))}]" if self.bare else "|".join(sorted(self.subcommands))
        return f"{start} {shown}".strip() if self.subcommands else start


_SERVE = frozenset({"serve"})

PROGRAMS: tuple[Program, ...] = (
    Program("vllm", name="vllm", subcommands=_SERVE),
    Program("vllm", module="vllm.entrypoints.openai.api_server"),
    Program("vllm", module="vllm.entrypoints.cli.main", subcommands=_SERVE),
    Program("sglang", name="sglang", subcommands=_SERVE),
    Program("sglang", module="sglang.launch_server"),
    Program("sglang", module="sglang.cli.main", subcommands=_SERVE),
    Program(
        "tensorrt-llm",
        name="trtllm-serve",
        subcommands=_SERVE,
        bare=True,
        other=frozenset({"disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve", "--help", "--version"}),
    ),
)


@dataclass(frozen=True, slots=True)
class Match:
    """A program found at the start of a command: which, and how many words say so."""

    program: Program
    length: int


def match_program(words: tuple[Word, ...]) -> Match | None:
    """The engine program that a command starts, if it does."""
    name, module, length = program_name(words[0]) if words else "", "", 1
    if _PYTHON.match(name):
        module, length = _python_module(words)
        name = ""
    following = words[length].value if len(words) > length else None
    for program in PROGRAMS:
        if program.module != module or (program.name != name and not module):
            continue
        if not program.subcommands:
            return Match(program, length)
        if following in program.subcommands:
            return Match(program, length + 1)
        if program.bare and len(words) > length and following not in program.other:
            return Match(program, length)
    return None


def _python_module(words: tuple[Word, ...]) -> tuple[str, int]:
    """The module of `python … -m MODULE` and the number of words up to it."""
    at = 1
    while at < len(words):
        text = words[at].value or ""
        if text == "-m" and at + 1 < len(words):
            return words[at + 1].value or "?", at + 2
        if not text.startswith("-") or text == "-c":
            break
        at += 2 if text in _PYTHON_VALUED else 1
    return "?", at


def script_launches(document: Document) -> list[ReadLaunch]:
    """The launches in a shell script, as a deploy file."""
    return find_launches(document.text, document.path)


def find_launches(text: str, path: str) -> list[ReadLaunch]:
    """The launches in a shell script. Fails when a launch stands where the script cannot be parsed."""
    try:
        return _in_script(text, read_shell(text, path), (), ())
    except RecursionError as error:
        raise InputError("nested too deeply to be a deploy script", where=Span(path, 1, 1)) from error


def _in_script(
    text: str, script: Script, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]
) -> list[ReadLaunch]:
    files = (*files, *script.files)
    found: list[ReadLaunch] = []
    for at, command in enumerate(script.commands):
        env_files += _sourced(command.words)
        orphans = _orphans(script.commands[at + 1 : at + 2])
        found += [replace(item, orphans=item.orphans or orphans) for item in _in_command(command, files, env_files)]
    _refuse_hidden(script, found=bool(found), mentioned=mentions_program(text))
    return found


def _in_command(command: ShellCommand, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]) -> list[ReadLaunch]:
    """The launches that a command makes: itself, in a container, or in the script it gives to a shell."""
    found = _of_command(command, files, env_files)
    used = image_of(command.image) if command.image is not None else None
    return [_with_stated(item, used.stated) for item in found] if used is not None else found


def _of_command(command: ShellCommand, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]) -> list[ReadLaunch]:
    at = script_index(command.words)
    if at is not None:
        return _in_shell(command, at, files, env_files)
    if command.nested is not None and command.nested.word in command.words[2:] and _operand(command.words) is not None:
        return _in_nested(command, command.nested, files, env_files)
    started = _started_script(command.words, files)
    if started is not None and started.text is not None:
        others = tuple(file for file in files if file is not started)
        return _in_script(started.text, _script_of(started, _given(command.env)), others, env_files)
    container = started_container(command.words)
    if container is not None:
        return _in_container(command, container, files)
    command = replace(command, words=as_engine(command.words))
    match = match_program(command.words)
    if match is None:
        return []
    if not command.intact:
        raise InputError(
            f"this {match.program.engine} launch cannot be read: the shell syntax is broken inside it",
            where=command.span,
            hint="check its quotes, brackets and line continuations with `bash -n`",
        )
    return [ReadLaunch(_launch(command, match.program.engine, files), env_files=env_files)]


def _in_shell(
    command: ShellCommand, at: int, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]
) -> list[ReadLaunch]:
    """The launches in the script that a shell is given. Words behind it are its arguments, though not meant as such where
    the script does not look at them and they are options, or it is no launch without them.
    """
    inner, rest = command.words[at], command.words[at + 1 :]
    # What stands in the environment of the shell stands in that of everything it starts.
    script = _inner_script(inner, command.span.path, _given(command.env))
    if not rest or takes_arguments(inner.text):
        return _in_script(inner.text, script, files, env_files)
    mistakes = (shell_arguments(rest),)
    if len(script.commands) == 1 and not script.problems:
        first = script.commands[0]
        match, meant = match_program(first.words), match_program((*first.words, *rest))
        if meant is not None and (holds_flags(rest) or match is None or match.length == len(first.words)):
            found = _in_command(replace(first, words=(*first.words, *rest)), files, env_files)
            return [replace(item, mistakes=mistakes) for item in found]
    found = _in_script(inner.text, script, files, env_files)
    return [replace(item, mistakes=mistakes) for item in found] if holds_flags(rest) else found


def _in_nested(
    command: ShellCommand, nested: NestedScript, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]
) -> list[ReadLaunch]:
    """The launches in a script of which parts are not known."""
    script = read_shell(nested.text.text, command.span.path, inside=nested.text, given=_given(command.env))
    commands = tuple(_with_holes(c, nested.holes) for c in script.commands)
    found = _in_script(nested.text.text, replace(script, commands=commands), files, env_files)
    return [_launch_with_holes(item, nested.holes) for item in found]


def _in_container(command: ShellCommand, container: Container, files: tuple[ShellFile, ...]) -> list[ReadLaunch]:
    words, assignments = stripped(container.words)
    own = tuple(assignment_of(word) for word in assignments)
    inside = replace(command, words=words, env=(*container.env, *own))
    shared = [replace(file, name=name) for file in files if (name := path_inside(file.name, container.volumes))]
    # A container gets no variables of the shell around it.
    found = _in_command(inside, (*files, *shared), container.env_files) if words else []
    return [_with_stated(item, container.stated) for item in found]


def _with_stated(item: ReadLaunch, stated: tuple[Stated, ...]) -> ReadLaunch:
    """A launch with what is stated of its engine, behind what was found nearer to it."""
    own = tuple(one for one in stated if one.engine == item.launch.engine)
    return replace(item, stated=(*item.stated, *own))


MANY = "further words"  # how words that a file does not show are told


def in_fragment(fragment: Fragment, path: str) -> list[ReadLaunch]:
    """The launches that a fragment of a deploy file makes. Fails as `find_launches` does."""
    files = tuple(_file(name, text, fragment.where or Span(path)) for name, text in fragment.files.items())
    try:
        if fragment.script is not None:
            text = fragment.script.text
            script = read_shell(text, path, inside=fragment.script, given=_given(fragment.env))
            if fragment.holes:
                script = replace(script, commands=tuple(_with_holes(c, fragment.holes) for c in script.commands))
            found = _in_script(text, script, files, fragment.env_files)
        else:
            found = [replace(item, in_script=False) for item in _in_words(fragment, path, files)]
    except RecursionError as error:
        raise InputError("nested too deeply to be a deploy script", where=Span(path, 1, 1)) from error
    image = image_of(fragment.image) if fragment.image is not None else None
    stated = (*(image.stated if image else ()), *fragment.stated)
    found = [replace(_with_stated(item, stated), name=item.name or fragment.name) for item in found]
    if fragment.mistakes:
        found = [
            replace(item, mistakes=(*item.mistakes, *of_words(fragment.mistakes, item.launch.argv))) for item in found
        ]
    return [_launch_with_holes(item, fragment.holes) for item in found] if fragment.holes else found


def _with_holes(command: ShellCommand, holes: Mapping[str, str]) -> ShellCommand:
    """A command whose unknown parts are told as such; a script in it keeps its text until it was looked into."""
    kept = {id(_script_word(command.words[at:])) for at, _ in enumerate(command.words)}
    env = tuple((name, without_holes(word, holes)) for name, word in command.env)
    image = without_holes(command.image, holes) if command.image is not None else None
    words = tuple(word if id(word) in kept else without_holes(word, holes) for word in command.words)
    return replace(command, words=words, env=env, image=image)


def _launch_with_holes(item: ReadLaunch, holes: Mapping[str, str]) -> ReadLaunch:
    launch = item.launch
    argv = tuple(without_holes(word, holes) for word in launch.argv)
    env = tuple((name, without_holes(word, holes)) for name, word in launch.env)
    files = tuple((name, text) for name, text in launch.files if not holes_in(text, holes))
    stated = tuple(one for one in item.stated if not holes_in(one.text, holes))
    return replace(
        item,
        launch=replace(launch, argv=argv, env=env, files=files),
        stated=stated,
        orphans=tuple(without_holes(word, holes) for word in item.orphans),
    )


def _file(name: str, text: str | Placed, where: Span) -> ShellFile:
    if isinstance(text, Placed):
        return ShellFile(name, text.text, where, text)
    return ShellFile(name, text, where)


def _in_words(fragment: Fragment, path: str, files: tuple[ShellFile, ...]) -> list[ReadLaunch]:
    words = fragment.words
    image = image_of(fragment.image) if fragment.image is not None else None
    if fragment.adds_program and image is not None and fragment.image is not None:
        words = (*image.program(words, fragment.image), *words)
    if not words:
        return []
    words, assignments = stripped(words)
    own = tuple(assignment_of(word) for word in assignments)
    if fragment.open_ended:
        words = (*words, Word(value=None, span=fragment.where, raw=MANY, may_be_many=True))
    span = fragment.where or words[0].span or Span(path)
    return _in_command(ShellCommand(words, (*fragment.env, *own), span), files, fragment.env_files) if words else []


_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_COMMAND_OPTION = re.compile(r"-[a-zA-Z]*c[a-zA-Z]*\Z")
_VALUED_OPTION = re.compile(r"[-+][a-zA-Z]*[oO]\Z|--(rcfile|init-file)\Z")


def script_index(words: tuple[Word, ...]) -> int | None:
    """The index of the script in `bash -c SCRIPT`, when its text is known; further options may stand before it."""
    at = _operand(words)
    if at is None or not _has_command_option(words[1:at]):
        return None
    return at if words[at].value is not None else None


def _script_word(words: tuple[Word, ...]) -> Word | None:
    at = script_index(words)
    return words[at] if at is not None else None


def _operand(words: tuple[Word, ...]) -> int | None:
    """The index of a shell's first word that is no option."""
    if not words or program_name(words[0]) not in _SHELLS:
        return None
    at = 1
    while at < len(words) and (words[at].value or "").startswith(("-", "+")):
        at += 2 if _VALUED_OPTION.match(words[at].text) else 1
    return at if at < len(words) else None


def _has_command_option(words: tuple[Word, ...]) -> bool:
    return any(_COMMAND_OPTION.match(word.value or "") for word in words)


def _started_script(words: tuple[Word, ...], files: tuple[ShellFile, ...]) -> ShellFile | None:
    """The file that `bash FILE` or a command such as `/scripts/run.sh` runs, where its text is at hand."""
    at = _operand(words)
    named = words[at].value if at is not None and not _has_command_option(words[1:at]) else words[0].value
    file = next((file for file in files if file.name == named), None)
    is_script = file is not None and (at is not None or file.name.endswith(".sh") or (file.text or "").startswith("#!"))
    return file if is_script else None


Environment: TypeAlias = tuple[tuple[str, Word], ...]


def _given(env: Environment) -> Environment:
    """The environment of a script; the value of a secret is put into no word."""
    return tuple((name, _guarded(name, word)) for name, word in env)


def _script_of(file: ShellFile, given: Environment) -> Script:
    """The script in a file; all of it has the file's place where its text has none of its own."""
    if file.placed is not None:
        return read_shell(file.placed.text, file.placed.path, inside=file.placed, given=given)
    script = read_shell(file.text or "", file.span.path, given=given)
    return replace(script, commands=tuple(_placed(command, file.span) for command in script.commands))


def _inner_script(word: Word, path: str, given: Environment) -> Script:
    """A script in one word. Its places are exact where the word is the script in quotes, else they are the word's."""
    span, text = word.span, word.text
    if isinstance(word.places, Placed):
        return read_shell(text, path, inside=word.places, given=given)
    places = _unquoted_places(word.raw, text) if span is not None and word.raw[:1] in ("'", '"') else None
    if span is not None and places is not None:
        return read_shell(text, path, inside=Placed(text, SourceText(word.raw, path, span), places), given=given)
    if span is None or word.raw[1:-1] != text:
        script = read_shell(text, path, given=given)
        commands = tuple(_placed(command, span or Span(path)) for command in script.commands)
        return replace(
            script, commands=commands, files=tuple(_file_at(file, span or Span(path)) for file in script.files)
        )
    return read_shell(text, path, Span(path, span.line, span.column + 1), given=given)


_ESCAPABLE = frozenset('"$`\\')


def _unquoted_places(raw: str, text: str) -> list[int] | None:
    """Where each character of a script stands in its quotes; None where a variable was put in."""
    places: list[int] = []
    at, double = 1, raw[0] == '"'
    for char in text:
        while double and raw.startswith("\\\n", at):
            at += 2
        if double and raw.startswith("\\", at) and raw[at + 1 : at + 2] in _ESCAPABLE:
            at += 1
        if raw[at : at + 1] != char:
            return None
        places.append(at)
        at += 1
    return places


def _file_at(file: ShellFile, span: Span) -> ShellFile:
    """A file all of whose text is at one place."""
    if file.text is None:
        return replace(file, span=span)
    whole = Placed(file.text, SourceText("\n", span.path, span), [0] * len(file.text))
    return replace(file, span=span, placed=whole)


def _placed(command: ShellCommand, span: Span) -> ShellCommand:
    """A command all of whose words are at one place."""
    env = tuple((name, replace(word, span=span)) for name, word in command.env)
    return replace(command, words=tuple(replace(word, span=span) for word in command.words), env=env, span=span)


def _sourced(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The file of `source FILE` or `. FILE`, whose variables the commands after it may be given.

    That of a virtual environment sets no option of an engine.
    """
    if words[0].value not in {"source", "."} or (words[1:2] and words[1].text.endswith("bin/activate")):
        return ()
    return words[1:2]


def _orphans(following: tuple[ShellCommand, ...]) -> tuple[Word, ...]:
    return following[0].words if following and following[0].words[0].text.startswith("-") else ()


def _refuse_hidden(script: Script, *, found: bool, mentioned: bool) -> None:
    """Syntax that cannot be read is an error where it may hide a launch: it names a program, or the script does and
    no launch was found.
    """
    for problem in script.problems:
        if (mentioned and not found) or mentions_program(problem.text):
            raise InputError(
                "the shell syntax cannot be parsed here",
                where=_first_line(problem.span),
                hint="check quotes, brackets and heredocs with `bash -n`",
            )


def _mention(program: Program) -> str:
    if program.name and not program.bare:
        return rf"\b{re.escape(program.name)}\s+({'|'.join(program.subcommands)})\b"
    return re.escape(program.name or program.module)


_MENTION = re.compile("|".join(_mention(program) for program in PROGRAMS))


def mentions_program(text: str) -> bool:
    """Whether a text holds the words that start an engine, wherever they stand."""
    return _MENTION.search(text) is not None


def _first_line(span: Span) -> Span:
    return Span(span.path, span.line, span.column)


def _launch(command: ShellCommand, engine: str, files: tuple[ShellFile, ...]) -> Launch:
    named = _named_values(command.words)
    held = {file.name: file for file in files if file.text is not None and file.name in named}
    return Launch(
        engine=engine,
        argv=command.words,
        env=kept_environment(command.env),
        files=tuple((name, file.text) for name, file in held.items() if file.text is not None),
        span=command.span,
        places={name: file.placed for name, file in held.items() if file.placed is not None},
    )


def _named_values(words: tuple[Word, ...]) -> frozenset[str]:
    """The words that may name a file: values of their own and those behind `=`."""
    values = {word.value for word in words if word.value is not None}
    return frozenset(values | {value.partition("=")[2] for value in values if "=" in value})


def kept_environment(env: tuple[tuple[str, Word], ...]) -> tuple[tuple[str, Word], ...]:
    """Every variable that the script sets for a launch, by name; the value of a secret is never kept."""
    kept = [(name, _guarded(name, word)) for name, word in env if name not in _SHELL_OWN]
    return tuple(sorted(kept, key=lambda item: item[0]))


def _guarded(name: str, word: Word) -> Word:
    if is_secret_name(name):
        return Word(value=None, span=word.span, raw=HIDDEN)
    return word
