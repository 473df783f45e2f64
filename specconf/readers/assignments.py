"""What assignments, declarations and the parameters of a call do to the variables in force, by bash's rules.

Where an assignment stands in branches and loops is for the walk over statements; words are expanded by `expansion`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from specconf.patterns import pattern
from specconf.readers.expansion import assigned, expand
from specconf.readers.nested import text_of
from specconf.readers.scope import Scope, Value, unknown
from specconf.readers.source import Placed, SourceText, joined
from specconf.readers.splitting import split_words, word_end
from specconf.readers.syntax import descendants
from specconf.words import Word

if TYPE_CHECKING:
    from tree_sitter import Node

_BLANK = pattern(r"\s")
_MOST_ELEMENTS = 5000  # of an array; with the next, no script that doubles a variable line by line grows without end
_LONGEST_VALUE = 200_000
PARAMETERS = ("@", "*", *map(str, range(1, 10)))


def expanded(ranges: list[tuple[int, int]], source: SourceText, scope: Scope) -> list[Word]:
    """The argv words of the shell words between indices."""
    words: list[Word] = []
    for start, end in ranges:
        words += expand(source.text[start:end], source.span_of(start, end), scope)
    return words


def assigned_name(node: Node, source: SourceText) -> str:
    """The variable that an assignment is about, without a subscript."""
    name = node.child_by_field_name("name")
    text = source.text_of(name) if name is not None else ""
    return text.partition("[")[0]


def value_start(node: Node, source: SourceText) -> int:
    """The place after the `=` of an assignment."""
    return source.text.index("=", source.index(node.start_byte)) + 1


def assigned_word(node: Node, source: SourceText, scope: Scope) -> Word:
    """The value of `NAME=value`, with the place of the whole assignment."""
    start = value_start(node, source)
    end = word_end(source.text, start)
    span = source.span_of(source.index(node.start_byte), end)
    return with_text(assigned(source.text[start:end], span, scope), source, start, end, scope)


def with_text(word: Word, source: SourceText, start: int, end: int, scope: Scope) -> Word:
    """A word that may be a command line or a script, with the places of its text, and with what is known of it in part."""
    if word.places is not None or (word.value is not None and not _BLANK.search(word.value)):
        return word
    text = text_of(source.part(start, end), scope)
    if len(text.text) > _LONGEST_VALUE or (word.value is not None and text.text != word.value):
        return word
    return replace(word, places=text)


def with_texts(words: list[Word], source: SourceText, ranges: list[tuple[int, int]], scope: Scope) -> list[Word]:
    """The words of a command that a shell is given some of; those that stand in one place get their texts."""
    places = {source.span_of(start, end): (start, end) for start, end in ranges}
    return [with_text(word, source, *places[word.span], scope) if word.span in places else word for word in words]


def assign(node: Node, source: SourceText, scope: Scope, *, exported: bool = False) -> None:
    """An assignment, which stays in force."""
    name = assigned_name(node, source)
    target = node.child_by_field_name("name")
    if name == "IFS":
        scope.splits = False
    if target is None or target.type == "subscript":
        scope.forget(name)
        return
    before = scope.values.get(name)
    appends = any(child.type == "+=" for child in node.children)
    start = value_start(node, source)
    if source.text.startswith("(", start):
        words = expanded(split_words(source.text, start + 1, ")"), source, scope)
        _assign_array(name, words, before if appends else (), scope)
    else:
        _assign_scalar(name, assigned_word(node, source, scope), before if appends else Word(""), scope)
    held = scope.values.get(name)
    if isinstance(held, Word) and (exported or scope.export_all or name in scope.exported):
        scope.exported[name] = held


def _assign_array(name: str, words: list[Word], before: Value | None, scope: Scope) -> None:
    """`NAME=(…)`, or `NAME+=(…)` behind the elements there were."""
    if not isinstance(before, tuple):
        before = (unknown(name),) if before is None or before.value is None else (before,)
    held = (*before, *words)
    scope.values[name] = held if len(held) <= _MOST_ELEMENTS else (unknown(name),)


def _assign_scalar(name: str, word: Word, before: Value | None, scope: Scope) -> None:
    """`NAME=…`, or `NAME+=…` behind the text there was."""
    if not isinstance(before, Word):
        scope.forget(name)
        return
    if _text(before):
        word = _appended(before, word)
    scope.values[name] = word if len(word.text) <= _LONGEST_VALUE else unknown(name, span=word.span)


def _text(word: Word) -> str:
    return word.value if word.value is not None else word.raw


def _appended(before: Word, word: Word) -> Word:
    """One text behind another; what is known of both in part is known of the whole."""
    places = None
    if isinstance(before.places, Placed) and isinstance(word.places, Placed):
        places = joined([before.places, word.places], "")
    known = before.value is not None and word.value is not None
    value = f"{before.value}{word.value}" if known else None
    return Word(value, word.span, before.raw + word.raw, may_be_many=not known, places=places)


def declare(node: Node, source: SourceText, scope: Scope) -> None:
    """`export`, `declare`, `local` and `readonly`, with or without values."""
    keyword = source.text_of(node.children[0]) if node.children else ""
    exported = keyword == "export"
    for child in node.children[1:]:
        text = source.text_of(child)
        if child.type == "variable_assignment":
            assign(child, source, scope, exported=exported)
        elif child.type == "word" and text.startswith("-"):
            exported = exported or "x" in text
        elif child.type == "variable_name" and exported:
            held = scope.values.get(text)
            scope.exported[text] = held if isinstance(held, Word) else unknown(text, span=source.span(child))


def unset(node: Node, source: SourceText, scope: Scope) -> None:
    """`unset NAME`."""
    for name in descendants(node, "variable_name"):
        text = source.text_of(name)
        scope.values[text] = ()
        scope.exported.pop(text, None)


def forget_assigned(node: Node, source: SourceText, scope: Scope) -> None:
    """Names that a body assigns, once it may have run an unknown number of times."""
    for inner in descendants(node, "variable_assignment"):
        scope.forget(assigned_name(inner, source))
    for name in node.children_by_field_name("variable"):
        scope.forget(source.text_of(name))


def number(arguments: tuple[Word, ...], scope: Scope) -> None:
    """Arguments as the parameters `$@`, `$1` and so on."""
    scope.values["@"] = scope.values["*"] = arguments
    known = next((at for at, word in enumerate(arguments) if word.may_be_many), len(arguments))
    for place in range(1, 10):  # behind a word that may be several, nothing has a number of its own
        if place <= known:
            scope.values[str(place)] = arguments[place - 1]
        elif known < len(arguments):
            scope.values[str(place)] = unknown(str(place))
        else:
            scope.values[str(place)] = ()


def shift(arguments: tuple[Word, ...], scope: Scope) -> None:
    """`shift N`: the first parameters go; where it is not known which, none is known."""
    given, count = scope.values.get("@"), (arguments[0].value or "") if arguments else "1"
    if not isinstance(given, tuple):
        return
    gone = given[: int(count)] if count.isdecimal() and len(count) < 4 else ()
    if (gone or count == "0") and not any(word.may_be_many for word in gone) and len(gone) == int(count):
        number(given[len(gone) :], scope)
    elif count.isdecimal() and not any(word.may_be_many for word in given):
        return  # more than there are: the shell leaves them as they are
    else:
        forget_parameters(scope)


def forget_parameters(scope: Scope) -> None:
    """The parameters are no longer known, where they were."""
    if isinstance(scope.values.get("@"), tuple):
        for name in PARAMETERS:
            scope.forget(name)
