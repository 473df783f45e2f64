"""The command line as a contract: exit codes, streams, formats, messages for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from specconf.codes import CODES
from specconf.schemas import NAMES, schema
from tests.cli.conftest import EXAMPLES, ROOT, Run

SPEC = EXAMPLES / "llama-eagle3.yaml"
ENGINES = ("vllm", "sglang", "tensorrt-llm")


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "spec.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_only_delivered_commands_are_listed(specconf: Run) -> None:
    ran = specconf("--help")
    assert ran.code == 0
    for name in ("check", "compile", "db", "explain", "import", "init", "lint", "schema", "upgrade"):
        assert f"  {name} " in ran.out
    for name in ("smoke",):
        assert f"  {name} " not in ran.out


def test_the_module_runs_like_the_script() -> None:
    ran = subprocess.run([sys.executable, "-m", "specconf", "schema"], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["title"]


def test_version_tells_the_database_and_its_newest_releases(specconf: Run) -> None:
    ran = specconf("--version")
    assert ran.code == 0
    assert "vllm 0.33.0" in ran.out
    assert "sglang 0.5.23" in ran.out
    assert "tensorrt-llm 1.2.1 (pre-release 1.4.0rc1)" in ran.out


@pytest.mark.parametrize("engine", ENGINES)
def test_compile_prints_the_artifact_alone_on_stdout(specconf: Run, engine: str) -> None:
    ran = specconf("compile", SPEC, "--engine", engine)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("#!/bin/sh\n")
    assert "no release given" in ran.err


@pytest.mark.parametrize("engine", ENGINES)
def test_the_argv_document_fits_its_schema_and_is_deterministic(specconf: Run, engine: str) -> None:
    first = specconf("compile", SPEC, "-e", engine, "-f", "argv")
    assert first.out == specconf("compile", SPEC, "-e", engine, "-f", "argv").out
    jsonschema.validate(json.loads(first.out), schema("argv"))


def test_reports_fit_their_schema(specconf: Run) -> None:
    for path in sorted(EXAMPLES.glob("*.yaml")):
        ran = specconf("check", path, "--format", "json")
        report = json.loads(ran.out)
        jsonschema.validate(report, schema("report"))
        worst = {f["severity"] for f in report["findings"]}
        assert ran.code == int("error" in worst), path.name


@pytest.mark.parametrize("name", NAMES)
def test_published_schemas_are_those_of_the_code(specconf: Run, name: str) -> None:
    published = (ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    assert json.loads(published) == schema(name)
    assert json.loads(specconf("schema", name).out) == schema(name)


def test_output_folder(specconf: Run, tmp_path: Path) -> None:
    ran = specconf("compile", SPEC, "-e", "trtllm", "-r", "1.4.0rc1", "-o", tmp_path / "out")
    assert (ran.code, ran.out) == (0, "")
    script = (tmp_path / "out" / "launch.sh").read_text(encoding="utf-8")
    assert "--config speculative.yaml" in script
    assert "<<" not in script
    assert yaml.safe_load((tmp_path / "out" / "speculative.yaml").read_text(encoding="utf-8"))["speculative_config"]
    assert (tmp_path / "out" / "launch.sh").stat().st_mode & 0o100


@pytest.mark.parametrize("engine", ENGINES)
def test_the_script_is_self_contained_and_posix(specconf: Run, engine: str, tmp_path: Path) -> None:
    script = specconf("compile", SPEC, "-e", engine).out
    path = tmp_path / "launch.sh"
    path.write_text(script, encoding="utf-8")
    checked = subprocess.run(["/bin/sh", "-n", path], check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", ["shell", "argv"])
def test_what_is_compiled_imports_to_a_spec_that_compiles_the_same(
    specconf: Run, engine: str, form: str, tmp_path: Path
) -> None:
    for example in ("llama-eagle3", "llama-draft-model", "mimo-mtp"):
        first = specconf("compile", EXAMPLES / f"{example}.yaml", "-e", engine, "-f", form)
        if first.code:
            continue
        suffix = "sh" if form == "shell" else "json"
        launch = tmp_path / f"{example}.{suffix}"
        body = "\n".join(line for line in first.out.splitlines() if not line.startswith("# "))
        launch.write_text(body + "\n", encoding="utf-8")
        imported = specconf("import", launch)
        assert imported.code == 0, imported.err
        again = specconf("compile", write(tmp_path, imported.out), "-e", engine, "-f", form)
        assert again.code == 0, again.err
        assert _launch(again.out, form) == _launch(first.out, form)


def _launch(text: str, form: str) -> Any:
    if form == "shell":
        return text
    document = json.loads(text)
    return document["argv"], document["env"], document["files"]


def test_a_refused_spec_is_written_only_when_forced_and_then_marked(specconf: Run) -> None:
    refused = EXAMPLES / "llama-mtp.yaml"
    assert specconf("compile", refused, "-e", "vllm").out == ""
    forced = specconf("compile", refused, "-e", "vllm", "--force")
    assert forced.code == 0
    assert "# FORCED in spite of" in forced.out
    document = json.loads(specconf("compile", refused, "-e", "vllm", "--force", "-f", "argv").out)
    assert document["forced"] is True
    assert document["findings"]


def test_members_of_other_methods_are_not_in_the_effective_configuration(specconf: Run) -> None:
    ran = specconf("compile", EXAMPLES / "llama-eagle3.yaml", "-e", "trtllm", "-r", "1.2.1", "--effective")
    members = {path for path in json.loads(ran.out)["effective"] if path.startswith("speculative_config.")}
    assert "speculative_config.eagle3_one_model" in members
    assert not members & {"speculative_config.num_medusa_heads", "speculative_config.relaxed_topk"}


def test_effective_configuration(specconf: Run) -> None:
    ran = specconf("compile", EXAMPLES / "llama-draft-model-sglang.yaml", "-e", "sglang", "-r", "0.5.23", "--effective")
    effective = json.loads(ran.out)["effective"]
    assert effective["speculative_num_draft_tokens"] == {"value": 5, "origin": "written"}


def test_check_over_all_releases_is_green_if_one_release_can_run_it(specconf: Run) -> None:
    spec = EXAMPLES / "llama-draft-model.yaml"
    ran = specconf("check", spec, "-e", "vllm", "--all-releases")
    assert ran.code == 0, ran.out
    assert "refused" in ran.out
    assert "1 file, " in ran.out
    assert specconf("check", EXAMPLES / "llama-mtp.yaml", "-e", "vllm", "--all-releases").code == 1


def test_select_and_ignore(specconf: Run) -> None:
    spec = EXAMPLES / "llama-mtp.yaml"
    assert specconf("check", spec, "-e", "vllm", "--ignore", "SC3").code == 0
    assert specconf("check", spec, "-e", "vllm", "--select", "SC1").code == 0
    assert specconf("check", spec, "-e", "vllm", "--select", "SC301").code == 1
    assert specconf("check", spec, "-e", "vllm", "--select", "SC999").code == 2


def test_fail_on(specconf: Run) -> None:
    spec = EXAMPLES / "llama-draft-model-sglang.yaml"
    assert specconf("check", spec, "-e", "sglang", "-r", "0.5.23").code == 0
    assert specconf("check", spec, "-e", "sglang", "-r", "0.5.23", "--fail-on", "info").code == 1


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (["compil", "x"], "Did you mean compile"),
        (["compile", SPEC, "-e", "vlm"], "is no engine"),
        (["compile", SPEC], "Choose one with --engine"),
        (["compile", SPEC, "-e", "vllm", "-r", "0.1.0"], "older than the oldest release"),
        (["compile", SPEC, "-e", "vllm", "-r", "latest"], "is not a version"),
        (["compile", "absent.yaml", "-e", "vllm"], "no such file"),
        (["compile", SPEC, "-e", "vllm", "--online", "--offline"], "exclude each other"),
        (["check", SPEC, "-r", "0.33.0"], "does not say of which engine"),
        (["check", SPEC, "-e", "vllm", "-r", "sglang=0.5.23"], "--engine leaves out"),
        (["check", SPEC, "--all-releases", "-r", "vllm=0.33.0"], "exclude each other"),
        (["explain", "SC3O2"], "neither a finding code nor a constraint"),
        (["db", "show", "vllm", "num_speculative_token"], "Did you mean"),
        (["db", "releases", "llama.cpp"], "is no engine"),
    ],
)
def test_usage_errors(specconf: Run, argv: list[str], part: str) -> None:
    ran = specconf(*argv)
    assert ran.code == 2
    assert part in ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ":1:1"),
        ("specconf: 1\ntarget: {model: a/b}\nspeculation: {methd: eagle}\n", "Did you mean method"),
        ("specconf: 1\ntarget: {model: a/b}\ntarget: {model: a/b}\nspeculation: {method: none}\n", ":3:1"),
        ("specconf: 1\ntarget: {model: a/b}\nspeculation: {method: none}\nserving:\n\tport: 1\n", ":5:1"),
        (b"\xff\xfe\x00", "UTF-8"),
        ("specconf: 1\nengines: {vllm: {release: 0.33}}\ntarget: {model: a}\nspeculation: {method: none}\n", '"0.33"'),
    ],
)
def test_bad_specs_name_file_line_and_column(specconf: Run, tmp_path: Path, text: str | bytes, part: str) -> None:
    path = write(tmp_path, text)
    ran = specconf("compile", path, "-e", "vllm")
    assert ran.code == 2
    assert str(path) in ran.err
    assert part.lower() in ran.err.lower()


def test_a_newer_release_is_judged_as_the_newest_and_says_so(specconf: Run) -> None:
    ran = specconf("check", SPEC, "-e", "vllm", "-r", "0.99.0", "-f", "json")
    report = json.loads(ran.out)
    assert report["matrix"][0]["release"] == "0.99.0"
    assert "newer than this database of 2026-11-02 knows; it is judged as 0.33.0" in ran.err


def test_an_unknown_option_of_the_spec(specconf: Run, tmp_path: Path) -> None:
    text = SPEC.read_text(encoding="utf-8") + "engines:\n  vllm: {options: {gpu-memory-utilisation: 0.8}}\n"
    path = write(tmp_path, text)
    ran = specconf("compile", path, "-e", "vllm", "-r", "0.33.0")
    assert ran.code == 1
    assert "SC101" in ran.err
    assert "gpu-memory-utilization" in ran.err.replace("_", "-")
    assert f"{path}:" in ran.err


def test_an_option_that_contradicts_a_field(specconf: Run, tmp_path: Path) -> None:
    text = SPEC.read_text(encoding="utf-8") + "engines:\n  vllm: {options: {speculative_config: {method: eagle}}}\n"
    ran = specconf("compile", write(tmp_path, text), "-e", "vllm", "-r", "0.33.0")
    assert ran.code == 1
    assert "SC252" in ran.err


def test_null_removes_what_the_spec_would_emit(specconf: Run, tmp_path: Path) -> None:
    text = SPEC.read_text(encoding="utf-8") + (
        "engines:\n  trtllm: {options: {speculative_config: {allow_advanced_sampling: null}}}\n"
    )
    ran = specconf("compile", write(tmp_path, text), "-e", "trtllm", "-r", "1.2.1", "--force", "-f", "argv")
    assert "allow_advanced_sampling" not in json.loads(ran.out)["files"]["speculative.yaml"]


def test_explain_a_code_and_a_constraint(specconf: Run) -> None:
    code = specconf("explain", "SC302")
    assert code.code == 0
    assert CODES["SC302"].name in code.out
    identifier = next(w for w in code.out.split() if w.startswith("vllm/"))
    one = specconf("explain", identifier)
    assert one.code == 0
    for part in ("fix:", "releases:", "evidence:", "meets it"):
        assert part in one.out
    assert json.loads(specconf("explain", identifier, "-f", "json").out)["constraints"][0]["id"] == identifier


def test_db_releases_and_show(specconf: Run) -> None:
    assert specconf("db", "releases", "sglang").out.splitlines()[-1].startswith("0.5.23")
    shown = specconf("db", "show", "vllm", "speculative_config.num_speculative_tokens")
    assert shown.code == 0
    assert "speculative_config.num_speculative_tokens" in shown.out
    assert json.loads(specconf("db", "show", "trtllm", "max_draft_len", "-f", "json").out)["options"]


def test_an_overlay_adds_a_constraint(specconf: Run, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "vllm" / "constraints"
    folder.mkdir(parents=True)
    rule = {
        "id": "vllm/own-rule",
        "code": "SC202",
        "releases": [{}],
        "stage": "never",
        "effect": "warns",
        "severity": "warning",
        "when": {"option.speculative_config.num_speculative_tokens": {"gt": 3}},
        "message": "Our cluster allows at most 3 draft tokens.",
        "fix": "Set K to 3.",
        "evidence": [{"kind": "source", "ref": "house rule"}],
    }
    (folder / "own.yaml").write_text(yaml.safe_dump({"constraints": [rule]}), encoding="utf-8")
    ran = specconf("check", SPEC, "-e", "vllm", "--db", tmp_path / "own")
    assert "Our cluster allows at most 3 draft tokens." in ran.out
    assert specconf("check", SPEC, "-e", "vllm", "--db", tmp_path / "none").code == 2


def test_import_finds_nothing(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "script.sh"
    path.write_text("echo hello\n", encoding="utf-8")
    assert specconf("import", path).code == 3


def test_import_asks_which_of_several(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "script.sh"
    path.write_text("vllm serve a/b\nvllm serve c/d\n", encoding="utf-8")
    assert specconf("import", path).code == 2
    second = specconf("import", path, "--launch", "2")
    assert second.code == 0
    assert yaml.safe_load(second.out)["target"]["model"] == "c/d"


def test_import_keeps_what_has_no_field(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "script.sh"
    path.write_text("vllm serve a/b --max-logprobs 7 --tensor-parallel-size 2\n", encoding="utf-8")
    spec = yaml.safe_load(specconf("import", path, "-r", "vllm=0.33.0").out)
    assert spec["serving"]["tensor_parallel_size"] == 2
    assert spec["engines"]["vllm"] == {"release": "0.33.0", "options": {"max_logprobs": 7}}


def test_help_is_fast_and_commands_stay_lazy() -> None:
    """Neither help nor version may import what only other commands need."""
    code = (
        "import sys\nfrom specconf.cli.main import main\nsys.argv = ['specconf', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('pydantic', 'jsonschema', 'huggingface_hub', 'yaml', 'tree_sitter') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_import_of_a_number_that_no_spec_holds(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text("vllm serve a/b --max-num-seqs 99999999999999999999\n", encoding="utf-8")
    ran = specconf("import", path, "-r", "vllm=0.33.0")
    assert ran.code == 2
    assert "a value that a spec cannot" in ran.err


def test_speculation_in_the_words_of_another_engine_is_told(specconf: Run, tmp_path: Path) -> None:
    text = (
        "specconf: 1\ntarget: {model: a/b}\nspeculation: {method: none}\n"
        "engines:\n  vllm: {options: {speculative-config: {method: deepseek_mtp, num_speculative_tokens: 1}}}\n"
    )
    ran = specconf("check", write(tmp_path, text), "-e", "sglang")
    assert "warning SC250 engines.vllm.options speculate" in ran.out


def test_would_pass_can_be_followed_to_the_letter(specconf: Run) -> None:
    ran = specconf("check", EXAMPLES / "llama-draft-model-sglang.yaml", "-r", "vllm=0.12.0", "-f", "json")
    (method,) = [a for a in json.loads(ran.out)["matrix"][0]["alternatives"] if "speculation.method" in a["changes"]]
    assert "speculation.tree.topk" in method["text"]
