"""Read SGLang's options out of its published wheels and write `compat/sglang/harvested/`.

python tools/harvest_sglang.py --cache DIR --all                        every listed release: writes the files
python tools/harvest_sglang.py --cache DIR --add 0.5.24=2026-12-03 --all   the same with one more release
python tools/harvest_sglang.py --cache DIR 0.5.4 0.5.20                 prints the rows of these releases only
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from specconf.engines.sglang.harvest import database  # noqa: E402 - the checkout comes first on the path


def note(text: str) -> None:
    """Progress and gaps go to stderr; rows go to stdout."""
    sys.stderr.write(f"{text}\n")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="folder for the unpacked sources")
    parser.add_argument("--output", type=Path, default=ROOT / "compat" / "sglang" / "harvested")
    parser.add_argument("--add", action="append", default=[], metavar="RELEASE[=DATE]")
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--all", action="store_true", help="every known release")
    chosen.add_argument("releases", nargs="*", default=[], metavar="RELEASE")
    return parser.parse_args()


def main() -> None:
    """Print the rows of the named releases, or harvest all and write the files."""
    asked = arguments()
    if asked.releases:
        for version in asked.releases:
            for row in database.harvest_release(asked.cache, version, note):
                sys.stdout.write(database.line(row) + "\n")
        return
    releases = database.read_releases(asked.output)
    for added in asked.add:
        version, _, date = added.partition("=")
        releases = database.with_release(releases, version, date or None)
    order = [release["version"] for release in releases]
    harvested = {version: database.harvest_release(asked.cache, version, note) for version in order}
    rows = database.options(harvested, order)
    database.write(asked.output, database.RELEASES, releases)
    database.write(asked.output, database.OPTIONS, rows)
    note(f"{len(order)} releases, {len(rows)} rows")


if __name__ == "__main__":
    main()
