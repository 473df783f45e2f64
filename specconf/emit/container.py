"""The launch as a container: image, words, files and environment, from which each container format is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from specconf.emit.request import Request, marked_files
from specconf.engines.serving import Serving
from specconf.errors import UsageError
from specconf.readers.containers import image_of
from specconf.readers.images import images_in
from specconf.readers.programs import match_program
from specconf.readers.stated import Firmness
from specconf.words import Word, words

CACHE = "/model-cache"
FILES = "/etc/specconf"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Container(Struct, frozen=True):
    """One engine's server as a container.

    `program`: what takes the place of the image's own program; `arguments`: the words behind it. `files`: texts by their path
    inside. `cache`: a volume's name or a folder of the host, None for a place that does not outlive the container. `token`:
    the name of the secret that holds the hub's token.
    """

    name: str
    image: str
    program: tuple[str, ...]
    arguments: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[str, str]
    port: int
    gpus: int
    platform: str
    serving: Serving
    cache: str | None
    token: str | None

    @property
    def cache_is_folder(self) -> bool:
        """Whether the cache is a folder of the host, and no volume's name."""
        return self.cache is not None and self.cache.startswith(("/", ".", "~"))


def container_of(request: Request) -> Container:
    """The launch as a container. UsageError where no image is known, or nothing outside the container would reach it."""
    artifact, serving = request.artifact, request.engine.serving
    _must_be_reachable(request, serving)
    argv = _placed(artifact.argv, artifact.files)
    match = match_program(words(*argv))
    assert match is not None, "every engine's emitter starts a known program"
    program = ("python3", *argv[1 : match.length]) if argv[0] == "python" else argv[: match.length]
    files = marked_files(artifact, request.forced)
    written = request.settings.get(serving.port)
    port = request.view.default(serving.port) if written is None else written
    assert isinstance(port, int), "every release has a default port"
    env = dict(artifact.env)
    return Container(
        name=resource_name(request),
        image=image(request),
        program=program,
        arguments=argv[match.length :],
        env={**env, **({} if "HF_HOME" in env else {"HF_HOME": CACHE})},
        files={f"{FILES}/{name}": text for name, text in files.items()},
        port=port,
        gpus=serving.gpus(request.settings),
        platform=platform(request),
        serving=serving,
        cache=request.text("deployment.model_cache"),
        token=request.text("deployment.secrets.hf_token"),
    )


def must_have_platform(container: Container, known: Iterable[str], form: str) -> None:
    """UsageError for a platform whose devices the format cannot name."""
    if container.platform not in known:
        raise UsageError(
            f"how a container gets the devices of {container.platform} depends on the machine, so {form} cannot write it.",
            hint=f"Use --format shell, or hardware.platform {', '.join(known)}.",
        )


def is_loopback(host: object) -> bool:
    """Whether a server that listens there is reached from its own machine only."""
    return host in _LOOPBACK


def _must_be_reachable(request: Request, serving: Serving) -> None:
    host = request.settings.get(serving.host)
    if is_loopback(host):
        raise UsageError(
            f"serving.host is {host}, and nothing outside the container reaches a server that listens there.",
            hint="Set serving.host to 0.0.0.0, or leave it out.",
        )


def _placed(argv: tuple[str, ...], files: Mapping[str, str]) -> tuple[str, ...]:
    """The words with option files at the path that they have in the container."""
    return tuple(f"{FILES}/{word}" if word in files else word for word in argv)


def platform(request: Request) -> str:
    """What the engine runs on, as the spec says; CUDA where it does not."""
    return str(request.fields.get("hardware.platform") or "cuda")


def image(request: Request) -> str:
    """The spec's own image, else the one that is published for the release. UsageError for a contradiction, or for none."""
    own = request.text("deployment.image")
    artifact, title = request.artifact, request.engine.title
    if own is not None:
        used = image_of(Word(own, raw=own))
        for stated in used.stated if used is not None else ():
            other = stated.engine != artifact.engine
            if other or (stated.firmness is Firmness.EXACT and stated.text != artifact.release):
                raise UsageError(
                    f"deployment.image is {own}, which holds {stated.engine} {stated.text}; the launch is for {title} "
                    f"{artifact.release}.",
                    hint="Compile for that release, or choose another image.",
                )
        return own
    found = _published(request)
    if found is None:
        raise UsageError(
            f"no published image of {title} {artifact.release} for {platform(request)} is known.",
            hint="Name one in deployment.image, with its tag or digest.",
        )
    return found


def _published(request: Request) -> str | None:
    """The reference of the image whose tag is the release; None where no such tag is known to be there."""
    view, wanted = request.view, platform(request)
    names = view.db.line.names
    for one in images_in(view.db):
        if one.tags is not None or one.fork or (one.platform or "cuda") != wanted or not one.own_tags_from:
            continue
        if view.point.published and view.release in names[names.index(one.own_tags_from) :]:
            registry = f"{one.registry}/" if one.registry else ""
            return f"{registry}{one.repository}:{one.tag_prefix}{view.release}"
    return None


def states_release(request: Request) -> bool:
    """Whether the image's tag alone says which release it holds."""
    reference = image(request)
    used = image_of(Word(reference, raw=reference))
    return used is not None and any(one.firmness is Firmness.EXACT for one in used.stated)


def release_comment(request: Request) -> list[str]:
    """The comment that states the release to specconf, where the image does not."""
    artifact = request.artifact
    return [] if states_release(request) else [f"# specconf: release {artifact.engine}={artifact.release}"]


_LONGEST = 50


def resource_name(request: Request) -> str:
    """The name of everything that is written: the spec's, else one made of engine and target, as Kubernetes takes names."""
    named = request.text("name")
    target = (request.text("target.model") or "").rstrip("/").rpartition("/")[2]
    raw = named or f"{request.artifact.engine}-{target}"
    slug = re.sub(r"[^a-z0-9]+", "-", raw.lower()).strip("-")[:_LONGEST].strip("-")
    return slug if slug[:1].isalpha() else f"{request.artifact.engine}-{slug}".strip("-")
