"""What the engines' recipes choose to install, and engines that have none."""

from __future__ import annotations

import pytest

from specconf.engines.registry import get_oracle
from specconf.engines.sglang.oracle import recipe as sglang
from specconf.engines.vllm.oracle import recipe as vllm
from specconf.errors import OracleError
from specconf.oracle.recipe import recipe_of
from specconf.oracle.unpacking import Stated


def test_sglang_keeps_the_release_pins_of_light_packages_only() -> None:
    stated = ("transformers==5.19.0", "flashinfer_python[cu13]==0.7.2", "openai==2.8.0", 'av==1; extra == "diffusion"')
    wanted = sglang.wanted(Stated(stated))
    assert {"transformers==5.19.0", "openai==2.8.0", "pydantic"} <= set(wanted)
    assert not [name for name in wanted if name.startswith(("flashinfer", "av"))]


def test_an_old_sglang_release_states_its_requirements_under_extras() -> None:
    wanted = sglang.wanted(Stated(('transformers==4.54.0; extra == "runtime-common"', 'torch==2.7.1; extra == "srt"')))
    assert "transformers==4.54.0" in wanted
    assert not [name for name in wanted if name.startswith(("torch", "openai-harmony"))]


COMMON = """
# a comment
-r other.txt
regex # why
torch==2.14
six; python_version < "3"
numba==0.65.0
mistral_common[image]>=1.11; platform_system != "Nowhere"
what is this?
"""


def test_vllm_leaves_out_devices_comments_and_what_is_heavy() -> None:
    wanted = vllm.wanted(Stated(texts={"requirements/common.txt": COMMON}))
    assert {"regex", "setuptools<81", "mistral_common[image]>=1.11"} <= set(wanted)
    assert not [name for name in wanted if name.startswith(("torch", "six", "numba", "#", "-", "what"))]


def test_vllm_prefers_what_is_stated_for_every_device_to_its_metadata() -> None:
    assert "ray2" not in vllm.wanted(Stated(("ray2",), texts={"requirements-common.txt": "regex"}))
    assert "ray2" in vllm.wanted(Stated(("ray2",)))


def test_a_vllm_archive_that_states_nothing_is_refused() -> None:
    with pytest.raises(OracleError, match="states no requirements") as caught:
        vllm.wanted(Stated())
    assert "--archive" in (caught.value.hint or "")


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_an_engines_oracle_hands_out_its_recipe(engine: str) -> None:
    assert get_oracle(engine).recipe is recipe_of(engine)
    assert recipe_of(engine).package == engine


def test_tensorrt_llm_is_asked_in_the_users_own_installation() -> None:
    with pytest.raises(OracleError, match="No environment can be made for tensorrt-llm") as caught:
        recipe_of("tensorrt-llm")
    assert "--engine-python PATH" in (caught.value.hint or "")


def test_an_unknown_engine() -> None:
    with pytest.raises(OracleError, match="no engine that specconf knows"):
        recipe_of("llama")


def test_a_module_that_a_recipe_misses_is_an_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specconf.oracle.recipe.import_module", _fails)
    with pytest.raises(ModuleNotFoundError):
        recipe_of("sglang")


def _fails(name: str) -> None:
    raise ModuleNotFoundError("No module named 'zzz'", name="zzz")
