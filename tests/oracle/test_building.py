"""Builds: real ones from a folder of tiny packages, and what stands in their way."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from specconf.errors import OracleError
from specconf.oracle import building, steps
from specconf.oracle.building import GB, build, settled
from specconf.oracle.environment import MARKER, Environment, environment_dir, find
from specconf.oracle.recipe import recipe_of
from specconf.oracle.steps import Done
from tests.oracle.packages import STATED, Recorder, make_index, make_wheel, offline

RELEASE = "0.5.23"


@pytest.fixture(scope="module", autouse=True)
def few_requirements() -> Iterator[None]:
    """The engine's recipe, installing no more than what the tiny release states."""
    recipe = replace(recipe_of("sglang"), wanted=lambda stated: sorted(stated.requires))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "recipe_of", lambda _: recipe)
        yield


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release and all that it needs; no uv is in it."""
    return make_index(tmp_path_factory.mktemp("index"), RELEASE)


@pytest.fixture(scope="module")
def made(index: Path, tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root in which pip built one environment."""
    root = tmp_path_factory.mktemp("made")
    shutil.copytree(tools, root / "tools", symlinks=True)
    with pytest.MonkeyPatch.context() as patch:
        _use(patch, offline(index))
        build("sglang", RELEASE, root=root)
    return root


def _use(patch: pytest.MonkeyPatch, environ: Mapping[str, str]) -> None:
    patch.setattr(steps.os, "environ", dict(environ))


