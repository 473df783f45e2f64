"""Compose projects: held against the compose specification's schema, and what each field of a spec becomes."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

from tests.cli.conftest import Run
from tests.emit.cases import CASES, Case, compiled, spec_file


def schema() -> Validator:
    """The compose specification's own schema, as check-jsonschema ships it."""
    place = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    found = json.loads(place.read_text(encoding="utf-8"))
    return validator_for(found)(found)


def server(text: str) -> dict[str, Any]:
    """The only service of a project."""
    (found,) = yaml.safe_load(text)["services"].values()
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("case", [case for case in CASES if case.form == "compose"], ids=str)
def test_schema_holds(specconf: Run, case: Case) -> None:
    schema().validate(yaml.safe_load(specconf(*case.words()).out))


def test_the_schema_is_strict() -> None:
    with pytest.raises(ValidationError):
        schema().validate({"services": {"server": {"comand": []}}})


def test_deployment_fields(specconf: Run, tmp_path: Path) -> None:
    over = "services: {server: {restart: 'no', environment: {HF_HUB_OFFLINE: '1'}}}\n"
    (tmp_path / "over.yaml").write_text(over, encoding="utf-8")
    deployment = "{replicas: 2, model_cache: weights, secrets: {hf_token: hub}, overlay: over.yaml}"
    spec = spec_file(tmp_path, deployment=deployment, serving='{served_model_name: "a$HOME"}')
    text = compiled(specconf, spec, "sglang", "compose")
    schema().validate(yaml.safe_load(text))
    one = server(text)
    assert one["environment"]["HF_TOKEN"] == "${HF_TOKEN:?the token of the hub}"
    assert one["environment"]["HF_HUB_OFFLINE"] == "1"
    assert one["restart"] == "no"
    assert one["deploy"]["replicas"] == 2
    assert one["ports"] == ["30000"]  # two servers cannot have one port of their host
    assert "a$$HOME" in one["command"]
    assert one["healthcheck"]["timeout"] == "35s"
    assert yaml.safe_load(text)["volumes"] == {"model-cache": {"name": "weights"}}
    written = tmp_path / "compose.yaml"
    written.write_text(text, encoding="utf-8")
    assert 'served_model_name: "a$HOME"' in specconf("import", written, "--quiet").out


def test_a_folder_of_the_host(specconf: Run, tmp_path: Path) -> None:
    text = compiled(specconf, spec_file(tmp_path, deployment="{model_cache: /data/hub}"), "vllm", "compose")
    assert server(text)["volumes"] == ["/data/hub:/model-cache"]
    assert "volumes" not in yaml.safe_load(text)


@pytest.mark.parametrize(
    ("platform", "says"), [("rocm", "Name one in deployment.image"), ("tpu", "no published image")]
)
def test_other_platforms(specconf: Run, tmp_path: Path, platform: str, says: str) -> None:
    spec = spec_file(tmp_path, hardware=f"{{platform: {platform}}}")
    ran = specconf("compile", spec, "-e", "sglang", "-r", "0.5.23", "-f", "compose", "--quiet", "--force")
    assert ran.code == 2
    assert says in ran.err
