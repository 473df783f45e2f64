"""Starts an engine for real with tiny random weights, until it has answered one request: what the config stage cannot see.

The launch is the question's own; only an address, and what a CPU needs where the launch says nothing, are added to it.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec import Struct

from specconf.engines.vllm.oracle import logs, serve
from specconf.errors import OracleError
from specconf.models import Source, SourceKind, model_facts
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.oracle.excluded import Excluded, read_excluded
from specconf.oracle.isolated import isolated
from specconf.oracle.server import Server, ended_in_order
from specconf.oracle.serving import Serving
from specconf.oracle.worker.laying import inside, write_below
from specconf.oracle.worker.meant import is_deliberate_name
from specconf.oracle.worker.protocol import HarnessError
from specconf.words import JsonValue

PACKAGE = "specconf.engines.vllm.oracle"
MESSAGE_LIMIT = 300
TAIL_LINES = 400  # a worker's traceback is followed by those of the engine and the server
# Repeats itself, so that methods that look words up find some to propose.
PROMPT = "one two three one two three one two three one two"
# Greedy text of random weights runs into a loop after some words, where looking words up begins to find something.
TOKENS = 64
REQUEST_LIMIT = 90.0  # seconds, of which a tiny model needs a few
DRAFTED = re.compile(r"^vllm:spec_decode_num_draft_tokens_total(?:\{[^}]*\})? (?P<count>[\d.e+]+)$", re.MULTILINE)


class LoadAnswer(Struct, frozen=True):
    """What a release did with a launch, `answer.stage` being how far it came: `parse`, `config`, `load` or `request`.

    `added`: the words that the launch was started with beside its own; `peak_mb`: resident memory of all its processes;
    `drafted`: the tokens that were drafted for the request by the engine's own count, so that 0 shows nothing about verifying.
    """

    answer: Answer | Unanswered
    added: tuple[str, ...]
    log: tuple[str, ...]
    seconds: float
    peak_mb: int | None = None
    drafted: int | None = None


class Ended(Struct, frozen=True):
    """How a start went: whether it was healthy, whether a request was answered, and else what was said instead.

    `code` is the program's exit status; None: it still ran. `silent`: the request got no reply within its time.
    """

    healthy: bool
    answered: bool
    code: int | None
    said: str = ""
    silent: bool = False
    drafted: int | None = None


def load(environment: Serving, question: Question, *, limit_s: float = 300.0) -> LoadAnswer:
    """Start the launch in a serving environment and put one request to it. Whatever happens, nothing keeps running."""
    began = time.monotonic()
    port = _free_port()
    command = serve.command(question.argv, environment.python, port)
    with tempfile.TemporaryDirectory(prefix="specconf-load-") as scratch:
        folder = Path(scratch)
        try:
            unknown = lay_out(environment, question, folder)
        except HarnessError as error:
            return LoadAnswer(_unanswered(str(error)), command.added, (), _since(began))
        if unknown:
            said = "; ".join(f"{name}: {why}" for name, why in unknown.items())
            return LoadAnswer(_unanswered(f"no tiny weights for {said}"), command.added, (), _since(began))
        env = isolated(environment.kept) | serve.ENV | dict(question.env) | {"TMPDIR": scratch}
        with ended_in_order(), Server(command.words, folder=folder, env=env, log=folder / "server.log") as server:
            ended = _until_answered(server, f"http://{serve.HOST}:{port}", began + limit_s)
            text = server.text()  # before it is stopped: what its processes say of that is no answer
    text = text.replace(scratch, ".").replace(str(environment.python.parent.parent), "ENVIRONMENT")
    seconds = _since(began)
    tail = tuple(text.splitlines()[-TAIL_LINES:])
    answer = classified(text, ended, seconds)
    return LoadAnswer(answer, command.added, tail, seconds, server.peak_mb, ended.drafted)


def _since(began: float) -> float:
    return round(time.monotonic() - began, 1)


def lay_out(environment: Serving, question: Question, folder: Path) -> Mapping[str, str]:
    """Write the question's files and a checkpoint for each of its models; those for which nobody knows the weights, and why.

    HarnessError where a name leads out of the folder.
    """
    write_below(folder, question.files)
    for name in question.models:
        inside(folder, name)
    if not question.models:
        return {}
    wanted = {name: {"config": config, "kind": kind_of(config)} for name, config in question.models.items()}
    done = subprocess.run(  # noqa: S603 (the environment's own python)
        [str(environment.python), str(files(PACKAGE).joinpath("checkpoints.py")), str(folder)],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        check=False,
        env=isolated(environment.kept),
    )
    if done.returncode:
        raise OracleError("the tiny checkpoints cannot be written.", hint=done.stderr[-1500:])
    unknown: dict[str, str] = json.loads(done.stdout.splitlines()[-1])["unknown"]
    return unknown


def kind_of(config: Mapping[str, JsonValue]) -> str:
    """Which sort of checkpoint a config is of, and so what it holds."""
    return str(model_facts(dict(config), source=Source(SourceKind.GIVEN, "the question")).kind)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((serve.HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _until_answered(server: Server, address: str, deadline: float) -> Ended:
    """Wait until the server is healthy, then until it has answered one request."""
    while not _healthy(address):
        server.watch_memory()
        if server.code is not None or time.monotonic() > deadline:
            return Ended(healthy=False, answered=False, code=server.code)
        time.sleep(0.5)
    try:
        model = _get(f"{address}/v1/models")["data"][0]["id"]
        body = {"model": model, "prompt": PROMPT, "max_tokens": TOKENS, "temperature": 0, "ignore_eos": True}
        limit = min(REQUEST_LIMIT, max(1.0, deadline - time.monotonic()))
        reply = _get(f"{address}/v1/completions", body, limit=limit)
    except TimeoutError:
        # An engine that died may leave the server waiting for it: the log tells.
        return Ended(healthy=True, answered=False, code=server.code, silent=True)
    except (OSError, ValueError, LookupError) as error:
        said = error.read().decode(errors="replace") if isinstance(error, urllib.error.HTTPError) else str(error)
        time.sleep(2)  # the process that died writes its traceback after the connection is gone
        return Ended(healthy=True, answered=False, code=server.code, said=said[:MESSAGE_LIMIT])
    server.watch_memory()
    return Ended(healthy=True, answered=bool(reply.get("choices")), code=server.code, drafted=_drafted(address))


def _drafted(address: str) -> int | None:
    """The drafted tokens that the server counted; None where it counts none, as without speculation."""
    try:
        with urllib.request.urlopen(f"{address}/metrics", timeout=30) as reply:  # noqa: S310 (our own server)
            found = DRAFTED.findall(reply.read().decode(errors="replace"))
    except (OSError, ValueError):
        return None
    return int(sum(float(count) for count in found)) if found else None


def _healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=5) as reply:  # noqa: S310 (our own server)
            return bool(reply.status == 200)
    except (OSError, ValueError):
        return False


def _get(url: str, body: Mapping[str, Any] | None = None, *, limit: float = 30.0) -> dict[str, Any]:
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})  # noqa: S310 (our own server)
    with urllib.request.urlopen(request, timeout=limit) as reply:  # noqa: S310
        found: dict[str, Any] = json.loads(reply.read())
        return found


def classified(text: str, ended: Ended, seconds: float) -> Answer | Unanswered:
    """The answer that a log and the end of a start come to."""
    if ended.answered:
        return Answer(Verdict.ACCEPTS, "request", seconds=seconds)
    refused = logs.usage_error(text)
    if refused is not None:
        return Answer(Verdict.REJECTS, "parse", "SystemExit", refused[:MESSAGE_LIMIT], seconds=seconds)
    raised = logs.root(text)
    if raised is None:
        return _without_traceback(text, ended, seconds)
    message = " ".join(raised.message.split())[:MESSAGE_LIMIT]
    said = f"{raised.exception}: {message}"
    limited = excused(said)
    if limited is None and raised.depth > 0 and _DIED.search(message):
        limited = excused(text)  # the process in which it happened left no word of its own
    if limited is not None:
        return limited
    stage = "request" if ended.healthy else "load" if logs.engine_started(text) else "config"
    meant = raised.meant and is_deliberate_name(raised.exception)
    verdict = Verdict.REJECTS if meant else Verdict.CRASHES
    return Answer(verdict, stage, raised.exception, message, raised.where, seconds=seconds)


_DIED = re.compile(r"[Rr]oot cause|died|dead|failed due to an exception in a background process|[Ss]ee stack trace")


def _without_traceback(text: str, ended: Ended, seconds: float) -> Answer | Unanswered:
    """A program that ended without saying why, or was ended."""
    stage = "request" if ended.healthy else "load" if logs.engine_started(text) else "config"
    if ended.code is None and (ended.silent or not ended.healthy):
        return _unanswered(f"no answer within {seconds:g} s")
    limited = excused(text)
    if limited is not None:
        return limited
    how = signal.Signals(-ended.code).name if ended.code is not None and ended.code < 0 else f"status {ended.code}"
    if ended.healthy:
        return Answer(Verdict.CRASHES, stage, "HTTPError", ended.said, seconds=seconds)
    return Answer(Verdict.CRASHES, stage, "SystemExit", f"the server ended with {how}", seconds=seconds)


def _unanswered(reason: str) -> Unanswered:
    return excused(reason) or Unanswered(reason)


def excused(text: str) -> Unanswered | None:
    """The class of what a CPU or this environment cannot say to which a text belongs, if there is one."""
    for each in excluded():
        match = each.pattern.search(text)
        if match:
            shown = text if len(text) < MESSAGE_LIMIT else text[max(0, match.start() - 80) : match.end() + 160]
            return Unanswered(" ".join(shown.split()), each.name)
    return None


def excluded() -> tuple[Excluded, ...]:
    """The classes of launches that loading on a CPU cannot decide."""
    return read_excluded(files(PACKAGE).joinpath("load_excluded.yaml"))
