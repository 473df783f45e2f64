"""A release's own code, kept running in a process of its own environment for many questions."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from specconf.errors import OracleError
from specconf.oracle.asking import Answer, Question, Unanswered, Verdict
from specconf.oracle.excluded import Excluded
from specconf.oracle.isolated import isolated

RUN = Path(__file__).parent / "worker" / "run.py"


@dataclass(frozen=True, slots=True)
class Ready:
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
    ) -> None:
        """Start it. `python`: of the release's environment; `adapter`: the module that knows the engine; `cache`: a folder
        for what the engine wants to keep between runs; `release` None: whichever is there. OracleError when the engine
        cannot be imported there, or is another release.
        """
        self.release = release or f"the release in {python}"
        self.gpu = gpu
        self._excluded = excluded
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the worker)
        command = [str(python), str(RUN), adapter, "--limit", str(limit)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 (an environment that specconf made, or that the user names)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                env=_environment(gpu, cache),
            )
        except OSError as error:
            self._errors.close()
            raise OracleError(f"{python} cannot be started: {(error.strerror or str(error)).lower()}.") from None
        said = self._line(python)
        self.ready = Ready(
            said["version"],
            said["platform"],
            said["python"],
            said["versions"],
            tuple(said["standins"]),
            float(said["seconds"]),
        )
        found = self.ready.version.partition("+")[0]
        if release is None:
            self.release = found
        elif found != release:
            self.close()
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
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the line that does not come says how it ended
        return self._line()

    def _line(self, starting: Path | None = None) -> dict[str, Any]:
        """The next line; `starting`: the python, while the engine is being imported by it."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return self._read(line)
        code = self._process.wait()
        self._errors.seek(0)
        wrote = self._errors.read().decode(errors="replace").strip()
        self._errors.close()
        if starting is not None and (why := _why_not_started(wrote)):
            raise OracleError(f"{starting} {why}.", detail=wrote)
        raise OracleError(f"the process that asks {self.release} ended with {code}.", hint=wrote[-2000:])

    def _read(self, line: str) -> dict[str, Any]:
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            answer = None
        if not isinstance(answer, dict):
            self.close()
            raise OracleError(
                f"the process that asks {self.release} says {line.strip()[:80]!r}, which is no answer.",
                hint="Name the python of an environment in which the engine is installed.",
            )
        return answer

    def close(self) -> None:
        """End the process."""
        if self._errors.closed:
            return
        self._errors.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

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
