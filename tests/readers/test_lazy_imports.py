"""What starting specconf must not pay for: the shell parser and YAML are imported by the readers that need them."""

from __future__ import annotations

import subprocess
import sys


def loaded_after(code: str) -> set[str]:
    shown = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_registry_imports_no_parser() -> None:
    assert not {"tree_sitter", "tree_sitter_bash", "yaml", "json"} & loaded_after("import specconf.readers")


def test_an_argv_file_needs_no_shell_parser() -> None:
    code = "from specconf.readers import read_launches\n"
    code += """read_launches("a.json", '{"schema": 1, "engine": "vllm", "argv": ["vllm"]}')"""
    assert not {"tree_sitter", "tree_sitter_bash", "yaml"} & loaded_after(code)
