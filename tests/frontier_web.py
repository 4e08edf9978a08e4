"""A small web for the frontier and its model: what pages and servers may do, and how often.

Times are in units of a million seconds, far more than a test takes: no real second decides anything.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from webcrawler.frontier import Budgets, Done, Politeness
from webcrawler.frontier.leases import UNLIMITED
from webcrawler.records import Lease, Link
from webcrawler.urls import url_id

T = 1e6  # seconds
SERVERS = ("http://a.x.test", "http://b.x.test", "http://c.x.test:8080", "https://y.test", "http://z.test")
NUMBERS = range(40)


def _link(n: int) -> Link:
    url = f"{SERVERS[n % 5]}/{'pq'[n // 5 % 2]}/{n}"
    request = "" if n % 3 else f'{{"priority":{n % 4 - 1}}}'
    return Link(url, url_id(url), url if n % 7 else url + "?utm_source=x", request=request)


LINKS = [_link(n) for n in NUMBERS]
NUMBER_OF = {link.url: n for n, link in enumerate(LINKS)}
ANCHORS = ("", "gene", "gene cell", "cell")
HOT = 3  # what `hot` notes of a hot page
PLAIN = ("breadth", "breadth", "fifo", "random", "priority", "pagerank", "blend?seed=2")
RAISING = (
    "backlink",
    "anchor?query=gene",
    "ic?query=gene",
    "frontier_orderings.Far",
    "frontier_orderings.FarInTurn",
    "frontier_orderings.FarInClasses",
    "frontier_orderings.BestInClasses",
)
NOTING = (
    "hot?query=gene&then=backlink",
    "hot?query=gene&then=pagerank",
    "hot?query=cell&then=anchor%3Fquery%3Dgene",
    "hot-anchor?query=cell",
    "frontier_orderings.Noted",
)

number = st.sampled_from(NUMBERS)
some = st.lists(number, max_size=6)  # numbers of links
of_page = st.lists(number, min_size=1, max_size=12, unique=True)
server = st.sampled_from(SERVERS)
mode = st.sampled_from(PLAIN) | st.sampled_from(RAISING) | st.sampled_from(NOTING)
worker = st.sampled_from(["ann", "bob"])
doubtful = st.sampled_from([UNLIMITED, UNLIMITED, 0, 1])


def small(*numbers: int) -> st.SearchStrategy[int]:
    """A limit that is mostly off."""
    return st.sampled_from([0, 0, 0, *numbers])


budgets = st.just(Budgets(repeats=1)) | st.builds(
    Budgets,
    server=small(2, 4),
    domain=small(3, 6),
    domain_servers=small(1, 2),
    prefix=small(1, 3, 3),
    share=small(1, 2),
    share_of=st.sampled_from([2, 3]),
    queued=small(3, 8),
    repeats=small(1, 2, 2),
)
politenesses = st.builds(
    Politeness,
    delay=st.sampled_from([0.0, T]),
    crawl_delay_max=st.just(4 * T),
    slowness=st.just(10.0),
    slowness_max=st.just(3 * T),
    slow=st.just(0.15 * T),
    server_concurrency=st.sampled_from([1, 2]),
    tries=st.sampled_from([1, 3, 3]),
    deaths=st.sampled_from([0, 1, 2]),
    backoff=st.just(2 * T),
    backoff_max=st.just(6 * T),
    lease=st.just(4 * T),
)
reports: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    seconds=st.sampled_from([0.0, 0.1 * T, 0.2 * T, T]),
    slow_down=st.sampled_from([False, False, True]),
    retry_after=st.sampled_from([0.0, 0.0, 5 * T]),
    downloaded=st.sampled_from([True, True, True, False]),
)
ENDS = (
    "document",
    "document",
    "repeats",
    "repeats",
    "twice",
    "twice",
    "redirect",
    "again",
    "excused",
    "never",
    "poison",
    "open",
    "silent",
)


def page(lease: Lease, end: str, found: list[int]) -> Done:
    """What a page comes to, with links of its own anchors; some pages are hot, or nearly."""
    reason = "redirect" if end == "redirect" else "document"
    refused = {"scheme": 1} if len(found) > 4 else {}
    links = [LINKS[n]._replace(anchor=ANCHORS[(lease.id + n) % len(ANCHORS)]) for n in found]
    note = len(found) % (HOT + 1) or lease.note
    return Done(lease, reason, reason == "document", links, refused, end == "repeats", note)
