"""`--ask-engine` and `--engine-python` on check and compile, with a pretended engine."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import jsonschema
import pytest

from specconf.errors import OracleError
from specconf.oracle import building
from specconf.schemas import schema
from tests.cli.conftest import EXAMPLES, Run
from tests.example_models import CONFIGS, FIXTURES
from tests.oracle.pretend import make_environment
from tests.oracle.pretended_trtllm import NEW

NEWEST = "trtllm=1.4.0rc1"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("trtllm") / "env", NEW)


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An example beside the whole config.json of its models, and no environment anywhere."""
    for name in ("meta-llama/Llama-3.1-8B-Instruct", "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"):
        (tmp_path / name).mkdir(parents=True)
        shutil.copy(FIXTURES / CONFIGS[name] / "config.json", tmp_path / name)
    monkeypatch.setenv("SPECCONF_ENGINE_CACHE", str(tmp_path / "engines"))
    return Path(shutil.copy(EXAMPLES / "llama-eagle3.yaml", tmp_path))


def refused_by_the_engine(spec: Path) -> Path:
    """The pretended engine refuses more than seven draft tokens."""
    spec.write_text(spec.read_text().replace("num_draft_tokens: 4", "num_draft_tokens: 9"))
    return spec


def test_check_shows_both_verdicts(specconf: Run, spec: Path, python: Path) -> None:
    ran = specconf("check", spec, "-r", NEWEST, "--ask-engine", "--engine-python", python)
    assert ran.code == 0, ran.err
    assert "asked tensorrt-llm 1.4.0rc1 itself, on the cuda devices of its machine" in ran.out
    assert "specconf  passes" in ran.out
    assert "engine    accepts, up to config" in ran.out
    assert "agree     yes" in ran.out
    assert "nothing about loading weights, requests, kernels or real memory" in ran.out
    assert "engines asked: 1 of 1 answered, 1 agree with specconf" in ran.out
    assert f"importing tensorrt-llm in the environment of {python}, which takes some seconds" in ran.err


def test_the_json_report_holds_both_and_fits_its_schema(specconf: Run, spec: Path, python: Path) -> None:
    ran = specconf("check", spec, "-r", NEWEST, "--ask-engine", "--engine-python", python, "-f", "json")
    report = json.loads(ran.out)
    jsonschema.validate(report, schema("report"))
    asked = report["matrix"][0]["asked"]
    assert asked["specconf"]["verdict"] == "passes"
    assert (asked["engine"]["verdict"], asked["engine"]["stage"], asked["agree"]) == ("accepts", "config", True)
    assert {row["name"] for row in report["not_known_from_asking"][0]["excluded"]} >= {"no-gpu", "missing-model"}


def test_without_the_flag_the_report_says_that_nobody_was_asked(specconf: Run, spec: Path) -> None:
    report = json.loads(specconf("check", spec, "-r", NEWEST, "-f", "json").out)
    jsonschema.validate(report, schema("report"))
    assert report["matrix"][0]["asked"] is None
    assert report["not_known_from_asking"] == []


def test_an_engine_that_refuses_what_we_pass_makes_the_exit_code_1(specconf: Run, spec: Path, python: Path) -> None:
    path = refused_by_the_engine(spec)
    assert specconf("check", path, "-r", NEWEST).code == 0
    ran = specconf("check", path, "-r", NEWEST, "--ask-engine", "--engine-python", python, "--quiet")
    assert ran.code == 1
    assert "rejects at config: ValidationError: speculative_config Value error, max_draft_len is too large" in ran.out
    assert "the engine refuses what specconf passes; the engine wins" in ran.out


def test_of_several_releases_the_one_in_the_environment_is_asked(specconf: Run, spec: Path, python: Path) -> None:
    ran = specconf("check", spec, "-r", "trtllm=1.2.1", "-r", NEWEST, "--ask-engine", "--engine-python", python)
    assert f"not asked: {python} holds tensorrt-llm 1.4.0rc1." in ran.out
    assert "engines asked: 1 of 2 answered, 1 agree" in ran.out


@pytest.mark.parametrize("command", ["check", "compile"])
def test_another_release_in_the_environment_is_an_error_that_names_both(
    specconf: Run, spec: Path, python: Path, command: str
) -> None:
    ran = specconf(command, spec, "-e", "trtllm", "-r", "1.2.1", "--ask-engine", "--engine-python", python)
    assert ran.code == 2
    assert f"{python} holds tensorrt-llm 1.4.0rc1, and 1.2.1 is to be judged" in ran.err
    assert "--release tensorrt-llm=1.4.0rc1" in ran.err
    assert ran.out == ""


def test_a_python_is_of_one_engine(specconf: Run, spec: Path, python: Path) -> None:
    ran = specconf("check", spec, "--ask-engine", "--engine-python", python)
    assert ran.code == 2
    assert "holds one engine, and vllm, sglang, tensorrt-llm are asked for" in ran.err


def test_a_python_alone_asks_nothing(specconf: Run, spec: Path, python: Path) -> None:
    ran = specconf("check", spec, "-r", NEWEST, "--engine-python", python)
    assert ran.code == 2
    assert "Add --ask-engine" in ran.err


