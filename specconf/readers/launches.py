"""Which commands of a script start an engine, wherever they run, and the environment that matters to them.

A launch keeps its words as written. What an option means, in which release, is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from specconf.errors import InputError
from specconf.readers.containers import Container, image_of, path_inside, started_container
from specconf.readers.found import ReadLaunch
from specconf.readers.fragments import Document, Fragment
from specconf.readers.front_ends import as_engine
from specconf.readers.mistakes import holds_flags, of_words, shell_arguments, takes_arguments
from specconf.readers.nested import NestedScript
from specconf.readers.pins import required
from specconf.readers.programs import as_program, match_program, mentions_engine, mentions_program, prints_only
from specconf.readers.running import (
    SCRIPT,
    given_script,
    has_command_option,
    in_document,
    operand,
    read_from_input,
    script_index,
)
from specconf.readers.scripts import Script, ShellCommand, ShellFile
from specconf.readers.shell import read_shell
from specconf.readers.source import Placed, holes_of
from specconf.readers.stated import Stated
from specconf.readers.templates import holes_in, without_holes
from specconf.readers.wrappers import MANY, assignment_of, behind_wrappers, stripped
from specconf.secrets import is_secret_name
from specconf.words import Launch, Span, Word

HIDDEN = "<hidden>"
# What the shell itself needs says nothing about a launch.
_SHELL_OWN = frozenset({"PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "TERM", "LANG", "PS1", "IFS"})


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
        orphans = _orphans(command, script.commands[at + 1 :])
        found += [replace(item, orphans=item.orphans or orphans) for item in _in_command(command, files, env_files)]
    found += [item for file in script.files for item in _in_written(file, found)]
    _refuse_hidden(script, found=bool(found), mentioned=mentions_program(text))
    return [_launch_with_holes(item, script.holes) for item in found] if script.holes else found


def _in_command(command: ShellCommand, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]) -> list[ReadLaunch]:
    """The launches that a command makes: itself, in a container, or in the script it gives to a shell."""
    used = image_of(command.image) if command.image is not None else None
    if used is not None and command.image is not None and command.words[0].text.startswith("-"):
        # `apptainer run IMAGE OPTIONS`: the image's own program takes them
        command = replace(command, words=(*used.program(command.words, command.image), *command.words))
    found = _of_command(command, files, env_files)
    stated = (*required(command.requires), *(used.stated if used is not None else ()))
    return [_with_stated(item, stated) for item in found] if stated else found


def _of_command(command: ShellCommand, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]) -> list[ReadLaunch]:
    script = given_script(command.words, command.span.path)
    if script is not None:
        # What stands in the environment of the shell stands in that of everything it starts.
        at = script_index(command.words)
        if at is not None and command.words[at + 1 :]:
            return _in_shell(command, at, script, files, env_files)
        return _in_nested(command, script, files, env_files)
    started = _started_script(command.words, files)
    if started is not None and started.placed is not None:
        others = tuple(file for file in files if file is not started)
        text = NestedScript(started.placed.text, started.placed, holes_of(started.placed))
        return _in_nested(replace(command, input=None), text, others, env_files)
    if started is not None and started.text is not None:
        others = tuple(file for file in files if file is not started)
        return _in_script(started.text, _script_of(started, _given(command.env)), others, env_files)
    container = started_container(command.words)
    if container is not None:
        return _in_container(command, container, files)
    if command.input is not None:
        found = _in_input(command, command.input, files, env_files)
        if found is not None:
            return found
    command = replace(command, words=as_engine(as_program(command.words)))
    match = match_program(command.words)
    if match is None and (rest := _behind_unknown(command.words)):
        return _of_command(replace(command, words=rest), files, env_files)
    if match is None or prints_only(command.words[match.length - 1 :]):
        return []
    if not command.intact:
        raise InputError(
            f"this {match.program.engine} launch cannot be read: the shell syntax is broken inside it",
            where=command.span,
            hint="check its quotes, brackets and line continuations with `bash -n`",
        )
    return [ReadLaunch(_launch(command, match.program.engine, files), env_files=env_files)]


def _behind_unknown(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The command behind unknown words at its beginning, which may be wrappers: `$RUN vllm serve`."""
    at = next((n for n, word in enumerate(words) if word.value is not None or not word.may_be_many), len(words))
    return stripped(words[at:])[0] if 0 < at < len(words) else ()


