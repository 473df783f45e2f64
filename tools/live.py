"""Asks real engine releases a few recorded launches again: their answers must be those that are recorded.

    python tools/live.py [--limit SECONDS] [--launches N] [ENGINE=RELEASE]...

An environment that is cached is used; one that is not is built if that ends within the limit. Where it cannot be had, the line
says why it was skipped, and nothing fails: what releases answered stays recorded.
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
from specconf.errors import SpecconfError
from specconf.oracle import environment
from specconf.oracle.asking import Answer, Question
from specconf.oracle.environment import Environment
from specconf.verify.observed import Folder, Observed, Row

ROOT = Path(__file__).resolve().parent.parent
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
    """Ask one release; true where every answer is the recorded one, or nothing could be asked."""
    name = f"live {engine} {release}"
    folder = Folder(ROOT / "compat" / engine / "observed")
    if release not in folder.releases():
        print(f"{name}: skipped: nothing is recorded of it")
        return True
    began = time.monotonic()
    place = had(engine, release, limit)
    if isinstance(place, str):
        print(f"{name}: skipped: {place}")
        return True
    observed, questions = folder.read(release), folder.questions()
    if place.sha256 != observed.header.sha256:
        print(f"{name}: skipped: its environment holds another archive than the recorded one")
        return True
    oracle = get_oracle(engine)
    rows = chosen(observed, number, oracle.usual_gpu, questions)
    differ = []
    try:
        with oracle.worker(place.python, release, cache=place.kept) as worker:
            broken = oracle.broken(worker)
            if broken:
                print(f"{name}: broken: {broken}")
                return False
            for row in rows:
                answer = worker.ask(questions[row.launch])
                if not isinstance(answer, Answer):
                    differ.append(f"{row.launch} {row.origins[0]}: not answered now: {answer.reason}")
                elif (answer.verdict, answer.stage, answer.exception) != (row.verdict, row.stage, row.exception):
                    said = f"{answer.verdict} at {answer.stage}"
                    differ.append(f"{row.launch} {row.origins[0]}: recorded {row.verdict} at {row.stage}, now {said}")
    except SpecconfError as error:
        print(f"{name}: skipped: {error}")
        return True
    print(
        f"{name}: {len(rows) - len(differ)} of {len(rows)} answers are the recorded ones, {time.monotonic() - began:.0f} s"
    )
    for line in differ:
        print(f"  {line}")
    return not differ


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
