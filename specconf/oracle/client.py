"""A release's own code, kept running in a process of its own environment for many questions."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from msgspec import Struct

from specconf.errors import OracleError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.oracle.excluded import Excluded
from specconf.oracle.isolated import isolated

RUN = Path(__file__).parent / "worker" / "run.py"
# Seconds until an engine must be imported. On a slow disk the first import of one takes a minute.
START_LIMIT = 180.0
# Seconds that a process that is to end has for it, and between two looks at whether one that says nothing is still there.
GRACE = 10.0
LOOK = 0.5


class Ready(Struct, frozen=True):
    """What a worker says of itself once the engine is imported; `platform` is what it sees, where it is not shown another."""

    version: str
    platform: str
    python: str
    versions: Mapping[str, str]
    standins: tuple[str, ...]
    seconds: float


class Worker:
    """One engine release, asked in a process of its own. Ends with `close`, or as a context manager."""

    def __init__(
        self,
        python: Path,
        adapter: str,
        release: str | None,
        *,
        gpu: str | None = None,
        cache: Path | None = None,
        excluded: tuple[Excluded, ...] = (),
        limit: float = 120.0,
        start_limit: float = START_LIMIT,
    ) -> None:
        """Start it. `python`: of the release's environment; `adapter`: the module that knows the engine; `cache`: a folder
        for what the engine wants to keep between runs; `release` None: whichever is there; `limit` and `start_limit`:
        seconds for one answer, and until the engine is imported. OracleError when it cannot be, or is another release.
        """
        self.release = release or f"the release in {python}"
        self.gpu = gpu
        self._excluded = excluded
        self._limit, self._start_limit = limit, start_limit
        self._said, self._waiting, self._closed = b"", False, False
        # All temporary files of the process lie in one folder, so that none are left where it is ended from outside.
        self._scratch = tempfile.TemporaryDirectory(prefix="specconf-worker-", ignore_cleanup_errors=True)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)
        command = [str(python), str(RUN), adapter, "--limit", str(limit)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 (an environment that specconf made, or that the user names)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                env=_environment(gpu, cache) | {"TMPDIR": self._scratch.name},
            )
        except OSError as error:
            self._errors.close()
            self._scratch.cleanup()
            raise OracleError(f"{python} cannot be started: {(error.strerror or str(error)).lower()}.") from None
        try:
            self._start(python, release)
        except BaseException:
            self.close()
            raise

    def _start(self, python: Path, release: str | None) -> None:
        """Wait until the engine is imported, and see which one it is."""
        said = self._line(self._start_limit, "import the engine", python)
        try:
            self.ready = Ready(
                said["version"],
                said["platform"],
                said["python"],
                said["versions"],
                tuple(said["standins"]),
                float(said["seconds"]),
            )
        except (KeyError, TypeError, ValueError):
            self._no_answer(json.dumps(said))
        found = self.ready.version.partition("+")[0]
        if release is None:
            self.release = found
        elif found != release:
            raise OracleError(f"{python} holds {said['package']} {self.ready.version}, not {release}.")

    def ask(self, question: Question, *, until: str = "config") -> Answer | Unanswered:
        """What the release says to a launch, up to a stage. At stage `config` every model that it names needs a config."""
        if question.gpu != self.gpu:
            raise ValueError(f"this worker shows the engine {self.gpu}, the question is about {question.gpu}")
        said = self._request(
            {
                "argv": question.argv,
                "env": question.env,
                "files": question.files,
                "models": question.models,
                "until": until,
            }
        )
        if "harness" in said:
            return self._unanswered(str(said["harness"]))
        answer = Answer(
            verdict=Verdict(said["verdict"]),
            stage=said["stage"],
            exception=said["exception"],
            message=said["message"],
            where=said["where"],
            effective=said["effective"],
            warnings=tuple(said["warnings"]),
            seconds=said["seconds"],
        )
        by_limit = None if answer.accepts else self._class_of(f"{answer.exception}: {answer.message}")
        return Unanswered(f"{answer.exception}: {answer.message}", by_limit) if by_limit else answer

    def _unanswered(self, reason: str) -> Unanswered:
        return Unanswered(reason, self._class_of(reason) or "")

    def _class_of(self, text: str) -> str | None:
        return next((each.name for each in self._excluded if each.matches(text)), None)

    def listing(self) -> Mapping[str, Any]:
        """What the release registers: `options` of its parser, and `members` of its objects and registries."""
        said = self._request({"list": True})
        if "harness" in said:
            raise OracleError(f"{self.release} cannot list its options: {said['harness']}")
        return said

    def _request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._closed:
            raise OracleError(f"the process that asks {self.release} was ended.")
        assert self._process.stdin is not None
        left = memoryview(json.dumps(request).encode("ascii") + b"\n")
        with contextlib.suppress(BrokenPipeError):  # the line that does not come says how it ended
            while left:
                left = left[self._process.stdin.write(left) :]
        # The worker itself ends a question at its limit; then it may import ahead what the engine needed.
        return self._line(self._limit + self._start_limit, "answer")

    def _line(self, limit: float, task: str, starting: Path | None = None) -> dict[str, Any]:
        """What the process says next. OracleError where it ends, or says nothing within the limit.

        `starting`: the python, while the engine is being imported by it.
        """
        deadline = time.monotonic() + limit
        self._waiting = True
        while b"\n" not in self._said:
            if time.monotonic() > deadline:
                self.close()
                raise OracleError(
                    f"the process that asks {self.release} did not {task} within {limit:g} s and was ended.",
                    hint="Ask again when the machine is less busy, or see whether its python can import the engine.",
                )
            if not self._hear():
                self._ended(starting)
        self._waiting = False
        line, _, self._said = self._said.partition(b"\n")
        return self._read(line.decode(errors="replace"))

    def _hear(self) -> bool:
        """Take what the process says within a moment; False where it will say nothing more."""
        assert self._process.stdout is not None
        ended = self._process.poll() is not None  # asked first: what it said is there by then
        ready, _, _ = select.select([self._process.stdout], [], [], 0 if ended else LOOK)
        if not ready:
            return not ended  # something that the engine forked may hold the pipe
        chunk = os.read(self._process.stdout.fileno(), 65536)
        self._said += chunk
        return bool(chunk)

    def _ended(self, starting: Path | None) -> NoReturn:
        """OracleError with how the process ended and its last words."""
        code = self._end_process()
        self._errors.seek(0)
        wrote = self._errors.read().decode(errors="replace").strip()
        self.close()
        if starting is not None and (why := _why_not_started(wrote)):
            raise OracleError(f"{starting} {why}.", detail=wrote)
        raise OracleError(f"the process that asks {self.release} ended with {code}.", hint=wrote[-2000:])

    def _read(self, line: str) -> dict[str, Any]:
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            answer = None
        return answer if isinstance(answer, dict) else self._no_answer(line)

    def _no_answer(self, line: str) -> NoReturn:
        self.close()
        raise OracleError(
            f"the process that asks {self.release} says {line.strip()[:80]!r}, which is no answer.",
            hint="Name the python of an environment in which the engine is installed.",
        )

    def close(self) -> None:
        """End the process with all that it started, and remove its temporary files."""
        if self._closed:
            return
        self._closed = True
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        if self._waiting:
            self._process.terminate()  # it would first go on until the question's limit
        self._end_process()
        self._process.stdout.close()
        self._errors.close()
        self._scratch.cleanup()

    def _end_process(self) -> int:
        """Wait for the process to end; one that does not is asked to, so that it ends its children, and then made to."""
        for harder in (self._process.terminate, self._process.kill):
            try:
                return self._process.wait(timeout=GRACE)
            except subprocess.TimeoutExpired:
                harder()
        return self._process.wait()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^'.]+)'$")
_RAISED = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt)(?::|$)")


def _why_not_started(wrote: str) -> str:
    """What a process that ended before it could be asked died of, after the name of its python; empty where it did not say."""
    last = next((line.strip().rstrip(".") for line in reversed(wrote.splitlines()) if _RAISED.match(line)), "")
    missing = _NO_MODULE.match(last)
    if missing is not None:
        return f"has no package {missing[1]}"
    return f"cannot import the engine: {last}" if last else ""


def _environment(gpu: str | None, cache: Path | None) -> dict[str, str]:
    return isolated(cache) | ({"SPECCONF_ENGINE_GPU": gpu} if gpu else {})
