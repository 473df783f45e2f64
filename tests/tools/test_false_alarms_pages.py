"""The tool that makes launches of documentation pages: what it reads of a folder, and which release each launch is for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def collect() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        import false_alarms_pages

        yield false_alarms_pages.collect
        for name in [name for name in sys.modules if name.startswith("false_alarms")]:
            sys.modules.pop(name)


def _folder(root: Path, engine: str, pages: dict[str, str], more: str = "") -> Path:
    for name, text in pages.items():
        path = root / "part" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "sources.yaml").write_text(
        f"engine: {engine}\ntitle: T\nreleases: [1.2.1, 1.4.0rc1]\n"
        f"sources:\n- {{path: part, repository: a/b, commit: '0123456789abcdef', release: 1.3.0rc24{more}}}\n",
        encoding="utf-8",
    )
    return root


def _words(case: Any) -> list[str]:
    return [word.text for word in case.launch.argv]


def test_a_fence_is_a_launch_of_its_page_and_names_its_place(tmp_path: Path, collect: Any) -> None:
    page = "# T\n\n```bash\nsglang serve --model-path m [options]\n```\n"
    corpus = collect(_folder(tmp_path, "sglang", {"x.mdx": page}))
    (case,) = corpus.cases
    assert (case.file, case.line, case.stated) == ("a/b/x.mdx", 4, "1.3.0rc24")
    assert _words(case) == ["sglang", "serve", "--model-path", "m", "${options}"]
    assert (corpus.release, corpus.more) == ("1.4.0rc1", ("1.2.1",))
    assert corpus.places == ["a/b at 0123456789ab, written for 1.3.0rc24"]


def test_an_image_states_the_release_and_pages_of_another_program_are_left_out(tmp_path: Path, collect: Any) -> None:
    page = "```bash\ndocker run lmsysorg/sglang:v0.5.9 sglang serve --model-path m\n```\n"
    corpus = collect(_folder(tmp_path, "sglang", {"x.md": page, "other/x.md": page}, ", skip: [other]"))
    assert [case.stated for case in corpus.cases] == ["0.5.9"]
    assert corpus.counts["pages about another program, skipped"] == 1


def test_a_notebook_gives_the_commands_in_its_texts_and_the_calls_of_the_engine(tmp_path: Path, collect: Any) -> None:
    started = 'start("""\npython -m sglang.launch_server --model-path m\n""")\n'
    source = started + 'Engine(model_path="n", tp_size=2, log=False)\nEngine(x)\n'
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": [source]}]})
    corpus = collect(_folder(tmp_path, "sglang", {"x.ipynb": notebook}))
    launch = ["python", "-m", "sglang.launch_server", "--model-path"]
    assert sorted(map(_words, corpus.cases)) == [[*launch, "m"], [*launch, "n", "--tp-size", "2"]]
    assert corpus.counts["calls with arguments that are no literals"] == 1


def test_a_table_of_the_cookbook_gives_each_role(tmp_path: Path, collect: Any) -> None:
    role = {"tp": 8, "dp": None, "enable_dp_attention": True, "extra_args": ["--a", "1"], "env_vars": {"E": 1}}
    choice = {"quantized_model_path": None, "engine": None, "prefill": role, "decode": {"tp": 4}}
    table = {"families": [{"models": [{"model_path": "m", "hardware": {"H100": {"configurations": [choice]}}}]}]}
    text = "families:\n- " + json.dumps(table["families"][0])
    corpus = collect(_folder(tmp_path, "sglang", {"v0.5.8/x.yaml": text}))
    prefill, decode = corpus.cases
    assert _words(prefill)[3:] == ["--model-path", "m", "--tp", "8", "--enable-dp-attention", "--a", "1"]
    assert [(name, word.text) for name, word in prefill.launch.env] == [("E", "1")]
    assert _words(decode)[-2:] == ["--tp", "4"]
    assert prefill.stated == "0.5.8"


def test_a_file_of_options_written_in_one_fence_belongs_to_the_launch_in_another(tmp_path: Path, collect: Any) -> None:
    page = "```shell\ncat > c.yml <<EOF\nmax_batch_size: 4\nEOF\n```\n\ntext\n\n```shell\ntrtllm-serve m --config c.yml\n```\n"
    (case,) = collect(_folder(tmp_path, "tensorrt-llm", {"x.md": page})).cases
    assert case.line == 10
    assert dict(case.launch.files) == {"c.yml": "max_batch_size: 4\n"}


def test_options_and_classes_of_speculation_are_launches_too(tmp_path: Path, collect: Any) -> None:
    page = (
        "```yaml\nspeculative_config:\n  decoding_type: SA\n```\n\n```yaml\nhostname: h\n```\n\n"
        '```python\nc = MTPDecodingConfig(max_draft_len=3)\nllm = LLM("m", speculative_config=c)\n'
        'LLM("m", speculative_config=f())\n```\n'
    )
    corpus = collect(_folder(tmp_path, "tensorrt-llm", {"x.md": page}))
    options, call = corpus.cases
    assert "decoding_type: SA" in str(options.launch.files)
    assert dict(call.launch.files) == {"llm.yaml": "speculative_config:\n  decoding_type: MTP\n  max_draft_len: 3\n"}
    assert corpus.counts["calls with arguments that are no literals"] == 1
