"""Families of checkpoints: what the shipped file says, and what a file may not hold."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from specconf.compat.index import compile_checkpoints, compile_families
from specconf.compat.sources import SourceTree
from specconf.errors import DatabaseError
from specconf.models.families import known_families

COMPAT = Path(__file__).parents[2] / "compat"
SOURCE = "source: [{kind: source, package: p, release: 1.0.0, file: f.py}]"


def compiled(text: str, folder: Path) -> dict[str, object]:
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "families.yaml").write_text(text)
    assert compile_checkpoints(SourceTree(folder)) == []
    return compile_families(SourceTree(folder))


def test_the_index_holds_the_shipped_file() -> None:
    rows = yaml.safe_load((COMPAT / "checkpoints" / "families.yaml").read_text())
    found = known_families()
    assert {row["value"] for row in rows} == {*found.mtp_layers, *found.remote_code}
    assert found.mtp_layers["longcat_flash"] == 1
    assert found.mtp_layers["qwen3_next"] is None
    assert "mimo" in found.remote_code


def test_every_shipped_row_says_where_it_was_read() -> None:
    for row in yaml.safe_load((COMPAT / "checkpoints" / "families.yaml").read_text()):
        for source in row["source"]:
            assert {"kind", "package", "release", "file", "symbol"} <= set(source), row["value"]


def test_rows_are_compiled_by_name(tmp_path: Path) -> None:
    text = f"""
- {{value: a, mtp_layers: 2, {SOURCE}}}
- {{value: b, mtp_layers: uncounted, remote_code: true, {SOURCE}}}
"""
    assert compiled(text, tmp_path) == {"mtp_layers": {"a": 2, "b": None}, "remote_code": ["b"]}


def test_a_folder_without_the_file_has_no_families(tmp_path: Path) -> None:
    assert compile_families(SourceTree(tmp_path)) == {"mtp_layers": {}, "remote_code": []}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (f"{{value: a, {SOURCE}}}", "says nothing"),
        (f"{{value: a, mtp_layers: many, {SOURCE}}}", "says nothing"),
        ("{value: a, mtp_layers: 1}", "no source"),
        ("{value: a, mtp_layers: 1, source: [{kind: hearsay}]}", "unknown kind"),
        (f"{{value: a, mtp_layer: 1, {SOURCE}}}", "unknown keys: mtp_layer"),
        (f"{{mtp_layers: 1, {SOURCE}}}", "needs a value"),
    ],
)
def test_a_bad_row_is_refused(row: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=told):
        compiled(f"- {row}\n", tmp_path)


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    row = f"- {{value: a, mtp_layers: 1, {SOURCE}}}\n"
    with pytest.raises(DatabaseError, match="of its own"):
        compiled(row * 2, tmp_path)
