"""A pretended engine in an environment of its own: what the worker and its client are tested with, in place of a real one."""

from __future__ import annotations

import sysconfig
import textwrap
import venv
from collections.abc import Mapping
from pathlib import Path

ENGINE = {
    "pretend/__init__.py": """
        __version__ = "1.0"
        print("the engine prints while it is imported")
    """,
    "pretend/options.py": """
        import argparse

        def parser():
            made = argparse.ArgumentParser(prog="pretend")
            made.add_argument("--case", default="accept")
            made.add_argument("--number", type=int, default=1)
            made.add_argument("--switch", action="store_true")
            return made
    """,
    "pretend/cases.py": """
        import json
        import logging
        import os
        import subprocess
        import sys
        import time
        from pathlib import Path

        import elsewhere
        from pydantic import BaseModel, field_validator

        asked = 0

        class Numbers(BaseModel):
            steps: int

            @field_validator("steps")
            @classmethod
            def positive(cls, value):
                if value < 1:
                    raise ValueError("steps must be positive")
                return value

        def accept():
            return {"asked": asked, "stdin": sys.stdin.read(), "paths": {1, 2}, "odd": object}

        def environment():
            return dict(os.environ)

        def warn():
            logging.getLogger("pretend.config").warning("the flag %s is old", "--x")
            print("a word on standard output")
            return {}

        def laid_out():
            return {str(path): path.read_text() for path in sorted(Path().rglob("*")) if path.is_file()}

        def reject():
            raise ValueError(f"steps are too many, see {Path('target').resolve()}")

        def empty_assertion():
            assert 1 == 2

        def crash():
            None.steps

        def by_pydantic():
            Numbers(steps=0)

        def by_standard_library():
            json.loads("{")

        def elsewhere_itself():
            elsewhere.refuse()

        def kernels_missing():
            import no_such_kernels

        def standin_itself():
            import kernels
            kernels.__wrapped__

        def file_missing():
            Path("no/config.json").read_text()

        def asks_a_question():
            input("Do you trust this code? ")

        def leaves():
            sys.exit(0)

        def complains_and_leaves():
            print("first line\\nlast line", file=sys.stderr)
            sys.exit(2)

        def dies():
            os._exit(3)

        def never_ends():
            helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            Path(os.environ["NOTE"]).write_text(str(helper.pid))
            time.sleep(60)

        def configure(case):
            global asked
            asked += 1
            return globals()[case]()
    """,
    "elsewhere.py": """
        def refuse():
            raise ValueError("not in this version")
    """,
    "pretend_adapter.py": """
        from specconf.oracle.worker import standin
        from specconf.oracle.worker.protocol import HarnessError
        from pretend import __version__, cases, options

        class Adapter:
            package = "pretend"
            version = __version__

            def __init__(self):
                self.finder = standin.install(["kernels"])

            def warm(self):
                options.parser()

            def platform(self):
                return "cpu"

            def standins(self):
                return sorted(self.finder.used)

            def parser(self):
                return options.parser()

            def members(self):
                return {"pretend.env": [{"name": "PRETEND", "default": None}]}

            def parse(self, argv):
                return options.parser().parse_args(argv[1:])

            def changed(self, parsed):
                return {name: value for name, value in vars(parsed).items() if value != options.parser().get_default(name)}

            def configure(self, parsed):
                if parsed.case == "nothing":
                    raise HarnessError("this release keeps nothing")
                return cases.configure(parsed.case)
    """,
    "broken_adapter.py": "raise RuntimeError('libcuda.so.1 is missing')",
}


def make_environment(folder: Path, sources: Mapping[str, str] = ENGINE) -> Path:
    """The python of a new environment that sees the sources first, then the libraries of the running interpreter."""
    venv.create(folder, with_pip=False, symlinks=True)
    inner = folder / "sources"
    for name, text in sources.items():
        path = inner / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "pretend.pth").write_text(f"{inner}\n{sysconfig.get_path('purelib')}\n")
    return folder / "bin" / "python"
