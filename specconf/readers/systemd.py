"""systemd units: what a service starts, with the environment that the unit sets. Podman's quadlets are units with an image."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specconf.patterns import pattern
from specconf.readers.commandline import words_of
from specconf.readers.commandparts import shell_script, split_items
from specconf.readers.fragments import Document, Fragment
from specconf.readers.source import Placed, SourceText, joined
from specconf.readers.templates import Template, holes_in
from specconf.words import Word

_SECTION = pattern(r"\[(?P<name>[^\]\n]+)\]\s*\Z")
_SETTING = pattern(r"(?P<name>[A-Za-z]\w*)\s*=\s*(?P<value>.*)\Z", re.DOTALL)
_STARTS = frozenset({"ExecStart", "ExecStartPre", "ExecStartPost", "ExecReload"})
# `${NAME}` anywhere, `$$` for a dollar, `%i` and other specifiers, `%%` for a per cent sign.
_PART = pattern(r"\$\$|\$\{(?P<name>\w+)\}|%%|%[A-Za-z]|\{\{.{0,500}?\}\}")
_WHOLE = pattern(r"\$\w+\Z")


def fragments(document: Document) -> Iterator[Fragment]:
    """The commands of a unit's service, and the container of a quadlet."""
    settings = list(_settings(document.source))
    env: dict[str, Word] = {}
    env_files: list[Word] = []
    for name, value in settings:
        if name == "Environment":
            for word in words_of(value):
                variable, sign, text = word.text.partition("=")
                if sign:
                    known = word.value is not None and "%" not in text
                    env[variable] = Word(text if known else None, word.span, word.raw.partition("=")[2])
        elif name == "EnvironmentFile" and value.text.strip():
            env_files.append(Word(value.text.strip().lstrip("-"), value.span, value.text.strip()))
    template = Template(_PART, lambda match: _value(match, env, may_change=bool(env_files)))
    image = next((template.word(value) for name, value in settings if name == "Image"), None)
    for name, value in settings:
        if name not in _STARTS and not (name == "Exec" and image is not None):
            continue
        items = list(_split(value, template))
        script = shell_script(items)
        words = [known for word, _ in items for known in _known(word, env, template, may_change=bool(env_files))]
        yield Fragment(
            words=() if script is not None else tuple(words),
            script=script, image=image, adds_program=name == "Exec", env=tuple(env.items()), env_files=tuple(env_files),
            holes=template.holes,
        )  # fmt: skip


def _settings(source: SourceText) -> Iterator[tuple[str, Placed]]:
    """The settings of the sections that start something; a continued line's backslash is a blank."""
    section = ""
    for line in _logical(source):
        found = _SECTION.match(line.text.strip())
        if found:
            section = found["name"]
            continue
        setting = _SETTING.match(line.text)
        if setting and section in {"Service", "Container"}:
            yield setting["name"], line.part(*setting.span("value"))


def _logical(source: SourceText) -> Iterator[Placed]:
    """Lines with those that continue them, without comments, also between continued lines."""
    parts: list[Placed] = []
    start = 0
    for written in source.text.split("\n"):
        line = source.part(start, start + len(written.removesuffix("\r")))
        start += len(written) + 1
        if line.text.lstrip().startswith(("#", ";")):
            continue
        if line.text.endswith("\\"):
            parts.append(line.part(0, len(line.text) - 1))
            continue
        yield joined([*parts, line], " ")
        parts = []
    if parts:
        yield joined(parts, " ")


def _value(match: re.Match[str], env: dict[str, Word], *, may_change: bool) -> str | None:
    if match.group() in {"$$", "%%"}:
        return match.group()[0]
    word = env.get(match["name"] or "")
    return word.value if word is not None and not may_change else None


def _split(value: Placed, template: Template) -> Iterator[tuple[Word, Placed]]:
    """The words of a command line, each with its text as it is without quotes."""
    start = len(value.text) - len(value.text.lstrip("@-:+!| "))
    rest = value.part(start, len(value.text))
    for word, inside in split_items(rest):
        yield word, template.text(inside)


def _known(word: Word, env: dict[str, Word], template: Template, *, may_change: bool) -> Iterator[Word]:
    """A word with its variables put in; `$NAME` as a word of its own is split into words."""
    if word.value is None:
        yield word
    elif _WHOLE.match(word.value):
        held = env.get(word.value[1:])
        if held is None or held.value is None or may_change:
            yield Word(None, word.span, word.raw, may_be_many=True)
        else:
            yield from (Word(part, word.span, word.raw) for part in held.value.split())
    else:
        filled = template.text(_alone(word.value)).text
        yield Word(None if holes_in(filled, template.holes) else filled, word.span, word.raw)


def _alone(text: str) -> Placed:
    return Placed(text, SourceText(text, ""), range(len(text)))
