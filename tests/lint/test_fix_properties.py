"""Whatever stands in a file: what `--fix` makes of it reads as before, and holds no finding that was not there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specconf.findings import Severity
from specconf.lint.run import FileResult
from tests.lint.boxes import fixed, judged
from tests.lint.test_fixes import IN_YAML, SHELL_SAFE, UNSAFE

FOLDER = Path(__file__).parent.parent / "corpus" / "deploy"
SCRIPTS = [str(case.values[0]) for case in (*SHELL_SAFE, *UNSAFE)]
YAML = [str(case.values[0]) for case in IN_YAML]
PIECES = (
    *(
        "'",
        '"',
        "\\",
        "\\\n",
        "\n",
        "\r\n",
        "\t",
        " ",
        "#",
        " # é",
        "$X",
        "${X:-1}",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "=",
        "-",
        "--",
    ),
    *(
        "|",
        "&",
        ";",
        "`",
        "é",
        "\u2028",
        "\U0001f680",
        "\ufeff",
        "\x85",
        "'\"'",
        "EOF",
        "<<EOF",
        "- ",
        "\n  ",
        "$(",
        ")",
        "''",
    ),
    *(
        '""',
        "%",
        "&a ",
        "*a",
        "--speculative-model x/y",
        "--num-speculative-tokens 3",
        "--cuda-graph-max-bs",
        "vllm serve a/b",
    ),
)


@st.composite
def mutated(draw: st.DrawFn, seeds: list[str]) -> str:
    """A text with pieces put in, taken out and doubled, and perhaps with the line ends of Windows."""
    text = draw(st.sampled_from(seeds))
    if draw(st.booleans()):
        text += draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.integers(0, 6)))
        text = text[:at] + draw(st.sampled_from((*PIECES, text[at:end] * 2, ""))) + text[end:]
    return text.replace("\n", "\r\n") if draw(st.integers(0, 5)) == 0 else text


def counted(result: FileResult) -> Counter[tuple[int, str, str]]:
    """The findings by launch, without remarks; those of the file itself under launch -1."""
    found = Counter((-1, f.code, "") for f in result.findings)
    for at, launch in enumerate(result.launches):
        found.update((at, f.code, f.constraint) for f in launch.findings if f.severity is not Severity.INFO)
    return found


def check(text: str, path: str, *, unsafe: bool) -> None:
    """The properties of one text."""
    before = judged(text, path)
    if before.skipped:
        assert not fixed(text, path, unsafe=unsafe).changed
        return
    done = fixed(text, path, unsafe=unsafe)
    after = judged(done.text, path)
    assert (after.skipped, after.format) == (before.skipped, before.format)
    assert [one.read.launch.engine for one in after.launches] == [one.read.launch.engine for one in before.launches]
    assert not counted(after) - counted(before)
    assert len(after.all_findings) <= len(before.all_findings)
    assert done.changed == bool(done.fixed)
    if text.count("\n") == text.count("\r\n"):
        assert done.text.count("\n") == done.text.count("\r\n")
    again = fixed(done.text, path, unsafe=unsafe)
    assert again.text == done.text


@pytest.mark.parametrize(
    "path", [str(path.relative_to(FOLDER)) for path in sorted(FOLDER.rglob("*")) if path.is_file()]
)
@pytest.mark.parametrize("unsafe", [False, True])
def test_deploy_files_are_no_worse_after_fixing(path: str, unsafe: bool) -> None:
    check((FOLDER / path).read_text(encoding="utf-8"), path, unsafe=unsafe)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=mutated(SCRIPTS), unsafe=st.booleans())
def test_scripts_stay_scripts(text: str, unsafe: bool) -> None:
    check(text, "run.sh", unsafe=unsafe)


@pytest.mark.usefixtures("boxes")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(text=mutated(YAML), unsafe=st.booleans())
def test_yaml_stays_yaml(text: str, unsafe: bool) -> None:
    check(text, "x.box.yaml", unsafe=unsafe)
