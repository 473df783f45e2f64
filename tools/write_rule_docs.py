"""Write `docs/rules/` from the database; a test holds the pages equal to it."""

from __future__ import annotations

from pathlib import Path

from specconf.compat.database import load_database
from specconf.compat.names import ENGINE_NAMES
from specconf.report.explaining import rule_pages

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "rules"


def main() -> None:
    """Write every page, and remove those of codes that are gone."""
    pages = rule_pages([load_database(engine) for engine in ENGINE_NAMES])
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
