"""Scripts in variables, in words, on the standard input, in files that a script writes; values that branches leave."""

from __future__ import annotations

import pytest

from specconf.readers.found import ReadLaunch
from specconf.readers.launches import find_launches


def found(script: str) -> list[ReadLaunch]:
    return find_launches(script, "launch.sh")


def values(item: ReadLaunch) -> list[str | None]:
    return [word.value for word in item.launch.argv]


ONE = "vllm serve m --port 1"
IN_WORDS = [
    f'CMD="{ONE}"\neval "$CMD"',
    f'CMD="{ONE}"\neval $CMD',
    f"CMD='{ONE}'\n$CMD",
    f'eval "{ONE}"',
    f"eval {ONE}",
    f"eval exec {ONE}",
    f'A=({ONE})\neval "${{A[@]}}"',
    f'CMD="{ONE}"\nbash -c "$CMD"',
    f'CMD="{ONE}"\nnohup sh -lc "$CMD > log" &',
    f'set -- {ONE}\nexec "$@"',
    'set -- vllm serve m\nset -- "$@" --port 1\n"$@"',
    f'echo "{ONE}" | bash',
    f'bash <<< "{ONE}"',
    f"bash <<EOF\n{ONE}\nEOF",
    f"bash -s -- x <<'EOF'\n{ONE}\nEOF",
    f"cat <<EOF | bash -s | tee log\n{ONE}\nEOF",
    f"ssh host <<EOF\ncd x\n{ONE}\nEOF",
    f"ssh -T host 'bash -s' <<'EOF'\n{ONE}\nEOF",
    f"sudo bash <<EOF\n{ONE}\nEOF",
    f"docker exec -i c bash <<EOF\n{ONE}\nEOF",
    f"kubectl exec -i p -- bash -s <<EOF\n{ONE}\nEOF",
    f"srun bash <<EOF\n{ONE}\nEOF",
    f"su - user <<EOF\n{ONE}\nEOF",
    f"sbatch -N 1 <<EOF\n#!/bin/bash\n#SBATCH -N 1\n{ONE}\nEOF",
    f"qsub <<EOF\n{ONE}\nEOF",
    f"cat > run.sh <<EOF\n{ONE}\nEOF\n./run.sh",
    f"cat > run.sh <<EOF\n{ONE}\nEOF\n. ./run.sh || source run.sh",
    f"cat > run.sh <<EOF\n{ONE}\nEOF\nsbatch -N 1 run.sh",
    f"cat > run.sh <<EOF\n{ONE}\nEOF",
    f"X=$({ONE})",
    f"X=`{ONE}`",
    f'echo "$({ONE})"',
    f"A=( $({ONE}) )",
    f"cat <({ONE})",
    f"{ONE} > >(tee log)",
    f"cat <<EOF\n$({ONE})\nEOF",
    f"local_run() {{ local x=$({ONE}); }}\nlocal_run",
    f"( cd x && {ONE} ) &",
    f"{{ {ONE}; }} > log",
    f"until {ONE}; do sleep 1; done",
    f"trap '{ONE}' EXIT",
    f'make() {{ CMD="{ONE}"; }}\nmake\n$CMD',
    f'for X in a b; do\n  CMD="{ONE}"\n  eval "$CMD" &\ndone',
]


@pytest.mark.parametrize("script", IN_WORDS)
def test_a_launch_in_a_script_in_words(script: str) -> None:
    (item,) = found(script)
    assert values(item) == ["vllm", "serve", "m", "--port", "1"]
    lines = script.split("\n")
    for word in item.launch.argv:
        assert word.span is not None
        assert lines[word.span.line - 1][word.span.column - 1 : word.span.end_column - 1] == word.value


IN_PART = {
    'CMD="vllm serve $M --port 1"\n$CMD': ["vllm", "serve", None, "--port", "1"],
    'CMD="vllm serve $M --port 1"\neval "$CMD"': ["vllm", "serve", None, "--port", "1"],
    'CMD="vllm serve $M --port 1"\nbash -c "$CMD"': ["vllm", "serve", None, "--port", "1"],
    'eval "vllm serve $M --port 1 $EXTRA"': ["vllm", "serve", None, "--port", "1", None],
    'CMD="vllm serve $M"\nCMD="$CMD --port 1"\nCMD+=" --x"\n$CMD': ["vllm", "serve", None, "--port", "1", "--x"],
    "ssh h <<EOF\nvllm serve $M --port 1\nEOF": ["vllm", "serve", None, "--port", "1"],
    "cat > r.sh <<EOF\nvllm serve $M --port 1\nEOF\nbash r.sh": ["vllm", "serve", None, "--port", "1"],
    'CMD="vllm serve m"\n[ $A ] && CMD="$CMD --x"\nCMD="$CMD --port 1"\n$CMD': [
        "vllm",
        "serve",
        "m",
        None,
        "--port",
        "1",
    ],
    "M=a\nCMD='vllm serve $M'\neval \"$CMD\"": ["vllm", "serve", "a"],
    'A="--port 1 $X"\nvllm serve m $A': ["vllm", "serve", "m", "--port", "1", None],
}


