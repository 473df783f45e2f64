"""Files that are written whole or not at all, by everybody who writes one so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from specconf.cli.common import write_atomically
from specconf.compat.index import _write_json
from specconf.verify.observed import replace_text
from specconf.whole import written_whole


def test_a_file_takes_its_place_with_its_mode(tmp_path: Path) -> None:
    with written_whole(tmp_path / "a", 0o600) as stream:
        stream.write("one\n")
        assert not (tmp_path / "a").exists()
    assert ((tmp_path / "a").read_text(), (tmp_path / "a").stat().st_mode & 0o777) == ("one\n", 0o600)


@pytest.mark.parametrize(
    "write",
    [
        lambda path: replace_text(path, "half\ud800"),
        lambda path: write_atomically(path, "half\ud800"),
        lambda path: _write_json(path, {"half": object()}),
    ],
    ids=["observed", "cli", "index"],
)
def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    (tmp_path / "a").write_text("before")
    with pytest.raises((UnicodeEncodeError, TypeError)):
        write(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "before"


def test_a_place_that_cannot_be_taken_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_text(tmp_path / "a", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
