"""The one shell reader: the text of a script → its simple commands, as words with their places.

It follows the assignments of straight-line code, looks behind wrappers and collects files written by heredocs. What
depends on a branch, a loop, an argument or another program is unresolved, but for the command itself: what branches may
have made of it is read once for each. Nothing is executed and no engine is known here; how words are quoted and expanded is
in `quoting` and `expansion`, how statements follow each other in `shellwalk`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from specconf.patterns import pattern
from specconf.readers.assignments import assign, assigned_name, assigned_word, expanded, number, value_start, with_texts
from specconf.readers.builtins import chosen_variable, effects, has_own_effects
from specconf.readers.nested import NestedScript, script_text, text_of
from specconf.readers.scope import Scope, unknown
from specconf.readers.scripts import Script, ShellCommand, ShellFile, SyntaxProblem, with_holes
from specconf.readers.shellwalk import StatementWalk
from specconf.readers.source import Placed, SourceText, holes_of, joined
from specconf.readers.splitting import is_closed, split_words, word_end
from specconf.readers.syntax import WrittenFile, broken_parts, descendants, heredoc_body, parsed, written_file
from specconf.readers.wrappers import (
    SCRIPTED,
    assignment_of,
    behind_wrappers,
    image_of_wrappers,
    program_name,
)
from specconf.readers.writing import printed
from specconf.words import Places, Span, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_BEFORE_WORDS = frozenset(
    {"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect", "comment"}
)
# A part that is not known where it may set variables: as a command, or among the words of one that does.
_MAY_SET = pattern(
    r"(?:\A|[\n;&|({`]|\b(?:export|declare|local|typeset|readonly|source|eval|set|unset|read|then|do|else)\b[^\n;&|]*)"
    r"\s*[\uE000-\uF8FF\U000F0000-\U000FFFFD]"
)
_MOST_COMMANDS = 5000
_DEEPEST_SCRIPTS = 8  # scripts that `eval` is given in scripts that it is given


def read_shell(
    text: str,
    path: str,
    origin: Span | None = None,
    inside: Places | None = None,
    given: Sequence[tuple[str, Word]] = (),
    holes: Mapping[str, str] | None = None,
) -> Script:
    """Read a script. Never fails: what could not be parsed is listed in `problems`.

    `origin`: where the text begins in its file, when it is a part of one; `inside`: where each of its characters stands
    there. `given`: the environment in which the script runs, as far as it is known. `holes`: what stands for unknown parts.
    """
    source = SourceText(text, path, origin, inside)
    reader = _Reader(source)
    reader.scope.template.holes |= holes or {}
    reader.scope.values |= {name: word if word.value is not None else unknown(name) for name, word in given}
    reader.scope.exported |= dict(given)
    reader.script(parsed(source))
    held = dict(reader.scope.template.holes)
    return Script(
        commands=tuple(sorted((with_holes(one, held) for one in reader.commands), key=lambda command: command.span)),
        files=tuple(reader.files.values()),
        problems=tuple(reader.problems),
        holes=held,
    )


class _Reader(StatementWalk):
    """Collects the commands and files of a script."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self.commands: list[ShellCommand] = []
        self.files: dict[str, ShellFile] = {}
        self.problems: list[SyntaxProblem] = []
        self.broken: list[tuple[int, int]] = []  # where the problems are
        self.input: NestedScript | None = None  # what the next command is given on its standard input
        self.depth = 0

    def script(self, root: Node) -> None:
        self._note_problems(root)
        self.walk_all(root)

    def _note_problems(self, root: Node) -> None:
        for problem in broken_parts(root):
            self.problems.append(SyntaxProblem(self.source.text_of(problem), self.source.span(problem)))
            self.broken.append(self.source.range_of(problem))

    def _inline(self, script: NestedScript) -> bool:
        """A script that runs in this shell, with its variables; whether it was walked."""
        if self.depth >= _DEEPEST_SCRIPTS or len(self.commands) >= _MOST_COMMANDS:
            return False
        with self._within(SourceText(script.text, self.source.path, inside=script.places)):
            root = parsed(self.source)
            self._note_problems(root)
            self.walk_children(root)
        return True

    @contextmanager
    def _within(self, source: SourceText) -> Iterator[None]:
        kept = self.source, self.broken
        self.source, self.broken = source, []
        self.depth += 1
        yield
        self.depth -= 1
        self.source, self.broken = kept

    # -- commands

    def _expanded(self, ranges: list[tuple[int, int]]) -> list[Word]:
        return expanded(ranges, self.source, self.scope)

    def _word_at(self, offset: int) -> list[Word]:
        """The argv words of the shell word at a byte offset."""
        start = self.source.index(offset)
        return self._expanded([(start, word_end(self.source.text, start))])

    def _ranges(self, command: Node) -> list[tuple[int, int]]:
        """The places of a command's words. The tree says where it begins; words are split here, more exactly."""
        for child in command.children:
            if child.type not in _BEFORE_WORDS:
                return split_words(self.source.text, self.source.index(child.start_byte))
        return []

    def command(self, node: Node) -> None:
        """A simple command, once for each of the values that branches left for what it runs."""
        given, self.input = self.input or self._herestring(node), None
        ranges = self._ranges(node)
        prefix = self._prefix_assignments(node)
        self.substitutions(node)
        if not ranges:
            return
        name = chosen_variable(ranges, self.source, self.scope)
        for value in self.scope.chosen(name) if name else ():
            kept, self.scope = self.scope, self.scope.copy()
            self.scope.values[name] = value
            self._one_command(node, ranges, prefix, given, chosen=True)
            self.scope = kept
        words = self._words(ranges)
        if name and words:
            self._effects(words)
        elif words:
            self._one_command(node, ranges, prefix, given)

    def _words(self, ranges: list[tuple[int, int]]) -> tuple[Word, ...]:
        words = self._expanded(ranges)
        if any(program_name(word) in SCRIPTED for word in words):
            words = with_texts(words, self.source, ranges, self.scope)
        return tuple(words)

    def _one_command(
        self,
        node: Node,
        ranges: list[tuple[int, int]],
        prefix: list[Node],
        given: NestedScript | None,
        *,
        chosen: bool = False,
    ) -> None:
        words = self._words(ranges)
        if not words:
            return
        own = {assigned_name(child, self.source): assigned_word(child, self.source, self.scope) for child in prefix}
        if words[0].value in self.functions:
            self._called(words[0].value, words[1:], own)
        elif has_own_effects(words[0]) and self._runs_here(words):
            return
        else:
            self._record(node, ranges, prefix, own, words, given, chosen=chosen)
        self._effects(words)

    def _record(
        self,
        node: Node,
        ranges: list[tuple[int, int]],
        prefix: list[Node],
        own: dict[str, Word],
        words: tuple[Word, ...],
        given: NestedScript | None,
        *,
        chosen: bool,
    ) -> None:
        """One more of the script's commands."""
        behind = behind_wrappers(words)
        own |= dict(assignment_of(word) for word in behind.assignments)
        env = {**self.scope.exported, **own}
        start = self.source.index(prefix[0].start_byte) if prefix else ranges[0][0]
        intact = self._intact(ranges) and not any(child.is_missing for child in node.children)
        span = self.source.span_of(start, ranges[-1][1])
        if chosen:
            span = _span_of(behind.words) or span
        image = image_of_wrappers(words)
        found = ShellCommand(behind.words, tuple(env.items()), span, intact, image, behind.requires, given)
        if not chosen or found not in self.commands[-_MOST_COMMANDS:]:
            self.commands.append(found)

    def _runs_here(self, words: tuple[Word, ...]) -> bool:
        """`eval SCRIPT`, `trap SCRIPT SIGNAL` and `source FILE` of a file that this script wrote; whether it was read."""
        name = words[0].value
        if name in ("source", "."):
            file = self.files.get(words[1].value or "") if len(words) > 1 else None
            if file is None or file.placed is None:
                return False
            return self._inline(NestedScript(file.placed.text, file.placed, holes_of(file.placed)))
        script = behind_wrappers(words).script
        if not script or all(word.value is None and not isinstance(word.places, Placed) for word in script):
            return False
        text = script_text(script, self.source.path, self.scope.template)
        if name == "eval":
            read = self._inline(text)
            if _MAY_SET.search(text.text):
                self.scope.forget_all()
            return read
        kept, self.scope = self.scope, self.scope.copy()
        read = self._inline(text)
        self.scope = kept
        return read

    def _called(self, name: str, arguments: tuple[Word, ...], own: dict[str, Word]) -> None:
        """A function's body, with the arguments of one call of it."""
        if len(self.commands) >= _MOST_COMMANDS:
            return

        def set_up(scope: Scope) -> None:
            scope.exported |= own
            number(arguments, scope)

        self.call(name, set_up)

    def _intact(self, ranges: list[tuple[int, int]]) -> bool:
        """Whether words can be trusted: all are closed, and an error of the parser lies in one of them or elsewhere.

        The parser stumbles over some expansions and over backticks around a comment; the words are split without it.
        """
        if not all(is_closed(self.source.text, start) for start, _ in ranges):
            return False
        first, last = ranges[0][0], ranges[-1][1]
        met = [(start, end) for start, end in self.broken if start < last and first < end]
        return all(any(begin <= start and end <= stop for begin, stop in ranges) for start, end in met)

    def _prefix_assignments(self, node: Node) -> list[Node]:
        """`A=1 B=2 command`. Lines of assignments that the parser puts here, too, stay in force."""
        found: list[Node] = []
        for child in node.children:
            if child.type != "variable_assignment":
                continue
            found.append(child)
            end = word_end(self.source.text, value_start(child, self.source))
            following = child.next_sibling
            if following is None or "\n" not in self.source.text[end : self.source.index(following.start_byte)].replace(
                "\\\n", ""
            ):
                continue
            for earlier in found:
                assign(earlier, self.source, self.scope)
            found = []
        return found

    def _effects(self, words: tuple[Word, ...]) -> None:
        if words[0].value not in self.functions:
            effects(words, self.scope)

    # -- input, redirects and files

    def _herestring(self, node: Node) -> NestedScript | None:
        """The text of `command <<< TEXT`."""
        for child in node.children:
            if child.type == "herestring_redirect" and child.named_children:
                start = self.source.index(child.named_children[0].start_byte)
                text = text_of(self.source.part(start, word_end(self.source.text, start)), self.scope)
                return NestedScript(text.text, text, holes_of(text))
        return None

    def pipeline(self, node: Node) -> None:
        """Commands that are joined by bars; the text that the first one prints is what the last one is given."""
        given = self.input
        first, last = node.named_children[0], node.named_children[-1]
        writers = [last] if last.type == "command" else list(descendants(last, "command"))
        text = None
        if first.type == "command" and writers:
            text = self._printed(first, self._expanded(self._ranges(writers[0])), ())
        for child in node.named_children:
            self.input = given if child == first else text if child == last else None
            self.branch([child], self.scope)
        self.input = None

    def redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        heredocs = [child for child in node.children if child.type == "heredoc_redirect"]
        texts = [heredoc_body(heredoc, self.source, self.scope) for heredoc in heredocs]
        if body is not None:
            simple = body if body.type == "command" else None
            given = texts[-1] if texts else None
            if simple is not None:
                self.input = _script(given) if given is not None else self._herestring(node)
            self.walk(body)
            self.input = None
            if simple is not None:
                self._printed(simple, (), node.children)
        for child in node.children:
            if child.type in ("file_redirect", "herestring_redirect"):
                self.substitutions(child)
        for heredoc, text in zip(heredocs, texts, strict=True):
            self._heredoc(node, body, heredoc, text)

    def _heredoc(self, node: Node, body: Node | None, heredoc: Node, text: Placed | None) -> None:
        """A heredoc's text as a file that is written, or as what the commands behind a bar are given."""
        words = self._expanded(self._ranges(body)) if body is not None and body.type == "command" else []
        target = written_file(words, [*node.children, *heredoc.children], self._word_at)
        behind = [child for child in heredoc.named_children if child.type in {"pipeline", "command", "list"}]
        if target is None and behind:  # `cat <<E | tee F`
            inner = [command for child in behind for command in descendants(child, "command")]
            target = written_file(self._expanded(self._ranges(inner[-1])), (), self._word_at) if inner else None
        if target is not None:
            self._write(target, text, self.source.span(heredoc))
        prints = bool(words) and program_name(words[0]) in {"cat", "tee"}
        for child in behind:
            self.input = _script(text) if prints and text is not None and child.type != "list" else None
            self.walk(child)
            self.input = None
        for child in heredoc.named_children:
            if child.type == "heredoc_body":
                self.substitutions(child)

    def _write(self, target: WrittenFile, text: Placed | None, span: Span) -> None:
        """One more piece of a file, or its whole text."""
        earlier = self.files.get(target.name)
        if target.appends and earlier is not None:
            text = joined([earlier.placed, text], "") if earlier.placed is not None and text is not None else None
        known = text is not None and not holes_of(text)
        self.files[target.name] = ShellFile(target.name, text.text if text is not None and known else None, span, text)

    def _printed(self, body: Node, writer: Sequence[Word], redirects: Sequence[Node]) -> NestedScript | None:
        """What `echo` or `printf` print; `echo … > F`, or `echo … | tee F` with `writer` as the words behind the bar."""
        ranges = self._ranges(body)
        words = self._expanded(ranges)
        prints, text = printed(words, self.source, ranges[0][0], ranges[-1][1]) if words else (False, None)
        target = written_file(writer or words, redirects, self._word_at) if prints else None
        if target is not None:
            self._write(target, text, self.source.span(body))
        if not prints:
            return None
        if text is not None:
            return _script(text)
        shown = [
            word for word in with_texts(words[1:], self.source, ranges, self.scope) if word.value not in ("-e", "-n")
        ]
        return script_text(shown, self.source.path, self.scope.template) if shown else None


def _script(text: Placed) -> NestedScript:
    return NestedScript(text.text, text, holes_of(text))


def _span_of(words: tuple[Word, ...]) -> Span | None:
    """The place of the words that stand together with the first of them."""
    spans = [word.span for word in words if word.span is not None]
    if len(spans) != len(words) or not spans:
        return None
    last = spans[0]
    for span in spans[1:]:
        if span.path != last.path or (span.line, span.column) < (last.end_line, last.end_column):
            break
        last = span if span.line <= last.end_line + 2 else last
    return Span(spans[0].path, spans[0].line, spans[0].column, last.end_line, last.end_column)
