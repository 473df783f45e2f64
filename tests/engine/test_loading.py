"""vLLM really started on a CPU with tiny weights; skipped where no serving environment was built."""

from __future__ import annotations

import json
import struct
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from specconf.engines.vllm.oracle import serving
from specconf.oracle.asking import Answer, Unanswered, Verdict
from specconf.oracle.environment import cache_root
from specconf.oracle.serving import Serving
from specconf.verify import loads
from specconf.verify.loading import kind_of, load

pytestmark = pytest.mark.engine

LIMIT = 900.0  # seconds; half a minute on an idle machine of two cores


@pytest.fixture(scope="module")
def environment() -> Serving:
    folders = sorted(cache_root().glob("vllm-*-serving"), reverse=True)
    for folder in folders:
        found = serving.find(folder.name.removeprefix("vllm-").removesuffix("-serving"))
        if found is not None:
            return found
    pytest.skip(
        "no serving environment of vLLM where SPECCONF_ENGINE_CACHE points (build it: python -m "
        "specconf.engines.vllm.oracle.serving 0.32.0)"
    )


def _answer(environment: Serving, name: str) -> Answer:
    question = {each.origin: each.question for each in loads.methods()}[name]
    answer = load(environment, question, limit_s=LIMIT).answer
    if isinstance(answer, Unanswered) and answer.excluded == "no-answer":
        pytest.skip(f"this machine is too slow or too busy: {answer.reason}")
    assert isinstance(answer, Answer), answer
    return answer


def test_an_eagle3_head_is_served_on_llama(environment: Serving) -> None:
    answer = _answer(environment, "load eagle3, reduced vocabulary")
    assert (answer.verdict, answer.stage) == (Verdict.ACCEPTS, "request")


def test_an_eagle3_head_on_opt_dies_at_load(environment: Serving) -> None:
    answer = _answer(environment, "load eagle3 on OPT")
    assert (answer.verdict, answer.stage) == (Verdict.CRASHES, "load")
    assert answer.where.startswith("vllm/")


def _tensors(file: Path) -> dict[str, list[int]]:
    """Names and shapes, from the header that a safetensors file begins with."""
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    return {name: said["shape"] for name, said in header.items() if name != "__metadata__"}


def _write(environment: Serving, into: Path) -> dict[str, str]:
    configs = {"llama": loads.LLAMA, "eagle3": loads.EAGLE3_REDUCED, "odd": {"architectures": ["NoSuchModel"]}}
    asked = {name: {"config": dict(config), "kind": kind_of(config)} for name, config in configs.items()}
    script = files("specconf.engines.vllm.oracle").joinpath("checkpoints.py")
    done = subprocess.run(
        [str(environment.python), str(script), str(into)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    unknown: dict[str, str] = json.loads(done.stdout)["unknown"]
    return unknown


def test_checkpoints_have_the_tensors_of_their_architecture_and_are_the_same_each_time(
    environment: Serving, tmp_path: Path
) -> None:
    assert _write(environment, tmp_path / "a") == {"odd": "NoSuchModel"}
    _write(environment, tmp_path / "b")
    llama, head = (_tensors(tmp_path / "a" / name / "model.safetensors") for name in ("llama", "eagle3"))
    assert llama["model.layers.7.self_attn.q_proj.weight"] == [128, 64]
    assert llama["lm_head.weight"] == [1024, 64]
    assert (head["fc.weight"], head["d2t"], head["t2d"], head["lm_head.weight"]) == (
        [64, 192],
        [768],
        [1024],
        [768, 64],
    )
    for name in ("llama", "eagle3"):
        first, second = ((tmp_path / run / name / "model.safetensors").read_bytes() for run in "ab")
        assert first == second
    assert (tmp_path / "a" / "llama" / "tokenizer.json").exists()
    assert not (tmp_path / "a" / "eagle3" / "tokenizer.json").exists()
