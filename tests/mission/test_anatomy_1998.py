"""GO: Brin, Page, The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998. Rows 31 to 39."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import threading
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Run
from dumped import differences, dumped
from localweb import Answer, Route, Site, crawl, page
from ports import Canary
from searched import entry, publish
from starlette.testclient import TestClient
from test_feedback import fields, forms
from test_reading import stock
from testdata import needed
from whoosh.index import open_dir

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import record_at
from webcrawler.index.hits import PlainHit
from webcrawler.linkgraph import catalog_graph
from webcrawler.linkgraph.stored import load
from webcrawler.web import Config, make_app

from .town import Town, found

CONNECTIONS, CRAWLERS = 300, 2
PATIENCE_SECONDS = 120


@pytest.mark.slow
def test_31_a_url_server_and_crawlers_with_300_connections_each(tmp_path: Path) -> None:
    """GO 4.3: "A single urlserver serves lists of urls to a number of crawlers (we typically ran about 3)";
    "Each crawler keeps roughly 300 connections open at once".
    """
    all_at_once = threading.Barrier(CRAWLERS * CONNECTIONS)

    def held(_: Site) -> Answer:
        all_at_once.wait(PATIENCE_SECONDS)  # nobody is answered before all have asked
        return page()

    names = [f"/{n}" for n in range(CRAWLERS * CONNECTIONS)]
    site = Site({"/": page(*names), **dict.fromkeys(names, held)}).start()
    site.server.socket.listen(CRAWLERS * CONNECTIONS)

    crawled = crawl(
        tmp_path,
        *("index", "-a", f"seeds={site.url}/", "-a", f"agents={CRAWLERS}"),
        CONCURRENT_REQUESTS=CONNECTIONS,
        FRONTIER_PARTITIONS=1,
        FRONTIER_SERVER_CONCURRENCY=CRAWLERS * CONNECTIONS,
        BUDGET_REPEATS=0,
        DOWNLOAD_TIMEOUT=PATIENCE_SECONDS,
    )
    site.stop()

    assert crawled.status == 0, crawled.log
    assert len(crawled.documents()) == CRAWLERS * CONNECTIONS + 1
    assert not all_at_once.broken


@pytest.mark.slow
def test_32_all_is_built_anew_from_the_repository(town: Town, crawl_dir: Path, run: Run) -> None:
    """GO, Repository: "The repository contains the full HTML of every web page"; "we can rebuild all the
    other data structures from only the repository and a file which lists crawler errors".
    """
    before = dumped(crawl_dir)
    for other in ("index", "anchors", "ranks", "vocabulary"):
        shutil.rmtree(crawl_dir / other)
    for file in crawl_dir.glob("catalog.sqlite*"):
        file.unlink()

    ended = run("rebuild", "--json", "-s", f"MIRRORS={town.mirrors}", folder=crawl_dir)

    assert ended.status == 0, ended.err
    assert differences(before, dumped(crawl_dir)) == {}
    assert "failed" in {row[3] for row in before["fetches"]}  # errors are there, too
    assert found(crawl_dir, "fugue")[0] == f"{town.music.url}/fugue"


@pytest.mark.slow
def test_33_document_index_has_status_place_checksum_and_statistics(town: Town) -> None:
    """GO, Document Index: "The information stored in each entry includes the current document status
    (reference seen, sent to urlserver, crawled, ...), a pointer into the repository, a document checksum, and
    various statistics (number of words, number of question marks, last crawl date, ...)".
    """
    body = town.library.routes["/shelf/1"].body.encode()  # type: ignore[union-attr]
    with closing(Catalog(town.folder / "catalog.sqlite", readonly=True)) as catalog:
        shelf = catalog.find(f"{town.library.url}/shelf/1")
        known = {url for _, url in catalog.urls.all()}

    assert shelf is not None and shelf.place is not None
    assert shelf.digest == hashlib.sha1(body, usedforsecurity=False).digest()
    assert record_at(town.folder / "pages", shelf.place).response.body == body
    assert (shelf.status, shelf.word_count) == (200, 10)
    assert shelf.fetched == town.crawled.fetch(shelf.url).fetched
    assert town.crawled.reason(f"{town.library.url}/lost") == "failed/not-found"
    assert f"{town.beyond.url}/" in known - town.crawled.documents()  # a reference seen


@pytest.mark.slow
def test_34_an_anchor_belongs_to_its_page_and_to_its_target_crawled_or_not(town: Town) -> None:
    """GO 2.2: "we associate it with both the page the link is on and the page the link points to"; "this
    makes it possible to return web pages which have not actually been crawled".
    """
    plans = f"{town.biology.url}/private/plans"  # robots.txt keeps us out

    assert found(town.folder, "quagga") == [f"{town.biology.url}/", plans]
    assert plans not in town.crawled.documents()


@pytest.mark.slow
def test_35_pagerank_by_its_formula(town: Town) -> None:
    """GO 2.1.2: "The factor d is a damping factor usually about 0.85"; "PR(A) = (1-d) + d (PR(T1)/C(T1) +
    ... + PR(Tn)/C(Tn))".

    UO, 2: "if a page has no outgoing link, we assume that it has outgoing links to every single Web page".
    """
    with closing(Catalog(town.folder / "catalog.sqlite", readonly=True)) as catalog:
        graph, ranks = catalog_graph(catalog), load(town.folder / "ranks", catalog.identity)
    assert ranks is not None and ranks.damping == 0.85

    rank = {page: float(ranks.of([page + 1])[0]) for page in range(graph.pages)}
    outlinks = {page: graph.outlinks(page).tolist() for page in rank}
    dangling = sum(rank[page] for page in rank if not outlinks[page]) / graph.pages
    for page_a in rank:
        cited = sum(rank[page] / len(outlinks[page]) for page in rank if page_a in outlinks[page])
        assert rank[page_a] == pytest.approx(0.15 + 0.85 * (cited + dangling), abs=1e-4)
    assert max(rank.values()) > 2 * min(rank.values())


@pytest.mark.slow
def test_36_hits_have_position_size_and_capital_and_fancy_ones_stand_apart(town: Town) -> None:
    """GO, Hit Lists: "A plain hit consists of a capitalization bit, font size (relative to the rest of the
    document) in three bits", and position; "Fancy hits include hits occurring in a URL, title, anchor text,
    or meta tag". Inverted Index: "one set for hit lists which include title or anchor hits and another set
    for all hit lists".
    """
    with closing(Catalog(town.folder / "catalog.sqlite", readonly=True)) as catalog:
        fugue = catalog.find(f"{town.music.url}/fugue")
    assert fugue is not None
    hits = {term: pages[fugue.number] for term, pages in stock(town.folder).items() if fugue.number in pages}
    with open_dir(str(town.folder / "index")).reader() as reader:
        fancy = {name: set(reader.field_terms(name)) for name in ("words", "title", "meta")}
    with open_dir(str(town.folder / "anchors")).reader() as reader:
        fancy["anchor"] = set(reader.field_terms("anchor"))

    assert hits["theme"] == [PlainHit(position=1, size=0, capital=False)]  # "A theme, and its <b>Answer</b>."
    assert hits["answer"] == [PlainHit(position=4, size=1, capital=True)]
    assert "fugu" in fancy["words"] & fancy["title"] & fancy["anchor"] and "fugu" not in hits
    assert "counterpoint" in fancy["meta"] and "counterpoint" not in hits
    assert "theme" not in set().union(*fancy.values())
    assert found(town.folder, "counterpoint") == [fugue.url]
    assert found(town.folder, "fugues -title:fugue") == [f"{town.music.url}/"]


def test_37_types_tapering_counts_proximity_and_pagerank_make_the_rank(tmp_path: Path) -> None:
    """GO, The Ranking Function: "each of which has its own type-weight"; "Count-weights increase linearly
    with counts at first but quickly taper off"; "hits occurring close together are weighted higher than
    hits occurring far apart"; "Finally, the IR score is combined with PageRank".
    """
    x = "x " * 40
    rows = [
        ("http://title.test/", "Zebra", f"{x} y"),
        ("http://body.test/", "Page", f"{x} zebra"),
        ("http://once.test/", "Page", f"quokka {x}"),
        ("http://twice.test/", "Page", f"quokka quokka {x}"),
        ("http://often.test/", "Page", "quokka " * 60),
        ("http://oftener.test/", "Page", "quokka " * 61),
        ("http://near.test/", "Page", f"delta wing {x} end"),
        ("http://far.test/", "Page", f"delta {x} wing"),
    ]
    publish(tmp_path, map(entry, rows))
    with TestClient(make_app(Config(tmp_path, deadline_seconds=60)), "http://127.0.0.1:8000") as web:

        def scores(query: str) -> dict[str, float]:
            asked = {"q": query, "ranking": "hitlists", "explain": "1", "exact": "1"}
            hits = web.get("/api/search", params=asked).json()["hits"]
            assert all(hit["explanation"][-1]["detail"].startswith("PageRank") for hit in hits)
            return {hit["url"]: sum(part["contribution"] for part in hit["explanation"]) for hit in hits}

        zebra, quokka, wing = scores("zebra"), scores("quokka"), scores("delta wing")
    assert zebra["http://title.test/"] > zebra["http://body.test/"]
    assert wing["http://near.test/"] > wing["http://far.test/"]
    one_more_at_first = quokka["http://twice.test/"] - quokka["http://once.test/"]
    assert one_more_at_first > 0.5 > 0.01 > quokka["http://oftener.test/"] - quokka["http://often.test/"]


def test_38_what_users_judge_is_saved_and_compares_rankings(run: Run, tmp_path: Path) -> None:
    """GO, Feedback: "A user may optionally evaluate all of the results that are returned. This feedback is
    saved. Then when we modify the ranking function, we can see the impact of this change on all previous
    searches which were ranked".
    """
    needed("ir_measures", extra="judge")
    folder = tmp_path / "crawl"
    few_words = ("http://a.test/1", "Zebra", "zebra " + "word " * 40)
    many_times = ("http://a.test/2", "Page", "zebra " * 12 + "word " * 20)  # and not in the title
    publish(folder, map(entry, [few_words, many_times]))
    config = Config(folder, feedback=True, deadline_seconds=60)
    with TestClient(make_app(config), "http://127.0.0.1:8000", follow_redirects=False) as web:
        form = fields(forms(web, "zebra")[-1])  # below the last hit, which is found by words of the text
        saved = web.post(
            "/judge", data={**form, "verdict": "good"}, headers={"Sec-Fetch-Site": "same-origin"}
        )
    assert saved.status_code == 303

    figures = tmp_path / "judged.json"
    ended = run("judge", "feedback", "--rankings", "bm25f,peculiarity", "--json", str(figures))

    assert ended.status == 0, ended.err
    rankings = json.loads(figures.read_text())["rankings"]
    places = {one: found(folder, "zebra", ranking=one).index(many_times[0]) + 1 for one in rankings}
    assert places == {"bm25f": 2, "peculiarity": 1}
    assert {one: of["RR"] for one, of in rankings.items()} == {"bm25f": 1 / 2, "peculiarity": 1}


@pytest.mark.slow
def test_39_names_of_this_machine_endless_pages_and_broken_html(tmp_path: Path) -> None:
    """GO, Crawler Reliability: "we encountered infinite web pages, infinite URLs"; "a number of hosts had
    their IP address resolve to 127.0.0.1 - the local host". The Parser: "typos in HTML tags to kilobytes of
    zeros in the middle of a tag, non-ascii characters, HTML tags nested hundreds deep".
    """
    names = {"localhost"} | {name for name in [socket.gethostname()] if is_of_this_machine(name)}
    canary = Canary("127.0.0.1")
    broken = f"<p <b>\xff<a{chr(0) * 5000} title=x>{'<div><i>' * 300}<a href=/behind>bzz</a"
    routes: dict[str, Route] = {
        "/": page("/endless", "/deeper/", "/broken", *(f"http://{name}:{canary.port}/" for name in names)),
        "/endless": Answer("<p>and so on " * 50_000),
        "/broken": Answer(broken.encode("latin-1")),
        "/behind": page(),
        "*": lambda site: page(f"{site.request.path}deeper/"),
    }
    site = Site(routes, host="127.0.0.3").start()
    seeds = ("index", "-a", f"seeds={site.url}/")

    crawled = crawl(tmp_path, *seeds, ADDRESSES_ALLOWED="127.0.0.3/32", DOWNLOAD_MAXSIZE=100_000)
    site.stop()
    canary.stop()

    assert crawled.status == 0, crawled.log
    assert crawled.reason(f"{site.url}/endless") == "failed/too-large"
    assert 0 < len([path for path in site.pages if "deeper" in path]) < 20
    assert f"{site.url}/behind" in crawled.documents()
    assert canary.connections == 0


def is_of_this_machine(name: str) -> bool:
    try:
        return socket.gethostbyname(name).startswith("127.")
    except OSError:
        return False
