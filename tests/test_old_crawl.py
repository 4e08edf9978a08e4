"""A data folder that older code left half way goes on: nothing is lost, and nothing is done again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import old_crawl
import pytest
from localweb import Crawled, Site, environment, scrapy

from webcrawler.archive.catalog import Catalog
from webcrawler.connection import connect
from webcrawler.frontier import Frontier, inspect, ordering
from webcrawler.linkgraph import stored
from webcrawler.search import Searcher
from webcrawler.web.judge import JudgmentFiles

HERE = Path(__file__).parent
NORTH, SOUTH, _ = old_crawl.SERVERS


@dataclass
class GoneOn:
    """What was there before, and what the new code has done."""

    before: Crawled
    after: Crawled
    asked: Counter[str]


@pytest.fixture(scope="module")
def web() -> Iterator[Site]:
    with old_crawl.served() as site:
        yield site


@pytest.fixture(scope="module")
def gone_on(web: Site, tmp_path_factory: pytest.TempPathFactory) -> GoneOn:
    """The crawl of documents, to its end."""
    before = Crawled(old_crawl.upgraded(tmp_path_factory.mktemp("before")), 0, "")
    folder = old_crawl.unpacked(tmp_path_factory.mktemp("after"))
    web.asked.clear()
    mode = ("-a", f"mode={old_crawl.MODE}")
    settings = {**old_crawl.SETTINGS, "FRONTIER_DELAY": 0, "http_proxy": web.url}
    crawl = scrapy("crawl", "index", *mode, folder=folder, **settings)
    log = crawl.communicate(timeout=240)[1]
    return GoneOn(before, Crawled(folder, crawl.returncode, log), Counter(web.asked))


@pytest.mark.slow
def test_the_crawl_that_was_left_half_way_comes_to_its_end_with_all_documents(gone_on: GoneOn) -> None:
    assert 24 <= len(gone_on.before.documents()) < len(old_crawl.DOCUMENTS)
    assert gone_on.after.status == 0, gone_on.after.log
    assert gone_on.after.documents() == old_crawl.DOCUMENTS
    states = gone_on.after.frontier["states"]
    assert (states["queued"], states["leased"]) == (0, 0)
    assert states["reasons"]["document"] == len(old_crawl.DOCUMENTS)


@pytest.mark.slow
def test_what_was_done_is_not_fetched_again(gone_on: GoneOn) -> None:
    asked = {url for url in gone_on.asked if not url.endswith("/robots.txt")}

    assert asked.isdisjoint(gone_on.before.documents())
    assert asked >= old_crawl.DOCUMENTS - gone_on.before.documents()
    assert max(gone_on.asked.values()) == 1


@pytest.mark.slow
def test_the_mode_of_the_user_is_kept(gone_on: GoneOn) -> None:
    with connect(None, gone_on.after.folder) as connection:
        assert Frontier(connection.client, ordering(old_crawl.MODE)).stored_mode() == old_crawl.MODE


def test_what_was_indexed_is_found_and_has_its_ranks(tmp_path: Path) -> None:
    folder = old_crawl.upgraded(tmp_path)

    hits = Searcher(folder, deadline_seconds=60).search("badger").hits

    assert hits and {hit.url for hit in hits} <= old_crawl.DOCUMENTS
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        ranks = stored.load(folder / "ranks", catalog.identity)
        numbers = [number for number, url in catalog.urls.all() if url in old_crawl.DOCUMENTS]
    assert ranks is not None
    assert len(set(ranks.of(numbers))) > 1


@pytest.mark.slow
def test_all_documents_are_found_once_the_index_has_followed(gone_on: GoneOn) -> None:
    report = scrapy("report", folder=gone_on.after.folder)  # waits for the index
    assert report.wait(120) == 0

    searcher = Searcher(gone_on.after.folder, deadline_seconds=60)
    found = {hit.url for server in old_crawl.SERVERS for hit in searcher.search(f"site:{server}", 100).hits}

    assert found == old_crawl.DOCUMENTS


@pytest.mark.slow
def test_judgments_are_read(gone_on: GoneOn) -> None:
    judgments = JudgmentFiles(gone_on.after.folder / "feedback").of(old_crawl.JUDGED)

    assert judgments == {f"{NORTH}/": 1, f"{SOUTH}/": 0}


@pytest.mark.slow
def test_kept_requests_of_a_spider_go_on(web: Site, tmp_path: Path) -> None:
    folder, project = old_crawl.unpacked(tmp_path), tmp_path / "project"
    given = {**environment(folder, http_proxy=web.url), "PYTHONPATH": ""}
    command = [sys.executable, "-m", "scrapy"]
    subprocess.check_output([*command, "startproject", "tutorial", project], env=given)
    shutil.copy(HERE / "foreign/spiders.py", project / "tutorial/spiders/copied.py")
    done = _states(folder)["done"]
    assert 0 < done < old_crawl.QUOTE_PAGES + len(old_crawl.AUTHORS)
    web.asked.clear()

    settings = {
        "ADDONS": '{"webcrawler.addon.WebCrawlerAddon": 500}',
        "FRONTIER_IDENTITY": "canonical",  # it is older than the choice
        "DOWNLOAD_DELAY": 0,
        "FRONTIER_DELAY": 0,
        "ROBOTSTXT_OBEY": "no",
    }
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    spider = ["crawl", "author", "-a", f"site={old_crawl.QUOTES}", "-O", "items.jsonl", *options]
    ran = subprocess.run([*command, *spider], cwd=project, env=given, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stderr
    items = [json.loads(line) for line in (project / "items.jsonl").read_text().splitlines()]
    asked = Counter(web.asked)
    names = Counter(old_crawl.AUTHORS[url] for url in asked if url in old_crawl.AUTHORS)
    assert Counter(item["name"] for item in items) == names  # each came back to its own callback
    assert set(asked.values()) == {1}
    assert len(asked) == old_crawl.QUOTE_PAGES + len(old_crawl.AUTHORS) - done
    states = _states(folder)
    assert states["done"] == states["seen"] == old_crawl.QUOTE_PAGES + len(old_crawl.AUTHORS)


def _states(folder: Path) -> dict[str, Any]:
    with connect(None, folder) as connection:
        return inspect.stats(Frontier(connection.client, ordering("priority"), "author"))
