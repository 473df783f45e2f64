"""What checkpoint configs show about a spec: MTP layers, the kind of a draft, the size of a head."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specconf.compat.database import load_database
from specconf.engines.base import Models
from specconf.engines.lowering import lower
from specconf.engines.registry import get_engine
from specconf.models import model_facts
from specconf.models.view import model_view
from specconf.spec import Spec
from tests.example_models import FIXTURES

NEWEST = {"vllm": "0.33.0", "sglang": "0.5.23", "tensorrt-llm": "1.4.0rc1"}


def config(name: str, **changes: Any) -> dict[str, Any]:
    return {**json.loads((FIXTURES / name / "config.json").read_text(encoding="utf-8")), **changes}


def findings(engine: str, method: str, target: dict[str, Any], draft: dict[str, Any] | None) -> dict[str, str]:
    """Codes of findings about the spec itself with their severity."""
    fields = {"target.model": "org/target", "speculation.method": method, "speculation.num_draft_tokens": 1}
    if draft is not None:
        fields["speculation.draft.model"] = "org/draft"
    models = Models(
        model_view("target", model_facts(target)),
        model_view("draft", model_facts(draft) if draft is not None else None),
    )
    view = load_database(engine).at(NEWEST[engine])
    lowered = lower(Spec.from_fields(fields), get_engine(engine), view, models)
    return {f.code: str(f.severity) for f in lowered.findings if f.code.startswith("SC3")}


@pytest.mark.parametrize("engine", NEWEST)
@pytest.mark.parametrize(
    ("method", "draft", "expected"),
    [
        ("mtp", None, {"SC301": "error"}),
        ("draft_model", config("llama-3.2-1b"), {}),
        ("draft_model", config("eagle3-llama3.1-8b"), {"SC303": "error"}),
        ("eagle3", config("eagle3-llama3.1-8b"), {}),
        ("eagle3", config("llama-3.2-1b"), {"SC303": "error"}),
        ("eagle3", config("eagle3-llama3.1-8b", hidden_size=8192), {"SC303": "warning"}),
        ("eagle3", config("eagle3-llama3.1-8b", hidden_size=2048, target_hidden_size=4096), {}),
    ],
)
def test_weights(engine: str, method: str, draft: dict[str, Any] | None, expected: dict[str, str]) -> None:
    assert findings(engine, method, config("llama-3.1-8b"), draft) == expected
