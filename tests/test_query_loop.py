"""WC's loop: what the index says by now reaches the ordering; the links of the best lead on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import redis
from crawled import link
from frontiers import lease_one

from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import Frontier, Ordering, Politeness, Seen
from webcrawler.index import follower
from webcrawler.realtime.loop import QueryLoop
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.search import Searcher
from webcrawler.urls import server, url_id

HUB, NOTES, BETTER = (f"http://{name}.test/" for name in ("hub", "notes", "better"))
X, Y = (f"http://{name}.test/" for name in "xy")


class Told(Ordering):
    """Remembers what it was told."""

    learns = True

    def __init__(self) -> None:
        self.seen: list[Seen] = []

    def learn(self, seen: Sequence[Seen]) -> None:
        self.seen += seen

    def take(self) -> dict[str, float | None]:
        """Relevances by URL."""
        relevances = {one.url: one.relevance for one in self.seen}
        assert len(relevances) == len(self.seen), "each once a step"
        self.seen = []
        return relevances


class Web:
    """A catalog and its index, written by hand."""

    def __init__(self, folder: Path, client: redis.Redis) -> None:
        self.folder, self.ordering, self._seconds = folder, Told(), 0.0
        polite = Politeness(delay=0.0, server_concurrency=10_000)
        self.frontier = Frontier(client, self.ordering, "realtime:1", polite, "ann")
        self.frontier.open("told")
        self.admits: Callable[[Link], bool] = lambda link: True

    def write(self, url: str, body: str, *links: Link) -> None:
        self._seconds += 1.0
        lease = Lease(url_id(url), url, url, server(url), int(self._seconds))
        html = (("Content-Type", "text/html"),)
        fetch = Fetch(lease, "done", "document", self._seconds, 0.1, 200, html, f"{url} {body}".encode())
        catalog = Catalog(self.folder / "catalog.sqlite")
        text = Text("", "", "", "", body)
        catalog.write([(Entry(fetch, f"{url} {body}".encode(), links=links, text=text), None)])
        catalog.close()
        follower.wait_until_caught_up(self.folder)

    def loop(self) -> QueryLoop:
        path, searcher = self.folder / "catalog.sqlite", Searcher(self.folder)
        return QueryLoop(path, searcher, self.frontier, lambda link: self.admits(link))


@pytest.fixture
def web(tmp_path: Path, client: redis.Redis) -> Web:
    return Web(tmp_path, client)


def test_the_ordering_is_told_how_relevant_a_page_is_by_now(web: Web) -> None:
    loop = web.loop()
    web.write(HUB, "a quokka among many other words of no interest at all")
    loop.step("quokka")
    assert web.ordering.take() == {HUB: 1.0}

    web.write(BETTER, "quokka quokka")
    loop.step("quokka")
    now = web.ordering.take()
    assert now[BETTER] == 1.0
    assert 0.0 < (now[HUB] or 0.0) < 1.0

    web.write(HUB, "gone")
    loop.step("quokka")
    assert web.ordering.take() == {HUB: 0.0}

    loop.step("quokka")
    assert web.ordering.take() == {}


def test_a_hit_that_is_told_again_keeps_its_text_and_the_links_that_lead_on(web: Web) -> None:
    loop = web.loop()
    web.write(HUB, "a quokka among many other words", link(X, "x"), link(BETTER, "better"))
    loop.step("quokka")
    web.ordering.take()

    web.write(BETTER, "quokka quokka")
    loop.step("quokka")

    (again,) = (one for one in web.ordering.seen if one.url == HUB)
    assert again.text is not None
    assert [one.url for one in again.links] == [X]


@pytest.mark.parametrize(
    ("url", "body", "is_hit"), [(HUB, "the quokka", True), (NOTES, "of no interest", False)]
)
def test_a_hit_known_by_its_anchor_alone_takes_no_link_away_from_the_page_that_names_it(
    web: Web, url: str, body: str, is_hit: bool
) -> None:
    web.write(url, body, link(X, "quokka news"), link(Y, "the weather"))

    web.loop().step("quokka")

    (told,) = web.ordering.seen
    assert (told.url, told.relevance is not None) == (url, is_hit)
    assert [one.url for one in told.links] == [X, Y]
    assert {lease_one(web.frontier).url, lease_one(web.frontier).url} == {X, Y}


def test_links_out_of_bounds_are_not_told(web: Web) -> None:
    web.admits = lambda link: link.url != Y
    web.write(HUB, "the quokka", link(X), link(Y))

    web.loop().step("quokka")

    assert [[one.url for one in seen.links] for seen in web.ordering.seen] == [[X]]
