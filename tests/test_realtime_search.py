"""What a search makes of the pages that it is given, and when it has seen all that it fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawled import crawled, fetched

from webcrawler.crawl import CrawledPage
from webcrawler.frontier import Frontier
from webcrawler.job import seed_link
from webcrawler.realtime import journal
from webcrawler.realtime.job import RealtimeJob
from webcrawler.realtime.search import RealtimeSearch
from webcrawler.records import Fetch, Lease, Page, Text

EXAMPLE, COPY, PAGE = (f"http://{name}.test/" for name in ("example", "copy", "page"))
QUOKKAS = Text("Quokka", "", "", "", "quokka " * 20)
ZITHERS = Text("Zither", "", "", "", "zither " * 60)


def document(url: str, text: Text, *, is_duplicate: bool = False, is_indexed: bool = True) -> CrawledPage:
    lease = Lease(seed_link(url).id, url, url, server=url, token=1)
    page = Page(text.title, "", "", (), text.body, (), (), {}, noindex=not is_indexed)
    item = CrawledPage.of(Fetch(lease, "done", "document", fetched=0.0), page)
    item.duplicate_of = COPY if is_duplicate else None
    return item


def search_of(folder: Path, **arguments: str) -> RealtimeSearch:
    return RealtimeSearch(folder, RealtimeJob.read(job="one", **arguments))


def like(folder: Path, *examples: str) -> RealtimeSearch:
    return search_of(folder, strategy="seed-similarity", examples=",".join(examples))


def test_pages_are_judged_again_when_another_example_says_what_is_looked_for(tmp_path: Path) -> None:
    search = like(tmp_path, EXAMPLE, COPY)

    search.add(document(EXAMPLE, QUOKKAS))
    search.add(document(PAGE, ZITHERS))
    assert (search.fetched, search.similar) == (2, 0)
    search.add(document(COPY, ZITHERS))

    assert (search.fetched, search.similar) == (3, 1)
    assert search.journal()["query"].lower().startswith("zither")


def test_examples_do_not_count_as_found(tmp_path: Path) -> None:
    search = like(tmp_path, EXAMPLE, COPY)

    search.add(document(EXAMPLE, QUOKKAS))
    search.add(document(COPY, QUOKKAS))

    assert (search.fetched, search.similar) == (2, 0)


def test_an_example_that_is_a_duplicate_says_what_is_looked_for_and_is_not_counted(tmp_path: Path) -> None:
    search = like(tmp_path, EXAMPLE)

    search.add(document(EXAMPLE, QUOKKAS, is_duplicate=True))

    assert search.fetched == 0
    assert "quokka" in search.journal()["query"].lower()


def test_where_an_example_redirects_its_page_is_the_example(tmp_path: Path) -> None:
    crawled(tmp_path, fetched(EXAMPLE, reason="redirect", target=PAGE))
    search = like(tmp_path, EXAMPLE)

    search.add(document(COPY, ZITHERS))
    assert search.journal()["query"] == ""
    search.add(document(PAGE, QUOKKAS))

    assert "quokka" in search.journal()["query"].lower()


def test_a_page_that_may_not_be_found_is_fetched_and_not_similar(tmp_path: Path) -> None:
    search = search_of(tmp_path, query="quokka")

    search.add(document(PAGE, QUOKKAS, is_indexed=False))

    assert (search.fetched, search.similar) == (1, 0)


@pytest.mark.parametrize(("enough", "ends"), [(2, ["", "enough", "enough"]), (0, ["", "", ""])])
def test_it_ends_with_as_many_similar_pages_as_are_enough(
    tmp_path: Path, frontier: Frontier, enough: int, ends: list[str]
) -> None:
    crawled(tmp_path, fetched(EXAMPLE))
    search = search_of(tmp_path, query="quokka", enough=str(enough))
    search.begin()
    frontier.discover([seed_link(COPY)])  # something is left to do

    found = []
    for number in range(3):
        search.waiting_pages.append(document(f"{PAGE}{number}", QUOKKAS))
        found.append(search.step(frontier, lambda link: True))

    assert found == ends


@pytest.mark.parametrize(
    ("crawl", "search"),
    [
        ("finished", "nothing_left"),
        ("enough", "enough"),
        ("shutdown", "stopped"),
        ("cancelled", "stopped"),
        ("closespider_timeout", "stopped"),
        ("batch_failed", "failed"),
        ("start_error", "failed"),
    ],
)
def test_why_it_ended_is_told_in_its_own_words(tmp_path: Path, crawl: str, search: str) -> None:
    search_of(tmp_path, query="quokka").end(crawl)

    found = journal.read(tmp_path, "one")
    assert found is not None
    assert (found["state"], found["reason"]) == ("finished", search)


def test_the_end_is_told_where_the_last_list_cannot_be_had(tmp_path: Path) -> None:
    search = search_of(tmp_path, query="quokka")
    (tmp_path / "catalog.sqlite").write_bytes(b"damaged " * 1000)

    search.end("enough")

    found = journal.read(tmp_path, "one")
    assert found is not None
    assert (found["state"], found["reason"]) == ("finished", "enough")
    assert not journal.is_alive(tmp_path, "one")


def test_it_begins_where_the_catalog_cannot_be_read_yet(tmp_path: Path) -> None:
    (tmp_path / "catalog.sqlite").write_bytes(b"of an older version " * 1000)

    search = search_of(tmp_path, query="quokka")

    assert search.begin() and "it begins without the index" in search.journal()["note"]