def _in_shell(
    command: ShellCommand, at: int, given: NestedScript, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]
) -> list[ReadLaunch]:
    """The launches in the script that a shell is given. Words behind it are its arguments, though not meant as such where
    the script does not look at them and they are options, or it is no launch without them.
    """
    rest = command.words[at + 1 :]
    if takes_arguments(given.text):
        return _in_nested(command, given, files, env_files)
    mistakes = (shell_arguments(rest),)
    script = _nested_script(command, given)
    if len(script.commands) == 1 and not script.problems:
        first = script.commands[0]
        match, meant = match_program(first.words), match_program((*first.words, *rest))
        if meant is not None and (holds_flags(rest) or match is None or match.length == len(first.words)):
            found = _in_command(replace(first, words=(*first.words, *rest)), files, env_files)
            return [replace(item, mistakes=mistakes) for item in found]
    found = _in_nested(command, given, files, env_files)
    return [replace(item, mistakes=mistakes) for item in found] if holds_flags(rest) else found


def _in_nested(
    command: ShellCommand, nested: NestedScript, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]
) -> list[ReadLaunch]:
    """The launches in a script of which parts may not be known."""
    return _in_script(nested.text, _nested_script(command, nested), files, env_files)


def _nested_script(command: ShellCommand, nested: NestedScript) -> Script:
    """A script within a command, whose environment and standard input are those of the command."""
    path = command.span.path
    script = read_shell(nested.text, path, inside=nested.places, given=_given(command.env), holes=nested.holes)
    if command.input is not None:
        commands = tuple(one if one.input is not None else replace(one, input=command.input) for one in script.commands)
        script = replace(script, commands=commands)
    return script


def _in_input(
    command: ShellCommand, given: NestedScript, files: tuple[ShellFile, ...], env_files: tuple[Word, ...]
) -> list[ReadLaunch] | None:
    """The launches in what a command reads from its standard input: a script or a manifest; None where it reads neither."""
    kind = read_from_input(command.words)
    if kind == SCRIPT:
        return _in_nested(replace(command, input=None), given, files, env_files)
    return in_document(kind, given, command.span.path) if kind else None


def _in_written(file: ShellFile, found: Sequence[ReadLaunch]) -> list[ReadLaunch]:
    """The launches in a deploy file that a script writes, where nothing in the script was seen to run or to name it."""
    if file.placed is None or not mentions_engine(file.placed.text):
        return []
    where = file.placed.span
    if any(_inside(item.launch.span, where) or file.name in dict(item.launch.files) for item in found):
        return []
    text = NestedScript(file.placed.text, file.placed, holes_of(file.placed))
    return in_document(file.name, text, file.span.path)


def _inside(span: Span | None, where: Span) -> bool:
    return span is not None and span.path == where.path and where.line <= span.line <= where.end_line


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


def in_fragment(fragment: Fragment, path: str) -> list[ReadLaunch]:
    """The launches that a fragment of a deploy file makes. Fails as `find_launches` does."""
    files = tuple(_file(name, text, fragment.where or Span(path)) for name, text in fragment.files.items())
    try:
        if fragment.script is not None:
            text, given = fragment.script.text, _given(fragment.env)
            script = read_shell(text, path, inside=fragment.script, given=given, holes=fragment.holes)
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


def _started_script(words: tuple[Word, ...], files: tuple[ShellFile, ...]) -> ShellFile | None:
    """The file that `bash FILE` or a command such as `/scripts/run.sh` runs, where its text is at hand."""
    at = operand(words)
    named = words[at].value if at is not None and not has_command_option(words[1:at]) else words[0].value
    behind = behind_wrappers(words)
    if at is None and behind.reads_input and len(words) > 1:  # `sbatch FILE`
        named, at = words[-1].value, 1
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


def _orphans(command: ShellCommand, following: tuple[ShellCommand, ...]) -> tuple[Word, ...]:
    """The words of the next command, where it starts with an option; what stands inside of a command is not the next one."""
    end = (command.span.end_line, command.span.end_column)
    first = next((one for one in following if (one.span.line, one.span.column) >= end), None)
    return first.words if first is not None and first.words[0].text.startswith("-") else ()


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
