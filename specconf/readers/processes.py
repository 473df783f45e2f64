"""A process as a container format writes it: words whose texts may be scripts, made into one fragment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from specconf.readers.containers import image_of
from specconf.readers.filling import Filled
from specconf.readers.fragments import Fragment
from specconf.readers.running import script_index
from specconf.readers.source import Placed
from specconf.readers.wrappers import assignment_of, stripped
from specconf.words import Word

Part = tuple[Word, Filled | None]


class Process(Struct, frozen=True):
    """One container: what it is told to run, in which image, with which environment and files.

    `entrypoint`: the words in place of the image's own program, None where the file gives none; `arguments`: those behind.
    """

    entrypoint: Sequence[Part] | None
    arguments: Sequence[Part]
    image: Word | None = None
    env: tuple[tuple[str, Word], ...] = ()
    files: Mapping[str, str | Placed] = field(default_factory=dict)
    env_files: tuple[Word, ...] = ()
    name: str = ""
    open_ended: bool = False

    def fragment(self) -> Fragment:
        """The process as a fragment; a script in it keeps the place of each of its characters."""
        parts = [*(self.entrypoint or ()), *self.arguments]
        words = tuple(word for word, _ in parts)
        adds_program = self.entrypoint is None
        used = image_of(self.image) if self.image is not None else None
        script, own = None, tuple[tuple[str, Word], ...]()
        if not (adds_program and used is not None and used.image.entrypoint):
            script, own = _script(words, parts)
        return Fragment(
            words=() if script is not None else words,
            script=script,
            image=self.image,
            adds_program=adds_program,
            env=(*self.env, *own),
            files=self.files,
            name=self.name,
            where=words[0].span if words else None,
            open_ended=self.open_ended,
            env_files=self.env_files,
        )


def _script(words: tuple[Word, ...], parts: Sequence[Part]) -> tuple[Placed | None, tuple[tuple[str, Word], ...]]:
    """The script in `bash -c SCRIPT` behind wrappers, and the variables that these set.

    Unknown variables that the format would put into the script are ones of the shell then.
    """
    candidates = tuple(Word("", w.span, w.raw) if w.value is None and p is not None else w for w, p in parts)
    behind, assignments = stripped(candidates)
    at = script_index(behind)
    text = parts[len(words) - len(behind) + at][1] if at is not None else None
    return (None, ()) if text is None else (text.script(), tuple(assignment_of(word) for word in assignments))


def named_in(parts: Iterable[Part]) -> str:
    """All that the words say, to look for names of files in."""
    return "\n".join(word.text for word, _ in parts)
