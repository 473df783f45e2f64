"""A launch as a file has it, as a case to put to a release: its own words, as far as they are known."""

from __future__ import annotations

from specconf.compat.view import View
from specconf.engines.base import Artifact, Engine, Models
from specconf.findings import Finding
from specconf.oracle.sided import SideBySide
from specconf.settings import Settings
from specconf.verify.side_by_side import Case, plain_refusals
from specconf.words import Launch


def case_of_launch(
    launch: Launch, settings: Settings, engine: Engine, view: View, models: Models, errors: tuple[Finding, ...]
) -> Case | SideBySide:
    """The launch's own words; already the result where one of them is not known, since another launch is not this one."""
    unknown = [word.raw for word in launch.argv if word.value is None]
    if unknown:
        return SideBySide(
            view.engine,
            view.release,
            refusals=tuple(plain_refusals(errors, {})),
            not_asked=f"the launch holds words that its file does not tell: {', '.join(dict.fromkeys(unknown))}",
        )
    env = {name: word.value for name, word in launch.env if word.value is not None}
    argv = tuple(word.text for word in launch.argv)
    artifact = Artifact(view.engine, view.release, argv, env, dict(launch.files))
    return Case(engine, view, settings, artifact, models, errors=errors)
