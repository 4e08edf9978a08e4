"""A frontier that Redis has lost is filled again from the catalog, as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import redis
from conftest import MakeFrontier, examples
from frontiers import lease_one, let_pass
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webcrawler import clock
from webcrawler.archive import rebuild
from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput
from webcrawler.frontier import Budgets, Done, Failed, Frontier, Report, inspect
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.urls import url_id

TRIES = 3
UNFOLLOWED = 20  # pages; links to others ask not to be followed
# Modes whose priorities come from the links alone; those that learn are taught anew instead.
MODES = [
    *("fifo", "breadth", "random", "location", "backlink", "pagerank", "blend", "blend-in-turn"),
    *("anchor?query=quokka", "ic?query=quokka", "hot?query=quokka"),
    "hot?query=quokka&then=backlink",
    "hot?query=quokka&then=random",
    "hot-anchor?query=quokka&then=pagerank",
    "best-first?query=quokka",
    "shark?query=quokka",
]
REASONS = ["document"] * 6 + ["redirect", "not-found", "server-error", "noindex", "duplicate", "poison"]


class Page(NamedTuple):
    reason: str
    links: tuple[tuple[int, str], ...]  # page, anchor text; from UNFOLLOWED on with nofollow
    title: str


def url_of(page: int) -> str:
    return f"http://{'abc'[page % 3]}.test/{'x/' * (page % 4)}{page}"


def link(page: int, anchor: str = "") -> Link:
    url = url_of(page)
    return Link(url, url_id(url), url, anchor, rel="nofollow" if page >= UNFOLLOWED else "")


words = st.sampled_from(["", "quokka", "the quokka", "wombat"])
web_pages = st.builds(
    Page,
    st.sampled_from(REASONS),
    st.dictionaries(st.integers(0, UNFOLLOWED + 3), words, max_size=6).map(dict.items).map(tuple),
    words,
)
webs = st.lists(web_pages, min_size=UNFOLLOWED, max_size=UNFOLLOWED)


def fetched(lease: Lease, page: Page, at: float) -> Entry:
    """What a worker brings of a page; all pages of the reason "duplicate" have the same bytes."""
    others = [link(*one) for one in page.links if url_of(one[0]) != lease.url]
    targets = [one for one in others if not one.rel]
    reason = "not-found" if page.reason == "redirect" and not targets else page.reason
    is_document = reason in ("document", "noindex", "duplicate")
    state = {"redirect": "done", "poison": "quarantined"}.get(reason, "done" if is_document else "failed")
    body = b"same" if reason == "duplicate" else lease.url.encode()
    told = "document" if is_document else "" if reason == "poison" else reason
    target = targets[0] if reason == "redirect" else None
    retry = reason in ("server-error", "poison")
    fetch = Fetch(lease, state, told, at, 0.1, 200, (), body, retry, target)
    is_indexed = is_document and reason != "noindex"
    text = Text(page.title, "", "", "", f"a page of {lease.url}") if is_indexed else None
    links = tuple(others) if is_document else ()
    return Entry(fetch, body if is_document else b"", "", links, text, reason == "noindex")


def decide(frontier: Frontier, catalog: Catalog, entry: Entry) -> None:
    """As the batch does it: catalog, then frontier."""
    verdict = catalog.write([(entry, None)])
    fetch, lease = entry.fetch, entry.fetch.lease
    frontier.fetched([Report(lease, 0.1)])
    if fetch.state != "done":
        outcome = fetch.state if fetch.state == "quarantined" else f"failed/{fetch.reason}"
        frontier.fail([Failed(lease, outcome, fetch.retry)])
        return
    is_duplicate, is_document = lease.id in verdict.duplicates, fetch.reason == "document"
    reason = fetch.reason
    if is_document:
        reason = "duplicate" if is_duplicate else "noindex" if entry.noindex else reason
    targets = (fetch.target._replace(rel="redirect"),) if fetch.target else ()
    followed = [one for one in (*entry.links, *targets) if one.rel != "nofollow"]
    note = frontier.ordering.page_note(entry.text, lease)
    frontier.complete([Done(lease, reason, is_document, followed, {}, is_duplicate, note)])


def crawl(frontier: Frontier, catalog: Catalog, web: list[Page], steps: int) -> None:
    """So many fetches, one at a time; what is to be tried again is not waited for."""
    frontier.discover([link(0)], within_budgets=False)
    for step in range(steps):
        found = frontier.lease(1).leases
        if not found:
            return
        page = next(n for n in range(UNFOLLOWED) if url_of(n) == found[0].url)
        decide(frontier, catalog, fetched(found[0], web[page], 1e9 + step))


def contents(frontier: Frontier) -> dict[str, Any]:
    """All that must be the same: states, and what waits in its order, with its priority and notes."""
    client, found = frontier.client, dict[str, Any]()
    for partition in frontier.partitions:
        for key in client.scan_iter(match=partition.prefix.replace("{", "\\{") + "queue:*"):
            scores = client.zrange(key, 0, -1, withscores=True)
            found[key.decode()] = [(path, -(int(score) // 2**32)) for path, score in scores]
        for name in ("note", "repeats", "taken", "domains", "others"):
            found[partition.prefix + name] = client.hgetall(partition.prefix + name)
        tries = client.hgetall(partition.prefix + "tries").items()
        found[partition.prefix + "tries"] = {url: int(value.split()[0]) for url, value in tries}
        found[partition.prefix + "retry"] = set(client.zrange(partition.prefix + "retry", 0, -1))
        found[partition.prefix + "bad"] = set(client.hkeys(partition.prefix + "quarantined"))
    found["stats"] = inspect.stats(frontier) | {"refused": {}}
    return found


def lose(frontier: Frontier) -> None:
    """Redis has nothing any more."""
    frontier.client.flushdb()
    frontier.intake.forget()


def refill(frontier: Frontier, mode: str, catalog: Catalog, **options: Any) -> int:
    options = {"admits": lambda link: not link.refused, "tries": TRIES, **options}
    return rebuild(frontier, mode, catalog, **options).added


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(web=webs, steps=st.integers(0, 25), partitions=st.sampled_from([1, 4]))
def test_the_frontier_is_what_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    client: redis.Redis,
    make_frontier: MakeFrontier,
    mode: str,
    web: list[Page],
    steps: int,
    partitions: int,
) -> None:
    client.flushdb()
    frontier = make_frontier(mode, partitions=partitions, budgets=Budgets(repeats=2))
    with closing(Catalog(tmp_path_factory.mktemp("crawl") / "catalog.sqlite")) as catalog:
        crawl(frontier, catalog, web, max(1, steps))
        before = contents(frontier)

        lose(frontier)
        refill(frontier, mode, catalog)

        assert contents(frontier) == before
        refill(frontier, mode, catalog)
        assert contents(frontier) == before


BROKEN = Page("server-error", (), "")
A_WEB = [Page("document", ((n + 1, ""), (n + 2, "quokka")), "") for n in range(UNFOLLOWED)]


def test_a_mode_that_learns_is_taught_by_the_pages_fetched(
    make_frontier: MakeFrontier, catalog: Catalog
) -> None:
    frontier = make_frontier("adaptive?query=quokka")
    crawl(frontier, catalog, A_WEB, 5)
    before = inspect.stats(frontier)

    lose(frontier)
    refill(make_frontier("adaptive?query=quokka"), "adaptive?query=quokka", catalog)

    assert inspect.stats(frontier) == before


def test_an_older_state_of_redis_is_brought_up_to_date(make_frontier: MakeFrontier, catalog: Catalog) -> None:
    """As after a power cut, or where a backup was put back: what was fetched since is not fetched again."""
    frontier = make_frontier("fifo")
    crawl(frontier, catalog, A_WEB, 8)
    newest = contents(frontier)
    lose(frontier)
    frontier.open("fifo")
    frontier.discover([link(0)])

    refill(frontier, "fifo", catalog)

    assert contents(frontier) == newest


def test_only_what_the_crawl_would_follow_waits(frontier: Frontier, catalog: Catalog) -> None:
    crawl(frontier, catalog, A_WEB, 3)
    lose(frontier)

    refill(frontier, "fifo", catalog, admits=lambda link: "b.test" not in link.url)

    assert inspect.peek(frontier, 9) == [url_of(3)]
    assert inspect.stats(frontier)["done"] == 3  # one of them of that server


def test_what_only_a_search_of_the_web_brought_is_neither_known_nor_followed(
    frontier: Frontier, catalog: Catalog, tmp_path: Path
) -> None:
    crawl(frontier, catalog, A_WEB, 2)
    before = contents(frontier)
    lease = Lease(url_id(url_of(9)), url_of(9), url_of(9), "http://a.test", 1)
    with closing(Catalog(tmp_path / "catalog.sqlite", job="a-search")) as searching:
        searching.write([(fetched(lease, A_WEB[9], 2e9), None)])
    lose(frontier)

    refill(frontier, "fifo", catalog)

    assert contents(frontier) == before


def test_a_document_whose_check_failed_is_what_it_was(frontier: Frontier, catalog: Catalog) -> None:
    crawl(frontier, catalog, A_WEB, 2)
    before = contents(frontier)
    lease = Lease(url_id(url_of(0)), url_of(0), url_of(0), "", 2**62)
    catalog.write([(fetched(lease, BROKEN, 2e9), None)])
    lose(frontier)

    refill(frontier, "fifo", catalog)

    assert contents(frontier) == before


def test_a_blocked_server_stays_blocked(frontier: Frontier, catalog: Catalog) -> None:
    crawl(frontier, catalog, A_WEB, 3)
    catalog.block("http://b.test")
    lose(frontier)

    refill(frontier, "fifo", catalog)

    stats = inspect.stats(frontier)
    assert (stats["reasons"]["blocked"], stats["queued"]) == (1, 1)
    assert inspect.explain(frontier, "http://b.test/new")["server"]["blocked"] == 1


def test_what_is_to_be_tried_again_waits_for_its_time(make_frontier: MakeFrontier, catalog: Catalog) -> None:
    frontier = make_frontier(backoff=3600.0)
    frontier.discover([link(0)])
    decide(frontier, catalog, fetched(lease_one(frontier), BROKEN, clock.now()))
    lose(frontier)

    refill(frontier, "fifo", catalog)

    assert frontier.lease(1).leases == []
    let_pass(frontier, 3600)
    assert [lease.tries for lease in frontier.lease(1).leases] == [1]


def test_a_page_is_as_untried_as_the_crawl_is_patient(frontier: Frontier, catalog: Catalog) -> None:
    """The number of tries is a setting; it may be another one by now."""
    frontier.discover([link(0)])
    decide(frontier, catalog, fetched(lease_one(frontier), BROKEN, 1e9))
    lose(frontier)

    refill(frontier, "fifo", catalog, tries=1)

    assert inspect.stats(frontier)["reasons"] == {"server-error": 1}


def test_what_is_fetched_after_a_clock_that_was_ahead_counts_as_newer(
    make_frontier: MakeFrontier, catalog: Catalog
) -> None:
    """The catalog takes no fetch with an older token than it has."""
    frontier = make_frontier("fifo", backoff=0.0)
    frontier.discover([link(0), link(1)])
    ahead, other = frontier.lease(2).leases
    ahead = ahead._replace(token=ahead.token + 24 * 3600 * 1_000_000)
    catalog.write(
        [(fetched(ahead, BROKEN, clock.now()), None), (fetched(other, A_WEB[1], clock.now()), None)]
    )
    lose(frontier)

    refill(frontier, "fifo", catalog)

    assert lease_one(frontier).token > ahead.token


def test_nobody_crawls_what_is_not_whole(
    make_frontier: MakeFrontier, frontier: Frontier, catalog: Catalog
) -> None:
    crawl(frontier, catalog, A_WEB, 3)
    lose(frontier)

    def die(link: Link) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refill(frontier, "fifo", catalog, admits=die)
    with pytest.raises(BadInput, match="frontier rebuild"):
        make_frontier("fifo")
    refill(frontier, "fifo", catalog)
    assert inspect.stats(make_frontier("fifo"))["done"] == 3


def test_what_waits_is_not_lost_by_a_rebuild_that_is_killed(
    frontier: Frontier, catalog: Catalog, make_frontier: MakeFrontier
) -> None:
    crawl(frontier, catalog, A_WEB, 3)
    known = {lease.url for lease in frontier.lease(100).leases}
    frontier.leave()
    url = "http://c.test/waits"
    waits = Link(url, url_id(url), "http://c.test/%77aits", request='{"kind": "sitemap"}')
    frontier.discover([waits], within_budgets=False)

    def die(link: Link) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refill(frontier, "fifo", catalog, admits=die, others=())
    refill(frontier, "fifo", catalog, others=())

    found = {lease.url: lease for lease in make_frontier("fifo").lease(100).leases}
    assert found.keys() == known | {url}
    assert (found[url].spelling, found[url].request) == (waits.spelling, waits.request)


def test_while_a_crawl_is_alive_nothing_is_rebuilt(frontier: Frontier, catalog: Catalog) -> None:
    frontier.expire(alive_seconds=60)

    with pytest.raises(BadInput, match="stop it first"):
        refill(frontier, "fifo", catalog)
