"""For every engine: a spec with settings in the engine's own words too comes back as the same settings."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from specconf.compat.database import load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.engines.base import Models
from specconf.engines.lifting import lift
from specconf.engines.lowering import lower
from specconf.engines.registry import get_engine
from specconf.facts import Unavailable
from specconf.spec import Spec
from tests.strategies import specs

MODELS = Models(Unavailable("target", "not looked up"), Unavailable("draft", "not looked up"))


@pytest.mark.parametrize("engine", ENGINE_NAMES)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(spec=specs(), data=st.data())
def test_settings_of_a_whole_spec_come_back(engine: str, spec: Spec, data: st.DataObject) -> None:
    line = load_database(engine).line
    view = load_database(engine).view(line.at(data.draw(st.integers(0, len(line.names) - 1))))
    first = lower(spec, get_engine(engine), view, MODELS).settings
    assume(not first.problems)  # what could not be written is not there to come back
    assume(None not in first.flat().values())  # null has no spelling of its own under `options`: it removes
    again = lower(lift(first, get_engine(engine), view, MODELS), get_engine(engine), view, MODELS).settings
    assert again.flat() == first.flat()
