"""A fortnight in the life of a collection; freshness is measured in the answers of the search.

Each night is one run of `webcrawler crawl index -a refresh=once`, a day later than the one before: the clock
of its processes is set ahead. What is asked on a day stands between the nights.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

import pytest

from webcrawler.archive.catalog import Catalog
from webcrawler.index import wait_until_caught_up
from webcrawler.refresh.collection import DAY_SECONDS, Collection
from webcrawler.refresh.refresher import schedule_of
from webcrawler.search import Searcher
from webcrawler.search.vocabulary import wait_until_made
from webcrawler.settings import SETTINGS

from .conftest import Crawled, Docweb
from .living import BIRTHS, DAYS, KINDS, Page, plan
from .livingproxy import LivingProxy

pytestmark = [
    pytest.mark.docweb,
    pytest.mark.deep("fourteen nights in a row; test_refresh.py and test_catalog_checks.py have each"),
]

SEED = int(os.environ.get("LIVING_SEED", "7"))
REPORTED_ERROR = 0.03
# Hosts by what happens to them: see living.KINDS.
GONE, MISSING, OUTAGE = "flask.palletsprojects.com", "docs.sqlalchemy.org", "www.sqlite.org"
STUCK = "git-scm.com"


@dataclass
class Day:
    """Just before its night: what a search finds, and what the refresher believes."""

    number: int
    found: dict[str, set[str]]  # URLs, by word
    reported: dict[str, float]  # the probability that it is current, by the URL of each document
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)  # of the night: host, status

    def finds(self, page: Page) -> set[str]:
        """Where any of the page's words so far is found."""
        return set().union(*(self.found[word] for word in page.words(self.number)))

    def is_current(self, page: Page) -> bool:
        return page.is_there(self.number) and page.url in self.found[page.words(self.number)[-1]]


class Fortnight:
    """The days of one collection. The first crawl is that of day 0."""

    def __init__(self, docweb: Docweb, folder: Path, proxy: LivingProxy) -> None:
        self._folder, self._proxy, self.pages = folder, proxy, proxy.pages
        self._crawled = Crawled(docweb._replace(proxy=proxy.url), folder, folder / "none")
        self.days: list[Day] = []

    def live(self) -> None:
        for number in range(DAYS + 1):
            self._proxy.day = number
            self.days.append(self._look(number) if number else Day(0, {}, {}))
            if number < DAYS:
                self._crawl(number)

    def of(self, host: str) -> list[Page]:
        return [page for page in self.pages.values() if page.host == host]

    def with_fate(self, fate: str) -> Page:
        return next(page for page in self.pages.values() if page.fate == fate)

    def lost(self, day: int, host: str) -> list[str]:
        """Pages that are there, and no search finds."""
        return [page.url for page in self.of(host) if not self.days[day].finds(page)]

    def _crawl(self, day: int) -> None:
        self._proxy.asked.clear()
        seeds = ",".join(f"http://{host}/" for host in KINDS)
        # Without the ranker all pages weigh the same.
        settings = ("-s", "RANKER_ENABLED=no", "-s", "FRONTIER_TRIES=2", "-s", "FRONTIER_BACKOFF=0.05")
        job = ("-a", f"seeds={seeds}", "-a", f"domains={','.join(KINDS)}", "-a", "refresh=once")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WEBCRAWLER_CLOCK", f"+{day * 86_400}")
            self._crawled.scrapy("crawl", "index", *settings, *job)
        wait_until_caught_up(self._folder)
        wait_until_made(self._folder)
        asked = ((url.split("/")[2], status) for url, status in self._proxy.asked)
        self.days[day].requests = Counter(asked)

    def _look(self, day: int) -> Day:
        searcher = Searcher(self._folder, deadline_seconds=60)
        words = [word for page in self.pages.values() for word in page.words(day)]
        found = {word: {hit.url for hit in searcher.search(word).hits} for word in words}
        with closing(Catalog(self._folder / "catalog.sqlite", readonly=True)) as catalog:
            defaults = {name: setting.default for name, setting in SETTINGS.items()}
            collection = Collection(catalog, self._folder, schedule_of(defaults))
            urls = dict(catalog.urls.all())
        changed = collection.schedule.chances(self._proxy.start / DAY_SECONDS + day)
        known = zip(collection.numbers.tolist(), changed.tolist(), collection.schedule.weights, strict=True)
        return Day(day, found, {urls[number]: 1 - chance for number, chance, weight in known if weight})


