"""Launches in shell scripts: which commands are, behind which wrappers, with which environment and files."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specconf.errors import InputError
from specconf.readers.found import ReadLaunch
from specconf.readers.launches import find_launches
from specconf.readers.programs import match_program
from specconf.words import words


def found(script: str) -> list[ReadLaunch]:
    return find_launches(script, "launch.sh")


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


STARTED: dict[str, tuple[str, list[str]]] = {
    "vllm serve org/m": ("vllm", ["vllm", "serve", "org/m"]),
    "/opt/venv/bin/vllm serve org/m": ("vllm", ["/opt/venv/bin/vllm", "serve", "org/m"]),
    "python -m vllm.entrypoints.openai.api_server --model m": (
        "vllm",
        ["python", "-m", "vllm.entrypoints.openai.api_server", "--model", "m"],
    ),
    "python3.11 -u -X dev -m vllm.entrypoints.openai.api_server": (
        "vllm",
        ["python3.11", "-u", "-X", "dev", "-m", "vllm.entrypoints.openai.api_server"],
    ),
    "python3 -m sglang.launch_server --model-path m": (
        "sglang",
        ["python3", "-m", "sglang.launch_server", "--model-path", "m"],
    ),
    "sglang serve --model-path m": ("sglang", ["sglang", "serve", "--model-path", "m"]),
    "trtllm-serve m --config o.yaml": ("tensorrt-llm", ["trtllm-serve", "m", "--config", "o.yaml"]),
    "trtllm-serve serve m": ("tensorrt-llm", ["trtllm-serve", "serve", "m"]),
}


@pytest.mark.parametrize("script", STARTED)
def test_program_shapes(script: str) -> None:
    engine, argv = STARTED[script]
    (item,) = found(script)
    assert (item.launch.engine, texts(item)) == (engine, argv)


WRAPPED = [
    "exec vllm serve m",
    "nohup vllm serve m > log 2>&1 &",
    "time vllm serve m | tee log",
    "env -u X A=1 vllm serve m",
    "sudo -E -u www A=1 vllm serve m",
    "nice -n 5 ionice -c 2 vllm serve m",
    "numactl --membind 0 -N 0 vllm serve m",
    "timeout -k 5 1h vllm serve m",
    "taskset -c 0-7 vllm serve m",
    "setsid stdbuf -o L vllm serve m",
    "srun -N 1 -n 4 --mpi pmix --container-image=x vllm serve m",
    "srun $OPTIONS vllm serve m",
    "mpirun -n 2 --mca btl tcp,self -x A=1 vllm serve m",
    "uv run --with x vllm serve m",
    "exec nohup env A=1 vllm serve m",
]


@pytest.mark.parametrize("script", WRAPPED)
def test_wrappers_are_looked_behind(script: str) -> None:
    (item,) = found(script)
    assert texts(item) == ["vllm", "serve", "m"]


def test_trtllm_under_mpi() -> None:
    (item,) = found("mpirun --allow-run-as-root -np 2 trtllm-llmapi-launch trtllm-serve m")
    assert texts(item) == ["trtllm-serve", "m"]


NOT_LAUNCHES = [
    "# vllm serve m",
    "echo vllm serve m",
    "echo 'vllm serve m'",
    "pgrep -f 'vllm serve'",
    "pkill -f sglang.launch_server",
    "grep -r 'vllm serve' docs",
    "vllm bench serve --model m",
    "vllm --version",
    "vllm",
    "python -m sglang.bench_serving --backend vllm",
    "python -m vllm.entrypoints.llm",
    "python serve.py --module vllm.entrypoints.openai.api_server",
    "llama-server -m m.gguf --spec-type draft",
    "trtllm-serve",
    "trtllm-serve --help",
    "trtllm-serve disaggregated -c c.yaml",
    "trtllm-bench --model m throughput",
    "uv pip install vllm",
    "curl localhost:8000/v1/models",
    "cat <<'EOF' > README\nvllm serve m\nEOF",
    "",
]


@pytest.mark.parametrize("script", NOT_LAUNCHES)
def test_what_only_mentions_an_engine_is_no_launch(script: str) -> None:
    assert found(script) == []


def test_environment_in_force() -> None:
    script = (
        "export VLLM_USE_V1=1 OTHER=2\n"
        "VLLM_LATER=a\nexport VLLM_LATER\n"
        "VLLM_NOT_EXPORTED=1\n"
        'SGLANG_X=2 CUDA_VISIBLE_DEVICES=0,1 env VLLM_B="$Q" PATH=/x vllm serve m\n'
    )
    (item,) = found(script)
    assert [(name, word.value) for name, word in item.launch.env] == [
        ("CUDA_VISIBLE_DEVICES", "0,1"),
        ("OTHER", "2"),
        ("SGLANG_X", "2"),
        ("VLLM_B", None),
        ("VLLM_LATER", "a"),
        ("VLLM_USE_V1", "1"),
    ]
    places = {name: (word.span.line, word.span.column) for name, word in item.launch.env if word.span}
    assert places["VLLM_USE_V1"] == (1, 8)
    assert places["SGLANG_X"] == (5, 1)


def test_set_a_exports_everything() -> None:
    (item,) = found("set -a\nVLLM_A=1\nset +a\nVLLM_B=2\nvllm serve m")
    assert [name for name, _ in item.launch.env] == ["VLLM_A"]


def test_secrets_are_named_but_never_kept() -> None:
    (item,) = found("export HF_TOKEN=hf_abcdef VLLM_API_KEY=topsecret\nvllm serve m")
    assert [(name, word.value) for name, word in item.launch.env] == [("HF_TOKEN", None), ("VLLM_API_KEY", None)]
    assert "hf_abcdef" not in repr(item.launch)
    assert "topsecret" not in repr(item.launch)


HEREDOCS: dict[str, tuple[str, str | None]] = {
    "literal": ("cat > o.yaml <<'EOF'\na: $X\nb: `c`\nEOF\n", "a: $X\nb: `c`\n"),
    "double-quoted mark": ('cat <<"E" > o.yaml\na: $X\nE\n', "a: $X\n"),
    "expanded": ('X=1\ncat > o.yaml <<EOF\na: $X\nb: ${X}\n\\$c: "x"\nEOF\n', 'a: 1\nb: 1\n$c: "x"\n'),
    "unresolved": ("cat > o.yaml <<EOF\na: $X\nEOF\n", None),
    "tabs": ("cat > o.yaml <<-'EOF'\n\ta:\n\t  b: 1\n\tEOF\n", "a:\n  b: 1\n"),
    "in two pieces": ("cat > o.yaml <<'A'\na: 1\nA\ncat >> o.yaml <<'B'\nb: 2\nB\n", "a: 1\nb: 2\n"),
    "overwritten": ("cat > o.yaml <<'A'\na: 1\nA\ncat > o.yaml <<'B'\nb: 2\nB\n", "b: 2\n"),
    "tee": ("sudo tee o.yaml > /dev/null <<'EOF'\na: 1\nEOF\n", "a: 1\n"),
    "name from a variable": ("F=o.yaml\ncat > \"$F\" <<'EOF'\na: 1\nEOF\n", "a: 1\n"),
    "in a function": ("w() { cat > o.yaml <<'EOF'\na: 1\nEOF\n}\nw\n", "a: 1\n"),
    "empty": ("cat > o.yaml <<'EOF'\nEOF\n", ""),
}


@pytest.mark.parametrize("name", HEREDOCS)
@pytest.mark.parametrize("launch", ["trtllm-serve m --config o.yaml", "trtllm-serve m --extra_llm_api_options=o.yaml"])
def test_files_written_by_heredocs(name: str, launch: str) -> None:
    script, text = HEREDOCS[name]
    (item,) = found(script + launch)
    assert item.launch.files == (() if text is None else (("o.yaml", text),))


def test_only_named_files_belong_to_a_launch() -> None:
    (item,) = found("cat > other.yaml <<'EOF'\na: 1\nEOF\nvllm serve m --config o.yaml")
    assert item.launch.files == ()


def test_several_launches_in_order_with_places() -> None:
    first, second = found("#!/bin/bash\nvllm serve a &\n\nA=1 SGLANG_X=1 \\\n  sglang serve --model-path b\n")
    assert (first.launch.engine, second.launch.engine) == ("vllm", "sglang")
    assert str(first.launch.span) == "launch.sh:2:1"
    assert str(second.launch.span) == "launch.sh:4:1"


CUT = {
    "a comment between continued lines": "vllm serve m \\\n  # --x 1 \\\n  --spec-method ngram",
    "a missing backslash": "vllm serve m \\\n  --port 1\n  --spec-method ngram",
}


@pytest.mark.parametrize("name", CUT)
def test_options_cut_off_are_shown_as_orphans(name: str) -> None:
    (item,) = found(CUT[name])
    assert "--spec-method" not in texts(item)
    assert [word.value for word in item.orphans] == ["--spec-method", "ngram"]
    assert item.orphans[0].span is not None


def test_a_blank_after_the_backslash_is_a_word_and_cuts() -> None:
    (item,) = found("vllm serve m \\ \n  --port 1\n")
    assert texts(item) == ["vllm", "serve", "m", " "]
    assert [word.value for word in item.orphans] == ["--port", "1"]


ENV_FILES = {
    "docker run --env-file x.env vllm/vllm-openai:v0.33.0 --model m": ["x.env"],
    "docker run --env-file=x.env --env-file y.env i vllm serve m": ["x.env", "y.env"],
    "source ./common.env\n. more.sh\nvllm serve m": ["./common.env", "more.sh"],
    "source venv/bin/activate\nvllm serve m": [],
    "source common.env\ndocker run i vllm serve m": [],
    "vllm serve m\nsource later.env": [],
    "source common.env\nbash -c 'vllm serve m'": ["common.env"],
}


@pytest.mark.parametrize("script", ENV_FILES)
def test_files_that_may_set_variables_are_named(script: str) -> None:
    (item,) = found(script)
    assert [word.value for word in item.env_files] == ENV_FILES[script]


BROKEN = {
    "unclosed quote": "vllm serve m --x 'a\n",
    "unclosed double quote": 'vllm serve m --x="a $(b) \n--port 1\n',
    "unclosed expansion": "vllm serve m ${A\n",
    "unclosed array": "A=(a\nvllm serve m\n",
    "broken elsewhere, nothing found": "if true; then\n  echo 'vllm serve m'\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_syntax_is_an_error_with_its_place(name: str) -> None:
    with pytest.raises(InputError) as caught:
        found(BROKEN[name])
    assert caught.value.where is not None
    assert caught.value.where.line >= 1


def test_broken_syntax_without_any_mention_is_no_matter_of_ours() -> None:
    assert found("if true; then\n  echo a\n") == []


def test_shifts_in_a_default_hide_nothing() -> None:
    (item,) = found('export A="${A:-$((32 << 30))}"\nif x; then\n  vllm serve m --port $((1 << 3))\nfi\n')
    assert [word.value for word in item.launch.argv] == ["vllm", "serve", "m", "--port", None]


def test_broken_syntax_beside_an_intact_launch_is_passed_over() -> None:
    (item,) = found("vllm serve m --port 1\n\nfor x in ; do ) done\n")
    assert texts(item) == ["vllm", "serve", "m", "--port", "1"]


STUMBLES = {
    'vllm serve m "${V:-{\\"n\\":1}}" --port 1': ["vllm", "serve", "m", None, "--port", "1"],
    "vllm serve m `# a comment` \\\n  --port 1": ["vllm", "serve", "m", None, "--port", "1"],
}


@pytest.mark.parametrize("script", STUMBLES)
def test_what_the_parser_stumbles_over_inside_a_word_is_unresolved(script: str) -> None:
    (item,) = found(script)
    assert [word.value for word in item.launch.argv] == STUMBLES[script]


@pytest.mark.parametrize(
    "script", ["(" * 20_000, "vllm serve " + "$(" * 20_000, "vllm serve " + "{a,b}" * 30, "vllm serve " + "{a," * 5000]
)
def test_hostile_scripts_end_soon(script: str) -> None:
    with contextlib.suppress(InputError):
        found(script)


PIECES = [
    "vllm serve m ",
    "A=1 ",
    "A=(",
    "A+=(x) ",
    ")",
    "(",
    "{ ",
    "}",
    "$A",
    '"${A[@]}"',
    "'",
    '"',
    "\\",
    "\n",
    "#",
    "`",
]
PIECES += [
    "if x; then ",
    "fi",
    "for A in 1; do ",
    "done",
    "f() ",
    "cat > o <<E\n",
    "E\n",
    "| ",
    "&& ",
    "; ",
    "bash -c ",
    "docker run ",
]
PIECES += [
    "export ",
    "unset A",
    "{a,b}",
    "$((1))",
    "<(x)",
    "> y ",
    "case $A in ",
    "a) ;; ",
    "esac",
    "é",
    "\t",
    "set -a",
    "env ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14))
@settings(max_examples=400, deadline=None)
def test_any_script_is_read_or_refused(pieces: list[str]) -> None:
    with contextlib.suppress(InputError):
        for item in found("".join(pieces)):
            assert all(word.value is not None or word.raw for word in item.launch.argv)


def test_a_launch_from_a_preset_function() -> None:
    script = (
        "MODEL=org/m\n"
        "serve() {\n"
        "  local spec=(--speculative-algorithm EAGLE3\n"
        "              --speculative-num-steps 3)\n"
        '  sglang serve --model-path "$MODEL" "${spec[@]}" "$@"\n'
        "}\n"
        'case "$1" in a) serve --tp-size 2 ;; *) exit 2 ;; esac\n'
    )
    (item,) = found(script)
    assert [word.value for word in item.launch.argv] == [
        *["sglang", "serve", "--model-path", "org/m"],
        *["--speculative-algorithm", "EAGLE3", "--speculative-num-steps", "3", "--tp-size", "2"],
    ]


def test_a_function_that_is_called_twice_makes_two_launches() -> None:
    script = 'f() { vllm serve "$1" --port "${2:-8000}" "${@:3}"; }\nf org/a 1\nf org/b\n'
    first, second = found(script)
    assert [word.value for word in first.launch.argv[:5]] == ["vllm", "serve", "org/a", "--port", "1"]
    assert [word.value for word in second.launch.argv[:5]] == ["vllm", "serve", "org/b", "--port", "8000"]
    assert second.launch.argv[5].may_be_many  # "${@:3}" is not worked out


def test_functions_that_call_each_other_end() -> None:
    script = "a() { b; }\nb() { a; vllm serve m; }\na\n"
    assert len(found(script)) == 1


def test_the_image_of_a_wrapper_states_the_release() -> None:
    script = 'I=lmsysorg/sglang:v0.5.23\nsrun --container-image="docker://$I" sglang serve --model-path m\n'
    (item,) = found(script)
    assert item.release == "0.5.23"
    (item,) = found("apptainer exec --nv docker://vllm/vllm-openai:v0.33.0 vllm serve m\n")
    assert (item.release, item.launch.argv[0].value) == ("0.33.0", "vllm")


def test_a_command_in_a_running_container_is_a_launch() -> None:
    for command in ("docker exec -it c", "docker compose exec -T web", "kubectl exec -it pod -c main --"):
        (item,) = found(f"{command} vllm serve m\n")
        assert [word.value for word in item.launch.argv] == ["vllm", "serve", "m"]


def test_json_built_from_variables() -> None:
    script = 'N=3\nD=org/draft\nSPEC="{\\"model\\":\\"$D\\",\\"num_speculative_tokens\\":${N}}"\nexec vllm serve m -sc "$SPEC"'
    (item,) = found(script)
    assert item.launch.argv[-1].value == '{"model":"org/draft","num_speculative_tokens":3}'


def test_match_length_counts_the_programs_words() -> None:
    match = match_program(words("python3", "-u", "-m", "sglang.launch_server", "--port", "1"))
    assert match is not None
    assert match.length == 4
    bare = match_program(words("trtllm-serve", "m"))
    assert bare is not None
    assert bare.length == 1


@pytest.mark.parametrize(
    "script",
    [
        "SGLANG_X=1 bash -c 'python -m sglang.launch_server --model-path m'",
        "export SGLANG_X=1\nbash -c 'python -m sglang.launch_server --model-path m'",
        "env SGLANG_X=1 sh -c 'python -m sglang.launch_server --model-path m'",
        "docker run -e SGLANG_X=1 lmsysorg/sglang:v0.5.9 bash -c 'python3 -m sglang.launch_server --model-path m'",
        "SGLANG_X=0 bash -c 'SGLANG_X=1 python -m sglang.launch_server --model-path m'",
    ],
)
def test_the_environment_of_a_shell_is_that_of_its_script(script: str) -> None:
    (item,) = found(script)
    assert [(name, word.value) for name, word in item.launch.env] == [("SGLANG_X", "1")]
