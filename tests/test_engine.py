"""What the search engine gives for a query, and that it follows the catalog."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import failpoints
import numpy as np
import pytest

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import Unavailable
from webcrawler.index import Live, follower
from webcrawler.index.folder import indexed_documents
from webcrawler.index.follower import Follower
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.search import Searcher
from webcrawler.search.engine import Answer, Engine, Question
from webcrawler.search.opened import Opened
from webcrawler.text.query import parse
from webcrawler.text.reference import Reference
from webcrawler.urls import server, url_id


class Page(NamedTuple):
    url: str
    title: str
    body: str
    links: tuple[tuple[str, str], ...] = ()  # target, anchor text
    description: str = ""


HOME, HELIX, STAIRS = "http://a.test/", "http://a.test/helix", "http://b.test/stairs"
ART, COOK = "http://sub.b.test/art", "http://b.test/cook"
TWIN, SAME = "http://c.test:8080/1", "http://c.test:8080/2"
NEVER, ALSO = "http://z.test/never", "http://z.test/also"  # only linked to

PAGES = [
    Page(
        HOME,
        "Molecular biology",
        "Genes, proteins",
        ((HELIX, "the helix explained"), (NEVER, "zebra handbook")),
    ),
    Page(HELIX, "The double helix", "DNA is a double-stranded helix. A guide to DNA repair."),
    Page(
        STAIRS,
        "Stairs",
        "A helix of steps, double the price. DNA guide.",
        ((HELIX, "spiral"), (NEVER, "zebra")),
    ),
    Page(ART, "State of the art", "State of the art genetics", ((ALSO, "giraffe atlas"),)),
    Page(COOK, "Cooking", "molecular cooking with steam", (), "kitchen chemistry"),
    Page(TWIN, "Brewer", "yeast genome"),
    Page(SAME, "Brewer", "yeast genome"),
]


def entry(page: Page, fetched: float = 1.0, status: int = 200) -> tuple[Entry, None]:
    lease = Lease(url_id(page.url), page.url, page.url, server(page.url), token=1)
    outcome = ("done", "document") if status == 200 else ("failed", "not-found")
    fetch = Fetch(lease, *outcome, fetched, status=status, headers=(("Content-Type", "text/html"),))
    links = tuple(Link(url, url_id(url), url, anchor) for url, anchor in page.links)
    text = Text(page.title, "", page.description, "", page.body) if status == 200 else None
    return Entry(fetch, sha1(page.url.encode() + page.body.encode()).digest(), links=links, text=text), None


def write(crawl_dir: Path, *pages: Page, fetched: float = 1.0, status: int = 200) -> None:
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        catalog.write([entry(page, fetched, status) for page in pages])


def follow(crawl_dir: Path) -> None:
    with closing(Follower(crawl_dir)) as following:
        following.catch_up()


def searching(crawl_dir: Path) -> Engine:
    reading = Live(crawl_dir).reading()
    assert reading is not None
    return Engine(reading, Opened(crawl_dir), Reference([("word", 0.1)]))


def ask(search: Engine, text: str, within: Iterable[str] = ()) -> Answer:
    question = Question(text, within=tuple(within))
    return search.answer(parse(text), question, lambda: False, shown=False)


def urls(crawl_dir: Path, pages: Iterable[int]) -> list[str]:
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        known = catalog.urls.of(list(map(int, pages)))
    return [known[int(page)] for page in pages]


def found(crawl_dir: Path, text: str) -> list[str]:
    """Best first."""
    answer = ask(searching(crawl_dir), text)
    assert answer.total == len(answer.pages)
    return urls(crawl_dir, answer.pages)


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine")
    write(folder, *PAGES)
    follow(folder)
    return folder


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    """The same, to be changed."""
    write(tmp_path, *PAGES)
    follow(tmp_path)
    return tmp_path


# Which pages


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("molecular", {HOME, COOK}),
        ("molecular yeast", {HOME, COOK, TWIN, SAME}),  # some of the words will do
        ("nosuchword", set()),
        ("", set()),
        ("the of", {HELIX, STAIRS, ART}),  # function words: there is nothing else
        ("kitchen", {COOK}),  # in the description
        ("stairs", {STAIRS}),
        ("never", set()),  # words of a URL are those of documents
        ("+helix +dna", {HELIX, STAIRS}),
        ("+double +explained", {HELIX}),  # the one in the text, the other in an anchor
        ("+zebra +molecular", set()),
        ("dna -stairs", {HELIX}),
        ("dna -spiral", {STAIRS}),  # excluded by an anchor
        ("helix -title:helix", {STAIRS}),
        ("zebra", {NEVER}),  # never fetched, found by its anchors
        ("zebra -handbook", set()),
        ("giraffe OR genome", {ALSO, TWIN, SAME}),
        ("(genome OR zebra) -brewer", {NEVER}),
        ("+(dna OR zebra) +(guide OR handbook)", {HELIX, STAIRS, NEVER}),
        ('"double helix"', {HELIX}),
        ('"helix double"', set()),
        ('"state of the art"', {ART}),
        ('"state art"', set()),  # every word has its place
        ('"helix explained"', {HELIX}),  # in an anchor
        ('"explained spiral"', set()),  # no phrase spans two anchors
        ('"explained spiral"~1000', set()),
        ('"helix double"~3', {HELIX, STAIRS}),
        ('"helix double"~2', {HELIX}),
        ('"guide dna"~1', {STAIRS}),  # in any order
        ("title:helix", {HELIX}),
        ("title:zebra", set()),
        ('title:"state of the art"', {ART}),
        ("gen*", {HOME, ART, TWIN, SAME}),
        ("title:brew*", {TWIN, SAME}),
        ("zeb*", {NEVER}),
        ("genetics*", {ART}),  # also by its stem
        ("site:b.test", {STAIRS, ART, COOK}),
        ("site:c.test:8080", {TWIN, SAME}),
        ("site:z.test", {NEVER, ALSO}),
        ("zebra site:z.test", {NEVER}),
        ("dna -site:a.test", {STAIRS}),
        (f"link:{HELIX}", {HOME, STAIRS}),
        (f"link:{NEVER} molecular", {HOME}),
        ("link:http://nowhere.test/", set()),
    ],
)
def test_pages_that_answer(crawl_dir: Path, query: str, expected: set[str]) -> None:
    assert set(found(crawl_dir, query)) == expected


def test_a_search_within_the_results_of_another(crawl_dir: Path) -> None:
    answer = ask(searching(crawl_dir), "dna", within=["double", "guide -explained"])

    assert urls(crawl_dir, answer.pages) == [STAIRS]


def test_a_prefix_stands_for_a_hundred_terms_and_excludes_all(tmp_path: Path) -> None:
    write(tmp_path, *(Page(f"http://a.test/{n}", "", f"yeast zz{n:03}") for n in range(150)))
    write(tmp_path, Page("http://b.test/", "", "yeast alone"))
    follow(tmp_path)

    assert len(found(tmp_path, "zz*")) == 100
    assert found(tmp_path, "yeast -zz*") == ["http://b.test/"]


def test_a_ligature_of_many_words_is_one_term(tmp_path: Path) -> None:
    write(tmp_path, Page("http://a.test/", "", "before ﷺ after"))  # NFKC makes four words of it
    follow(tmp_path)

    assert found(tmp_path, "ﷺ") == ["http://a.test/"]
    assert found(tmp_path, '"before ﷺ after"') == ["http://a.test/"]


# In which order, and why


def test_of_equal_scores_the_older_page_comes_first(crawl_dir: Path) -> None:
    assert found(crawl_dir, "yeast") == [TWIN, SAME]


def test_best_comes_first_and_scores_descend(crawl_dir: Path) -> None:
    answer = ask(searching(crawl_dir), "double helix dna explained")

    assert urls(crawl_dir, answer.pages)[0] == HELIX
    assert (np.diff(answer.scores) <= 0).all()


@pytest.mark.parametrize("query", ["double helix", "molecular zebra", "gen* biology", '"dna guide" -art'])
def test_parts_of_an_explanation_sum_up_to_the_score(crawl_dir: Path, query: str) -> None:
    answer = ask(searching(crawl_dir), query)

    assert answer.total
    sums = [sum(part.contribution for part in parts) for parts in answer.explain(answer.pages.tolist())]
    assert sums == pytest.approx(answer.scores.tolist(), rel=1e-5)


def test_what_is_late_is_partial(crawl_dir: Path) -> None:
    search = searching(crawl_dir)

    answer = search.answer(parse("dna -spiral"), Question(""), lambda: True, shown=False)

    assert answer.partial
    assert HELIX not in urls(crawl_dir, answer.pages)


# Following


def test_a_page_fetched_again_is_found_by_its_new_words_only(indexed: Path) -> None:
    write(indexed, Page(COOK, "Baking", "bread"), fetched=2.0)
    follow(indexed)

    assert found(indexed, "bread") == [COOK]
    assert found(indexed, "steam") == []
    assert indexed_documents(indexed / "index") == len(PAGES)


def test_a_page_that_is_gone_is_not_found(indexed: Path) -> None:
    write(indexed, Page(COOK, "", ""), fetched=2.0, status=410)
    follow(indexed)

    assert found(indexed, "steam") == []
    assert indexed_documents(indexed / "index") == len(PAGES) - 1


def test_anchors_go_with_the_page_that_had_them(indexed: Path) -> None:
    write(indexed, Page(HOME, "Home", "no links any more"), fetched=2.0)
    follow(indexed)

    assert found(indexed, "explained") == []
    assert found(indexed, "zebra") == [NEVER]  # another page calls it so, too


def test_following_goes_on_where_it_ended(tmp_path: Path) -> None:
    write(tmp_path, *PAGES[:3])
    follow(tmp_path)
    write(tmp_path, *PAGES[3:])

    with closing(Follower(tmp_path)) as following:
        assert following.applied > 0
        following.catch_up()

    assert set(found(tmp_path, "molecular yeast")) == {HOME, COOK, TWIN, SAME}
    assert follower.lag(tmp_path) == 0


def test_a_generation_is_of_one_commit(tmp_path: Path) -> None:
    write(tmp_path, *PAGES[:3])
    search = Searcher(tmp_path)
    before = search.generation
    follow(tmp_path)
    first, same = search.generation, search.generation
    write(tmp_path, *PAGES[3:])
    follow(tmp_path)

    assert before != first == same != search.generation
    assert urls(tmp_path, ask(searching(tmp_path), "steam").pages) == [COOK]


def test_a_commit_of_anchors_is_a_generation_too(tmp_path: Path) -> None:
    write(tmp_path, *PAGES)
    with closing(Follower(tmp_path)) as following:
        while following.step():
            pass
        search = Searcher(tmp_path)
        first = search.generation
        following.catch_up()

    assert search.generation != first
    assert urls(tmp_path, ask(searching(tmp_path), "zebra").pages) == [NEVER]


def test_reindex_puts_a_new_index_in_the_place_of_the_old(indexed: Path) -> None:
    search = Searcher(indexed)
    first = search.generation

    follower.reindex(indexed)

    assert search.generation != first
    assert urls(indexed, ask(searching(indexed), "zebra").pages) == [NEVER]
    assert sorted(path.name for path in indexed.glob("index*") if path.is_dir()) == ["index"]


def test_a_damaged_index_is_made_anew(indexed: Path, caplog: pytest.LogCaptureFixture) -> None:
    (toc,) = (indexed / "index").glob("*.toc")
    toc.write_bytes(b"torn")
    with pytest.raises(Unavailable, match="webcrawler reindex"):
        _ = Searcher(indexed).generation

    with caplog.at_level(logging.WARNING):
        follow(indexed)

    assert "rebuilt" in caplog.text
    assert found(indexed, "steam") == [COOK]


@pytest.mark.parametrize("others", [PAGES[5:], PAGES[::-1]], ids=["fewer", "as many"])
def test_an_index_of_another_catalog_does_not_answer_and_is_made_anew(
    indexed: Path, others: list[Page]
) -> None:
    for path in indexed.glob("catalog.sqlite*"):
        path.unlink()
    write(indexed, *others)
    with pytest.raises(Unavailable, match="of another catalog: `webcrawler reindex`"):
        _ = Searcher(indexed).generation

    follow(indexed)

    assert indexed_documents(indexed / "index") == len(others)
    assert set(found(indexed, "cooking yeast")) == {page.url for page in others} & {COOK, TWIN, SAME}


@pytest.mark.parametrize("failpoint", ["index.read", "index.applied", "anchors.read"])
def test_a_killed_follower_is_followed_by_one_that_ends_the_work(tmp_path: Path, failpoint: str) -> None:
    write(tmp_path, *PAGES)
    command = [sys.executable, "-m", "webcrawler.views", str(tmp_path)]
    killed = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        env=os.environ | failpoints.environment(f"{failpoint}:kill"),
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL

    follow(tmp_path)

    assert indexed_documents(tmp_path / "index") == len(PAGES)
    assert set(found(tmp_path, "steam zebra")) == {COOK, NEVER}
