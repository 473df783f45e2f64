"""Build hook: compiles `compat/` into the index that the wheel carries. The build fails where that fails."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class IndexBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the compiled index to the wheel as `specconf/_index/`."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the index before the wheel is packed. An editable install uses the checkout's data instead."""
        if self.target_name != "wheel" or version == "editable":
            return
        sys.path.insert(0, self.root)
        from specconf.compat.index import build_index

        self._folder = Path(tempfile.mkdtemp(prefix="specconf-index-"))
        build_index(Path(self.root) / "compat", self._folder)
        for path in sorted(self._folder.glob("*.json*")):
            build_data["force_include"][str(path)] = f"specconf/_index/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        del version, build_data, artifact_path
        shutil.rmtree(getattr(self, "_folder", ""), ignore_errors=True)
