"""A program that makes the engine in its own process: the keywords that its release takes, from the same settings."""

from __future__ import annotations

import json
from collections.abc import Mapping

from specconf.emit.request import Request, head
from specconf.engines.pycall import PyObject
from specconf.words import JsonValue

_WIDTH = 110


def write(request: Request, *, alone: bool) -> Mapping[str, str]:
    """`launch.py`."""
    del alone
    call = request.engine.python_call(request.settings, request.view)
    artifact = request.artifact
    release = f"# specconf: release {artifact.engine}={artifact.release}"
    lines = [*head(artifact, request.forced), release]
    if call.env:
        lines += [
            "import os",
            "",
            *(f"os.environ[{_shown(name, 0)}] = {_shown(value, 0)}" for name, value in call.env.items()),
            "",
        ]
    lines += [f"from {call.module} import {call.name}"]
    lines += [f"from {module} import {name}" for name, module in call.beside.items()]
    lines += ["", "", "def main():", f"    engine = {call.name}("]
    lines += [f"        {name}={_shown(value, 8)}," for name, value in call.keywords.items()]
    lines += ["    )", "    # Requests go here: engine.generate(...)"]
    lines += ["    engine.shutdown()"] if call.must_shut else []
    lines += ["", "", "# The engine starts processes of its own, which import this file."]
    return {"launch.py": "\n".join([*lines, 'if __name__ == "__main__":', "    main()"]) + "\n"}


def _shown(value: JsonValue | PyObject, indent: int) -> str:
    """A value as Python; one that is long over several lines."""
    if isinstance(value, PyObject):
        inside = [f"{name}={_shown(item, indent + 4)}" for name, item in value.keywords.items()]
        return _spread(f"{value.name}(", inside, ")", indent)
    if isinstance(value, dict):
        inside = [f"{_shown(name, 0)}: {_shown(item, indent + 4)}" for name, item in value.items()]
        return _spread("{", inside, "}", indent)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _spread(start: str, inside: list[str], end: str, indent: int) -> str:
    line = f"{start}{', '.join(inside)}{end}"
    if len(line) + indent + 20 <= _WIDTH:
        return line
    return "\n".join([start, *(f"{' ' * (indent + 4)}{item}," for item in inside), f"{' ' * indent}{end}"])
