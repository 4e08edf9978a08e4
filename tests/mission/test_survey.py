"""SV: a survey of web search and the types of web crawlers. Rows 40 to 46, but for the hidden web."""

from __future__ import annotations

import json
from contextlib import closing
from math import exp, log
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from learning import link, seen, told
from live import HERE, OURS, started
from live import seen as page_of
from localweb import Crawled, Route, Site, crawl, page
from scipy.optimize import brentq
from scipy.stats import gamma
from starlette.testclient import TestClient
from test_agents import SharedWeb, crawled
from test_catalog import A, B, write
from test_catalog import page as fetched
from test_collection_size import names
from test_collection_size import run as collect
from test_freshness import DAY, not_modified
from testdata import needed
from waiting import at_rest, until

from webcrawler.archive.catalog import Catalog
from webcrawler.clock import now
from webcrawler.orderings import ordering
from webcrawler.realtime import journal
from webcrawler.refresh import outlook, report
from webcrawler.web import Config, make_app

from .town import EVERYTHING, WITHIN, Town, found, html

GENES = "a gene is a part of the genome: cells read genes, and genomes have many of them"
CELLS = "the cell divides, its genome is copied, and each of the two cells has all the genes"
TREES = "oak and beech are trees of the wood; their leaves fall in autumn"


@pytest.mark.slow
def test_40_the_ten_steps_from_a_seed_to_new_seeds(town: Town) -> None:
    """SV, algorithm: "Step 6. Identify the document format like doc, html, or pdf etc."; "Step 7. Check
    whether the document has already been downloaded or not. Step 8. If the document is fresh one Then Read it
    and extract the links"; "Step 9. Convert the URL links into their absolute"; "Step 10. Add the URLs to set
    of seed URLs".
    """
    biology, library = town.biology.url, town.library.url

    assert {f"{biology}/", f"{biology}/owls.doc", f"{biology}/owls.pdf"} <= town.crawled.documents()  # 1 to 6
    assert town.crawled.reason(f"{library}/shelf/copy") == "done/duplicate"  # 7: it is as another one
    assert town.library.times("/shelf/1") == 1
    sources = {source for source, _, _ in town.crawled.edges()}
    assert f"{library}/shelf/1" in sources  # 8
    assert all(target.startswith("http://") for _, target, _ in town.crawled.edges())  # 9
    assert f"{town.music.url}/fugue" in town.crawled.documents()  # 10: four links from the seed


@pytest.mark.slow
def test_41_a_focused_crawl_learns_from_examples_and_tunnels(tmp_path: Path) -> None:
    """SV, focused crawler: "The topics are specified not using keywords, but using exemplary documents"; "the
    ability to ``tunnel'' through lowly ranked pages in the search path to highly ranked pages related to a
    topic which might re-occur further down the search path"; "a set of classifiers are trained on examples to
    estimate the distance of the current page from the closest on-topic page"; "reinforcement learning permits
    credit assignment during the search process".
    """
    needed("sklearn", extra="classifier")
    routes: dict[str, Route] = {
        "/example": html("One", GENES, ("/off", "more")),
        # Off topic, and so is what is next.
        "/off": html("Two", TREES, ("/far/1", "more"), ("/off/2", "more")),
        "/off/2": html("Three", f"{TREES} again", ("/off/3", "more"), ("/on", "more")),
        "/off/3": html("Four", f"{TREES} and again", ("/far/2", "more")),
        "/on": html("Five", f"{GENES} {CELLS}", ("/on/2", "more")),  # behind two pages that are off topic
        "/on/2": html("Six", f"{CELLS} {GENES}"),
        "/far/1": html("Seven", f"{TREES} once more", ("/far/3", "more")),
        "/far/2": html("Eight", f"{TREES} at last"),
        "/far/3": html("Nine", f"{TREES} for good", ("/far/4", "more")),
        "/far/4": html("Ten", f"{TREES} for ever"),
    }
    site = Site(routes).start()

    crawl(
        tmp_path,
        *("index", "-a", f"seeds={site.url}/example", "-a", "mode=classifier?depth=2"),
        CONCURRENT_REQUESTS=1,
        ITEM_PIPELINES=EVERYTHING,  # without texts the classifier would learn nothing
    )
    site.stop()

    order = site.pages
    assert set(order) == set(routes), "what is off topic comes last, and is not lost"
    behind_three = {"/far/2", "/far/4"}  # pages in a row that are off topic
    assert max(map(order.index, ("/on", "/on/2"))) < min(map(order.index, behind_three))

    # Staff is two steps away from the topic, forecasts are not: no word of the query says so.
    steps = [
        seen(A, "links to institutes", link(f"{A}people", "staff"), link(f"{A}weather", "forecast")),
        seen(f"{A}people", "staff of institutes", link(f"{A}work", "her work")),
        seen(f"{A}weather", TREES, link(f"{A}rain", "tomorrow")),
        seen(f"{A}work", "gene " * 20),
        seen(f"{A}rain", f"{TREES} and rain"),
        seen(B, "links", link(f"{B}forecast", "forecast"), link(f"{B}staff", "staff")),
        seen(f"{B}a", "staff of other institutes", link(f"{B}near")),
        seen(f"{B}b", f"{TREES} too", link(f"{B}far")),
    ]
    credit = told(ordering("credit?query=gene"), *steps)
    assert credit[f"{B}staff"] > credit[f"{B}forecast"]
    distance = told(ordering("context-graph?query=gene"), *steps)
    assert distance[f"{B}near"] > distance[f"{B}far"]


