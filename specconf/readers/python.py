"""Python launchers: engines made in the program, commands that it starts, and Ray's configurations of an LLM.

Where a file starts an engine is told by the calls it makes, by their imported names; `pyvalues` and `pywalk` say what
the arguments are worth. Nothing is executed.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from specconf.errors import InputError
from specconf.patterns import pattern
from specconf.readers.containers import image_of
from specconf.readers.fragments import Document, Fragment
from specconf.readers.pins import by_firmness, metadata_pins, pins_beside, pins_in
from specconf.readers.programs import PROGRAMS, match_program
from specconf.readers.pytext import constant
from specconf.readers.pyvalues import Scope
from specconf.readers.pywalk import Walker
from specconf.readers.source import Placed
from specconf.readers.stated import Stated
from specconf.readers.values import (
    Items,
    Pairs,
    Scalar,
    Text,
    Value,
    option_words,
    pairs_of,
    word_of,
)
from specconf.readers.wrappers import stripped
from specconf.words import Span, Word

_LARGEST = 1_000_000
_LONE_RETURN = pattern(r"\r(?!\n)")  # Python counts a line there, nothing else does
_CLASSES = {
    "vllm": {"LLM", "EngineArgs", "AsyncEngineArgs"},
    "sglang": {"Engine", "ServerArgs", "Runtime"},
    "tensorrt_llm": {"LLM"},
}
_ENGINES = {"vllm": "vllm", "sglang": "sglang", "tensorrt_llm": "tensorrt-llm"}
# The word that TensorRT-LLM's classes stand for in an option file, where it is not the beginning of their name.
_DECODING_TYPES = {
    "DraftTarget": "Draft_Target",
    "Auto": "AUTO",
    "UserProvided": "User_Provided",
    "SaveHiddenStates": "SaveState",
}
_DECODING = "DecodingConfig"
_SHELL_CALLS = frozenset({"os.system", "os.popen", "asyncio.create_subprocess_shell", "subprocess.getoutput"})
_WORD_CALLS = frozenset({"asyncio.create_subprocess_exec", "modal.Sandbox.create", "os.execlp", "os.execl"})
_EXEC_CALLS = frozenset({"os.execvp", "os.execv", "os.execve", "os.execvpe", "os.spawnvp", "os.posix_spawn"})
_MODULES = frozenset(program.module for program in PROGRAMS if program.module)
# How the programs of clouds and containers call an image and what it is to run.
_IMAGE_KEYS = ("image", "imageName", "image_name", "docker_image", "image_uri")
_COMMAND_KEYS = ("dockerStartCmd", "docker_start_cmd", "dockerArgs", "docker_args", "command", "cmd", "args")
# Calls that only show, keep or change what they are given.
_IDLE_NAMES = """
    print join append extend insert info debug warning error critical exception log len str repr format dumps list tuple
    add_argument ArgumentParser split quote match search sub startswith endswith write write_text echo secho set sorted
    index count isinstance
