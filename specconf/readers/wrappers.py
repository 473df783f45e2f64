"""How to look behind the commands that only start another command: to that command, or to the script that they are given.

The grammar of each is a row of `localwrappers` or `remotewrappers`. What a shell makes of a script is for `launches`.
"""

from __future__ import annotations

import re

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.readers.localwrappers import ALTERNATIVES, LOCAL, MODULES
from specconf.readers.remotewrappers import REMOTE
from specconf.readers.sessions import in_session
from specconf.readers.wrappergrammar import Rest, Wrapper
from specconf.words import Word

ASSIGNMENT = pattern(r"[A-Za-z_][A-Za-z0-9_]*=")
PYTHON = pattern(r"(python|pypy)(\d+(\.\d+)*)?\Z")
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ash", "ksh", "mksh", "fish"})
MANY = "further words"  # how words that a file does not show are told
SESSIONS = frozenset({"tmux", "screen"})
WRAPPERS: dict[str, Wrapper] = {**LOCAL, **REMOTE}
# Programs among whose words may be a script.
SCRIPTED = (
    SHELLS
    | SESSIONS
    | {name for name, wrapper in WRAPPERS.items() if wrapper.scripts or wrapper.rest is not Rest.COMMAND}
)

_FOUND = pattern(
    r"[\"']?(?:\$\(|`)\s*(?:which|command\s+-v|type\s+-[pP])\s+(?P<name>[\w./-]+)\s*(?:2>\S+\s*)?[)`][\"']?\Z"
)
_DEFAULT = pattern(r"[\"']?\$\{\w+:?[-=](?P<name>[\w./-]+)\}[\"']?\Z")
_TAIL = pattern(r"[\"']?[^\"'\s]*/(?P<name>[\w.-]+)[\"']?\Z")
_REQUIREMENT = pattern(r"(?P<name>[A-Za-z][\w.-]*)(?:\[[^\]]*\])?(?:@|===?)(?P<release>v?\d[\w.!+-]*)\Z")
_ENVIRONMENT = pattern(r"[\w.+-]+:(?=\S)")


def program_name(word: Word) -> str:
    """The name of a program without its folder; empty when it is not known.

    It is known of `$VENV/bin/vllm`, of `$(which vllm)`, and of a variable whose default the script itself states.
    """
    if word.value is not None:
        return word.value.rpartition("/")[2]
    written = word.partial or word.raw
    for form in (_FOUND, _DEFAULT, _TAIL):
        found = form.match(written)
        if found is not None:
            return found["name"].rpartition("/")[2]
    return ""


def assignment_of(word: Word) -> tuple[str, Word]:
    """The name and value of a word such as `A=1`; the value's word has the place of the whole."""
    name, _, raw = word.text.partition("=")
    value = word.value.partition("=")[2] if word.value is not None else None
    return name, Word(value=value, span=word.span, raw=raw, may_be_many=word.may_be_many)


class Behind(Struct, frozen=True):
    """What stands behind all wrappers of a command.

    `words`: the command, or the last wrapper with all its words where it starts none. `assignments`: the `A=1` words met on
    the way. `requires`: requirements that are installed for it. `script`: the words of the script that the last wrapper
    gives to a shell, with what stands `between` them. `places`: what something else is put in for in it. `reads_input`:
    whether that wrapper takes a script from its input.
    """

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    requires: tuple[Word, ...] = ()
    script: tuple[Word, ...] = ()
    between: str = " "
    places: re.Pattern[str] | None = None
    reads_input: bool = False


