"""Asks real engine releases a few recorded launches again: their answers must be those that are recorded.

    python tools/live.py [--limit SECONDS] [--launches N] [ENGINE=RELEASE]...

An environment that is cached is used; one that is not is built if that ends within the limit. Where there is none, the line
says why the release was skipped, and nothing fails. Whatever goes wrong once it is there fails: a worker that does not start, a
broken adapter, another archive than the recorded one.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from specconf.engines.registry import get_oracle
from specconf.errors import OracleError, SpecconfError
from specconf.oracle import environment
from specconf.oracle.asking import Answer, Question
from specconf.oracle.environment import Environment
from specconf.verify.observed import Folder, Observed, Row

ROOT = Path(__file__).resolve().parent.parent
COMPAT = ROOT / "compat"
SUBSET = ("vllm=0.33.0", "sglang=0.5.23")


def had(engine: str, release: str, limit: float) -> Environment | str:
    """The environment of a release, or why there is none."""
    found = environment.find(engine, release)
    if found is not None:
        return found
    command = [sys.executable, "-m", "specconf.oracle.environment", engine, release]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"its environment was not built within {limit:g} s"
    if done.returncode:
        return "its environment cannot be built: " + " ".join(done.stderr.split())[-300:]
    return environment.find(engine, release) or "its environment is not there though it was built"


def chosen(observed: Observed, number: int, gpu: str | None, questions: Mapping[str, Question]) -> list[Row]:
    """Recorded launches by chance, the same every day, of those that show the usual GPU."""
    rows = [row for row in observed.rows if row.verdict is not None and row.stage in ("parse", "config")]
    usual = [row for row in rows if questions[row.launch].gpu == gpu]
    return random.Random(observed.header.release).sample(usual, min(number, len(usual)))  # noqa: S311


def ask_again(engine: str, release: str, number: int, limit: float) -> bool:
    """Ask one release; true where every answer is the recorded one, or where there is no environment to ask."""
    name = f"live {engine} {release}"
    began = time.monotonic()
    try:
        place = had(engine, release, limit)
        if isinstance(place, str):
            print(f"{name}: skipped: {place}")
            return True
        asked, differ = differing(place, Folder(COMPAT / engine / "observed"), number)
    except SpecconfError as error:
        print(f"{name}: failed: {error}")
        return False
    print(f"{name}: {asked - len(differ)} of {asked} answers are the recorded ones, {time.monotonic() - began:.0f} s")
    for line in differ:
        print(f"  {line}")
    return not differ


def differing(place: Environment, folder: Folder, number: int) -> tuple[int, list[str]]:
    """How many recorded launches were asked, and a line for each whose answer is another. OracleError where none can be."""
    observed, questions = folder.read(place.release), folder.questions()
    if place.sha256 != observed.header.sha256:
        raise OracleError("its environment holds another archive than the recorded one.")
    oracle = get_oracle(place.engine)
    rows = chosen(observed, number, oracle.usual_gpu, questions)
    if not rows:
        raise OracleError("nothing is recorded of it that could be asked again.")
    differ = []
    with oracle.worker(place.python, place.release, cache=place.kept) as worker:
        broken = oracle.broken(worker)
        if broken:
            raise OracleError(f"broken: {broken}")
        for row in rows:
            answer = worker.ask(questions[row.launch])
            if not isinstance(answer, Answer):
                differ.append(f"{row.launch} {row.origins[0]}: not answered now: {answer.reason}")
            elif (answer.verdict, answer.stage, answer.exception) != (row.verdict, row.stage, row.exception):
                said = f"{answer.verdict} at {answer.stage}"
                differ.append(f"{row.launch} {row.origins[0]}: recorded {row.verdict} at {row.stage}, now {said}")
    return len(rows), differ


def main(words: Sequence[str] | None = None) -> int:
    """Ask the releases named, else the small subset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", default=SUBSET, metavar="ENGINE=RELEASE")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds for building one environment")
    parser.add_argument("--launches", type=int, default=30)
    given = parser.parse_args(words)
    kept = [ask_again(*text.split("=", 1), given.launches, given.limit) for text in given.releases]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