def test_a_python_that_is_not_there(specconf: Run, spec: Path) -> None:
    ran = specconf("check", spec, "-r", NEWEST, "--ask-engine", "--engine-python", "/no/such/python")
    assert ran.code == 2
    assert ran.err.startswith("specconf: /no/such/python does not exist.\n")


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("command", ["check", "compile"])
def test_a_python_without_the_engine_is_told_in_one_line(
    specconf: Run, spec: Path, command: str, verbose: bool
) -> None:
    words = (command, spec, "-r", "sglang=0.5.23", "--ask-engine", "--engine-python", sys.executable)
    ran = specconf(*words, *(["--verbose"] if verbose else []))
    assert ran.code == 2
    assert re.search(rf"^specconf: {re.escape(sys.executable)} has no package \w+\.$", ran.err, re.MULTILINE)
    assert ("Traceback" in ran.err) is verbose


def test_tensorrt_llm_needs_a_python_of_the_users(specconf: Run, spec: Path) -> None:
    ran = specconf("check", spec, "-r", NEWEST, "--ask-engine")
    assert "not asked: no environment of TensorRT-LLM can be built" in ran.out
    assert "--engine-python PATH" in ran.out


@pytest.mark.parametrize("form", ["text", "json"])
def test_where_nothing_could_be_asked_the_exit_code_is_1_and_the_last_line_says_why(
    specconf: Run, spec: Path, form: str
) -> None:
    assert specconf("check", spec, "-r", NEWEST).code == 0
    ran = specconf("check", spec, "-r", NEWEST, "--ask-engine", "--quiet", "-f", form)
    assert ran.code == 1
    assert ran.err.splitlines()[-1].startswith("specconf: nothing could be asked: no environment of TensorRT-LLM")


def test_where_one_release_could_be_asked_the_others_do_not_make_the_exit_code_1(
    specconf: Run, spec: Path, python: Path
) -> None:
    ran = specconf("check", spec, "-r", "trtllm=1.2.1", "-r", NEWEST, "--ask-engine", "--engine-python", python)
    assert ran.code == 0
    assert "nothing could be asked" not in ran.err


def test_compile_writes_nothing_that_could_not_be_asked_about(specconf: Run, spec: Path) -> None:
    words = ("compile", spec, "-e", "trtllm", "-r", "1.4.0rc1", "--ask-engine")
    ran = specconf(*words)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[-1].startswith("specconf: nothing could be asked: no environment of TensorRT-LLM")
    assert "--force writes it all the same" in ran.err
    forced = specconf(*words, "--force")
    assert forced.code == 0
    assert "FORCED" not in forced.out


def test_a_cache_that_cannot_be_written_is_told(
    specconf: Run, spec: Path, python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECCONF_ENGINE_CACHE", str(spec))
    ran = specconf("check", spec, "-r", NEWEST, "--ask-engine", "--engine-python", python)
    assert ran.code == 2
    assert f"what the engine keeps between runs cannot be written: {spec}" in ran.err
    assert "SPECCONF_ENGINE_CACHE" in ran.err


def test_models_whose_config_is_not_at_hand_are_not_asked_about(specconf: Run, spec: Path, python: Path) -> None:
    spec.write_text(spec.read_text().replace("meta-llama/Llama-3.1-8B-Instruct", "nobody/knows-it"))
    ran = specconf("check", spec, "-r", NEWEST, "--ask-engine", "--engine-python", python)
    assert "not asked: the whole config.json of nobody/knows-it is not at hand; point target.model at" in ran.out
    assert "asked tensorrt-llm 1.4.0rc1 itself" not in ran.out


def test_all_releases_build_nothing(specconf: Run, spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "build", lambda *_: pytest.fail("an environment was built"))
    ran = specconf("check", spec, "-e", "vllm", "--all-releases", "--ask-engine")
    assert "of all releases, only those were asked whose environment is built already" in ran.err
    assert "engines asked: 0 of " in ran.out
    assert (ran.code, "because: no environment of vllm 0.33.0 is built" in ran.err) == (1, True)


def test_an_environment_that_is_absent_is_built_with_a_notice(
    specconf: Run, spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = []

    def build(engine: str, release: str, **_: object) -> Path:
        wanted.append((engine, release))
        raise OracleError("the index cannot be reached")

    monkeypatch.setattr(building, "build", build)
    ran = specconf("check", spec, "-r", "vllm=0.33.0", "--ask-engine")
    assert wanted == [("vllm", "0.33.0")]
    assert "building an environment of vllm 0.33.0 under" in ran.err
    assert "minutes and 2 GB" in ran.err
    assert "not asked: no environment of vllm 0.33.0 could be built: the index cannot be reached" in ran.out


def test_compile_writes_what_the_engine_takes(specconf: Run, spec: Path, python: Path) -> None:
    words = ("compile", spec, "-e", "trtllm", "-r", "1.4.0rc1", "--ask-engine", "--engine-python", python)
    ran = specconf(*words)
    assert ran.code == 0
    assert ran.out.startswith("#!/bin/sh\n")
    assert "agree     yes" in ran.err
    document = json.loads(specconf(*words, "-f", "argv").out)
    jsonschema.validate(document, schema("argv"))
    assert document["asked"]["agree"] is True


def test_compile_does_not_write_what_the_engine_refuses(specconf: Run, spec: Path, python: Path) -> None:
    path = refused_by_the_engine(spec)
    words = ("compile", path, "-e", "trtllm", "-r", "1.4.0rc1", "--ask-engine", "--engine-python", python)
    ran = specconf(*words)
    assert (ran.code, ran.out) == (1, "")
    assert "the engine wins" in ran.err
    forced = specconf(*words, "--force")
    assert forced.code == 0
    assert "# FORCED in spite of 1 error" in forced.out
