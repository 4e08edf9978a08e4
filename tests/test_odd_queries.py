"""Any text from a user gives an answer: odd ones by hand, and fuzzed ones."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from runpy import run_path

import pytest
from small_web import Page, make_crawl

from webcrawler.search import Results, Searcher
from webcrawler.search.rankings import RANKINGS

ODD = run_path(str(Path(__file__).with_name("oddqueries.py")))
WORDS = [f"{first}{vowel}{last}" for first in "bdgklmnprst" for vowel in "aeiou" for last in "mn"]
HOSTS = ["a.test", "b.test:8080"]
WORST = ODD["worst_queries"](WORDS, HOSTS)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("odd")
    urls = [f"http://{HOSTS[n % 2]}/{n}" for n in range(30)]
    pages = [
        Page(url, " ".join(WORDS[n : n + 3]), " ".join(WORDS[n:] + WORDS), links=((urls[n - 1], WORDS[n]),))
        for n, url in enumerate(urls)
    ]
    make_crawl(folder, pages)
    return Searcher(folder, deadline_seconds=60)


def check(results: Results) -> None:
    relevances = [hit.relevance for hit in results.hits]
    assert len(results.hits) <= results.total
    assert relevances == sorted(relevances, reverse=True)
    assert results.asks or (results.note and not results.hits)
    assert "\n" not in results.note
    assert results.query.encode() is not None


@pytest.mark.slow
@pytest.mark.parametrize("ranking", RANKINGS)
def test_the_hundred_worst_queries_get_an_answer(searcher: Searcher, ranking: str) -> None:
    assert len(WORST) == 100
    for text in WORST.values():
        check(searcher.search(text, ranking=ranking))


@pytest.mark.slow
def test_fuzzed_queries_get_an_answer(searcher: Searcher) -> None:
    for text in islice(ODD["odd_queries"](1, WORDS, HOSTS), 500):
        words = text.split()
        check(searcher.search(text, explain=len(text) % 5 == 0, add=words[:2], within=words[2:3]))
