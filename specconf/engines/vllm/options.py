"""A launch's words → settings: vLLM's program forms, its argument parser and its option file, by the release's options.

The parser takes underscores for dashes in flags, unambiguous beginnings, `-O3`, numbers with suffixes, dotted members of
objects, and `--config FILE`, whose options stand before those of the command line and so lose against them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from msgspec.structs import replace

from specconf.compat.view import View
from specconf.engines.argv import ArgvReader, Grammar
from specconf.engines.filekeys import at_inner_keys
from specconf.engines.options import as_text, compact_json
from specconf.engines.vllm import option_file
from specconf.engines.vllm.behaviour import does
from specconf.engines.vllm.emit import MODEL, SCOPE
from specconf.patterns import pattern
from specconf.settings import Origin, Problem, ProblemKind, Settings, SettingsBuilder, Written
from specconf.words import Candidates, Launch, Unresolved, Word

ENGINE = "vllm"
_PYTHON = pattern(r"(python|pypy)[\d.]*\Z")
_MODULE_START = "vllm.entrypoints."
_SHORT_LEVEL = pattern(r"-O=?(\d)\Z")
_LEVELS = ("0", "1", "2", "3")
_HUMAN = pattern(r"(\d+(?:\.\d+)?)([kKmMgGtT])\Z")
_HUMAN_PARSER = "human_readable_int"
_QUOTED = pattern(r'("(?:[^"\\]|\\.)*")')
_BARE = pattern(r"\b\d+(?:\.\d+)?[kKmMgGtT]\b")
_FACTORS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SHORT_FLAGS = {"--spec-method": "method", "--spec-model": "model", "--spec-tokens": "num_speculative_tokens"}
_CONFIG = "speculative_config"
_CONFIG_FLAGS = ("--speculative-config", "-sc")


def canonical(flag: str) -> str:
    """A flag as the database spells it: dashes for underscores, up to the first dot."""
    if not flag.startswith("--"):
        return flag
    base, dot, rest = flag.partition(".")
    return base.replace("_", "-") + dot + rest


def resolve(launch: Launch, view: View) -> Settings:
    """The settings of a launch: its option file, its command line over it, and the environment beside both."""
    serve, words = arguments(launch.argv)
    words = list(_levels(words, view))
    words, file = option_file.pulled(words, launch, view)
    from_file = at_inner_keys(_read(file.words, view, serve=serve), file.keys)
    from_argv = _read(_in_order(words, view), view, serve=serve)
    builder = SettingsBuilder(ENGINE)
    _merge(builder, from_file, from_argv, view)
    for problem in [
        *file.problems,
        *from_file.problems,
        *from_argv.problems,
        *_twice(builder.build(), view),
        *_not_literal(words, view),
        *_text_in_code(words, view),
    ]:
        builder.problem(problem)
    for word in (*from_file.unresolved, *from_argv.unresolved):
        builder.unresolved(word)
    for name, word in launch.env:
        value = word.value if word.value is not None else Unresolved(word.raw)
        builder.write(f"env.{name}", Written(value, Origin.ENV, name, where=word.span))
    return builder.build()


def arguments(argv: Sequence[Word]) -> tuple[bool, list[Word]]:
    """Whether the words are those of `vllm serve`, and the words after the program."""
    names = [PurePosixPath(word.text).name for word in argv[:1]]
    if names and _PYTHON.match(names[0]):
        return _after_python(argv)
    if names == ["vllm"] and len(argv) > 1 and argv[1].value == "serve":
        return True, list(argv[2:])
    if names == ["api_server.py"]:
        return False, list(argv[1:])
    return bool(argv) and argv[0].value == "serve", list(argv[1:] if argv and argv[0].value == "serve" else argv)


def _after_python(argv: Sequence[Word]) -> tuple[bool, list[Word]]:
    for index, word in enumerate(argv):
        if word.value == "-m" and index + 1 < len(argv) and argv[index + 1].text.startswith(_MODULE_START):
            rest = list(argv[index + 2 :])
            serve = bool(rest) and rest[0].value == "serve" and argv[index + 1].text.endswith("cli.main")
            return serve, rest[1:] if serve else rest
        if word.text.endswith("api_server.py"):
            return False, list(argv[index + 1 :])
    return False, list(argv[1:])


def _levels(words: Sequence[Word], view: View) -> Iterator[Word]:
    """`-O3` as the two words that this release makes of it, and `-O 3` under the name that it has there."""
    renamed = does(view, "optimization_level")
    flag = "--optimization-level" if renamed else "-O"
    for word, following in zip(words, [*words, Word("")][1:], strict=True):
        level = _SHORT_LEVEL.match(word.value) if word.value is not None else None
        if level is not None and does(view, "short_level"):
            yield replace(word, value=flag)
            yield replace(word, value=level[1])
        elif renamed and word.value == "-O" and following.value in _LEVELS:
            yield replace(word, value=flag)
        else:
            yield word


def _read(words: list[Word], view: View, *, serve: bool) -> Settings:
    builder = SettingsBuilder(ENGINE)
    canonical_of = canonical if does(view, "underscores") else str
    grammar = Grammar(SCOPE, empty_is_none=does(view, "empty_is_none") is True, canonical=canonical_of)
    reader = ArgvReader(view, grammar, builder)
    if not serve:
        reader.positionals = []
    reader.read(list(_numbers(_literals(words, view), view)))
    settings = builder.build()
    if serve and not does(view, "model_flag_moves"):
        model = settings.setting(MODEL)
        if model is not None and model.final.spelling:
            note = Problem(ProblemKind.UNEXPECTED, SCOPE, model.final.spelling, where=model.final.where)
            return replace(settings, problems=(*settings.problems, note))
    return settings


def _merge(builder: SettingsBuilder, from_file: Settings, from_argv: Settings, view: View) -> None:
    """File first, then the command line; an object that the command line writes as one replaces the file's."""

    def alone(path: str) -> bool:
        """Whether a flag of its own wrote the member, which then leaves the others as they are."""
        spelling = from_argv.items_by_path[path].final.spelling
        written_whole = any(canonical(spelling) in o.names for o in view.by_path.get(path.partition(".")[0], ()))
        own = any(o.scope == SCOPE for o in view.by_path.get(path, ()))
        return own and spelling.startswith("-") and "." not in spelling and not written_whole

    objects = {path.partition(".")[0] for path in from_argv if "." in path and not alone(path)}
    for path, setting in from_file.items_by_path.items():
        for written in setting.written:
            if path.partition(".")[0] not in objects or _is_short(written):
                builder.write(path, replace(written, origin=Origin.FILE))
    for path, setting in from_argv.items_by_path.items():
        for written in setting.written:
            builder.write(path, written)


