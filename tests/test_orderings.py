"""In what order known URLs are visited: each mode against a reference, with one request at a time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import redis
from conftest import MakeFrontier, examples
from frontiers import breadth_first, done, fail, fetch, lease_one, let_pass, links, rescore, visit, visit_all
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier, Politeness, inspect, maintenance, ordering
from webcrawler.orderings import MODES as TABLE
from webcrawler.orderings import Ordering, Source, arguments_of, ordering_type
from webcrawler.orderings.base import BAND, PRIORITY_MAX
from webcrawler.orderings.registry import Mode
from webcrawler.records import Link
from webcrawler.urls import url_id

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
Web = dict[str, tuple[str, Sequence[str]]]  # URL -> what it comes to, outlinks

# Those that learn are in tests of their own.
PLAIN = [name for name in sorted(TABLE) if not ordering_type(name).learns]
MODES = [f"{name}?query=gene" if TABLE[name].looks_for == "query" else name for name in PLAIN]

URLS = [f"http://s{n % 5}.test/{n}" for n in range(15)]
ANSWERS = st.sampled_from(["document", "document", "redirect", "not-found"])
documents = st.tuples(ANSWERS, st.lists(st.sampled_from(URLS), max_size=4))
pages = documents.map(lambda page: (page[0], page[1] if page[0] != "not-found" else []))
webs = st.fixed_dictionaries(dict.fromkeys(URLS, pages))
seeds = st.lists(st.sampled_from(URLS), min_size=1, max_size=3, unique=True)
of_small_webs = settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))


def opened(client: redis.Redis, mode: str) -> Frontier:
    client.flushdb()
    frontier = Frontier(client, ordering(mode), politeness=Politeness(delay=0.0))
    frontier.open(mode)
    return frontier


def crawl(frontier: Frontier, web: Web, seeds: Sequence[str]) -> list[str]:
    """One request at a time, to the end."""
    frontier.discover(links(*seeds))
    order = []
    while found := frontier.lease(1).leases:
        lease = found[0]
        order.append(lease.url)
        fetch(frontier, lease)
        answer, outlinks = web[lease.url]
        if answer == "not-found":
            fail(frontier, lease, answer, retry=False)
        else:
            frontier.complete([done(lease, *outlinks, reason=answer)])
    return order


def first_found_first(web: Web, seeds: Sequence[str]) -> list[str]:
    order = list(dict.fromkeys(seeds))
    for url in order:
        order += [found for found in dict.fromkeys(web[url][1]) if found not in order]
    return order


# ---- breadth: Pinkerton 1994, indexing mode


@given(web=webs, seeds=seeds)
@of_small_webs
def test_breadth_visits_in_the_order_of_the_reference(
    client: redis.Redis, web: Web, seeds: list[str]
) -> None:
    assert crawl(opened(client, "breadth"), web, seeds) == breadth_first(web, seeds)


@pytest.mark.parametrize("answer", ["redirect", "not-found", "robots-disallowed", "not-indexable"])
def test_an_answer_that_is_no_document_does_not_use_up_the_turn_of_a_new_server(
    make_frontier: MakeFrontier, answer: str
) -> None:
    frontier = make_frontier("breadth")
    frontier.discover(links(A, B, A + "2", A + "3"))

    lease = lease_one(frontier)
    fetch(frontier, lease)
    if answer == "redirect":
        frontier.complete([done(lease, reason=answer)])
    else:
        fail(frontier, lease, answer, retry=False)

    assert visit_all(frontier) == [A + "2", B, A + "3"]


def test_a_server_whose_known_urls_are_used_up_is_new_no_longer(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("breadth")
    frontier.discover(links(A, B))
    fail(frontier, lease_one(frontier), "not-found", retry=False)
    visit(frontier, B + "1", A + "2", C)

    assert visit_all(frontier) == [C, A + "2", B + "1"]


def test_a_server_that_waits_for_a_retry_is_still_new(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("breadth", backoff=1.0)
    frontier.discover(links(A, B, B + "1"))
    fail(frontier, lease_one(frontier))
    visit(frontier)
    let_pass(frontier, 2)

    assert visit_all(frontier) == [A, B + "1"]


def test_two_urls_of_a_new_server_are_not_out_at_once_while_others_are_new(
    make_frontier: MakeFrontier,
) -> None:
    """Its turn is being used; what it comes to is not known yet."""
    frontier = make_frontier("breadth")
    frontier.discover(links(A, A + "1", B, B + "1", C))

    assert [lease.url for lease in frontier.lease(4).leases] == [A, B, C, A + "1"]


# ---- fifo, random


@given(web=webs, seeds=seeds)
@of_small_webs
def test_fifo_visits_first_found_first(client: redis.Redis, web: Web, seeds: list[str]) -> None:
    assert crawl(opened(client, "fifo"), web, seeds) == first_found_first(web, seeds)


@given(web=webs, seeds=seeds)
@of_small_webs
def test_random_visits_the_known_url_whose_clock_rings_first(
    client: redis.Redis, web: Web, seeds: list[str]
) -> None:
    """A page's links start theirs when it rings."""

    def pause(link: Link) -> int:
        return ordering("random").first_priority(link) - (BAND - 1)

    time, order = {url: pause(links(url)[0]) for url in seeds}, []
    while waiting := [url for url in time if url not in order]:
        best = max(waiting, key=lambda url: (time[url], -waiting.index(url)))
        order.append(best)
        for url in dict.fromkeys(web[best][1]):
            time.setdefault(url, time[best] + pause(links(url)[0]))

    assert crawl(opened(client, "random"), web, seeds) == order


