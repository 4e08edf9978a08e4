"""Whatever strikes the process of views when: its tables are those of the catalog, once it has run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import failpoints
import pytest
from crawled import crawled, fetched, link
from exported import Dataset, difference
from localweb import crawl, page, redirect, sites
from test_realtime import WITH_INDEX
from waiting import at_rest

from webcrawler.archive.catalog import Catalog
from webcrawler.dataset.manifest import ROOT
from webcrawler.index import applied_seq

pytestmark = pytest.mark.slow


def derive(folder: Path, url: str, **armed: str) -> int:
    """Run the views of a folder to their end; the exit status."""
    settings = json.dumps({"DATASET_URL": url, "RANKER_ENABLED": "no"})
    command = [sys.executable, "-m", "webcrawler.views", str(folder)]
    return subprocess.run(command, input=settings.encode(), env={**os.environ, **armed}).returncode


@pytest.mark.parametrize(
    "place", ["dataset.read:kill:1", "dataset.part:kill:1", "dataset.part:kill:4", "dataset.manifest:kill:1"]
)
def test_killed_at_any_place_it_loses_nothing_and_tells_nothing_twice(tmp_path: Path, place: str) -> None:
    folder, url = tmp_path / "crawl", str(tmp_path / "dataset")
    crawled(folder, *(fetched(f"http://a.test/{n}", link(f"http://a.test/{n + 1}")) for n in range(9)))
    for more in ((), (fetched("http://b.test/", link("http://a.test/")),)):
        crawled(folder, *more)

        assert derive(folder, url, **failpoints.environment(place)) == -signal.SIGKILL
        assert derive(folder, url) == 0

        dataset = Dataset(url)
        assert not difference(dataset, folder)
        known = {part.path for m in dataset.manifests for part in m.parts}
        assert {str(path.relative_to(url)) for path in Path(url, ROOT).rglob("*.parquet")} == known


def test_a_url_that_cannot_be_used_leaves_the_other_views_at_work(tmp_path: Path) -> None:
    folder = crawled(tmp_path / "crawl", fetched("http://a.test/"))

    assert derive(folder, "gopher://a.test/") == 0

    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        assert applied_seq(folder / "index") == catalog.last_seq()


def test_a_crawl_leaves_the_tables_of_what_it_found(tmp_path: Path) -> None:
    folder, url = tmp_path / "crawl", str(tmp_path / "dataset")
    with sites(one={"/": page("/a", "/b", "/gone"), "/a": page("/b"), "/b": redirect("/a")}) as web:
        crawl(folder, "index", "-a", f"seeds={web['one'].url}/", ITEM_PIPELINES=WITH_INDEX, DATASET_URL=url)
    at_rest(folder)

    dataset = Dataset(url)
    assert not difference(dataset, folder)
    found = dataset.rows("SELECT url_path, state FROM urls ORDER BY url_path")
    assert found == [("/", "document"), ("/a", "document"), ("/b", "redirect"), ("/gone", "gone")]
