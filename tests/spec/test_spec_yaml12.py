from __future__ import annotations

import contextlib
import json
import re
import sys
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from specconf.errors import InputError
from specconf.spec.nodes import Mapping, plain_value
from specconf.spec.problems import Problem, SpecError
from specconf.spec.text import _BLANKS, _REFUSED
from specconf.spec.yaml12 import MAX_DEPTH, compose

LOADERS = [loader for loader in (getattr(yaml, "CSafeLoader", None), yaml.SafeLoader) if loader]
both_loaders = pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.__name__)

BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(8)
)

BAD: list[tuple[str | bytes, int, int, str]] = [
    ("", 1, 1, "empty"),
    ("# only a comment\n", 1, 1, "empty"),
    ("---\n", 1, 1, "empty"),
    ("\ufeff", 1, 1, "empty"),
    ("a: 1\nb:\n\t- x\n", 3, 1, "tab"),
    ("a: 1\n\tb: 2\n", 2, 1, "tab"),
    ("a:\n  b: 1\n  \tc: 2\n", 3, 3, "tab"),
    ("a: 1\n---\nb: 2\n", 2, 1, "second document"),
    ("a: 1\nb: 2\na: 3\n", 3, 1, "written twice, first at line 1"),
    ("a: {x: 1, 'x': 2}\n", 1, 11, "written twice"),
    ("a: {4: 1, '4': 2}\n", 1, 11, "written twice"),
    ("a: .nan\n", 1, 4, ".nan is not a finite number"),
    ("a: [1, -.inf]\n", 1, 8, "not a finite number"),
    ("a: 1e999\n", 1, 4, "too large"),
    ("a: " + "9" * 5000, 1, 4, "64 bits"),
    ("a: &x {b: 1}\nc:\n  <<: *x\n", 3, 3, "merge keys"),
    ("a: {{ model }}\n", 1, 5, "template"),
    ("? [a]\n: 1\n", 1, 3, "key must be text"),
    ("true: 1\n", 1, 1, "key must be text"),
    ("1.5: 1\n", 1, 1, "key must be text"),
    ("a: *q\n", 1, 4, "names no anchor"),
    ("a: &a [*a]\n", 1, 8, "inside itself"),
    (BOMB, 4, 29, "aliases expand"),
    ("[" * 100, 1, MAX_DEPTH + 1, "nested more than"),
    ("a: !!python/object/apply:os.system ['true']\n", 1, 4, "is not read here"),
    ("a: !!python/name:os.system\n", 1, 4, "core schema"),
    ("a: !mine 1\n", 1, 4, "core schema"),
    ("a: !!set {b, c}\n", 1, 4, "is not read here"),
    ("%YAML 1.1\n---\na: 1\n", 1, 1, "YAML 1.2"),
    ("a: @x\n", 1, 4, "quoted"),
    ("a: b: c\n", 1, 5, "not allowed here"),
    ("a: 1\n b: 2\n", 2, 3, "not allowed here"),
    ("a: [1\n", 2, 1, "not valid YAML"),
    ("a: 'x\n", 2, 1, "starts at line 1"),
    ("a: \x07\n", 1, 4, "U+0007"),
    ("a: x\u2028y\n", 1, 5, "U+2028"),
    ("é: 1\r\nb: \x00\r\n", 2, 4, "U+0000"),
    ('a: "\\ud800"\n', 1, 4, "no character"),
    (b"a: 1\nb: \xff\n", 2, 4, "0xff is not UTF-8"),
    ("a: 1\n".encode("utf-16"), 1, 1, "UTF-16"),
    ("x" * (1 << 20) + "y", 1, 1, "larger than"),
    (("é" * (1 << 20)).encode(), 1, 1, "larger than"),
]


@both_loaders
@pytest.mark.parametrize(("text", "line", "column", "message"), BAD, ids=range(len(BAD)))
def test_bad_text_is_an_error_with_its_place(text: Any, line: int, column: int, message: str, loader: Any) -> None:
    with pytest.raises(InputError) as caught:
        compose(text, "s.yaml", loader=loader)
    assert isinstance(caught.value, SpecError)
    problem = caught.value.problems[0]
    assert message in str(problem)
    assert problem.hint
    if not (loader is not yaml.SafeLoader and str(text).startswith('a: "\\ud800')):  # libyaml points into the escape
        assert (problem.where.line, problem.where.column) == (line, column)