"""
_IDLE = frozenset(_IDLE_NAMES.split())
_FAILURES = ("Error", "Exception", "Warning", "Exit")  # how classes of what goes wrong are called
_SAID = frozenset({"message", "msg", "help", "description", "reason", "title", "detail", "label", "summary"})
_SPOKEN = pattern(
    r"(?:^|[\n;&|]|\bexec |\bnohup )\s*(?:[A-Z_]+=\S*\s+)*(?:vllm\s+serve\b|sglang\s+serve\b|trtllm-serve\b"
    r"|\S*python\S*\s+-m\s+(?:" + "|".join(re.escape(p.module) for p in PROGRAMS if p.module) + r")\b)"
)


def fragments(document: Document) -> Iterable[Fragment]:
    """The engines and processes that a program starts, in the order in which they are written."""
    reader = _Reader(document)
    return sorted(reader.read(), key=lambda fragment: fragment.where or Span(document.path))


def parsed(document: Document) -> ast.Module:
    """The syntax tree. InputError with its place where it is no Python."""
    if len(document.text) > _LARGEST:
        raise InputError(f"larger than {_LARGEST} characters: no launcher", where=Span(document.path))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file's own escapes, which are not this program's business
            return ast.parse(_LONE_RETURN.sub(" ", document.text.removeprefix("\ufeff")))
    except SyntaxError as error:
        where = Span(document.path, error.lineno or 1, max(error.offset or 1, 1))
        raise InputError(f"not Python: {error.msg}", where=where) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError("not Python, or nested too deeply", where=Span(document.path, 1, 1)) from error


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.tree = parsed(document)
        self.walker = Walker(document.source, self.tree, self._call, self._left)
        self.values = self.walker.values
        self.found: dict[tuple[Span, tuple[str, ...]], Fragment] = {}
        self.consumed: set[Span] = set()
        self.left: list[tuple[Items, Scope]] = []

    def read(self) -> list[Fragment]:
        try:
            self.walker.walk()
        except RecursionError as error:
            raise InputError("nested too deeply", where=Span(self.document.path, 1, 1)) from error
        longest: dict[frozenset[Span], tuple[Items, Scope]] = {}
        for items, scope in self.left:
            if not items.origins & self.consumed:
                longest[items.origins] = (items, scope)
        for items, scope in longest.values():
            if not any(items.origins < other for other in longest):
                self._process(items, scope, items.span)
        stated = self._stated() if self.found else []
        return [replace(fragment, stated=self._nearest(stated, fragment)) for fragment in self.found.values()]

    # -- calls

    def _call(self, call: ast.Call, scope: Scope) -> None:
        name = self.values.qualified(call.func)
        top, last = name.partition(".")[0], name.rpartition(".")[2]
        last = call.func.attr if isinstance(call.func, ast.Attribute) else last
        if last in _CLASSES.get(top, ()) and "." in name:
            self._engine(_ENGINES[top], call, scope)
        elif name.startswith("ray.") and last == "LLMConfig":
            self._ray(call, scope)
        elif name in self.walker.functions or last in _IDLE or last.endswith(_FAILURES):
            return
        else:
            self._started(name, call, scope)

    def _engine(self, engine: str, call: ast.Call, scope: Scope) -> None:
        options = self.values.keywords(call, scope)
        if not options.pairs and not call.args:
            return  # all of it comes from elsewhere
        model: Value | None = None
        if call.args and not isinstance(call.args[0], ast.Starred):
            model = self.values.value(call.args[0], scope)
        taken = engine != "sglang"  # whose model is an option like any other
        model = options.get("model") or model if taken else model
        pairs = [(key, value) for key, value in options.pairs if not (taken and key.text == "model")]
        kept = [(key, _with_decoding_type(value, engine)) for key, value in pairs]
        fragment = option_words(engine, model, pairs_of(kept, options))
        self._add(fragment, scope, self.values.span(call))

    def _ray(self, call: ast.Call, scope: Scope) -> None:
        from specconf.readers.ray import llm_config

        fragment = llm_config(self.values.keywords(call, scope))
        if fragment is not None:
            self._add(fragment, scope, self.values.span(call))

    def _started(self, name: str, call: ast.Call, scope: Scope) -> None:
        where = self.values.span(call)
        arguments = [self.values.value(a, scope) for a in call.args if not isinstance(a, ast.Starred)]
        keywords = {k.arg: self.values.value(k.value, scope) for k in call.keywords if k.arg is not None}
        if name in _WORD_CALLS:
            spread = self.values.value(ast.copy_location(ast.List(list(call.args), ast.Load()), call), scope)
            if isinstance(spread, Items):
                cut = spread.items[1:] if name.startswith("os.") else spread.items
                self._process(replace(spread, items=cut), scope, where, keywords.get("env"))
            return
        if name in _EXEC_CALLS:
            arguments = arguments[1:]
        for body in [
            self.values.keywords(call, scope),
            *(v for v in (*arguments, *keywords.values()) if isinstance(v, Pairs)),
        ]:
            if self._container(body, scope, where):
                return
        image = arguments[0] if arguments and isinstance(arguments[0], Text) else keywords.get("image")
        shell = keywords.get("shell")
        env = keywords.get("env") or keywords.get("environment")
        runs = name in _SHELL_CALLS or (isinstance(shell, Scalar) and shell.value is True)
        for value in [*arguments, *(value for key, value in keywords.items() if key not in _SAID)]:
            if isinstance(value, Items):
                for items in (value, *(item for item in value.items if isinstance(item, Items))):
                    self._process(items, scope, where, env, image)
            elif isinstance(value, Text) and (runs or _reads_as_command(value.text)):
                self._script(value, scope, env)

    # -- processes

    def _left(self, value: Value, scope: Scope) -> None:
        if isinstance(value, Items) and self._is_launch(value):
            self.left.append((value, scope))

    def _is_launch(self, items: Items) -> bool:
        words = _with_python(tuple(self._word(item) for item in items.items))
        return bool(words) and match_program(stripped(words)[0]) is not None

    def _process(
        self, items: Items, scope: Scope, where: Span, env: Value | None = None, image: Value | None = None
    ) -> None:
        """A list of words that something starts; nothing for a list of anything else."""
        words = tuple(self._word(item) for item in items.items)
        used = word_of(image) if isinstance(image, Text) and image.known else None
        adds = used is not None and image_of(used) is not None
        if not words or not (adds or self._is_command(words)):
            return
        self.consumed |= items.origins
        words = _with_python(words)
        script = items.items[2] if len(items.items) == 3 and words[1].text in {"-c", "-lc"} else None
        if isinstance(script, Text) and not script.known:
            self._script(script, scope, env)
            return
        fragment = Fragment(words=words, image=used if adds else None, adds_program=adds)
        self._add(fragment, scope, where, env)

    def _container(self, body: Pairs, scope: Scope, where: Span) -> bool:
        """What is asked of a cloud: an engine's image, and the words behind its entrypoint."""
        image = next((value for name in _IMAGE_KEYS if isinstance(value := body.get(name), Text)), None)
        command = next((value for name in _COMMAND_KEYS if (value := body.get(name)) is not None), None)
        if image is None or not image.known or image_of(word_of(image)) is None:
            return False
        items = self.values.split(command).items if isinstance(command, Text) else ()
        words = tuple(self._word(item) for item in (command.items if isinstance(command, Items) else items))
        if not words:
            return False
        self.consumed |= command.origins if isinstance(command, Items | Text) else frozenset()
        env = body.get("env") or body.get("environment")
        self._add(Fragment(words=words, image=word_of(image), adds_program=True), scope, where, env)
        return True

    def _is_command(self, words: tuple[Word, ...]) -> bool:
        behind = stripped(_with_python(words))[0]
        known = bool(behind) and match_program(behind) is not None
        starts = words[0].text.rpartition("/")[2] in {"bash", "sh", "docker", "podman"}
        return known or (starts and any(_SPOKEN.search(word.text) or word.text == "run" for word in words[1:]))

    def _script(self, text: Text, scope: Scope, env: Value | None = None) -> None:
        """A text that a shell runs, with a variable that has no value for each part that is not known."""
        self.consumed |= text.origins
        fragment = Fragment(script=self._for_shell(text.placed))
        self._add(fragment, scope, text.placed.span, env)

    def _for_shell(self, placed: Placed) -> Placed:
        made, at, quote = [], list[int](), ""
        for number, (char, place) in enumerate(zip(placed.text, placed.at, strict=True)):
            written = char
            if char in self.values.unknown_parts:
                name = "${" + (re.sub(r"\W+", "_", self.values.unknown_parts[char]).strip("_") or "x") + "}"
                if name[2].isdigit():
                    name = "${_" + name[2:]
                written = f"'\"{name}\"'" if quote == "'" else name
            elif char in "'\"" and not (char == '"' and number and placed.text[number - 1] == "\\"):
                quote = "" if quote == char else quote or char
            made.append(written)
            at += [place] * len(written)
        return Placed("".join(made), placed.outer, at)

    def _word(self, value: Value) -> Word:
        word = word_of(value)
        return word if word.value is not None else replace(word, raw=self.values.shown(word.raw))

    def _add(self, fragment: Fragment, scope: Scope, where: Span, env: Value | None = None) -> None:
        given = {key.text: value for key, value in env.pairs} if isinstance(env, Pairs) else {}
        outer = {} if fragment.image is not None else scope.env  # a container gets none of the variables around it
        variables = tuple((name, self._word(value)) for name, value in {**outer, **given}.items())
        variables = tuple({**dict(variables), **dict(fragment.env)}.items())
        files = {**{name: text for name, text in scope.files.items() if text is not None}, **fragment.files}
        key = (where, tuple(word.text for word in fragment.words) or (fragment.script.text if fragment.script else "",))
        self.found.setdefault(key, replace(fragment, env=variables, files=files, where=where))

    # -- releases

    def _stated(self) -> list[Stated]:
        """What the file itself states; what lies beside it is asked where it does not."""
        found = metadata_pins(self.document.source)
        nodes = list(ast.walk(self.tree))
        inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
                if _NAMED.search(node.value):
                    found += _stated_in(constant(self.document.source, node, node.value))
            elif isinstance(node, ast.JoinedStr) and _NAMED.search(self.values.raw(node)):
                value = self.values.value(node, self.walker.final)
                found += _stated_in(value.placed) if isinstance(value, Text) else ()
        return found or pins_beside(self.document)

    def _nearest(self, stated: list[Stated], fragment: Fragment) -> tuple[Stated, ...]:
        """Inline metadata first, then what is written nearest."""
        line = fragment.where.line if fragment.where is not None else 1
        far = [(one.how != "inline metadata", abs((one.where.line if one.where else 0) - line)) for one in stated]
        order = sorted(range(len(stated)), key=lambda index: far[index])
        return by_firmness([stated[index] for index in order])


