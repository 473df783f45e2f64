"""A launch's words as settings: the flags of trtllm-serve, the YAML file they name, the environment, and which counts."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import normpath

from specconf.compat.view import View
from specconf.engines.argv import ArgvReader, Grammar
from specconf.engines.filekeys import places_of
from specconf.engines.tensorrt_llm.eras import Era
from specconf.engines.tensorrt_llm.option_file import FileError, OptionFile
from specconf.settings import Origin, Problem, ProblemKind, Settings, SettingsBuilder, Written
from specconf.words import Candidates, Launch, Unresolved, Value, Word

SCOPE = "trtllm.cli"
CONFIG = "cli.config"
_OLD, _NEW = "--extra_llm_api_options", "--config"


def resolve(launch: Launch, view: View) -> Settings:
    """What the launch sets at this release."""
    words = list(launch.argv[1:])
    if words and words[0].value == "serve":
        del words[0]
    flags, file = SettingsBuilder(view.engine), SettingsBuilder(view.engine)
    unread = _read_flags(words, view, flags)
    _read_file(flags, file, launch, view)
    return _merged(flags.build(), file.build(), launch, view, unread)


def _read_flags(words: list[Word], view: View, builder: SettingsBuilder) -> tuple[Problem, ...]:
    """Read the flags; `--config` names the file in releases that do not have it too, and is told."""
    known = view.names.get(SCOPE, {})
    canonical = {} if _NEW in known else {_NEW: _OLD}
    grammar = Grammar(SCOPE, abbreviations=False, canonical=lambda name: canonical.get(name, name))
    ArgvReader(view, grammar, builder).read(words)
    written = builder.current(CONFIG)
    alone = len(words) == 2  # a bare option file, which names no flag of its own
    if not canonical or alone or written is None or written.spelling != _NEW:
        return ()
    return (Problem(ProblemKind.UNKNOWN, SCOPE, _NEW, near=(_OLD,), where=written.where),)


def _read_file(flags: SettingsBuilder, file: SettingsBuilder, launch: Launch, view: View) -> None:
    """Read the file that the flags name; a file that is not at hand may hold any option."""
    named = flags.current(CONFIG)
    if named is None:
        return
    held = _held(named.value, dict(launch.files))
    if held is None:
        shown = named.value.text if isinstance(named.value, Unresolved) else str(named.value)
        flags.unresolved(Word(None, named.where, f"{named.spelling} {shown}", may_be_many=True))
        return
    name = str(named.value)
    try:
        OptionFile(dict(launch.files)[held], places_of(launch, held), view, file).read()
    except FileError as error:
        file.problem(Problem(ProblemKind.INVALID, SCOPE, named.spelling, name, error.expected, where=named.where))
    flags.remove(CONFIG)


def _held(name: Value, files: Mapping[str, str]) -> str | None:
    """The name under which a file is at hand, which may be written in another way."""
    if not isinstance(name, str):
        return None
    if name in files:
        return name
    return next((known for known in files if normpath(known) == normpath(name)), None)


def _merged(flags: Settings, file: Settings, launch: Launch, view: View, unread: tuple[Problem, ...]) -> Settings:
    """One set of settings; a path that both write holds the values in the order of the release, the one that counts last."""
    builder = SettingsBuilder(view.engine)
    flag_counts = Era(view)["cli_over_yaml"]
    for path in dict.fromkeys((*flags, *file)):
        by_flag, by_file = flags.setting(path), file.setting(path)
        first, last = (by_file, by_flag) if flag_counts is True else (by_flag, by_file)
        for setting in (first, last):
            for written in setting.written if setting is not None else ():
                builder.write(path, written)
        if first is None or last is None or first.value == last.value:
            continue
        if isinstance(flag_counts, bool):
            loser = first.final
            builder.problem(Problem(ProblemKind.OVERWRITTEN, SCOPE, loser.spelling or path, path, where=loser.where))
        else:
            builder.write(path, _either(first.final, last.final))
    for name, word in launch.env:
        value: Value = word.value if word.value is not None else Unresolved(word.raw)
        builder.write(f"env.{name}", Written(value, Origin.ENV, name, where=word.span))
    for problem in (*flags.problems, *file.problems, *unread):
        builder.problem(problem)
    for word in (*flags.unresolved, *file.unresolved):
        builder.unresolved(word)
    return builder.build()


def _either(flag: Written, key: Written) -> Written:
    """It is not known which of the two counts."""
    if isinstance(flag.value, Unresolved | Candidates) or isinstance(key.value, Unresolved | Candidates):
        value: Value = Unresolved(f"{flag.spelling} or {key.spelling}")
    else:
        value = Candidates((flag.value, key.value))
    return Written(value, key.origin, key.spelling, where=key.where)
