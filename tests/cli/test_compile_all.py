"""`specconf compile --all`: every engine and format in one folder, an index of them, and what is refused or stale."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specconf.compat.names import ENGINE_NAMES
from specconf.emit import FORMATS
from specconf.report.index import MARK, listed_files
from specconf.schemas import schema
from tests.cli.conftest import EXAMPLES, Run

SPEC = EXAMPLES / "llama-eagle3.yaml"
SUFFIX = "specconf: 1\ntarget: {model: owner/a}\nspeculation: {method: suffix}\n"


def written(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text(encoding="utf-8") for p in folder.rglob("*") if p.is_file()}


def index_of(folder: Path) -> dict[str, Any]:
    index: dict[str, Any] = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    jsonschema.validate(index, schema("index"))
    return index


def spec(folder: Path, text: str) -> Path:
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_engine_is_written_in_every_format_as_one_by_one(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = specconf("compile", SPEC, "--all", "-o", out)
    assert (ran.code, ran.out) == (0, ""), ran.err
    index = index_of(out)
    assert [each["engine"] for each in index["launches"]] == [*ENGINE_NAMES]
    listed = {f for each in index["launches"] for form in each["formats"] for f in form["files"]}
    assert listed | {"index.json", "README.md"} == {*written(out)}
    for engine in ENGINE_NAMES:
        for form in FORMATS:
            alone = tmp_path / engine / form
            assert specconf("compile", SPEC, "-e", engine, "-f", form, "-o", alone).code == 0
            assert written(alone) == written(out / engine / form), (engine, form)
            for name in FORMATS[form].executable:
                assert (out / engine / form / name).stat().st_mode & 0o100
    for each in index["launches"]:
        assert f"{each['release']} ({each['release_from']})" in written(out)["README.md"]


def test_the_engines_and_releases_are_those_that_compile_would_choose(specconf: Run, tmp_path: Path) -> None:
    text = SPEC.read_text(encoding="utf-8") + 'engines: {vllm: {release: "0.32.0"}, sglang: {}}\n'
    out = tmp_path / "out"
    assert specconf("compile", spec(tmp_path, text), "--all", "-o", out, "-r", "sglang=0.5.22").code == 0
    found = [(each["engine"], each["release"], each["release_from"]) for each in index_of(out)["launches"]]
    assert found == [("vllm", "0.32.0", "engines.vllm.release"), ("sglang", "0.5.22", "command line")]
    assert not (out / "tensorrt-llm").exists()


def test_it_is_deterministic(specconf: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        specconf("compile", SPEC, "--all", "-o", tmp_path / name)
    before = written(tmp_path / "a")
    assert before == written(tmp_path / "b")
    specconf("compile", SPEC, "--all", "-o", tmp_path / "a")
    assert before == written(tmp_path / "a"), "a second run leaves the same bytes, and nothing is stale"


def test_one_that_is_refused_stops_no_other(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = specconf("compile", spec(tmp_path, SUFFIX), "--all", "-o", out)
    assert ran.code == 1
    by_engine = {each["engine"]: each for each in index_of(out)["launches"]}
    assert by_engine["sglang"]["refused"] == "findings at or above error: SC201"
    assert by_engine["sglang"]["formats"] == []
    assert [f["code"] for f in by_engine["sglang"]["findings"] if f["severity"] == "error"] == ["SC201"]
    assert "refused: SGLang" in ran.err
    assert not (out / "sglang").exists()
    page = written(out)["README.md"]
    assert "- Refused: findings at or above error: SC201" in page
    assert "- error SC201: " in page


def test_forced_ones_are_marked_and_nothing_is_refused(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert specconf("compile", EXAMPLES / "llama-mtp.yaml", "--all", "-o", out, "--force").code == 0
    for each in index_of(out)["launches"]:
        assert each["forced"] is any(f["severity"] == "error" for f in each["findings"])
        for form in each["formats"]:
            marked = any(
                "FORCED" in written(out)[name] or '"forced": true' in written(out)[name] for name in form["files"]
            )
            assert marked is each["forced"], form["format"]
    assert any(each["forced"] for each in index_of(out)["launches"])


def test_a_release_that_is_not_known_refuses_its_engine_alone(specconf: Run, tmp_path: Path) -> None:
    text = SPEC.read_text(encoding="utf-8") + 'engines: {vllm: {release: "0.0.1"}, sglang: {}}\n'
    out = tmp_path / "out"
    assert specconf("compile", spec(tmp_path, text), "--all", "-o", out).code == 1
    vllm, sglang = index_of(out)["launches"]
    assert (vllm["release"], vllm["release_from"]) == ("0.0.1", "engines.vllm.release")
    assert "0.0.1" in vllm["refused"]
    assert sglang["refused"] is None
    assert sglang["formats"]


def test_a_format_that_a_release_does_not_have_is_refused_alone(specconf: Run, tmp_path: Path) -> None:
    text = 'specconf: 1\ntarget: {model: owner/a}\nspeculation: {method: none}\nengines: {sglang: {release: "0.4.0"}}\n'
    out = tmp_path / "out"
    alone = specconf("compile", spec(tmp_path, text), "-f", "engine-yaml")
    ran = specconf("compile", spec(tmp_path, text), "--all", "-o", out)
    assert (alone.code, ran.code) == (2, 1)
    forms = {form["format"]: form for form in index_of(out)["launches"][0]["formats"]}
    assert forms["engine-yaml"]["files"] == []
    assert forms["engine-yaml"]["refused"] in alone.err
    assert forms["shell"]["files"] == ["sglang/shell/launch.sh"]
    assert "refused: engine-yaml of SGLang" in ran.err


def test_files_of_an_earlier_run_are_stale_and_stay(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    specconf("compile", SPEC, "--all", "-o", out)
    before = written(out)
    text = SPEC.read_text(encoding="utf-8") + "engines: {vllm: {}}\n"
    ran = specconf("compile", spec(tmp_path, text), "--all", "-o", out)
    gone = sorted(name for name in before if name.startswith(("sglang/", "tensorrt-llm/")))
    assert index_of(out)["stale"] == gone
    assert f"stale, written by an earlier run: {gone[0]}" in ran.err
    assert {name: written(out)[name] for name in gone} == {name: before[name] for name in gone}
    assert f"- `{gone[0]}`" in written(out)["README.md"]
    (out / gone[0]).unlink()
    specconf("compile", spec(tmp_path, text), "--all", "-o", out)
    assert index_of(out)["stale"] == gone[1:], "still told by the third run, as far as it is there"
    specconf("compile", SPEC, "--all", "-o", out)
    assert index_of(out)["stale"] == []


@pytest.mark.parametrize("name", ["README.md", "index.json"])
def test_somebodys_own_file_is_not_written_over(specconf: Run, tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("{}", encoding="utf-8")
    ran = specconf("compile", SPEC, "--all", "-o", out)
    assert ran.code == 2
    assert "no earlier run wrote it" in ran.err
    assert written(out) == {name: "{}"}


def test_a_place_that_cannot_be_written_leaves_everything_as_it_was(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    specconf("compile", SPEC, "--all", "-o", out)
    before = written(out)
    (out / "sglang" / "argv" / "launch.json").unlink()
    (out / "sglang" / "argv" / "launch.json").mkdir()
    text = SPEC.read_text(encoding="utf-8").replace("num_draft_tokens: 4", "num_draft_tokens: 3")
    ran = specconf("compile", spec(tmp_path, text), "--all", "-o", out)
    assert ran.code == 2
    assert "a folder of that name is there" in ran.err
    assert written(out) == {name: text for name, text in before.items() if name != "sglang/argv/launch.json"}
    (out / "sglang" / "argv" / "launch.json").rmdir()
    assert specconf("compile", spec(tmp_path, text), "--all", "-o", out).code == 0
    assert {*written(out)} == {*before}, "what was prepared is taken away"


def test_an_index_names_no_file_outside_its_folder() -> None:
    index = {"schema": 1, "launches": [], "stale": ["a/b", "../c", "/d", 3]}
    assert listed_files(json.dumps(index)) == {"a/b"}
    for broken in ("", "[]", "{}", '{"schema": 2}', '{"schema": 1, "launches": 3}'):
        assert listed_files(broken) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Add -o DIR"),
        (["-o", "x", "-e", "vllm"], "--engine has no place"),
        (["-o", "x", "-f", "shell"], "--format has no place"),
        (["-o", "x", "--effective"], "--effective has no place"),
        (["-o", "x", "--ask-engine"], "--ask-engine has no place"),
        (["-o", "x", "-r", "vllm=0.33.0", "-r", "vllm=0.32.0"], "2 releases of vllm"),
        (["-o", "x", "-r", "0.33.0"], "does not say of which engine"),
    ],
)
def test_what_has_no_place_beside_all(
    specconf: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = specconf("compile", SPEC, "--all", *words)
    assert (ran.code, list(tmp_path.iterdir())) == (2, [])
    assert said in ran.err


def test_a_release_of_an_engine_that_the_spec_leaves_out(specconf: Run, tmp_path: Path) -> None:
    text = SPEC.read_text(encoding="utf-8") + "engines: {vllm: {}}\n"
    ran = specconf("compile", spec(tmp_path, text), "--all", "-o", tmp_path / "out", "-r", "sglang=0.5.23")
    assert ran.code == 2
    assert "--release names sglang" in ran.err


def test_what_is_written_starts(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    specconf("compile", SPEC, "--all", "-o", out, "-q")
    assert written(out)["README.md"].startswith(MARK)
    for script in out.rglob("launch.sh"):
        subprocess.run(["/bin/sh", "-n", script], check=True)