def test_each_known_url_is_equally_likely_to_be_the_next_of_a_random_crawl() -> None:
    """Whether it was found early or late: of ten URLs five are left when five more are found."""
    late = 0
    for seed in range(2_000):
        random = ordering(f"random?seed={seed}")
        first = sorted((-random.first_priority(link), n) for n, link in enumerate(links(*URLS[:10])))
        source = Source(priority=-first[4][0])
        new = [-random.first_priority(link, source) for link in links(*URLS[10:15])]
        late += min(new) < first[5][0]

    assert 0.45 < late / 2_000 < 0.55


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(MODES))
def test_a_priority_is_a_whole_number_within_its_bounds(id: int, mode: str) -> None:
    link = links(A)[0]._replace(id=id, anchor="a gene")

    priority = ordering(mode).first_priority(link)

    assert isinstance(priority, int) and abs(priority) <= PRIORITY_MAX


class Extremes(Ordering):
    """An ordering of the tests, found by its class path: the path says the priority."""

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return int(link.url.rpartition("/")[2])


def test_ties_go_to_the_oldest_even_at_the_bounds_of_a_priority(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("test_orderings.Extremes")
    low, high = -PRIORITY_MAX, PRIORITY_MAX
    found = [f"http://{host}.test/{priority}" for priority in (low, high, 0) for host in "zyx"]
    frontier.discover(links(*found))

    assert visit_all(frontier) == found[3:6] + found[6:] + found[:3]


# ---- finding a mode


@pytest.mark.parametrize(
    "mode",
    ["", "nonsense", "breadth ", "no.such.module", "os.nonsense", "..x", ".", "json.loads", "x" * 9999],
)
def test_an_unknown_mode_is_bad_input_that_names_the_known_ones(mode: str) -> None:
    with pytest.raises(BadInput, match="blend-in-turn, breadth, classifier, context-graph, credit, fifo"):
        ordering(mode)


@pytest.mark.parametrize("row", TABLE.values(), ids=list(TABLE))
def test_each_row_of_the_table_names_an_ordering_and_says_what_it_takes(row: Mode) -> None:
    if not row.can_run:
        pytest.skip(f"the extra {row.needs} is not installed")
    takes_query = "query" in arguments_of(ordering_type(row.name))

    assert takes_query == bool(row.looks_for)
    mode = f"{row.name}?query=gene" if takes_query else row.name
    assert isinstance(ordering(mode), ordering_type(row.name))
    assert row.help[0].islower() and not row.help.endswith(".")
    if row.looks_for == "query":
        with pytest.raises(BadInput, match="query"):
            ordering(row.name)


# ---- peek, rescore


@pytest.mark.parametrize("mode", MODES)
@given(web=webs, seeds=seeds, steps=st.integers(0, 12))
@settings(of_small_webs, max_examples=examples(25))
def test_peek_is_the_order_in_which_lease_gives(
    client: redis.Redis, mode: str, web: Web, seeds: list[str], steps: int
) -> None:
    frontier = opened(client, mode)
    frontier.discover(links(*seeds))
    for _ in range(steps):
        if frontier.lease(0).queued:
            visit(frontier, *URLS[:steps])

    foretold = inspect.peek(frontier, 100)

    assert foretold == visit_all(frontier)


def test_peek_shows_no_more_than_it_was_asked_for(frontier: Frontier) -> None:
    frontier.discover(links(A, B, C))

    assert (inspect.peek(frontier, 2), inspect.peek(frontier, 0)) == ([A, B], [])


def test_rescore_keeps_the_order_of_discovery(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("random")
    urls = [f"http://s{n % 3}.test/{n}" for n in range(30)]
    frontier.discover(links(*urls))
    assert inspect.peek(frontier, 30) != urls

    changed = rescore(frontier, "fifo")

    assert changed == 30
    assert visit_all(make_frontier("fifo")) == urls


def test_rescore_to_breadth_and_back_knows_new_servers(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("fifo")
    frontier.discover(links(A, A + "1", A + "2", B))
    visit(frontier)

    rescore(frontier, "breadth")
    assert inspect.peek(frontier, 9) == [B, A + "1", A + "2"]
    rescore(frontier, "fifo")

    assert visit_all(make_frontier("fifo")) == [A + "1", A + "2", B]


def test_rescore_reaches_what_waits_for_a_retry(make_frontier: MakeFrontier) -> None:
    """Its priority is of the mode that found it; it comes back in that of the mode that goes on."""
    frontier = make_frontier("random", backoff=1.0)
    urls = [f"http://a.test/{n}" for n in range(20)]
    frontier.discover(links(*urls))
    for lease in frontier.lease(10).leases:
        fail(frontier, lease)

    rescore(frontier, "fifo")
    let_pass(frontier, 2)

    assert visit_all(make_frontier("fifo")) == urls


def test_rescore_brings_nothing_back_that_is_out(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("random")
    frontier.discover(links(A, B, C))
    lease = lease_one(frontier)

    rescore(frontier, "fifo")

    assert lease.url not in visit_all(make_frontier("fifo"))
    assert url_id(lease.url) == lease.id


# ---- going on


def test_a_crawl_goes_on_in_the_mode_that_the_frontier_was_filled_with(make_frontier: MakeFrontier) -> None:
    client = make_frontier("hot?query=gene").client

    assert maintenance.mode_of(client, "") == "hot?query=gene"
    assert maintenance.mode_of(client, "fifo") == "fifo"
    assert maintenance.mode_of(client, "", "another") == "breadth"


def test_a_mode_of_ones_own_has_to_be_named_again(make_frontier: MakeFrontier) -> None:
    """What stands in Redis names no module to be imported."""
    client = make_frontier("test_orderings.Extremes").client

    with pytest.raises(BadInput, match=r"add -a mode=test_orderings\.Extremes"):
        maintenance.mode_of(client, "")
    assert maintenance.mode_of(client, "test_orderings.Extremes") == "test_orderings.Extremes"
