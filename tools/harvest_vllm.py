"""Harvest vLLM's options from its published source distributions into `compat/vllm/harvested/`.

    python tools/harvest_vllm.py --cache DIR RELEASE...   fetch these releases if the cache lacks them
    python tools/harvest_vllm.py --cache DIR --all        the same for every release of the release list

Either way the option table is made anew from all releases that the cache holds, so that it does not depend on the order
in which they were fetched.

The cache holds `<release>/vllm/**/*.py`. What it lacks is fetched with pip's own client from the index that pip is
configured for; the releases and their dates come from the list that is already in `compat/`.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from specconf.engines.vllm.harvest.release import harvest_release, json_lines, merged  # noqa: E402

TARGET = ROOT / "compat" / "vllm" / "harvested"


def main() -> int:
    """Run the harvest; 0 if every release asked for was read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", metavar="RELEASE")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--all", action="store_true", help="every release of the release list")
    arguments = parser.parse_args()
    known = [json.loads(line) for line in (TARGET / "releases.jsonl").read_text(encoding="utf-8").splitlines()]
    order = sorted((row["version"] for row in known), key=Version)
    wanted = order if arguments.all else arguments.releases
    strangers = sorted(set(wanted) - set(order))
    if strangers or not wanted:
        parser.error(f"not in {TARGET / 'releases.jsonl'}: {', '.join(strangers)}" if strangers else "no release named")
    fetch([release for release in wanted if not (arguments.cache / release).is_dir()], arguments.cache)
    harvested = {
        release: harvest_release(arguments.cache / release, release)
        for release in order
        if (arguments.cache / release).is_dir()
    }
    rows = merged(harvested, order)
    (TARGET / "options.jsonl").write_text(json_lines(rows), encoding="utf-8")
    sys.stderr.write(f"{len(harvested)} of {len(order)} releases, {len(rows)} rows\n")
    return 0


def fetch(releases: list[str], cache: Path) -> None:
    """Bring the Python files of these releases into the cache, from the sdist or else the x86-64 wheel."""
    if not releases:
        return
    # pip has no public way to get an sdist without building it; these are the parts `pip download` itself is made of.
    from pip._internal.commands import create_command

    command: Any = create_command("download")
    options, _ = command.parse_args(["vllm"])
    session = command._build_session(options)
    candidates = command._build_package_finder(options, session).find_all_candidates("vllm")
    for release in releases:
        links = [candidate.link for candidate in candidates if str(candidate.version) == release]
        chosen = next((link for link in links if link.filename.endswith(".tar.gz")), None)
        chosen = chosen or next(link for link in links if "x86_64" in link.filename)
        response = session.get(chosen.url_without_fragment, headers={"Accept-Encoding": "identity"})
        response.raise_for_status()
        store(chosen.filename, response.content, cache / release)


def store(filename: str, content: bytes, folder: Path) -> None:
    """Unpack the Python files of an archive; the folder appears only when it is whole."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    for name, text in _python_files(filename, content):
        path = partial / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    partial.rename(folder)


def _python_files(filename: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    if filename.endswith(".tar.gz"):
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive:
                name = member.name.partition("/")[2]
                stream = archive.extractfile(member) if _wanted(name) else None
                if stream is not None:
                    yield name, stream.read()
    else:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                if _wanted(name):
                    yield name, archive.read(name)


def _wanted(name: str) -> bool:
    return name.startswith("vllm/") and name.endswith(".py") and ".." not in name


if __name__ == "__main__":
    sys.exit(main())
