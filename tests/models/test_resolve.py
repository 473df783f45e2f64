"""Finding a model: directories, the hub cache, rows and the hub, in that order, and never the network when offline."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from specconf.errors import InputError
from specconf.models import (
    Cause,
    Kind,
    Mode,
    ModelFacts,
    Resolver,
    SourceKind,
    Unavailable,
    default_cache_dir,
    effective_mode,
    load_checkpoint_rows,
    resolve_model,
)
from specconf.models import files as model_files
from specconf.models import hub as model_hub

FIXTURES = Path(__file__).parents[1] / "fixtures" / "models"
LLAMA = {"architectures": ["LlamaForCausalLM"], "vocab_size": 7, "num_hidden_layers": 2}
ROWS = {
    row.id: row
    for row in load_checkpoint_rows(
        """
- {id: a/full, kind: plain, config: {vocab_size: 5}, source: [{kind: docs, ref: x}]}
- {id: a/thin, kind: plain, config: {architectures: [A]}, remote_code: true, source: [{kind: docs, ref: x}]}
- {id: a/pinned, revision: abc, kind: plain, config: {vocab_size: 5}, source: [{kind: docs, ref: x}]}
"""
    )
}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def write(directory: Path, config: object = LLAMA) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    return directory


def cached(cache: Path, ref: str, commit: str = "c0ffee", branch: str = "main", config: object = LLAMA) -> None:
    repository = cache / f"models--{ref.replace('/', '--')}"
    write(repository / "snapshots" / commit, config)
    (repository / "refs" / branch).parent.mkdir(parents=True, exist_ok=True)
    (repository / "refs" / branch).write_text(commit)


def facts(found: ModelFacts | Unavailable) -> ModelFacts:
    assert isinstance(found, ModelFacts), found
    return found


def unavailable(found: ModelFacts | Unavailable) -> Unavailable:
    assert isinstance(found, Unavailable), found
    return found


def test_a_directory_and_a_file(tmp_path: Path) -> None:
    write(tmp_path / "m")
    for ref in (str(tmp_path / "m"), str(tmp_path / "m" / "config.json")):
        found = facts(resolve_model(ref))
        assert (found.vocab_size, found.source.kind) == (7, SourceKind.LOCAL)


@pytest.mark.parametrize("ref", ["./m", "m", "../here/m", "sub/m/deep"])
def test_relative_directories(tmp_path: Path, ref: str) -> None:
    here = tmp_path / "here"
    here.mkdir()
    write(here / ref)
    assert facts(resolve_model(ref, base_dir=here)).vocab_size == 7


@pytest.mark.parametrize("name", ["eagle-llama3.1-8b", "eagle3-llama3.1-8b", "mimo-7b", "llama-3.1-8b"])
def test_a_renamed_directory_tells_the_same(tmp_path: Path, name: str) -> None:
    shutil.copytree(FIXTURES / name, tmp_path / "eagle3-mtp-dflash")
    before = facts(resolve_model(str(FIXTURES / name)))
    after = facts(resolve_model(str(tmp_path / "eagle3-mtp-dflash")))
    assert (after.kind, after.mtp_layers, after.needs_remote_code) == (
        before.kind,
        before.mtp_layers,
        before.needs_remote_code,
    )


@pytest.mark.parametrize(
    ("ref", "cause", "input_error"),
    [
        ("./nowhere", Cause.PATH_MISSING, True),
        ("/nowhere/at/all", Cause.PATH_MISSING, True),
        ("~/nowhere-at-all", Cause.PATH_MISSING, True),
        ("~no-such-user-here/x", Cause.PATH_MISSING, True),
        ("./empty", Cause.PATH_WITHOUT_CONFIG, True),
        ("./weights.gguf", Cause.PATH_WITHOUT_CONFIG, True),
        ("a/b/c", Cause.BAD_REFERENCE, True),
        ("a b", Cause.BAD_REFERENCE, True),
        ("", Cause.BAD_REFERENCE, True),
        ("a/" + "x" * 5000, Cause.NOT_HERE, False),
        ("a/..b", Cause.BAD_REFERENCE, True),
        ("s3://bucket/model", Cause.NOT_HERE, False),
        ("owner/model", Cause.NOT_HERE, False),
    ],
)
def test_what_is_not_there(tmp_path: Path, ref: str, cause: Cause, input_error: bool) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "weights.gguf").write_bytes(b"GGUF")
    found = unavailable(resolve_model(ref, base_dir=tmp_path, cache_dir=tmp_path / "cache"))
    assert (found.cause, found.input_error) == (cause, input_error)
    assert found.reason


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1,\n  "b": }', ":2:8: is not valid JSON: Expecting value"),
        ("[1]", ":1:1: must hold a JSON object"),
        ("", ":1:1: is not valid JSON: Expecting value"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "is not valid JSON"),
    ],
)
def test_a_bad_config_says_where(tmp_path: Path, text: str, place: str) -> None:
    write(tmp_path / "m", text)
    with pytest.raises(InputError) as error:
        resolve_model(str(tmp_path / "m"))
    assert place in str(error.value)
    assert str(tmp_path / "m" / "config.json") in str(error.value)


def test_a_config_that_is_not_utf8_or_is_huge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (write(tmp_path / "m") / "config.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(InputError, match="not UTF-8"):
        resolve_model(str(tmp_path / "m"))
    monkeypatch.setattr(model_files, "MAX_CONFIG_BYTES", 5)
    with pytest.raises(InputError, match="larger than"):
        resolve_model(str(tmp_path / "m"))


def test_a_byte_order_mark_and_infinity_are_read(tmp_path: Path) -> None:
    text = '{"architectures": ["A"], "num_hidden_layers": 2, "time_step_limit": [0.0, Infinity]}'
    (write(tmp_path / "m") / "config.json").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert facts(resolve_model(str(tmp_path / "m"))).num_layers == 2


def test_tensor_names_beside_the_config_decide(tmp_path: Path) -> None:
    config = {"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1}
    index, header = write(tmp_path / "index", config), write(tmp_path / "header", config)
    (index / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"midlayer.x": "f"}}))
    names = json.dumps(
        {"__metadata__": {}, "fc.weight": {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]}}
    ).encode()
    (header / "model.safetensors").write_bytes(len(names).to_bytes(8, "little") + names + b"\0\0")
    assert facts(resolve_model(str(index))).kind is Kind.EAGLE3
    assert facts(resolve_model(str(header))).kind is Kind.EAGLE
    (header / "model.safetensors").write_bytes(b"\xff" * 9)
    assert facts(resolve_model(str(header))).kind is Kind.UNKNOWN


def test_a_quantization_file_beside_the_config(tmp_path: Path) -> None:
    directory = write(tmp_path / "m")
    (directory / "hf_quant_config.json").write_text('{"quantization": {"quant_algo": "NVFP4"}}')
    assert facts(resolve_model(str(directory))).get("quantization") == "modelopt_fp4"


def test_the_hub_cache(tmp_path: Path) -> None:
    cached(tmp_path, "o/m")
    cached(tmp_path, "o/m", commit="beef", branch="refs/pr/1", config=LLAMA | {"vocab_size": 8})
    cached(tmp_path, "gpt2")
    found = facts(resolve_model("o/m", cache_dir=tmp_path))
    assert (found.vocab_size, found.source.kind, found.source.revision) == (7, SourceKind.HUB_CACHE, "c0ffee")
    assert facts(resolve_model("o/m", revision="beef", cache_dir=tmp_path)).vocab_size == 8
    assert facts(resolve_model("o/m", revision="refs/pr/1", cache_dir=tmp_path)).vocab_size == 8
    assert facts(resolve_model("gpt2", cache_dir=tmp_path)).vocab_size == 7
    assert unavailable(resolve_model("o/m", revision="dead", cache_dir=tmp_path)).cause is Cause.NOT_HERE
    assert unavailable(resolve_model("o/m", revision="../x", cache_dir=tmp_path)).cause is Cause.BAD_REFERENCE


def test_a_broken_cache_is_not_the_users_error(tmp_path: Path) -> None:
    cached(tmp_path, "o/m", config="{")
    assert unavailable(resolve_model("o/m", cache_dir=tmp_path)).cause is Cause.UNREADABLE


def test_the_order(tmp_path: Path) -> None:
    asked: list[str] = []

    def fetch(ref: str, revision: str | None) -> bytes | Unavailable:
        asked.append(ref)
        return json.dumps(LLAMA | {"vocab_size": 9}).encode()

    def ask(ref: str, **more: Any) -> ModelFacts:
        return facts(resolve_model(ref, mode=Mode.ONLINE, checkpoints=ROWS, cache_dir=tmp_path, fetch=fetch, **more))

    assert ask("a/full").source.kind is SourceKind.CHECKPOINT_ROW
    assert asked == []
    thin = ask("a/thin")
    assert (thin.source.kind, thin.vocab_size, thin.needs_remote_code) == (SourceKind.HUB, 9, True)
    assert ask("a/pinned", revision="abc").source.kind is SourceKind.CHECKPOINT_ROW
    assert ask("a/pinned", revision="other").source.kind is SourceKind.HUB
    assert ask("a/else").vocab_size == 9
    cached(tmp_path, "a/full")
    assert ask("a/full").source.kind is SourceKind.HUB_CACHE


def test_offline_asks_nobody() -> None:
    def fetch(ref: str, revision: str | None) -> bytes | Unavailable:
        raise AssertionError(ref)

    assert facts(resolve_model("a/thin", checkpoints=ROWS, fetch=fetch)).architecture == "A"
    assert unavailable(resolve_model("a/else", checkpoints=ROWS, fetch=fetch)).cause is Cause.NOT_HERE


@pytest.mark.parametrize("answer", [b"{", b"[]", b"x" * (17 * 2**20)])
def test_a_bad_answer_of_the_hub(answer: bytes) -> None:
    found = resolve_model("a/else", mode=Mode.ONLINE, fetch=lambda *_: answer)
    assert unavailable(found).cause is Cause.UNREADABLE


def test_a_model_is_asked_for_once_and_a_silent_hub_is_left_alone() -> None:
    asked: list[str] = []

    def fetch(ref: str, revision: str | None) -> bytes | Unavailable:
        asked.append(ref)
        return Unavailable("gated", Cause.GATED) if ref == "a/gated" else Unavailable("silent", Cause.UNREACHABLE)

    resolver = Resolver(mode=Mode.ONLINE, fetch=fetch)
    assert resolver.resolve("a/gated") is resolver.resolve("a/gated")
    for ref in ("a/x", "a/y", "a/z"):
        assert unavailable(resolver.resolve(ref)).cause is Cause.UNREACHABLE
    assert asked == ["a/gated", "a/x"]


def test_mode_and_cache_of_an_environment(tmp_path: Path) -> None:
    assert effective_mode(Mode.ONLINE, {}) is Mode.ONLINE
    assert effective_mode(Mode.ONLINE, {"HF_HUB_OFFLINE": "0"}) is Mode.ONLINE
    assert effective_mode(Mode.ONLINE, {"HF_HUB_OFFLINE": "1"}) is Mode.OFFLINE
    assert effective_mode(Mode.OFFLINE, {}) is Mode.OFFLINE
    assert default_cache_dir({"HF_HUB_CACHE": "/c", "HF_HOME": "/h"}) == Path("/c")
    assert default_cache_dir({"HF_HOME": "/h"}) == Path("/h/hub")
    assert default_cache_dir({"XDG_CACHE_HOME": "/x"}) == Path("/x/huggingface/hub")


class FakeErrors(types.ModuleType):
    class RepositoryNotFoundError(OSError): ...

    class GatedRepoError(RepositoryNotFoundError): ...

    class RevisionNotFoundError(OSError): ...

    class EntryNotFoundError(OSError): ...

    class LocalEntryNotFoundError(EntryNotFoundError): ...


def fake_hub(monkeypatch: pytest.MonkeyPatch, download: Any) -> None:
    module, errors = types.ModuleType("huggingface_hub"), FakeErrors("huggingface_hub.errors")
    module.hf_hub_download = download  # type: ignore[attr-defined]
    module.errors = errors  # type: ignore[attr-defined]
    utils = types.ModuleType("huggingface_hub.utils")
    utils.disable_progress_bars = lambda: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)
    monkeypatch.setitem(sys.modules, "huggingface_hub.utils", utils)


def test_the_hub_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path) / "config.json"
    fake_hub(monkeypatch, lambda *_, **__: str(path))
    assert facts(resolve_model("a/else", mode=Mode.ONLINE)).source.kind is SourceKind.HUB


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (FakeErrors.GatedRepoError, Cause.GATED),
        (FakeErrors.RepositoryNotFoundError, Cause.ABSENT),
        (FakeErrors.RevisionNotFoundError, Cause.ABSENT),
        (FakeErrors.LocalEntryNotFoundError, Cause.UNREACHABLE),
        (FakeErrors.EntryNotFoundError, Cause.ABSENT),
        (RuntimeError, Cause.UNREACHABLE),
    ],
)
def test_the_hub_refuses_and_its_words_stay_inside(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], cause: Cause
) -> None:
    def download(*_: object, **__: object) -> str:
        raise error("Authorization: Bearer hf_secret")

    fake_hub(monkeypatch, download)
    found = unavailable(resolve_model("a/else", mode=Mode.ONLINE))
    assert found.cause is cause
    assert "hf_secret" not in found.reason


def test_a_slow_hub_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading  # only here

    gate = threading.Event()
    monkeypatch.setattr(model_hub, "TIME_LIMIT", 0.05)
    fake_hub(monkeypatch, lambda *_, **__: gate.wait(10))
    assert unavailable(resolve_model("a/else", mode=Mode.ONLINE)).cause is Cause.UNREACHABLE
    gate.set()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    found = unavailable(resolve_model("a/else", mode=Mode.ONLINE))
    assert found.cause is Cause.NO_HUB_EXTRA
    assert "pip install 'specconf[hub]'" in found.reason


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, specconf.models as m; m.resolve_model('a/b'); "
        "bad = {'huggingface_hub', 'pydantic', 'jsonschema', 'requests', 'httpx'} & set(sys.modules); "
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
