"""The walk over a script's statements in their order, with the variables in force at each: branches, loops, functions.

What a branch, a loop or a call does to the scope is here; what a simple command is, is for the reader that extends the walk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from specconf.readers.assignments import (
    PARAMETERS,
    assign,
    assigned_name,
    declare,
    forget_assigned,
    forget_parameters,
    unset,
)
from specconf.readers.scope import Scope, merged
from specconf.readers.source import SourceText
from specconf.readers.syntax import descendants, outermost, parsed

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST_CALLS = 12
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_LOCAL = ("local", "declare", "typeset")


class StatementWalk:
    """Walks statements in order, keeping the scope in force."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.scope = Scope()
        self.functions: dict[str, tuple[SourceText, Node]] = {}
        self.called: list[str] = []  # functions whose bodies are being walked, innermost last
        self.reached: set[str] = set()  # functions that were called where their arguments are known
        self.handlers: dict[str, Callable[[Node], None]] = {
            "command": self.command,
            "declaration_command": self._declaration,
            "variable_assignment": self._assignment,
            "unset_command": lambda node: unset(node, self.source, self.scope),
            "redirected_statement": self.redirected,
            "pipeline": self.pipeline,
            "list": self._list,
            "subshell": self._subshell,
            "if_statement": self._if,
            "case_statement": self._case,
            "while_statement": self._loop,
            "for_statement": self._loop,
            "c_style_for_statement": self._loop,
            "function_definition": self._function,
        }

    def command(self, node: Node) -> None:
        """A simple command."""
        raise NotImplementedError

    def redirected(self, node: Node) -> None:
        """A statement with redirects."""
        raise NotImplementedError

    def pipeline(self, node: Node) -> None:
        """Commands that are joined by bars; each runs in a shell of its own."""
        for child in node.named_children:
            self.branch([child], self.scope)

    def walk_all(self, root: Node) -> None:
        """A whole script, then the functions that nothing in it was seen to call."""
        self.walk_children(root)
        counts: dict[str, int] = {}
        for node in descendants(root, "variable_assignment"):
            name = assigned_name(node, self.source)
            counts[name] = counts.get(name, 0) + 1
        final = self.scope
        for name, (source, body) in list(self.functions.items()):
            if name in self.reached:
                continue
            self.source = source
            # a body runs with the values at its calls; only names that are written once are sure to have theirs
            self.scope = final.copy()
            for variable in [variable for variable, times in counts.items() if times > 1]:
                self.scope.forget(variable)
            self.walk(body)

    def walk(self, node: Node) -> None:
        """One statement."""
        handler = self.handlers.get(node.type)
        if handler is not None:
            handler(node)
        elif self.source.text_of(node).startswith(("((", "$((")):
            for name in descendants(node, "variable_name"):
                self.scope.forget(self.source.text_of(name))
            self.substitutions(node)
        elif node.type in _SUBSTITUTIONS:
            self._substitution(node)
        else:
            self.walk_children(node)

    def substitutions(self, node: Node) -> None:
        """The commands in `$(…)` and `<(…)` of a statement; each runs in a shell of its own."""
        for found in outermost(node, _SUBSTITUTIONS):
            self._substitution(found)

    def _substitution(self, node: Node) -> None:
        if not self.source.text_of(node).startswith("`"):
            self.branch(node.named_children, self.scope)
            return
        # nothing but the second backtick ends the last word inside, so that the inside is a text of its own
        start, end = self.source.range_of(node)
        kept = self.source
        self.source = self.source.part(start + 1, end - 1).source()
        self.branch([parsed(self.source)], self.scope)
        self.source = kept

    def walk_children(self, node: Node) -> None:
        """The statements in a node, in order."""
        for child in node.named_children:
            self.walk(child)

    def _declaration(self, node: Node) -> None:
        self.substitutions(node)
        declare(node, self.source, self.scope)

    def _assignment(self, node: Node) -> None:
        self.substitutions(node)
        assign(node, self.source, self.scope)

    def branch(self, nodes: list[Node], start: Scope) -> Scope:
        """The scope after `nodes`, walked from a copy of `start`."""
        kept, self.scope = self.scope, start.copy()
        for node in nodes:
            self.walk(node)
        result, self.scope = self.scope, kept
        return result

    def _list(self, node: Node) -> None:
        """`a && b || c`: the first part runs always, the others perhaps."""
        first, *others = node.named_children
        self.walk(first)
        for other in others:
            self.scope = merged([self.scope, self.branch([other], self.scope)], before=self.scope)

    def _subshell(self, node: Node) -> None:
        self.branch(node.named_children, self.scope)

    def _if(self, node: Node) -> None:
        conditions = node.children_by_field_name("condition")
        for condition in conditions:
            self.walk(condition)
        bodies = [child for child in node.named_children if child not in conditions]
        then = [child for child in bodies if child.type not in {"elif_clause", "else_clause"}]
        scopes = [self.branch(then, self.scope)]
        scopes += [self.branch([child], self.scope) for child in bodies if child.type == "elif_clause"]
        otherwise = [child for child in bodies if child.type == "else_clause"]
        scopes.append(self.branch(otherwise, self.scope))
        self.scope = merged(scopes, before=self.scope)

    def _case(self, node: Node) -> None:
        items = [child for child in node.named_children if child.type == "case_item"]
        scopes = [self.branch([item], self.scope) for item in items]
        complete = any(self.source.text_of(item).lstrip("(").startswith("*)") for item in items)
        self.scope = merged(scopes if complete else [self.scope, *scopes], before=self.scope)

    def _loop(self, node: Node) -> None:
        forget_assigned(node, self.source, self.scope)
        if any(self.source.text_of(command).startswith("shift") for command in descendants(node, "command")):
            forget_parameters(self.scope)
        after = self.branch(node.named_children, self.scope)
        self.scope = merged([self.scope, after], before=self.scope)

    def _function(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[self.source.text_of(name)] = (self.source, body)

    def call(self, name: str, set_up: Callable[[Scope], None]) -> None:
        """A function's body, with what one call of it sets up; the variables that it sets stay set."""
        source, body = self.functions[name]
        if name in self.called or len(self.called) >= _DEEPEST_CALLS:
            forget_assigned(body, source, self.scope)
            return
        self.reached.add(name)
        kept = self.scope, self.source
        self.scope, self.source = self.scope.copy(), source
        set_up(self.scope)
        self.called.append(name)
        self.walk(body)
        self.called.pop()
        after = self.scope
        self.scope, self.source = kept
        self._keep(after, {*PARAMETERS, *self._locals(source, body)})

    def _locals(self, source: SourceText, body: Node) -> set[str]:
        """The variables that end with a function."""
        found: set[str] = set()
        for node in descendants(body, "declaration_command"):
            if source.text_of(node).startswith(_LOCAL):
                found |= {source.text_of(name) for name in descendants(node, "variable_name")}
        return found

    def _keep(self, after: Scope, ended: set[str]) -> None:
        for name, value in after.values.items():
            if name not in ended and self.scope.values.get(name) is not value:
                self.scope.values[name] = value
                if name in after.choices:
                    self.scope.choices[name] = after.choices[name]
        self.scope.exported |= {name: word for name, word in after.exported.items() if name in self.scope.exported}
