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
    monkeypatch.syspath_prepend(str(TOOL.parent))
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


def sdist(tmp_path: Path, **files: str) -> Path:
    path = tmp_path / "vllm-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"vllm-1.0/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


def test_vllm_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = sdist(tmp_path, **{"tests/models/registry.py": REGISTRY})
    rows = run("vllm-tests", archive, tmp_path, monkeypatch)
    assert set(rows) == {"x/mimo", "x/mimo-small", "x/head"}
    # vLLM's tests pass trust_remote_code to checkpoints that need none: it tells nothing.
    assert (rows["x/mimo"].remote_code, rows["x/mimo"].source[0].line) == (None, 3)
    assert (rows["x/head"].kind, rows["x/head"].drafts_for) == (Kind.EAGLE3, ("x/target",))


TABLES = """
| Architecture | Models | Example HF Models | LoRA | PP |
| --- | --- | --- | --- | --- |
| `AForCausalLM` | A | `x/a`, `x/a-large`, etc. | | |
| `TransformersForCausalLM` | any | `x/any` | | |
| `BForCausalLM` | B | TBA | | |
"""
EAGLE_PAGE = """
    llm = LLM(
        model="x/target",
        speculative_config={
            "model": "x/head",
            "method": "eagle3",
        },
    )

vllm serve x/other --speculative-config '{"method": "mtp", "num_speculative_tokens": 1}'
huggingface-cli download y/Bundle
vllm serve y/Bundle --speculative-config '{"method": "dflash", "model": "Bundle/dflash"}'
"""


def test_vllm_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"docs/models/supported_models.md": TABLES, "docs/features/speculative_decoding/eagle.md": EAGLE_PAGE}
    rows = run("vllm-docs", sdist(tmp_path, **pages), tmp_path, monkeypatch)
    assert set(rows) == {"x/a", "x/a-large", "x/head"}
    assert (rows["x/a"].config, rows["x/a"].source[0].line) == ({"architectures": ["AForCausalLM"]}, 4)
    head = rows["x/head"]
    assert (head.kind, head.drafts_by, head.drafts_for) == (Kind.UNKNOWN, "eagle3", ("x/target",))
    assert head.source[0].line == 4


RECIPE = """
model: {model_id: x/target, base_args: []}
variants:
  default: {precision: bf16}
  fp8: {model_id: x/target-FP8}
features:
  spec_decoding:
    args: ["--speculative-config", '{"method":"dspark","model":"x/draft","num_speculative_tokens":7}']
guide: |
  vllm serve x/target --speculative-config '{"method":"eagle3","model":"x/parallel","parallel_drafting":true}'
  vllm serve x/target --speculative-config '{"method":"draft_model","model":"x/small"}'
"""


def test_vllm_recipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = run("vllm-recipes", sdist(tmp_path, **{"recipes/models/x/target.yaml": RECIPE}), tmp_path, monkeypatch)
    assert set(rows) == {"x/target", "x/target-FP8", "x/draft", "x/parallel", "x/small"}
    assert (rows["x/target-FP8"].kind, rows["x/target-FP8"].source[0].line) == (Kind.PLAIN, 5)
    assert (rows["x/draft"].drafts_by, rows["x/draft"].drafts_for) == ("dspark", ("x/target",))
    assert rows["x/parallel"].drafts_by is None
    assert (rows["x/small"].kind, rows["x/small"].drafts_by) == (Kind.PLAIN, None)


PAIRS = """
DEFAULT_TARGET_MODEL_EAGLE3 = "x/target"
DEFAULT_DRAFT_MODEL_EAGLE3 = "x/head"
DEFAULT_TARGET_MODEL_STANDALONE, DEFAULT_DRAFT_MODEL_NGRAM = "x/target", "x/none"
DEFAULT_TARGET_MODEL_STANDALONE = "x/target"
DEFAULT_DRAFT_MODEL_STANDALONE = "x/small"
DEFAULT_DRAFT_MODEL_ALONE = "x/alone"
"""


def test_sglang_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "sglang-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sglang/test/test_utils.py", PAIRS)
    rows = run("sglang-tests", wheel, tmp_path, monkeypatch)
    assert set(rows) == {"x/head", "x/small"}
    assert (rows["x/head"].drafts_by, rows["x/head"].drafts_for, rows["x/head"].source[0].line) == (
        "eagle3",
        ("x/target",),
        3,
    )
    assert rows["x/small"].kind is Kind.PLAIN