@pytest.fixture
def root(made: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root with pip and a base, but without the environment."""
    _use(monkeypatch, offline(index))
    root = tmp_path / "root"
    root.mkdir()
    shutil.copytree(made / "tools", root / "tools", symlinks=True)
    for base in made.glob("base-*"):
        shutil.copytree(base, root / base.name, symlinks=True)
    return root


def _says(environment: Environment, code: str) -> str:
    done = subprocess.run([environment.python, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_pip_builds_an_environment_that_runs_the_release(made: Path) -> None:
    found = find("sglang", RELEASE, made)
    assert found is not None
    code = "import sglang, torch, transformers, importlib.metadata as m; print(sglang.__version__, m.version('sglang'))"
    assert _says(found, code) == f"{RELEASE} {RELEASE}"
    assert _says(found, "import importlib.util as u; print(u.find_spec('triton'))") == "None"
    assert (found.until, found.installer.split()[0]) == (None, "pip")
    assert found.archive == f"sglang-{RELEASE}-py3-none-any.whl"
    assert found.requirements == STATED
    assert not (found.folder / "download").exists()


def test_the_marker_says_that_the_requirements_are_not_of_the_releases_time(made: Path) -> None:
    (marker,) = made.glob(f"base-*/{MARKER}")
    noted = json.loads(marker.read_text())
    assert noted["until"] is None
    assert noted["installer"].startswith("pip ")
    assert settled("sglang", RELEASE) is not None


def test_the_marker_says_how_long_it_took(made: Path) -> None:
    found = find("sglang", RELEASE, made)
    assert found is not None
    assert json.loads((found.folder / MARKER).read_text())["build_seconds"] > 0


def test_a_release_that_states_the_same_shares_the_base(root: Path, index: Path, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "sglang", "0.5.22", requires=STATED)
    found = build("sglang", "0.5.22", root=root, archive=wheel)
    assert [found.base] == list(root.glob("base-*"))


def test_what_is_there_is_not_built_again(made: Path) -> None:
    runner = Recorder()
    assert build("sglang", RELEASE, root=made, runner=runner) == find("sglang", RELEASE, made)
    assert not runner.commands


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"torch": "torch==1.0"}, r"was built with torch==2\.13\.0, not torch==1\.0"),
        ({"archive": "other"}, r"was built from another archive, sglang-0\.5\.23-py3-none-any\.whl, than"),
        ({"archive": "missing"}, "missing does not exist"),
    ],
)
def test_what_is_there_and_not_what_is_asked_for_is_an_error(
    made: Path, tmp_path: Path, options: dict[str, str], says: str
) -> None:
    (tmp_path / "other").write_text("")
    given = {name: tmp_path / value if name == "archive" else value for name, value in options.items()}
    with pytest.raises(OracleError, match=says):
        build("sglang", RELEASE, root=made, **given)  # type: ignore[arg-type]


def test_what_is_there_and_what_is_asked_for_is_taken(made: Path, index: Path) -> None:
    archive = index / f"sglang-{RELEASE}-py3-none-any.whl"
    assert build("sglang", RELEASE, root=made, torch="torch==2.13.0", archive=archive).folder.is_dir()


def test_an_interrupted_build_leaves_nothing_that_looks_finished(root: Path, index: Path) -> None:
    shutil.rmtree(next(root.glob("base-*")))
    target = environment_dir("sglang", RELEASE, root)
    for step, bases in (("download", 0), ("-r", 0), (str(target), 1)):  # the last one joins what is there
        interrupted = Recorder({step: KeyboardInterrupt()}, real=True)
        with pytest.raises(KeyboardInterrupt):
            build("sglang", RELEASE, root=root, runner=interrupted)
        assert find("sglang", RELEASE, root) is None
        assert len(list(root.glob(f"base-*/{MARKER}"))) == bases
    assert build("sglang", RELEASE, root=root).folder == target


def test_two_that_want_the_same_build_it_once(root: Path) -> None:
    runner, found = Recorder(real=True), []
    told: list[str] = []
    lock = threading.Lock()

    def one() -> None:
        environment = build("sglang", RELEASE, root=root, runner=runner, progress=told.append)
        with lock:
            found.append(environment)

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    assert found[0] == found[1]
    assert len(runner.with_word("download")) == 1
    assert f"waiting for another process that makes sglang-{RELEASE}" in told


@pytest.mark.parametrize("written", ["0.5.23", "v0.5.23", "0.5.23.0"])
def test_a_release_is_built_under_its_published_name(made: Path, written: str) -> None:
    assert build("sglang", written, root=made).release == RELEASE


def _told(root: Path, **options: object) -> OracleError:
    with pytest.raises(OracleError) as caught:
        build("sglang", RELEASE, root=root, **options)  # type: ignore[arg-type]
    assert not environment_dir("sglang", RELEASE, root).exists()
    return caught.value


def test_a_release_for_another_python(root: Path, tmp_path: Path) -> None:
    error = _told(root, archive=make_wheel(tmp_path, "sglang", RELEASE, python="<3.10"))
    assert "sglang 0.5.23 requires Python <3.10; this is Python 3." in error.message


def test_no_torch_to_be_had(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(next(root.glob("base-*")))
    make_wheel(tmp_path / "index", "sglang", RELEASE)
    _use(monkeypatch, offline(tmp_path / "index"))
    error = _told(root)
    assert "No CPU build of torch==2.13.0 for Python 3." in error.message
    assert "PIP_EXTRA_INDEX_URL" in (error.hint or "")


def test_no_such_release(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_wheel(tmp_path / "index", "sglang", "0.5.21.post1")
    _use(monkeypatch, offline(tmp_path / "index"))
    with pytest.raises(OracleError, match=r"There is no release 0\.5\.21\.post2") as caught:
        build("sglang", "0.5.21.post2", root=root)
    assert "0.5.21.post1 and 0.5.22" in (caught.value.hint or "")


def test_a_release_without_any_file(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_wheel(tmp_path / "index", "sglang", "0.5.21")
    _use(monkeypatch, offline(tmp_path / "index"))
    assert "neither a source archive nor a wheel of sglang 0.5.23" in _told(root).message


def test_a_disk_without_space_is_seen_before(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building.shutil, "disk_usage", lambda _: SimpleNamespace(free=0.4 * GB))
    runner = Recorder()
    error = _told(root, runner=runner)
    assert "0.4 GB free, and an environment needs about 1 GB" in error.message
    assert "SPECCONF_ENGINE_CACHE" in (error.hint or "")
    assert not runner.commands


@pytest.mark.parametrize(
    ("code", "says"),
    [(errno.ENOSPC, "no space is left on the disk"), (errno.EACCES, "permission denied")],
)
def test_a_folder_that_cannot_be_written(root: Path, monkeypatch: pytest.MonkeyPatch, code: int, says: str) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, "")

    monkeypatch.setattr(building, "_mark", refuse)
    error = _told(root)
    assert says in error.message
    assert "SPECCONF_ENGINE_CACHE" in (error.hint or "")


def test_a_file_where_the_folder_must_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OracleError, match="cannot be written"):
        build("sglang", RELEASE, root=tmp_path / "file")


def test_an_index_that_cannot_be_reached(root: Path) -> None:
    refused = Done(1, "Failed to fetch: https://user:tresor@index.example/simple/sglang/\n")
    error = _told(root, runner=Recorder({"download": refused}, real=True))
    assert "cannot be reached" in error.message
    assert "tresor" not in str(error)


def test_no_marker_holds_an_address(root: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, {**offline(index), "PIP_INDEX_URL": "https://user:tresor@index.example/simple"})
    shutil.rmtree(next(root.glob("base-*")))
    build("sglang", RELEASE, root=root)
    markers = list(root.glob(f"*/{MARKER}"))
    assert len(markers) == 2
    assert not [path for path in markers if "tresor" in path.read_text() or str(index) in path.read_text()]


@pytest.mark.parametrize(
    ("release", "day"), [("0.6.3.post1", "2024-10-24"), ("99.0.0", None)], ids=["dated", "not known"]
)
def test_requirements_are_taken_as_they_were_a_week_after_the_release(release: str, day: str | None) -> None:
    assert settled("vllm", release) == day


def test_what_begins_is_told(root: Path) -> None:
    told: list[str] = []
    build("sglang", RELEASE, root=root, progress=told.append)
    download, unpack = "downloading the wheel of sglang 0.5.23", "unpacking sglang-0.5.23-py3-none-any.whl"
    assert [line for line in told if line in {download, unpack}] == [download, unpack]
    assert any("pip is used" in line for line in told)
