"""Python launchers: what starts an engine, with which words, at which places, and what of it is not known."""

from __future__ import annotations

import ast
import json
import time

import pytest

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine
from specconf.errors import InputError
from specconf.readers.found import ReadLaunch
from specconf.readers.pytext import constant, joined_parts
from specconf.readers.registry import detected_format, read_launches
from specconf.readers.source import SourceText
from specconf.readers.stated import Firmness


def found(text: str) -> list[ReadLaunch]:
    return read_launches("run.py", text)


def texts(item: ReadLaunch) -> list[str | None]:
    return [word.value for word in item.launch.argv]


def placed(item: ReadLaunch) -> dict[str, str]:
    """The place of each known word."""
    return {w.value: f"{w.span.line}:{w.span.column}" for w in item.launch.argv if w.value is not None and w.span}


SERVE = ["vllm", "serve", "org/m"]
ENGINES = {
    "keywords": (
        "from vllm import LLM\nLLM(model='org/m', tensor_parallel_size=2, enforce_eager=True, dtype=None)\n",
        [*SERVE, "--tensor-parallel-size", "2", "--enforce-eager"],
    ),
    "positional, module": ("import vllm\nvllm.LLM('org/m', max_model_len=4096)\n", [*SERVE, "--max-model-len", "4096"]),
    "another name": ("from vllm import LLM as Engine\nEngine('org/m', seed=-1)\n", [*SERVE, "--seed", "-1"]),
    "options unpacked": (
        "import vllm\nkw = dict(seed=1)\nkw['max_num_seqs'] = 2\nkw.update(seed=3)\nvllm.LLM('org/m', **kw)\n",
        [*SERVE, "--seed", "3", "--max-num-seqs", "2"],
    ),
    "options unpacked, not known": (
        "import vllm\ndef f(kw):\n    return vllm.LLM('org/m', seed=1, **kw)\n",
        [*SERVE, "--seed", "1", None],
    ),
    "arguments of an engine": (
        "from vllm.engine.arg_utils import AsyncEngineArgs as A\nA(model='org/m', served_model_name=['a', 'b'])\n",
        [*SERVE, "--served-model-name", "a", "b"],
    ),
    "false says something only where true may be": (
        "import vllm\nvllm.LLM('org/m', enforce_eager=False, enable_prefix_caching=False)\n",
        [*SERVE, "--no-enable-prefix-caching"],
    ),
    "an argument that is not known": ("import vllm\ndef f(a):\n    vllm.LLM('org/m', seed=a.x)\n", [*SERVE, None]),
    "a constant": (
        "from vllm import LLM\nK = 2 * 3 + 1\nSPEC = {'method': 'ngram', 'num_speculative_tokens': K}\n"
        "LLM('org/m', speculative_config=SPEC)\n",
        [*SERVE, "--speculative-config", '{"method": "ngram", "num_speculative_tokens": 7}'],
    ),
    "a mapping with more": (
        "from vllm import LLM\nBASE = {'method': 'ngram'}\nLLM('org/m', speculative_config={**BASE, 'method': 'mtp'})\n",
        [*SERVE, "--speculative-config", '{"method": "mtp"}'],
    ),
    "a class as a mapping": (
        "from vllm import LLM\nfrom vllm.config import CompilationConfig\n"
        "LLM('org/m', compilation_config=CompilationConfig(level=3))\n",
        [*SERVE, "--compilation-config", '{"level": 3}'],
    ),
    "sglang": (
        "import sglang as sgl\nsgl.Engine(model_path='org/m', tp_size=2, disable_cuda_graph=True, enable_metrics=False)\n",
        ["python", "-m", "sglang.launch_server", "--model-path", "org/m", "--tp-size", "2", "--disable-cuda-graph"],
    ),
    "sglang's arguments": (
        "from sglang.srt.server_args import ServerArgs\nServerArgs(model_path='org/m')\n",
        ["python", "-m", "sglang.launch_server", "--model-path", "org/m"],
    ),
}


@pytest.mark.parametrize("name", ENGINES)
def test_engines_made_in_the_program(name: str) -> None:
    text, expected = ENGINES[name]
    (item,) = found(text)
    assert texts(item) == expected
    assert not item.in_script


TRTLLM = """\
from tensorrt_llm import LLM
from tensorrt_llm.llmapi import Eagle3DecodingConfig, KvCacheConfig

def main(args):
    spec = Eagle3DecodingConfig(
        max_draft_len=3,
        no_key=True,
    )
    LLM(model="org/m", speculative_config=spec,
        kv_cache_config=KvCacheConfig(enable_block_reuse=False, host_cache_size=args.size))
"""


