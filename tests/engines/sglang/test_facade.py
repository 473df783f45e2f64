"""The GPU that SGLang is shown: what is put beside torch for it, and that nothing of it stays."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from specconf.oracle.isolated import isolated

# A torch of which the facade only sets attributes.
SHOWN = """
import sys, types
torch = types.ModuleType("torch")
torch.cuda, torch.version = types.SimpleNamespace(), types.SimpleNamespace()
sys.modules["torch"] = torch
from specconf.engines.sglang.oracle import facade
facade.install("H100")
import os, subprocess
print(subprocess.run(["nvidia-smi"], capture_output=True, text=True, check=True).stdout.split()[0])
print(os.environ["PATH"].partition(os.pathsep)[0])
"""


def test_the_program_that_tells_the_memory_goes_with_the_process(tmp_path: Path) -> None:
    env = isolated() | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run([sys.executable, "-c", SHOWN], env=env, capture_output=True, text=True, check=True)
    memory, folder = done.stdout.split()
    assert memory == "81559"
    assert Path(folder).parent == tmp_path != Path(tempfile.gettempdir())
    assert not list(tmp_path.iterdir())
