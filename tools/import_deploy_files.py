"""Brings a folder of deploy files and its index over into tests/corpus/deploy, in the project's own form.

    python tools/import_deploy_files.py FOLDER

FOLDER holds the files and an index.yaml, which says of each how many launches it has, for which engine and release, and what
should be found at which line. The files are copied as they are; the index becomes JSON with what the tests read.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import yaml

TARGET = Path(__file__).resolve().parent.parent / "tests" / "corpus" / "deploy"
# Further findings that are right and stand beside those that the index lists.
BESIDE = {
    "shell/run_llama70b.sh": [15],  # the second of two removed flags
    "k8s/deploy-short-flags.yaml": [
        12
    ],  # MiMo's config class is code of its repository, which the launch does not allow
}
# The line of another of the options that a finding is about.
SAME = {"python/sgl_engine.py": {12: 13}}
# Levels at which the evidence allows no more than a warning.
WARNED = {"shell/trt_maverick.sh": "TensorRT-LLM's source was not read: its documentation alone lists no such key"}
# Kinds that are not read.
NOT_READ: dict[str, str] = {}
_KEPT = ("id", "path", "kind", "launches", "engine", "release", "release_stated_in", "also", "notes")


def main(folder: Path) -> int:
    """Copy the files, and write the index anew."""
    rows = yaml.safe_load((folder / "index.yaml").read_text(encoding="utf-8"))["files"]
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(folder, TARGET, ignore=shutil.ignore_patterns("index.yaml"))
    index = []
    for row in rows:
        lines = SAME.get(row["path"], {})
        level = "warning" if row["path"] in WARNED else None
        expected = [
            {"line": lines.get(one["line"], one["line"]), "level": level or one["level"], "says": one["says"]}
            for one in row["expected"]
        ]
        told = {"expected": expected, "beside": BESIDE.get(row["path"], []), "not_read": NOT_READ.get(row["path"], "")}
        index.append({key: row[key] for key in _KEPT if key in row} | told)
    text = json.dumps({"files": index}, indent=1, ensure_ascii=False) + "\n"
    (TARGET / "index.json").write_text(text, encoding="utf-8")
    print(f"{len(index)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
