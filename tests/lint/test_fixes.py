"""What `lint --fix` writes: each kind of fix at each kind of place, and nothing else in the file."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from specconf.lint.edits import Edit
from specconf.lint.fixes import changes_for
from specconf.lint.fixing import applied, overlap
from specconf.lint.site import Site
from specconf.words import Span
from tests.lint.boxes import fixed, judged, linter

SERVE = "vllm serve a/b"
CONFIG = '{"model":"c/d","num_speculative_tokens":5}'

SHELL_SAFE = [
    pytest.param(
        f"{SERVE} --speculative-model c/d --num-speculative-tokens 5\n",
        f"{SERVE} --speculative-config '{CONFIG}'\n",
        id="separate flags on one line",
    ),
    pytest.param(
        f"{SERVE} \\\n  --num-speculative-tokens=5 \\\n\t--port 1 \\\n  --speculative-model c/d",
        f"{SERVE} \\\n  --speculative-config='{CONFIG}' \\\n\t--port 1",
        id="separate flags on continued lines, no newline at the end",
    ),
    pytest.param(
        f"{SERVE} --speculative-model='[ngram]' --num-speculative-tokens 5 --ngram-prompt-lookup-max 4\n",
        f'{SERVE} --speculative-config=\'{{"method":"ngram","num_speculative_tokens":5,"prompt_lookup_max":4}}\'\n',
        id="n-gram, whose method was written as a model",
    ),
    pytest.param(
        f"{SERVE} --speculative_model c/d --num_speculative_tokens 5 > log 2>&1 &\n",
        f"{SERVE} --speculative-config '{CONFIG}' > log 2>&1 &\n",
        id="with underscores, before a redirect",
    ),
    pytest.param(
        f'ARGS=(\n  --speculative-model c/d  # draft\n  --num-speculative-tokens 5\n)\n{SERVE} "${{ARGS[@]}}"\n',
        f"ARGS=(\n  --speculative-config '{CONFIG}'  # draft\n)\n{SERVE} \"${{ARGS[@]}}\"\n",
        id="in an array",
    ),
    pytest.param(
        f'{SERVE} --speculative-model "$D" --num-speculative-tokens ${{K:-5}}\n',
        f'{SERVE} --speculative-config \'{{"model":"\'"$D"\'","num_speculative_tokens":\'"${{K:-5}}"\'}}\'\n',
        id="values that are not known",
    ),
    pytest.param(
        f"D=c/d\n{SERVE} --speculative-model $D --num-speculative-tokens 5\n",
        f'D=c/d\n{SERVE} --speculative-config \'{{"model":"\'"$D"\'","num_speculative_tokens":5}}\'\n',
        id="a value from a variable",
    ),
    pytest.param(
        f"{SERVE} --num-speculative-tokens=$K --speculative-model=c/d\n",
        f"{SERVE} --spec-tokens=$K --spec-model=c/d\n",
        id="a value that is not known, behind =",
    ),
    pytest.param(
        f"bash -c '{SERVE} --speculative-model c/d --num-speculative-tokens 5'\n",
        f'bash -c \'{SERVE} --speculative-config "{{\\"model\\":\\"c/d\\",\\"num_speculative_tokens\\":5}}"\'\n',
        id="in a script in single quotes",
    ),
    pytest.param(
        f'bash -c "{SERVE} --speculative-model c/d --num-speculative-tokens 5"\n',
        f'bash -c "{SERVE} --speculative-config \'{{\\"model\\":\\"c/d\\",\\"num_speculative_tokens\\":5}}\'"\n',
        id="in a script in double quotes",
    ),
    pytest.param(
        "sglang serve --model-path a/b --cuda-graph-max-bs 8\n",
        "sglang serve --model-path a/b --cuda-graph-max-bs-decode 8\n",
        id="renamed flag",
    ),
    pytest.param(
        "sglang serve --model-path a/b --speculative-algorithm EAGLE --speculative-draft-model-path c/d "
        "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens=3\n",
        "sglang serve --model-path a/b --speculative-algorithm EAGLE --speculative-draft-model-path c/d "
        "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens=4\n",
        id="steps and one",
    ),
    pytest.param(
        f'{SERVE} --speculative-config {{"method":"mtp","num_speculative_tokens":1}}\n',
        f'{SERVE} --speculative-config \'{{"method":"mtp","num_speculative_tokens":1}}\'\n',
        id="JSON without quotes, split at its comma",
    ),
    pytest.param(
        f'{SERVE} --speculative-config {{"method": "mtp", "num_speculative_tokens": 1}} --port 1\n',
        f'{SERVE} --speculative-config \'{{"method": "mtp", "num_speculative_tokens": 1}}\' --port 1\n',
        id="JSON without quotes, split at its spaces",
    ),
    pytest.param(
        f'{SERVE} --speculative-config="{{"method":"mtp","num_speculative_tokens":1}}"\n',
        f'{SERVE} --speculative-config=\'{{"method":"mtp","num_speculative_tokens":1}}\'\n',
        id="JSON in double quotes, which take its own",
    ),
    pytest.param(
        f"{SERVE} --speculative-config \"{{'method':'mtp','num_speculative_tokens':1}}\"\n",
        f'{SERVE} --speculative-config \'{{"method":"mtp","num_speculative_tokens":1}}\'\n',
        id="Python in place of JSON",
    ),
    pytest.param(
        f'K=3\n{SERVE} --speculative-config \'{{"method":"mtp","num_speculative_tokens":$K}}\'\n',
        f'K=3\n{SERVE} --speculative-config \'{{"method":"mtp","num_speculative_tokens":\'"$K"\'}}\'\n',
        id="a variable in single quotes",
    ),
]


@pytest.mark.parametrize(("before", "after"), SHELL_SAFE)
def test_safe_fixes_of_scripts(before: str, after: str) -> None:
    found = fixed(before)
    assert found.text == after
    assert found.fixed
    assert fixed(after).text == after


@pytest.mark.parametrize(("before", "after"), SHELL_SAFE)
def test_line_ends_of_windows_and_a_mark_at_the_beginning_are_kept(before: str, after: str) -> None:
    """A shell makes little of such a file; a fix leaves no line with another end all the same."""
    head = "\ufeff#!/bin/bash é\r\n"
    text = fixed(head + before.replace("\n", "\r\n")).text
    assert text.startswith(head)
    assert text.count("\n") == text.count("\r\n") == text.count("\r")
    assert text.endswith("\r\n") == after.endswith("\n")


@pytest.mark.parametrize(
    ("image", "after"),
    [
        ("vllm/vllm-openai:0.33.0", "vllm/vllm-openai:v0.33.0"),
        ("'docker.io/vllm/vllm-openai:0.33.0-cu130'", "'docker.io/vllm/vllm-openai:v0.33.0-cu130'"),
        ("vllm/vllm-openai:v0.33.0", ""),
        ("mirror.example.com/vllm/vllm-openai:0.33.0", ""),
        ("vllm/vllm-openai-cpu:0.33.0", ""),
        ("${IMAGE:-vllm/vllm-openai:0.33.0}", ""),
    ],
)
def test_a_tag_gets_the_letter_that_published_ones_have(image: str, after: str) -> None:
    text = f"docker run --gpus all {image} --model a/b --port 1\n"
    found = fixed(text)
    assert found.text == text.replace(image, after or image)
    assert [f.code for f in found.fixed] == ["SC702"] * bool(after)


LEFT_ALONE = [
    pytest.param(f'{SERVE} --speculative-config \'{{"model":"$D"}}\'\n', id="a variable that nothing sets"),
    pytest.param(f"{SERVE} --flibbertigibbet 3\n", id="an option that is none: not safe"),
    pytest.param(f"{SERVE} --port 1\n  --dtype half\n", id="cut off: not safe"),
]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_is_not_sure_is_left_alone(text: str) -> None:
    assert fixed(text).text == text


UNSAFE = [
    pytest.param(
        f"{SERVE} \\\n  --port 1\n  --dtype auto\n",
        f"{SERVE} \\\n  --port 1 \\\n  --dtype auto\n",
        id="a lost backslash",
    ),
    pytest.param(
        f"echo\nexec {SERVE} \\\n  --port 1 \\\n  # why\n  --dtype auto\n",
        f"echo\n# why\nexec {SERVE} \\\n  --port 1 \\\n  --dtype auto\n",
        id="a comment between continued lines",
    ),
    pytest.param(
        f"{SERVE} --flibbertigibbet 3 --port 1\n",
        f"{SERVE} --port 1\n",
        id="an option that is refused goes with its value",
    ),
    pytest.param(
        f'A=(\n  --flibbertigibbet 3\n  --port 1  # p\n)\n{SERVE} "${{A[@]}}"\n',
        f'A=(\n  --port 1  # p\n)\n{SERVE} "${{A[@]}}"\n',
        id="its line goes where it is all of it",
    ),
    pytest.param(
        f'{SERVE} --speculative-config=\'{{"method": "mtp", "num_speculative_tokens": 1, "disable_by_batch_size": 4}}\'\n',
        f'{SERVE} --speculative-config=\'{{"method": "mtp", "num_speculative_tokens": 1}}\'\n',
        id="a key that is refused",
    ),
    pytest.param(f"{SERVE} --dtype halff\n", f"{SERVE} --dtype half\n", id="the choice that comes close"),
]


@pytest.mark.parametrize(("before", "after"), UNSAFE)
def test_unsafe_fixes_are_made_when_asked_for(before: str, after: str) -> None:
    assert fixed(before).text == before
    assert fixed(before, unsafe=True).text == after


IN_YAML = [
    pytest.param(
        "args:\n- vllm\n- serve\n- a/b\n- --speculative-model\n- c/d # draft\n- --num-speculative-tokens=5\n- --port\n- '1'\n",
        f"args:\n- vllm\n- serve\n- a/b\n- --speculative-config\n- '{CONFIG}' # draft\n- --port\n- '1'\n",
        id="items",
    ),
    pytest.param(
        'args: ["vllm", "serve", "a/b", "--speculative-model", "c/d", "--num-speculative-tokens", "5"]',
        'args: ["vllm", "serve", "a/b", "--speculative-config", '
        '"{\\"model\\":\\"c/d\\",\\"num_speculative_tokens\\":5}"]',
        id="JSON list",
    ),
    pytest.param(
        "args: [vllm, serve, a/b, --num-speculative-tokens=5, --speculative-model=c/d, --port, '1']\n",
        f"args: [vllm, serve, a/b, '--speculative-config={CONFIG}', --port, '1']\n",
        id="flow list",
    ),
    pytest.param(
        "script: |\n  é=1\n  vllm serve a/b \\\n    --speculative-model c/d \\\n    --num-speculative-tokens 5\nafter: 1\n",
        f"script: |\n  é=1\n  vllm serve a/b \\\n    --speculative-config '{CONFIG}'\nafter: 1\n",
        id="script in a block",
    ),
    pytest.param(
        'script: "vllm serve a/b --speculative-model c/d --num-speculative-tokens 5"\n',
        'script: "vllm serve a/b --speculative-config \'{\\"model\\":\\"c/d\\",\\"num_speculative_tokens\\":5}\'"\n',
        id="script in double quotes",
    ),
    pytest.param(
        "script: 'vllm serve a/b --speculative-model c/d --num-speculative-tokens 5'\n",
        f"script: 'vllm serve a/b --speculative-config ''{CONFIG}'''\n",
        id="script in single quotes",
    ),
    pytest.param(
        "line: >-\n  vllm serve a/b\n  --speculative-model c/d\n  --num-speculative-tokens 5\n  --port 1\n",
        f"line: >-\n  vllm serve a/b\n  --speculative-config '{CONFIG}'\n  --port 1\n",
        id="folded line without a shell",
    ),
    pytest.param(
        f"args:\n- vllm\n- serve\n- a/b\n- --speculative-config\n- '''{CONFIG}'''\n",
        f"args:\n- vllm\n- serve\n- a/b\n- --speculative-config\n- '{CONFIG}'\n",
        id="quotes that no shell takes off",
    ),
    pytest.param(
        f"args:\n- vllm\n- serve\n- a/b\n- --speculative-config='{CONFIG}'\n",
        f"args:\n- vllm\n- serve\n- a/b\n- '--speculative-config={CONFIG}'\n",
        id="quotes that no shell takes off, behind =",
    ),
    pytest.param(
        "args:\n- sglang\n- serve\n- --model-path=a/b\n- \"--cuda-graph-max-bs\"\n- '8'\n",
        "args:\n- sglang\n- serve\n- --model-path=a/b\n- \"--cuda-graph-max-bs-decode\"\n- '8'\n",
        id="renamed flag in its quotes",
    ),
]


IN_ONE_WORD = "args:\n- vllm\n- serve\n- a/b\n- --max-num-seqs 64\n- --no-such-thing 5\n"


@pytest.mark.usefixtures("boxes")
def test_a_flag_and_its_value_in_one_item_are_never_removed() -> None:
    """No shell parts them: known ones become one word that the parser takes, the others are left for their writer."""
    expected = IN_ONE_WORD.replace("--max-num-seqs 64", "--max-num-seqs=64")
    assert fixed(IN_ONE_WORD, "x.box.yaml").text == expected
    left = fixed(IN_ONE_WORD, "x.box.yaml", unsafe=True)
    assert left.text == expected
    (finding,) = left.result.all_findings
    assert "flag and value stand in one word" in finding.message


CHAIN = {
    "speculative_algorithm": "EAGLE",
    "speculative_draft_model_path": "c/d",
    "speculative_num_steps": 3,
    "speculative_eagle_topk": 1,
}


def test_a_number_in_code_stays_a_number() -> None:
    given = ", ".join(f"{name}={value!r}" for name, value in CHAIN.items())
    text = f"import sglang as sgl\nsgl.Engine(model_path='a/b', {given}, speculative_num_draft_tokens=6)\n"
    assert fixed(text, "run.py").text == text.replace("=6)", "=4)")


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize(("before", "after"), IN_YAML)
def test_safe_fixes_in_yaml(before: str, after: str) -> None:
    assert fixed(before, "x.box.yaml").text == after


@pytest.mark.usefixtures("boxes")
def test_items_keep_their_line_ends() -> None:
    text = "args:\r\n- vllm\r\n- serve\r\n- a/b\r\n- --speculative-model=c/d\r\n- --num-speculative-tokens=5\r\n"
    expected = f"args:\r\n- vllm\r\n- serve\r\n- a/b\r\n- '--speculative-config={CONFIG}'\r\n"
    assert fixed(text, "x.box.yaml").text == expected


def test_a_fix_that_brings_a_new_finding_is_dropped() -> None:
    """vLLM 0.12.0 has no draft models: what it says of the joined flags is worse than that they are unknown."""
    text = f"{SERVE} --speculative-model meta-llama/Llama-3.2-1B-Instruct --num-speculative-tokens 5\n"
    assert fixed(text, judge=linter(vllm="0.12.0")).text == text


def test_a_build_of_somebodys_own_keeps_its_options() -> None:
    result = judged(f"{SERVE} --speculative-model c/d --num-speculative-tokens 5\n")
    [launch] = result.launches
    known = Site(launch, result.path, result.text)
    own = Site(replace(launch, chosen=replace(launch.chosen, fork=True)), result.path, result.text)
    assert all(list(changes_for(known, finding, unsafe=True)) for finding in launch.findings)
    assert not any(list(changes_for(own, finding, unsafe=True)) for finding in launch.findings)


def test_a_shared_word_is_fixed_once_and_only_where_it_is_right_for_all() -> None:
    shared = (
        'A=(--cuda-graph-max-bs 8)\nsglang serve --model-path a/b "${A[@]}"\nsglang serve --model-path c/d "${A[@]}"\n'
    )
    assert fixed(shared).text == shared.replace("-bs 8", "-bs-decode 8")


def test_edits_are_applied_by_place_and_touch_nothing_else() -> None:
    text = "a\r\n\tbcd"
    edits = [_edit(4, 5, "XY"), _edit(0, 1, ""), _edit(6, 6, "!")]
    assert applied(text, edits) == "\r\n\tXYc!d"
    assert overlap([_edit(1, 3, "")], [_edit(3, 4, "")])
    assert not overlap([_edit(1, 3, "")], [_edit(4, 4, "x")])


def _edit(start: int, end: int, text: str) -> Edit:
    return Edit("f", start, end, Span("f", 1, 1), text)
