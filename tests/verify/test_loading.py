"""Loading a launch: what logs of real starts come to, and the road from start to answer with a server that is not vLLM."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.oracle.serving import Serving
from specconf.oracle.worker.meant import is_deliberate, is_deliberate_name
from specconf.verify import loads
from specconf.verify.loading import Ended, classified, excluded, excused, kind_of, load

LOGS = Path(__file__).parent / "logs"
DIED = Ended(healthy=False, answered=False, code=1)


def _log(name: str) -> str:
    return (LOGS / f"{name}.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("log", "verdict", "stage", "exception", "message", "where"),
    [
        (
            "eagle3_on_opt",
            Verdict.CRASHES,
            "load",
            "AttributeError",
            "Target model does not have 'embed_tokens' or 'embedding' attribute",
            "vllm/v1/spec_decode/llm_base_proposer.py:1431",
        ),
        (
            "length_0",
            Verdict.REJECTS,
            "config",
            "ValidationError",
            "num_speculative_tokens Input should be greater than 0",
            "vllm/engine/arg_utils.py:2099",
        ),
        (
            "broken_json",
            Verdict.REJECTS,
            "parse",
            "SystemExit",
            'argument --speculative-config/-sc: Value {"method": cannot be converted to <function loads at 0x7f69cfff54e0>.',
            "",
        ),
    ],
)
def test_logs_of_real_starts(log: str, verdict: Verdict, stage: str, exception: str, message: str, where: str) -> None:
    answer = classified(_log(log), DIED, 40.0)
    assert answer == Answer(verdict, stage, exception, message, where, seconds=40.0)


def test_an_answered_request_passes_every_stage_whatever_the_log_warns_of() -> None:
    answer = classified(_log("eagle3_on_opt"), Ended(healthy=True, answered=True, code=None), 30.0)
    assert answer == Answer(Verdict.ACCEPTS, "request", seconds=30.0)


def test_what_dies_after_it_was_healthy_dies_at_the_request() -> None:
    # The CPU's runner inherits the line at which a pipeline's first stage asks for a drafter: no limit of a CPU.
    answer = classified(_log("ngram_pipeline"), Ended(healthy=True, answered=False, code=None), 30.0)
    assert isinstance(answer, Answer)
    assert (answer.verdict, answer.stage, answer.exception) == (Verdict.CRASHES, "request", "AttributeError")
    assert answer.where.startswith("vllm/v1/worker/gpu_model_runner.py:")


def test_an_assertion_is_meant_with_words_or_without() -> None:
    frame = '  File "/usr/lib/python3.11/site-packages/vllm/model_executor/layers/linear.py", line 7, in load\n    assert x\n'
    log = f"(Worker pid=1) INFO 12-01 01:00:00 [a.py:1] x\nTraceback (most recent call last):\n{frame}"
    bare, said = (classified(log + end, DIED, 1.0) for end in ("AssertionError\n", "AssertionError: sizes differ\n"))
    assert isinstance(bare, Answer)
    assert isinstance(said, Answer)
    assert (bare.verdict, said.verdict) == (Verdict.REJECTS, Verdict.REJECTS)


@pytest.mark.parametrize(
    "error",
    [
        AssertionError(),
        ValueError("x"),
        NotImplementedError("x"),
        RuntimeError("x"),
        ModuleNotFoundError("x"),
        argparse.ArgumentError(None, "x"),
        json.JSONDecodeError("x", "", 0),
        UnicodeDecodeError("utf-8", b"", 0, 1, "x"),
        KeyError("x"),
        TypeError("x"),
        AttributeError("x"),
        OSError("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_exception_is_judged_alike_by_itself_and_by_its_name(error: Exception) -> None:
    """The worker holds the exception, the log of a server has its name alone."""
    judged = is_deliberate(error)
    assert is_deliberate_name(type(error).__name__) is judged
    assert judged is not isinstance(error, LookupError | TypeError | AttributeError | OSError)


def test_what_torch_raises_is_an_accident_at_the_engine_s_own_line() -> None:
    frames = (
        '  File "/e/site-packages/vllm/model_executor/models/llama.py", line 3, in load\n    f()\n'
        '  File "/e/site-packages/torch/nn/functional.py", line 9, in f\n    g()\n'
    )
    answer = classified(f"Traceback (most recent call last):\n{frames}RuntimeError: shapes\n", DIED, 1.0)
    assert isinstance(answer, Answer)
    assert (answer.verdict, answer.where) == (Verdict.CRASHES, "vllm/model_executor/models/llama.py:3")


def test_the_time_limit_is_no_verdict() -> None:
    answer = classified("(EngineCore pid=2) INFO 12-01 01:00:00 [a.py:1] x\n", Ended(False, False, None), 240.0)
    assert answer == Unanswered("no answer within 240 s", "no-answer")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("ImportError: Arctic Inference is required for suffix decoding. Install via `pip install", "missing-package"),
        ("ModuleNotFoundError: No module named 'flashinfer'", "missing-package"),
        ("no tiny weights for models/target: DeepseekV3ForCausalLM", "no-weights"),
    ],
)
def test_limits_of_a_cpu_are_no_verdicts(said: str, name: str) -> None:
    found = excused(said)
    assert found is not None
    assert found.excluded == name


def test_a_module_that_vllm_itself_lacks_is_its_own_fault() -> None:
    assert excused("ModuleNotFoundError: No module named 'vllm.v1.spec_decode.gone'") is None


def test_every_excluded_class_says_why() -> None:
    assert all(each.why and each.name for each in excluded())
    assert len({each.name for each in excluded()}) == len(excluded())


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (loads.LLAMA, "plain"),
        (loads.EAGLE, "eagle"),
        (loads.EAGLE3, "eagle3"),
        (loads.EAGLE3_UNNAMED, "eagle3"),
        (loads.SPECULATORS, "speculators"),
        (loads.MIMO, "plain"),
        (loads.OPT, "plain"),
    ],
)
def test_the_weights_are_of_the_kind_that_the_config_is_of(config: loads.Config, kind: str) -> None:
    assert kind_of(config) == kind


# A server that stands in for vLLM: the model's name says what becomes of it.
FAKE = """
import http.server, json, os, signal, subprocess, sys, time
def wail(*_):
    print("Traceback (most recent call last):")
    print('  File "/e/site-packages/vllm/a.py", line 5, in f')
    print("EngineDeadError: x", flush=True)
    os._exit(1)
