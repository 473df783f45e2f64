"""A package index on this machine: what it lists, whole downloads, ranges of a large wheel, and what goes wrong."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec import Struct, field

from specconf.errors import HarvestError
from specconf.harvest import fetch
from specconf.harvest.archive import open_archive
from specconf.harvest.fetch import DEFAULT_INDEX, PackageIndex, Published, index_url, is_kept, keep, kept_at

SOURCE = "VALUE = 1\n"
KERNEL = bytes(range(256)) * 20_000  # 5 MB that nobody needs


def wheel() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("engine/args.py", SOURCE)
        archive.writestr("engine/kernel.so", KERNEL)
        archive.writestr("engine/more.py", SOURCE)
    return stream.getvalue()


def sdist(version: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo(f"engine-{version}/engine/args.py")
        member.size = len(SOURCE)
        archive.addfile(member, io.BytesIO(SOURCE.encode()))
    return stream.getvalue()


class Served(Struct):
    """An index with its files; `ranges`: whether it answers requests for a part of a file, `times`: whether it has dates."""

    files: dict[str, bytes]
    project: str = "engine"
    yanked: tuple[str, ...] = ()
    wrong_hash: tuple[str, ...] = ()
    ranges: bool = True
    times: bool = True
    asked: list[str] = field(default_factory=list)
    url: str = ""
    files_url: str = ""

    def page(self) -> bytes:
        files = [
            {
                "filename": name,
                "url": f"{self.files_url or self.url + 'files/'}{name}",
                "hashes": {"sha256": "0" * 64 if name in self.wrong_hash else hashlib.sha256(content).hexdigest()},
                "size": len(content),
                "yanked": name in self.yanked,
            }
            | ({"upload-time": f"2026-11-0{3 if name.endswith('.gz') else 2}T23:00:00.000000Z"} if self.times else {})
            for name, content in self.files.items()
        ]
        return json.dumps(
            {"meta": {"api-version": "1.1"}, "name": self.project, "files": files, "versions": []}
        ).encode()


def handler(served: Served) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name = self.path.rpartition("/")[2]
            if self.path == f"/simple/{served.project}/":
                self.answer(200, served.page(), {"Content-Type": "application/vnd.pypi.simple.v1+json"})
            elif name in served.files:
                self.file(served.files[name], self.headers.get("Range") if served.ranges else None)
            else:
                self.answer(404, b"", {})

        def file(self, content: bytes, wanted: str | None) -> None:
            if wanted is None:
                self.answer(200, content, {})
                return
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            start, end = (
                (int(first), int(last or len(content) - 1)) if first else (len(content) - int(last), len(content) - 1)
            )
            start, end = max(start, 0), min(end, len(content) - 1)
            part = content[start : end + 1]
            self.answer(206, part, {"Content-Range": f"bytes {start}-{end}/{len(content)}"})

        def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            served.asked.append(f"{self.path} {status}")
            self.send_response(status)
            for key, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def serving(index: Served) -> Iterator[Served]:
    """The index on this machine, for as long as it is asked."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(index))
    index.url = f"http://127.0.0.1:{server.server_address[1]}/"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def served() -> Iterator[Served]:
    files = {f"engine-{version}.tar.gz": sdist(version) for version in ("1.0", "1.10", "1.2rc1", "2.0.dev1", "1.1")}
    files |= {"engine-1.0-py3-none-any.whl": wheel(), "notes.txt": b""}
    with serving(Served(files, yanked=("engine-1.1.tar.gz",))) as index:
        yield index


def of(served: Served, version: str) -> tuple[PackageIndex, Published]:
    index = PackageIndex(f"{served.url}simple/")
    return index, next(one for one in index.releases("engine") if one.version == version)


