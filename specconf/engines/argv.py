"""Reading argv with the options of one release: argparse's or click's grammar, by the database instead of by code.

Knows switches, inline values, abbreviations, dotted members of an object, lists and positionals. It never guesses: a word
that cannot be read becomes a Problem, a word that cannot be known is kept as unresolved.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from specconf.compat.rows import Option
from specconf.compat.view import View
from specconf.engines import options as values
from specconf.engines.near import near_names
from specconf.patterns import pattern
from specconf.settings import Origin, Problem, ProblemKind, SettingsBuilder, Written
from specconf.words import Candidates, JsonValue, Span, Unresolved, Value, Word

_HELP = ("-h", "--help")  # the parser's own: it prints and ends, and sets nothing
_NO_VALUE = "no value: it is a switch"
_JSON_KEY = pattern(r'"((?:[^"\\]|\\.)*)"\s*:')
_FLAG_NAME = pattern(r"--[A-Za-z][\w.-]*")
_BLANK = pattern(r"\s")
_NEGATIVE_NUMBER = pattern(r"^-\d+(\.\d+)?$|^-\.\d+$")


class Grammar(Struct, frozen=True):
    """How one engine's parser reads flags. `canonical` turns a flag as written into the form the database uses.

    `empty_is_none`: an empty word is None for an option that may be None.
    """

    scope: str
    abbreviations: bool = True
    empty_is_none: bool = False
    canonical: Callable[[str], str] = str


class _Match(Struct, frozen=True):
    option: Option
    negated: bool = False
    member: str = ""


class ArgvReader:
    """One pass over the words after the program."""

    def __init__(self, view: View, grammar: Grammar, builder: SettingsBuilder) -> None:
        self.view = view
        self.grammar = grammar
        self.builder = builder
        self.names = view.names.get(grammar.scope, {})
        self.positionals = list(view.positionals(grammar.scope))
        self._dotted: dict[str, list[str]] = {}
        self._switched = ""  # the switch right before the word that is read now
        self._refused = False  # whether the word right before it was taken by nothing

    def read(self, argv: Sequence[Word]) -> None:
        """Read all words into the builder."""
        rest = list(argv)
        while rest:
            word = rest.pop(0)
            if word.value is None:
                self._unknown_word(word)
            elif word.value == "--":
                for positional in rest:
                    self._positional(positional)
                return
            elif _is_flag(word.value):
                self._switched, self._refused = "", False
                self._flag(word, word.value, rest)
            else:
                self._positional(word)

    def _unknown_word(self, word: Word) -> None:
        name, equals, _ = word.raw.partition("=")
        match = self._match(name, exact=word.exact) if equals and name.startswith("--") else None
        if isinstance(match, _Match):
            self._write(match, Unresolved(word.raw.partition("=")[2]), name, word.span)
        elif match is not None and _FLAG_NAME.fullmatch(name):
            self.builder.problem(replace(match, where=word.span))
        elif word.may_be_many:
            self.builder.unresolved(word)
        else:
            self._positional(word)

    def _positional(self, word: Word) -> None:
        free = [o for o in self.positionals if self.builder.current(o.path) is None]
        if not free:
            self._unexpected(word)
            return
        value: Value = word.value if word.value is not None else Unresolved(word.raw)
        self.builder.write(free[0].path, Written(value, Origin.ARGV, "", where=word.span))

    def _unexpected(self, word: Word) -> None:
        """A word that nothing takes; behind a switch it is most likely meant as the switch's value."""
        if self._switched:
            self._problem(ProblemKind.INVALID, self._switched, word.span, value=word.text, expected=_NO_VALUE)
        elif not self._refused:  # of several in a row, one is enough to say so
            self._problem(ProblemKind.UNEXPECTED, word.text, word.span)
        self._switched, self._refused = "", True

    def _flag(self, word: Word, text: str, rest: list[Word]) -> None:
        name, equals, inline = text.partition("=")
        if name in _HELP:
            return
        match = self._match(name, exact=word.exact)
        if isinstance(match, Problem):
            self.builder.problem(replace(match, where=word.span))
            self._refused = True  # the words behind it are its own
            if not equals and not _BLANK.search(name) and rest and not (rest[0].value and _is_flag(rest[0].value)):
                rest.pop(0)  # what follows an unknown flag is most likely its value
            return
        option = match.option
        if option.kind == "switch" and not match.member:
            self._switch(match, name, inline if equals else None, word.span)
        elif option.kind in {"list"} and not match.member:
            self._list(match, name, [inline] if equals else [], word.span, rest)
        else:
            self._single(match, name, Word(inline, word.span, inline) if equals else None, word.span, rest)

    def _switch(self, match: _Match, name: str, inline: str | None, span: Span | None) -> None:
        if inline is not None:
            self._problem(ProblemKind.INVALID, name, span, value=inline, expected=_NO_VALUE)
            return
        self._write(match, False if match.negated else match.option.const, name, span)
        self._switched = name

    def _single(self, match: _Match, name: str, inline: Word | None, span: Span | None, rest: list[Word]) -> None:
        word = inline
        if word is None:
            if not rest or (rest[0].value is not None and _is_flag(rest[0].value)):
                if match.option.kind == "optional":
                    self._write(match, match.option.const, name, span)
                else:
                    self._problem(ProblemKind.MISSING_VALUE, name, span)
                return
            word = rest.pop(0)
        if word.value is None:
            self._write(match, Unresolved(word.raw), name, span)
            return
        option = self._value_option(match)
        if word.value == "" and self.grammar.empty_is_none and option.nullable:
            self._write(match, None, name, span)
            return
        try:
            value = values.from_text(option, word.value)
        except values.BadValue as error:
            kind = ProblemKind.NOT_JSON if option.kind == "object" else ProblemKind.INVALID
            self._problem(kind, name, span, value=word.value, expected=str(error))
            return
        if match.option.kind == "append":
            current = self.builder.current(match.option.path)
            earlier = current.value if current is not None and isinstance(current.value, list) else []
            self._write(match, [*earlier, value], name, span)
            return
        if option.kind == "value" and option.const is not None:  # a retired flag: what it stores is fixed
            if option.choices is not None and value not in option.choices:
                expected = " or ".join(map(str, option.choices))
                self._problem(ProblemKind.INVALID, name, span, value=word.value, expected=expected)
                return
            value = option.const
        # What is said of a member stands in the object's own text, which may be on another line than the option.
        self._write(match, value, name, (word.span or span) if isinstance(value, dict) else span, _key_places(word))

    def _value_option(self, match: _Match) -> Option:
        if not match.member:
            return match.option
        dashes = "dotted_dashes" in self.view.scope(match.option.members).forms
        member = values.member_named(match.option, match.member, self.view, dashes=dashes)
        return member or _untyped(match.option)

    def _list(self, match: _Match, name: str, start: list[str], span: Span | None, rest: list[Word]) -> None:
        texts: list[str] = list(start)
        while rest and not (rest[0].value is not None and _is_flag(rest[0].value)):
            word = rest.pop(0)
            if word.value is None:
                self._write(match, Unresolved(word.raw), name, span)
                return
            texts.append(word.value)
        if not texts:
            self._problem(ProblemKind.MISSING_VALUE, name, span)
            return
        try:
            parsed: JsonValue = [values.from_text(match.option, text) for text in texts]
        except values.BadValue as error:
            self._problem(ProblemKind.INVALID, name, span, value=" ".join(texts), expected=str(error))
            return
        self._write(match, parsed, name, span)

    def _write(
        self, match: _Match, value: Value, name: str, span: Span | None, keys: Mapping[str, Span] | None = None
    ) -> None:
        written = Written(value, Origin.ARGV, name, where=span)
        option = match.option
        if match.member:
            self._write_member(option, match.member, written)
        elif option.kind == "object" and isinstance(value, dict):
            self._write_object(option, value, name, span, keys or {})
        else:
            self.builder.write(option.path, written)

    def _write_object(
        self, option: Option, value: JsonValue, name: str, span: Span | None, keys: Mapping[str, Span]
    ) -> None:
        """A second JSON for the same object replaces the first one whole; a dotted member replaces every JSON."""
        if option.path in self._dotted:
            self._overwritten(name, option.path, span)
            return
        self._drop(option.path, name)
        for member in values.members(option, value, self.view):
            self.builder.write(
                member.path, Written(member.value, Origin.ARGV, member.key, where=keys.get(member.key, span))
            )

    def _write_member(self, option: Option, key: str, written: Written) -> None:
        # Each spelling of the option gathers an object of its own; the one that is met last replaces those before it.
        base = self.grammar.canonical(written.spelling.partition(".")[0])
        groups = self._dotted.setdefault(option.path, [])
        if base not in groups:
            self._drop(option.path, written.spelling)
            groups.append(base)
        elif base != groups[-1]:
            self._overwritten(groups[-1], f"{option.path}.{key}", written.where)
            return
        if key.endswith("+") and isinstance(written.value, str):  # the elements of a list, parted by commas
            key = key.removesuffix("+")
            written = Written(list(written.value.split(",")), written.origin, written.spelling, where=written.where)
        dashes = "dotted_dashes" in self.view.scope(option.members).forms
        member = values.member_named(option, key, self.view, dashes=dashes)
        if member is None and isinstance(written.value, str):
            written = Written(_loosely_typed(written.value), written.origin, written.spelling, where=written.where)
        if member is not None:
            self.builder.write(member.path, written)
        elif self.view.names.get(option.members) or isinstance(written.value, Unresolved | Candidates):
            self.builder.write(f"{option.path}.{key}", written)
        else:
            self._write_nested(option, key, written)

    def _write_nested(self, option: Option, key: str, written: Written) -> None:
        """A member of an object whose members are not known: the object grows as one value."""
        current = self.builder.current(option.path)
        whole = copy.deepcopy(current.value) if current is not None and isinstance(current.value, dict) else {}
        place = whole
        *parents, leaf = key.split(".")
        for parent in parents:
            below = place.setdefault(parent, {})
            if not isinstance(below, dict):
                below = place[parent] = {}
            place = below
        assert not isinstance(written.value, Unresolved | Candidates)
        place[leaf] = written.value
        self.builder.remove(option.path)
        self.builder.write(option.path, Written(whole, written.origin, written.spelling, where=written.where))

    def _drop(self, path: str, spelling: str) -> None:
        """Forget what the command line said about an object so far, and say once that it is replaced."""
        inside = [known for known in self.builder.paths() if known == path or known.startswith(f"{path}.")]
        written = [(known, self.builder.current(known)) for known in inside]
        replaced = [(known, w) for known, w in written if w is not None and w.origin is Origin.ARGV]
        for known, _ in replaced:
            self.builder.remove(known)
        if replaced:
            where = replaced[0][1].where
            self._overwritten(spelling, ", ".join(known for known, _ in replaced), where)

    def _overwritten(self, spelling: str, path: str, span: Span | None) -> None:
        self._problem(ProblemKind.OVERWRITTEN, spelling, span, value=path)

    def _match(self, written: str, *, exact: bool = False) -> _Match | Problem:
        name = self.grammar.canonical(written)
        option = self.names.get(name)
        if option is not None:
            return _Match(option, negated=name in option.no_names)
        dotted = self._dotted_match(name)
        if dotted is not None:
            return dotted
        longer = {} if exact else self._abbreviated(name)
        if len({o.path for o in longer.values()}) == 1:
            full, option = next(iter(longer.items()))
            return _Match(option, negated=full in option.no_names)
        if longer:
            return Problem(
                ProblemKind.AMBIGUOUS, self.grammar.scope, written, near=tuple(sorted(longer)), known_as=name
            )
        near = near_names(name, self.names)
        return Problem(ProblemKind.UNKNOWN, self.grammar.scope, written, near=near, known_as=name)

    def _dotted_match(self, name: str) -> _Match | None:
        base, dot, key = name.partition(".")
        option = self.names.get(base) if dot else None
        if option is None or option.kind != "object" or not option.members:
            return None
        return _Match(option, member=key) if "dotted" in self.view.scope(option.members).forms else None

    def _abbreviated(self, name: str) -> dict[str, Option]:
        if not self.grammar.abbreviations or not name.startswith("--") or len(name) < 3:
            return {}
        return {full: self.names[full] for full in self.view.spellings(self.grammar.scope, name)}

    def _problem(
        self, kind: ProblemKind, spelling: str, span: Span | None, *, value: str = "", expected: str = ""
    ) -> None:
        self.builder.problem(Problem(kind, self.grammar.scope, spelling, value, expected, where=span))


def _is_flag(text: str) -> bool:
    return len(text) > 1 and text.startswith("-") and not _NEGATIVE_NUMBER.match(text)


def _key_places(word: Word) -> dict[str, Span]:
    """The places of the keys in a JSON whose characters have places; of two of one name the first counts."""
    if word.places is None or word.value is None:
        return {}
    found: dict[str, Span] = {}
    for match in _JSON_KEY.finditer(word.value):
        found.setdefault(match[1], word.places.span_of(match.start(), match.end(1) + 1))
    return found


def _untyped(option: Option) -> Option:
    """A stand-in for an unknown member: its text is kept as it is."""
    return replace(option, kind="value", type="str", members="", choices=None, const=None)


def _loosely_typed(text: str) -> JsonValue:
    """The value of an unknown dotted member, read as JSON where it is some."""
    try:
        return values.from_json(text)
    except values.BadValue:
        return text