def stripped(argv: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The command behind all wrappers, and the `A=1` words met on the way, in order."""
    behind = behind_wrappers(argv)
    return behind.words, behind.assignments


def behind_wrappers(argv: tuple[Word, ...]) -> Behind:
    """The command behind all wrappers, or the script that the last of them is given."""
    met = _Met()
    while argv:
        if program_name(argv[0]) in SESSIONS:
            words, are_lines = in_session(argv)
            if are_lines or not words:
                return Behind(argv, tuple(met.assignments), tuple(met.requires), words, between="\n")
            argv = words
            continue
        found = _wrapper_of(argv)
        if found is None:
            break
        wrapper, at = found
        step = _Step(wrapper, argv, at, met)
        script = step.script()
        if script:
            between = "\n" if wrapper.rest is Rest.EACH or step.listed() else " "
            return Behind(argv, tuple(met.assignments), tuple(met.requires), script, between, step.pattern())
        rest = step.command()
        if not rest:
            return Behind(argv, tuple(met.assignments), tuple(met.requires), reads_input=wrapper.reads_input)
        argv = rest
    return Behind(argv, tuple(met.assignments), tuple(met.requires))


class _Met(Struct):
    """What was met on the way through the wrappers of one command."""

    assignments: list[Word] = field(default_factory=list)
    requires: list[Word] = field(default_factory=list)


def _wrapper_of(argv: tuple[Word, ...]) -> tuple[Wrapper, int] | None:
    """The wrapper at the start of a command, and where its own words begin behind its name and subcommand."""
    name, at = program_name(argv[0]), 1
    if PYTHON.match(name):
        module = next((place for place, word in enumerate(argv[:8]) if word.value == "-m"), None)
        if module is None or module + 1 >= len(argv):
            return None
        name, at = MODULES.get(argv[module + 1].value or "", ""), module + 2
    for wrapper in ALTERNATIVES.get(name) or (WRAPPERS.get(name),):
        if wrapper is None:
            return None
        if not wrapper.subcommands:
            return wrapper, at
        for names in wrapper.subcommands:
            end = _behind_subcommand(argv, at, wrapper, names)
            if end is not None:
                return wrapper, end
    return None


def _behind_subcommand(argv: tuple[Word, ...], at: int, wrapper: Wrapper, names: tuple[str, ...]) -> int | None:
    """The index behind a subcommand; options of the program may stand before it."""
    for name in names:
        while at < len(argv) and argv[at].text.startswith("-"):
            at += _option_length(argv[at].text, wrapper)
        if at >= len(argv) or argv[at].value != name:
            return None
        at += 1
    return at


def _option_length(text: str, wrapper: Wrapper) -> int:
    """How many words an option takes with its value."""
    if "=" in text and text.startswith("--"):
        return 1
    name = text.replace("_", "-")
    if text in wrapper.paired:
        return 3
    if text in wrapper.valued or name in wrapper.valued or text in wrapper.starts:
        return 2
    if text.startswith("--"):
        return 2 if wrapper.all_valued and name not in wrapper.flags else 1
    for place, letter in enumerate(
        text[1:], start=1
    ):  # of several letters, the first that takes a value takes the rest
        if f"-{letter}" in wrapper.valued:
            return 2 if place == len(text) - 1 else 1
    return 1


class _Step(Struct):
    """One wrapper with its words, from those behind its name on."""

    wrapper: Wrapper
    argv: tuple[Word, ...]
    at: int
    met: _Met

    def script(self) -> tuple[Word, ...]:
        """The words of the script that an option gives, or that all further words are."""
        given = self._script_option()
        if given is not None:
            return given
        if self.wrapper.rest in (Rest.COMMAND, Rest.NOTHING):
            return ()
        rest = self._ended(self._rest(_Met()))
        if self.listed():
            words = self._rest(_Met())
            return tuple(word for word in words if word.text not in self.wrapper.ends)
        if self.wrapper.rest is Rest.EITHER:
            return rest if len(rest) == 1 and " " in rest[0].text.strip() else ()
        if self.wrapper.rest is Rest.FIRST:
            return rest[:1]
        if self.wrapper.appends and rest and not self._placed(rest):
            rest = (*rest, _further(rest[-1]))
        return rest

    def listed(self) -> bool:
        """Whether the words behind the end of an empty command are scripts of their own: `parallel ::: A B`."""
        rest = self._rest(_Met())
        return self.wrapper.rest is Rest.SCRIPT and bool(rest) and rest[0].text in self.wrapper.ends

    def _script_option(self) -> tuple[Word, ...] | None:
        """The script of `-c SCRIPT`, `--wrap=SCRIPT` or `-lc SCRIPT`, with the words behind it where these belong to it."""
        at, operands = self.at, self.wrapper.operands
        while self.wrapper.scripts and at < len(self.argv):
            word = self.argv[at]
            name, sign, _ = word.text.partition("=")
            if word.text == "--":
                return None
            if sign and name in self.wrapper.scripts and name.startswith("--"):
                return (behind_sign(word), *self._further_words(at + 1))
            if _is_script_option(word.text, self.wrapper.scripts):
                return (self.argv[at + 1], *self._further_words(at + 2)) if at + 1 < len(self.argv) else None
            if word.text.startswith("-") and len(word.text) > 1:
                at += _option_length(word.text, self.wrapper)
                continue
            if not (self.wrapper.assignments and ASSIGNMENT.match(word.text)):
                operands -= 1
            if operands < 0 and self.wrapper.rest is Rest.COMMAND:
                return None
            at += 1
        return None

    def _further_words(self, at: int) -> tuple[Word, ...]:
        return self.argv[at:] if self.wrapper.rest is Rest.COMMAND and self.wrapper.assignments else ()

    def command(self) -> tuple[Word, ...]:
        """The words of the command that the wrapper starts; none where it starts none."""
        if self.wrapper.rest is Rest.NOTHING:
            rest = self._rest(self.met)
            return rest if self.argv[len(self.argv) - len(rest) - 1].text == "--" else ()
        if self.wrapper.modules and (module := self._module()):
            return module
        rest = self._ended(self._rest(self.met))
        if rest and self.wrapper.named:
            rest = (self._named(rest[0]), *rest[1:])
        if self.wrapper.gap:
            dashes = next((place for place, word in enumerate(rest) if word.text == "--"), None)
            rest = (*rest[:1], *rest[dashes + 1 :]) if dashes else rest
        if self.wrapper.places is None or not rest:
            return rest
        pattern, names_it = self.pattern(), any(word.text.startswith("-I") for word in self.argv[self.at : -len(rest)])
        held = names_it or self._placed(rest)
        rest = tuple(_open(word, pattern) for word in rest) if pattern is not None else rest
        return rest if held or not self.wrapper.appends else (*rest, _further(rest[-1]))

    def _rest(self, met: _Met) -> tuple[Word, ...]:
        """The words behind the wrapper's own."""
        argv, at, wrapper = self.argv, self.at, self.wrapper
        if wrapper.starts:
            begin = next((n for n in range(at, len(argv)) if argv[n].text in wrapper.starts), None)
            return argv[begin + 1 :] if begin is not None else ()
        operands = wrapper.operands
        while at < len(argv):
            text = argv[at].text
            if text == "--":
                return argv[at + 1 + operands :]
            if text.startswith("-") and len(text) > 1:
                length = _option_length(text, wrapper)
                self._option(argv[at : at + length], met)
                at += length
            elif wrapper.assignments and ASSIGNMENT.match(text):
                met.assignments.append(argv[at])
                at += 1
            elif operands:
                operands -= 1
                at += 1
                if wrapper.closed and not operands:
                    break
            elif argv[at].value is None and argv[at].may_be_many and at + 1 < len(argv):
                at += 1  # `srun $OPTIONS command`: options of the wrapper's own, most likely
            else:
                break
        return argv[at:]

    def _option(self, words: tuple[Word, ...], met: _Met) -> None:
        """What an option says of the command: its environment, what is installed for it."""
        name, sign, _ = words[0].text.partition("=")
        value = words[1] if len(words) > 1 else behind_sign(words[0]) if sign else None
        if value is not None and name in self.wrapper.exports and "=" in value.text:
            met.assignments.append(value)
        elif value is not None and name in self.wrapper.requires:
            met.requires.append(value)

    def _module(self) -> tuple[Word, ...]:
        """`-m MODULE …` with Python before it; a script that is named before an `-m` is none of a module's."""
        for at in range(self.at, len(self.argv) - 1):
            word = self.argv[at]
            if word.text.endswith(".py"):
                return ()
            if word.value in self.wrapper.modules:
                start = self.argv[0]
                return (replace(start, value="python", places=None), replace(word, value="-m"), *self.argv[at + 1 :])
        return ()

    def _named(self, word: Word) -> Word:
        """A program that is named with a release, or with the environment it is in, as the program alone."""
        found = _REQUIREMENT.match(word.value or "")
        if found is not None:
            self.met.requires.append(word)
            return replace(word, value=found["name"])
        if word.value is not None and not self.wrapper.requires:
            return replace(word, value=_ENVIRONMENT.sub("", word.value, count=1))
        return word

    def _ended(self, words: tuple[Word, ...]) -> tuple[Word, ...]:
        end = next((place for place, word in enumerate(words) if word.text in self.wrapper.ends), None)
        return words if end is None else words[:end]

    def pattern(self) -> re.Pattern[str] | None:
        """What the words are put in for: braces, or what `-I` names."""
        if self.wrapper.places is None:
            return None
        for place, word in enumerate(self.argv[self.at :], start=self.at):
            name = self.argv[place + 1].text if word.text == "-I" and place + 1 < len(self.argv) else word.text[2:]
            if word.text.startswith("-I") and name:
                return re.compile(re.escape(name))
        return self.wrapper.places

    def _placed(self, words: tuple[Word, ...]) -> bool:
        pattern = self.pattern()
        return pattern is not None and any(pattern.search(word.text) for word in words)


def _is_script_option(text: str, scripts: frozenset[str]) -> bool:
    """Whether a word is such an option, alone or as the last of several letters."""
    return text in scripts or (re.match(r"-[A-Za-z]{2,}\Z", text) is not None and f"-{text[-1]}" in scripts)


def _further(word: Word) -> Word:
    return Word(value=None, span=word.span, raw=MANY, may_be_many=True)


def _open(word: Word, pattern: re.Pattern[str]) -> Word:
    """A word in which something else is put is not known."""
    if word.value is None or not pattern.search(word.value):
        return word
    return Word(value=None, span=word.span, raw=word.raw or word.value, partial=word.value)


def behind_sign(word: Word) -> Word:
    """What stands behind the `=` of a word."""
    name, _, raw = word.text.partition("=")
    value = word.value.partition("=")[2] if word.value is not None else None
    part = getattr(word.places, "part", None)
    text = getattr(word.places, "text", "")
    places = part(len(name) + 1, len(text)) if part is not None and text.startswith(name + "=") else None
    return Word(value=value, span=word.span, raw=raw, may_be_many=word.may_be_many, places=places)


def image_of_wrappers(argv: tuple[Word, ...]) -> Word | None:
    """The container image in which a wrapper runs the command: of `srun --container-image`, or apptainer's own."""
    for at, word in enumerate(argv):
        name = program_name(word)
        if name in ("srun", "salloc"):
            return _option_value(argv[at + 1 :], "--container-image")
        if name == "shifter":
            return _option_value(argv[at + 1 :], "--image")
        if name in ("apptainer", "singularity"):
            return next((found for found in argv[at + 1 :] if found.text.startswith("docker://")), None)
        if name not in WRAPPERS and not ASSIGNMENT.match(word.text):
            return None
    return None


def _option_value(argv: tuple[Word, ...], option: str) -> Word | None:
    for at, word in enumerate(argv):
        name, sign, _ = word.text.partition("=")
        if name == option and sign:
            return assignment_of(word)[1]
        if name == option and at + 1 < len(argv):
            return argv[at + 1]
    return None
