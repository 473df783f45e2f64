"""Words of the shell reader: quoting, splitting, variables and arrays, beside what bash itself makes of a script."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from specconf.readers.shell import read_shell
from specconf.words import Word

BASH = shutil.which("bash")


def words_of(script: str, program: str = "vllm") -> tuple[Word, ...]:
    """The words after the last command of a program."""
    script_read = read_shell(script, "launch.sh")
    return [command for command in script_read.commands if command.words[0].value == program][-1].words[1:]


def values_of(script: str) -> list[str | None]:
    return [word.value for word in words_of(script)]


def by_bash(script: str, folder: Path) -> list[str] | None:
    """What bash passes to the program `vllm`, None when it refuses the script."""
    assert BASH is not None
    # without file name patterns: the reader matches none
    shown = "set -f\nvllm() { printf '%s\\0' \"$@\"; }\n" + script
    process = subprocess.Popen(
        [BASH, "--norc", "--noprofile", "-c", shown],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={"PATH": "/bin:/usr/bin", "LC_ALL": "C.UTF-8", "FUNCNEST": "10"},
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # and whatever it started
        raise
    if process.returncode:
        return None
    return [word.decode("utf-8", "surrogateescape") for word in output.split(b"\0")[:-1]]


# Scripts whose words are all known from the text.
KNOWN: dict[str, str] = {
    "plain": "vllm serve m --port 8000",
    "single quotes": """vllm '{"n":$N}' 'a b' ''""",
    "double quotes": r'''vllm "a\"b" "a\$b" "a\nb" "a\\b" "" "a'b"''',
    "inner quotes vanish": 'vllm "{"n":1}"',
    "joined quotes": """vllm a'b'"c"\\ d --x='1 2'""",
    "ansi quotes": r"vllm $'a\tb\'c\x41\u00e9\101\e' $'' $'\q'",
    "locale quotes": 'vllm $"a b"',
    "continuation": "vllm a \\\n  b \\\n  --c=\\\nd",
    "continuation in double quotes": "vllm \"a\\\nb\" 'a\\\nb'",
    "variable": 'A=1\nvllm $A ${A} "$A" x${A}y',
    "variable with spaces": "A=' a  b '\nvllm $A x${A}y \"$A\" $A$A",
    "empty variable": "A=\nvllm $A \"$A\" x$A '' ${A}",
    "variable of a variable": 'A=a\nB="$A/b"\nvllm $B',
    "two assignments on a line": "A=1 B=2\nvllm $A$B",
    "append to a variable": "A=a\nA+=b\nvllm $A",
    "default of a known variable": "A=1\nvllm ${A:-2} ${A-3}",
    "default of an empty variable": 'A=\nvllm ${A:-2 3} "${A:-2 3}" x${A-3}',
    "json from variables": 'N=3\nM=a/b\nvllm "{\\"method\\":\\"draft_model\\",\\"model\\":\\"$M\\",\\"n\\":$N}"',
    "json default trap": 'V=\'{"n":1}\'\nvllm "${V:-{}}"',
    "array": "ARGS=(a 'b c' --d=e)\nvllm \"${ARGS[@]}\"",
    "array with comments": 'ARGS=(\n  a # one\n  # two\n  b\n)\nvllm "${ARGS[@]}"',
    "array appended": "ARGS=(a)\nARGS+=(b 'c d')\nvllm x \"${ARGS[@]}\" y",
    "array joined": 'ARGS=(a \'b c\')\nvllm "x${ARGS[@]}y" "${ARGS[*]}"',
    "array unquoted": "ARGS=(a 'b c' '')\nvllm ${ARGS[@]} ${ARGS[*]}",
    "empty array": 'ARGS=()\nvllm "${ARGS[@]}" x',
    "array of arrays": 'A=(1 2)\nB=("${A[@]}" 3)\nvllm "${B[@]}"',
    "first element": "A=(1 2)\nvllm $A",
    "braces": "vllm {a,b} x{1,2}y {a} {} {a,{b,c}} '{a,b}' \"{a,b}\" {a,b}{c,d}",
    "json loses quotes and splits": 'vllm {"method":"ngram","n":1}',
    "braces of a variable": "A={a,b}\nvllm $A",
    "glob without files": "vllm *.none a?b [x]",
    "backslashes": r"vllm a\ b \$A \\ \' \" a\{b,c\}",
    "hash inside": "vllm a#b '#c' # d",
    "redirects": "vllm a b 2>&1 c",
    "words after two redirects": "vllm a 2>&1 b 'c d' 2>/dev/null e",
    "list": "true && vllm a",
    "if": "if true; then vllm a; fi",
    "export": "export A=1 B='2 3'\nvllm $A \"$B\"",
    "declare": "declare -r A=1\nreadonly B=2\nvllm $A $B",
    "unset": "A=1\nunset A\nvllm x$A",
    "assignment before the command": "A=1\nA=2 vllm $A",
    "all branches agree": "if true; then A=1; else A=1; fi\nvllm $A",
    "subshell keeps its own": "A=1\n(A=2)\nvllm $A",
    "function": "A=1\nf() { vllm $A; }\nf",
    "set by a function": 'A=1\nf() { A=2; local B=3; }\nB=0\nf\nvllm "$A" $B',
    "set by an inner function": 'g() { A="x $1"; }\nf() { g "$1"; }\nf y\nvllm $A "$A"',
    "parameters that are set": 'set -e\nset -- a \'b c\'\nset -- "$@" d\nvllm "$@" "$2"\n',
    "evaluated": 'A="x y"\nC=\'vllm $A "$A"\'\neval "$C"',
    "evaluated from words": 'A=(vllm a \'"b c"\')\neval "${A[@]}" d',
    "evaluated assignment": 'eval "A=\'1 2\'"\nvllm "$A"',
    "words of a text": 'C="a  b"\nC="$C \'c d\' $C"\nC+=" e"\nvllm $C x$C "$C"',
    "shift in a function": 'f() { local k=$1; shift; vllm "$k" "$@" $1; }\nf a b "c d"',
    "shift by two": 'f() { shift 2; vllm "$@"; }\nf a b c d',
    "shift by more than there are": 'f() { shift 3; vllm "$@"; }\nf a b',
    "shift by none": 'f() { shift 0; vllm "$@"; }\nf a b',
    "shift in an inner function": 'g() { shift; }\nf() { g x y; vllm "$@"; }\nf a b',
    "unicode": "vllm 模型 'é ü' \"\U0001f600\"",
    "carriage return": "vllm 'a\rb'",
}


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@pytest.mark.parametrize("name", KNOWN)
def test_known_words_are_those_of_bash(name: str, tmp_path: Path) -> None:
    assert values_of(KNOWN[name]) == by_bash(KNOWN[name], tmp_path)


# Scripts with words that only a running shell knows: the words as (value or None, raw, may be many).
UNKNOWN: dict[str, tuple[str, list[tuple[str | None, str, bool]]]] = {
    "quoted variable": ('vllm "$M"', [(None, '"$M"', False)]),
    "unquoted variable": ("vllm $M", [(None, "$M", True)]),
    "inside a word": ('vllm --port="$P" --x=$X', [(None, '--port="$P"', False), (None, "--x=$X", True)]),
    "all arguments": (
        'vllm "$@" $@ "$*" "$1" $#',
        [
            (None, '"$@"', True),
            (None, "$@", True),
            (None, '"$*"', False),
            (None, '"$1"', False),
            (None, "$#", True),
        ],
    ),
    "unknown array": ('vllm "${A[@]}"', [(None, '"${A[@]}"', True)]),
    "default from outside": ('vllm "${P:-80}"', [(None, '"${P:-80}"', False)]),
    "command substitution": ('vllm "$(cat x)" $(cat y)', [(None, '"$(cat x)"', False), (None, "$(cat y)", True)]),
    "backticks": ("vllm `a b`", [(None, "`a b`", True)]),
    "arithmetic": ('vllm "$((1 + 2))"', [(None, '"$((1 + 2))"', False)]),
    "other expansions": ('A=abc\nvllm "${A%c}" "${#A}"', [(None, '"${A%c}"', False), (None, '"${#A}"', False)]),
    "home": ("vllm ~/models", [(None, "~/models", False)]),
    "range": ("vllm {1..3}", [(None, "{1..3}", True)]),
    "two values": ('if x; then A=1; else A=2; fi\nvllm "$A"', [(None, '"$A"', False)]),
    "perhaps assigned": ('A=1\nx && A=2\nvllm "$A"', [(None, '"$A"', False)]),
    "perhaps appended": ('A=(a)\nif x; then A+=(b); fi\nvllm "${A[@]}"', [("a", "a", False), (None, "${A[@]}", True)]),
    "case": ('case $1 in a) A=1;; b) A=2;; esac\nvllm "$A"', [(None, '"$A"', False)]),
    "loop variable": ('for A in 1 2; do vllm "$A"; done', [(None, '"$A"', False)]),
    "assigned in a loop": ('A=1\nwhile x; do vllm "$A"; A=2; done', [(None, '"$A"', False)]),
    "read": ('A=1\nread -r A\nvllm "$A"', [(None, '"$A"', False)]),
    "sourced file": ('A=1\nsource ./env.sh\nvllm "$A"', [(None, '"$A"', False)]),
    "evaluated output": ('A=1\neval "$(python make.py)"\nvllm "$A"', [(None, '"$A"', False)]),
    "evaluated variable": ('A=1\neval "$SETUP; true"\nvllm "$A"', [(None, '"$A"', False)]),
    "evaluated name": ('A=1\neval "$NAME=2"\nvllm "$A"', [(None, '"$A"', False)]),
    "evaluated export": ('A=1\neval "export $NAME=2"\nvllm "$A"', [(None, '"$A"', False)]),
    "other splitting": ("IFS=,\nA=a,b\nvllm $A", [(None, "$A", True)]),
    "element assigned": ('A=(a)\nA[0]=b\nvllm "${A[@]}"', [(None, '"${A[@]}"', True)]),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_words_keep_their_text(name: str) -> None:
    script, expected = UNKNOWN[name]
    assert [(word.value, word.raw, word.may_be_many) for word in words_of(script)] == expected


def test_an_activated_environment_changes_no_variable() -> None:
    assert values_of("A=1\nsource .venv/bin/activate\nvllm $A") == ["1"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=6))
@example(
    ["if", "then", "{", "}", "[[", "!", "time", "function", "select", "#", "=", "==", "A=1", "-", "--", "\n", "a\r\nb"]
)
@example(
    ["'", '"', "\\", "$'", "`", "$(", "\x01", "\x7f", "\u2028", "\ufeff", "\U0010ffff", "é", "=~", "^", "%", "in", "do"]
)
@settings(max_examples=400, deadline=None)
def test_emitted_quoting_comes_back(texts: list[str]) -> None:
    script = shlex.join(["vllm", "serve", *texts]) + "\n"
    read = read_shell(script, "launch.sh")
    assert not read.problems
    assert [[word.value for word in command.words] for command in read.commands] == [["vllm", "serve", *texts]]
    assert not any(word.may_be_many for word in read.commands[0].words)


@pytest.fixture(scope="module")
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("empty")


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@given(st.text(alphabet="ab1'\"\\$ {},.:=#-\n*[]~/", max_size=24))
@settings(max_examples=150, deadline=None)
def test_any_word_text_means_what_bash_makes_of_it(empty_folder: Path, text: str) -> None:
    """Where the reader claims to know every word, bash agrees; it claims nothing where a part is unknown."""
    script = f"vllm serve {text}\n"
    read = read_shell(script, "launch.sh")
    commands = [command for command in read.commands if command.words[0].value == "vllm"]
    if read.problems or len(read.commands) != 1 or any(word.value is None for word in commands[0].words):
        return
    expected = by_bash(script, empty_folder)
    if expected is not None:
        assert [word.value for word in commands[0].words[1:]] == expected


STEPS = [
    *["A=1", "A='2 3'", "A=", "A+=4", "B=$A", 'B="$A$B"', "A=(a 'b c')", "A+=(d)", 'R=("${R[@]}" $A)', "R=(x)"],
    *["R+=(y z)", "unset A", "unset R", "export A", "export B=5", "read -r A <<<q", "A=$(echo w)", "A=6 true", ":"],
]
CALLS = ["f", "B=7 f"]
# a function's body calls none: it could call itself without end
SIMPLE = st.sampled_from([*STEPS, *CALLS, *[f"f() {{ {step}; }}" for step in STEPS]])
LINES = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["true", "false"]), inner, inner).map(
            lambda t: f"if {t[0]}; then {t[1]}; else {t[2]}; fi"
        ),
        st.tuples(st.sampled_from(["true &&", "false &&", "true ||", "false ||"]), inner).map(" ".join),
        inner.map(lambda line: f"( {line} )"),
        inner.map(lambda line: f"{{ {line}; }}"),
        inner.map(lambda line: f"for B in 1 2; do {line}; done"),
        inner.map(lambda line: f"case x in y) {line} ;; *) : ;; esac"),
        inner.map(lambda line: f"{line} | cat"),
    ),
    max_leaves=4,
)


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@given(st.lists(LINES, max_size=6))
@settings(max_examples=150, deadline=None)
def test_known_variables_are_those_of_bash(empty_folder: Path, lines: list[str]) -> None:
    """A word that is claimed to be known, and at a known place, is the one bash passes."""
    script = "\n".join(["f() { :; }", *lines, 'vllm "$A" "$B" "${R[@]}" end $A x$B'])
    expected = by_bash(script, empty_folder)
    if expected is None:
        return
    for at, word in enumerate(words_of(script)):
        if word.may_be_many:
            return
        assert word.value is None or word.value == expected[at]
    assert len(words_of(script)) == len(expected)


def test_spans_count_code_points_from_one() -> None:
    words = words_of("# é\nvllm 模型 \\\n  --port 80")
    places = [(w.span.line, w.span.column, w.span.end_line, w.span.end_column) for w in words if w.span]
    assert places == [(2, 6, 2, 8), (3, 3, 3, 9), (3, 10, 3, 12)]


def test_an_array_element_keeps_the_place_where_it_is_written() -> None:
    word = words_of('ARGS=(\n  --port 80\n)\nvllm "${ARGS[@]}"')[1]
    assert word.span is not None
    assert (word.span.line, word.span.column) == (2, 10)


def test_parameters_are_not_known_behind_a_loop_that_shifts() -> None:
    script = 'f() { while [ "$1" != -- ]; do shift; done; shift; vllm "$@"; }\nf a -- b'
    assert values_of(script) == [None]


@pytest.mark.parametrize("script", ["A=xxxxxxxxxx\n" + "A=$A$A\n" * 60, "A=(x x)\n" + 'A+=("${A[@]}")\n' * 60])
def test_what_doubles_line_by_line_is_not_known_at_some_point(script: str) -> None:
    model, *others = values_of(script + 'vllm m "${A[@]}"')
    assert (model, set(others)) == ("m", {None})
