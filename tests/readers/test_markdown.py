"""Markdown: fenced code, each as a file of its kind, on request only."""

from __future__ import annotations

import pytest

from specconf.errors import InputError
from specconf.readers.registry import ReadLaunch, detected_format, read_launches

ASKED = frozenset({"markdown"})


def read(text: str) -> list[ReadLaunch]:
    return read_launches("README.md", text, asked=ASKED)


def texts(item: ReadLaunch) -> list[str]:
    return [word.text for word in item.launch.argv]


STARTED: dict[str, list[str]] = {
    "```bash\nvllm serve m \\\n  --port 1\n```\n": ["vllm", "serve", "m", "--port", "1"],
    "~~~sh\nvllm serve m\n~~~\n": ["vllm", "serve", "m"],
    "```console\n$ vllm serve m \\\n    --port 1\nINFO vllm serve x\n$ curl x\n```\n": [
        "vllm",
        "serve",
        "m",
        "--port",
        "1",
    ],
    "1. run\n\n   ```bash\n   vllm serve m\n   ```\n": ["vllm", "serve", "m"],
    "```\nvllm serve m\n```\n": ["vllm", "serve", "m"],
    "```bash\nvllm serve <YOUR_MODEL> ... --x\n```\n": ["vllm", "serve", "<YOUR_MODEL>", "...", "--x"],
    '```dockerfile\nFROM vllm/vllm-openai:v0.33.0\nCMD ["m"]\n```\n': ["vllm", "serve", "m"],
    "```make\nserve:\n\tvllm serve m\n```\n": ["vllm", "serve", "m"],
    "```yaml\nrun: vllm serve m\nsetup: x\n```\n": ["vllm", "serve", "m"],
    "````md\n```bash\nvllm serve x\n```\n````\n```bash\nvllm serve m\n```\n": ["vllm", "serve", "m"],
}


@pytest.mark.parametrize("text", STARTED)
def test_fences(text: str) -> None:
    (item,) = read(text)
    assert texts(item) == STARTED[text]


NOTHING = [
    "vllm serve m\n",
    "```bash\nvllm serve 'm\n```\n",
    "```bash\nvllm serve m",
    "```json\n{}\n```\n",
    "```yaml\na: [\n```\n",
    "```yaml\nspeculative_config: {method: mtp}\n```\n",
    "```bash\n```\n",
]


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_no_command(text: str) -> None:
    assert read(text) == []


def test_places() -> None:
    found = read("# x\n\n> ```bash\n> $ vllm serve m\n> ```\n\n```dockerfile\nFROM x\nCMD vllm serve m\n```\n")
    assert [[str(word.span) for word in item.launch.argv] for item in found] == [
        ["README.md:4:5", "README.md:4:10", "README.md:4:16"],
        ["README.md:9:5", "README.md:9:10", "README.md:9:16"],
    ]


def test_it_is_read_only_on_request() -> None:
    assert detected_format("README.md", "") is None
    with pytest.raises(InputError, match="not known"):
        read_launches("README.md", "")
