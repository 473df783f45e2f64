"""The launch as the argv document: words, environment, files and findings as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.emit.request import Request, marked_files
from specconf.emit.shell import launch_script
from specconf.report.asked import side_json
from specconf.report.json_report import finding_json, render_json


def write(request: Request, *, alone: bool) -> Mapping[str, str]:
    """`launch.json`, which holds everything; in a folder beside the script and its files."""
    if alone:
        return {"launch.json": argv_json(request)}
    script = launch_script(request.artifact, forced=request.forced, inline_files=False)
    files = marked_files(request.artifact, request.forced)
    return {"launch.sh": script, **files, "launch.json": argv_json(request)}


def argv_json(request: Request) -> str:
    """The argv document of the contract; its schema is `schemas/argv.schema.json`."""
    artifact, side = request.artifact, request.side
    return render_json(
        {
            "schema": 1,
            "engine": artifact.engine,
            "release": artifact.release,
            "argv": list(artifact.argv),
            "env": dict(artifact.env),
            "files": dict(artifact.files),
            "forced": bool(request.forced),
            "findings": [finding_json(f) for f in request.findings],
            **({} if side is None else {"asked": side_json(side)}),
        }
    )
