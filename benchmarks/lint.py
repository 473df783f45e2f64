"""Lint beside its peers: one file cold, and many manifests of which few mention an engine. Prints ratios; asserts nothing.

python benchmarks/lint.py [MANIFESTS] [RUNS]

The peers are yamllint and check-jsonschema, where they are installed; a check of manifests against a schema is what the latter
is asked for. Every program runs from byte code and in turn with the others, so that one machine's load is on all of them.
specconf runs as it is installed: with the compiled index beside its modules.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
SPECCONF = [sys.executable, "-m", "specconf", "lint"]
BARE = "import yaml, click"
ENGINE_EVERY = 33  # one manifest of so many starts an engine

PLAIN = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{i}
  labels: {{app: web-{i}, tier: frontend}}
spec:
  replicas: {replicas}
  selector:
    matchLabels: {{app: web-{i}}}
  template:
    metadata:
      labels: {{app: web-{i}}}
    spec:
      containers:
        - name: web
          image: registry.example.com/web:{i}
          args: ["--port", "{port}", "--workers=4"]
          ports:
            - containerPort: {port}
          env:
            - name: LOG_LEVEL
              value: info
          resources:
            limits: {{cpu: "2", memory: 2Gi}}
---
apiVersion: v1
kind: Service
metadata:
  name: web-{i}
spec:
  selector: {{app: web-{i}}}
  ports:
    - port: 80
      targetPort: {port}
"""
ENGINE = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: llm-{i}
spec:
  replicas: {replicas}
  selector:
    matchLabels: {{app: llm-{i}}}
  template:
    metadata:
      labels: {{app: llm-{i}}}
    spec:
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.33.0
          command: ["vllm", "serve", "meta-llama/Llama-3.1-8B-Instruct"]
          args:
            - --port={port}
            - --tensor-parallel-size={replicas}
            - --speculative-config
            - '{{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4}}'
          resources:
            limits: {{nvidia.com/gpu: "{replicas}"}}
"""
ONE = """#!/bin/bash
docker run --gpus all vllm/vllm-openai:v0.33.0 \\
  --model meta-llama/Llama-3.1-8B-Instruct \\
  --speculative-config '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4}'
"""
SCHEMA = {"type": "object", "required": ["apiVersion", "kind"]}
SEARCH = """import pathlib, re, sys
found = [p for p in pathlib.Path(sys.argv[1]).rglob('*.yaml') if re.search(rb'vllm|sglang|trt', p.read_bytes(), re.I)]
"""
COMPOSE = f"{SEARCH}\nimport yaml\nfor p in found: list(yaml.compose_all(p.read_bytes(), yaml.CSafeLoader))\n"


class Measured(Struct, frozen=True):
    """Seconds and the most memory of the started process itself, in MiB."""

    seconds: float
    memory: float


def measured(command: list[str], folder: Path, env: dict[str, str]) -> Measured:
    """One run; what it prints and how it ends are not looked at."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Measured(time.perf_counter() - start, usage.ru_maxrss / 1024)


def manifests(folder: Path, number: int) -> None:
    """A tree of manifests, a hundred in each folder."""
    for i in range(number):
        path = folder / f"team-{i // 100:03}" / f"m{i:05}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = PLAIN if i % ENGINE_EVERY else ENGINE
        path.write_text(text.format(i=i, replicas=1 + i % 4, port=8000 + i % 1000), encoding="utf-8")


def peers(one: str, many: str, schema: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """The peers that are here: their name, and their command on one file and on many."""
    if importlib.util.find_spec("yamllint"):
        yamllint = [sys.executable, "-m", "yamllint", "-d", "relaxed"]
        yield "yamllint", [*yamllint, one], [*yamllint, many]
    if importlib.util.find_spec("check_jsonschema"):
        check = [sys.executable, "-m", "check_jsonschema", "--schemafile", str(schema)]
        files = sorted(str(path) for path in Path(many).rglob("*.yaml"))
        yield "check-jsonschema", [*check, one], [*check, *files]


def table(title: str, commands: dict[str, list[str]], base: str, runs: int, folder: Path, env: dict[str, str]) -> None:
    """Run all commands in turn, and print medians as ratios to one of them."""
    found: dict[str, list[Measured]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            found[name].append(measured(command, folder, env))
    middle = statistics.median(one.seconds for one in found[base])
    print(f"\n{title} (ratio to {base}; median of {runs})")
    for name, each in found.items():
        seconds = statistics.median(one.seconds for one in each)
        memory = max(one.memory for one in each)
        print(f"  {name:40} {seconds:8.3f} s {seconds / middle:7.1f}x   {memory:5.0f} MiB")


def installed(folder: Path) -> Path:
    """The package as a wheel holds it, in a folder to put on the path."""
    shutil.copytree(ROOT / "specconf", folder / "installed" / "specconf", ignore=shutil.ignore_patterns("__pycache__"))
    build = "import sys, pathlib; from specconf.compat.index import build_index; build_index(*map(pathlib.Path, sys.argv[1:]))"
    target = folder / "installed" / "specconf" / "_index"
    # In a process of its own: the most memory of a process counts what it was forked from.
    subprocess.run([sys.executable, "-c", build, str(ROOT / "compat"), str(target)], cwd=ROOT, check=True)
    return folder / "installed"


def main() -> None:
    """Both tables."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        env = {**os.environ, "PYTHONPATH": str(installed(folder)), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        (folder / "one.sh").write_text(ONE, encoding="utf-8")
        (folder / "one.yaml").write_text(ENGINE.format(i=1, replicas=1, port=8000), encoding="utf-8")
        (folder / "plain.yaml").write_text(PLAIN.format(i=1, replicas=1, port=8000), encoding="utf-8")
        (folder / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
        manifests(folder / "many", number)
        others = list(peers("one.yaml", str(folder / "many"), folder / "schema.json"))
        cold = {
            "bare interpreter": [sys.executable, "-c", "pass"],
            BARE: [sys.executable, "-c", BARE],
            "specconf lint, shell script": [*SPECCONF, "one.sh"],
            "specconf lint, manifest": [*SPECCONF, "one.yaml"],
            "specconf lint, no engine in it": [*SPECCONF, "plain.yaml"],
            **{name: one for name, one, _ in others},
        }
        for command in cold.values():
            measured(command, folder, env)  # byte code, and the index of a checkout
        table("one file, cold", cold, BARE, runs, folder, env)
        compose = "composing those with an engine"
        many = {
            "searching the bytes": [sys.executable, "-c", SEARCH, "many"],
            compose: [sys.executable, "-c", COMPOSE, "many"],
            "specconf lint --jobs 1": [*SPECCONF, "--jobs", "1", "many"],
            "specconf lint": [*SPECCONF, "many"],
            **{name: command for name, _, command in others},
        }
        table(f"{number} manifests, one of {ENGINE_EVERY} with an engine", many, compose, 1, folder, env)


if __name__ == "__main__":
    main()
