"""What stays out of a lint: neither readers, rules nor engines import the libraries of the spec's model or of the hub."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("pydantic", "jsonschema", "huggingface_hub")
MODULES = (
    "specconf.readers.registry, specconf.readers.launches",
    "specconf.rules.judge, specconf.rules.checker, specconf.rules.spelling",
    "specconf.models.view, specconf.models.resolve",
    "specconf.engines.vllm.options, specconf.engines.sglang.read, specconf.engines.tensorrt_llm.read",
    "specconf.report.text, specconf.report.json_report",
)


@pytest.mark.parametrize("modules", MODULES)
def test_importing_them_loads_nothing_heavy(modules: str) -> None:
    code = f"import sys, {modules}\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.strip() == "[]"


def test_judging_a_launch_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from specconf.compat.database import load_database\n"
        "from specconf.engines.registry import get_engine\n"
        "from specconf.rules.probes import run_probe\n"
        "for name in ('vllm', 'sglang', 'tensorrt-llm'):\n"
        "    db = load_database(name)\n"
        "    run_probe(db, get_engine(name), next(c.probe for c in db.constraints if c.probe))\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.strip() == "[]"


def test_check_and_compile_load_what_asks_engines_only_when_asked() -> None:
    code = (
        "import sys\n"
        "from specconf.cli.main import main\n"
        "for command in (['check'], ['compile', '-e', 'vllm']):\n"
        "    sys.argv = ['specconf', *command, 'examples/llama-eagle3.yaml', '--offline']\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit:\n"
        "        pass\n"
        "asking = [m for m in sys.modules if m.startswith(('specconf.oracle', 'specconf.verify', 'specconf.cli.asking'))]\n"
        "print('loaded:', asking)"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.splitlines()[-1] == "loaded: []"


def test_how_an_engine_is_asked_loads_no_builder() -> None:
    code = (
        "import sys\n"
        "from specconf.engines.registry import get_oracle\n"
        "[get_oracle(name) for name in ('vllm', 'sglang')]\n"
        "print([m for m in sys.modules if m.startswith('specconf.') and m.rpartition('.')[2] in {'building', 'recipe'}])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.strip() == "[]"


UNUSED = (
    "yaml",
    "specconf.compat.database",
    "specconf.readers",
    "specconf.rules",
    "specconf.engines",
    "specconf.models",
)
LINTED = {
    "serve.sh": "docker run vllm/vllm-openai:v0.33.0 --model m --speculative-model d\n",
    "engine.yaml": "# trtllm-serve 1.4.0rc1\nspeculative_config: {decoding_type: Eagle3, max_draft_len: 3}\n",
    "plain.yaml": "kind: ConfigMap\n",
}


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("serve.sh", (*HEAVY, "xml", "multiprocessing", "concurrent.futures")),
        ("engine.yaml", (*HEAVY, "xml", "multiprocessing", "concurrent.futures", "tree_sitter", "tree_sitter_bash")),
        ("plain.yaml", (*HEAVY, "xml", "multiprocessing", "concurrent.futures", "tree_sitter", "rapidfuzz", *UNUSED)),
    ],
)
def test_lint_loads_what_a_file_needs(name: str, absent: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / name).write_text(LINTED[name], encoding="utf-8")
    code = (
        "import sys\n"
        "from specconf.cli.main import main\n"
        f"sys.argv = ['specconf', 'lint', {str(tmp_path / name)!r}]\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    print('ended:', ended.code)\n"
        f"print('loaded:', [m for m in {absent!r} if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.splitlines()[-1] == "loaded: []"
    looked_at = 0 if name == "plain.yaml" else 1
    assert f"{looked_at} file" in ran.stdout, ran.stdout