def test_tensorrt_llm_is_an_option_file_with_places() -> None:
    (item,) = found(TRTLLM)
    assert texts(item) == ["trtllm-serve", "org/m", "--extra_llm_api_options", "llm_options.yaml", None]
    ((name, text),) = item.launch.files
    assert name == "llm_options.yaml"
    assert json.loads(text) == {
        "speculative_config": {"decoding_type": "Eagle3", "max_draft_len": 3, "no_key": True},
        "kv_cache_config": {"enable_block_reuse": False},
    }
    settings = get_engine("tensorrt-llm").resolve(item.launch, load_database("tensorrt-llm").at("1.3.0rc14"))
    assert settings.may_hold_more
    length = settings.setting("speculative_config.max_draft_len")
    assert length is not None
    assert str(length.final.where) == "run.py:6:23"


@pytest.mark.parametrize(
    ("kind", "word"), [("MTP", "MTP"), ("NGram", "NGram"), ("Eagle", "Eagle"), ("DraftTarget", "Draft_Target")]
)
def test_the_class_says_the_way_of_drafting(kind: str, word: str) -> None:
    (item,) = found(
        f"from tensorrt_llm import LLM\nLLM('m', speculative_config={kind}DecodingConfig(max_draft_len=1))\n"
    )
    assert json.loads(item.launch.files[0][1])["speculative_config"] == {"decoding_type": word, "max_draft_len": 1}


def test_a_key_in_a_mapping_is_told_at_its_line() -> None:
    text = "from vllm import LLM\nLLM('m',\n  speculative_config={\n    'method': 'ngram',\n    'no_key': 1,\n  })\n"
    (item,) = found(text)
    settings = get_engine("vllm").resolve(item.launch, load_database("vllm").at("0.33.0"))
    key = settings.setting("speculative_config.no_key")
    assert key is not None
    assert str(key.final.where) == "run.py:5:6"


PROCESSES = {
    "a list": ("subprocess.run(['vllm', 'serve', 'org/m'], check=True)", SERVE),
    "another name": ("run = ['vllm', 'serve', 'org/m']\nsubprocess.Popen(args=run)", SERVE),
    "grown": ("c = ['vllm', 'serve']\nc.append('org/m')\nc.extend(['--seed', str(1)])\nc += ['--port', '2']\nrun(c)",
              [*SERVE, "--seed", "1", "--port", "2"]),
    "two lists": ("run(['vllm', 'serve'] + ['org/m'])", SERVE),
    "unpacked": ("tail = ['org/m']\nrun(['vllm', 'serve', *tail])", SERVE),
    "perhaps more": ("run(['vllm', 'serve', 'org/m', *sys.argv[1:]])", [*SERVE, None]),
    "json.dumps": ("run(['vllm', 'serve', 'org/m', '-sc', json.dumps({'method': 'mtp'})])",
                   [*SERVE, "-sc", '{"method": "mtp"}']),
    "json.dumps of what is not known": ("run(['vllm', 'serve', 'org/m', '-sc', json.dumps({'method': f()})])",
                                        [*SERVE, "-sc", None]),
    "f-strings": ("K = 3\nrun(['vllm', 'serve', 'org/m', f'--spec-tokens={K}', f'--port={p}'])",
                  [*SERVE, "--spec-tokens=3", None]),
    "shlex.split": ("subprocess.run(shlex.split('vllm serve \"org/m\"'))", SERVE),
    "split": ("run('vllm serve org/m'.split())", SERVE),
    "a shell": ("os.system('vllm serve org/m')", SERVE),
    "shell=True": ("subprocess.run('vllm serve org/m --seed 1', shell=True)", [*SERVE, "--seed", "1"]),
    "joined": ("c = ['vllm', 'serve', 'org/m']\nsubprocess.Popen(' '.join(c), shell=True)", SERVE),
    "shlex.join": ("c = ['vllm', 'serve', 'org/m', '-sc', '{\"a\": 1}']\nos.system(shlex.join(c))",
                   [*SERVE, "-sc", '{"a": 1}']),
    "bash -c": ("subprocess.run(['bash', '-c', 'cd /x && exec vllm serve org/m'])", SERVE),
    "asyncio": ("asyncio.create_subprocess_exec('vllm', 'serve', 'org/m')", SERVE),
    "exec": ("os.execvp('vllm', ['vllm', 'serve', 'org/m'])", SERVE),
    "a function that builds": (
        "def cmd(m):\n    c = ['vllm', 'serve']\n    c.append(m)\n    return c\nrun(cmd('org/m'))",
        SERVE,
    ),
    "a function that starts": ("def go(m, k=1):\n    run(['vllm', 'serve', m, '--seed', str(k)])\ngo('org/m', k=2)",
                               [*SERVE, "--seed", "2"]),
    "a function that nobody calls": ("def go():\n    return ['vllm', 'serve', 'org/m']", SERVE),
    "an argument that is not known": ("def go(m):\n    run(['vllm', 'serve', m])", ["vllm", "serve", None]),
    "the main guard": ("def main():\n    run(['vllm', 'serve', 'org/m'])\nif __name__ == '__main__':\n    main()", SERVE),
    "a class's constant": ("class A:\n    M = 'org/m'\n    def f(self):\n        run(['vllm', 'serve', self.M])", SERVE),
    "under a condition": ("c = ['vllm', 'serve', 'org/m']\nif x:\n    c += ['--seed', '1']\nrun(c)", [*SERVE, None]),
    "in a loop": ("c = ['vllm', 'serve', 'org/m']\nfor a in b:\n    c.append(a)\nrun(c)", [*SERVE, None]),
    "changed in a loop": ("m = 'a'\nfor m in b:\n    run(['vllm', 'serve', m])", ["vllm", "serve", None]),
    "python -m": ("run([sys.executable, '-m', 'vllm.entrypoints.openai.api_server', '--model', 'org/m'])",
                  ["python", "-m", "vllm.entrypoints.openai.api_server", "--model", "org/m"]),
    "an interpreter that is not known": (
        "run([PY, '-m', 'vllm.entrypoints.openai.api_server', '--model', 'org/m'])",
        ["python", "-m", "vllm.entrypoints.openai.api_server", "--model", "org/m"],
    ),
    "asked of a cloud": (
        "requests.post(url, json={'imageName': 'vllm/vllm-openai:v0.33.0', 'dockerStartCmd': ['org/m', '--seed', '1']})",
        [*SERVE, "--seed", "1"],
    ),
    "asked of a cloud, a text": (
        "pod(image_name='vllm/vllm-openai:v0.33.0', docker_args='org/m --seed 1', env={'VLLM_A': '1'})",
        [*SERVE, "--seed", "1"],
    ),
    "an image": ("client.containers.run('vllm/vllm-openai:v0.33.0', command=['org/m'])", SERVE),
}  # fmt: skip


