"""Where the characters of YAML's scalars stand, whatever breaks their lines."""

from __future__ import annotations

import pytest

from specconf.readers.yamltext import documents

BODIES = ["vllm serve m \\\n  --a b\n\n\n  c 'd'\n", "x\n\n   y\n z", "\n\na b\n"]
REST = "\n  b: 'x\n    y ''z'\n  c: \"q\\\n    r\\ts\n    u\"\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("style", ["|", "|-", "|+", ">", ">-", "|2", "|2-"])
@pytest.mark.parametrize("body", BODIES)
def test_every_character_stands_where_it_is_written(body: str, style: str, line_end: str) -> None:
    indented = "\n".join(f"    {line}" if line else "" for line in body.split("\n"))
    text = f"k:\n  a: {style} # c\n{indented}{REST}".replace("\n", line_end)
    (root,) = documents(text, "x.yaml")
    for key in "abc":
        node = root.get("k", key)
        assert node is not None
        placed = node.placed()
        found = [(char, text[at]) for char, at in zip(placed.text, placed.at, strict=True) if not char.isspace()]
        assert [pair for pair in found if pair[0] != pair[1] and pair[1] != "\\"] == []
        assert len({at for char, at in zip(placed.text, placed.at, strict=True) if not char.isspace()}) == len(found)
