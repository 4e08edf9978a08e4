"""EW: Mengozzi, What's powering every search engine? Designing an efficient webcrawler. Rows 24 to 30."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import redis
from conftest import MakeFrontier, Run
from frontiers import done, fetch, lease_one, links, next_due_ms, visit
from recordedweb import page, recorded
from test_addresses import Dns
from test_focused_orderings import URLS, Web, crawl, shark_search
from test_homes import URLS as OF_FORTY_SERVERS
from test_homes import ann, bob, domains, leased, patience
from testdata import needed

from webcrawler import urls
from webcrawler.crawl.peers import RememberingResolver
from webcrawler.frontier import Budgets, Frontier, inspect

from .town import Town, found

__all__ = ["ann", "bob", "patience"]  # fixtures
A, B = "http://a.test/", "http://b.test/"


def test_24_a_full_frontier_takes_one_url_a_page_and_a_domain_has_its_share(
    make_frontier: MakeFrontier,
) -> None:
    """EW, frontier: "When the frontier reaches it's maximum capacity, only one new url can be added from the
    current page"; "it's reasonable to only accept $k$ urls for the same domain every $n$ urls processed".
    """
    full = make_frontier(budgets=Budgets(queued=2))
    full.discover(links(A, A + "1"))
    visit(full, *(f"{A}x{n}" for n in range(5)))  # room for one
    visit(full, *(f"{A}y{n}" for n in range(5)))
    assert inspect.stats(full)["queued"] == 2
    full.complete([done(lease_one(full), *(f"{A}z{n}" for n in range(5)))])
    assert inspect.stats(full)["queued"] == 2

    k, n = 1, 2
    shared = make_frontier(name="shared", budgets=Budgets(share=k, share_of=n))
    shared.discover(links(A, B))
    assert shared.discover(links(A + "1", B + "1")) == 0
    for _ in range(n):
        visit(shared)
    assert shared.discover(links(A + "1", A + "2", B + "1")) == 2  # one of each domain


SPELLINGS = [  # as in the list of the paper, in its order
    ("HTTP://A.Test/x", "http://a.test/x"),
    ("http://a.test/x#part", "http://a.test/x"),
    ("http://a.test/a b", "http://a.test/a%20b"),
    ("http://a.test", "http://a.test/"),
    ("http://a.test/index.html", "http://a.test/"),
    ("http://a.test/y/../x", "http://a.test/x"),
    ("http://a.test:80/x", "http://a.test/x"),
    ("http://a.test:8080/x", "http://a.test:8080/x"),
]


@pytest.mark.slow
def test_25_spellings_and_mirrors_of_a_url_are_one(town: Town) -> None:
    """EW, URL normalization: "such url need to be canonicalized meaning it's necessary to transform the url
    applying certain criteria, the key is applying them consistently": "Known mirrors"; "Consider limiting the
    url size".
    """
    for spelling, canonical in SPELLINGS:
        assert urls.canonical(urls.resolve(spelling)) == canonical
    assert urls.outlink(f"{A}{'x' * 3000}", A).refused == "length"

    # linked to as it is, with a fragment, in an odd spelling, and in the mirror
    assert town.biology.times("/genes/") == 1
    assert not [path for path in town.music.asked if path.startswith("/mirror")]
    assert len([url for url in town.crawled.documents() if "genes" in url]) == 1


@pytest.mark.slow
def test_26_robots_and_addresses_are_remembered_and_the_delay_is_ten_times_the_download(
    town: Town, make_frontier: MakeFrontier
) -> None:
    """EW, fetching: "10 times the time it took to download the last page"; "Other data-structure used to
    improved the performances of a crawler are the robot.txt cache and the DNS cache".
    """
    assert [site.times("/robots.txt") for site in town.servers] == [1] * 4
    assert len(town.biology.pages) > 3

    dns, remembering = (dns := Dns()), RememberingResolver(dns)
    dns.answers = ["93.184.216.34"]
    remembering.resolveHostName(dns, "a.example", 80)
    dns.answers = ["93.184.216.99"]  # what would be said if it were asked again
    remembering.resolveHostName(dns, "a.example", 80)
    assert dns.passed == ["93.184.216.34"] * 2

    frontier = make_frontier(delay=1.0, slowness=10.0)
    frontier.discover(links(A, A + "1"))
    fetch(frontier, lease_one(frontier), seconds=2.0)
    assert 15_000 < next_due_ms(frontier, "http://a.test") <= 20_000


# Two pages are about genes; one link to the second page names them, the other does not.
GENES: Web = {
    URLS[0]: ("a tree in a wood", [(URLS[1], "more", "a wood"), (URLS[2], "the gene", "")]),
    URLS[1]: ("a tree in a wood", [(URLS[3], "more", "")]),
    URLS[2]: ("gene gene cell", [(URLS[4], "more", "a tree"), (URLS[5], "more", "of the gene")]),
    **{url: ("a tree", []) for url in URLS[3:]},
}


def test_27_best_first_and_shark_search_go_by_their_formulas(client: redis.Redis) -> None:
    """EW, focused crawling: "it then computes the similarity between the page and the description provided by
    the user"; "This algorithm uses the anchor-text, anchor context and inherited scores to assigned a more
    refined score".
    """
    # best-first knows page 2 when it has been there; its links go before that of page 1
    assert crawl(client, "best-first?query=gene+cell", GENES) == [URLS[n] for n in (0, 1, 2, 4, 5, 3)]

    asked = {"d": 2, "gamma": 0.5, "delta": 0.5, "beta": 0.75}
    mode = "shark?query=gene+cell&" + "&".join(f"{name}={value}" for name, value in asked.items())
    # the anchor of page 2 counts, then the words around the link to page 5
    assert crawl(client, mode, GENES) == shark_search(GENES, **asked) == [URLS[n] for n in (0, 2, 5, 4, 1, 3)]


TOPICS = {"topics": [{"query": "gene", "terms": ["gene"], "min_body": 3}]}
STRATEGIES = ("best-first", "seed-similarity", "classifier", "fifo")


def test_28_pages_are_judged_by_query_seeds_classifier_retrieval_and_links(run: Run, tmp_path: Path) -> None:
    """EW, page importance: "Similarity to a query", "Similarity to seed page", "Classifier score"; "Retrieval
    system rank: $N$ different crawlers (namely using different strategy) are started form the same seeds";
    "Link bases popularity: PageRank, HITS".
    """
    needed("sklearn", extra="classifier")
    hub, about, other, end = "http://hub.test/", "http://gene.test/", "http://tree.test/", "http://end.test/"
    on_topic, off_topic = ([f"{server}{n}" for n in range(9)] for server in (about, other))
    web = {
        hub: page("Gene", "gene gene gene genome", other, about),
        other: page("Tree", "oak beech leaves", *off_topic),
        about: page("Gene", "gene gene gene genome", *on_topic),
        **{url: page("Tree", f"oak beech leaves {n}", end) for n, url in enumerate(off_topic)},
        **{url: page("Gene", f"gene genome cell {n}", end) for n, url in enumerate(on_topic)},
        end: page("End", "nothing"),
    }
    folder = recorded(tmp_path / "crawl", web, indexed=True)
    topics, figures = tmp_path / "topics.json", tmp_path / "found.json"
    topics.write_text(json.dumps(TOPICS))

    asked = ("--strategies", ",".join(STRATEGIES), "--pages", "12", "--json", str(figures))
    ended = run("evaluate", "--focused", str(topics), str(folder), *asked)
    assert ended.status == 0, ended.err
    runs = {one["strategy"]: one for one in json.loads(figures.read_text())["runs"]}
    for strategy in STRATEGIES[:-1]:
        assert len(runs[strategy]["found"]) > len(runs["fifo"]["found"]), strategy
        assert runs[strategy]["pool"]["mean_place"] < runs["fifo"]["pool"]["mean_place"], strategy

    ranked = json.loads(run("rank", "--algorithm", "hits", "--json", folder=folder).out)["pages"]
    assert ranked[0]["url"] == end, "the greatest authority"
    assert max(ranked, key=lambda row: row["hub"])["url"] in on_topic + off_topic


def test_29_a_domain_belongs_to_one_crawling_unit(ann: Frontier, bob: Frontier) -> None:
    """EW, fetching: "one solution could be to map a domain to a single crawling unit"; EW, summary:
    "Consistent hashing to partition the urls".
    """
    hers, his = leased(ann), leased(bob)

    assert hers | his == set(OF_FORTY_SERVERS) and hers and his
    assert not domains(hers) & domains(his)


@pytest.mark.slow
def test_30_words_are_stemmed_and_common_ones_left_out(town: Town) -> None:
    """EW, URL normalization: "it's a good practice to stoplist (remove common stop works) and stem (conflate
    words to a common root)".
    """
    genes = f"{town.biology.url}/genes/"  # "a running cell reads them"

    assert found(town.folder, "runs") == [genes]
    assert found(town.folder, "is the runs of them") == [genes]