def test_releases_in_order_without_dev_and_yanked_ones(served: Served) -> None:
    listed = PackageIndex(f"{served.url}simple/").releases("engine")
    assert [(one.version, one.date) for one in listed] == [
        ("1.0", "2026-11-02"), ("1.2rc1", "2026-11-03"), ("1.10", "2026-11-03"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prefer", "name"), [(("sdist", "wheel"), "engine-1.0.tar.gz"), (("wheel",), "engine-1.0-py3-none-any.whl")]
)
def test_the_preferred_kind_is_fetched_whole_and_listed(served: Served, prefer: tuple[str, ...], name: str) -> None:
    index, release = of(served, "1.0")
    fetched = index.fetch(release, "engine", prefer)
    assert fetched.archive.text("engine/args.py") == SOURCE
    assert fetched.bytes_fetched == len(served.files[name])
    assert index.listed(release, prefer) == {
        "version": "1.0",
        "date": "2026-11-02",
        "source": "wheel" if name.endswith(".whl") else "sdist",
        "file": name,
        "sha256": hashlib.sha256(served.files[name]).hexdigest(),
    }


def test_of_a_large_wheel_only_its_python_files_are_read(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "WHOLE_BELOW", 1024)
    monkeypatch.setattr(fetch, "_BLOCK", 4096)
    index, release = of(served, "1.0")
    fetched = index.fetch(release, "engine", ("wheel",))
    assert {file: fetched.archive.text(file) for file in fetched.archive.files} == {
        "engine/args.py": SOURCE, "engine/more.py": SOURCE,
    }  # fmt: skip
    assert fetched.bytes_fetched < len(KERNEL) / 100


def test_an_index_without_ranges_gives_the_whole_wheel(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "WHOLE_BELOW", 1024)
    served.ranges = False
    index, release = of(served, "1.0")
    assert index.fetch(release, "engine", ("wheel",)).archive.files == ("engine/args.py", "engine/more.py")


def test_a_file_that_is_not_the_listed_one_is_refused(served: Served) -> None:
    served.wrong_hash = ("engine-1.10.tar.gz",)
    index, release = of(served, "1.10")
    with pytest.raises(HarvestError, match="hash"):
        index.fetch(release, "engine", ("sdist",))


def test_what_the_index_does_not_have(served: Served) -> None:
    index, release = of(served, "1.10")
    with pytest.raises(HarvestError, match="releases of other cannot be listed"):
        index.releases("other")
    with pytest.raises(HarvestError, match=r"1\.10"):
        index.fetch(release, "engine", ("wheel",))
    del served.files["engine-1.10.tar.gz"]
    with pytest.raises(
        HarvestError, match=r"engine-1\.10\.tar\.gz cannot be fetched: 127\.0\.0\.1:\d+ answers 404 Not Found"
    ):
        index.fetch(release, "engine", ("sdist",))


def test_an_index_that_is_not_there() -> None:
    with pytest.raises(HarvestError) as raised:
        PackageIndex("http://127.0.0.1:9/simple/").releases("engine")
    assert raised.value.message == "the releases of engine cannot be listed: 127.0.0.1:9 cannot be reached"
    assert "--index-url" in str(raised.value.hint)
    assert "--from" in str(raised.value.hint)


def test_a_large_wheel_whose_server_is_gone(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "WHOLE_BELOW", 1024)
    served.files_url = "http://127.0.0.1:9/"
    index, release = of(served, "1.0")
    with pytest.raises(HarvestError) as raised:
        index.fetch(release, "engine", ("wheel",))
    assert raised.value.message == "engine-1.0-py3-none-any.whl cannot be fetched: 127.0.0.1:9 cannot be reached"


def test_an_error_does_not_show_the_password_of_the_index(served: Served) -> None:
    url = served.url.replace("//", "//user:hunter2@")
    with pytest.raises(HarvestError) as raised:
        PackageIndex(f"{url}nowhere/").releases("engine")
    assert "hunter2" not in str(raised.value)


def test_sources_are_kept(served: Served, tmp_path: Path) -> None:
    index, release = of(served, "1.10")
    listed, path = index.listed(release, ("sdist",)), kept_at(tmp_path / "cache", "engine", "1.10")
    assert not is_kept(path, listed)
    keep(path, index.fetch(release, "engine", ("sdist",)).archive, listed)
    assert is_kept(path, listed)
    assert open_archive(path, "engine").text("engine/args.py") == SOURCE
    assert not is_kept(path, listed | {"sha256": "0" * 64})
    assert not is_kept(path, listed | {"file": "engine-1.10-py3-none-any.whl"})
    path.write_bytes(path.read_bytes()[:-1])
    assert not is_kept(path, listed)


def test_engines_share_a_cache(tmp_path: Path) -> None:
    assert kept_at(tmp_path, "engine", "1.0") != kept_at(tmp_path, "other", "1.0")


def test_a_cache_that_cannot_be_written_is_named(served: Served, tmp_path: Path) -> None:
    index, release = of(served, "1.10")
    (tmp_path / "cache").write_text("no folder")
    archive = index.fetch(release, "engine", ("sdist",)).archive
    with pytest.raises(HarvestError, match=r"cache/engine-1\.10\.zip cannot be written: File exists") as raised:
        keep(kept_at(tmp_path / "cache", "engine", "1.10"), archive, index.listed(release, ("sdist",)))
    assert "--cache" in str(raised.value.hint)


def test_an_index_without_dates(served: Served) -> None:
    served.times = False
    assert {one.date for one in PackageIndex(f"{served.url}simple/").releases("engine")} == {None}


def test_which_index_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    monkeypatch.delenv("UV_DEFAULT_INDEX", raising=False)
    assert index_url(None) == DEFAULT_INDEX
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://uv.example/simple")
    assert index_url(None) == "https://uv.example/simple"
    monkeypatch.setenv("PIP_INDEX_URL", "https://pip.example/simple")
    assert index_url(None) == "https://pip.example/simple"
    assert index_url("https://stated.example") == "https://stated.example"
