"""UO: Cho, Garcia-Molina, Page, Efficient Crawling Through URL Ordering, 1998. Rows 19 to 23."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest
from conftest import MakeFrontier, Run
from frontiers import done, fetch, links
from recordedweb import page, recorded
from test_evaluation import CLUSTER, FIGURE_3, on_topic, order_of, web_of

from webcrawler.connection import Connection
from webcrawler.evaluation import private_redis, read
from webcrawler.evaluation.hotness import Importance

from .town import Town

HOME, HUB, GENE = "http://home.test/", "http://a.example.com/hub", "http://b.test/x/about"


@pytest.fixture(scope="module")
def redis() -> Iterator[Connection]:
    with private_redis() as connection:
        yield connection


def test_19_importance_by_query_backlinks_pagerank_forward_links_and_location(tmp_path: Path) -> None:
    """UO, 2: "we can define the importance of the page, $I(P)$, in one of the following ways": Similarity to
    a Driving Query, Backlink Count, PageRank, Forward Link Count, Location Metric; "our importance metrics
    can be combined in various ways".
    """
    web = {
        HUB: page("Hub", "links", HOME, GENE),
        HOME: page("Home", "words", GENE),
        GENE: page("Gene", "gene gene", HOME),
    }
    web_read = read(recorded(tmp_path, web))
    importance = Importance(web_read, "gene")

    def of(metric: str) -> list[float]:
        values = dict(zip(web_read.urls, importance.of(metric).tolist(), strict=True))
        return [values[url] for url in (HUB, HOME, GENE)]

    assert of("ib") == [0, 2, 2]
    assert of("if") == [2, 1, 1]
    assert of("il") == [2 - 1, 2 - 1, -2]  # .com, home, slashes
    assert of("ir") == pytest.approx([0.1, 1.45, 1.45])  # IR = 0.1 + 0.9 · Σ
    hub, home, gene = of("is")
    assert gene > 0.9 and hub == home == 0
    assert of("ic") == [0, 2, 10 * (2 + 5) + 2]  # k1 · IS(P, Q) + k2 · IB(P); a word in the title counts as 5


def test_20_orderings_visit_figure_3_as_the_paper_says(redis: Connection) -> None:
    """UO, 6: "With $IB'(P)$ ordering, the crawler visits a page like the one labeled 1 and quickly finds a
    cluster A of pages that point to each other. The A pages temporarily have more backlinks than page 2, so
    the visit of page 2 is delayed"; "with $IR'(P)$ ordering, page 2 may have higher rank"; "the performance
    of a random crawler is a straight diagonal line".
    """
    one, first_of_a, two = 1, 2, 3  # pages of our web

    assert order_of(FIGURE_3, "backlink", redis) == [0, one, first_of_a, *CLUSTER, two]
    assert order_of(FIGURE_3, "pagerank", redis) == [0, one, first_of_a, two, *CLUSTER]
    assert order_of(FIGURE_3, "fifo", redis) == [0, one, first_of_a, two, *CLUSTER]
    star = web_of([*range(1, 41)], *[[]] * 40)  # all pages are known from the first on
    hot = set(range(1, 17))
    orders = [order_of(star, f"random?seed={seed}", redis) for seed in range(10)]
    for visited in (10, 20, 30):  # the mean of ten has a standard deviation of 0.03
        seen = fmean(len(hot.intersection(order[1 : visited + 1])) / len(hot) for order in orders)
        assert seen == pytest.approx(visited / 40, abs=0.1)


def test_21_hot_queue_comes_first(redis: Connection) -> None:
    """UO, 7: "The crawler first takes URL to visit from `hot_queue`" (Figure 4); "This crawler places in the
    `hot_queue` URLs that have the target keyword in their anchor or within, or that are within 3 links from a
    hot page" (Figure 5).
    """
    # 0 links to 1 "about biology", 2 "home", 3 "news"; 2 to 4, 3 to 5, and 4 to 6
    assert order_of(on_topic({}), "hot-anchor?query=news", redis) == [0, 3, 1, 2, 5, 4, 6]
    # 1 by its anchor; then 2 turns out to be hot, and only Figure 5 looks at what its links lead to, 4 and 6
    web = on_topic({2: "Biology"})
    assert order_of(web, "hot-anchor?query=biology", redis) == [0, 1, 2, 3, 4, 5, 6]
    assert order_of(web, "hot?query=biology", redis) == [0, 1, 2, 4, 6, 3, 5]


def test_22_virtual_crawlers_are_measured_by_p_cs_p_st_and_p_bc(run: Run, tmp_path: Path) -> None:
    """UO, 3: "We define the performance of the crawler C to be $P_{CS}(C) = (M \\cdot 100) / K$"; $P_{ST}(C)$
    "is the percentage of the H hot pages that have been visited when the crawler stops"; "the percentage of
    the B buffer pages that are hot gives us the performance $P_{BC}(C)$".
    """
    graph, figures = tmp_path / "small.graph-txt", tmp_path / "figures.json"
    graph.write_text("6\n1 2 3\n4\n4 5\n0\n3\n0\n")  # two backlinks each: 0, 3 and 4, so H = 3

    asked = ("--orderings", "fifo", "--hot", "ib:2", "--buffer", "0.5", "--flush", "fifo")
    ended = run("evaluate", str(graph), *asked, "--json", str(figures))

    assert ended.status == 0, ended.err
    (crawl,) = json.loads(figures.read_text())["runs"]  # visits 0 1 2 3 4 5
    # After K = 3 visits 0 is the one hot page seen, of three; B = 3: 3, 4 and 5 are in the buffer at the end.
    assert crawl["p_st"]["ib:2"][50] == pytest.approx(100 / 3, abs=0.01)
    assert crawl["p_cs"]["ib"][50] == pytest.approx(100 / 3, abs=0.01)
    assert crawl["p_bc"]["ib:2"] == pytest.approx(200 / 3, abs=0.01)
    assert crawl["p_st"]["ib:2"][100] == 100


@pytest.mark.slow
def test_23_a_queue_a_server_one_connection_for_slow_ones_and_no_traps(
    make_frontier: MakeFrontier, town: Town
) -> None:
    """UO, 5.1: "This causes all URLs from a given server to go into the same queue. The crawlers then read
    one URL from each queue at a time"; "for servers that are slow at returning documents, only one connection
    is allowed"; "any URLs containing `'/cgi-bin/'` are not crawled".
    """
    frontier = make_frontier(server_concurrency=4, slow=3.0)
    a, b = ([f"http://{server}.test/{n}" for n in range(6)] for server in "ab")
    frontier.discover(links(*a, *b))
    queues = {key.decode().rpartition("queue:")[2] for key in frontier.client.keys("*queue:http*")}
    assert queues == {"http://a.test", "http://b.test"}
    first = make_frontier(server_concurrency=1).lease(2).leases
    assert {lease.server for lease in first} == queues, "not one URL from each queue"

    for lease in first:  # a is slow
        fetch(frontier, lease, 5.0 if lease.server == "http://a.test" else 0.1)
        frontier.complete([done(lease)])
    now_out = [lease.server for lease in frontier.lease(9).leases]
    assert (now_out.count("http://a.test"), now_out.count("http://b.test")) == (1, 4)

    assert town.biology.times("/cgi-bin/vote") == 0
    assert town.crawled.frontier["states"]["refused"]["location"] == 1
