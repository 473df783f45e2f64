"""What a failed step is told as."""

from __future__ import annotations

import sys

import pytest

from specconf.oracle.steps import Cause, Done, StepError, Steps, cause_of, without_addresses
from tests.oracle.packages import Recorder

PIP_REFUSED = (
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(': Failed to establish a new "
    "connection: [Errno 111] Connection refused')': /simple/vllm/\n"
    "ERROR: Could not find a version that satisfies the requirement vllm==0.33.0 (from versions: none)\n"
    "ERROR: No matching distribution found for vllm==0.33.0\n"
)
PIP_SKIPPED = (
    "Could not fetch URL http://localhost:9/simple/vllm/: connection error: HTTPConnectionPool(host='localhost', port=9): "
    "Max retries exceeded with url: /simple/vllm/ - skipping\n"
    "ERROR: Could not find a version that satisfies the requirement vllm==0.33.0 (from versions: 0.1+local)\n"
    "ERROR: No matching distribution found for vllm==0.33.0\n"
)
PIP_NOT_ON_THIS_INDEX = (
    "Could not fetch URL https://own.example/simple/vllm/: 404 Client Error: Not Found for url: x - skipping\n"
    "ERROR: Could not find a version that satisfies the requirement vllm==99 (from versions: 0.33.0)\n"
    "ERROR: No matching distribution found for vllm==99\n"
)
UV_REFUSED = (
    "error: Request failed after 3 retries in 4.8s\n  cause: Failed to fetch: http://localhost:9/simple/requests/\n"
    "  cause: tcp connect error\n  cause: Connection refused (os error 111)\n"
)
PIP_NO_SUCH = (
    "WARNING: Retrying (Retry(total=4)) after connection broken by 'ReadTimeoutError(\"timed out\")'\n"
    "ERROR: Could not find a version that satisfies the requirement vllm==99 (from versions: 0.32.0, 0.33.0)\n"
    "ERROR: No matching distribution found for vllm==99\n"
)
UV_NO_SUCH = (
    "error: No solution found when resolving dependencies\n"
    "  cause: Because there is no version of torch==2.99.0 and you require torch==2.99.0\n"
)


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        (PIP_REFUSED, Cause.UNREACHABLE),
        (PIP_SKIPPED, Cause.UNREACHABLE),
        (PIP_NOT_ON_THIS_INDEX, Cause.NO_MATCH),
        (UV_REFUSED, Cause.UNREACHABLE),
        ("error: HTTP error 401 while getting https://index.example/simple/", Cause.UNREACHABLE),
        (PIP_NO_SUCH, Cause.NO_MATCH),
        (UV_NO_SUCH, Cause.NO_MATCH),
        ("OSError: [Errno 28] No space left on device", Cause.DISK_FULL),
        ("error: failed to write\n  cause: os error 28", Cause.DISK_FULL),
        ("The virtual environment was not created because ensurepip is not available.", Cause.NO_PIP),
        ("ModuleNotFoundError: No module named 'setuptools'", Cause.OTHER),
    ],
)
def test_the_cause_is_read_from_the_messages(output: str, cause: Cause) -> None:
    assert cause_of(output) is cause


@pytest.mark.parametrize(
    ("output", "says", "advises"),
    [
        (PIP_REFUSED, "the package index cannot be reached", "PIP_INDEX_URL"),
        (UV_REFUSED, "Connection refused (os error 111)", "UV_DEFAULT_INDEX"),
        ("No space left on device", "no space is left on the disk", "SPECCONF_ENGINE_CACHE"),
        ("ensurepip is not available", "comes without pip", "python3-venv"),
        ("one\nthe reason\n", "exit status 1", "the reason"),
    ],
)
def test_a_failed_step_says_what_to_do(output: str, says: str, advises: str) -> None:
    steps = Steps(runner=Recorder({"pip": Done(1, output)}), environ={})
    with pytest.raises(StepError) as caught:
        steps.run("installing requests", ["pip", "install"])
    assert caught.value.message.startswith("installing requests failed")
    assert says in caught.value.message
    assert advises in (caught.value.hint or "")


def test_a_real_program_is_run_and_its_output_kept() -> None:
    assert Steps().run("python", [sys.executable, "-c", "print(6 * 7)"]) == "42\n"
    with pytest.raises(StepError, match="exit status 3"):
        Steps().run("python", [sys.executable, "-c", "raise SystemExit(3)"])


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(StepError, match="cannot be started: no such file"):
        Steps().run("uv", ["/no/such/program"])


def test_variables_that_lead_elsewhere_are_not_passed_on() -> None:
    runner = Recorder()
    Steps(runner=runner, environ={"PYTHONPATH": ".", "PIP_TARGET": "x", "HOME": "h"}).run("pip", ["pip"], {"A": "1"})
    assert runner.environs == [{"HOME": "h", "A": "1"}]


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({}, "https://user:tresor@index.example/simple/x"),
        (
            {"PIP_INDEX_URL": "https://user:tresor@index.example/simple"},
            "GET https://user:tresor@index.example/simple/x",
        ),
        ({"UV_INDEX": "own=https://index.example/tresor/simple/"}, "GET https://index.example/tresor/simple/x failed"),
        ({"PIP_EXTRA_INDEX_URL": "https://a.example/x https://u:p@b.example/tresor"}, "at https://b.example/tresor/x"),
    ],
)
def test_no_message_holds_what_an_address_carries(environ: dict[str, str], text: str) -> None:
    shown = without_addresses(text, environ)
    assert "tresor" not in shown
    assert ".example" in shown


def test_an_error_holds_no_password() -> None:
    environ = {"PIP_INDEX_URL": "https://user:tresor@index.example/simple"}
    output = "Failed to fetch: https://user:tresor@index.example/simple/torch/\n"
    with pytest.raises(StepError) as caught:
        Steps(runner=Recorder({"pip": Done(1, output)}), environ=environ).run("pip", ["pip"])
    assert "index.example" in str(caught.value)
    assert "tresor" not in str(caught.value) + caught.value.output
