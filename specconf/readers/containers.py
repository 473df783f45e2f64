"""What `docker run` starts: the image, the command inside it, and the environment it is given.

An image says the engine's release by its tag, and for some images the program by their entrypoint: `images` knows them.
"""

from __future__ import annotations

import re

from msgspec import Struct

from specconf.patterns import pattern
from specconf.readers.images import Image, known_images
from specconf.readers.stated import IMAGE_TAG, Firmness, Stated
from specconf.readers.wrappers import behind_sign, program_name
from specconf.words import Word

_PROGRAMS = frozenset({"docker", "podman", "nerdctl", "nvidia-docker", "podman-hpc", "finch"})
_CLUSTERS = frozenset({"kubectl", "oc"})
_CLIENT_VALUED = frozenset(
    {"-H", "--host", "-c", "--context", "--config", "-l", "--log-level", "-n", "--namespace", "-a", "--address"}
)
_COMPOSE_VALUED = frozenset(
    {"-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory", "--parallel"}
)
_POD_VALUED = frozenset(
    {"-c", "--container", "-n", "--namespace", "--context", "--kubeconfig", "-f", "--filename", "--shell"}
)
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
_DEFAULT = pattern(r"\$\{\w+:?-([^{}]*)\}")  # a variable with a default, which is what the file itself states
_HERE = pattern(r"\"?\$(?:PWD\b|\{PWD\}|\(pwd\))\"?")  # at the beginning of what is mounted
_TAG = pattern(r"v?(?P<release>\d+\.\d+(?:\.\d+)?(?:(?:a|b|rc|\.?post|\.dev)\d+)*)(?:-[\w.-]+)?\Z")
# What tags say of the platform behind the release, which is the same inside.
_PLATFORM = pattern(r"(?:-(?:cuda|cu)\d[\d.]*|-(?:amd64|arm64|aarch64|x86_64))+\Z")


class Container(Struct, frozen=True):
    """A container's start: its command as far as it is written, and what the image tells.

    `env_files`: the files its further variables come from. `volumes`: the folders it shares with its host, as (host's
    path, container's path).
    """

    words: tuple[Word, ...]
    env: tuple[tuple[str, Word], ...]
    env_files: tuple[Word, ...]
    volumes: tuple[tuple[str, str], ...]
    stated: tuple[Stated, ...]


def started_container(words: tuple[Word, ...]) -> Container | None:
    """The container that a command starts or enters: `docker run`, `docker exec`, `kubectl run`, `kubectl exec`."""
    if program_name(words[0]) in _CLUSTERS and (pod := _started_pod(words)) is not None:
        return pod
    at = _after_run(words)
    if at is None:
        inside = _after_exec(words)
        return Container(inside, (), (), (), ()) if inside else None
    env: list[tuple[str, Word]] = []
    env_files: list[Word] = []
    volumes: list[tuple[str, str]] = []
    entrypoint: Word | None = None
    while at < len(words):
        text = words[at].text
        if not text.startswith("-"):
            word = words[at]
            if word.value is not None or not word.may_be_many or image_of(word) is not None:
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
    image = image_of(words[at])
    command = words[at + 1 :]
    if entrypoint is not None and entrypoint.value:
        command = (entrypoint, *command)
    elif image is not None:
        command = (*image.program(command, words[at]), *command)
    return Container(command, tuple(env), tuple(env_files), tuple(volumes), image.stated if image else ())


def _started_pod(words: tuple[Word, ...]) -> Container | None:
    """`kubectl run NAME --image=I -- ARGUMENTS`, `kubectl create deployment NAME --image=I -- COMMAND`."""
    dashes = next((at for at, word in enumerate(words) if word.value == "--"), len(words))
    own, command = words[1:dashes], words[dashes + 1 :]
    values = [word.value for word in own]
    creates = "create" in values and any(kind in values for kind in ("deployment", "deploy", "job", "cronjob"))
    if "run" not in values[:8] and not creates:
        return None
    written = next((value for at in range(len(own)) if (value := _named_value(own, at, "--image")) is not None), None)
    if written is None:
        return None
    image = image_of(written)
    if image is not None and not creates and "--command" not in values and "--command=true" not in values:
        command = (*image.program(command, written), *command)
    env = tuple(_variable(value) for at in range(len(own)) if (value := _named_value(own, at, "--env")) is not None)
    return Container(command, env, (), (), image.stated if image else ())


def _named_value(words: tuple[Word, ...], at: int, name: str) -> Word | None:
    """The value of an option at an index, if it stands there."""
    if words[at].text.startswith(f"{name}="):
        return behind_sign(words[at])
    return words[at + 1] if words[at].value == name and at + 1 < len(words) else None


