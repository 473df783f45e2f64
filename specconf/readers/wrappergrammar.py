"""The grammar of a command that only starts another one: what of its own may stand before that, and how that is given."""

from __future__ import annotations

import re
from enum import Enum, auto

from msgspec import Struct

from specconf.patterns import pattern

PLACE = pattern(r"\{(?:\d+|[#%./]|//|/\.)?\}")  # where `xargs`, `parallel` and `find` put in a word


class Rest(Enum):
    """What the words behind a wrapper's own are."""

    COMMAND = auto()  # a program and its words
    SCRIPT = auto()  # a script, the words joined with blanks
    EITHER = auto()  # a script where there is one word, a program and its words where there are more
    FIRST = auto()  # the first word is a script, the others are the wrapper's own
    EACH = auto()  # every word is a script
    NOTHING = auto()  # no command: only an option or the standard input gives one


class Wrapper(Struct, frozen=True):
    """What may stand between a wrapper's name and the command it starts.

    `valued`: options whose value is the next word (two words for `paired`); `all_valued`: so are all long options but
    `flags`. `operands`: words of its own that are no options; `closed`: behind them stand no more options of its own.
    `assignments`: whether `A=1` words set the command's environment; `exports`: options whose value is such an assignment.
    `subcommands`: the words one of which must come first, as sequences. `rest`: what follows. `scripts`: options whose
    value is a script that a shell runs. `starts`: options right behind which the command begins, and without which there
    is none. `modules`: options behind which a Python module stands with its words. `ends`: words that end the command.
    `places`: words that it puts something else in for; `appends`: whether it adds words at the end. `requires`: options
    whose value is a requirement that it installs; `named`: whether the command's first word may be one (`vllm@0.33.0`).
    `reads_input`: whether it takes a script from its standard input where no command is given. `gap`: `--` stands between
    the program and its words.
    """

    valued: frozenset[str] = frozenset()
    paired: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    all_valued: bool = False
    operands: int = 0
    assignments: bool = False
    exports: frozenset[str] = frozenset()
    subcommands: tuple[tuple[str, ...], ...] = ()
    rest: Rest = Rest.COMMAND
    scripts: frozenset[str] = frozenset()
    starts: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()
    places: re.Pattern[str] | None = None
    appends: bool = False
    requires: frozenset[str] = frozenset()
    named: bool = False
    reads_input: bool = False
    gap: bool = False
    closed: bool = False


def options(text: str) -> frozenset[str]:
    """Words as a set."""
    return frozenset(text.split())


def first(*texts: str) -> tuple[tuple[str, ...], ...]:
    """Subcommands, each as its words."""
    return tuple(tuple(text.split()) for text in texts)


MODULE = options("-m --module")
PLAIN = Wrapper()
ONE_OPERAND = Wrapper(operands=1)
