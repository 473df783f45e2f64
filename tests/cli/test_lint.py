"""`specconf lint` as a user runs it: formats, what is suppressed, baselines, settings, exit codes, and many files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from specconf.cli import lint_jobs
from specconf.schemas import schema
from tests.cli.conftest import EXAMPLES, ROOT, Run

BAD = "vllm serve m --speculative-model d\n"
HEAD = "# specconf: release vllm=0.33.0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("serve.sh").write_text(HEAD + BAD, encoding="utf-8")
    return tmp_path / "work"


def report(specconf: Run, *argv: str | Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(specconf("lint", "-f", "json", *argv).out)
    jsonschema.validate(read, schema("lint"))
    return read


def codes(specconf: Run, *argv: str | Path) -> list[str]:
    return [finding["code"] for finding in report(specconf, *argv)["findings"] if finding["severity"] == "error"]


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit"])
def test_every_format_keeps_the_exit_code_and_the_report_alone_on_stdout(
    specconf: Run, folder: Path, form: str
) -> None:
    ran = specconf("lint", ".", "-f", form)
    assert ran.code == 1
    assert "SC101" in ran.out
    summary = "1 file, 1 launch checked: 1 error"
    assert summary in (ran.out if form in ("text", "github") else ran.err)
    written = specconf("lint", ".", "-f", form, "-o", "report")
    assert (written.code, written.out) == (1, "")
    assert Path("report").read_text(encoding="utf-8") == ran.out


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("serve.sh", "export VLLM_USE_V1=1\npip install vllm==0.31.0\nvllm serve m\n", 1),
        (
            "compose.yaml",
            "services:\n  a:\n    image: vllm/vllm-openai:v0.31.0\n    environment:\n      - VLLM_USE_V1=1\n"
            "    command: --model m\n",
            5,
        ),
        (
            "compose.yaml",
            "x-a: &a\n  image: vllm/vllm-openai:v0.31.0\n  environment: {VLLM_USE_V1: 1}\n"
            "services:\n  a:\n    <<: *a\n    command: --model m\n",
            3,
        ),
    ],
)
def test_what_is_said_of_a_variable_stands_where_it_is_set(
    specconf: Run, folder: Path, name: str, text: str, line: int
) -> None:
    Path("serve.sh").unlink()
    Path(name).write_text(text, encoding="utf-8")
    (finding,) = report(specconf, ".")["findings"]
    assert (finding["constraint"], finding["line"]) == ("vllm/env-vllm-use-v1-ignored", line)


COMPOSE = (
    'services:\n  b:\n    image: vllm/vllm-openai:v0.33.0\n    command: ["m/x", "--no-such", "--api-key", "sk-1"]\n'
)


@pytest.mark.parametrize("text", [COMPOSE, COMPOSE.replace("\n", "\r\n"), "\ufeff" + COMPOSE])
def test_line_ends_and_a_mark_of_windows_change_nothing(specconf: Run, folder: Path, text: str) -> None:
    Path("compose.yaml").write_bytes(text.encode())
    (finding,) = report(specconf, "compose.yaml")["findings"]
    assert (finding["line"], finding["column"]) == (4, 22)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit"])
def test_no_report_holds_secrets_or_what_a_terminal_obeys(specconf: Run, folder: Path, form: str) -> None:
    line = 'HF_TOKEN=hidden1 vllm serve m "\x1b]0;x\x07" --api-key hidden2 --no-such'
    Path("serve.sh").write_bytes(f"{HEAD}{line}\r\n".encode())
    ran = specconf("lint", "serve.sh", "-f", form)
    assert "SC101" in ran.out
    assert "hidden" not in ran.out + ran.err
    assert not {"\x1b", "\x07", "\r"} & set(ran.out)


@pytest.mark.parametrize("form", ["sarif", "github", "junit"])
def test_check_has_the_formats_too(specconf: Run, form: str) -> None:
    ran = specconf("check", EXAMPLES / "qwen25-vocab-mismatch.yaml", "-r", "sglang=0.5.23", "-f", form)
    assert ran.code == 1
    assert "SC302" in ran.out
    if form == "sarif":
        document = json.loads(ran.out)
        path = Path(__file__).parent.parent / "report" / "schemas" / "sarif-schema-2.1.0.json"
        jsonschema.Draft4Validator(json.loads(path.read_text(encoding="utf-8"))).validate(document)
        (result,) = [r for r in document["runs"][0]["results"] if r["ruleId"] == "SC302"]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 12


def test_suppressed_findings_are_counted_and_shown_on_demand(specconf: Run, folder: Path) -> None:
    Path("serve.sh").write_text(f"{HEAD}# specconf: ignore[SC101] an old image\n{BAD}", encoding="utf-8")
    ran = specconf("lint", ".")
    assert ran.code == 0
    assert ran.out.splitlines()[-1].endswith("0 errors, 0 warnings, 0 info; suppressed: 1 by comment")
    assert "an old image" not in ran.out
    shown = specconf("lint", ".", "--verbose").out
    assert "suppressed  serve.sh:3:14: error SC101 (comment: an old image)" in shown


def test_a_baseline_holds_what_was_there_while_lines_move_and_no_more(specconf: Run, folder: Path) -> None:
    written = specconf("lint", ".", "--write-baseline", "known.json")
    assert (written.code, "holds 1 finding" in written.err) == (0, True)
    assert specconf("lint", ".", "--baseline", "known.json").code == 0
    Path("serve.sh").write_text(f"{HEAD}\n\necho moved\n{BAD}", encoding="utf-8")
    again = report(specconf, ".", "--baseline", "known.json")
    assert (again["findings"], [row["suppressed_by"] for row in again["suppressed"]]) == ([], ["baseline"])
    Path("serve.sh").write_text(f"{HEAD}{BAD}{BAD}", encoding="utf-8")
    more = report(specconf, ".", "--baseline", "known.json")
    assert [(row["code"], row["launch"]) for row in more["findings"]] == [("SC101", "vllm m #2")]


def test_a_baseline_is_relative_to_its_own_folder(specconf: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specconf("lint", ".", "--write-baseline", "known.json")
    assert json.loads(Path("known.json").read_text())["findings"][0]["path"] == "serve.sh"
    monkeypatch.chdir(folder.parent)
    assert specconf("lint", "work", "--baseline", "work/known.json").code == 0
    assert specconf("lint", folder / "serve.sh", "--baseline", folder / "known.json").code == 0


def test_entries_that_no_longer_occur_are_told_for_files_that_were_looked_at(specconf: Run, folder: Path) -> None:
    Path("other.sh").write_text(HEAD + BAD, encoding="utf-8")
    specconf("lint", ".", "--write-baseline", "known.json")
    Path("serve.sh").write_text(HEAD + "vllm serve m\n", encoding="utf-8")
    ran = specconf("lint", "serve.sh", "--baseline", "known.json")
    assert "known.json: 1 entry no longer occurs" in ran.err
    assert "serve.sh: SC101" in ran.err
    assert "other.sh" not in ran.err
    Path("other.sh").unlink()
    assert "2 entries no longer occur" in specconf("lint", "serve.sh", "--baseline", "known.json").err
    (notice,) = report(specconf, ".", "--baseline", "known.json")["notices"]
    assert "2 entries no longer occur" in notice


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("{", "is no JSON"),
        ("[]", "is no baseline of specconf"),
        ('{"version": "2.1.0"}', "is no baseline of specconf"),
        ('{"specconf_baseline": 2, "findings": []}', "another version"),
        ('{"specconf_baseline": 1, "findings": [{"path": "a"}]}', "no entry of a baseline"),
        (
            '{"specconf_baseline": 1, "findings": [{"path": "a", "code": "SC101", "count": 0}]}',
            "no entry of a baseline",
        ),
        ('{"specconf_baseline": 1, "findings": ["a"]}', "no entry of a baseline"),
    ],
)
def test_a_baseline_that_is_none_is_an_error(specconf: Run, folder: Path, text: str | None, said: str) -> None:
    if text is not None:
        Path("known.json").write_text(text, encoding="utf-8")
    ran = specconf("lint", "serve.sh", "--baseline", "known.json")
    assert ran.code == 2
    assert "known.json" in ran.err
    assert said in ran.err
    assert "--write-baseline" in ran.err


def test_settings(specconf: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("vendor/a/x.sh", "old/y.sh", "old/deep/z.sh"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(HEAD + BAD, encoding="utf-8")
    lines = ['exclude = ["vendor"]', "[per-file-ignores]", '"old/*.sh" = ["SC1"]']
    Path("specconf.toml").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(folder / "old")
    read = report(specconf, "..")
    assert [row["path"] for row in read["findings"]] == ["../serve.sh", "../old/deep/z.sh"]
    assert read["skipped"] == [
        {"path": "../specconf.toml", "why": "no engine is mentioned"},
        {"path": "../vendor/a/x.sh", "why": "excluded by the project's settings"},
    ]
    assert [(row["path"], row["suppressed_by"]) for row in read["suppressed"]] == [("../old/y.sh", "settings")]


def test_the_baseline_of_the_settings_is_used_and_can_be_written_anew(specconf: Run, folder: Path) -> None:
    Path("specconf.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    assert specconf("lint", "serve.sh").code == 2
    assert specconf("lint", "serve.sh", "--write-baseline", "known.json").code == 0
    assert specconf("lint", "serve.sh").code == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('baselines = "x"', "there is no setting 'baselines'"),
        ("baseline = 3", "`baseline` is the name of a file"),
        ('exclude = "x"', "`exclude` is a list of texts"),
        ('per-file-ignores = ["x"]', "`per-file-ignores` is a table"),
        ('per-file-ignores = {"*" = "SC1"}', "`per-file-ignores.*` is a list of texts"),
        ('per-file-ignores = {"*" = ["SC999"]}', "'SC999' is no finding code"),
    ],
)
def test_settings_that_are_none_are_errors(specconf: Run, folder: Path, line: str, said: str) -> None:
    Path("specconf.toml").write_text(line + "\n", encoding="utf-8")
    ran = specconf("lint", "serve.sh")
    assert (ran.code, said in ran.err) == (2, True), ran.err


def test_nothing_to_look_at(specconf: Run, folder: Path) -> None:
    Path("serve.sh").write_text("echo hello\n", encoding="utf-8")
    assert specconf("lint", ".").code == 3
    assert specconf("lint", ".", "--allow-empty").code == 0
    assert specconf("lint", ".", "--allow-empty", "--require-launch").code == 3


def many(folder: Path, number: int) -> None:
    for i in range(number):
        engine = "echo nothing\n" if i % 3 else HEAD + BAD * (1 + i % 2)
        Path(folder, f"f{i:03}.sh").write_text(engine, encoding="utf-8")


def test_several_processes_say_the_same_in_the_same_order(
    specconf: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(folder, 60)
    started: list[int] = []
    apart = lint_jobs._apart

    def watched(*given: Any) -> Any:
        started.append(given[2])
        return apart(*given)

    monkeypatch.setattr(lint_jobs, "_apart", watched)
    one = {form: specconf("lint", ".", "-f", form, "--jobs", "1") for form in ("text", "json", "sarif")}
    assert started == []
    for form, expected in one.items():
        assert specconf("lint", ".", "-f", form, "--jobs", "2") == expected
    assert started == [2]  # the forms that propose fixes try them on what was judged, in one process


@pytest.mark.parametrize(
    ("files", "usable", "expected"), [(63, 8, 1), (64, 8, 2), (64, 1, 1), (10_000, 4, 4), (10_000, 64, 8)]
)
def test_processes_are_started_where_they_pay(
    monkeypatch: pytest.MonkeyPatch, files: int, usable: int, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(usable)), raising=False)
    assert lint_jobs._worth(files) == expected


def test_a_name_that_is_no_utf8_is_written_in_every_format(specconf: Run, folder: Path) -> None:
    Path("serve.sh").rename(os.fsdecode(b"caf\xe9.sh"))
    for form in ("text", "json", "sarif", "github", "junit"):
        ran = specconf("lint", ".", "-f", form)
        assert (ran.code, "SC101" in ran.out) == (1, True), ran.err
        assert specconf("lint", ".", "-f", form, "-o", "report").code == 1


def test_an_interrupt_ends_all_processes_without_a_traceback(folder: Path) -> None:
    for i in range(1000):
        Path(folder, f"f{i:04}.sh").write_text(HEAD + BAD * 10, encoding="utf-8")
    running = subprocess.Popen(
        [sys.executable, "-m", "specconf", "lint", ".", "--jobs", "2"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(2)
    assert running.poll() is None, "it ended before it could be interrupted: give it more files"
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err.strip()) == (130, "", "stopped")
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)


UNREAD = {
    "latin.sh": (b"# caf\xe9\nvllm serve m\n", "latin.sh:1:6: this is not UTF-8"),
    "wide.ps1": ("vllm serve m\n".encode("utf-16"), "wide.ps1:1:1: this is UTF-16"),
    "nul.sh": (b"vllm serve m\n\0", "nul.sh:2:1: a NUL character"),
    "large.sh": (b"vllm serve m\n" * 400_000, "large.sh: larger than 4 MiB"),
    "broken.yaml": (b"services:\n  a:\n    image: vllm/vllm-openai:v0.33.0\n   x: [\n", "broken.yaml:4:4: not YAML"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_a_named_file_that_cannot_be_read_is_an_error_and_the_others_are_judged(
    specconf: Run, folder: Path, name: str
) -> None:
    data, message = UNREAD[name]
    (folder / name).write_bytes(data)
    named = specconf("lint", name, "serve.sh")
    assert named.code == 2
    assert message in named.err
    assert "SC101" in named.out
    assert specconf("lint", ".").code == 1  # in a folder it is passed over, and counted or told
    assert specconf("lint", name, "--diff").code == 2


def test_a_pipe_without_a_writer_does_not_hang(specconf: Run, folder: Path) -> None:
    os.mkfifo(folder / "pipe.sh")
    ran = specconf("lint", "pipe.sh", "serve.sh")
    assert (ran.code, "pipe.sh: a pipe that nobody writes to." in ran.err) == (2, True)
    assert specconf("lint", ".").code == 1


def test_a_file_that_is_no_yaml_can_be_accepted(specconf: Run, folder: Path) -> None:
    (folder / "broken.yaml").write_bytes(UNREAD["broken.yaml"][0])
    assert specconf("lint", "broken.yaml").code == 2
    assert specconf("lint", "broken.yaml", "--ignore", "SC707").code == 0


def test_a_mark_at_the_beginning_changes_nothing(specconf: Run, folder: Path) -> None:
    plain = specconf("lint", "serve.sh")
    (folder / "serve.sh").write_bytes(b"\xef\xbb\xbf" + (HEAD + BAD).encode())
    assert specconf("lint", "serve.sh").out == plain.out


def test_models_are_looked_for_beside_the_file_that_names_them(specconf: Run, folder: Path) -> None:
    launch = f'{HEAD}vllm serve ./model --speculative-config \'{{"method": "mtp", "num_speculative_tokens": 1}}\'\n'
    for name, config in (("a", '{"model_type": "llama"}'), ("b", "{"), ("c", None)):
        (folder / name / "model").mkdir(parents=True)
        (folder / name / "run.sh").write_text(launch, encoding="utf-8")
        if config is not None:
            (folder / name / "model/config.json").write_text(config, encoding="utf-8")
    found = report(specconf, "a", "b", "c")
    missing = {
        name: {i["missing"][0] for i in found["not_checked"] if i["path"].startswith(f"{name}/")} for name in "abc"
    }
    assert not any("config.json" in text for text in missing["a"])
    assert any("cannot be read" in text for text in missing["b"])
    assert any("holds no config.json" in text for text in missing["c"])
