"""A process as a container format writes it: words whose texts may be scripts, made into one fragment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.readers.containers import image_of
from specconf.readers.filling import Filled
from specconf.readers.fragments import Fragment
from specconf.readers.mistakes import (
    OPERATOR,
    Mistake,
    MistakeKind,
    holds_flags,
    name_of,
    shell_arguments,
    takes_arguments,
    variables_in,
)
from specconf.readers.programs import match_program, mentions_program
from specconf.readers.running import script_index
from specconf.readers.source import Placed
from specconf.readers.wrappers import assignment_of, stripped
from specconf.words import Word

Part = tuple[Word, Filled | None]


class Process(Struct, frozen=True):
    """One container: what it is told to run, in which image, with which environment and files.

    `entrypoint`: the words in place of the image's own program, None where the file gives none; `arguments`: those behind.
    `mistakes`: those that its format knows of.
    `variable`: how the words of a list name a variable of the container, with `{}` for its name; empty where they cannot.
    """

    entrypoint: Sequence[Part] | None
    arguments: Sequence[Part]
    image: Word | None = None
    env: tuple[tuple[str, Word], ...] = ()
    files: Mapping[str, str | Placed] = field(default_factory=dict)
    env_files: tuple[Word, ...] = ()
    name: str = ""
    open_ended: bool = False
    variable: str | None = None
    mistakes: tuple[Mistake, ...] = ()

    def fragment(self) -> Fragment:
        """The process as a fragment; a script in it keeps the place of each of its characters."""
        parts = [*(self.entrypoint or ()), *self.arguments]
        used = image_of(self.image) if self.image is not None else None
        adds_program = self.entrypoint is None
        own_program = adds_program and used is not None and bool(used.image.entrypoint)
        run = _Run.of(parts, self.env, own_program=own_program, replaced=not adds_program)
        written = tuple(word for word, _ in run.parts)
        return Fragment(
            words=() if run.script is not None else written,
            script=run.script,
            image=self.image,
            adds_program=adds_program and not run.whole,
            env=(*self.env, *run.env),
            files=self.files,
            name=self.name,
            where=parts[0][0].span if parts else None,
            open_ended=self.open_ended,
            env_files=self.env_files,
            mistakes=(*run.mistakes, *self._variables(run), *self.mistakes),
        )

    def _variables(self, run: _Run) -> Iterator[Mistake]:
        """Variables that are the container's own, written as nothing puts them in here."""
        if self.variable is None:
            return
        own = {name for name, word in self.env if word.value is not None}
        for _, text in run.parts if run.script is None else ():
            for found in variables_in(text.text.text) if text is not None else ():
                if name_of(found) in own and text is not None:
                    where = text.text.span_of(*found.span())
                    in_json = "{" in text.text.text[: found.start()]  # of which nothing else can come
                    instead = self.variable.format(name_of(found))
                    yield Mistake(MistakeKind.LITERAL, where, found[0], instead, certain=in_json)


class _Run(Struct, frozen=True):
    """What a container's words come to: words, or the script of a shell with the variables that are set before it.

    `whole`: whether a program of the image's own is left out, because the words start one themselves.
    """

    parts: Sequence[Part]
    script: Placed | None = None
    env: tuple[tuple[str, Word], ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    whole: bool = False

    @classmethod
    def of(cls, parts: Sequence[Part], env: tuple[tuple[str, Word], ...], *, own_program: bool, replaced: bool) -> _Run:
        """The words as they are meant, with the mistakes that keep them from being so."""
        own = frozenset(name for name, _ in env)
        split = _split(parts)
        run = _in_shell(split or parts, own)
        if split is not None and run.script is None and OPERATOR.search(_text(parts[0])):
            text = parts[0][1]
            run = replace(run, script=text.script(own) if text is not None else None)
        mistakes = list(run.mistakes)
        starts = run.script is not None and mentions_program(run.script.text)
        if own_program:
            if not (starts or _starts(run.parts)):
                return cls(parts)  # the image's program gets the words as they are
            mistakes.insert(0, Mistake(MistakeKind.BEHIND_PROGRAM, parts[0][0].span, parts[0][0].text))
        elif split is not None:
            mistakes.insert(0, Mistake(MistakeKind.UNSPLIT, parts[0][0].span, _text(parts[0]), certain=replaced))
        return replace(run, mistakes=tuple(mistakes), whole=own_program)


def _text(part: Part) -> str:
    return part[1].written(part[1].text.text) if part[1] is not None else part[0].text


def _starts(parts: Sequence[Part]) -> bool:
    """Whether words start an engine themselves."""
    behind, _ = stripped(tuple(word for word, _ in parts))
    return match_program(behind) is not None


def _split(parts: Sequence[Part]) -> list[Part] | None:
    """The words with a first one that holds a whole command line taken apart; None where it is one word."""
    text = parts[0][1] if parts else None
    if text is None or not any(char.isspace() for char in text.text.text.strip()):
        return None
    if not mentions_program(text.text.text):
        return None
    return [*text.words(), *parts[1:]]


def _in_shell(parts: Sequence[Part], own: frozenset[str]) -> _Run:
    """The script in `bash -c SCRIPT` behind wrappers, and the variables that these set.

    Unknown variables that the format would put into the script are ones of the shell then. Words behind a script that does
    not look at its arguments are lost; where they are what starts an engine, they were meant to be a part of it.
    """
    words = tuple(word for word, _ in parts)
    candidates = tuple(Word("", w.span, w.raw) if w.value is None and p is not None else w for w, p in parts)
    behind, assignments = stripped(candidates)
    at = script_index(behind)
    text = parts[len(words) - len(behind) + at][1] if at is not None else None
    if at is None or text is None:
        return _Run(parts)
    env = tuple(assignment_of(word) for word in assignments)
    rest = parts[len(words) - len(behind) + at + 1 :]
    after = [word for word, _ in rest]
    if rest and not takes_arguments(text.text.text):
        meant = [*text.words(), *rest]
        if not OPERATOR.search(text.text.text.strip()) and _starts(meant) and (holds_flags(after) or not _enough(text)):
            return _Run(meant, env=env, mistakes=(shell_arguments(after),))
        if holds_flags(after) and mentions_program(text.text.text):
            return _Run(parts, text.script(own), env, (shell_arguments(after),))
    return _Run(parts, text.script(own), env)


def _enough(text: Filled) -> bool:
    """Whether a script starts an engine with words of its own."""
    words = [word for word, _ in text.words()]
    match = match_program(tuple(words))
    return match is not None and len(words) > match.length


def named_in(parts: Iterable[Part]) -> str:
    """All that the words say, to look for names of files in."""
    return "\n".join(word.text for word, _ in parts)
