"""WARC files in a bucket: of a server that keeps what it acknowledges, and of one that fails on purpose."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Run
from elsewhere import files, put_elsewhere, rebuilt, said, two_crawls
from localweb import copy_at_rest
from s3servers import BUCKET, Faulty, SeaweedFS, environment, faulty, seaweedfs
from test_pages import entry
from waiting import until

from webcrawler.archive import refuse_lost_copies
from webcrawler.archive.pages import FILE_BYTES, PageStore, Record, listed, opened, put, records
from webcrawler.errors import StoreAway

pytestmark = pytest.mark.fleet
MiB = 2**20


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = two_crawls(tmp_path_factory.mktemp("s3") / "crawl")
    return copy_at_rest(folder, folder.with_name("at-rest"))


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    return copy_at_rest(crawled, tmp_path / "crawl")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeaweedFS]:
    with seaweedfs(tmp_path_factory.mktemp("seaweedfs") / "data") as server:
        yield server


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Of this test alone."""
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture
def keeping(started: SeaweedFS, monkeypatch: pytest.MonkeyPatch) -> SeaweedFS:
    for name, value in environment(started.url).items():
        monkeypatch.setenv(name, value)
    return started


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Faulty]:
    with faulty() as server:
        for name, value in environment(server.url).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("webcrawler.archive.putting.TRIES", 2)
        yield server


@pytest.fixture
def bucket(failing: Faulty) -> Faulty:
    failing.make_bucket()
    return failing


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno >= logging.WARNING]


def test_all_is_read_from_the_bucket_as_it_was_here(
    url: str, folder: Path, keeping: SeaweedFS, tmp_path: Path, run: Run
) -> None:
    before, here = said(folder), files(folder / "pages")

    put_elsewhere(folder, url)

    assert files(folder / "pages") == {}
    assert said(folder) == before
    assert run("backup", str(tmp_path / "backup"), folder=folder).status == 0
    assert files(tmp_path / "backup/pages") == here
    expected = rebuilt(folder)
    (tmp_path / "new/pages").mkdir(parents=True)
    (tmp_path / "new/pages/elsewhere.json").write_bytes((folder / "pages/elsewhere.json").read_bytes())
    assert rebuilt(tmp_path / "new") == expected


def test_what_is_purged_leaves_the_bucket(url: str, folder: Path, keeping: SeaweedFS, run: Run) -> None:
    put_elsewhere(folder, url)
    (private,) = (r.response.url for r in records(folder / "pages") if r.response.url.endswith("/private"))

    assert run("remove", private, "--purge", folder=folder).status == 0
    put_elsewhere(folder, url)

    assert private not in {record.response.url for record in records(folder / "pages")}
    assert files(folder / "pages") == {}
    refuse_lost_copies(folder / "pages")


def test_a_server_killed_after_each_acknowledged_put_has_all_of_them(
    url: str, tmp_path: Path, keeping: SeaweedFS
) -> None:
    for number in (1, 2):
        for _ in range(25):
            with closing(PageStore(tmp_path / "pages")) as store:
                store.append(entry(os.urandom(1000)))
        for name in files(tmp_path / "pages"):
            put(tmp_path / "pages", name, f"{url}/one")
            (tmp_path / "pages" / name).unlink()
        keeping.kill()
        keeping.start()

        there = until(lambda: all_records(tmp_path / "pages"), "the bucket")
        assert len(there) == 25 * number


def all_records(pages: Path) -> list[Record]:
    """None while the server starts."""
    try:
        return list(records(pages))
    except StoreAway:
        return []


@pytest.mark.parametrize("size", [2 * MiB, 16 * MiB, 40 * MiB])
def test_files_of_one_part_and_of_several_are_there_bit_by_bit(
    url: str, tmp_path: Path, keeping: SeaweedFS, size: int
) -> None:
    content = os.urandom(size)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/large.warc.gz").write_bytes(content)

    put(tmp_path / "pages", "large.warc.gz", url)

    assert listed(tmp_path / "pages")[url]["large.warc.gz"] == (size, hashlib.sha256(content).hexdigest())
    (tmp_path / "pages/large.warc.gz").unlink()
    with opened(tmp_path / "pages", "large.warc.gz", FILE_BYTES) as there:
        assert there.read() == content


@pytest.mark.parametrize("fault", ["refused", "503", "cut", "full", "changed"])
def test_a_server_that_fails_costs_nothing_and_one_line(
    url: str, folder: Path, bucket: Faulty, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    here = files(folder / "pages")
    bucket.fault = fault

    put_elsewhere(folder, url)

    assert bucket.failed
    assert files(folder / "pages") == here
    assert len(told(caplog)) == 1 and "\n" not in told(caplog)[0], told(caplog)
    bucket.fault = ""
    put_elsewhere(folder, url)
    assert files(folder / "pages") == {}
    refuse_lost_copies(folder / "pages")
    assert len(list(records(folder / "pages"))) == 5


def test_a_crawl_does_not_notice_that_the_server_refuses(url: str, tmp_path: Path, failing: Faulty) -> None:
    failing.fault = "refused"

    folder = two_crawls(tmp_path / "crawl", PAGES_URL=url, PAGES_KEEP="no")

    assert failing.failed
    assert len(files(folder / "pages")) == 2
    assert len(list(records(folder / "pages"))) == 5


@pytest.mark.parametrize("fault", ["refused", "503", "cut"])
def test_readers_of_a_bucket_that_fails_say_so_in_a_line(
    url: str, folder: Path, bucket: Faulty, fault: str, run: Run
) -> None:
    put_elsewhere(folder, url)
    bucket.fault = fault

    answered = run("rebuild", folder=folder)

    assert answered.status == 1
    assert answered.err.splitlines()[-1].startswith(f"error: {url}")
    bucket.fault = ""
    assert json.loads(run("check", "--deep", "--json", folder=folder).out)["pages"] == "good"


def test_a_bucket_that_is_not_there_is_told_in_a_line(
    url: str, folder: Path, failing: Faulty, caplog: pytest.LogCaptureFixture
) -> None:
    here = files(folder / "pages")

    put_elsewhere(folder, url)

    assert files(folder / "pages") == here
    (line,) = told(caplog)
    assert line.endswith("there is no such bucket or folder")


def test_a_wrong_key_is_told_in_a_line(
    url: str,
    folder: Path,
    keeping: SeaweedFS,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    here = files(folder / "pages")
    monkeypatch.setattr("webcrawler.archive.putting.TRIES", 2)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret")

    put_elsewhere(folder, url)

    assert files(folder / "pages") == here
    (line,) = told(caplog)
    assert "refuses this key: The request signature" in line and "\n" not in line
