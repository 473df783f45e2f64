"""The importer of checkpoint rows, on archives of three entries."""

from __future__ import annotations

import io
import runpy
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from specconf.models import CheckpointRow, Kind, load_checkpoint_rows

TOOL = Path(__file__).parents[2] / "tools" / "import_checkpoints.py"
REGISTRY = """
_TEXT_GENERATION_EXAMPLE_MODELS = {
    "MiMoForCausalLM": _HfExamplesInfo("x/mimo", trust_remote_code=True, extras={"small": "x/mimo-small"}),
    "AForCausalLM": _HfExamplesInfo("x/other", hf_overrides={"architectures": ["AForCausalLM"]}),
}
_SPECULATIVE_DECODING_EXAMPLE_MODELS = {
    "Eagle3LlamaForCausalLM": _HfExamplesInfo("x/target", speculative_model="x/head"),
    "MiMoMTPModel": _HfExamplesInfo("x/mimo", speculative_model="x/mimo"),
}
"""


def run(source: str, archive: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, CheckpointRow]:
    monkeypatch.setattr(sys, "argv", [str(TOOL), source, str(archive), "--out", str(out)])
    with pytest.raises(SystemExit) as done:
        runpy.run_path(str(TOOL), run_name="__main__")
    assert done.value.code == 0
    (written,) = out.glob("*.jsonl")
    return {row.id: row for row in load_checkpoint_rows(written.read_text(), name=written.name)}


def test_bundled_configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "aiconfigurator_core-1.0-py3-none-any.whl"
    folder = "aiconfigurator_core/model_configs"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{folder}/o--whole_config.json", '{"architectures": ["A"], "transformers_version": "4"}')
        archive.writestr(f"{folder}/o--whole_hf_quant_config.json", "{}")
        archive.writestr(f"{folder}/o--edited_config.json", '{"vision_config": {}, "architectures": ["A"]}')
    rows = run("aiconfigurator", wheel, tmp_path, monkeypatch)
    assert set(rows) == {"o/whole", "o/edited"}
    assert (rows["o/whole"].complete, rows["o/whole"].elided) == (True, ("quantization_config",))
    assert (rows["o/edited"].complete, rows["o/edited"].elided) == (False, ("vision_config",))


def test_vllm_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sdist = tmp_path / "vllm-1.0.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        entry = tarfile.TarInfo("vllm-1.0/tests/models/registry.py")
        entry.size = len(REGISTRY)
        archive.addfile(entry, io.BytesIO(REGISTRY.encode()))
    rows = run("vllm-tests", sdist, tmp_path, monkeypatch)
    assert set(rows) == {"x/mimo", "x/mimo-small", "x/head"}
    # vLLM's tests pass trust_remote_code to checkpoints that need none: it tells nothing.
    assert (rows["x/mimo"].remote_code, rows["x/mimo"].source[0].line) == (None, 3)
    assert rows["x/head"].kind is Kind.EAGLE3
