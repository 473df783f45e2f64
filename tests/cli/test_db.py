"""`specconf db`: what it shows of the shipped database, and a harvest from local sources."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from specconf.compat.names import ENGINE_NAMES
from tests.cli.conftest import Ran, Run
from tests.harvest.test_fetch import Served, serving

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


REGISTRY = """
    _TEXT_GENERATION_MODELS = {"AForCausalLM": ("a", "AForCausalLM"), "BForCausalLM": ("b", "BForCausalLM")}
    _VLLM_MODELS = {**_TEXT_GENERATION_MODELS}
    """


def sources(port: int = 8000) -> dict[str, str]:
    """A small engine of our own that declares its options as vLLM does."""
    texts = {
        "vllm/entrypoints/openai/cli_args.py": CLI_ARGS.format(port=port),
        "vllm/engine/arg_utils.py": ARG_UTILS,
        "vllm/model_executor/models/registry.py": REGISTRY,
    }
    return {file: dedent(text) for file, text in texts.items()}


def wheel(folder: Path, release: str, port: int = 8000) -> Path:
    path = folder / f"vllm-{release}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in sources(port).items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return path


def checkout(folder: Path, port: int = 8000) -> Path:
    for name, text in sources(port).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def metadata(release: str) -> str:
    return f"Metadata-Version: 2.1\nName: vllm\nVersion: {release}\n"


def rows(folder: Path, kind: str = "options") -> list[dict[str, object]]:
    path = folder / "vllm" / "harvested" / f"{kind}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_harvest_adds_release_by_release(specconf: Run, tmp_path: Path) -> None:
    out = tmp_path / "db"
    for release, port in (("0.5.0", 8000), ("0.5.2", 9000), ("0.5.1", 8000)):
        ran = specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, release, port), "-o", out, "--jobs", "1")
        assert ran.code == 0, ran.err
        assert f"vllm {release}: 3 options" in ran.err
    ports = [(row["default"], row["releases"]) for row in rows(out) if row["path"] == "port"]
    assert ports == [(8000, [{"before": "0.5.2"}]), (9000, [{"since": "0.5.2"}])]
    listed = rows(out, "releases")
    assert [row["version"] for row in listed] == ["0.5.0", "0.5.1", "0.5.2"]
    assert listed[0]["file"] == "vllm-0.5.0-py3-none-any.whl"
    again = specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, "0.5.1"), "-o", out, "--jobs", "1")
    assert "nothing changed" in again.out


def test_harvest_prints_rows_with_file_and_line(specconf: Run, tmp_path: Path) -> None:
    ran = specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, "0.5.0"), "--print", "--jobs", "1")
    found = [json.loads(line) for line in ran.out.splitlines()]
    (port,) = [row for row in found if row.get("path") == "port"]
    assert port["evidence"] == [
        {"kind": "source", "release": "0.5.0", "file": "vllm/entrypoints/openai/cli_args.py", "line": 6}
    ]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["vllm"], "Name the releases"),
        (["vllm", "--new", "--all"], "Name the releases"),
        (["vllm", "0.5.0", "0.5.1", "--from", "x"], "Name the releases"),
        (["trtllm", "1.2.1"], "does not have the source"),
        (["trtllm", "1.2.1", "--from", "x"], "imported"),
        (["vllm", "0.5.0", "--from", "absent.whl", "--print"], "absent.whl does not exist"),
        (["nosuch", "--all"], "no engine"),
        (["vllm", "--from", "/nope", "--print"], "/nope does not exist"),
        (["vllm", "0.2.0", "--print"], "vLLM 0.2.0 is older than 0.4.1, the oldest that is read"),
        (["vllm", "newest", "--print"], "'newest' is not a version"),
        (
            ["vllm", "0.5.0", "--print", "--index-url", "http://127.0.0.1:9/"],
            "127.0.0.1:9 cannot be reached\n  Name another",
        ),
    ],
)
def test_harvest_refuses(specconf: Run, argv: list[str], said: str) -> None:
    ran = specconf("db", "harvest", *argv)
    assert ran.code == 2
    assert said in ran.err


def test_a_source_that_holds_no_engine_is_refused(specconf: Run, tmp_path: Path) -> None:
    path = tmp_path / "vllm-0.5.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vllm/__init__.py", "")
    ran = specconf("db", "harvest", "vllm", "--from", path, "--print", "--jobs", "1")
    assert ran.code == 2
    assert "0.5.0" in ran.err


def test_a_release_must_be_known_of_a_checkout(specconf: Run, tmp_path: Path) -> None:
    folder = checkout(tmp_path / "checkout")
    assert "which release" in specconf("db", "harvest", "vllm", "--from", folder, "--print").err
    ran = specconf("db", "harvest", "vllm", "0.5.0", "--from", folder, "--print", "--jobs", "1")
    assert ran.code == 0
    assert '"--port"' in ran.out


# --- which release a source is of


def sdist(folder: Path, name: str, stated: str) -> Path:
    path = folder / name
    with tarfile.open(path, "w:gz") as archive:
        for file, text in {"PKG-INFO": metadata(stated), **sources()}.items():
            member = tarfile.TarInfo(f"vllm-{stated}/{file}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def reading(specconf: Run, path: Path, *release: str) -> Ran:
    return specconf("db", "harvest", "vllm", *release, "--from", path, "--print", "--jobs", "1")


def test_a_stated_release_must_be_that_of_the_source(specconf: Run, tmp_path: Path) -> None:
    packed = wheel(tmp_path, "0.9.2")
    unpacked = checkout(tmp_path / "unpacked")
    (unpacked / "PKG-INFO").write_text(metadata("0.9.2"))
    contradicted = tmp_path / "vllm-0.9.2-cp312-none-any.whl"
    contradicted.write_bytes(packed.read_bytes())
    with zipfile.ZipFile(contradicted, "a") as archive:
        archive.writestr("vllm-0.9.1.dist-info/METADATA", metadata("0.9.1"))
    for path, release in (
        (packed, ["0.9.1"]),
        (sdist(tmp_path, "vllm-0.9.2.tar.gz", "0.9.2"), ["0.9.1"]),
        (sdist(tmp_path, "renamed.tar.gz", "0.9.2"), ["0.9.1"]),
        (sdist(tmp_path, "vllm-0.9.1.tar.gz", "0.9.2"), []),
        (unpacked, ["0.9.1"]),
        (contradicted, []),
    ):
        ran = reading(specconf, path, *release)
        assert ran.code == 2, path
        assert "0.9.1" in ran.err.splitlines()[0]
        assert "0.9.2" in ran.err.splitlines()[0]
        assert path.name in ran.err


def test_a_source_says_of_which_release_it_is(specconf: Run, tmp_path: Path) -> None:
    unpacked = checkout(tmp_path / "unpacked")
    (unpacked / "PKG-INFO").write_text(metadata("0.9.2+cu126"))
    for path in (unpacked, wheel(tmp_path, "0.9.2+cu126"), sdist(tmp_path, "renamed.tar.gz", "0.9.2")):
        for stated in ([], ["0.9.2"], ["v0.9.2"]):
            ran = reading(specconf, path, *stated)
            assert ran.code == 0, ran.err
            assert '"release": "0.9.2"' in ran.out.splitlines()[0]


def test_a_local_source_that_is_too_old_is_told(specconf: Run, tmp_path: Path) -> None:
    ran = reading(specconf, wheel(tmp_path, "0.2.0"))
    assert ran.code == 2
    assert "vLLM 0.2.0 is older than 0.4.1" in ran.err


# --- from an index, through the cache


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "made").mkdir()
    files = {path.name: path.read_bytes() for path in (wheel(tmp_path / "made", f"0.5.{n}") for n in range(3))}
    with serving(Served(files, project="vllm")) as served:
        yield served


def harvest(specconf: Run, index: Served, folder: Path, *argv: str | Path, engine: str = "vllm") -> Ran:
    fixed = ("-o", folder / "db", "--cache", folder / "cache", "--jobs", "1", "--index-url", f"{index.url}simple/")
    return specconf("db", "harvest", engine, *argv, *fixed)


def fetched(index: Served) -> list[str]:
    """The files that were asked for since the last time."""
    asked = [line.partition(" ")[0].rpartition("/")[2] for line in index.asked if line.startswith("/files/")]
    index.asked.clear()
    return asked


def test_a_cached_source_is_used_while_it_is_that_of_the_index(specconf: Run, index: Served, tmp_path: Path) -> None:
    name, kept = "vllm-0.5.0-py3-none-any.whl", tmp_path / "cache" / "vllm-0.5.0.zip"
    assert harvest(specconf, index, tmp_path, "0.5.0").code == 0
    assert fetched(index) == [name]
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]
    with zipfile.ZipFile(kept) as archive:
        assert json.loads(archive.comment) == {"file": name, "sha256": hashlib.sha256(index.files[name]).hexdigest()}
    whole = kept.read_bytes()
    assert harvest(specconf, index, tmp_path, "0.5.0").code == 0
    assert fetched(index) == []
    other = harvest(specconf, index, tmp_path, "0.5.1")
    assert other.code == 0
    for wrong in (b"no archive", whole[:-9], (tmp_path / "cache" / "vllm-0.5.1.zip").read_bytes()):
        kept.write_bytes(wrong)
        fetched(index)
        assert harvest(specconf, index, tmp_path, "0.5.0").code == 0
        assert fetched(index) == [name]
        assert kept.read_bytes() == whole
    index.files[name] = wheel(tmp_path / "made", "0.5.0", 9000).read_bytes()
    assert harvest(specconf, index, tmp_path, "0.5.0").code == 0
    assert {row["default"] for row in rows(tmp_path / "db") if row["path"] == "port"} == {8000, 9000}


def test_the_release_before_one_that_is_named_is_explained(specconf: Run, index: Served, tmp_path: Path) -> None:
    assert harvest(specconf, index, tmp_path, "0.5.0", "0.5.2").code == 0
    ran = harvest(specconf, index, tmp_path, "0.5.1")
    assert "vllm 0.5.0 is read again: facts that end before 0.5.1 need their place in it" in ran.err
    assert "\n2 releases, " in ran.err
    assert "read again" not in harvest(specconf, index, tmp_path, "0.5.0").err
    del index.files["vllm-0.5.0-py3-none-any.whl"]
    assert "read again" not in harvest(specconf, index, tmp_path, "0.5.1").err


def test_one_is_not_many(specconf: Run, index: Served, tmp_path: Path) -> None:
    ran = harvest(specconf, index, tmp_path, "0.5.0")
    assert "\n1 release, " in ran.err
    assert "releases.jsonl: 1 row; 1 new, 0 gone" in ran.out
    assert harvest(specconf, index, tmp_path, "--all").code == 0
    assert "the database knows 3 releases up to 0.5.2" in harvest(specconf, index, tmp_path, "--new").err
    index.files.clear()
    empty = harvest(specconf, index, tmp_path / "other", "--new")
    assert empty.code == 0
    assert "the database knows 0 releases\n" in empty.err
    assert "no release of vllm at all" in harvest(specconf, index, tmp_path, "0.5.0").err


def test_all_does_not_lose_what_the_index_no_longer_says(specconf: Run, index: Served, tmp_path: Path) -> None:
    assert harvest(specconf, index, tmp_path, "--all").code == 0
    dates = [row["date"] for row in rows(tmp_path / "db", "releases")]
    assert dates == ["2026-11-02"] * 3
    index.times = False
    assert "nothing changed" in harvest(specconf, index, tmp_path, "--all").out
    del index.files["vllm-0.5.1-py3-none-any.whl"]
    refused = harvest(specconf, index, tmp_path, "--all")
    assert refused.code == 2
    assert "0.5.1 would go from 3 to 0 rows in options.jsonl" in refused.err
    assert harvest(specconf, index, tmp_path, "--all", "--force").code == 0
    assert [row["version"] for row in rows(tmp_path / "db", "releases")] == ["0.5.0", "0.5.2"]


# --- what is there already


def test_reading_the_listed_file_again_changes_nothing(specconf: Run, index: Served, tmp_path: Path) -> None:
    assert harvest(specconf, index, tmp_path, "--all").code == 0
    for path in (tmp_path / "made").iterdir():
        again = specconf("db", "harvest", "vllm", "--from", path, "-o", tmp_path / "db", "--jobs", "1")
        assert "nothing changed" in again.out
    folder = checkout(tmp_path / "checkout")
    specconf("db", "harvest", "vllm", "0.5.2", "--from", folder, "-o", tmp_path / "db", "--jobs", "1")
    assert rows(tmp_path / "db", "releases")[-1] == {"date": "2026-11-02", "source": "checkout", "version": "0.5.2"}


def test_the_summary_tells_moved_rows_from_changed_ones(specconf: Run, tmp_path: Path) -> None:
    def summary(path: Path) -> dict[str, str]:
        ran = specconf("db", "harvest", "vllm", "--from", path, "-o", tmp_path / "db", "--jobs", "1")
        lines = [line.partition(": ") for line in ran.out.splitlines() if ".jsonl: " in line]
        return {Path(name).name: said for name, _, said in lines}

    rest = "changed in what they say or in their releases"
    assert summary(wheel(tmp_path, "0.5.0"))["options.jsonl"] == (
        f"3 rows; 3 new, 0 gone, 0 {rest}, 0 with another place (evidence) only"
    )
    assert summary(wheel(tmp_path, "0.5.1", 9000)) == {
        "releases.jsonl": f"2 rows; 1 new, 0 gone, 0 {rest}, 0 with another place (evidence) only",
        "options.jsonl": f"4 rows; 1 new, 0 gone, 1 {rest}, 2 with another place (evidence) only",
        "tables.jsonl": f"2 rows; 0 new, 0 gone, 0 {rest}, 2 with another place (evidence) only",
        "messages.jsonl": f"0 rows; 0 new, 0 gone, 0 {rest}, 0 with another place (evidence) only",
    }


def without(folder: Path, file: str, text: str | None = None) -> Path:
    (folder / file).unlink()
    if text is not None:
        (folder / file).write_text(dedent(text), encoding="utf-8")
    return folder


def test_an_incomplete_source_is_refused(specconf: Run, tmp_path: Path) -> None:
    registry = "vllm/model_executor/models/registry.py"
    out = ("-o", tmp_path / "db", "--jobs", "1")
    assert specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, "0.5.0"), *out).code == 0
    before = {path: path.read_bytes() for path in (tmp_path / "db").rglob("*.jsonl")}
    for folder, said in (
        (without(checkout(tmp_path / "one"), registry), "no model registry found"),
        (
            without(checkout(tmp_path / "two"), registry, "_VLLM_MODELS = {}"),
            "0.5.0 would go from 2 to 0 rows in tables",
        ),
    ):
        ran = specconf("db", "harvest", "vllm", "0.5.0", "--from", folder, *out)
        assert ran.code == 2
        assert said in ran.err
        assert {path: path.read_bytes() for path in (tmp_path / "db").rglob("*.jsonl")} == before
    assert "--force" in ran.err
    assert specconf("db", "harvest", "vllm", "0.5.0", "--from", folder, "--force", *out).code == 0
    assert rows(tmp_path / "db", "tables") == []


def test_sglang_without_models_is_refused() -> None:
    from specconf.engines.sglang.harvest.registry import registry_rows
    from specconf.engines.sglang.harvest.release import Release
    from specconf.errors import HarvestError
    from specconf.harvest.archive import from_texts

    arguments = "class ServerArgs:\n    pass\n"
    files = {
        "sglang/srt/server_args.py": arguments,
        "sglang/srt/models/registry.py": "def load(module):\n    return module.EntryClass\n",
    }
    with pytest.raises(HarvestError, match=r"release 0\.5\.0: no model registry found"):
        registry_rows(Release.read(from_texts(files), "0.5.0"))


@pytest.mark.parametrize("where", ["output", "cache"])
def test_a_folder_that_cannot_be_written_is_named_before_anything_is_fetched(
    specconf: Run, index: Served, tmp_path: Path, where: str
) -> None:
    (tmp_path / ("db" if where == "output" else "cache")).write_text("a file")
    ran = harvest(specconf, index, tmp_path, "0.5.0")
    assert ran.code == 2
    assert "cannot be written: Not a directory" in ran.err
    assert f"--{where} DIR" in ran.err
    assert fetched(index) == []


def test_a_release_that_is_not_listed_any_more_is_named(specconf: Run, tmp_path: Path) -> None:
    out = ("-o", tmp_path / "db", "--jobs", "1")
    for release, port in (("0.5.0", 8000), ("0.5.1", 9000)):
        specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, release, port), *out)
    path = tmp_path / "db" / "vllm" / "harvested" / "releases.jsonl"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    ran = specconf("db", "harvest", "vllm", "--from", wheel(tmp_path, "0.5.0"), *out)
    assert ran.code == 2
    assert "options.jsonl:" in ran.err
    assert "speaks of the release 0.5.1, which releases.jsonl does not list" in ran.err


def test_help_says_what_is_printed_of_renamed_options(specconf: Run) -> None:
    said = " ".join(specconf("db", "harvest", "--help").out.split())
    assert "an option of SGLang has the path of that release, before renamed paths are joined" in said


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


def test_show_finds_the_place_of_a_message_by_its_words(specconf: Run) -> None:
    ran = specconf("db", "show", "vllm", "does not support EAGLE3 interface", "-r", "0.33.0")
    assert "vllm/v1/worker/gpu_model_runner.py:GPUModelRunner." in ran.out
    assert "RuntimeError: Model does not support EAGLE3 interface" in ran.out
    shown = json.loads(specconf("db", "show", "vllm", "does not support EAGLE3 interface", "-f", "json").out)
    assert {message["exception"] for message in shown["messages"]} == {"RuntimeError"}


def test_show_says_what_a_shortened_flag_begins_and_asks_for_a_name(specconf: Run) -> None:
    assert "It begins --tp-size." in specconf("db", "show", "sglang", "--tp").err
    assert specconf("db", "show", "vllm", "").code == 2


@pytest.mark.parametrize("words", [["show", "vllm", "port"], ["coverage", "vllm"]])
def test_a_release_that_is_not_known_is_said_to_be_judged_as_another(specconf: Run, words: list[str]) -> None:
    ran = specconf("db", *words, "-r", "9.9")
    assert ran.code == 0
    assert "9.9 is newer than this database" in ran.err
