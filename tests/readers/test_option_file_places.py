"""Where an option file's keys are told when the file is a part of another one, for all three engines."""

from __future__ import annotations

import pytest

from specconf.compat.database import load_database
from specconf.engines.registry import get_engine
from specconf.readers.fragments import Fragment
from specconf.readers.launches import in_fragment
from specconf.readers.registry import read_launches
from specconf.readers.source import SourceText
from specconf.readers.yamltext import documents
from specconf.settings import Settings
from specconf.words import Launch, words

VLLM = "model: m\nspeculative-config:\n  method: ngram\n  num_speculative_tokens: 3\n  no_key: 1\nno-option: 1\n"
SGLANG = "model-path: m\nspeculative-algorithm: EAGLE\nspeculative-num-steps: 3\nno-option: 1\n"
TRTLLM = "kv_cache_config:\n  no_key: 1\nspeculative_config:\n  decoding_type: MTP\n  max_draft_len: 3\n"
FILES = {
    "vllm": ("0.33.0", VLLM, "vllm serve --config o.yaml", "speculative_config.num_speculative_tokens", 4),
    "sglang": ("0.5.23", SGLANG, "sglang serve --config o.yaml", "speculative_num_steps", 3),
    "tensorrt-llm": ("1.3.0rc14", TRTLLM, "trtllm-serve m --config o.yaml", "speculative_config.max_draft_len", 5),
}
HEREDOC = "#!/bin/bash\ncat > o.yaml <<'EOF'\n{}EOF\n"
SCRIPTS = {
    "heredoc": (HEREDOC, 2),
    "heredoc with variables": ("N=1\ncat <<EOF > o.yaml\n# $N $N\n{}EOF\n", 3),
    "appended": ("cat > o.yaml <<A\n# a\nA\n\ncat >> o.yaml <<B\n{}B\n", 5),
    "tee": ("cat <<E | sudo tee o.yaml >/dev/null\n{}E\n", 1),
    "echo": ("mkdir x\necho '{}' > o.yaml\n", 1),
    "echo to tee": ("mkdir x\necho '{}' | tee o.yaml\n", 1),
}


def settings_of(launch: Launch) -> Settings:
    release = FILES[launch.engine][0]
    return get_engine(launch.engine).resolve(launch, load_database(launch.engine).at(release))


@pytest.mark.parametrize("engine", FILES)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_key_in_a_script_is_told_at_its_line(engine: str, script: str) -> None:
    _, text, start, path, line = FILES[engine]
    before, shift = SCRIPTS[script]
    (item,) = read_launches("run.sh", before.replace("{}", text) + start + "\n")
    settings = settings_of(item.launch)
    setting = settings.setting(path)
    assert setting is not None
    assert setting.final.where is not None
    assert (setting.final.where.path, setting.final.where.line) == ("run.sh", line + shift)
    lines = text.split("\n")
    for problem in settings.problems:
        assert problem.where is not None
        assert problem.where.line > shift
        assert problem.spelling.lstrip("-") in lines[problem.where.line - shift - 1]


@pytest.mark.parametrize("engine", FILES)
def test_a_key_in_a_yaml_block_is_told_at_its_place(engine: str) -> None:
    _, text, start, path, line = FILES[engine]
    block = "data:\n  o.yaml: |\n" + "".join(f"    {row}\n" for row in text.splitlines())
    (document,) = documents(block, "map.yaml")
    held = document.get("data", "o.yaml")
    assert held is not None
    fragment = Fragment(words=words(*start.split()), files={"o.yaml": held.placed()})
    (item,) = in_fragment(fragment, "map.yaml")
    setting = settings_of(item.launch).setting(path)
    assert setting is not None
    assert setting.final.where is not None
    assert setting.final.where.line == line + 2
    assert setting.final.where.column >= 5


