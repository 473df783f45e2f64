"""What `docker run` starts: the image, the command inside it, and the environment it is given.

An image says the engine's release by its tag, and for some images the program by their entrypoint; both are one table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from specconf.readers.wrappers import program_name
from specconf.words import Span, Word

_PROGRAMS = frozenset({"docker", "podman", "nerdctl"})
_VALUED = """
    -a --add-host --annotation --attach --cap-add --cap-drop --cgroupns --cidfile --cpus --cpuset-cpus --device --dns -e
    --entrypoint --env --env-file --expose --gpus --group-add -h --health-cmd --hostname --ip --ipc -l --label --log-driver
    --log-opt -m --memory --memory-swap --mount --name --net --network -p --pid --pids-limit --platform --publish --pull
    --restart --runtime --security-opt --shm-size --stop-signal --stop-timeout --sysctl --tmpfs -u --ulimit --user --userns
    --uts -v --volume --volumes-from -w --workdir
"""
VALUED = frozenset(_VALUED.split())
_ENV = frozenset({"-e", "--env"})
_VOLUME = frozenset({"-v", "--volume"})
_TAG = re.compile(r"v?(?P<release>\d+\.\d+(?:\.\d+)?(?:(?:a|b|rc|\.?post|\.dev)\d+)*)(?:-[\w.-]+)?\Z")


@dataclass(frozen=True, slots=True)
class Image:
    """A published image of an engine. `entrypoint`: the program's words that the image adds itself."""

    engine: str
    repository: str
    entrypoint: tuple[str, ...] = ()


IMAGES: tuple[Image, ...] = (
    Image("vllm", "vllm/vllm-openai", ("vllm", "serve")),
    Image("sglang", "lmsysorg/sglang"),
    Image("tensorrt-llm", "nvidia/tensorrt-llm/release"),
)


@dataclass(frozen=True, slots=True)
class Container:
    """A container's start: its command as far as it is written, and what the image tells.

    `env_files`: the files its further variables come from. `volumes`: the folders it shares with its host, as (host's
    path, container's path).
    """

    words: tuple[Word, ...]
    env: tuple[tuple[str, Word], ...]
    env_files: tuple[Word, ...]
    volumes: tuple[tuple[str, str], ...]
    image: Image | None
    release: str | None
    image_where: Span | None


def started_container(words: tuple[Word, ...]) -> Container | None:
    """The container that a command starts, if it is a `docker run`."""
    at = _after_run(words)
    if at is None:
        return None
    env: list[tuple[str, Word]] = []
    env_files: list[Word] = []
    volumes: list[tuple[str, str]] = []
    entrypoint: Word | None = None
    while at < len(words):
        text = words[at].text
        if not text.startswith("-"):
            if words[at].value is not None or not words[at].may_be_many:
                break
            at += 1  # `docker run $OPTIONS image`
            continue
        name, separate, value = _option(words, at)
        if name in _ENV and value is not None:
            env.append(_variable(value))
        elif name == "--env-file" and value is not None:
            env_files.append(value)
        elif name in _VOLUME and value is not None:
            volumes += _shared(value)
        elif name == "--entrypoint":
            entrypoint = value
        at += 2 if separate else 1
    if at >= len(words):
        return None
    image, release = known_image(words[at].value or "")
    command = words[at + 1 :]
    if entrypoint is not None and entrypoint.value:
        command = (entrypoint, *command)
    elif image is not None and image.entrypoint and not _is_program(command):
        command = (*_entrypoint_words(image, command, words[at]), *command)
    return Container(command, tuple(env), tuple(env_files), tuple(volumes), image, release, words[at].span)


def _after_run(words: tuple[Word, ...]) -> int | None:
    """The index after `docker run` or `docker container run`."""
    values = [word.value for word in words[:3]]
    if program_name(words[0]) not in _PROGRAMS:
        return None
    if values[1:2] == ["run"]:
        return 2
    return 3 if values[1:3] == ["container", "run"] else None


def _option(words: tuple[Word, ...], at: int) -> tuple[str, bool, Word | None]:
    """An option's name, whether its value is the next word, and its value."""
    word = words[at]
    name, sign, raw = word.text.partition("=")
    if sign and name.startswith("--"):
        value = None if word.value is None else word.value.partition("=")[2]
        return name, False, Word(value=value, span=word.span, raw=raw)
    if word.text in VALUED and at + 1 < len(words):
        return word.text, True, words[at + 1]
    return word.text, False, None


def _variable(word: Word) -> tuple[str, Word]:
    """`-e NAME=value`; `-e NAME` takes the value from outside."""
    name, sign, raw = word.text.partition("=")
    known = word.value is not None and bool(sign)
    return name, Word(value=raw if known else None, span=word.span, raw=raw if sign else f"${name}")


def _shared(word: Word) -> list[tuple[str, str]]:
    """`-v /host:/inside[:ro]`; a named volume shares no folder."""
    host, _, inside = (word.value or "").partition(":")
    inside = inside.partition(":")[0]
    return [(host.rstrip("/"), inside.rstrip("/"))] if inside and host.startswith(("/", ".")) else []


def path_inside(name: str, volumes: tuple[tuple[str, str], ...]) -> str | None:
    """The path in the container of a file of its host, when a volume holds it."""
    for host, inside in volumes:
        if name.startswith(host + "/"):
            return inside + name[len(host) :]
    return None


def _is_program(command: tuple[Word, ...]) -> bool:
    """Whether the words after an image with an entrypoint of its own still start a program."""
    return bool(command) and program_name(command[0]) == "vllm"


def _entrypoint_words(image: Image, command: tuple[Word, ...], where: Word) -> tuple[Word, ...]:
    """The words that the image adds; one that is given its model as an option is of the old kind, a module."""
    texts = image.entrypoint
    options = [word.text.partition("=")[0] for word in command]
    if image.engine == "vllm" and "--model" in options:
        texts = ("python3", "-m", "vllm.entrypoints.openai.api_server")
    return tuple(Word(value=text, span=where.span, raw=text) for text in texts)


def known_image(name: str) -> tuple[Image | None, str | None]:
    """The engine's image that a reference names, and the release in its tag; mirrors keep the end of the name."""
    reference = name.partition("@")[0]
    repository, _, tag = reference.rpartition(":") if ":" in reference.rpartition("/")[2] else (reference, "", "")
    for image in IMAGES:
        if repository == image.repository or repository.endswith("/" + image.repository):
            found = _TAG.match(tag)
            return image, found["release"] if found else None
    return None, None