@both_loaders
def test_half_a_million_brackets_end_early(loader: Any) -> None:
    with pytest.raises(SpecError, match="nested more than"):
        compose("[" * 500_000, "s.yaml", loader=loader)


def test_several_problems_are_listed_in_the_order_of_the_file() -> None:
    with pytest.raises(SpecError) as caught:
        compose("b: .nan\n<<: 1\nb: 2\n", "s.yaml")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == ["s.yaml:1:4", "s.yaml:2:1", "s.yaml:3:1"]


GOOD: list[tuple[str | bytes, object]] = [
    ("\ufeffa: 1\n", {"a": 1}),
    (b"\xef\xbb\xbfa: 1\n", {"a": 1}),
    ("a:\r\n  b: 1\r\n", {"a": {"b": 1}}),
    ("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}),
    ("a: &x [1, 2]\nb: *x\n", {"a": [1, 2], "b": [1, 2]}),
    ("on: yes\nno: off\n4: 0o17\n0x10: 1\n", {"on": "yes", "no": "off", "4": 15, "16": 1}),
    ("a: 'é\tx'\n", {"a": "é\tx"}),
    ("a: ! 5\nb: !!str 5\nc: '5'\nd: \"null\"\n", {"a": "5", "b": "5", "c": "5", "d": "null"}),
    ("a: |\n  x\n  y\nb: >-\n  p\n  q\n", {"a": "x\ny\n", "b": "p q"}),
    ('{"a": [1, {"b": null}], "c": "\\/\\u00e9"}', {"a": [1, {"b": None}], "c": "/é"}),
    ("'<<': 1\n", {"<<": 1}),
    ("d: 2026-11-30\nt: 12:30\n", {"d": "2026-11-30", "t": "12:30"}),
    ("a: {}\nb: []\nc:\n", {"a": {}, "b": [], "c": None}),
]


@both_loaders
@pytest.mark.parametrize(("text", "value"), GOOD, ids=range(len(GOOD)))
def test_good_text(text: Any, value: object, loader: Any) -> None:
    result = plain_value(compose(text, "s.yaml", loader=loader))
    assert result == value
    assert repr(result) == repr(value)


def test_json_with_tabs_is_read_by_libyaml() -> None:
    if not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without libyaml")
    assert plain_value(compose('{\n\t"a":\t1\n}\n', "s.json")) == {"a": 1}


@both_loaders
def test_places_count_code_points_and_collections_end_with_their_last_value(loader: Any) -> None:
    text = "😀: [1, 2]\nb:\n  c: 1\n  d:   xyz\n\n# end\ne: *q\n".replace("*q", "'q'")
    root = compose(text, "s.yaml", loader=loader)
    assert isinstance(root, Mapping)
    spans = {entry.key: entry.node.span for entry in root.entries}
    assert [(s.line, s.column, s.end_line, s.end_column) for s in spans.values()] == [
        (1, 4, 1, 10),
        (3, 3, 4, 11),
        (7, 4, 7, 7),
    ]


def test_an_alias_stands_where_it_is_written() -> None:
    root = compose("a: &x 5\nb: *x\n", "s.yaml")
    assert isinstance(root, Mapping)
    assert str(root.entries[1].node.span) == "s.yaml:2:4"


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"), max_codepoint=0xD7FF)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc<é", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(value=_json)
def test_json_is_read_as_json(value: object) -> None:
    text = json.dumps([value])
    assert json.dumps(plain_value(compose(text, "s.json"))) == text


@given(text=st.text(max_size=60) | st.text("a:-[]{}&*!|>'\"%@` \n\t#,?", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        compose(text, "s.yaml")
    except SpecError as error:
        problems = error.problems
    assert all(problem.where.line >= 1 and problem.where.column >= 1 for problem in problems)


@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(SpecError):
        compose(data, "s.yaml")


def test_the_short_way_for_printable_text_allows_no_refused_character() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    refused = re.findall(_REFUSED, everything)
    assert len(refused) > 1000  # surrogates and controls
    assert not [c for c in refused if c.translate(_BLANKS).isprintable()]
