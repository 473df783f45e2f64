"""What reading YAML may import: `lint` must start fast, so nothing here may pull in pydantic."""

from __future__ import annotations

import subprocess
import sys

import pytest

import specconf.spec


@pytest.mark.parametrize(
    "module", ["specconf.spec", "specconf.spec.yaml12", "specconf.spec.core_schema", "specconf.spec.methods"]
)
def test_reading_yaml_imports_no_model(module: str) -> None:
    code = f"import sys, {module}; print([m for m in sys.modules if m in ('pydantic', 'rapidfuzz', 'jsonschema')])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_loading_a_good_spec_needs_no_rapidfuzz() -> None:
    code = (
        "import sys; from specconf.spec import load_spec\n"
        "load_spec('specconf: 1\\ntarget: {model: a}\\nspeculation: {method: none}\\n', 's.yaml')\n"
        "print('rapidfuzz' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_public_names_resolve() -> None:
    for name in specconf.spec.__all__:
        assert getattr(specconf.spec, name) is not None
    with pytest.raises(AttributeError):
        specconf.spec.nothing  # noqa: B018