@pytest.mark.parametrize("name", PROCESSES)
def test_commands_that_a_program_starts(name: str) -> None:
    text, expected = PROCESSES[name]
    (item,) = found(f"import asyncio, json, os, shlex, subprocess, sys\n{text}\n")
    assert texts(item) == expected


NOTHING = {
    "shown": "print(['vllm', 'serve', 'm'])",
    "a benchmark": "subprocess.run(['vllm', 'bench', 'serve', '--model', 'm'])",
    "a pattern": "subprocess.run(['pkill', '-f', 'vllm serve'])",
    "another class": "class LLM: ...\nLLM(model='vllm', use='serve')",
    "an unnamed library": "from langchain import LLM\nLLM(model='vllm')  # not serve",
    "options of a parser": "from vllm import EngineArgs\nEngineArgs(**vars(serve))",
    "a text": "HELP = 'start it with vllm serve m'",
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_starts_no_engine(name: str) -> None:
    assert found(f"import subprocess\n{NOTHING[name]}\n") == []


def test_environment() -> None:
    text = (
        "import os, subprocess\nos.environ['VLLM_A'] = '1'\nos.environ.update(VLLM_B='2', HF_TOKEN='s')\n"
        "subprocess.run(['vllm', 'serve', 'm'], env={**os.environ, 'VLLM_C': str(n)})\n"
    )
    (item,) = found(text)
    assert [(name, word.value) for name, word in item.launch.env] == [
        ("HF_TOKEN", None),
        ("VLLM_A", "1"),
        ("VLLM_B", "2"),
        ("VLLM_C", None),
    ]


def test_places_of_words() -> None:
    text = 'import os, subprocess\nM = "ü/m"\nsubprocess.run(["vllm", "serve", M,\n    "--port", "1"])\n'
    (item,) = found(text)
    assert placed(item) == {"vllm": "3:17", "serve": "3:25", "ü/m": "2:5", "--port": "4:5", "1": "4:15"}
    text = 'import os\nos.system(f"""\nexec vllm serve {M} \\\\\n   --seed 1\n""")\n'
    (item,) = found(text)
    assert placed(item) == {"vllm": "3:6", "serve": "3:11", "--seed": "4:4", "1": "4:11"}


def test_what_is_not_known_in_single_quotes_of_a_shell() -> None:
    text = 'import os\ndef f(k):\n    os.system(f"vllm serve m -sc \'{{\\"n\\": {k}}}\' --port {k}")\n'
    (item,) = found(text)
    assert texts(item) == ["vllm", "serve", "m", "-sc", None, "--port", None]


FILES = {
    "write_text": "Path('o.yaml').write_text('a: 1\\n')",
    "write": "with open('o.yaml', 'w') as f:\n    f.write('a: ')\n    f.write('1\\n')",
    "dump": "with open('o.yaml', 'w') as f:\n    yaml.safe_dump({'a': 1}, f)",
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_the_program_writes(name: str) -> None:
    start = "import subprocess, yaml\nfrom pathlib import Path\n"
    (item,) = found(f"{start}{FILES[name]}\nsubprocess.run(['trtllm-serve', 'm', '--config', 'o.yaml'])\n")
    assert item.launch.files[0][1].strip() in ("a: 1", '{"a": 1}')
    assert item.launch.place_in("o.yaml", _At(0), _At(1)).path == "run.py"


class _At:
    def __init__(self, index: int) -> None:
        self.index, self.line, self.column = index, 0, index


START = "import subprocess\nsubprocess.run(['vllm', 'serve', 'm'])\n"
STATED = {
    "inline metadata": ('# /// script\n# dependencies = [\n#   "vllm[audio]==0.33.0",\n# ]\n# ///\n', "0.33.0", "exact", 3),
    "a range": ('# /// script\n# dependencies = ["vllm>=0.30, <0.33"]\n# ///\n', ">=0.30,<0.33", "range", 2),
    "a pin": ("image = modal.Image.debian_slim().pip_install('torch', 'vllm==0.33.0+cu128')\n", "0.33.0", "exact", 1),
    "a pin in a command": ("image.run_commands('uv pip install vllm==0.33.0 --system')\n", "0.33.0", "exact", 1),
    "a pin with a constant": ("V = '0.33.0'\nimage.pip_install(f'vllm=={V}')\n", "0.33.0", "exact", 2),
    "an image": ("image = modal.Image.from_registry('vllm/vllm-openai:v0.33.0')\n", "0.33.0", "exact", 1),
    "a moving image": ("image = modal.Image.from_registry('vllm/vllm-openai:latest')\n", "latest", "floating", 1),
    "another engine's": ("image.pip_install('sglang==0.5.23', 'vllm-flash-attn==2.0')\n", None, "", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", STATED)
def test_releases_that_a_program_states(name: str) -> None:
    text, release, firmness, line = STATED[name]
    (item,) = found(text + START)
    if release is None:
        assert item.stated == ()
        return
    first = item.stated[0]
    assert (first.text, str(first.firmness)) == (release, firmness)
    assert first.where is not None
    assert first.where.line == line


def test_the_nearest_pin_comes_first() -> None:
    text = "a = ['vllm==0.30.0']\n" + "x = 1\n" * 20 + "b = ['vllm==0.33.0']\n" + START
    assert [one.text for one in found(text)[0].stated] == ["0.33.0", "0.30.0"]


def test_requirements_beside_the_program() -> None:
    beside = {
        "requirements.txt": "torch\n# vllm==0.1.0\nvllm==0.33.0  # pinned\n",
        "pyproject.toml": 'dependencies = ["vllm>=0.30"]\n',
    }
    (item,) = read_launches("app/run.py", START, around=beside.get)
    assert [(one.text, one.firmness, str(one.where)) for one in item.stated] == [
        ("0.33.0", Firmness.EXACT, "app/requirements.txt:3:1"),
        (">=0.30", Firmness.RANGE, "app/pyproject.toml:1:18"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "is_one"),
    [
        ("run.py", START, True),
        ("run", "#!/usr/bin/env python3\n" + START, True),
        ("test_run.py", START, False),
        ("run.py", "import json\n", False),
        ("client.py", "from openai import OpenAI  # asks a vllm\n", False),
    ],
)
def test_detected(path: str, text: str, is_one: bool) -> None:
    chosen = detected_format(path, text)
    assert (chosen is not None and chosen.name == "python") is is_one


WRONG = {
    "syntax": ("vllm serve\n", 1),
    "tabs": ("if x:\n\ty = 1\n        z = 'vllm serve'\n", 3),
    "deep": ("vllm.LLM(" * 2000, 1),
    "deeper": ("x = " + "-" * 100_000 + "1  # vllm serve\n", 1),
}


@pytest.mark.parametrize("name", WRONG)
def test_broken_programs_are_errors_with_their_place(name: str) -> None:
    text, line = WRONG[name]
    with pytest.raises(InputError) as caught:
        found(text + "# vllm serve\n")
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_a_function_that_calls_itself_ends() -> None:
    text = "def f(n):\n    run(['vllm', 'serve', 'm'])\n    f(n)\n    g(n)\ndef g(n):\n    f(n)\n    f(n)\nf(1)\n"
    assert len(found(text)) == 1


DOUBLED = {
    "lists": "a = ['vllm', 'serve']\n" + "a = [*a, *a]\n" * 40 + "run(a)",
    "sums": "a = ['vllm', 'serve']\n" + "a = a + a\n" * 40 + "run(a)",
    "texts": "a = 'vllm serve '\n" + "a = f'{a}{a}'\n" * 40 + "run(a)",
    "mappings": "a = {'vllm': f}\n" + "a = {'serve': a, 'b': a}\n" * 40 + "tensorrt_llm.LLM(model='m', x=a)",
    "known mappings": "a = {'vllm': 1}\n" + "a = {'serve': a, 'b': a}\n" * 40 + "vllm.LLM('m', x=a)",
    "numbers": "a = 12345  # vllm serve\n" + "a = a * a\n" * 60 + "vllm.LLM('m', seed=a)",
    "calls": "def f(n):\n    g(n)\n    g(n)\ndef g(n):\n    h(n)\n    h(n)\n"
    + "def h(n):\n    f(vllm.LLM(n))\n"
    + "f(1)\n" * 300,
}


@pytest.mark.parametrize("name", DOUBLED)
def test_what_doubles_with_each_line_ends(name: str) -> None:
    started = time.monotonic()
    found(f"import vllm, tensorrt_llm\n{DOUBLED[name]}\n")
    assert time.monotonic() - started < 10


LITERALS = [
    "'a'",
    "'''a\nb'''",
    r"'a\n\x41\u00e9\N{BULLET}'",
    r"r'a\n'",
    "'a' 'b'",
    "('a'\n  # more\n  'b')",
    "'ü' 'x'",
    "'a\\\nb'",
]


@pytest.mark.parametrize("literal", LITERALS)
def test_literals_are_followed(literal: str) -> None:
    source = SourceText(f"x = {literal}\n", "x.py")
    node = ast.parse(source.text).body[0]
    assert isinstance(node, ast.Assign)
    assert isinstance(node.value, ast.Constant)
    value = node.value.value
    assert isinstance(value, str)
    text = constant(source, node.value, value)
    for char, at in zip(text.text, text.at, strict=True):
        assert source.text[at] in (char, "\\")


def test_the_parts_of_an_f_string() -> None:
    source = SourceText("x = f'a{b!r:>{w}}{{c}}' f\"{d['e}']}\" 'f'\n", "x.py")
    node = ast.parse(source.text).body[0]
    assert isinstance(node, ast.Assign)
    assert isinstance(node.value, ast.JoinedStr)
    parts = joined_parts(source, node.value)
    assert [(part.text, part.at[0]) for part in parts] == [
        ("a", 6), (None, 7), ("{", 17), ("c", 19), ("}", 20), (None, 26), ("f", 38),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from vllm import LLM\nLLM(model='m', tensor_parallel=2)\n", "--tensor-parallel"),
        ("import sglang as sgl\nsgl.Engine(model_path='m', speculative_algo='NGRAM')\n", "--speculative-algo"),
    ],
)
def test_the_beginning_of_a_parameters_name_is_not_the_parameter(text: str, name: str) -> None:
    (item,) = found(text)
    engine = item.launch.engine
    database = load_database(engine)
    settings = get_engine(engine).resolve(item.launch, database.at(database.line.newest_final))
    assert [problem.spelling for problem in settings.problems] == [name]


SAID = (
    "Result(ready=True, message='trtllm-serve orchestrator healthy')",
    "raise RuntimeError('trtllm-serve worker wait aborted')",
    "report(f'trtllm-serve worker {url} did not become healthy')",
    "run(help='vllm serve --model m starts it')",
    "step('vllm serve is started first')",
)


@pytest.mark.parametrize("line", SAID)
def test_a_text_that_speaks_of_a_program_is_no_command(line: str) -> None:
    assert read_launches("a.py", f"import vllm\n{line}\n") == []


def test_a_text_with_options_that_a_call_is_given_is_a_command() -> None:
    (item,) = read_launches("a.py", "remote.run('cd /x; vllm serve org/m --seed 1')\n")
    assert [word.text for word in item.launch.argv] == ["vllm", "serve", "org/m", "--seed", "1"]