@pytest.mark.parametrize("script", IN_PART)
def test_what_is_not_known_of_a_script_hides_nothing_else(script: str) -> None:
    (item,) = found(script)
    assert values(item) == IN_PART[script]
    assert not any(ord(char) > 0xE000 for word in item.launch.argv for char in word.raw + word.partial)


CHOICES = {
    'case $1 in\n a) set -- vllm serve m ;;\n b) set -- vllm serve n ;;\nesac\nexec "$@"': ["m", "n"],
    "if a; then\n set -- vllm serve m\nelif b; then\n set -- vllm serve n\nelse\n set -- sglang serve --model-path o\nfi\n"
    'exec "$@"': ["m", "n", "o"],
    'if a; then CMD="vllm serve m"; else CMD="vllm serve n"; fi\n$CMD': ["m", "n"],
    'if a; then CMD="vllm serve m"; else CMD="vllm serve n"; fi\neval "$CMD"': ["m", "n"],
    'if a; then CMD="vllm serve m"; else CMD="vllm serve n"; fi\nnohup bash -c "$CMD" &': ["m", "n"],
    'if a; then C=(vllm serve m); else C=(vllm serve n); fi\n"${C[@]}"': ["m", "n"],
    'if a; then set -- vllm serve m; fi\nexec "$@"': ["m"],
    'case $X in a) C="vllm serve m" ;; b) C="vllm serve n" ;; esac\nif y; then C="vllm serve o"; fi\n$C': [
        "m",
        "n",
        "o",
    ],
    'if a; then RUN=nohup; else RUN="numactl -N 0"; fi\n$RUN vllm serve m': ["m"],
}


@pytest.mark.parametrize("script", CHOICES)
def test_each_value_that_branches_leave_is_a_launch(script: str) -> None:
    items = found(script)
    assert [values(item)[-1] for item in items] == CHOICES[script]
    assert len({str(item.launch.span) for item in items}) == len(items)


def test_an_image_that_branches_leave_is_one_for_each_launch() -> None:
    script = (
        "if a; then I=vllm/vllm-openai:v0.31.0; else I=vllm/vllm-openai:v0.30.0; fi\n"
        "docker run $I --model m --max-model-len 5\n"
    )
    assert [item.release for item in found(script)] == ["0.31.0", "0.30.0"]


def test_branches_that_only_add_words_make_one_launch() -> None:
    script = "A=(vllm serve m)\n" + "".join(f"[ ${{X{n}}} ] && A+=(--x{n})\n" for n in range(20)) + '"${A[@]}"'
    (item,) = found(script)
    assert [value for value in values(item) if value is not None] == ["vllm", "serve", "m"]


POD = """apiVersion: v1
kind: Pod
metadata: {name: $NAME}
spec:
  containers:
  - name: main
    image: vllm/vllm-openai:v0.31.0
    args: ["--model", $MODEL, "--port", "1"]
"""
COMPOSE = "services:\n  v:\n    image: vllm/vllm-openai:v0.31.0\n    command: --model $MODEL --port 1\n"
DOCUMENTS = {
    f"kubectl apply -f - <<EOF\n{POD}EOF": 9,
    f"cat <<EOF | kubectl -n x apply -f -\n{POD}EOF": 9,
    f"oc create --filename=- <<'EOF'\n{POD}EOF": 9,
    f"cat > pod.yaml <<EOF\n{POD}EOF\nkubectl apply -f pod.yaml": 9,
    f"tee pod.yaml > /dev/null <<EOF\n{POD}EOF": 9,
    f"docker compose -f - up -d <<EOF\n{COMPOSE}EOF": 5,
    f"cat > docker-compose.yml <<EOF\n{COMPOSE}EOF\ndocker compose up -d": 5,
}


@pytest.mark.parametrize("script", DOCUMENTS)
def test_a_manifest_in_a_script_is_read_with_its_places(script: str) -> None:
    (item,) = found(script)
    assert item.release == "0.31.0"
    named = {word.text: word for word in item.launch.argv}
    span = named["--port"].span
    assert span is not None
    line = script.split("\n")[DOCUMENTS[script] - 1]
    assert (span.line, line[span.column - 1 :].lstrip('"')[:6]) == (DOCUMENTS[script], "--port")


def test_a_program_on_the_standard_input_of_python() -> None:
    (item,) = found("python3 - <<'PY'\nfrom vllm import LLM\nLLM(model='m')\nPY\n")
    assert (item.launch.engine, item.launch.span and item.launch.span.line) == ("vllm", 3)


def test_an_option_file_that_a_launch_names_is_read_once() -> None:
    (item,) = found("cat > o.yaml <<EOF\nmax_batch_size: 3\nEOF\ntrtllm-serve m --config o.yaml\n")
    assert dict(item.launch.files) == {"o.yaml": "max_batch_size: 3\n"}
