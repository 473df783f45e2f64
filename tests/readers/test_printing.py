"""Words built with `$(printf ...)` and `$(echo ...)`: what is known of them, and what stays unknown."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from specconf.readers.launches import find_launches

KNOWN = {
    """ "$(printf '{"n":%d}' 3)" """: '{"n":3}',
    """ "$(printf "'{\\"method\\":\\"%s\\"}'" mtp)" """: '\'{"method":"mtp"}\'',
    """ "$(printf '%s-%s' a b)" """: "a-b",
    """ "$(printf 'a\\tb\\n\\n')" """: "a\tb",
    """ "$(printf '%s%%' 5)" """: "5%",
    """ "$(echo '{"n": 3}')" """: '{"n": 3}',
    """ "$(echo -n a   b)" """: "a b",
    """ "x$(echo y)z" """: "xyz",
    """ $(printf '{"n":%d}' 3) """: '{"n":3}',
}
UNKNOWN = [
    '"$(printf "%s" a b)"',
    '"$(printf "%5s" a)"',
    '"$(printf "%q" a)"',
    '"$(printf -v X a)"',
    '"$(printf "%d" 010)"',
    '"$(printf "\\\\x41")"',
    '"$(echo a; date)"',
    '"$(echo a | tr a b)"',
    '"$(echo a > f)"',
    '"$(echo "$OUTSIDE")"',
    '"$(echo -e "a\\\\nb")"',
    '"$(date)"',
    "$(echo a b)",
    "$(printf '*')",
    '"$((1 + 2))"',
]


def value(word: str) -> str | None:
    (item,) = find_launches(f"vllm serve m --served-model-name {word}", "launch.sh")
    return item.launch.argv[-1].value


@pytest.mark.parametrize("word", KNOWN)
def test_known(word: str) -> None:
    assert value(word) == KNOWN[word]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize("word", KNOWN)
def test_as_bash_does(word: str) -> None:
    script = f"printf %s {word}"
    assert subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout == KNOWN[word]


@pytest.mark.parametrize("word", UNKNOWN)
def test_unknown(word: str) -> None:
    assert value(word) is None


def test_variables_in_it_are_looked_up() -> None:
    script = 'K=4\nA=(--speculative-config "$(printf \'{"n":%s}\' "$K")")\nvllm serve m "${A[@]}"'
    (item,) = find_launches(script, "launch.sh")
    assert item.launch.argv[-1].value == '{"n":4}'
