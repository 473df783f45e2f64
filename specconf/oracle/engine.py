"""What an engine has to provide so that its releases can be asked. `specconf.engines.registry.get_oracle` hands it out."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from specconf.oracle.asking import Question, Unanswered, Verdict
from specconf.oracle.client import Worker
from specconf.oracle.excluded import Excluded, read_excluded
from specconf.words import JsonValue

if TYPE_CHECKING:
    from specconf.oracle.recipe import Recipe


class Canary(Struct, frozen=True):
    """A launch whose answer is known for every release: another one means that the environment is broken."""

    name: str
    question: Question
    verdict: Verdict
    stage: str | None = None


# The target of every engine's canaries: an ordinary small model.
_TARGET: Mapping[str, JsonValue] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "num_hidden_layers": 2,
    "max_position_embeddings": 4096,
    "vocab_size": 1024,
    "torch_dtype": "bfloat16",
    "rms_norm_eps": 1e-6,
    "hidden_act": "silu",
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def canary(program: tuple[str, ...], name: str, verdict: Verdict, stage: str | None, *argv: str) -> Canary:
    """A canary about an ordinary small model, which `program` names `target`; `argv` are the words beside it."""
    return Canary(name, Question((*program, *argv), models={"target": _TARGET}), verdict, stage)


class Pretended(Struct, frozen=True):
    """A package that an engine is told is there though it is not; a launch touches it by an option and the values of it.

    `note` says so to whoever asked about such a launch.
    """

    package: str
    option: str
    values: tuple[str, ...]

    def is_touched_by(self, settings: Mapping[str, Any]) -> bool:
        """Whether the settings of a launch need the package."""
        return settings.get(self.option) in self.values

    @property
    def note(self) -> str:
        """What is not known of a launch that touches it."""
        return f"{self.package}, which this launch needs, was taken as installed: a real engine without it stops"


class EngineOracle(Struct, frozen=True):
    """How one engine is asked.

    `package` is the Python package of `specconf/engines/` that holds the adapter and the excluded classes. `gpus` are the
    kinds of GPU that a release can be shown, the usual one first; none: the engine is asked on its CPU platform.
    `cards` names the very card that is shown where a kind is sold with several sizes of memory.
    `own_python_only`: no environment can be built, the user names one in which the engine is installed.
    `pretended` are packages that a launch may need and the release is told it has.
    `effective` maps a path of the effective configuration to the names that the releases' own configurations have for it,
    `facts` says what the releases are shown of the hardware beside the GPU, `load_facts` what is there where they really serve.
    `edition` numbers the way of asking: it rises where the adapter gives another answer to the same launch, and what was
    recorded of an earlier one is asked again. `own_code`: architectures of which the engine runs the checkpoint's own code
    before it has a verdict.
    """

    engine: str
    package: str
    canaries: tuple[Canary, ...]
    facts: Mapping[str, JsonValue]
    gpus: tuple[str, ...] = ()
    cards: Mapping[str, str] = field(default_factory=dict)
    own_python_only: bool = False
    load_facts: Mapping[str, JsonValue] = field(default_factory=dict)
    effective: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    edition: int = 1
    own_code: frozenset[str] = frozenset()
    pretended: tuple[Pretended, ...] = ()

    @property
    def platform(self) -> str:
        """The hardware platform that answers are about, where the environment does not show another."""
        return str(self.facts["hardware.platform"])

    @property
    def usual_gpu(self) -> str | None:
        """The GPU that is shown where a question does not ask for another."""
        return self.gpus[0] if self.gpus else None

    @property
    def recipe(self) -> Recipe:
        """How environments of its releases are made; loaded when one is."""
        from specconf.oracle.recipe import recipe_of

        return recipe_of(self.engine)

    def excluded(self) -> tuple[Excluded, ...]:
        """The classes of questions that this way of asking cannot put."""
        return read_excluded(files(self.package).joinpath("excluded.yaml"))

    def worker(self, python: Path, release: str | None, *, gpu: str | None = None, cache: Path | None = None) -> Worker:
        """A release's own code, started in the environment that has this python; None: whichever release is there."""
        return Worker(
            python,
            f"{self.package}.adapter",
            release,
            gpu=gpu if gpu is not None else self.usual_gpu,
            cache=cache,
            excluded=self.excluded(),
        )

    def in_force(self, effective: Mapping[str, Any]) -> dict[str, Any]:
        """What an answer says is in force, by path; of several names the first that the release has counts."""
        found: dict[str, Any] = {}
        for path, names in self.effective.items():
            for name in names:
                held = _held(effective, name)
                if held:
                    found[path] = held[0]
                    break
        return found

    def broken(self, worker: Worker) -> str:
        """The first canary that does not sing in a running worker, and what was said instead; empty when all do."""
        for canary in self.canaries:
            answer = worker.ask(replace(canary.question, gpu=worker.gpu))
            if isinstance(answer, Unanswered):
                return f"{canary.name}: {answer.reason}"
            if answer.verdict is not canary.verdict or canary.stage not in (None, answer.stage):
                return f"{canary.name}: the engine {answer.verdict} at {answer.stage}: {answer.message}"
        return ""


def _held(effective: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    """The value by a name, which may lead into an object; empty where there is none."""
    if name in effective:
        return (effective[name],)
    root, _, rest = name.partition(".")
    inner = effective.get(root)
    return _held(inner, rest) if rest and isinstance(inner, Mapping) else ()