def _after_run(words: tuple[Word, ...]) -> int | None:
    """The index after `docker run` or `docker container run`; options of the client may stand before it."""
    if program_name(words[0]) not in _PROGRAMS:
        return None
    at = _behind_client_options(words)
    values = [word.value for word in words[at : at + 2]]
    if values[:1] in (["run"], ["create"]):
        return at + 1
    return at + 2 if values in (["container", "run"], ["container", "create"]) else None


def _behind_client_options(words: tuple[Word, ...]) -> int:
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _CLIENT_VALUED else 1
    return at


def _after_exec(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The command in `docker exec NAME …`, `docker compose exec SERVICE …` and `kubectl exec POD -- …`."""
    program, values = program_name(words[0]), [word.value for word in words]
    if program in _CLUSTERS:
        return _in_pod(words)
    at = 1
    if program in _PROGRAMS:
        at = _behind_client_options(words)
        at += values[at : at + 1] in (["compose"], ["container"])
    elif program not in ("docker-compose", "podman-compose"):
        return ()
    composed = values[at - 1] == "compose" or program not in _PROGRAMS
    while composed and at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _COMPOSE_VALUED else 1
    if values[at : at + 1] != ["exec"] and not (composed and values[at : at + 1] == ["run"]):
        return ()
    at += 1
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in VALUED else 1
    return words[at + 1 :]


def _in_pod(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The command in `kubectl exec POD -- …`, with or without the dashes, and in `oc rsh POD …`."""
    values = [word.value for word in words]
    at = next((place for place, value in enumerate(values) if value in ("exec", "rsh")), None)
    if at is None:
        return ()
    if "--" in values:
        return words[values.index("--") + 1 :]
    at += 1
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _POD_VALUED else 1
    return words[at + 1 :]


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
    """`-v /host:/inside[:ro]`, also below the folder it is started in; a named volume shares no folder."""
    written = word.value if word.value is not None else _HERE.sub(".", word.partial or word.raw)
    host, _, inside = ("" if "$" in written else written).partition(":")
    inside = inside.partition(":")[0]
    return [(host.rstrip("/"), inside.rstrip("/"))] if inside and host.startswith(("/", ".")) else []


def path_inside(name: str, volumes: tuple[tuple[str, str], ...]) -> str | None:
    """The path in the container of a file of its host, when a volume holds it."""
    for host, inside in volumes:
        own, shared = name.removeprefix("./"), host.removeprefix("./")
        if own.startswith(shared + "/"):
            return inside + own[len(shared) :]
    return None


class UsedImage(Struct, frozen=True):
    """An engine's image as a file names it: whose it is, what it starts by itself, and the release that its name states."""

    image: Image
    stated: tuple[Stated, ...]

    def program(self, command: tuple[Word, ...], where: Word) -> tuple[Word, ...]:
        """The words that the image's entrypoint puts before a command; none where it has none, or is written again.

        Of an entrypoint that changed, the one whose release is stated, else that which the command's options fit.
        """
        from specconf.readers.programs import match_program

        entrypoint = self.image.entrypoint
        match = match_program(command)
        if not entrypoint or (match is not None and match.program.engine == self.image.engine):
            return ()
        if self.image.module_entrypoint and any(re.match(r"--model(?:=|\s|\Z)", word.text) for word in command):
            entrypoint = self.image.module_entrypoint
        return tuple(Word(value=text, span=where.span, raw=text) for text in entrypoint)


def image_of(reference: Word) -> UsedImage | None:
    """The engine's image that a reference names; mirrors keep the end of the name. None for all others."""
    written = reference.value if reference.value is not None else reference.partial or reference.raw
    name = _DEFAULT.sub(r"\1", written).partition("@")[0]
    name = name.removeprefix("docker://").replace("#", "/")  # as container runtimes of clusters have it
    repository, _, tag = name.rpartition(":") if ":" in name.rpartition("/")[2] else (name, "", "")
    for image in known_images():
        if repository == image.repository or repository.endswith("/" + image.repository):
            return UsedImage(image, _stated_by(image, tag, reference))
    return None


def _stated_by(image: Image, tag: str, reference: Word) -> tuple[Stated, ...]:
    engine, where = image.engine, reference.span
    if reference.value is None and not _TAG.match(tag):
        return ()  # the tag itself is a variable
    mapped = image.tags.get(_PLATFORM.sub("", tag.removeprefix("v"))) if image.tags is not None else None
    if image.tags is not None:
        return (Stated(engine, mapped, Firmness.EXACT, f"{image.repository} {tag}", where),) if mapped else ()
    found = _TAG.match(tag)
    if found is None:
        return (Stated(engine, tag or "latest", Firmness.FLOATING, IMAGE_TAG, where),)
    return (Stated(engine, found["release"], Firmness.FORK if image.fork else Firmness.EXACT, IMAGE_TAG, where),)
