"""Chosen levels of SGLang's factors as a launch: its program, the models, then the flags or an option file."""

from __future__ import annotations

from collections.abc import Mapping

from specconf.oracle.factors import Level, Written

FILE = "options.yaml"

# Words that look like options and that no release has had.
STRAY = ("--speculative-config={}", "--num-speculative-tokens=4", "--enable-speculation", "--draft-model-path=m")


def words(levels: Mapping[str, Level], target: str, draft: str) -> Written:
    """The launch; the level of the factor `spelling` says by its name how it is written."""
    spelling = levels["spelling"].name
    argv = [word.replace("{target}", target) for level in levels.values() for word in level.argv]
    if draft:
        argv += ["--speculative-draft-model-path", draft]
    env = {name: value for level in levels.values() for name, value in level.env.items()}
    files: dict[str, str] = {}
    if "{file}" in argv:
        argv = [FILE if word == "{file}" else word for word in argv]
        files[FILE] = f"max-running-requests: 32\nmodel-path: {target}\n"
    program = ["python", "-m", "sglang.launch_server", "--model-path", target]
    if spelling == "command":
        program = ["sglang", "serve", "--model-path", target]
    elif spelling == "joined":
        argv = _joined(argv)
    return Written((*program, *argv), env, files)


def _joined(argv: list[str]) -> list[str]:
    """A flag and its one value as one word."""
    found: list[str] = []
    for number, word in enumerate(argv):
        alone = number + 1 == len(argv) or argv[number + 1].startswith("--")
        follows = bool(found) and found[-1].startswith("--") and "=" not in found[-1]
        if follows and alone and not word.startswith("--"):
            found[-1] = f"{found[-1]}={word}"
        else:
            found.append(word)
    return found