signal.signal(signal.SIGTERM, wail)
name, port = sys.argv[2], int(sys.argv[sys.argv.index("--port") + 1])
print(f"(APIServer pid={os.getpid()}) INFO 12-01 01:00:00 [a.py:1] {sorted(os.environ)}", flush=True)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
if name == "refused":
    sys.exit("vllm serve: error: unrecognized arguments: --x")
print("(EngineCore pid=7) INFO 12-01 01:00:00 [core.py:1] begun", flush=True)
if name == "killed":
    os.kill(os.getpid(), 9)
if name == "slow":
    time.sleep(600)

class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self, code, body):
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())
    def do_GET(self):
        if self.path == "/metrics":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'vllm:spec_decode_num_draft_tokens_total{engine="0"} 21.0\\n')
        else:
            self.reply(200, {"data": [{"id": name}]})
    def do_POST(self):
        if name == "mute":
            time.sleep(600)
        if name == "dying":
            print("(EngineCore pid=7) ERROR 12-01 01:00:00 [core.py:1] Traceback (most recent call last):")
            print('(EngineCore pid=7) ERROR 12-01 01:00:00 [core.py:1]   File "/e/site-packages/vllm/a.py", line 5, in f')
            print("(EngineCore pid=7) ERROR 12-01 01:00:00 [core.py:1] KeyError: 'x'", flush=True)
            self.reply(500, {"error": {"message": "EngineDeadError"}})
        else:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.reply(200, {"choices": [{"text": asked["model"]}]})

http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serving:
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{textwrap.dedent(FAKE)}")
    program.chmod(0o755)
    monkeypatch.setattr("specconf.oracle.server.GRACE", 1.0)
    return Serving("vllm", "1.0", tmp_path / "bin" / "python", tmp_path / "kept", "w.whl", "0")


@pytest.mark.parametrize(
    ("name", "verdict", "stage", "exception"),
    [
        ("good", Verdict.ACCEPTS, "request", None),
        ("refused", Verdict.REJECTS, "parse", "SystemExit"),
        ("killed", Verdict.CRASHES, "load", "SystemExit"),
        ("dying", Verdict.CRASHES, "request", "KeyError"),
    ],
)
def test_from_start_to_answer(serving: Serving, name: str, verdict: Verdict, stage: str, exception: str | None) -> None:
    found = load(serving, Question(("vllm", "serve", name)), limit_s=60)
    assert isinstance(found.answer, Answer)
    assert (found.answer.verdict, found.answer.stage, found.answer.exception) == (verdict, stage, exception)
    assert "--port" in found.added
    assert found.log
    assert found.drafted == (21 if name == "good" else None)


@pytest.mark.parametrize(
    "question", [{"files": {"../out.txt": "x"}}, {"models": {"../out": {}}}, {"files": {"a": "\ud800"}}]
)
def test_names_that_lead_out_of_the_folder_are_refused(
    serving: Serving, tmp_path: Path, question: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    found = load(serving, Question(("vllm", "serve", "good"), **question), limit_s=20)
    assert isinstance(found.answer, Unanswered)
    assert "leads out of the request's folder" in found.answer.reason or "cannot be laid out" in found.answer.reason
    assert not list((tmp_path / "scratch").iterdir())


def test_the_time_limit_ends_a_server_that_never_gets_healthy(serving: Serving) -> None:
    began = time.monotonic()
    found = load(serving, Question(("vllm", "serve", "slow")), limit_s=2)
    assert isinstance(found.answer, Unanswered)
    assert found.answer.excluded == "no-answer"
    assert time.monotonic() - began < 30


def test_a_request_without_a_reply_is_no_verdict(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specconf.verify.loading.REQUEST_LIMIT", 1.0)
    found = load(serving, Question(("vllm", "serve", "mute")), limit_s=60)
    assert isinstance(found.answer, Unanswered)
    assert found.answer.excluded == "no-answer"


def test_the_user_s_own_variables_do_not_reach_the_engine(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_PLUGINS", "mine")
    monkeypatch.setenv("HF_TOKEN", "a secret")
    found = load(serving, Question(("vllm", "serve", "good"), env={"VLLM_ASKED": "1"}), limit_s=60)
    variables = next(line for line in found.log if "[a.py:1]" in line)
    assert "VLLM_ASKED" in variables
    assert "HF_TOKEN" not in variables
    assert "VLLM_PLUGINS" not in variables
