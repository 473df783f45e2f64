"""The examples put to real releases the way `--ask-engine` puts them: the newest release of each engine that can be built."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import python_or_skip

from specconf.cli.asking import Asker
from specconf.cli.common import Session
from specconf.compat.database import load_database
from specconf.engines.registry import get_engine
from specconf.oracle.sided import SideBySide
from specconf.rules.judge import judge_spec
from specconf.spec import load_spec
from tests.example_models import CONFIGS, FIXTURES

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]
RELEASES = {"vllm": "0.33.0", "sglang": "0.5.23"}
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
# Where transformers, and not the engine, refuses or wants the code that a config.json names.
REMOTE_CODE = {"mimo-mtp", "mimo-mtp-no-remote-code"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every model of the examples, as a folder with its config.json."""
    made = tmp_path_factory.mktemp("models")
    for name, fixture in CONFIGS.items():
        (made / name).mkdir(parents=True)
        shutil.copy(FIXTURES / fixture / "config.json", made / name)
    return made


@pytest.fixture(scope="module", params=sorted(RELEASES))
def asker(request: pytest.FixtureRequest) -> Iterator[tuple[str, Asker]]:
    """One process for all examples: the built environment is named as if it were the user's own."""
    engine: str = request.param
    with Asker(builds=False, python=python_or_skip(engine, RELEASES[engine])) as held:
        held.hold((engine,), [RELEASES[engine]])
        yield engine, held


def ask(engine: str, asker: Asker, example: Path, folder: Path) -> SideBySide:
    spec = load_spec(example.read_bytes(), str(example)).spec
    models = Session.start((), online=False, path=str(folder / "spec.yaml")).models(spec)
    view = load_database(engine).at(RELEASES[engine])
    judgement = judge_spec(spec, get_engine(engine), view, models)
    return asker.ask_spec(spec, get_engine(engine), view, models, judgement)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(asker: tuple[str, Asker], example: Path, folder: Path) -> None:
    side = ask(*asker, example, folder)
    if side.answer is None and example.stem in REMOTE_CODE:
        assert side.excluded in {"outside", "missing-model"}, side.not_asked
        return
    # Open only where the launch lacks a part of the spec that we refuse, or an error of ours names no stage.
    unsettled = bool(side.unwritten) or any(finding.stage is None for finding in side.refusals)
    assert side.agree is True or (side.agree is None and unsettled), side
    assert not [(row.option, row.engine, row.ours) for row in side.differing]


def test_the_machines_own_folders_and_secrets_stay_out(asker: tuple[str, Asker], folder: Path) -> None:
    side = ask(*asker, ROOT / "examples" / "llama-eagle3.yaml", folder)
    assert str(folder) not in json.dumps([side.notes, side.filled, side.not_asked], default=str)
