"""The walk over a script's statements in their order, with the variables in force at each: branches, loops, functions.

What a branch, a loop or a call does to the scope is here; what a simple command is, is for the reader that extends the walk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from specconf.readers.assignments import assign, assigned_name, declare, forget_assigned, forget_parameters, unset
from specconf.readers.scope import Scope, merged
from specconf.readers.source import SourceText
from specconf.readers.syntax import descendants

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST_CALLS = 12


class StatementWalk:
    """Walks statements in order, keeping the scope in force."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.scope = Scope()
        self.functions: dict[str, Node] = {}
        self.called: list[str] = []  # functions whose bodies are being walked, innermost last
        self.reached: set[str] = set()  # functions that were called where their arguments are known
        self.handlers: dict[str, Callable[[Node], None]] = {
            "command": self.command,
            "declaration_command": lambda node: declare(node, self.source, self.scope),
            "variable_assignment": lambda node: assign(node, self.source, self.scope),
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
        self._walk_children(root)
        counts: dict[str, int] = {}
        for node in descendants(root, "variable_assignment"):
            name = assigned_name(node, self.source)
            counts[name] = counts.get(name, 0) + 1
        final = self.scope
        for name, body in list(self.functions.items()):
            if name in self.reached:
                continue
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
        elif node.type not in {"command_substitution", "process_substitution"}:
            self._walk_children(node)

    def _walk_children(self, node: Node) -> None:
        for child in node.named_children:
            self.walk(child)

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
            self.scope = merged([self.scope, self.branch([other], self.scope)])

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
        self.scope = merged(scopes)

    def _case(self, node: Node) -> None:
        items = [child for child in node.named_children if child.type == "case_item"]
        scopes = [self.branch([item], self.scope) for item in items]
        complete = any(self.source.text_of(item).lstrip("(").startswith("*)") for item in items)
        self.scope = merged(scopes if complete else [self.scope, *scopes])

    def _loop(self, node: Node) -> None:
        forget_assigned(node, self.source, self.scope)
        if any(self.source.text_of(command).startswith("shift") for command in descendants(node, "command")):
            forget_parameters(self.scope)
        after = self.branch(node.named_children, self.scope)
        self.scope = merged([self.scope, after])

    def _function(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[self.source.text_of(name)] = body

    def call(self, name: str, set_up: Callable[[Scope], None]) -> None:
        """A function's body, with what one call of it sets up."""
        if name in self.called or len(self.called) >= _DEEPEST_CALLS:
            return
        self.reached.add(name)
        kept, self.scope = self.scope, self.scope.copy()
        set_up(self.scope)
        self.called.append(name)
        self.walk(self.functions[name])
        self.called.pop()
        self.scope = kept
