"""`specconf init`: a commented spec from options, from a launch, from answers on a terminal; nothing else is ever asked."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specconf.cli.init_fields import FLAGS
from specconf.spec import load_spec
from specconf.spec.fields import ALL_FIELDS
from specconf.spec.methods import METHODS, DraftUse, Method
from specconf.spec.model import Spec
from tests.cli.conftest import EXAMPLES, ROOT, Run

ENGINES = {"vllm": "0.33.0", "sglang": "0.5.23", "tensorrt-llm": "1.4.0rc1"}
CTRL_C = b"\x03"
TOKEN = "hf_" + "a" * 20
MODEL = "meta-llama/Llama-3.1-8B-Instruct"


@pytest.fixture(autouse=True)
def _nobody_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Path(os.devnull).open(encoding="utf-8"))  # noqa: SIM115 (pytest ends with it)


def spec_in(text: str) -> Spec:
    return load_spec(text, "spec.yaml").spec


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", Method)
def test_what_is_given_is_what_the_spec_sets(specconf: Run, method: Method, engine: str) -> None:
    given = {"target.model": MODEL, "target.max_model_len": 2048, "speculation.method": str(method)}
    if METHODS[method].draft is DraftUse.NEEDS:
        given["speculation.draft.model"] = "owner/draft"
    if METHODS[method].uses_k:
        given["speculation.num_draft_tokens"] = 4
    given |= {"serving.tensor_parallel_size": 2, "serving.seed": 7, "hardware.gpu": "H100", "objective.goal": "latency"}
    options = {flag.field: flag.option for flag in FLAGS}
    words: list[str] = []
    for field, value in given.items():
        words += [options[field], str(value)] if field in options else ["--set", f"{field}={value}"]
    ran = specconf("init", *words, "-e", f"{engine}={ENGINES[engine]}")
    assert ran.code == 0, ran.err
    spec = spec_in(ran.out)
    assert spec.set_fields() == Spec.from_fields(given).set_fields()
    assert spec.engine_settings() == {engine: {"release": ENGINES[engine]}}
    assert f"{ENGINES[engine]} (engines.{engine}.release)" in ran.err
    assert specconf("init", *words, "-e", f"{engine}={ENGINES[engine]}") == ran


def test_each_option_sets_a_field_of_its_own() -> None:
    assert len({flag.field for flag in FLAGS}) == len({flag.option for flag in FLAGS}) == len(FLAGS)
    assert {flag.field for flag in FLAGS} <= {*ALL_FIELDS}


def test_lists_and_switches(specconf: Run) -> None:
    ran = specconf(
        "init", "--model", MODEL, "--method", "none", "--feature", "lora", "--feature", "tools", "--concurrency", "1",
        "--concurrency", "16", "--trust-remote-code", "false", "--set", "speculation.verification=exact",
    )  # fmt: skip
    fields = spec_in(ran.out).set_fields()
    assert (fields["features"], fields["workload.concurrency"]) == (["lora", "tools"], [1, 16])
    assert fields["target.trust_remote_code"] is False


@pytest.mark.parametrize(
    ("model", "method", "draft", "why"),
    [
        ("XiaomiMiMo/MiMo-7B-Base", "mtp", None, "MTP layers (1)"),
        (MODEL, "eagle3", "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "published EAGLE3 head"),
        ("owner/unheard-of", "ngram", None, "is not at hand"),
    ],
)
def test_a_method_that_is_not_given_is_proposed_with_the_reason(
    specconf: Run, model: str, method: str, draft: str | None, why: str
) -> None:
    ran = specconf("init", "--model", model)
    assert ran.code == 0
    fields = spec_in(ran.out).set_fields()
    assert (fields["speculation.method"], fields.get("speculation.draft.model")) == (method, draft)
    said = " ".join(line.strip().removeprefix("# ") for line in ran.out.splitlines())
    assert "Proposed: " in said
    assert why in said
    for engine in ("vLLM", "SGLang", "TensorRT-LLM"):
        assert f"== {engine} " in ran.err, "no engine is named, so all are looked at"


def test_findings_name_the_lines_of_what_is_written(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "spec.yaml"
    ran = specconf("init", "--model", MODEL, "--method", "suffix", "-e", "sglang", "-o", out)
    assert (ran.code, ran.out) == (0, "")
    line = out.read_text(encoding="utf-8").splitlines().index("  method: suffix") + 1
    assert f"at   {out}:{line}:11" in ran.err
    assert "error SC201" in ran.err


def test_a_file_is_written_over_only_when_forced(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "spec.yaml"
    out.write_text("mine", encoding="utf-8")
    refused = specconf("init", "--model", MODEL, "-o", out)
    assert refused.code == 2
    assert "is there already" in refused.err
    assert out.read_text(encoding="utf-8") == "mine"
    assert specconf("init", "--model", MODEL, "-o", out, "--force").code == 0
    assert spec_in(out.read_text(encoding="utf-8")).target.model == MODEL
    assert [each.name for each in tmp_path.iterdir()] == ["spec.yaml"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_launch_becomes_the_spec_that_import_makes_of_it(specconf: Run, tmp_path: Path, engine: str) -> None:
    launch = tmp_path / "launch.sh"
    launch.write_text(specconf("compile", EXAMPLES / "llama-eagle3.yaml", "-e", engine).out, encoding="utf-8")
    imported = specconf("import", launch)
    ran = specconf("init", "--from", launch)
    assert ran.code == imported.code == 0, ran.err
    assert spec_in(ran.out) == spec_in(imported.out)
    assert "from a launch in launch.sh" in ran.out
    more = specconf("init", "--from", launch, "-e", engine, "-e", "vllm=0.32.0", "--gpu", "H100")
    if engine == "vllm":
        assert more.code == 2, "one engine has one release"
    else:
        assert spec_in(more.out).set_fields() == spec_in(imported.out).set_fields() | {"hardware.gpu": "H100"}
        assert spec_in(more.out).engine_settings()["vllm"] == {"release": "0.32.0"}


def test_one_launch_of_several_is_chosen(specconf: Run, tmp_path: Path) -> None:
    launches = tmp_path / "both.sh"
    launches.write_text("vllm serve owner/a --seed 1\nvllm serve owner/b --seed 2\n", encoding="utf-8")
    several = specconf("init", "--from", launches)
    assert several.code == 2
    assert "Choose one with --launch" in several.err
    ran = specconf("init", "--from", launches, "--launch", "2")
    assert spec_in(ran.out).target.model == "owner/b"
    assert specconf("init", "--model", "owner/a", "--launch", "2").code == 2


def test_secrets_are_never_written(specconf: Run, tmp_path: Path) -> None:
    launch = tmp_path / "launch.sh"
    launch.write_text(f"HF_TOKEN={TOKEN} vllm serve owner/a --api-key abc\n", encoding="utf-8")
    ran = specconf("init", "--from", launch)
    assert ran.code == 0, ran.err
    assert "abc" not in ran.out + ran.err.replace("api", "")
    launch.write_text(f"vllm serve owner/a --download-dir {TOKEN}\n", encoding="utf-8")
    kept = specconf("init", "--from", launch)
    for refused in (
        kept,
        specconf("init", "--model", "owner/a", "--revision", TOKEN),
        specconf("init", "--model", "owner/a", "--hf-token-secret", TOKEN),
        specconf("init", "--model", "owner/a", "--image", "https://user:word@registry.example/e:1"),
    ):
        assert (refused.code, refused.out) == (2, "")
        assert "a spec never holds one" in refused.err
        assert TOKEN not in refused.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--model is missing"),
        (["--method", "ngram"], "--model is missing"),
        (["--model", MODEL, "--method", "draft_model"], "Add --draft-model"),
        (["--model", MODEL, "--draft-model", "owner/draft"], "Add --method"),
        (["--model", "-x"], "target.model must be one line"),
        (["--model", MODEL, "--method", "ngram", "--draft-model", "owner/draft"], "has no draft weights"),
        (["--model", MODEL, "--set", "serving.sed=1"], "Did you mean serving.seed?"),
        (["--model", MODEL, "--set", "serving.seed"], "gives no value"),
        (["--model", MODEL, "--set", "serving.seed=[1"], "--set serving.seed"),
        (["--model", MODEL, "--set", "serving.seed=1\nb: 2"], "one value on one line"),
        (["--model", MODEL, "--set", "serving.seed=x"], "serving.seed must be a whole number"),
        (["--model", MODEL, "--set", "target.model=x/y"], "is set twice"),
        (["--model", MODEL, "-e", "vllm", "-e", "vllm=0.33.0"], "names vllm twice"),
        (["--model", MODEL, "-e", "vllm="], "names no release"),
        (["--model", MODEL, "-e", "vllm=0.0.1"], "0.0.1"),
        (["--model", MODEL, "-e", "nobody"], "is no engine"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_written(
    specconf: Run, words: list[str], said: str, tmp_path: Path
) -> None:
    out = tmp_path / "spec.yaml"
    ran = specconf("init", *words, "-o", out)
    assert (ran.code, ran.out, out.exists()) == (2, "", False)
    assert said in ran.err


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """What a terminal makes of the key: pressed again where Python went to sleep just as it was pressed."""
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        ended = time.monotonic() + 3
        while time.monotonic() < ended:
            if process.poll() is not None:
                return
            time.sleep(0.05)


def on_terminal(answers: bytes, *words: str | Path) -> tuple[int, str, str]:
    """One run with a terminal as its input: its exit code, output, and what stood on standard error."""
    outer, inner = pty.openpty()
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(ROOT / "no-such-cache")}
    # As a shell in the foreground starts it: the key stops it, even if these tests run in the background.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from specconf.cli.main import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "init", *map(str, words)],
        stdin=inner, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=env, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(inner)
        assert process.stderr is not None
        said, ends = b"", time.monotonic() + 60
        while b"Target model" not in said and time.monotonic() < ends:
            if select.select([process.stderr], [], [], 1)[0]:
                said += os.read(process.stderr.fileno(), 65536)
        if answers == CTRL_C:
            _interrupt(process)
        else:
            os.write(outer, answers)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
        os.close(outer)
    return process.returncode, out.decode(), (said + err).decode()


def test_a_terminal_is_asked_with_proposals(tmp_path: Path) -> None:
    answers = [MODEL, "vllm=0.33.0, sglang", "", "", "4", "2", "2048", "H100", ""]
    code, out, err = on_terminal("".join(f"{answer}\n" for answer in answers).encode())
    assert code == 0, err
    spec = spec_in(out)
    assert spec.set_fields() == {
        "target.model": MODEL,
        "target.max_model_len": 2048,
        "speculation.method": "eagle3",
        "speculation.num_draft_tokens": 4,
        "speculation.draft.model": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B",
        "speculation.tree.topk": 1,
        "speculation.verification": "exact",
        "serving.tensor_parallel_size": 2,
        "hardware.gpu": "H100",
        "hardware.platform": "cuda",
        "objective.goal": "latency",
    }
    assert spec.engine_settings() == {"vllm": {"release": "0.33.0"}, "sglang": {}}


def test_what_is_given_is_not_asked_and_wrong_answers_are_asked_again(tmp_path: Path) -> None:
    answers = [MODEL, "x", "0", "5", "", "", "", "both"]
    code, out, err = on_terminal(
        "".join(f"{answer}\n" for answer in answers).encode(), "--method", "ngram", "-e", "vllm"
    )
    assert code == 0, err
    assert "Method" not in err
    assert err.count("no whole number") == 2
    fields = spec_in(out).set_fields()
    assert fields["speculation.num_draft_tokens"] == 5
    assert fields["serving.tensor_parallel_size"] == 1
    assert fields["objective.goal"] == "both"
    assert "target.max_model_len" not in fields


@pytest.mark.parametrize("end", [CTRL_C, b"\x04", MODEL.encode() + b"\n\x04"], ids=["ctrl-c", "eof", "later"])
def test_stopping_leaves_nothing(tmp_path: Path, end: bytes) -> None:
    out = tmp_path / "spec.yaml"
    code, text, err = on_terminal(end, "-o", out)
    assert (code, text, out.exists()) == (130, "", False), err
    assert "stopped" in err


def test_an_engine_and_its_releases_are_completed() -> None:
    env = {
        **os.environ,
        "_SPECCONF_COMPLETE": "bash_complete",
        "COMP_WORDS": "specconf init --engine vl",
        "COMP_CWORD": "3",
    }
    code = "import sys; sys.argv = ['specconf']; from specconf.cli.main import cli; cli(prog_name='specconf')"
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=ROOT, env=env)
    found = ran.stdout.split()
    assert "plain,vllm" in found
    assert "plain,vllm=0.33.0" in found
    assert not any("sglang" in each for each in found)
