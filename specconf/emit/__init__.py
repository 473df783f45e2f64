"""Writing an artifact out: one table of formats, each a module imported on use. Engines make artifacts; this knows none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from msgspec import Struct

from specconf.emit.request import Request

__all__ = ["FORMATS", "Format", "Request"]


class Format(Struct, frozen=True):
    """One format of `compile`.

    `module` has `write(request, alone=…)`: file names and texts, the main file first; `alone`: in one text, where that can be.
    `form`: which artifact of the engine it takes. `container`: whether the server is reached through a container's network.
    `uses`: the fields below `deployment.` that it has a place for.
    """

    name: str
    module: str
    form: str = "argv"
    container: bool = False
    uses: frozenset[str] = frozenset()
    executable: frozenset[str] = frozenset()

    def write(self, request: Request, *, alone: bool) -> Mapping[str, str]:
        """The files of a launch, the main one first."""
        function: Callable[..., Mapping[str, str]] = import_module(f"specconf.emit.{self.module}").write
        return function(request, alone=alone)


_SCRIPT = frozenset({"launch.sh"})
_CONTAINER = frozenset({"image", "model_cache", "secrets.hf_token"})

FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format("shell", "shell", executable=_SCRIPT),
        Format("argv", "argv", executable=_SCRIPT),
        Format("engine-yaml", "engine_yaml", form="engine-yaml", executable=_SCRIPT),
        Format("k8s", "k8s", container=True, uses=_CONTAINER | {"replicas", "namespace", "overlay"}),
        Format("compose", "compose", container=True, uses=_CONTAINER | {"replicas", "overlay"}),
        Format("python", "python"),
        Format("docker", "docker", container=True, uses=_CONTAINER, executable=frozenset({"docker-run.sh"})),
    )
}