def _in_order(words: list[Word], view: View) -> list[Word]:
    """The short flags of the speculative config behind the JSON that they are merged into."""
    if not does(view, "short_spec_flags"):
        return words
    kept: list[Word] = []
    moved: list[Word] = []
    index = 0
    while index < len(words):
        name, equals, _ = canonical(words[index].text).partition("=")
        if name in _SHORT_FLAGS:
            step = 1 if equals else 2
            moved += words[index : index + step]
            index += step
        else:
            kept.append(words[index])
            index += 1
    return kept + moved


def _twice(settings: Settings, view: View) -> Iterator[Problem]:
    """Short flags beside an object that has the same key, in whatever form either is written; the engine refuses both.

    EngineArgs.create_speculative_config, vllm/engine/arg_utils.py (0.33.0): the flags are put into the object there.
    """
    if not does(view, "short_spec_flags"):
        return
    for key in _SHORT_FLAGS.values():
        setting = settings.setting(f"{_CONFIG}.{key}")
        written = setting.written if setting is not None else ()
        short = [one for one in written if _is_short(one)]
        whole = [one for one in written if not _is_short(one)]
        if short and whole:
            value = as_text(short[-1].value) if not isinstance(short[-1].value, Unresolved | Candidates) else ""
            beside = f"{key} of --speculative-config"
            yield Problem(ProblemKind.EXCLUSIVE, SCOPE, short[-1].spelling, value, beside, where=short[-1].where)


def _is_short(written: Written) -> bool:
    return canonical(written.spelling) in _SHORT_FLAGS


