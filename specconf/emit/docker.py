"""`docker run` as one script: an option file is written to a folder of its own and mounted, the token is passed by its name."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from posixpath import basename

from specconf.emit.compose import variable_of
from specconf.emit.container import CACHE, FILES, Container, container_of, must_have_platform, release_comment
from specconf.emit.request import Request, head
from specconf.emit.shell import command_lines, heredoc

_PLATFORMS = ("cuda", "rocm", "cpu")
_FOLDER = "specconf-options"


def write(request: Request, *, alone: bool) -> Mapping[str, str]:
    """`docker-run.sh`."""
    del alone
    container = container_of(request)
    must_have_platform(container, _PLATFORMS, "docker")
    lines = ["#!/bin/sh", *head(request.artifact, request.forced), *release_comment(request), "set -eu"]
    if container.token is not None:
        lines += _token(variable_of(container.token))
    if container.files:
        lines.append(f"mkdir -p {_FOLDER}")
        for path, text in container.files.items():
            lines += heredoc(f"{_FOLDER}/{basename(path)}", text)
    lines.append(command_lines(_words(container), unquoted=frozenset(_mounts(container))))
    return {"docker-run.sh": "\n".join(lines) + "\n"}


def _token(variable: str) -> list[str]:
    """The variable must be set; Docker takes it over by its name."""
    check = f': "${{{variable}:?the token of the hub}}"'
    return [check] if variable == "HF_TOKEN" else [check, f'export HF_TOKEN="${variable}"']


def _mounts(container: Container) -> list[str]:
    """Folders and volumes, as shell words."""
    cache, place = container.cache or f"{container.name}-cache", container.env.get("HF_HOME", CACHE)
    home = cache == "~" or cache.startswith("~/")
    host = f'"$HOME"{shlex.quote(cache[1:]) if cache[1:] else ""}' if home else shlex.quote(cache)
    found = [f"{host}:{shlex.quote(place)}"]
    return [*found, f'"$PWD"/{_FOLDER}:{FILES}:ro'] if container.files else found


def _words(container: Container) -> list[str]:
    """The command with its options; an option and its value stand on one line."""
    program, *behind = container.program
    words = ["exec", "docker", "run", "--rm", "--init", "--name", container.name]
    if container.platform == "cuda":
        words += ["--gpus", str(container.gpus)]
    if container.platform == "rocm":
        words += ["--device", "/dev/kfd", "--device", "/dev/dri", "--group-add", "video"]
    words += ["--ipc=host", "--publish", f"{container.port}:{container.port}"]
    for mount in _mounts(container):
        words += ["--volume", mount]
    for name, value in container.env.items():
        words += ["--env", f"{name}={value}"]
    if container.token is not None:
        words += ["--env", "HF_TOKEN"]
    return [*words, "--entrypoint", program, container.image, *behind, *container.arguments]
