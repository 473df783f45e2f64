"""A launch's words as settings: program forms, `--config` files and environment variables of SGLang."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from specconf.compat.view import View
from specconf.engines.argv import ArgvReader, Grammar
from specconf.engines.filekeys import Entry, at_inner_keys, entries, places_of
from specconf.engines.options import compact_json
from specconf.settings import Origin, Problem, ProblemKind, Settings, SettingsBuilder, Written
from specconf.words import Launch, Unresolved, Value, Word

SCOPE = "sglang.cli"
CONFIG = "--config"
_POSITIONAL_SCOPES = ("sglang.serve", SCOPE)
_GRAMMAR = Grammar(SCOPE, abbreviations=True)


def resolve(launch: Launch, view: View) -> Settings:
    """The settings of `python -m sglang.launch_server ...` or `sglang serve ...` at one release."""
    builder = SettingsBuilder("sglang")
    rest, served = _arguments(launch.argv)
    if served:
        rest = _served_model(_less_model_type(rest), view, builder)
    files = dict(launch.files)
    for name, text in files.items():
        builder.file(name, text)
    if view.has("config") and any(word.value == CONFIG for word in rest):
        rest = _merge_config(rest, launch, view, builder)
    _read(rest, view, builder)
    for name, word in launch.env:
        value: Value = word.value if word.value is not None else Unresolved(word.raw)
        builder.write(f"env.{name}", Written(value, Origin.ENV, name, where=word.span))
    return builder.build()


def _read(argv: Sequence[Word], view: View, builder: SettingsBuilder) -> None:
    reader = ArgvReader(view, _GRAMMAR, builder)
    reader.positionals = []  # the server's own parser has none; `sglang serve` takes its one away before
    reader.read(argv)


def _arguments(argv: Sequence[Word]) -> tuple[list[Word], bool]:
    """The words after the program, and whether the program was `sglang serve`."""
    texts = [word.text for word in argv]
    for index, text in enumerate(texts):
        name = PurePosixPath(text).name
        if text == "sglang.launch_server" or name == "launch_server.py":
            return list(argv[index + 1 :]), False
        if name == "sglang" and texts[index + 1 : index + 2] == ["serve"]:
            return list(argv[index + 2 :]), True
        if text.startswith("--"):  # one dash: an option of python's own, as in `python -u -m`
            break
    return list(argv), False


def _less_model_type(argv: list[Word]) -> list[Word]:
    """Without `--model-type X`, which `sglang serve` takes away before the server's parser."""
    kept: list[Word] = []
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word.value == "--model-type":
            skip = True
        elif not (word.value or "").startswith("--model-type="):
            kept.append(word)
    return kept


def _served_model(argv: list[Word], view: View, builder: SettingsBuilder) -> list[Word]:
    """The model as first word, in releases whose `serve` takes it."""
    takes = any(option.kind == "positional" for option, _ in view.options_of(SCOPE))
    if not takes or not argv or argv[0].may_be_many or argv[0].text.startswith("-"):
        return argv
    value: Value = argv[0].value if argv[0].value is not None else Unresolved(argv[0].raw)
    builder.write("model_path", Written(value, Origin.ARGV, "", where=argv[0].span))
    return argv[1:]


def _merge_config(argv: list[Word], launch: Launch, view: View, builder: SettingsBuilder) -> list[Word]:
    """Read the file's words first, so that the command line wins; the rest is what is left of the command line."""
    index = next(i for i, word in enumerate(argv) if word.value == CONFIG)
    rest = argv[index + 2 :]
    place = argv[index].span
    if index + 1 == len(argv):
        builder.problem(Problem(ProblemKind.MISSING_VALUE, SCOPE, CONFIG, where=place))
        return argv[:index]
    if any(word.value == CONFIG for word in rest):
        expected = "one file: SGLang refuses a second --config"
        builder.problem(
            Problem(ProblemKind.INVALID, SCOPE, CONFIG, rest[0].text if rest else "", expected, where=place)
        )
    named = argv[index + 1]
    text = dict(launch.files).get(named.value or "")
    if named.value is not None and PurePosixPath(named.value).suffix.lower() not in {".yaml", ".yml"}:
        builder.problem(
            Problem(ProblemKind.INVALID, SCOPE, CONFIG, named.text, "a .yaml or .yml file", where=named.span)
        )
    elif text is None:
        builder.unresolved(Word(None, named.span, f"{CONFIG} {named.text}", may_be_many=True))
    else:
        _read_file(text, named, launch, view, builder)
    return argv[:index] + rest


def _read_file(text: str, named: Word, launch: Launch, view: View, builder: SettingsBuilder) -> None:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, chosen above
    except yaml.YAMLError:
        builder.problem(
            Problem(ProblemKind.INVALID, SCOPE, CONFIG, named.text, "a file that is YAML", where=named.span)
        )
        return
    if data is None:
        return
    if not isinstance(data, dict):
        expected = "a file with a mapping at its root"
        builder.problem(Problem(ProblemKind.INVALID, SCOPE, CONFIG, named.text, expected, where=named.span))
        return
    apart = SettingsBuilder("sglang")
    keys = entries(text, places_of(launch, named.text))
    for key, value in data.items():
        if _is_command_line_only(str(key), view):
            where = keys[str(key)].key if str(key) in keys else named.span
            expected = "it on the command line alone, not in a file"
            builder.problem(Problem(ProblemKind.INVALID, SCOPE, str(key), str(value).lower(), expected, where=where))
    words = [word for key, value in data.items() for word in _words(str(key), value, view, keys.get(str(key)))]
    _read(words, view, apart)
    found = at_inner_keys(apart.build(), keys)
    for problem in found.problems:
        builder.problem(problem)
    for path, setting in found.items_by_path.items():
        for written in setting.written:
            builder.write(path, replace(written, origin=Origin.FILE))


def _is_command_line_only(key: str, view: View) -> bool:
    """Whether an option file may not hold a key: a retired switch, whose action the merging of files does not know.

    ConfigArgumentMerger, sglang/srt/utils/server_args_config_parser.py (0.5.23): plain switches and single values alone.
    """
    option = view.names.get(SCOPE, {}).get(f"--{key.replace('_', '-')}")
    return option is not None and option.kind == "switch" and bool(option.deprecated)


def _words(key: str, value: object, view: View, entry: Entry | None) -> list[Word]:
    """One entry of the file as the words that SGLang makes of it."""
    flag = f"--{key}"
    option = view.names.get(SCOPE, {}).get(flag)
    texts: list[str]
    if isinstance(value, bool) and (option is None or option.kind == "switch"):
        texts = [flag] if value else []
    elif isinstance(value, bool):
        texts = [flag, str(value).lower()]
    elif isinstance(value, list):
        texts = [flag, *(str(item) for item in value)] if value else []
    elif isinstance(value, dict):
        texts = [flag, compact_json(value)]
    else:
        texts = [flag, str(value)]
    spans = (None, None) if entry is None else (entry.key, entry.value)
    return [Word(text, spans[min(index, 1)], text) for index, text in enumerate(texts)]
