"""Dockerfiles: what the image of each stage starts, by its entrypoint and command, with the environment set for it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec import Struct, field

from specconf.patterns import pattern
from specconf.readers.commandline import substituted, word_with, words_of
from specconf.readers.commandparts import Item, pins_in, shell_script
from specconf.readers.dockerinstructions import Heredoc, Instruction, instructions
from specconf.readers.fragments import Document, Fragment
from specconf.readers.jsonlist import json_items
from specconf.readers.source import Placed
from specconf.readers.stated import Stated
from specconf.words import Span, Word

_OPTION = pattern(r"(--[\w-]+(?:=\S*)?\s+)+")
_SHEBANG = pattern(r"#!.*\b(?:ba|z|k|da)?sh\b")


class _Stage(Struct):
    """What is known of an image at a place of the file. A command is a list (exec form) or one text that a shell runs."""

    image: Word | None = None
    own_base: bool = True
    variables: dict[str, str] = field(default_factory=dict)
    env: dict[str, Word] = field(default_factory=dict)
    entrypoint: list[Item] | Placed | None = None
    command: list[Item] | Placed | None = None
    files: dict[str, Placed] = field(default_factory=dict)
    stated: tuple[Stated, ...] = ()
    name: str = ""
    where: Span | None = None

    def from_this(self) -> _Stage:
        """A stage that goes on from this one; its command is told there, too."""
        return _Stage(
            self.image, self.own_base, dict(self.variables), dict(self.env), self.entrypoint, self.command,
            dict(self.files), self.stated,
        )  # fmt: skip


def fragments(document: Document) -> Iterator[Fragment]:
    """What each stage of a Dockerfile starts. A stage that only hands on what it took over is told once."""
    stages: list[_Stage] = []
    globals_: dict[str, str] = {}
    for instruction in instructions(document.source):
        if instruction.name == "FROM":
            stages.append(_from(instruction, globals_, stages))
        elif instruction.name == "ARG" and not stages:
            _arg(instruction, globals_, globals_)
        elif stages:
            _apply(instruction, stages[-1], globals_)
    for stage in stages:
        if stage.where is not None:
            yield _fragment(stage)


def _apply(instruction: Instruction, stage: _Stage, outer: dict[str, str]) -> None:
    name, body = instruction.name, instruction.body
    if name == "ARG":
        _arg(instruction, stage.variables, outer)
    elif name == "ENV":
        _env(body, stage)
    elif name == "ENTRYPOINT":
        stage.entrypoint, stage.command, stage.where = _command(body), None, body.span
    elif name == "CMD":
        stage.command, stage.where = _command(body), body.span
    elif name == "RUN":
        stage.stated = (*(pin for text in (body, *(h.body for h in instruction.heredocs)) for pin in pins_in(text)),
                        *stage.stated)  # fmt: skip
    elif instruction.heredocs:
        _copied(instruction, stage)


def _from(instruction: Instruction, outer: dict[str, str], stages: list[_Stage]) -> _Stage:
    words = [word for word in words_of(_without_options(instruction.body)) if word.span]
    alias = words[2].text if len(words) > 2 and words[1].text.lower() == "as" else ""
    earlier = next((stage for stage in stages if words and stage.name and stage.name == words[0].text.lower()), None)
    if earlier is not None:
        stage = earlier.from_this()
    else:
        body = instruction.body
        at = body.text.find(words[0].raw) if words else 0
        image = word_with(words[0], body.part(at, at + len(words[0].raw)), outer.get) if words else None
        stage = _Stage(image)
    stage.name = alias.lower()
    return stage


def _without_options(body: Placed) -> Placed:
    found = _OPTION.match(body.text)
    return body.part(found.end(), len(body.text)) if found else body


def _arg(instruction: Instruction, variables: dict[str, str], outer: dict[str, str]) -> None:
    """`ARG NAME=default`; without a default it takes what was given before the first stage."""
    for word in words_of(instruction.body):
        name, sign, _ = word.text.partition("=")
        if not sign and name in outer:
            variables[name] = outer[name]
        elif sign and word.value is not None:
            at = instruction.body.text.find(word.raw)
            put_in = word_with(word, instruction.body.part(at, at + len(word.raw)), variables.get)
            if put_in.value is not None:
                variables[name] = _unquoted(put_in.value.partition("=")[2])


def _unquoted(text: str) -> str:
    try:
        parts = shlex.split(text)
    except ValueError:  # an open quote: Docker refuses the file, and the value is of no use
        return text
    return parts[0] if len(parts) == 1 else text


def _env(body: Placed, stage: _Stage) -> None:
    """`ENV A=1 B=2`, or the older `ENV A 1`."""
    words = words_of(body)
    if words and "=" not in words[0].raw:
        end = body.text.find(words[0].raw) + len(words[0].raw)
        rest = body.text[end:]
        start = end + len(rest) - len(rest.lstrip())
        text = body.part(start, len(body.text.rstrip()))
        _set(words[0].text, word_with(Word(text.text, text.span, text.text), text, stage.variables.get), stage)
        return
    at = 0
    for word in words:
        at = body.text.find(word.raw, at)
        name, sign, value = word.text.partition("=")
        if sign and word.value is not None:
            literal = word.raw.partition("=")[2].startswith("'")
            text = Placed(value, body.outer, [body.at[at]] * len(value))
            whole = Word(value, word.span, word.raw.partition("=")[2])
            _set(name, whole if literal else word_with(whole, text, stage.variables.get), stage)
        at += len(word.raw)


def _set(name: str, word: Word, stage: _Stage) -> None:
    stage.env[name] = word
    if word.value is None:
        stage.variables.pop(name, None)
    else:
        stage.variables[name] = word.value


def _command(body: Placed) -> list[Item] | Placed:
    items = json_items(body)
    return body if items is None else items


def _copied(instruction: Instruction, stage: _Stage) -> None:
    """`COPY <<EOF /path`: files of the image."""
    words = [word.text for word in words_of(_without_options(instruction.body))]
    names = [word for word in words if not word.startswith("<<")]
    if not names:
        return
    for number, heredoc in enumerate(instruction.heredocs):
        target = names[-1]
        if target.endswith("/"):
            marks = [word[2:].strip("-'\"") for word in words if word.startswith("<<")]
            target += marks[number] if number < len(marks) else ""
        body = _filled(heredoc, stage)
        if body is not None:
            stage.files[target] = body


def _filled(heredoc: Heredoc, stage: _Stage) -> Placed | None:
    return heredoc.body if heredoc.literal else substituted(heredoc.body, stage.variables.get)


def _fragment(stage: _Stage) -> Fragment:
    words, script = _started(stage)
    adds_program = stage.entrypoint is None and script is None
    files = {name: body.text for name, body in stage.files.items()}
    first = words[0].text if words else ""
    if first in stage.files and _is_script(first, stage.files[first].text):
        script = stage.files[first]  # the image starts a script that stands in this file
    return Fragment(
        words=words, script=script, image=stage.image, adds_program=adds_program, env=tuple(stage.env.items()),
        files=files, stated=stage.stated, name=stage.name, where=stage.where if script is None else None,
    )  # fmt: skip


def _is_script(name: str, text: str) -> bool:
    return name.endswith((".sh", ".bash")) or _SHEBANG.match(text) is not None


def _started(stage: _Stage) -> tuple[tuple[Word, ...], Placed | None]:
    """The words that the image starts, or the text that a shell does."""
    entrypoint, command = stage.entrypoint, stage.command
    if isinstance(entrypoint, Placed):
        return (), entrypoint
    if entrypoint is None and isinstance(command, Placed):
        return (), command
    items = list(entrypoint or ())
    if isinstance(command, Placed):
        shell = Word("/bin/sh", command.span, "/bin/sh")
        items += [
            (shell, command),
            (Word("-c", command.span, "-c"), command),
            (Word(command.text, command.span), command),
        ]
    else:
        items += command or ()
    script = shell_script(items)
    return ((), script) if script is not None else (tuple(word for word, _ in items), None)