def _reads_as_command(text: str) -> bool:
    """Whether a text that some call is given is a command: one with options, or of the program and its model alone.

    What only speaks of a program goes on in words ("trtllm-serve worker did not start").
    """
    return any(
        any(word.startswith("-") for word in rest) or len(rest) < 2
        for found in _SPOKEN.finditer(text)
        if (rest := re.split(r"[\n;&|]", text[found.end() :].replace("\\\n", " "), maxsplit=1)[0].split()) is not None
    )


def _with_python(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`X -m MODULE` with the interpreter's name, wherever it lies."""
    if len(words) < 3 or words[1].value != "-m" or words[2].value not in _MODULES:
        return words
    return (replace(words[0], value="python", places=None, may_be_many=False), *words[1:])


_NAMED = pattern(r"llm|sglang|tensorrt")


def _stated_in(placed: Placed) -> Iterator[Stated]:
    """The pins in a text, and the release of the image that it names."""
    yield from pins_in(placed, "pin")
    if "/" in placed.text and not re.search(r"\s", placed.text):
        used = image_of(Word(placed.text, placed.span, placed.text))
        yield from used.stated if used is not None else ()


def _with_decoding_type(value: Value, engine: str) -> Value:
    """TensorRT-LLM's classes of configurations: which way of drafting is said by the class, in a file by a key."""
    if engine != "tensorrt-llm" or not isinstance(value, Pairs) or not value.kind.endswith(_DECODING):
        return value
    if value.get("decoding_type") is not None:
        return value
    stem = value.kind.removesuffix(_DECODING)
    first = value.at.part(0, 1)
    key = Text(Placed("decoding_type", first.outer, [first.at[0]] * 13), value.span, value.kind)
    word = _DECODING_TYPES.get(stem, stem)
    named = Text(Placed(word, first.outer, [first.at[0]] * len(word)), value.span, value.kind)
    return pairs_of(((key, named), *value.pairs), value)