@pytest.fixture(scope="module")
def fortnight(docweb: Docweb, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fortnight]:
    with LivingProxy(plan(docweb.folder, SEED)) as proxy:
        fortnight = Fortnight(docweb, tmp_path_factory.mktemp("living"), proxy)
        fortnight.live()
        yield fortnight


def test_first_crawl_finds_all_that_is_there(fortnight: Fortnight) -> None:
    there = {page.url for page in fortnight.pages.values() if page.is_there(0)}

    assert set(fortnight.days[1].reported) == there


def test_freshness_reported_is_that_of_the_answers(fortnight: Fortnight) -> None:
    """From the day on which what vanished has left; before it nobody could know."""
    measured, reported = [], []
    for day in fortnight.days[5:]:
        pages = [page for page in fortnight.pages.values() if page.url in day.reported]
        measured.append(mean(day.is_current(page) for page in pages))
        reported.append(mean(day.reported[page.url] for page in pages))
    print(measured, reported)

    assert abs(mean(reported) - mean(measured)) <= REPORTED_ERROR


@pytest.mark.parametrize(("fate", "day"), [("410", 3), ("404", 4), ("404, still linked", 4), ("302", 4)])
def test_deleted_page_leaves_the_answers(fortnight: Fortnight, fate: str, day: int) -> None:
    page = fortnight.with_fate(fate)

    assert page.url in fortnight.days[2].finds(page)
    assert not fortnight.days[day].finds(page)


@pytest.mark.parametrize("fate", ["404", "404, still linked", "302"])
def test_page_that_is_missing_once_stays(fortnight: Fortnight, fate: str) -> None:
    assert fortnight.days[3].finds(fortnight.with_fate(fate))


def test_page_that_moved_is_found_at_its_new_place_alone(fortnight: Fortnight) -> None:
    page = fortnight.with_fate("301")

    assert fortnight.days[3].finds(page) == {f"http://{page.host}/moved{page.path}"}


def test_soft_404_is_not_found_by_what_the_page_said(fortnight: Fortnight) -> None:
    """It stays, as a page that changed: this server says 404 of a path that cannot exist: nothing tells."""
    assert not fortnight.days[3].finds(fortnight.with_fate("soft 404"))


@pytest.mark.parametrize("fate", BIRTHS)
def test_new_page_is_found_the_night_after(fortnight: Fortnight, fate: str) -> None:
    assert fortnight.days[3].is_current(fortnight.with_fate(fate))


def test_host_that_vanishes_is_kept_for_a_day_and_leaves(fortnight: Fortnight) -> None:
    assert fortnight.lost(4, GONE) == []
    assert not any(fortnight.days[5].finds(page) for page in fortnight.of(GONE))


@pytest.mark.parametrize(("host", "day"), [(MISSING, 4), (MISSING, 5), (OUTAGE, 5), (OUTAGE, 6)])
def test_night_of_errors_loses_no_page(fortnight: Fortnight, host: str, day: int) -> None:
    assert fortnight.lost(day, host) == []


def test_host_that_answers_304_for_ever_is_found_out(fortnight: Fortnight) -> None:
    first, last = fortnight.days[1].requests, fortnight.days[DAYS - 1].requests

    assert first[STUCK, 304] > first[STUCK, 200]
    assert last[STUCK, 200] > last[STUCK, 304]
    assert mean(map(fortnight.days[DAYS].is_current, fortnight.of(STUCK))) > 0.5
