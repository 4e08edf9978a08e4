"""Searches of a cluster find and show what searches of the data folder do."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import pytest
from crawled import link
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import Unavailable
from webcrawler.index import Live, reindex
from webcrawler.opensearch import ClusterSearcher
from webcrawler.opensearch.query import pages
from webcrawler.records import Entry, Fetch, Hit, Lease, Text
from webcrawler.search import Opened, Searcher
from webcrawler.search.masks import match
from webcrawler.text.query import nodes
from webcrawler.urls import canonical, server, url_id
from webcrawler.web import Config, make_app

from . import sunk
from .opensearch import Cluster as Nodes

pytestmark = [pytest.mark.opensearch, pytest.mark.timeout(900)]  # nodes start slowly beside other tests

WORDS = {
    "en": "undo last commit branch merges running tests write ahead log c++ -Wall os.path.join cafés news",
    "de": "Konfigurationsdatei Größe Häuser Datei news laufen Konfiguration undo",
    "fr": "nouvelles café maisons fichier journal commit",
}
SITES = ["http://a.test", "http://docs.a.test", "http://b.test:8080"]
PAGES_THERE = 120
TERMS = [
    "undo",
    "last",
    "commit",
    "branch",
    "merg",
    "run",
    "test",
    "write",
    "ahead",
    "log",
    "c++",
    "-Wall",
    "os",
    "path",
    "join",
    "cafe",
    "café",
    "news",
]
SEVERAL = ["news|fr:nouvell", "hous|de:haus", "file|de:datei|fr:fichi", "run|de:lauf", "gross|de:gross"]
FIELDS = ["", "", "", "title", "body", "anchor"]
QUERIES = """undo
undo commit
"write ahead log"
"last undo commit"~8
+commit -branch
(undo OR nouvelles) AND NOT merges
title:commit
bran* tests
site:a.test undo
site:b.test:8080 log
lang:de undo
lang:fr commit
c++
os.path.join
-Wall
Häuser
Größe
cafés
is:uncrawled news
changed:>1970-01-01 log
running tests write ahead log last branch commit
zyzzyva""".splitlines()


class Searched(NamedTuple):
    folder: Path
    url: str
    nodes: Nodes

    @property
    def own(self) -> Searcher:
        return Searcher(self.folder, deadline_seconds=60)

    @property
    def cluster(self) -> ClusterSearcher:
        return ClusterSearcher(self.url, self.folder, deadline_seconds=60)


def _page(n: int, drawn: random.Random) -> Entry:
    language = drawn.choice(["en", "en", "en", "de", "fr"])
    words = WORDS[language].split()
    body = "\n".join(" ".join(drawn.choices(words, k=drawn.randint(5, 30))) + "." for _ in range(3))
    url = canonical(f"{drawn.choice(SITES)}/{drawn.choice(words).lower()}/{n}")
    targets = [canonical(f"{drawn.choice(SITES)}/new/{drawn.randint(0, 40)}") for _ in range(3)]
    links = tuple({to: link(to, " ".join(drawn.choices(words, k=2))) for to in targets}.values())
    fetch = Fetch(
        Lease(url_id(url), url, url, server(url), n),
        *("done", "document", 86_400.0 * (n + 1), 0.1, 200, (("Content-Type", "text/html"),)),
    )
    text = Text(" ".join(drawn.choices(words, k=3)), "", "", "", body, language=language)
    return Entry(fetch, url.encode(), links=links, text=text)


@pytest.fixture(scope="session")
def searched(opensearch: Nodes, tmp_path_factory: pytest.TempPathFactory) -> Searched:
    return searched_in(opensearch, tmp_path_factory.mktemp("searched"))


def searched_in(nodes: Nodes, folder: Path) -> Searched:
    drawn, url = random.Random(33), nodes.url("searched")
    sunk.write(folder, *(_page(n, drawn) for n in range(PAGES_THERE)))
    reindex(folder)
    sunk.sunk(folder, url)
    for kind in ("pages", "named"):
        nodes.ask(f"/searched-{kind}/_refresh", "POST")
    return Searched(folder, url, nodes)


def leaves() -> st.SearchStrategy[nodes.Node]:
    term = st.sampled_from(TERMS + SEVERAL)
    field = st.sampled_from(FIELDS)
    several = st.lists(term, min_size=2, max_size=4, unique=True).map(tuple)
    return st.one_of(
        st.builds(nodes.Word, term, field),
        st.builds(nodes.Phrase, several, field, st.sampled_from([0, 0, 1, 2, 3, 5, 8, 40])),
        st.builds(nodes.Prefix, st.sampled_from(["un", "com", "lo", "konfig", "runn", "c"]), field),
        st.builds(nodes.Site, st.sampled_from(["a.test", "docs.a.test", "b.test:8080", "b.test", "test"])),
        st.builds(nodes.Link, st.sampled_from([f"{site}/new/{n}" for site in SITES for n in range(9)])),
        st.builds(nodes.Changed, st.sampled_from([">1970-02-01", "1970-02-03..1970-03-01", "<=1970-01-20"])),
        st.builds(nodes.Lang, st.sampled_from(["en", "de", "fr", "it"])),
        st.builds(nodes.Is, st.sampled_from(["crawled", "uncrawled"])),
    )


def trees() -> st.SearchStrategy[nodes.Node]:
    return st.recursive(
        leaves(),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(nodes.all_of),
            st.lists(inner, min_size=2, max_size=3).map(nodes.any_of),
            inner.map(nodes.negated),
        ),
        max_leaves=5,
    )


@pytest.fixture(scope="session")
def found_here(searched: Searched) -> Iterator[Any]:
    reading, opened = Live(searched.folder).reading(), Opened(searched.folder)
    assert reading

    def found(node: nodes.Node) -> set[str]:
        mask = match(
            node, reading, opened.linking_to, lambda: False, enough=1 << 30, changed=opened.changed
        ).mask
        with closing(Catalog(searched.folder / "catalog.sqlite", readonly=True)) as catalog:
            return set(catalog.urls.of(mask.nonzero()[0].tolist()).values())

    yield found


@settings(max_examples=300, deadline=None)
@given(node=trees())
def test_a_cluster_finds_the_same_pages(searched: Searched, found_here: Any, node: nodes.Node) -> None:
    body = {"query": pages(node), "size": 10_000}
    names = "/searched-pages,searched-named/_search"

    found = searched.nodes.ask(names, "POST", body)["hits"]["hits"]

    assert {hit["_source"]["url"] for hit in found} == found_here(node)


def _compared(hit: Hit) -> Hit:
    """Of a page that was never fetched, a cluster knows the most frequent anchor text only."""
    hit = hit._replace(relevance=0, from_server=0)  # which of equal hits are among the first is not said
    return hit if hit.fetched else hit._replace(number=0, title="", snippet="")


@pytest.mark.parametrize("query", QUERIES)
def test_a_cluster_answers_as_the_folder_does(searched: Searched, query: str) -> None:
    own, other = (
        one.search(query, limit=10, facets=True, explain=True) for one in (searched.own, searched.cluster)
    )

    assert other.total == own.total
    assert other.counts == own.counts
    assert [hit.url for hit in other.hits] == [hit.url for hit in own.hits]
    assert other.note == own.note
    for hit, same in zip(other.hits, own.hits, strict=True):
        assert abs(hit.relevance - same.relevance) <= 20  # lengths of titles are rounded in the folder
        assert _compared(hit) == _compared(same)
    for parts, same_parts in zip(other.explanations, own.explanations, strict=True):
        assert {part.what for part in parts} == {part.what for part in same_parts}


def test_what_changed_last_comes_first(searched: Searched) -> None:
    own, other = (one.search("commit", sort="changed").hits for one in (searched.own, searched.cluster))

    assert [hit.url for hit in other] == [hit.url for hit in own]
    assert [hit.changed for hit in other] == sorted((hit.changed for hit in own), reverse=True)


def test_a_search_within_results_finds_only_those(searched: Searched) -> None:
    wanted = searched.own.search("commit", within=["undo"])

    assert searched.cluster.search("commit", within=["undo"]).total == wanted.total > 0


def test_a_hit_is_explained_by_its_number(searched: Searched) -> None:
    hit = searched.cluster.search("undo commit").hits[0]

    parts = searched.cluster.explain("undo commit", hit.number)

    assert {part.what for part in parts} == {
        part.what for part in searched.own.explain("undo commit", hit.number)
    }
    assert searched.cluster.explain("zyzzyva", hit.number) == []


def test_one_without_a_folder_answers_too(searched: Searched, tmp_path: Path) -> None:
    wanted = [hit.url for hit in searched.own.search("undo commit").hits]

    hits = ClusterSearcher(searched.url, tmp_path, deadline_seconds=60).search("undo commit").hits

    assert [hit.url for hit in hits] == wanted
    assert not any(hit.cached for hit in hits)


def test_the_search_page_and_its_api_are_the_same(searched: Searched) -> None:
    own, other = (
        TestClient(make_app(Config(searched.folder, search_url=url, deadline_seconds=60)), "http://localhost")
        for url in ("", searched.url)
    )

    with own, other:
        page, wanted = (one.get("/search", params={"q": "undo commit"}) for one in (other, own))
        api, wanted_api = (one.get("/api/search", params={"q": "undo"}).json() for one in (other, own))
        home = other.get("/").text
        health = other.get("/healthz").json()

    assert page.status_code == wanted.status_code == 200
    assert page.text.count("<li") == wanted.text.count("<li")
    assert {key: type(value) for key, value in api.items()} == {
        key: type(value) for key, value in wanted_api.items()
    }
    assert api["hits"][0].keys() == wanted_api["hits"][0].keys()
    assert f"{PAGES_THERE} pages can be searched" in home
    assert health == {"status": "ok"}


def test_a_collection_that_is_not_there_has_nothing_indexed(opensearch: Nodes, tmp_path: Path) -> None:
    found = ClusterSearcher(opensearch.url("nowhere"), tmp_path).search("undo")

    assert not found.indexed
    assert "nothing is in the cluster yet" in found.note


def test_pages_that_do_not_answer_are_not_taken_for_none(opensearch: Nodes, tmp_path: Path) -> None:
    index, url = "/away-pages-000001", opensearch.url("away")
    sunk.sunk(sunk.write(tmp_path, *sunk.pages(1)), url)
    uuid = opensearch.ask(f"{index}/_settings")[index[1:]]["settings"]["index"]["uuid"]
    opensearch.ask(f"{index}/_close", "POST")
    for files in opensearch.nodes[0].home.glob(f"**/indices/{uuid}/0/index"):
        rmtree(files)
    opensearch.ask(f"{index}/_open?wait_for_active_shards=0", "POST")

    with pytest.raises(Unavailable, match="a part of the cluster does not answer"):
        ClusterSearcher(url, tmp_path, deadline_seconds=60).search("body")

    opensearch.ask(index, "DELETE")


def test_a_cluster_that_is_away_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no node of the cluster answers"):
        ClusterSearcher("http://127.0.0.1:9/none", tmp_path).search("undo")
