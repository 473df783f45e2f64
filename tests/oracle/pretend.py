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
        import elsewhere

        def parser():
            made = argparse.ArgumentParser(prog="pretend")
            made.add_argument("--case", default="accept")
            made.add_argument("--number", type=int, default=1)
            made.add_argument("--switch", action="store_true")
            made.add_argument("--checked", type=checked)
            made.add_argument("--refused", action=elsewhere.Refused, nargs=0)
            return made

        def checked(text):
            raise argparse.ArgumentTypeError(
                "1 validation error for Numbers\\nsteps\\n  Unexpected keyword argument [type=unexpected, input_value=1]\\n"
                "    For further information visit https://errors.pydantic.dev/2.12/v/unexpected"
            )
    """,
    "pretend/cases.py": """
        import json
        import logging
        import os
        import subprocess
        import sys
        import tempfile
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
            Path(os.environ["NOTE"] + ".own").write_text(str(os.getpid()))
            time.sleep(60)

        def starts_a_helper():
            helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            return {"helper": helper.pid}

        def forks_a_helper():
            helper = os.fork()
            if helper == 0:
                time.sleep(60)
                os._exit(0)
            return {"helper": helper}

        def forks_a_helper_and_dies():
            if os.fork() == 0:
                time.sleep(60)
            os._exit(3)

        def forks_a_helper_that_returns():
            if os.fork() == 0:
                raise ValueError("said by the helper")
            os.wait()
            return {}

        def closes_everything():
            os.closerange(3, 64)
            time.sleep(60)

        def half_a_letter():
            raise ValueError("no such file: caf\\udce9")

        def half_a_letter_as_value():
            logging.getLogger("pretend").warning("old: caf\\udce9")
            return {"caf\\udce9": ["caf\\udce9", "\\ud800"]}

        def half_a_letter_on_leaving():
            sys.exit("no such file: caf\\udce9")

        def keeps_a_file():
            return {"folder": tempfile.mkdtemp()}

        def leaves_with_words():
            print("loading", file=sys.stderr)
            sys.exit("steps are too many")

        def elsewhere_leaves():
            elsewhere.leave()

        def elsewhere_parses():
            elsewhere.parse()

        def configure(case):
            global asked
            asked += 1
            return globals()[case]()
    """,
    "elsewhere.py": """
        import argparse
        import sys

        class Refused(argparse.Action):
            def __call__(self, parser, *args):
                parser.error("not together")

        def refuse():
            raise ValueError("not in this version")

        def leave():
            print("out of memory", file=sys.stderr)
            sys.exit(1)

        def parse():
            argparse.ArgumentParser().parse_args(["--no-such-flag"])
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
    "slow_adapter.py": "import time; time.sleep(60)",
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
