"""A dataset in a bucket is that in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
from crawled import crawled, fetched, link
from exported import Dataset, difference, export
from ports import free_port
from waiting import until

from webcrawler.archive.catalog import Catalog
from webcrawler.dataset import export as exporter
from webcrawler.dataset.export import Exporting

pytestmark = pytest.mark.fleet
URL = "s3://bucket/tables"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """A server of S3 with an empty bucket. A laptop may do without, CI may not."""
    program = Path(sys.executable).with_name("moto_server")
    if not program.exists() and not os.environ.get("CI"):
        pytest.skip("moto is not installed: uv sync --all-extras --group fleet")
    port = free_port()
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([program, "-p", str(port)], **silent)
    until(lambda: is_made(port), "a bucket")
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    for name, value in {**keys, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}.items():
        monkeypatch.setenv(name, value)
    yield server
    server.kill()
    server.wait()


def is_made(port: int) -> bool:
    with suppress(OSError), closing(HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("PUT", "/bucket")
        return connection.getresponse().status == 200
    return False


def test_the_tables_in_a_bucket_are_those_of_the_catalogs(
    bucket: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporter, "FEW_PARTS", 5)
    folders = tmp_path / "one", tmp_path / "other"
    for n in range(3):
        for folder in folders:
            crawled(folder, fetched(f"http://{folder.name}.test/{n}", link(f"http://{folder.name}.test/9")))
            export(folder, URL)

    dataset = Dataset(URL)
    assert [m.epoch for m in dataset.manifests] == [1, 1], "all was told anew in between"
    assert not difference(dataset, *folders)


def test_a_bucket_that_is_away_is_asked_again_and_holds_up_nobody(
    bucket: subprocess.Popen[bytes], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = crawled(tmp_path / "crawl", fetched("http://a.test/"))
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        exporting = Exporting(catalog, folder, URL)
        bucket.kill()

        assert not exporting.step(crawling=False)

        assert not exporting.is_behind()
    assert "it is tried again" in caplog.text
