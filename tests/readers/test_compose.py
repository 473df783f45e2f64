"""Compose files: words, variables, environments, files, and what is no service of an engine."""

from __future__ import annotations

import textwrap

import pytest

from specconf.errors import InputError
from specconf.readers import dotenv
from specconf.readers.interpolation import variables
from specconf.readers.mistakes import MistakeKind
from specconf.readers.registry import ReadLaunch, detected_format, read_launches

PATH = "compose.yaml"


def read(text: str, **beside: str) -> list[ReadLaunch]:
    files = {name.replace("__", "/").replace("_dot_", "."): content for name, content in beside.items()}
    return read_launches(PATH, textwrap.dedent(text), around=files.get)


def with_files(text: str, files: dict[str, str]) -> list[ReadLaunch]:
    return read_launches(PATH, textwrap.dedent(text), around=files.get)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


def places(item: ReadLaunch) -> list[tuple[int, int]]:
    return [(word.span.line, word.span.column) for word in item.launch.argv if word.span]


def service(*lines: str, image: str = "vllm/vllm-openai:v0.33.0") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"services:\n  llm:\n    image: {image}\n{body}\n"


JSON = '{"method":"ngram","num_speculative_tokens":3}'

COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "list": (["command:", "  - org/m", "  - --speculative-config", f"  - '{JSON}'"], ["--speculative-config", JSON]),
    "flow list": ([f"command: [org/m, -sc, '{JSON}']"], ["-sc", JSON]),
    "string": ([f"command: org/m -sc '{JSON}'"], ["-sc", JSON]),
    "folded": (["command: >", "  org/m", f"  -sc '{JSON}'"], ["-sc", JSON]),
    "literal": (["command: |", "  org/m", f"  -sc '{JSON}'"], ["-sc", JSON]),
    "number": (["command: [org/m, --port, 8000]"], ["--port", "8000"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_stand_behind_the_images_program(name: str) -> None:
    lines, options = COMMANDS[name]
    (item,) = read(service(*lines))
    assert texts(item) == ["vllm", "serve", "org/m", *options]
    assert (item.launch.engine, item.release, item.name, item.in_script) == ("vllm", "0.33.0", "llm", False)


def test_places_of_words_in_lists_and_folded_texts() -> None:
    (item,) = read(service("command: >", "  org/m --port 1", "  --max-num-seqs 2"))
    assert places(item)[2:] == [(5, 7), (5, 13), (5, 20), (6, 7), (6, 22)]
    (item,) = read(service("command:", "  - org/m", "  - --port"))
    assert places(item)[2:] == [(5, 9), (6, 9)]


def test_an_entrypoint_takes_the_place_of_the_images_program() -> None:
    (item,) = read(service("entrypoint: [python3, -m, vllm.entrypoints.openai.api_server]", "command: --model org/m"))
    assert texts(item) == ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "org/m"]
    assert read(service("entrypoint: [sleep]", "command: infinity")) == []
    (item,) = read(service('entrypoint: ""', "command: vllm serve org/m"))
    assert texts(item) == ["vllm", "serve", "org/m"]


def test_lines_that_go_on() -> None:
    (item,) = read(service("command: |", "  org/m \\", "    --port 1 \\", "  -tp 2"))
    assert texts(item)[2:] == ["org/m", "--port", "1", "-tp", "2"]
    assert places(item)[3] == (6, 9)


SCRIPTS = [
    ["entrypoint: [/bin/bash, -lc]", "command:", "  - |", "    exec vllm serve org/m \\", "      --port 1"],
    ['entrypoint: ["bash", "-c"]', "command: ['vllm serve org/m --port 1']"],
    ["entrypoint: bash -c 'vllm serve org/m --port 1'"],
    ["entrypoint: []", "command: bash -c 'vllm serve org/m --port 1'"],
    ["entrypoint: [tini, --, sh, -c, vllm serve org/m --port 1]"],
]


@pytest.mark.parametrize("lines", SCRIPTS)
def test_scripts_that_a_shell_runs(lines: list[str]) -> None:
    (item,) = read(service(*lines))
    assert (texts(item), item.in_script) == (["vllm", "serve", "org/m", "--port", "1"], True)


def test_a_scripts_words_have_the_places_of_their_characters() -> None:
    (item,) = read(service(*SCRIPTS[0]))
    assert places(item) == [(7, 14), (7, 19), (7, 25), (8, 11), (8, 18)]
    (item,) = read(service("entrypoint: bash -c \"vllm serve org/m --sc '$${X}'\""))
    assert places(item)[0] == (4, 26)


def test_a_shell_behind_the_program_of_an_image_is_a_mistake_and_read_as_meant() -> None:
    (item,) = read(service("command: bash -c 'vllm serve org/m'"))
    assert texts(item) == ["vllm", "serve", "org/m"]
    assert [one.kind for one in item.mistakes] == [MistakeKind.BEHIND_PROGRAM]


def test_variables_with_defaults_from_env_files_and_unknown() -> None:
    text = service(
        "command: ${MODEL:-org/m} --port ${PORT} -tp ${TP-2} ${EXTRA} --seed=${SEED:-$TP}",
        image="vllm/vllm-openai:${TAG:-v0.26.0}",
    )
    (item,) = read(text)
    assert item.release == "0.26.0"
    known = [word.value for word in item.launch.argv[2:]]
    assert known == ["org/m", "--port", None, "-tp", "2", None, None]
    assert [word.may_be_many for word in item.launch.argv[2:]] == [False, False, True, False, False, True, False]
    assert [word.raw for word in item.launch.argv[-2:]] == ["${EXTRA}", "--seed=${SEED:-$TP}"]
    (item,) = with_files(text, {".env": "TAG=v0.31.0\nPORT=1 # why\nTP=4\nEXTRA=--a --b\n"})
    assert item.release == "0.31.0"
    assert texts(item)[2:] == ["org/m", "--port", "1", "-tp", "4", "--a", "--b", "--seed=4"]


def test_json_in_an_env_file() -> None:
    text = service('command: ["org/m", "-sc", "${SPEC}"]')
    (item,) = with_files(text, {".env": f"SPEC='{JSON}'\n"})
    assert texts(item)[-1] == JSON


def test_json_as_a_default() -> None:
    (item,) = read(service(f"command: [org/m, -sc, '${{SPEC:-{JSON}}}']"))
    assert item.launch.argv[-1].value == JSON


def test_a_secret_is_not_put_into_words() -> None:
    text = service("command: [org/m, --api-key, '${API_KEY}']")
    (item,) = with_files(text, {".env": "API_KEY=abc\n"})
    assert item.launch.argv[-1].value is None


def test_unknown_variables_in_a_script_stay_unknown_in_single_quotes_too() -> None:
    lines = [
        "entrypoint: [bash, -c]",
        "command:",
        "  - |",
        """    vllm serve org/m -sc '{"num_speculative_tokens":${K}}'""",
    ]
    (item,) = read(service(*lines))
    assert item.launch.argv[-1].value is None
    assert item.launch.argv[-1].span is not None
    assert item.launch.argv[-1].span.line == 7
    (item,) = with_files(service(*lines), {".env": "K=3"})
    assert item.launch.argv[-1].value == '{"num_speculative_tokens":3}'


def test_a_doubled_dollar_is_the_shells() -> None:
    (item,) = read(service("entrypoint: [bash, -c]", "command: ['M=org/m; vllm serve $$M']"))
    assert texts(item) == ["vllm", "serve", "org/m"]


def test_environment_in_both_forms_and_from_files() -> None:
    text = service(
        "command: [org/m]", "env_file: [a.env, b.env]", "environment:", "  VLLM_A: '1'", "  VLLM_B:", "  HF_TOKEN: x"
    )
    (item,) = with_files(text, {"a.env": "VLLM_A=0\nVLLM_C=2\n"})
    env = dict(item.launch.env)
    assert [env[name].value for name in ("VLLM_A", "VLLM_B", "VLLM_C", "HF_TOKEN")] == ["1", None, "2", None]
    assert "x" not in env["HF_TOKEN"].raw
    assert [word.text for word in item.env_files] == ["b.env"]
    (item,) = read(service("command: [org/m]", "environment:", "  - VLLM_A=1", "  - VLLM_B"))
    assert [(name, word.value) for name, word in item.launch.env] == [("VLLM_A", "1"), ("VLLM_B", None)]


def test_inline_configs_and_files_beside_it() -> None:
    text = """
        services:
          trt:
            image: nvcr.io/nvidia/tensorrt-llm/release:1.4.0rc1
            command: trtllm-serve m --config /etc/llm.yaml
            configs: [{source: llm, target: /etc/llm.yaml}]
          b:
            image: vllm/vllm-openai:v0.33.0
            command: [m, --config, /cfg/serve.yaml]
            volumes: ["./cfg:/cfg:ro"]
          c:
            image: vllm/vllm-openai:v0.33.0
            command: [m, --config, /x.yaml]
            volumes: [{type: bind, source: ./one.yaml, target: /x.yaml}]
        configs:
          llm:
            content: |
              max_batch_size: 3
    """
    found = with_files(text, {"cfg/serve.yaml": "port: 1\n", "one.yaml": "port: 2\n"})
    assert [item.launch.files for item in found] == [
        (("/etc/llm.yaml", "max_batch_size: 3\n"),),
        (("/cfg/serve.yaml", "port: 1\n"),),
        (("/x.yaml", "port: 2\n"),),
    ]


def test_a_script_beside_it_that_a_shell_runs() -> None:
    text = service("entrypoint: [bash, /opt/run.sh]", "volumes: ['./run.sh:/opt/run.sh']", "environment: {VLLM_A: '1'}")
    (item,) = with_files(text, {"run.sh": "#!/bin/bash\nvllm serve org/m --port 1\n"})
    assert texts(item) == ["vllm", "serve", "org/m", "--port", "1"]
    assert dict(item.launch.env)["VLLM_A"].value == "1"


def test_merges_extension_fields_and_extends() -> None:
    text = """
        x-base: &base
          image: vllm/vllm-openai:v0.33.0
          environment: {VLLM_A: "1"}
        services:
          a:
            <<: *base
            command: [org/a]
          b:
            extends: {service: a}
            command: [org/b]
          c:
            extends: a
    """
    assert [(item.name, texts(item)[-1], item.release) for item in read(text)] == [
        ("a", "org/a", "0.33.0"),
        ("b", "org/b", "0.33.0"),
        ("c", "org/a", "0.33.0"),
    ]


def test_services_without_an_engine_give_nothing() -> None:
    assert read("services:\n  db: {image: postgres:16}\n  x:\n    build: .\n    command: [a]\n") == []
    assert read("services:\n  ui: {image: litellm, command: [--config, c.yaml]}\n  y:\n") == []


def test_odd_values_are_no_crash() -> None:
    text = """
        services:
          a: {image: vllm/vllm-openai:v0.33.0, command: {a: 1}, environment: [[1]], env_file: {}, volumes: [1, {}]}
          b: {image: [1], command: [[a], null, 1], configs: [{}, null], extends: {}}
          c: 3
    """
    assert [item.name for item in read(text)] == ["a"]


BROKEN = ["services:\n  a: {image: x\n", "services:\n  a: &a\n    image: x\n    y: *a\n"]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_files_are_told_with_their_place(text: str) -> None:
    with pytest.raises(InputError) as error:
        read(text)
    assert error.value.where is not None
    assert error.value.where.line


def test_anchors_of_anchors_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(InputError, match="repeat themselves too often"):
        read("\n".join([*lines, "services:", "  a: {image: x, command: *a8}"]))


NOT_COMPOSE = [
    "services:\n  - docker:dind\nimage: x\n",
    "service: {replicas: 2}\nimage: x\n",
    "a: 1\n",
    "services:\n  web:\n    port: 1\n",
    "services:\n  web:\n    port: 1\n    image:\n      repository: x\n",
]


@pytest.mark.parametrize("text", NOT_COMPOSE)
def test_other_yaml_is_not_claimed(text: str) -> None:
    chosen = detected_format("x.yaml", text)
    assert chosen is None or chosen.name != "compose"


def test_detected_by_its_keys() -> None:
    chosen = detected_format("deploy/stack.yml", "name: x\nservices:\n\n  # one\n  llm:\n    image: x\n")
    assert chosen is not None
    assert chosen.name == "compose"


ENV_LINES = {
    "A=1": {"A": "1"},
    "export A = 'x # y' # z": {"A": "x # y"},
    'A="x\\n\\"y\\""': {"A": 'x\n"y"'},
    "A=x#y": {"A": "x#y"},
    "# A=1\nB=": {"B": ""},
    "A=1\nB=${A}2$C": {"A": "1"},
    "A=1\nB=${A}2${C:-3}": {"A": "1", "B": "123"},
    "A='two\nlines'\nB=1": {"A": "two\nlines", "B": "1"},
    "no line\nA: 1": {"A": "1"},
    'A="open': {"A": '"open'},
    'B=2\nA="\\$B$B"': {"B": "2", "A": "$B2"},
    "A=${X:-${Y:-{}}}": {"A": "{}"},
}


@pytest.mark.parametrize("text", ENV_LINES)
def test_env_files(text: str) -> None:
    assert dotenv.variables(text) == ENV_LINES[text]


INTERPOLATED: dict[str, list[str | None]] = {
    "$A": ["1"],
    "${A:-2}": ["1"],
    "${X:-2}": ["2"],
    "${E:-2}${E-2}": ["2", ""],
    "${X:?needed}": [None],
    "${A:+yes}${X:+yes}": ["yes", None],
    "${X:-${Y:-3}}": ["3"],
    '${X:-{"a":{"b":1}}}': ['{"a":{"b":1}}'],
    "$$A $": ["$"],
    "${": [],
    "${A b}$1": [],
}


@pytest.mark.parametrize("text", INTERPOLATED)
def test_interpolation(text: str) -> None:
    values = {"A": "1", "E": ""}
    assert [put.value for put in variables(text, values.get)] == INTERPOLATED[text]


@pytest.mark.parametrize("text", ["${A:-" * 20_000, "${" * 50_000, "$" * 100_000, "${A:-" * 5_000 + "}" * 5_000])
def test_long_texts_take_no_longer_than_their_length(text: str) -> None:
    assert len(list(variables(text, lambda _: None))) < 100_000
    assert len(dotenv.variables(f"A={text}")) < 2


def test_many_unknown_variables() -> None:
    (item,) = read(service(f"command: org/m {'$X ' * 7_000}"))
    assert len(item.launch.argv) == 7_003


def test_merges_of_merges_are_looked_through_once() -> None:
    merged = "".join(f"x-b{n}: &b{n} {{<<: [*b{n - 1}, *b{n - 1}]}}\n" for n in range(1, 12))
    base = "x-b0: &b0 {image: 'vllm/vllm-openai:v0.33.0', command: [org/m]}\n"
    services = "".join(f"  s{n}:\n    <<: *b6\n" for n in range(100))
    found = read_launches("compose.yaml", f"{base}{merged}services:\n{services}  last:\n    <<: *b11\n")
    assert len(found) == 101
    assert {tuple(texts(item)) for item in found} == {("vllm", "serve", "org/m")}
