"""The one shell reader: the text of a script → its simple commands, as words with their places.

It follows the assignments of straight-line code, looks behind wrappers and collects files written by heredocs. What
depends on a branch, a loop, an argument or another program is unresolved. Nothing is executed and no engine is known
here; how words are quoted and expanded is in `quoting` and `expansion`, how statements follow each other in `shellwalk`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specconf.readers.assignments import (
    assign,
    assigned_name,
    assigned_word,
    expanded,
    forget_assigned,
    number,
    shift,
    value_start,
)
from specconf.readers.nested import nested_script
from specconf.readers.scope import Scope, unknown
from specconf.readers.scripts import Script, ShellCommand, ShellFile, SyntaxProblem
from specconf.readers.shellwalk import StatementWalk
from specconf.readers.source import Placed, SourceText, joined
from specconf.readers.splitting import is_closed, split_words, word_end
from specconf.readers.syntax import WrittenFile, broken_parts, descendants, heredoc_body, written_file
from specconf.readers.wrappers import assignment_of, image_of_wrappers, program_name, stripped
from specconf.readers.writing import printed
from specconf.words import Span, Word

if TYPE_CHECKING:
    from tree_sitter import Node

_BEFORE_WORDS = frozenset(
    {"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect", "comment"}
)
# Commands that give values to the variables they name, and sourced files that leave a script's own variables alone.
_SETTERS = frozenset({"read", "mapfile", "readarray", "getopts", "printf", "let"})
_HARMLESS_SOURCES = frozenset({"activate", ".bashrc", ".profile"})
_MOST_COMMANDS = 5000


def read_shell(
    text: str,
    path: str,
    origin: Span | None = None,
    inside: Placed | None = None,
    given: Sequence[tuple[str, Word]] = (),
) -> Script:
    """Read a script. Never fails: what could not be parsed is listed in `problems`.

    `origin`: where the text begins in its file, when it is a part of one; `inside`: where each of its characters stands
    there. `given`: the environment in which the script runs, as far as it is known.
    """
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    source = SourceText(text, path, origin, inside)
    tree = Parser(Language(tree_sitter_bash.language())).parse(source.data)
    reader = _Reader(source)
    reader.scope.values |= {name: word if word.value is not None else unknown(name) for name, word in given}
    reader.scope.exported |= dict(given)
    reader.script(tree.root_node)
    return Script(
        commands=tuple(sorted(reader.commands, key=lambda command: command.span)),
        files=tuple(reader.files.values()),
        problems=tuple(reader.problems),
    )


class _Reader(StatementWalk):
    """Collects the commands and files of a script."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self.commands: list[ShellCommand] = []
        self.files: dict[str, ShellFile] = {}
        self.problems: list[SyntaxProblem] = []
        self.broken: list[tuple[int, int]] = []  # where the problems are

    def script(self, root: Node) -> None:
        for problem in broken_parts(root):
            self.problems.append(SyntaxProblem(self.source.text_of(problem), self.source.span(problem)))
            self.broken.append(self.source.range_of(problem))
        self.walk_all(root)

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
        ranges = self._ranges(node)
        prefix = self._prefix_assignments(node)
        words = tuple(self._expanded(ranges))
        if not words:
            return
        argv, set_by_wrappers = stripped(words)
        own = {assigned_name(child, self.source): assigned_word(child, self.source, self.scope) for child in prefix}
        own |= dict(assignment_of(word) for word in set_by_wrappers)
        env = {**self.scope.exported, **own}
        start = self.source.index(prefix[0].start_byte) if prefix else ranges[0][0]
        intact = self._intact(ranges) and not any(child.is_missing for child in node.children)
        span = self.source.span_of(start, ranges[-1][1])
        nested = nested_script(words, self.source, ranges, self.scope)
        if words[0].value in self.functions:
            self._called(words[0].value, words[1:], own)
        else:
            self.commands.append(ShellCommand(argv, tuple(env.items()), span, intact, image_of_wrappers(words), nested))
        self._effects(words)

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
        """What a command does to the variables of this shell, as far as its name tells."""
        name, arguments = words[0].value or "", words[1:]
        if name in self.functions:
            forget_assigned(self.functions[name], self.source, self.scope)
        elif name in {"source", ".", "eval"}:
            if not (arguments and program_name(arguments[0]) in _HARMLESS_SOURCES):
                self.scope.forget_all()
        elif name in _SETTERS:
            for argument in arguments:
                variable = argument.text.partition("=")[0]
                if variable in self.scope.values:
                    self.scope.forget(variable)
        elif name == "shift":
            shift(arguments, self.scope)
        elif name == "set" and arguments:
            texts = [argument.text for argument in arguments[:2]]
            if texts[0] in {"-a", "+a"} or texts in (["-o", "allexport"], ["+o", "allexport"]):
                self.scope.export_all = texts[0].startswith("-")

    # -- redirects and files

    def pipeline(self, node: Node) -> None:
        super().pipeline(node)
        first, last = node.named_children[0], node.named_children[-1]
        writers = [last] if last.type == "command" else list(descendants(last, "command"))
        if first.type == "command" and writers:
            self._printed(first, self._expanded(self._ranges(writers[0])), ())

    def redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self.walk(body)
        if body is not None and body.type == "command":
            self._printed(body, (), node.children)
        for heredoc in [child for child in node.children if child.type == "heredoc_redirect"]:
            self._heredoc(node, body, heredoc)
            for child in heredoc.named_children:
                if child.type in {"pipeline", "command", "list"}:
                    self.walk(child)

    def _heredoc(self, node: Node, body: Node | None, heredoc: Node) -> None:
        words = self._expanded(self._ranges(body)) if body is not None else []
        target = written_file(words, [*node.children, *heredoc.children], self._word_at)
        if target is None:  # `cat <<E | tee F`
            behind = [c for child in heredoc.named_children for c in descendants(child, "command")]
            target = written_file(self._expanded(self._ranges(behind[-1])), (), self._word_at) if behind else None
        if target is None:
            return
        self._write(target, heredoc_body(heredoc, self.source, self.scope), self.source.span(heredoc))

    def _write(self, target: WrittenFile, text: Placed | None, span: Span) -> None:
        """One more piece of a file, or its whole text."""
        earlier = self.files.get(target.name)
        if target.appends and earlier is not None:
            text = joined([earlier.placed, text], "") if earlier.placed is not None and text is not None else None
        self.files[target.name] = ShellFile(target.name, text.text if text is not None else None, span, text)

    def _printed(self, body: Node, writer: Sequence[Word], redirects: Sequence[Node]) -> None:
        """`echo … > F`, or `echo … | tee F` with `writer` as the words behind the bar."""
        ranges = self._ranges(body)
        words = self._expanded(ranges)
        prints, text = printed(words, self.source, ranges[0][0], ranges[-1][1]) if words else (False, None)
        target = written_file(writer or words, redirects, self._word_at) if prints else None
        if target is not None:
            self._write(target, text, self.source.span(body))
