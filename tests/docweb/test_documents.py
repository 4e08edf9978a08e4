"""Crawls of docweb to the end: what stands there is found, once, and nothing else."""

import re
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from whoosh.index import open_dir

from webcrawler.archive.catalog import Catalog
from webcrawler.index.follower import wait_until_caught_up
from webcrawler.search import Searcher
from webcrawler.search.engine import MOST
from webcrawler.text import analysis

from .conftest import Crawled, Docweb
from .truth import Truth

pytestmark = [
    pytest.mark.docweb,
    pytest.mark.deep("test_kills.py asks the same of a crawl that was killed nine times"),
]

FIELDS = ["url", "title", "text", "fetched", "status", "server", "outlinks", "duplicate_of"]
ANSWERED = {"document", "duplicate", "redirect", "not-found", "not-indexable"}


@pytest.fixture(scope="module")
def crawled(crawl: Callable[..., Crawled]) -> Crawled:
    return crawl("breadth")


def test_truth_says_of_every_url_what_the_server_answers(docweb: Docweb, truth: Truth) -> None:
    proxy = HTTPConnection(urlsplit(docweb.proxy).netloc)
    spellings = [spelling for visit in truth.visits.values() for _, spelling in visit.followed]

    for url in dict.fromkeys(spellings):
        proxy.request("HEAD", url)
        response = proxy.getresponse()
        response.read()

        expected = truth.server.get(url)
        assert (response.status, response.getheader("Location", "")) == expected[:2], url
        if response.status == 200:
            assert (response.getheader("Content-Type") == "text/html") == expected.is_html, url


def test_every_document_within_robots_txt_is_found_and_no_other(crawled: Crawled, truth: Truth) -> None:
    assert crawled.documents.keys() == truth.documents.keys()


def test_every_url_comes_to_what_stands_there(crawled: Crawled, truth: Truth) -> None:
    ends = {url: history[-1][0] for url, history in crawled.fetches.items()}

    assert {url: end.replace("duplicate", "document") for url, end in ends.items()} == {
        url: visit.reason for url, visit in truth.visits.items()
    }


def test_nothing_is_fetched_twice(crawled: Crawled) -> None:
    again = {url: history for url, history in crawled.fetches.items() if len(history) > 1}

    assert all(worth_another_try for history in again.values() for _, worth_another_try in history[:-1])
    assert set(crawled.answered.values()) == {1}


def test_only_what_robots_txt_allows_is_fetched(crawled: Crawled, truth: Truth) -> None:
    allowed = {url for url, visit in truth.visits.items() if visit.reason in ANSWERED}

    assert crawled.answered.keys() == allowed


def test_of_equal_bytes_all_but_one_are_duplicates(crawled: Crawled, truth: Truth) -> None:
    duplicates = {url for url, is_duplicate in crawled.documents.items() if is_duplicate}

    assert duplicates <= set().union(*truth.twins)
    assert all(len(duplicates & twins) == len(twins) - 1 for twins in truth.twins)


def test_links_are_those_of_the_files(crawled: Crawled, truth: Truth) -> None:
    assert crawled.edges(of_redirects=False) == truth.links


def test_redirects_are_edges_of_their_own(crawled: Crawled, truth: Truth) -> None:
    assert crawled.edges(of_redirects=True) == truth.redirects


def test_graph_stats_are_those_of_the_files(crawled: Crawled, truth: Truth) -> None:
    assert crawled.json("graph", "stats") == {
        "servers": len({urlsplit(url).netloc for url in truth.documents}),
        "documents": len(truth.documents),
        "duplicates": sum(len(twins) - 1 for twins in truth.twins),
        "links": len(truth.links),
    }


def test_states_add_up_and_nothing_is_left(crawled: Crawled, truth: Truth) -> None:
    states = crawled.states

    assert states["seen"] == len(truth.visits)
    assert states["seen"] == states["done"] + states["failed"]
    assert states["queued"] == states["leased"] == states["quarantined"] == 0
    assert states["reasons"] == dict(truth.reasons)
    assert states["servers"] == len({urlsplit(url).netloc for url in truth.visits})


def test_frontier_and_catalog_tell_the_same(crawled: Crawled) -> None:
    ends = [history[-1][0] for history in crawled.fetches.values()]

    assert crawled.states["reasons"] == {reason: ends.count(reason) for reason in set(ends)}


def test_feed_has_a_line_for_each_document(crawled: Crawled, truth: Truth) -> None:
    pages = {item["url"]: item for item in crawled.items}

    assert len(crawled.items) == len(truth.documents)
    assert {url: page["title"] for url, page in pages.items()} == {
        url: document.title for url, document in truth.documents.items()
    }
    for url, page in pages.items():
        assert list(page) == FIELDS
        assert page["outlinks"] == list(truth.documents[url].links)
        assert page["server"] == f"http://{urlsplit(url).netloc}"
        assert page["status"] == 200
    fetched = [item["fetched"] for item in crawled.items]
    assert fetched == sorted(fetched)


def test_index_holds_each_text_once(crawled: Crawled, truth: Truth) -> None:
    wait_until_caught_up(crawled.folder)
    with open_dir(str(crawled.folder / "index")).searcher() as searcher:
        indexed = [stored["url"] for stored in searcher.documents()]

    texts = [url for url, is_duplicate in crawled.documents.items() if not is_duplicate]
    assert sorted(indexed) == sorted(url for url in texts if not truth.documents[url].noindex)


def test_no_page_is_marked_as_spam_by_its_own_most_frequent_words(crawled: Crawled) -> None:
    wait_until_caught_up(crawled.folder)
    searcher = Searcher(crawled.folder)
    with closing(Catalog(crawled.folder / "catalog.sqlite", readonly=True)) as catalog:
        texts = catalog.texts([number for number, _ in catalog.urls.all()]).values()
    said = (Counter(analysis.words(analysis.lower_case(text.body))).most_common(MOST) for text in texts)
    asked = {" ".join(word for word, _ in words) for words in said if words}

    found = [searcher.search(query, exact=True, explain=True).explanations for query in asked]

    assert len(asked) > 1000
    assert not [part for hits in found for parts in hits for part in parts if part.what == "stuffed"]


def test_search_finds_a_title_of_each_of_five_servers(crawled: Crawled, truth: Truth) -> None:
    wait_until_caught_up(crawled.folder)
    for url, title in _long_titles(truth, 5):
        hits = crawled.json("search", f'"{title}"')["hits"]

        assert url in [hit["url"] for hit in hits], title


def _long_titles(truth: Truth, servers: int) -> list[tuple[str, str]]:
    """(url, title): of each server the document with the longest title of plain words, no twin of another."""
    twins = set().union(*truth.twins)
    longest: dict[str, tuple[str, str]] = {}
    for url, document in sorted(truth.documents.items(), key=lambda one: len(one[1].title)):
        title = document.title
        if url not in twins and re.fullmatch(r"[A-Za-z0-9 .,:-]+", title):
            longest[urlsplit(url).netloc] = (url, title)
    return [longest[server] for server in sorted(longest)][:servers]
