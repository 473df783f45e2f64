"""Archives that an index has or has not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from specconf.errors import OracleError
from specconf.oracle.fetching import fetch
from specconf.oracle.recipe import recipe_of
from specconf.oracle.steps import Done, Steps
from tests.oracle.packages import Recorder

NO_SUCH = (
    "ERROR: Could not find a version that satisfies the requirement x (from versions: {versions})\n"
    "ERROR: No matching distribution found for x\n"
)


class _Index(Recorder):
    """A pip that keeps a file where the kind asked for is there."""

    def __init__(self, has: Mapping[str, str], answers: Mapping[str, Done | BaseException] | None = None) -> None:
        super().__init__(answers)
        self._has = has

    def __call__(self, words: Sequence[str], env: Mapping[str, str]) -> Done:
        """Answer as a failing pip, or put the file down."""
        done = super().__call__(words, env)
        name = self._has.get("sdist" if "--no-binary" in words else "wheel")
        if done.code == 0 and name is not None:
            Path(words[words.index("-d") + 1], name).write_text("")
        return done


def _fetch(engine: str, release: str, into: Path, runner: Recorder) -> Path:
    def pip_for(needs: tuple[str, ...]) -> list[str | Path]:
        return ["pip-with-needs" if needs else "pip"]

    return fetch(engine, recipe_of(engine), release, into, Steps(runner=runner, environ={}), pip_for)


def test_the_source_archive_of_vllm_is_asked_for_without_a_device(tmp_path: Path) -> None:
    runner = _Index({"sdist": "vllm-0.33.0.tar.gz"})
    assert _fetch("vllm", "0.33.0", tmp_path / "d", runner).name == "vllm-0.33.0.tar.gz"
    assert runner.commands[0][0] == "pip-with-needs"
    assert runner.environs[0]["VLLM_TARGET_DEVICE"] == "empty"


def test_where_there_is_no_source_archive_the_wheel_is_taken(tmp_path: Path) -> None:
    runner = _Index({"wheel": "vllm.whl"}, {"--no-binary": Done(1, NO_SUCH.format(versions="0.9.0, 0.9.1"))})
    assert _fetch("vllm", "0.33.0", tmp_path / "d", runner).name == "vllm.whl"


def test_an_index_that_cannot_be_reached_is_not_asked_again(tmp_path: Path) -> None:
    runner = _Index(
        {},
        {
            "download": Done(
                1,
                "Could not fetch URL x: connection error - skipping\n(from versions: none)\nNo matching distribution found",
            )
        },
    )
    with pytest.raises(OracleError, match="the package index cannot be reached") as caught:
        _fetch("vllm", "0.33.0", tmp_path / "d", runner)
    assert len(runner.commands) == 1
    assert "--archive FILE" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("release", "listed", "beside"),
    [
        ("0.15.9", "0.15.1, 0.16.0, 0.15.8", "0.15.8 and 0.16.0"),
        ("99.0", "0.32.0, 99.1", "0.33.0 and 99.1"),
        ("99.0", "0.33.0", "0.33.0"),
        ("0.0.1", "0.33.0", "0.4.1"),
        ("no-version", "0.4.2", "0.33.0"),
    ],
)
def test_a_release_that_does_not_exist_names_the_nearest(
    tmp_path: Path, release: str, listed: str, beside: str
) -> None:
    runner = _Index({}, {"download": Done(1, NO_SUCH.format(versions=listed))})
    with pytest.raises(OracleError, match=f"There is no release {release} of vllm") as caught:
        _fetch("vllm", release, tmp_path / "d", runner)
    assert f"Nearest known: {beside};" in (caught.value.hint or "")


def test_an_index_that_lists_nothing(tmp_path: Path) -> None:
    runner = _Index({}, {"download": Done(1, NO_SUCH.format(versions="none"))})
    with pytest.raises(OracleError, match="lists no release of vllm at all") as caught:
        _fetch("vllm", "0.33.0", tmp_path / "d", runner)
    assert "PIP_INDEX_URL" in (caught.value.hint or "")


def test_a_release_of_which_no_file_fits(tmp_path: Path) -> None:
    runner = _Index({}, {"download": Done(1, NO_SUCH.format(versions="0.5.21"))})
    with pytest.raises(
        OracleError, match=r"neither a source archive nor a wheel of sglang 0\.5\.22 for Python"
    ) as caught:
        _fetch("sglang", "0.5.22", tmp_path / "d", runner)
    assert "--archive FILE" in (caught.value.hint or "")
    assert "0.5.21 and 0.5.23" in (caught.value.hint or "")


def test_a_release_for_another_python(tmp_path: Path) -> None:
    ignored = (
        "ERROR: Ignored the following versions: 0.5.22 Requires-Python >=3.10; 0.5.23 Requires-Python >=3.40,<4; x\n"
    )
    runner = _Index({}, {"download": Done(1, ignored + NO_SUCH.format(versions="0.1.3"))})
    with pytest.raises(OracleError, match=r"sglang 0\.5\.23 requires Python >=3\.40,<4; this is Python"):
        _fetch("sglang", "0.5.23", tmp_path / "d", runner)


def test_a_build_script_that_fails_is_told_where_no_other_file_helps(tmp_path: Path) -> None:
    answers: dict[str, Done | BaseException] = {
        "--no-binary": Done(1, "ModuleNotFoundError: No module named 'setuptools_scm'"),
        "--only-binary": Done(1, NO_SUCH.format(versions="0.1")),
    }
    with pytest.raises(OracleError, match=r"downloading vllm 0\.33\.0 failed with exit status 1") as caught:
        _fetch("vllm", "0.33.0", tmp_path / "d", _Index({}, answers))
    assert "setuptools_scm" in (caught.value.hint or "")
