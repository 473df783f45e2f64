"""What a format does to words that was not meant: read as meant, and noted where it stands."""

from __future__ import annotations

import textwrap

import pytest

from specconf.readers.mistakes import MistakeKind
from specconf.readers.registry import ReadLaunch, read_launches

IMAGE = "vllm/vllm-openai:v0.33.0"


def pod(*lines: str, image: str = "example/engine") -> str:
    head = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n  - name: c\n    image: {image}\n"
    return head + textwrap.indent("\n".join(lines) + "\n", "    ")


def compose(*lines: str, image: str = "example/engine") -> str:
    head = f"services:\n  c:\n    image: {image}\n    environment: {{K: '5', M: org/m}}\n"
    return head + textwrap.indent("\n".join(lines) + "\n", "    ")


def told(item: ReadLaunch) -> list[tuple[str, int, str]]:
    return [(one.kind.value, one.where.line if one.where else 0, one.instead) for one in item.mistakes]


def words(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


MEANT = ["vllm", "serve", "org/m", "--port", "1"]
KUBERNETES = {
    "command: ['vllm serve org/m --port 1']": "unsplit",
    "command:\n- vllm serve org/m --port 1": "unsplit",
    "command: ['exec vllm serve org/m']\nargs: [--port, '1']": "unsplit",
    "command: ['numactl -N 0 vllm serve org/m --port 1']": "unsplit",
    "command: ['cd /x && vllm serve org/m --port 1']": "unsplit",
    "command: ['bash -c ''vllm serve org/m --port 1''']": "unsplit",
    "command: [sh, -c]\nargs: [vllm, serve, org/m, --port, '1']": "shell-arguments",
    "command: [sh, -c, vllm]\nargs: [serve, org/m, --port, '1']": "shell-arguments",
    "command: [bash, -lc, vllm serve, org/m, --port, '1']": "shell-arguments",
    "command: [sh, -c, 'exec vllm serve org/m', --port, '1']": "shell-arguments",
}


@pytest.mark.parametrize("lines", KUBERNETES)
def test_a_list_that_a_container_cannot_start_is_read_as_meant(lines: str) -> None:
    (item,) = read_launches("x.yaml", pod(*lines.split("\n")))
    assert words(item) in (MEANT, ["exec", *MEANT])
    assert [kind for kind, _, _ in told(item)] == [KUBERNETES[lines]]
    assert all(one.certain for one in item.mistakes)


@pytest.mark.parametrize(
    "lines",
    [
        "command: [sh, -c, vllm serve org/m --port 1]",
        "command: [bash, -lc, vllm serve org/m --port 1]",
        "command: [sh, -c, vllm serve org/m --port 1, name]",  # its $0
        "command: [sh, -c, 'vllm serve \"$@\"', --, org/m, --port, '1']",
        "command: [sh, -c, 'vllm serve org/m $0', --port]",
        "command: [vllm]\nargs: [serve, org/m, --served-model-name, vllm serve m]",
    ],
)
def test_what_a_container_starts_is_no_mistake(lines: str) -> None:
    (item,) = read_launches("x.yaml", pod(*lines.split("\n")))
    assert item.mistakes == ()


def test_one_word_without_a_command_needs_an_entrypoint_that_is_a_shell() -> None:
    (item,) = read_launches("x.yaml", pod("args: [vllm serve org/m --port 1]"))
    assert words(item) == MEANT
    assert [(one.kind, one.certain) for one in item.mistakes] == [(MistakeKind.UNSPLIT, False)]


@pytest.mark.parametrize(
    "line",
    ["args: [vllm serve org/m --port 1]", "args: ['sh -c ''vllm serve org/m --port 1''']",
     "args: [vllm, serve, org/m, --port, '1']",
     "args: [bash, -c, vllm serve org/m --port 1]"],
)  # fmt: skip
def test_a_program_behind_that_of_an_image_is_a_mistake(line: str) -> None:
    (item,) = read_launches("x.yaml", pod(line, image=IMAGE))
    assert words(item) == MEANT
    assert [kind for kind, _, _ in told(item)] == ["behind-program"]
    (item,) = read_launches("x.yaml", pod("args: [org/m, --port, '1']", image=IMAGE))
    assert (words(item), item.mistakes) == (MEANT, ())


def test_the_words_of_a_split_item_stand_where_they_are_written() -> None:
    (item,) = read_launches("x.yaml", pod("command: ['vllm serve org/m --port 1']"))
    assert [word.span.column for word in item.launch.argv if word.span] == [16, 21, 27, 33, 40]


VARIABLES = {
    "args: [org/m, --port, $K]": [("literal", 9, "$(K)")],
    "args: [org/m, '--port=${K}']": [("literal", 9, "$(K)")],
    "args: [org/m, --port, $(K)]": [],
    "args: [org/m, --port, $OTHER]": [],
    "command: [sh, -c, 'vllm serve org/m --port $K']": [],
}


@pytest.mark.parametrize("line", VARIABLES)
def test_kubernetes_puts_in_variables_in_round_brackets_alone(line: str) -> None:
    (item,) = read_launches("x.yaml", pod("env: [{name: K, value: '5'}]", line, image=IMAGE))
    assert told(item) == VARIABLES[line]


COMPOSE = {
    "command: [org/m, --port, $$K]": [("literal", 5, "")],
    "command: [org/m, --port, $K]": [("outer", 5, "")],
    "command: [org/m, --port, '${K:-1}']": [],
    "command: [org/m, --port, $OTHER]": [],
    "entrypoint: [sh, -c, 'vllm serve org/m --port $$K']": [],
    "entrypoint: [sh, -c, 'vllm serve org/m --port $K']": [("outer", 5, "")],
}


@pytest.mark.parametrize("line", COMPOSE)
def test_compose_puts_in_variables_of_its_own_environment(line: str) -> None:
    (item,) = read_launches("compose.yaml", compose(line, image=IMAGE))
    assert told(item) == COMPOSE[line]
    assert ("5" in words(item)) == ("$$K'" in line)


MAKE = {
    "MODEL = m\nrun:\n\tvllm serve $MODEL\n": [("one-letter", 3, "$(MODEL)")],
    "run:\n\tMODEL=m; vllm serve $MODEL\n": [("one-letter", 2, "$$MODEL")],
    "run:\n\tMODEL=m; vllm serve $$MODEL\n": [],
    "M = x\nrun:\n\tvllm serve $Model\n": [],
    "M = x\nrun:\n\tvllm serve $M $@ $(M)\n": [],
}


@pytest.mark.parametrize("text", MAKE)
def test_make_takes_one_letter_for_a_name(text: str) -> None:
    (item,) = read_launches("Makefile", text)
    assert told(item) == MAKE[text]


@pytest.mark.parametrize(
    ("text", "count"),
    [("sh -c vllm serve org/m --port 1\n", 1), ("bash -c 'vllm serve org/m' --port 1\n", 1),
     ("bash -c 'vllm serve org/m --port 1' x\n", 0), ("bash -c 'vllm serve \"$@\"' _ org/m --port 1\n", 0)],
)  # fmt: skip
def test_words_behind_the_script_of_a_shell_are_no_part_of_it(text: str, count: int) -> None:
    (item,) = read_launches("x.sh", text)
    assert [one.kind for one in item.mistakes] == [MistakeKind.SHELL_ARGUMENTS] * count