MARKS = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p><DT><A HREF='{0}/'>Home</A><DT><A HREF='{0}/dna'>DNA</A>"


@pytest.mark.slow
@pytest.mark.parametrize("by", ["keywords", "bookmarks"])
def test_42_a_page_launches_a_focused_search_and_shows_what_it_finds(
    by: str, endless: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SV, architecture of focused crawler: "In the First tier the user interface is a HTML page, through
    which the user can launch the focused search based on keywords, a classifier, a bookmark file (file
    containing the URL to be used for the training of the classifier or as initial seed)"; "The message
    specifies also the ID of the agent crawler who is sending the request".
    """
    monkeypatch.chdir(Path(__file__).parents[2])
    allowed = (("ADDRESSES_ALLOWED", WITHIN), ("FRONTIER_DELAY", "0.2"), ("RANKER_ENABLED", "no"))
    app = make_app(Config(tmp_path, live_settings=allowed))
    asked = {
        "keywords": {"q": "molecular biology", "seeds": f"{endless.url}/", "enough": "0"},
        "bookmarks": {
            "q": "",
            "strategy": "classifier",
            "enough": "0",
            "files": {"bookmarks": ("bookmarks.html", MARKS.format(endless.url), "text/html")},
        },
    }[by]
    with TestClient(app, HERE, follow_redirects=False, client=("127.0.0.1", 50_000)) as web:
        job = started(web, **asked)
        until(lambda: len((journal.read(tmp_path, job) or {"hits": []})["hits"]) > 1, "hits")
        found, shown = journal.read(tmp_path, job), page_of(web, f"/live/{job}")
        assert started(web, **asked) == job, "who asks the same does not get what is there"
        (row,) = page_of(web, "/status").xpath("//table[.//th='agent']/tbody/tr")

        killed = job
        app.state.live.searches._started[killed].process.kill()
        until(lambda: app.state.live.searches._started[killed].is_over, "its death")
        job = started(web, **asked)  # who asks the same again gets another one
        assert job != killed
        until(lambda: (journal.read(tmp_path, job) or {"fetched": 0})["fetched"], "pages of the second")

        (form,) = page_of(web, "/status").xpath(f"//form[@action='/live/{job}/stop']")
        web.post(f"/live/{job}/stop", data=dict(form.form_values()), headers=OURS)
        until(lambda: (journal.read(tmp_path, job) or {"state": ""})["state"] == "finished", "its end")

    assert found is not None and found["state"] == "running"
    assert found["agent"] in [cell.text_content() for cell in row.xpath("*")]
    assert (journal.read(tmp_path, killed) or found)["reason"] == "failed"
    assert (journal.read(tmp_path, job) or found)["reason"] == "stopped"
    links = set(shown.xpath("//ol//h2//a/@href"))
    assert links and all(link.startswith(endless.url) for link in links)


@pytest.mark.slow
def test_43_a_more_important_page_takes_the_place_of_the_least_important_one(tmp_path: Path) -> None:
    """SV, incremental crawler: "the discarded page should have the lowest importance in the collection";
    "AllUrls records all URLs that the crawler has discovered, and CollUrls records the URLs that are/will be
    in the Collection"; "When a page not in CollUrls turns out to be more important than a page within
    CollUrls, the Ranking Module schedules for replacement".
    """
    pages = [f"/{n}" for n in range(12)]
    least, best = "/4", "/11"  # by links: one from the first page, and one from every page
    routes: dict[str, Route] = {"/": page(*pages)}
    routes |= {name: page("/", best, f"/{(n + 1) % 4}") for n, name in enumerate(pages)}
    site = Site(routes).start()
    first = collect(tmp_path, site, most=6, RANKER_ENABLED="yes")
    collection = names(first, site)
    at_rest(tmp_path)  # it has ranks

    again = ("-a", "refresh=yes", "-a", "max_pages=30")
    after = collect(tmp_path, site, *again, most=6, RANKER_ENABLED="yes", REFRESH_AT_MOST=0)
    at_rest(tmp_path)
    site.stop()

    assert collection == {"/", *pages[:5]}
    assert names(after, site) == collection - {least} | {best}
    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as catalog:  # AllUrls
        assert {f"{site.url}{name}" for name in pages} <= {url for _, url in catalog.urls.all()}
    assert site.times("/") > 0, "the collection was not kept fresh meanwhile"


def ago(days: float) -> float:
    return now() - days * DAY


@pytest.mark.parametrize("policy", ["ep", "eb", "expected"])
def test_44_how_often_a_page_changes_is_estimated_from_its_checksums(policy: str, tmp_path: Path) -> None:
    """SV, incremental crawler: "the Update Module records the checksum of the page from the last crawl and
    compares that checksum with the one from the current crawl"; "we propose two estimators, EP and EB, for
    the change frequency of a page. Note that it is also possible to keep update statistics on larger units
    than a page, such as a web site"; "Keep the local collection fresh".
    """
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        write(catalog, fetched(A, ago(40), "first"), fetched(B, ago(40), "b"))
        for days in (30, 20, 10):  # A says something else each time
            write(catalog, fetched(A, ago(days), f"{days} days ago"), not_modified(B, ago(days)))
        settings = {"REFRESH_POLICY": policy, "REFRESH_AT_LEAST": 60.0, "REFRESH_AT_MOST": 1.0}
        often, seldom = (outlook(catalog, tmp_path, settings, url) for url in (A, B))
        current = report(catalog, tmp_path, policy)

    assert [one["found"] for one in often["checks"]] == ["changed"] * 3
    assert (often["position"], seldom["position"]) == (1, 2)  # in the queue of what is checked next
    assert 0 < current["current"]["share"] < 1
    servers = {one["server"]: one["share"] for one in current["servers"]}
    assert servers["http://a.test"] < servers["http://b.test"]
    # By 30 days of three checks, ten days ago. Times are kept to about an hour.
    for one, changes in ((often, 3), (seldom, 0)):
        assert one["chance_of_change"] == pytest.approx(CHANCES[policy](one, changes), rel=0.03)


def by_rate(_: dict[str, Any], changes: int) -> float:
    """EP: a Poisson process; half a change and 20 days stand for what was not watched."""
    return 1 - exp(-10 * (changes + 0.5) / (30 + 20))


def by_classes(_: dict[str, Any], changes: int) -> float:
    """EB: Bayes over pages that change daily, weekly, monthly, in four months, in a year."""
    unchanged = [exp(-10 / days) for days in (1, 7, 30, 120, 365)]
    likely = [(1 - same) ** changes * same ** (3 - changes) for same in unchanged]
    return sum(of * (1 - same) for of, same in zip(likely, unchanged, strict=True)) / sum(likely)


def by_belief(one: dict[str, Any], _: int) -> float:
    """Ours: the rate is of a gamma distribution, whose quantiles 5, 50 and 95 % are told as days."""
    least, _, most = one["changes_every_days"]
    shape = brentq(lambda a: log(gamma.ppf(0.95, a) / gamma.ppf(0.05, a)) - log(most / least), 0.05, 20)
    rate = least * gamma.ppf(0.95, shape)
    return float(1 - (rate / (rate + 10)) ** shape)


CHANCES = {"ep": by_rate, "eb": by_classes, "expected": by_belief}


@pytest.mark.slow
def test_46_processes_do_not_overlap_and_distant_crawls_become_one(
    town: Town, crawl_dir: Path, tmp_path: Path, run: Run
) -> None:
    """SV, parallel crawler: "A parallel crawler consists of multiple crawling processes"; "different C-proc's
    may download the same page multiple times. In order to avoid this overlap, C-proc's need to coordinate
    with each other on what pages to download"; "Distributed crawler: When C-proc's run at geographically
    distant locations".
    """
    with closing(SharedWeb()) as web:  # answers nothing until two processes have asked
        here = crawled(tmp_path / "here", web)
    assert here.status == 0, here.log
    assert sorted(web.asked) == sorted(web.urls), "a page was downloaded twice"

    # Two distant crawls of the same town overlap, and know nothing of each other.
    crawls = [str(tmp_path / "here"), str(crawl_dir), str(town.folder)]
    ended = run("merge", *crawls, str(tmp_path / "all"), "-s", f"MIRRORS={town.mirrors}")

    assert ended.status == 0, ended.err
    together = Crawled(tmp_path / "all", 0, "")
    assert together.documents() == here.documents() | town.crawled.documents()
    assert together.edges() == here.edges() | town.crawled.edges()
    searched = run("search", "fugue", "--json", folder=tmp_path / "all")
    assert [hit["url"] for hit in json.loads(searched.out)["hits"]] == found(town.folder, "fugue")
