"""What the tests of this folder share: the database, views, specs from dotted names, and launches from words."""

from __future__ import annotations

from typing import Any

from specconf.compat.database import load_database
from specconf.compat.view import View
from specconf.engines.base import Artifact, Lowered, Models
from specconf.engines.lowering import lower
from specconf.engines.registry import get_engine
from specconf.facts import Unavailable
from specconf.models import Source, SourceKind, model_facts
from specconf.models.view import ModelViews, model_view
from specconf.settings import Settings
from specconf.spec import Spec
from specconf.words import JsonValue, Launch, Word

ENGINE = get_engine("tensorrt-llm")
DB = load_database("tensorrt-llm")
RELEASES = DB.line.names
NO_MODELS = Models(Unavailable("target", "not looked up"), Unavailable("draft", "not looked up"))

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
HEAD = "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"
LLAMA_CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "vocab_size": 128256,
}


def view(release: str) -> View:
    return DB.at(release)


def spec(method: str, **speculation: Any) -> Spec:
    """A spec of Llama with a method; `a__b` is `speculation.a.b`, other fields by their full dotted name."""
    fields: dict[str, JsonValue] = {"target.model": LLAMA, "speculation.method": method}
    for name, value in speculation.items():
        dotted = name.replace("__", ".")
        known = dotted.startswith(("serving.", "workload.", "target.", "hardware."))
        fields[dotted if known else f"speculation.{dotted}"] = value
    return Spec.from_fields(fields)


def lowered(given: Spec, release: str, models: Models = NO_MODELS) -> Lowered:
    return lower(given, ENGINE, view(release), models)


def emitted(given: Spec, release: str) -> Artifact:
    return ENGINE.emit(lowered(given, release).settings, view(release), "argv")


def speculative(given: Spec, release: str) -> dict[str, Any]:
    """The members of speculative_config that a spec lowers to."""
    return dict(lowered(given, release).settings.under("speculative_config"))


def launch(*argv: str, files: dict[str, str] | None = None, env: dict[str, str] | None = None) -> Launch:
    """A launch with places: word n stands in line 1, column n."""
    from specconf.words import Span

    placed = tuple(Word(text, Span("launch.sh", 1, at), text) for at, text in enumerate(argv, 1))
    variables = tuple((name, Word(text, raw=text)) for name, text in (env or {}).items())
    return Launch("tensorrt-llm", placed, variables, tuple((files or {}).items()))


def resolved(artifact: Artifact, release: str) -> Settings:
    given = launch(*artifact.argv, files=dict(artifact.files), env=dict(artifact.env))
    return ENGINE.resolve(given, view(release))


def given_model(role: str, config: dict[str, Any]) -> ModelViews:
    return model_view(role, model_facts(dict(config), source=Source(SourceKind.GIVEN, f"the test's {role}")))
