"""`specconf db`: what it shows of the shipped database, and a harvest from local sources."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from specconf.compat.sources import ENGINE_NAMES
from tests.cli.conftest import Run

CLI_ARGS = """
    from vllm.engine.arg_utils import AsyncEngineArgs

    def make_arg_parser(parser):
        parser.add_argument("model_tag", type=str, nargs="?")
        parser.add_argument("--port", type=int, default={port})
        return AsyncEngineArgs.add_cli_args(parser)
    """
ARG_UTILS = """
    class EngineArgs:
        model: str = "m"

        @staticmethod
        def add_cli_args(parser):
            parser.add_argument("--model", type=str, default=EngineArgs.model)
            return parser

    class AsyncEngineArgs(EngineArgs):
        pass
    """


def wheel(folder: Path, release: str, port: int = 8000) -> Path:
    """A wheel of a small engine of our own that declares its options as vLLM does."""
    path = folder / f"vllm-{release}-py3-none-any.whl"
    files = {"vllm/entrypoints/openai/cli_args.py": CLI_ARGS.format(port=port), "vllm/engine/arg_utils.py": ARG_UTILS}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, dedent(text))
    return path


def rows(folder: Path, kind: str = "options") -> list[dict[str, object]]:
    path = folder / "vllm" / "harvested" / f"{kind}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_harvest_adds_release_by_release(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "db"
    for release, port in (("0.1.0", 8000), ("0.3.0", 9000), ("0.2.0", 8000)):
        ran = specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, release, port), "-o", out, "--jobs", "1")
        assert ran.code == 0, ran.err
        assert f"vllm {release}: 3 options" in ran.err
    ports = [(row["default"], row["releases"]) for row in rows(out) if row["path"] == "port"]
    assert ports == [(8000, [{"before": "0.3.0"}]), (9000, [{"since": "0.3.0"}])]
    listed = rows(out, "releases")
    assert [row["version"] for row in listed] == ["0.1.0", "0.2.0", "0.3.0"]
    assert listed[0]["file"] == "vllm-0.1.0-py3-none-any.whl"
    again = specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, "0.2.0"), "-o", out, "--jobs", "1")
    assert "nothing changed" in again.out


def test_harvest_prints_rows_with_file_and_line(specconf: Run, tmp_path: Path) -> None:
    ran = specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, "0.1.0"), "--print", "--jobs", "1")
    found = [json.loads(line) for line in ran.out.splitlines()]
    (port,) = [row for row in found if row.get("path") == "port"]
    assert port["evidence"] == [
        {"kind": "source", "release": "0.1.0", "file": "vllm/entrypoints/openai/cli_args.py", "line": 6}
    ]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["vllm"], "Name the releases"),
        (["vllm", "--new", "--all"], "Name the releases"),
        (["vllm", "0.1.0", "0.2.0", "--from", "x"], "Name the releases"),
        (["trtllm", "1.2.1"], "does not have the source"),
        (["trtllm", "1.2.1", "--from", "x"], "imported"),
        (["vllm", "0.1.0", "--from", "absent.whl", "--print"], "absent.whl does not exist"),
        (["nosuch", "--all"], "no engine"),
    ],
)
def test_harvest_refuses(specconf: Run, argv: list[str], said: str) -> None:
    ran = specconf("db", "harvest", *argv)
    assert ran.code == 2
    assert said in ran.err


def test_a_source_that_holds_no_engine_is_refused(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "vllm-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vllm/__init__.py", "")
    ran = specconf("db", "harvest", "vllm", "--from", path, "--print", "--jobs", "1")
    assert ran.code == 2
    assert "0.1.0" in ran.err


def test_a_release_must_be_known_of_a_checkout(specconf: Run, tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    with zipfile.ZipFile(wheel(tmp_path, "0.1.0")) as archive:
        archive.extractall(folder)
    assert "which release" in specconf("db", "harvest", "vllm", "--from", folder, "--print").err
    ran = specconf("db", "harvest", "vllm", "0.1.0", "--from", folder, "--print", "--jobs", "1")
    assert ran.code == 0
    assert '"--port"' in ran.out


def test_show_says_where_a_row_was_read(specconf: Run) -> None:
    ran = specconf("db", "show", "vllm", "--tensor-parallel-size", "-r", "0.33.0")
    assert "tensor_parallel_size  (vllm.cli)" in ran.out
    assert "evidence: source 0.33.0 vllm/engine/arg_utils.py" in ran.out
    shown = json.loads(specconf("db", "show", "sglang", "cuda_graph_max_bs_decode", "-r", "0.5.19", "-f", "json").out)
    assert {name for row in shown["options"] for name in row["names"]} == {
        "--cuda-graph-max-bs-decode",
        "--cuda-graph-max-bs",
    }


def test_show_knows_tables_and_their_entries(specconf: Run) -> None:
    listed = specconf("db", "show", "vllm", "method_words", "-r", "0.33.0")
    assert "method_words: suffix" in listed.out
    entry = specconf("db", "show", "vllm", "Qwen3ForCausalLM")
    assert "model_registry: Qwen3ForCausalLM" in entry.out
    assert "vllm/model_executor/models/registry.py" in entry.out


def test_show_says_what_is_near(specconf: Run) -> None:
    ran = specconf("db", "show", "vllm", "tensor_paralel_size")
    assert ran.code == 2
    assert "Did you mean tensor_parallel_size" in ran.err
    assert "at 0.33.0" in specconf("db", "show", "vllm", "swap_space", "-r", "0.33.0").err


def test_diff_as_text_and_json(specconf: Run) -> None:
    ran = specconf("db", "diff", "sglang", "0.5.19", "0.5.20")
    assert ran.out.startswith("sglang 0.5.19 → 0.5.20: ")
    assert "names: - --cuda-graph-max-bs" in ran.out
    shown = json.loads(specconf("db", "diff", "vllm", "0.19.1", "0.20.0", "--options", "-f", "json").out)
    (memory,) = [one for one in shown["differences"] if one["name"] == "gpu_memory_utilization"]
    assert memory["values"]["default"] == {"from": 0.9, "to": 0.92}
    assert "no difference" in specconf("db", "diff", "vllm", "0.33.0", "0.33.0").out


def test_coverage(specconf: Run) -> None:
    ran = specconf("db", "coverage", "vllm", "-r", "0.33.0")
    assert "table model_registry:" in ran.out
    assert "vllm.speculative_config: " in ran.out
    shown = json.loads(specconf("db", "coverage", "-f", "json").out)
    assert list(shown["engines"]) == list(ENGINE_NAMES)
    for found in shown["engines"].values():
        assert all(row["options"] for row in found)


def test_lint_is_clean_and_finds_what_an_overlay_breaks(specconf: Run, tmp_path: Path) -> None:
    assert specconf("db", "lint", "--quick").code == 0
    folder = tmp_path / "own" / "vllm" / "constraints"
    folder.mkdir(parents=True)
    rule = {
        "id": "vllm/own-rule", "code": "SC999", "releases": [{}], "stage": "never", "effect": "warns",
        "when": {"option.nosuch": "set"}, "message": "No sentence", "evidence": [{"kind": "source", "ref": "house rule"}],
    }  # fmt: skip
    (folder / "own.yaml").write_text(yaml.safe_dump({"constraints": [rule]}), encoding="utf-8")
    ran = specconf("db", "lint", "vllm", "--quick", "--db", tmp_path / "own")
    assert ran.code == 1
    for said in (
        "SC999 is not registered",
        "not a sentence",
        "no fix",
        "option.nosuch, which no release has",
        "no probe",
        "no twin",
    ):
        assert said in ran.out
    shown = json.loads(specconf("db", "lint", "vllm", "--quick", "--db", tmp_path / "own", "-f", "json").out)
    assert {problem["about"] for problem in shown["problems"]} == {"vllm/own-rule"}


def test_an_overlay_of_harvested_rows_speaks_of_its_own_releases_only(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "own"
    for release in ("0.31.0", "0.33.0"):
        specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, release, 4321), "-o", out, "--jobs", "1")
    for release, port in (("0.31.0", 4321), ("0.32.0", 8000), ("0.33.0", 4321)):
        shown = json.loads(specconf("db", "show", "vllm", "port", "-r", release, "--db", out, "-f", "json").out)
        assert shown["options"][0]["default"] == port, release
    own = json.loads(specconf("db", "show", "vllm", "port", "-r", "0.33.0", "--db", out, "-f", "json").out)["options"][
        0
    ]
    assert own["releases"] == "[0.31.0, 0.32.0); 0.33.0 on"
    assert own["evidence"] == ["source 0.33.0 vllm/entrypoints/openai/cli_args.py 6"]
    assert specconf("db", "lint", "vllm", "--quick", "--db", out).code == 0


def test_an_overlay_of_a_release_that_is_not_known_is_refused(specconf: Run, tmp_path: Path) -> None:
    specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, "0.99.0"), "-o", tmp_path / "own", "--jobs", "1")
    ran = specconf("db", "show", "vllm", "port", "--db", tmp_path / "own")
    assert ran.code == 2
    assert "0.99.0" in ran.err
