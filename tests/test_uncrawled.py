"""Pages that were never fetched: when they are hits, where they stand, and which never are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from crawled import crawled, fetched, link
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from webcrawler.index.follower import Follower
from webcrawler.records import Entry
from webcrawler.scope import Scope, change
from webcrawler.search import Searcher
from webcrawler.search.engine import CRAWLED, below

NEVER = "http://b.test/docs/never"


def about_yeast(number: int) -> Entry:
    return fetched(f"http://{number}.test/", title=f"Yeast {number}")


def searcher(folder: Path, pages: int) -> Searcher:
    """Some pages about yeast, and a page with links that call another one so."""
    links = fetched("http://a.test/", link(NEVER, "yeast yeast"), title="Links")
    more = fetched("http://c.test/", link(NEVER, "yeast"), title="Links")
    crawled(folder, links, more, *map(about_yeast, range(pages)))
    with closing(Follower(folder)) as follower:
        follower.catch_up()
    return Searcher(folder, deadline_seconds=60)


def urls(searcher: Searcher, query: str) -> list[str]:
    results = searcher.search(query, expand=False, limit=100)
    assert results.total == len(results.hits), "what is counted is shown"
    return [hit.url for hit in results.hits]


@pytest.mark.parametrize("ranking", ["bm25f", "hitlists", "peculiarity"])
def test_a_page_never_fetched_is_a_hit_below_others_where_few_answer(tmp_path: Path, ranking: str) -> None:
    found = searcher(tmp_path, CRAWLED - 1)

    assert urls(found, "yeast")[-1] == NEVER
    assert found.search("yeast", ranking=ranking, limit=100).hits[-1].url == NEVER


def test_a_page_never_fetched_is_a_hit_where_enough_others_answer_only_by_is_uncrawled(
    tmp_path: Path,
) -> None:
    found = searcher(tmp_path, CRAWLED)

    assert NEVER not in urls(found, "yeast")
    assert urls(found, "yeast is:uncrawled") == urls(found, "is:uncrawled") == [NEVER]
    assert len(urls(found, "yeast OR is:uncrawled")) == CRAWLED + 1
    assert found.search("yeast", within=["is:uncrawled"]).total == 1


def test_is_crawled_leaves_out_what_was_never_fetched(tmp_path: Path) -> None:
    found = searcher(tmp_path, 2)

    assert urls(found, "yeast is:crawled") == urls(found, "yeast -is:uncrawled") != urls(found, "yeast")
    assert NEVER not in urls(found, "yeast is:crawled")


@pytest.mark.parametrize(
    ("domains", "scope", "shown"),
    [
        ((), Scope(), True),
        (("b.test", "x.test"), Scope(include=("http://b.test/docs/*",)), True),
        (("x.test",), Scope(), False),
        ((), Scope(include=("http://x.test/*",)), False),
        ((), Scope(exclude=("http://b.test/docs/*",)), False),
        ((), Scope(removed=(NEVER,)), False),
    ],
)
def test_a_page_never_fetched_is_shown_only_within_the_bounds_of_the_crawl(
    tmp_path: Path, domains: tuple[str, ...], scope: Scope, shown: bool
) -> None:
    found = searcher(tmp_path, 1)
    change(tmp_path, lambda before: replace(scope, domains=domains))

    assert (NEVER in urls(found, "yeast")) == (NEVER in urls(found, "is:uncrawled")) == shown


def test_a_page_that_a_restored_catalog_does_not_know_is_no_hit(tmp_path: Path) -> None:
    found = searcher(tmp_path, 1)
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
        assert catalog.execute("DELETE FROM urls WHERE path = '/docs/never'").rowcount == 1
        catalog.commit()

    assert urls(found, "yeast") == ["http://0.test/"]


def test_what_ranks_below_others_is_explained_so(tmp_path: Path) -> None:
    results = searcher(tmp_path, 2).search("yeast", explain=True, expand=False)

    sums = [sum(part.contribution for part in parts) for parts in results.explanations]
    assert sums == sorted(sums, reverse=True)
    assert "ranks below pages that were" in [part.detail for part in results.explanations[-1]]


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(arrays(float, n, elements=st.floats(-1e6, 1e6)), arrays(bool, n))
    )
)
def test_scores_of_pages_never_fetched_are_below_in_their_order(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    scores, crawled = drawn

    lower = below(scores, crawled)

    assert np.array_equal(lower[crawled], scores[crawled])
    order = np.argsort(scores[~crawled], kind="stable")
    assert (np.diff(lower[~crawled][order]) >= 0).all()
    if crawled.any() and (scores[crawled] > 0).all() and (~crawled).any():
        assert lower[~crawled].max() <= lower[crawled].min() / 2 * (1 + 1e-9)
