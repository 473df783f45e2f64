"""Programs that are an engine with options of their own, and scripts that other scripts run."""

from __future__ import annotations

import pytest

from specconf.readers.launches import find_launches
from specconf.readers.registry import ReadLaunch

API_SERVER = "python3 -m vllm.entrypoints.openai.api_server"


def read(script: str) -> list[ReadLaunch]:
    return find_launches(script, "launch.sh")


def told(item: ReadLaunch) -> str:
    return " ".join(word.text for word in item.launch.argv)


STARTED = {
    "python3 -m dynamo.vllm --model m --is-prefill-worker --seed 1": f"{API_SERVER} --model m --seed 1",
    "python3 -m dynamo.vllm --namespace=x --model m": f"{API_SERVER} --model m",
    "python3 -m dynamo.vllm --model m --no-fpm-trace --dyn-tool-call-parser x $MORE": f"{API_SERVER} --model m $MORE",
    "python3 -u -m dynamo.vllm -tp 2 --store-kv file --model m": f"{API_SERVER.replace('3', '3 -u')} -tp 2 --model m",
    "python3 -m dynamo.sglang --model-path m --tp 2 --disagg-config x": "python3 -m sglang.launch_server --model-path m --tp 2",
    "python3 -m dynamo.trtllm --model m --modality text": "trtllm-serve m",
    "python3 -m dynamo.trtllm --model m --trtllm.a.b 2": "trtllm-serve m --trtllm.a.b",
    "python -m huggingfaceserver --model_id=m --model_name x --seed 1": f"{API_SERVER.replace('3', '')} --model=m --seed 1",
}


@pytest.mark.parametrize("script", STARTED)
def test_the_engine_is_told_about_its_own_options(script: str) -> None:
    (item,) = read(script)
    assert told(item) == STARTED[script]


@pytest.mark.parametrize(
    "script", ["python3 -m dynamo.frontend --http-port 1", "python3 -m dynamo.mocker --model-path m"]
)
def test_front_ends_without_an_engine(script: str) -> None:
    assert read(script) == []


def test_words_keep_their_places_and_what_is_written() -> None:
    (item,) = read("python3 -m dynamo.trtllm --model m --tensor-parallel-size 4")
    module, model, option, _ = item.launch.argv
    assert [word.span.column for word in (module, model, option) if word.span] == [12, 34, 36]
    assert (module.raw, option.raw) == ("dynamo.trtllm", "--tensor-parallel-size")


def test_a_script_that_is_written_and_run() -> None:
    for run in ("bash /tmp/run.sh", "chmod +x /tmp/run.sh && /tmp/run.sh", "exec sh -e /tmp/run.sh a b"):
        (item,) = read(
            f"export VLLM_A=1\ncat > /tmp/run.sh <<'EOF'\n#!/bin/bash\nvllm serve m --seed $VLLM_A\nEOF\n{run}\n"
        )
        assert told(item) == "vllm serve m --seed 1"


def test_a_script_that_runs_itself() -> None:
    (item,) = read("cat > run.sh <<'EOF'\nvllm serve m\nbash run.sh\nEOF\nbash run.sh\n")
    assert told(item) == "vllm serve m"


def test_an_option_file_is_no_script() -> None:
    (item,) = read("cat > o.yaml <<'EOF'\nseed: 1\nEOF\nvllm serve m --config o.yaml\n")
    assert item.launch.files == (("o.yaml", "seed: 1\n"),)


def test_what_is_set_before_a_shell_is_known_inside() -> None:
    (item,) = read("TP=4 API_KEY=abc bash -c 'vllm serve m -tp $TP --api-key $API_KEY'")
    assert [word.value for word in item.launch.argv[2:]] == ["m", "-tp", "4", "--api-key", None]
