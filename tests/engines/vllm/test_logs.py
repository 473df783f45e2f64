"""Reading vLLM's log: whose traceback counts."""

from __future__ import annotations

import pytest

from specconf.engines.vllm.oracle import logs

RECORD = "({process} pid=1) ERROR 12-01 01:54:14 [x.py:1] {line}"
RAW = "({process} pid=1) {line}"


def _traceback(process: str, exception: str, *, form: str = RECORD, file: str = "vllm/a.py") -> str:
    lines = (
        "Traceback (most recent call last):",
        f'  File "/e/site-packages/{file}", line 3, in f',
        "    g()",
        exception,
    )
    return "\n".join(form.format(process=process, line=line) for line in lines) + "\n"


def test_the_innermost_process_counts_wherever_it_stands_in_the_log() -> None:
    text = _traceback("APIServer", "RuntimeError: see above") + _traceback("EngineCore", "Exception: worker failed")
    text += _traceback("Worker_TP1", "KeyError: 'x'")
    raised = logs.root(text)
    assert raised is not None
    assert (raised.process, raised.exception, raised.message) == ("Worker_TP1", "KeyError", "'x'")


def test_lines_of_two_processes_in_turn_are_told_apart() -> None:
    one = _traceback("EngineCore", "KeyError: 'x'", form=RAW).splitlines()
    other = _traceback("APIServer", "ValueError: y", form=RAW).splitlines()
    mixed = "\n".join(line for pair in zip(one, other, strict=True) for line in pair)
    assert [each.exception for each in logs.tracebacks(mixed)] == ["KeyError", "ValueError"]


def test_of_a_chain_the_last_one_counts_and_of_two_chains_the_first() -> None:
    chain = "\nThe above exception was the direct cause of the following exception:\n\n"
    first = _traceback("", "KeyError: 'x'", form="{line}")
    text = first + chain + _traceback("", "ValueError: no x", form="{line}") + "\n" + first
    assert [each.exception for each in logs.tracebacks(text)] == ["ValueError", "KeyError"]
    raised = logs.root(text)
    assert raised is not None
    assert raised.message == "no x"


def test_a_name_keeps_its_last_part() -> None:
    raised = logs.root(_traceback("Worker", "torch.cuda.OutOfMemoryError: all of it"))
    assert raised is not None
    assert raised.exception == "OutOfMemoryError"


@pytest.mark.parametrize(
    ("files", "code", "where", "meant"),
    [
        (("/usr/lib/python3.11/a.py:1", "/e/site-packages/vllm/b.py:2"), "raise ValueError(", "vllm/b.py:2", True),
        (("/e/site-packages/vllm/b.py:2",), "assert x == y, z", "vllm/b.py:2", True),
        (("/e/site-packages/vllm/b.py:2",), "torch.ops._C.rms_norm(x)", "vllm/b.py:2", False),
        (
            ("/e/site-packages/vllm/b.py:2", "/usr/lib/python3.11/json.py:4"),
            "raise JSONDecodeError(",
            "vllm/b.py:2",
            True,
        ),
        (("/e/site-packages/vllm/b.py:2", "/e/site-packages/pydantic/c.py:3"), "check(x)", "vllm/b.py:2", True),
        (
            ("/e/site-packages/vllm/b.py:2", "/e/site-packages/torch/c.py:3"),
            "raise RuntimeError(",
            "vllm/b.py:2",
            False,
        ),
        (("/e/site-packages/torch/c.py:3",), "raise RuntimeError(", "c.py:3", False),
        ((), "", "", False),
    ],
)
def test_whose_line_and_whose_statement_it_is(files: tuple[str, ...], code: str, where: str, meant: bool) -> None:
    raised = logs.Raised("", "E", "", files, code)
    assert (raised.where, raised.meant) == (where, meant)


def test_an_engine_that_was_begun_is_seen_by_its_process() -> None:
    assert not logs.engine_started("(APIServer pid=1) INFO 12-01 01:54:14 [x.py:1] EngineCore pid=2\n")
    assert logs.engine_started("(EngineCore_DP0 pid=1) INFO 12-01 01:54:14 [x.py:1] begun\n")


def test_a_log_without_traceback_or_usage_says_nothing() -> None:
    text = "(APIServer pid=1) INFO 12-01 01:54:14 [x.py:1] well\n"
    assert logs.root(text) is None
    assert logs.usage_error(text) is None
