"""Orderings that look at who links to a URL, and with what words: each against a reference of its own."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import redis
from conftest import MakeFrontier, examples
from frontiers import done, fail, lease_one, let_pass, links, visit, visit_all
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.frontier import Done, Frontier, Known, Ordering, Politeness, Source, ordering
from webcrawler.job import sitemap_link
from webcrawler.orderings import MODES, UNKNOWN, guarded, location
from webcrawler.orderings.base import BAND, draw
from webcrawler.orderings.links import PER_NAT, draws, of_rank, rank_of
from webcrawler.records import Lease, Link, Text
from webcrawler.urls import url_id

A = "http://a.test/"
URLS = [f"http://s{n % 4}.test/{n}" for n in range(12)]
WORDS = ["", "gene", "the gene and the cell", "cell"]

Web = dict[str, tuple[bool, list[tuple[str, str]]]]  # URL -> is it hot; (URL, anchor) of its links
pages = st.tuples(
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(URLS), st.sampled_from(WORDS)), max_size=5, unique_by=lambda p: p[0]),
)
webs = st.fixed_dictionaries(dict.fromkeys(URLS, pages))
of_small_webs = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))


def anchored(url: str, anchor: str) -> Link:
    return links(url)[0]._replace(anchor=anchor)


def crawl(client: redis.Redis, mode: str, web: Web) -> list[str]:
    """One request at a time from URLS[0], to the end."""
    client.flushdb()
    frontier = Frontier(client, ordering(mode), politeness=Politeness(delay=0.0))
    frontier.open(mode)
    frontier.discover(links(URLS[0]))
    order, found = [], frontier.lease(1)
    while found.leases:
        (lease,) = found.leases
        order.append(lease.url)
        is_hot, outlinks = web[lease.url]
        text = Text("gene" if is_hot else "", "", "", "", "")
        note = frontier.ordering.page_note(text, lease)
        followed = [anchored(*link) for link in outlinks if link[0] != lease.url]
        answers, found = frontier.complete_and_lease([Done(lease, "document", True, followed, note=note)], 1)
        assert answers != [-1]
    return order


# ---- backlink: Cho 1998, Figures 1 and 2


def highest_first(web: Web, score: Callable[[Sequence[str]], float]) -> list[str]:
    """With the anchors of all links to a URL that were seen in the hands of `score`."""
    queue, order, anchors = [URLS[0]], [], {url: list[str]() for url in URLS}
    while queue:
        url = max(queue, key=lambda u: (score(anchors[u]), -queue.index(u)))
        queue.remove(url)
        order.append(url)
        for target, anchor in web[url][1]:
            if target != url:
                anchors[target].append(anchor)
                if target not in queue and target not in order:
                    queue.append(target)
    return order


@given(webs)
@of_small_webs
def test_backlink_visits_what_most_pages_link_to(client: redis.Redis, web: Web) -> None:
    assert crawl(client, "backlink", web) == highest_first(web, len)


def test_backlink_counts_for_a_url_that_waits_for_another_try(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("backlink", backoff=1.0)
    frontier.discover(links(A))
    visit(frontier, A + "1", A + "2", A + "3")
    fail(frontier, lease_one(frontier))  # the oldest of three
    visit(frontier, A + "1", A + "3")
    let_pass(frontier, 2)

    assert visit_all(frontier) == [A + "1", A + "3"]


def test_a_seed_has_no_backlink(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("backlink")
    frontier.discover(links(A, A + "seed"))
    visit(frontier, A + "1")

    assert visit_all(frontier) == [A + "1", A + "seed"]


# ---- anchor, ic


@given(webs)
@of_small_webs
def test_anchor_visits_what_the_best_anchor_recommends(client: redis.Redis, web: Web) -> None:
    cosine = {"": 0.0, "cell": 0.0, "gene": 1.0, "the gene and the cell": 1 / math.sqrt(7)}

    expected = highest_first(web, lambda anchors: max((cosine[a] for a in anchors), default=0.0))

    assert crawl(client, "anchor?query=gene", web) == expected


@given(webs)
@of_small_webs
def test_ic_adds_query_words_in_anchors_and_backlinks(client: redis.Redis, web: Web) -> None:
    def importance(anchors: Sequence[str]) -> int:
        return 3 * sum(anchor.split().count("gene") for anchor in anchors) + 2 * len(anchors)

    assert crawl(client, "ic?query=gene&k1=3&k2=2", web) == highest_first(web, importance)


# ---- hot: Cho 1998, Figures 4 and 5


def two_queues(web: Web, with_distance: bool, by_backlinks: bool) -> list[str]:
    """As printed, but that the loop goes on while either queue has URLs."""
    hot_queue, url_queue, order = list[str](), [URLS[0]], list[str]()
    hot, crawled_links = set[str](), list[tuple[str, str]]()

    def is_linked_from(url: str, sources: set[str]) -> bool:
        return any(v in sources and w == url for v, w in crawled_links)

    def distance_is_small(url: str) -> bool:
        beside = {w for v, w in crawled_links if v in hot}
        return url in hot or url in beside or is_linked_from(url, beside & set(order))

    while hot_queue or url_queue:
        queue = hot_queue or url_queue
        backlinks = Counter(target for _, target in crawled_links)
        url = max(queue, key=lambda u: (backlinks[u] if by_backlinks else 0, -queue.index(u)))
        queue.remove(url)
        order.append(url)
        if web[url][0] and with_distance:
            hot.add(url)
        outlinks = [link for link in web[url][1] if link[0] != url]
        crawled_links += [(url, target) for target, _ in outlinks]
        for target, anchor in outlinks:
            if target not in (*hot_queue, *url_queue, *order):
                is_hot = "gene" in anchor or distance_is_small(target)
                (hot_queue if is_hot else url_queue).append(target)
    return order


@pytest.mark.parametrize(("mode", "with_distance"), [("hot-anchor", False), ("hot", True)])
@given(web=webs, then=st.sampled_from(["fifo", "backlink"]))
@of_small_webs
def test_hot_visits_as_figures_4_and_5(
    client: redis.Redis, mode: str, with_distance: bool, web: Web, then: str
) -> None:
    order = crawl(client, f"{mode}?query=gene&then={then}", web)

    assert order == two_queues(web, with_distance, then == "backlink")


def test_location_orders_the_queues_of_hot() -> None:
    hot = ordering("hot-anchor?query=gene&then=location")
    order = [A + "gene", A + "x/gene", A + "home", A, A + "x", A + "x/y"]

    priorities = [hot.first_priority(link) for link in links(*order)]

    assert priorities == sorted(priorities, reverse=True)
    assert [priority >= BAND for priority in priorities] == [True, True, False, False, False, False]


def test_what_orders_the_queues_of_hot_looks_for_the_same_words() -> None:
    hot = ordering("hot?query=gene&then=anchor")

    assert hot.first_priority(anchored(A, "gene")) > hot.first_priority(anchored(A, "gene and cell")) > BAND


@pytest.mark.parametrize(
    "mode", ["this.x", "hot?query=gene&then=this.x", "hot?query=gene&then=hot%3Fquery%3Da%26then%3Dthis.x"]
)
def test_a_mode_from_data_names_no_module(mode: str) -> None:
    """Naming one imports it, which runs it."""
    with pytest.raises(BadInput, match=r"unknown mode 'this\.x'"):
        ordering(mode, by_path=False)

    assert "this" not in sys.modules
    assert ordering("blend?seed=2", by_path=False)


def test_random_orders_the_queues_of_hot(client: redis.Redis) -> None:
    found = [(url, "gene" if n % 2 else "") for n, url in enumerate(URLS)]
    web: Web = {url: (False, found if url == URLS[0] else []) for url in URLS}

    order = crawl(client, "hot-anchor?query=gene&then=random", web)

    assert set(order[1:7]) == set(URLS[1::2]) and order[1:7] != URLS[1::2]
    assert set(order[7:]) == set(URLS[2::2]) and order[7:] != URLS[2::2]


@pytest.mark.parametrize(
    ("title", "body", "is_hot"),
    [
        ("The Gene", "", True),
        ("Genes", "", False),
        ("", "gene " * 10, True),
        ("", "gene " * 9, False),
        ("", "gene " * 5 + "cell " * 5, False),
        ("a cell", "", True),
    ],
)
def test_a_hot_page_has_a_query_word_in_its_title_or_ten_in_its_body(
    title: str, body: str, is_hot: bool
) -> None:
    note = ordering("hot?query=gene+cell").page_note(Text(title, "", "", "", body), Lease(1, A, A, A[:-1], 1))

    assert note == (3 if is_hot else 0)


def test_the_class_of_a_url_stays_when_it_is_rescored(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("hot-anchor?query=gene&then=pagerank")
    frontier.discover(links(A))
    found = [anchored(f"{A}{n}", "gene" if n % 2 else "") for n in (1, 2, 3, 4)]
    frontier.complete([Done(lease_one(frontier), "document", True, found)])

    frontier.rescore(found, [1, 2, 3, 4])

    assert visit_all(frontier) == [A + "3", A + "1", A + "4", A + "2"]


# ---- location


@pytest.mark.parametrize(
    ("url", "score"),
    [
        ("http://a.test/", -1),
        ("http://a.test/b/c", -2),
        ("http://a.test/b/c/", -3),
        ("http://a.test/b?c=/d/e", -1),
        ("http://www.a.com/", 1),
        ("http://www.a.com:8080/", 1),
        ("http://a.test/home/", 0),
        ("http://home.a.com/home", 3),
    ],
)
def test_location_counts_slashes_wanted_words_and_endings(url: str, score: int) -> None:
    assert location(url, ["home"], [".com"]) == score
    assert ordering("location").first_priority(links(url)[0]) == BAND // 2 + score


# ---- pagerank, blend: what the ranker does is told in test_ranker.py


@given(st.floats(0.1, 1e5))
def test_a_priority_is_the_logarithm_of_a_rank(rank: float) -> None:
    assert rank_of(of_rank(rank)) == pytest.approx(rank, rel=1 / PER_NAT)


def test_a_new_url_enters_with_its_share_of_the_page_that_named_it() -> None:
    page = Source(priority=of_rank(5.0), links=3)

    priority = ordering("pagerank").first_priority(links(A)[0], page)

    assert rank_of(priority) == pytest.approx(0.1 + 0.9 * 5.0 / 3, rel=1e-4)


def test_pagerank_visits_the_links_of_pages_with_few_links_first(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("pagerank")
    frontier.discover(links(A))
    visit(frontier, A + "1", A + "2")
    visit(frontier, A + "11", A + "12", A + "13")
    visit(frontier, A + "21")

    assert visit_all(frontier) == [A + "21", A + "11", A + "12", A + "13"]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20), st.integers(0, 2**70))
def test_what_is_drawn_for_one_url_is_what_is_drawn_for_many(ids: list[int], seed: int) -> None:
    drawn = draws(np.array(ids, np.int64), seed)

    assert drawn.tolist() == [draw(id, seed) for id in ids]
    assert all(0 < chance < 1 for chance in drawn)


def test_chance_is_uniform_and_differs_by_seed() -> None:
    ids = np.array([url_id(f"{A}{n}") for n in range(10_000)], np.int64)
    one, other = draws(ids, 1), draws(ids, 2)

    assert abs(one.mean() - 0.5) < 0.02 and abs(np.corrcoef(one, other)[0, 1]) < 0.05
    assert np.abs(np.histogram(one, 10, (0, 1))[0] - 1_000).max() < 150


@pytest.mark.parametrize("mode", ["pagerank", "blend", "hot?query=gene&then=blend"])
def test_priorities_of_ranks_stay_within_their_class(mode: str) -> None:
    some, backlinks = np.array([1, 2, 3, -(2**63)]), np.array([0, 10, 10**9, 0])
    known = Known(some, np.array([0.1, 1.0, 1e12, 0.1]), backlinks, np.array([1.0, 1e-4, 1e6, 1e-9]))

    priorities = ordering(mode).priorities(known)

    assert priorities.dtype == np.int64
    assert priorities.min() >= 0 and priorities.max() < BAND


# ---- arguments of a mode


class SaysNothing(Ordering):
    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return None  # type: ignore[return-value]


class SaysTooMuch(Ordering):
    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return -3_000_000


class Breaks(Ordering):
    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return source.nosuch if source else 0  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("fifo?seed=1", "knows no seed: it takes no arguments"),
        ("random?seed=x", "seed=x is not a whole number"),
        ("random?seed=" + "1" * 5_000, "is not a whole number of a few digits"),
        ("random?speed=2", "knows no speed: it takes seed"),
        ("hot", "needs a query"),
        ("hot?query=+", "needs a query"),
        ("hot?query=gene&then=nonsense", "unknown mode 'nonsense'"),
        ("hot?query=gene&then=breadth", "cannot order the two queues"),
        ("hot?query=gene&then=hot%3Fquery=cell", "cannot order the two queues"),
        ("hot?query=gene&then=hot-anchor%3Fquery=cell", "cannot order the two queues"),
        ("ic?query=gene&k1=-1", "k1=-1 is not a whole number up to"),
        ("ic?query=gene&k2=" + "1" * 5_000, "is not a whole number up to"),
        ("webcrawler.frontier.Frontier", "that is not an Ordering"),
        ("no_such_module.Own", "No module named 'no_such_module'"),
        ("test_orderings_links.NoSuchClass", "has no attribute 'NoSuchClass'"),
        ("test_orderings_links.SaysNothing", "first_priority gave None, no whole number"),
        ("test_orderings_links.SaysTooMuch", "first_priority gave -3000000, no whole number"),
        ("test_orderings_links.Breaks", "'Source' object has no attribute 'nosuch'"),
    ],
)
def test_wrong_arguments_are_bad_input_that_says_what_is_right(mode: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        ordering(mode)

    assert says in str(refused.value) and "\n" not in str(refused.value)


# ---- blend


def blended(seed: int, url: str, rank: float, backlinks: int, yields: float) -> int:
    """By the formula of docs/explanation/orderings.md."""
    chance = -math.log(draw(url_id(url), seed))
    score = max(math.log(rank) + math.log(backlinks + 1), chance - 3.5) + 0.1 * math.log(yields)
    return round((score + 4) * 2**14)


@given(st.integers(0, 50), st.floats(0.1, 1e4), st.integers(0, 10**5), st.floats(1e-3, 1e3))
def test_blend_takes_the_better_of_importance_and_chance(
    seed: int, rank: float, backlinks: int, yields: float
) -> None:
    ids = np.array([url_id(A)])
    known = Known(ids, np.array([rank]), np.array([backlinks]), np.array([yields]))

    (priority,) = ordering(f"blend?seed={seed}").priorities(known)

    assert abs(priority - blended(seed, A, rank, backlinks, yields)) <= 1


@given(st.integers(0, 50), st.floats(0.1, 1e4), st.integers(1, 100))
def test_a_new_url_of_blend_enters_with_a_share_of_the_rank_that_its_page_was_chosen_for(
    seed: int, rank: float, links_of_it: int
) -> None:
    page = Source(blended(seed, A, rank, 1, 1.0), 0, links_of_it, url_id(A))
    by_chance = -math.log(draw(url_id(A), seed)) - 3.5 >= math.log(rank) + math.log(2) - 1e-3

    priority = ordering(f"blend?seed={seed}").first_priority(links(A + "1")[0], page)

    share = 0.1 + 0.9 * (0.2 if by_chance else rank) / links_of_it
    assert abs(priority - blended(seed, A + "1", share, 1, 1.0)) <= 4


# ---- sitemaps


@pytest.mark.parametrize("mode", [*MODES])
def test_what_a_sitemap_names_comes_after_a_seed_and_never_before_a_link(
    make_frontier: MakeFrontier, mode: str
) -> None:
    """In modes that go by more than the order of discovery."""
    words = "?query=gene" if MODES[mode].looks_for else ""
    own = guarded(mode + words)
    (link,) = links(A + "gene-free")
    entry = link._replace(rel="sitemap")
    sitemap, page = own.first_priority(entry, UNKNOWN), own.first_priority(link, Source(1, 1, 1, 4711))

    assert sitemap <= page
    assert sitemap <= own.first_priority(link)


class Trusting(Ordering):
    """Of a user's own: takes what a sitemap names before what pages link to."""

    on_repeat = "raise"

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return 9 if link.rel == "sitemap" else 1


@pytest.mark.parametrize(("mode", "of_new"), [("backlink", 0), ("test_orderings_links.Trusting", 9)])
def test_a_sitemap_is_no_backlink_and_raises_nothing_that_waits_whatever_an_ordering_thinks_of_it(
    make_frontier: MakeFrontier, mode: str, of_new: int
) -> None:
    linked, new, map_url = "http://linked.test/", "http://new.test/", "http://map.test/map.xml"
    frontier = make_frontier(mode)
    frontier.discover([*links(A), sitemap_link(map_url)])
    leases = {lease.url: lease for lease in frontier.lease(2).leases}
    entries = [link._replace(rel="sitemap") for link in links(linked, new)]

    frontier.complete([done(leases[A], linked)])
    frontier.complete([Done(leases[map_url], "sitemap", False, entries)])

    assert {lease.url: lease.priority for lease in frontier.lease(9).leases} == {linked: 1, new: of_new}
