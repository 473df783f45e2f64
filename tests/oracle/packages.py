"""Tiny packages and programs that stand for an index, an engine's archive, pip and uv: no network is needed."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from specconf.oracle.steps import Done, run_program

TORCH = "2.13.0+cpu"
STATED = ("transformers>=0.5",)


def make_wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    requires: Sequence[str] = (),
    python: str = "",
    files: Mapping[str, str] | None = None,
) -> Path:
    """A pure wheel with one module, or with the files given."""
    folder.mkdir(parents=True, exist_ok=True)
    module = name.replace("-", "_")
    path, info = folder / f"{module}-{version}-py3-none-any.whl", f"{module}-{version}.dist-info"
    headers = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    headers += [f"Requires-Dist: {each}" for each in requires] + ([f"Requires-Python: {python}"] if python else [])
    contents = dict(files or {f"{module}/__init__.py": f"__version__ = {version!r}\n"})
    contents[f"{info}/METADATA"] = "\n".join(headers) + "\n"
    contents[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    contents[f"{info}/RECORD"] = "".join(f"{inner},,\n" for inner in (*contents, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as wheel:
        for inner, text in contents.items():
            wheel.writestr(inner, text)
    return path


def make_sdist(folder: Path, name: str, version: str, files: Mapping[str, str]) -> Path:
    """An sdist of the files given, by their place in it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for inner, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{inner}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def make_index(folder: Path, release: str = "0.5.23") -> Path:
    """A folder with an SGLang release, a torch, and what the release requires, which brings what is to be left out."""
    make_wheel(folder, "torch", TORCH)
    make_wheel(folder, "triton")
    make_wheel(folder, "transformers", requires=("triton", "torch"))
    make_wheel(folder, "sglang", release, requires=STATED, python=">=3.10")
    return folder


def offline(folder: Path, path: str = "") -> dict[str, str]:
    """The variables of a user who has no network, only a folder of packages and the programs of `path`."""
    return {
        "PATH": path,
        "HOME": os.environ.get("HOME", ""),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


class Recorder:
    """A runner that answers a step by the first word of `answers` in its command, and passes on or swallows the rest."""

    def __init__(self, answers: Mapping[str, Done | BaseException] | None = None, *, real: bool = False) -> None:
        self.answers, self.real = dict(answers or {}), real
        self.commands: list[list[str]] = []
        self.environs: list[dict[str, str]] = []

    def __call__(self, words: Sequence[str], env: Mapping[str, str]) -> Done:
        """Run or answer one step."""
        self.commands.append(list(words))
        self.environs.append(dict(env))
        for word, answer in self.answers.items():
            if word in words:
                if isinstance(answer, BaseException):
                    raise answer
                return answer
        return run_program(words, env) if self.real else Done(0, "")

    def with_word(self, word: str) -> list[list[str]]:
        """The steps whose command has a word."""
        return [words for words in self.commands if word in words]