def _literals(words: Sequence[Word], view: View) -> Iterator[Word]:
    """Where the release reads the speculative config as a Python literal: as the JSON of the same value."""
    if not does(view, "separate_flags"):
        yield from words
        return
    literals = {index: (start, text) for index, start, text in _literal_texts(words)}
    for index, word in enumerate(words):
        start, text = literals.get(index, ("", ""))
        yield replace(word, value=start + (_literal_as_json(text) or "{}")) if index in literals else word


def _not_literal(words: list[Word], view: View) -> Iterator[Problem]:
    """A speculative config that is no Python literal where the release reads one."""
    for index, _, text in _literal_texts(words) if does(view, "separate_flags") else ():
        if not _literal_as_json(text):
            expected = "a Python literal (True, False and None, not true, false and null)"
            yield Problem(ProblemKind.NOT_JSON, SCOPE, _CONFIG_FLAGS[0], text, expected, where=words[index].span)


def _text_in_code(words: Sequence[Word], view: View) -> Iterator[Problem]:
    """A speculative config that code hands to the engine's classes as a text: only the command line's parser reads those.

    EngineArgs.create_speculative_config, vllm/engine/arg_utils.py: `update` (0.8.3 on), `items` (0.33.0) of what is given.
    """
    if does(view, "separate_flags"):
        return
    for flag, word in pairwise(words):
        if flag.exact and word.quoted and flag.value == _CONFIG_FLAGS[0]:
            yield Problem(ProblemKind.TEXT_IN_CODE, SCOPE, _CONFIG, word.value or "", "a dict", where=flag.span)


def _literal_texts(words: Sequence[Word]) -> Iterator[tuple[int, str, str]]:
    """The words that hold a speculative config: index, what stands before it in the word (`--flag=`), and its text."""
    after = False
    for index, word in enumerate(words):
        name, equals, inline = (word.value or "").partition("=")
        if after and word.value is not None:
            yield index, "", word.value
        elif equals and canonical(name) == _CONFIG_FLAGS[0]:
            yield index, f"{name}=", inline
        after = not after and canonical(word.text) == _CONFIG_FLAGS[0]


def _literal_as_json(text: str) -> str:
    """The JSON of a Python literal; empty where it is none."""
    try:
        value = ast.literal_eval(text)
        return compact_json(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return ""


def _numbers(words: Iterator[Word], view: View) -> Iterator[Word]:
    """Numbers with a suffix (`32k` decimal, `32K` binary) as plain numbers, for the options that take them."""
    after = after_object = ""
    for word in words:
        name, equals, inline = canonical(word.text).partition("=")
        option = view.names.get(SCOPE, {}).get(name)
        parser = option.parser if option is not None and option.parser.startswith(_HUMAN_PARSER) else ""
        object_flag = _takes_suffixes(name, view)
        if object_flag and equals and word.value is not None:
            yield replace(word, value=f"{word.value.partition('=')[0]}={_with_numbers(inline, name)}")
        elif after_object and word.value is not None:
            yield replace(word, value=_with_numbers(word.value, after_object))
        elif parser and equals and word.value is not None:
            yield replace(word, value=f"{name}={_plain_number(inline, parser)}")
        elif after and word.value is not None:
            yield replace(word, value=_plain_number(word.value, after))
        else:
            yield word
        after = "" if equals else parser
        after_object = name if object_flag and not equals else ""


def _takes_suffixes(name: str, view: View) -> bool:
    """Whether numbers in what follows may have a suffix: a member of an object, or JSON that is read into a class."""
    if not does(view, "suffixed_members"):
        return False
    option = view.names.get(SCOPE, {}).get(name.partition(".")[0])
    return option is not None and option.kind == "object" and ("." in name or name not in _CONFIG_FLAGS)


def _with_numbers(text: str, name: str) -> str:
    """A member's value, or the numbers of a JSON outside of its texts, without suffixes."""
    if "." in name:
        return _plain_number(text, _HUMAN_PARSER)
    parts = _QUOTED.split(text)
    parts[::2] = [_BARE.sub(lambda match: _plain_number(match[0], _HUMAN_PARSER), part) for part in parts[::2]]
    return "".join(parts)


def _plain_number(text: str, parser: str) -> str:
    match = _HUMAN.match(text)
    if text.lower() == "auto" and parser.endswith("_or_auto"):
        return "-1"
    if match is None or ("." in match[1] and match[2].isupper()):
        return text
    return str(int(float(match[1]) * _FACTORS[match[2]]))
