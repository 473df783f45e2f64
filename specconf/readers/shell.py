"""The one shell reader: the text of a script → its simple commands, as words with their places.

It follows the assignments of straight-line code, looks behind wrappers and collects files written by heredocs. What
depends on a branch, a loop, an argument or another program is unresolved. Nothing is executed and no engine is known
here; how words are quoted and expanded is in `quoting` and `expansion`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from specconf.readers.expansion import Scope, Value, assigned, expand, merged, unknown
from specconf.readers.nested import NestedScript, nested_script
from specconf.readers.source import Placed, SourceText, joined
from specconf.readers.splitting import is_closed, split_words, word_end
from specconf.readers.syntax import WrittenFile, broken_parts, descendants, heredoc_body, written_file
from specconf.readers.wrappers import assignment_of, image_of_wrappers, program_name, stripped
from specconf.readers.writing import printed
from specconf.words import Span, Word

if TYPE_CHECKING:
    from tree_sitter import Node


class ShellCommand(Struct, frozen=True):
    """One simple command behind its wrappers. `intact` is false when the parser met an error inside it.

    `image`: the image that a wrapper runs it in. `nested`: the script it gives to a shell, where that is not wholly known.
    """

    words: tuple[Word, ...]
    env: tuple[tuple[str, Word], ...]
    span: Span
    intact: bool = True
    image: Word | None = None
    nested: NestedScript | None = None


class ShellFile(Struct, frozen=True):
    """A file the script writes; `text` is None when it holds an unresolved part, `placed` is it with its places."""

    name: str
    text: str | None
    span: Span
    placed: Placed | None = None


class SyntaxProblem(Struct, frozen=True):
    """A part of the script that the parser could not read."""

    text: str
    span: Span


class Script(Struct, frozen=True):
    """What was read from a script, in the order in which it is written."""

    commands: tuple[ShellCommand, ...]
    files: tuple[ShellFile, ...]
    problems: tuple[SyntaxProblem, ...]


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
    walker = _Walker(source)
    walker.scope.values |= {name: word if word.value is not None else unknown(name) for name, word in given}
    walker.scope.exported |= dict(given)
    walker.script(tree.root_node)
    return Script(
        commands=tuple(sorted(walker.commands, key=lambda command: command.span)),
        files=tuple(walker.files.values()),
        problems=tuple(walker.problems),
    )


_BEFORE_WORDS = frozenset(
    {"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect", "comment"}
)

# Commands that give values to the variables they name, and sourced files that leave a script's own variables alone.
_SETTERS = frozenset({"read", "mapfile", "readarray", "getopts", "printf", "let"})
_DEEPEST_CALLS = 12
_MOST_COMMANDS = 5000
_MOST_ELEMENTS = 5000  # of an array; with the next, no script that doubles a variable line by line grows without end
_LONGEST_VALUE = 200_000
_PARAMETERS = ("@", "*", *map(str, range(1, 10)))
_HARMLESS_SOURCES = frozenset({"activate", ".bashrc", ".profile"})


class _Walker:
    """Walks statements in order, keeping the scope in force."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.scope = Scope()
        self.commands: list[ShellCommand] = []
        self.files: dict[str, ShellFile] = {}
        self.problems: list[SyntaxProblem] = []
        self.broken: list[tuple[int, int]] = []  # where the problems are
        self.functions: dict[str, Node] = {}
        self.called: list[str] = []  # functions whose bodies are being walked, innermost last
        self.reached: set[str] = set()  # functions that were called where their arguments are known
        self.handlers: dict[str, Callable[[Node], None]] = {
            "command": self._command,
            "declaration_command": self._declaration,
            "variable_assignment": self._assignment,
            "unset_command": self._unset,
            "redirected_statement": self._redirected,
            "pipeline": self._pipeline,
            "list": self._list,
            "subshell": self._subshell,
            "if_statement": self._if,
            "case_statement": self._case,
            "while_statement": self._loop,
            "for_statement": self._loop,
            "c_style_for_statement": self._loop,
            "function_definition": self._function,
        }

    def script(self, root: Node) -> None:
        for problem in broken_parts(root):
            self.problems.append(SyntaxProblem(self.source.text_of(problem), self.source.span(problem)))
            self.broken.append(self.source.range_of(problem))
        self._walk_children(root)
        counts: dict[str, int] = {}
        for node in descendants(root, "variable_assignment"):
            name = self._assigned_name(node)
            counts[name] = counts.get(name, 0) + 1
        final = self.scope
        for name, body in list(self.functions.items()):
            if name in self.reached:
                continue
            # a body runs with the values at its calls; only names that are written once are sure to have theirs
            self.scope = final.copy()
            for variable in [variable for variable, times in counts.items() if times > 1]:
                self.scope.forget(variable)
            self._walk(body)

    def _walk(self, node: Node) -> None:
        handler = self.handlers.get(node.type)
        if handler is not None:
            handler(node)
        elif self.source.text_of(node).startswith(("((", "$((")):
            for name in descendants(node, "variable_name"):
                self.scope.forget(self.source.text_of(name))
        elif node.type not in {"command_substitution", "process_substitution"}:
            self._walk_children(node)

    def _walk_children(self, node: Node) -> None:
        for child in node.named_children:
            self._walk(child)

    # -- assignments

    def _assigned_name(self, node: Node) -> str:
        name = node.child_by_field_name("name")
        text = self.source.text_of(name) if name is not None else ""
        return text.partition("[")[0]

    def _assignment(self, node: Node) -> None:
        self._assign(node, exported=False)

    def _assign(self, node: Node, *, exported: bool) -> None:
        name = self._assigned_name(node)
        target = node.child_by_field_name("name")
        if name == "IFS":
            self.scope.splits = False
        if target is None or target.type == "subscript":
            self.scope.forget(name)
            return
        before = self.scope.values.get(name)
        appends = any(child.type == "+=" for child in node.children)
        start = self._value_start(node)
        if self.source.text.startswith("(", start):
            self._assign_array(name, start, before if appends else ())
        else:
            self._assign_scalar(name, node, before, appends=appends)
        held = self.scope.values.get(name)
        if isinstance(held, Word) and (exported or self.scope.export_all or name in self.scope.exported):
            self.scope.exported[name] = held

    def _value_start(self, node: Node) -> int:
        """The place after the `=` of an assignment."""
        return self.source.text.index("=", self.source.index(node.start_byte)) + 1

    def _assigned_word(self, node: Node) -> Word:
        """The value of `NAME=value`, with the place of the whole assignment."""
        start = self._value_start(node)
        end = word_end(self.source.text, start)
        span = self.source.span_of(self.source.index(node.start_byte), end)
        return assigned(self.source.text[start:end], span, self.scope)

    def _assign_array(self, name: str, start: int, before: Value | None) -> None:
        """`NAME=(…)`, or `NAME+=(…)` behind the elements there were."""
        if not isinstance(before, tuple):
            before = (unknown(name),) if before is None or before.value is None else (before,)
        held = (*before, *self._expanded(split_words(self.source.text, start + 1, ")")))
        self.scope.values[name] = held if len(held) <= _MOST_ELEMENTS else (unknown(name),)

    def _assign_scalar(self, name: str, node: Node, before: Value | None, *, appends: bool) -> None:
        word = self._assigned_word(node)
        if appends:
            if not isinstance(before, Word) or before.value is None or word.value is None:
                self.scope.forget(name)
                return
            word = Word(value=before.value + word.value, span=word.span, raw=before.raw + word.raw)
        self.scope.values[name] = word if len(word.text) <= _LONGEST_VALUE else unknown(name, span=word.span)

    def _declaration(self, node: Node) -> None:
        keyword = self.source.text_of(node.children[0]) if node.children else ""
        exported = keyword == "export"
        for child in node.children[1:]:
            text = self.source.text_of(child)
            if child.type == "variable_assignment":
                self._assign(child, exported=exported)
            elif child.type == "word" and text.startswith("-"):
                exported = exported or "x" in text
            elif child.type == "variable_name" and exported:
                held = self.scope.values.get(text)
                self.scope.exported[text] = (
                    held if isinstance(held, Word) else unknown(text, span=self.source.span(child))
                )

    def _unset(self, node: Node) -> None:
        for name in descendants(node, "variable_name"):
            text = self.source.text_of(name)
            self.scope.values[text] = ()
            self.scope.exported.pop(text, None)

    # -- compound statements

    def _branch(self, nodes: list[Node], start: Scope) -> Scope:
        """The scope after `nodes`, walked from a copy of `start`."""
        kept, self.scope = self.scope, start.copy()
        for node in nodes:
            self._walk(node)
        result, self.scope = self.scope, kept
        return result

    def _list(self, node: Node) -> None:
        """`a && b || c`: the first part runs always, the others perhaps."""
        first, *others = node.named_children
        self._walk(first)
        for other in others:
            self.scope = merged([self.scope, self._branch([other], self.scope)])

    def _pipeline(self, node: Node) -> None:
        for child in node.named_children:
            self._branch([child], self.scope)
        first, last = node.named_children[0], node.named_children[-1]
        writers = [last] if last.type == "command" else list(descendants(last, "command"))
        if first.type == "command" and writers:
            self._printed(first, self._expanded(self._ranges(writers[0])), ())

    def _subshell(self, node: Node) -> None:
        self._branch(node.named_children, self.scope)

    def _if(self, node: Node) -> None:
        conditions = node.children_by_field_name("condition")
        for condition in conditions:
            self._walk(condition)
        bodies = [child for child in node.named_children if child not in conditions]
        then = [child for child in bodies if child.type not in {"elif_clause", "else_clause"}]
        scopes = [self._branch(then, self.scope)]
        scopes += [self._branch([child], self.scope) for child in bodies if child.type == "elif_clause"]
        otherwise = [child for child in bodies if child.type == "else_clause"]
        scopes.append(self._branch(otherwise, self.scope))
        self.scope = merged(scopes)

    def _case(self, node: Node) -> None:
        items = [child for child in node.named_children if child.type == "case_item"]
        scopes = [self._branch([item], self.scope) for item in items]
        complete = any(self.source.text_of(item).lstrip("(").startswith("*)") for item in items)
        self.scope = merged(scopes if complete else [self.scope, *scopes])

    def _loop(self, node: Node) -> None:
        self._forget_assigned(node)
        if any(self.source.text_of(command).startswith("shift") for command in descendants(node, "command")):
            self._forget_parameters()
        after = self._branch(node.named_children, self.scope)
        self.scope = merged([self.scope, after])

    def _forget_assigned(self, node: Node) -> None:
        """Names that a body assigns, once it may have run an unknown number of times."""
        for inner in descendants(node, "variable_assignment"):
            self.scope.forget(self._assigned_name(inner))
        for name in node.children_by_field_name("variable"):
            self.scope.forget(self.source.text_of(name))

    def _function(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[self.source.text_of(name)] = body

    # -- commands

    def _expanded(self, ranges: list[tuple[int, int]]) -> list[Word]:
        """The argv words of the shell words between indices."""
        words: list[Word] = []
        for start, end in ranges:
            words += expand(self.source.text[start:end], self.source.span_of(start, end), self.scope)
        return words

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

    def _command(self, node: Node) -> None:
        ranges = self._ranges(node)
        prefix = self._prefix_assignments(node)
        words = tuple(self._expanded(ranges))
        if not words:
            return
        argv, set_by_wrappers = stripped(words)
        own = {self._assigned_name(child): self._assigned_word(child) for child in prefix}
        own |= dict(assignment_of(word) for word in set_by_wrappers)
        env = {**self.scope.exported, **own}
        start = self.source.index(prefix[0].start_byte) if prefix else ranges[0][0]
        intact = self._intact(ranges) and not any(child.is_missing for child in node.children)
        span = self.source.span_of(start, ranges[-1][1])
        nested = nested_script(words, self.source, ranges, self.scope)
        if words[0].value in self.functions:
            self._call(words[0].value, words[1:], own)
        else:
            self.commands.append(ShellCommand(argv, tuple(env.items()), span, intact, image_of_wrappers(words), nested))
        self._effects(words)

    def _call(self, name: str, arguments: tuple[Word, ...], own: dict[str, Word]) -> None:
        """A function's body, with the arguments of one call of it."""
        if name in self.called or len(self.called) >= _DEEPEST_CALLS or len(self.commands) >= _MOST_COMMANDS:
            return
        self.reached.add(name)
        kept, self.scope = self.scope, self.scope.copy()
        self.scope.exported |= own
        self._number(arguments)
        self.called.append(name)
        self._walk(self.functions[name])
        self.called.pop()
        self.scope = kept

    def _number(self, arguments: tuple[Word, ...]) -> None:
        """Arguments as the parameters `$@`, `$1` and so on."""
        self.scope.values["@"] = self.scope.values["*"] = arguments
        known = next((at for at, word in enumerate(arguments) if word.may_be_many), len(arguments))
        for number in range(1, 10):  # behind a word that may be several, nothing has a number of its own
            if number <= known:
                self.scope.values[str(number)] = arguments[number - 1]
            elif known < len(arguments):
                self.scope.values[str(number)] = unknown(str(number))
            else:
                self.scope.values[str(number)] = ()

    def _shift(self, arguments: tuple[Word, ...]) -> None:
        """`shift N`: the first parameters go; where it is not known which, none is known."""
        given, count = self.scope.values.get("@"), (arguments[0].value or "") if arguments else "1"
        if not isinstance(given, tuple):
            return
        gone = given[: int(count)] if count.isdecimal() and len(count) < 4 else ()
        if (gone or count == "0") and not any(word.may_be_many for word in gone) and len(gone) == int(count):
            self._number(given[len(gone) :])
        elif count.isdecimal() and not any(word.may_be_many for word in given):
            return  # more than there are: the shell leaves them as they are
        else:
            self._forget_parameters()

    def _forget_parameters(self) -> None:
        if isinstance(self.scope.values.get("@"), tuple):
            for name in _PARAMETERS:
                self.scope.forget(name)

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
            end = word_end(self.source.text, self._value_start(child))
            following = child.next_sibling
            if following is None or "\n" not in self.source.text[end : self.source.index(following.start_byte)].replace(
                "\\\n", ""
            ):
                continue
            for earlier in found:
                self._assign(earlier, exported=False)
            found = []
        return found

    def _effects(self, words: tuple[Word, ...]) -> None:
        """What a command does to the variables of this shell, as far as its name tells."""
        name, arguments = words[0].value or "", words[1:]
        if name in self.functions:
            self._forget_assigned(self.functions[name])
        elif name in {"source", ".", "eval"}:
            if not (arguments and program_name(arguments[0]) in _HARMLESS_SOURCES):
                self.scope.forget_all()
        elif name in _SETTERS:
            for argument in arguments:
                variable = argument.text.partition("=")[0]
                if variable in self.scope.values:
                    self.scope.forget(variable)
        elif name == "shift":
            self._shift(arguments)
        elif name == "set" and arguments:
            texts = [argument.text for argument in arguments[:2]]
            if texts[0] in {"-a", "+a"} or texts in (["-o", "allexport"], ["+o", "allexport"]):
                self.scope.export_all = texts[0].startswith("-")

    # -- redirects and files

    def _redirected(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self._walk(body)
        if body is not None and body.type == "command":
            self._printed(body, (), node.children)
        for heredoc in [child for child in node.children if child.type == "heredoc_redirect"]:
            self._heredoc(node, body, heredoc)
            for child in heredoc.named_children:
                if child.type in {"pipeline", "command", "list"}:
                    self._walk(child)

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