def test_escaped_line_breaks_of_echo() -> None:
    script = 'echo -e "kv_cache_config:\\n  no_key: 1\\nspeculative_config:\\n\\\n  decoding_type: MTP" > o.yaml\n'
    (item,) = read_launches("run.sh", script + "trtllm-serve m --config o.yaml\n")
    assert item.launch.files == (
        ("o.yaml", "kv_cache_config:\n  no_key: 1\nspeculative_config:\n  decoding_type: MTP\n"),
    )
    setting = settings_of(item.launch).setting("speculative_config.decoding_type")
    assert setting is not None
    assert setting.final.where is not None
    assert (setting.final.where.line, setting.final.where.column) == (2, 18)


WRITTEN = {
    "echo without -e keeps backslashes": ("echo 'a\\nb' > o.yaml", "a\\nb\n"),
    "echo -n": ("echo -n 'a: 1' > o.yaml", "a: 1"),
    "printf": ("printf 'a: 1\\nb: 2\\n' > o.yaml", "a: 1\nb: 2\n"),
    "printf with a text": ("X='a: 1'\nprintf '%s\\n' \"$X\" > o.yaml", "a: 1\n"),
    "printf with a number": ("printf 'a: %d' 3 > o.yaml", None),
    "echo of what is not known": ('echo "a: $X" > o.yaml', None),
    "two echoes": ("echo 'a: 1' > o.yaml\necho 'b: 2' >> o.yaml", "a: 1\nb: 2\n"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_files_written_by_echo_and_printf(name: str) -> None:
    script, text = WRITTEN[name]
    (item,) = read_launches("run.sh", f"{script}\ntrtllm-serve m --config o.yaml\n")
    assert item.launch.files == (() if text is None else (("o.yaml", text),))


def test_a_file_beside_the_launch_is_told_by_its_own_name() -> None:
    launch = Launch("vllm", words("vllm", "serve", "--config", "o.yaml"), files=(("o.yaml", VLLM),))
    settings = settings_of(launch)
    found = {problem.spelling: str(problem.where) for problem in settings.problems}
    assert found["--no-option"] == "o.yaml:6:1"
    assert str(settings.items_by_path["speculative_config.no_key"].final.where) == "o.yaml:5:3"


def test_merged_keys_have_the_place_where_they_are_written() -> None:
    text = "base: &base\n  port: 8001\n<<: *base\nmodel-path: m\n"
    launch = Launch("sglang", words("sglang", "serve", "--config", "o.yaml"), files=(("o.yaml", text),))
    assert str(settings_of(launch).items_by_path["port"].final.where) == "o.yaml:2:3"


def test_places_do_not_make_launches_differ() -> None:
    plain = Launch("vllm", words("vllm"), files=(("o.yaml", "a: 1"),))
    placed = Launch("vllm", words("vllm"), files=plain.files, places={"o.yaml": SourceText("a: 1", "x").part(0, 4)})
    assert plain == placed
    assert hash(plain) == hash(placed)


def test_a_file_in_a_script_that_is_one_word() -> None:
    """Escapes of the outer quotes do not move what is told."""
    script = '\nbash -c "cat > o.yaml <<\'E\'\nmodel: \\"m\\"\nE\nvllm serve --config o.yaml"\n'
    (item,) = read_launches("run.sh", script)
    assert item.launch.files == (("o.yaml", 'model: "m"\n'),)
    assert item.launch.place_in("o.yaml", _Position(0), _Position(5)).line == 3


@pytest.mark.parametrize("word", ["--config conf/o.yaml", "--config=conf/o.yaml"])
def test_an_option_file_beside_the_script(word: str) -> None:
    (item,) = read_launches("deploy/run.sh", f"vllm serve {word}\n", around={"conf/o.yaml": VLLM}.get)
    assert item.launch.files == (("conf/o.yaml", VLLM),)
    where = item.launch.place_in("conf/o.yaml", _Position(9), _Position(12))
    assert str(where) == "deploy/conf/o.yaml:2:1"


def test_a_file_of_the_script_comes_before_one_beside_it() -> None:
    script = "echo 'model: a' > o.yaml\nvllm serve --config o.yaml\n"
    (item,) = read_launches("run.sh", script, around={"o.yaml": VLLM}.get)
    assert item.launch.files == (("o.yaml", "model: a\n"),)


class _Position:
    def __init__(self, index: int) -> None:
        self.index, self.line, self.column = index, 0, index
