"""Every example, engine and format that writes a deploy file or program, and how one is compiled."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from specconf.emit import FORMATS
from tests.cli.conftest import EXAMPLES, Run

RELEASES = {"vllm": "0.33.0", "sglang": "0.5.23", "tensorrt-llm": "1.4.0rc1"}
WRITTEN = tuple(name for name in FORMATS if name not in ("shell", "argv", "engine-yaml"))


class Case(Struct, frozen=True):
    """One example for one engine in one format."""

    example: str
    engine: str
    form: str

    def __str__(self) -> str:
        return f"{self.form}-{self.engine}-{self.example}"

    def words(self, form: str | None = None) -> list[str]:
        """The command that writes it; in spite of errors, which some examples are there to show."""
        spec = str(EXAMPLES / f"{self.example}.yaml")
        release = f"{self.engine}={RELEASES[self.engine]}"
        return ["compile", spec, "-e", self.engine, "-r", release, "-f", form or self.form, "--force", "--quiet"]


CASES = [
    Case(path.stem, engine, form) for path in sorted(EXAMPLES.glob("*.yaml")) for engine in RELEASES for form in WRITTEN
]


def spec_file(folder: Path, **sections: str) -> Path:
    """A spec of one small target with further sections, each as YAML in flow style."""
    lines = ["specconf: 1", "target: {model: Qwen/Qwen3-4B-Thinking-2507}"]
    sections.setdefault("speculation", "{method: ngram, num_draft_tokens: 3, ngram: {max: 3}}")
    lines += [f"{name}: {text}" for name, text in sections.items()]
    path = folder / "spec.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def compiled(specconf: Run, spec: Path, engine: str, form: str) -> str:
    """What is written for a spec without errors."""
    ran = specconf("compile", spec, "-e", engine, "-r", f"{engine}={RELEASES[engine]}", "-f", form, "--quiet")
    assert ran.code == 0, ran.err
    return ran.out
