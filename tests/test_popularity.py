"""Popularity: what people open moves a page a little, whatever its place, where the owner wants that."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from searched import entry, publish

from webcrawler.search import Searcher
from webcrawler.settings import complaint
from webcrawler.usage import NAME, POPULARITY, QueryLog, Recorder, Shown, popularity, renew, today

A, B, C = (f"http://{name}.example/" for name in "abc")


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    """Three pages that are equally relevant for `harbour`."""
    publish(tmp_path, [entry((url, "Harbour", f"pilots steer ships {url[7]}")) for url in (A, B, C)])
    return tmp_path


def log(crawl_dir: Path, orders: list[tuple[str, ...]], opened: str, times: int = 40) -> None:
    with closing(QueryLog(crawl_dir / NAME, 30)) as kept:
        for n in range(times):
            urls = orders[n % len(orders)]
            clicks = [(n, urls.index(opened) + 1)] if opened in urls else []
            kept.write([Shown(n, today(), "pilots", 3, 0, True, urls)], clicks, today())


def test_what_is_opened_more_than_the_mean_is_popular(crawl_dir: Path) -> None:
    log(crawl_dir, [(A, B), (B, A)], opened=B)

    renew(crawl_dir)

    found = popularity(crawl_dir)
    assert found[B] > 0.2 and found[A] < -0.2


@pytest.mark.slow
def test_what_always_stands_on_top_is_not_popular_for_that(crawl_dir: Path) -> None:
    # A is on top and opened by 4 in 10; B below it, where 1 in 4 looks, by 2 in 10; C shows that 1 in 4 looks
    with closing(QueryLog(crawl_dir / NAME, 30)) as kept:
        for n in range(1_000):
            clicks = [(n, 1)] * (n % 10 < 4) + [(n, 2)] * (n % 10 in (4, 5))
            kept.write([Shown(n, today(), "pilots", 2, 0, True, (A, B))], clicks, today())
        for n in range(1_000, 2_000):
            order, rank = [(C, A), (A, C)][n % 2], [1, 2][n % 2]
            is_opened = n % 20 < 16 if rank == 1 else n % 20 < 4
            kept.write([Shown(n, today(), "ships", 2, 0, True, order)], [(n, rank)] * is_opened, today())

    renew(crawl_dir)

    assert popularity(crawl_dir)[B] > popularity(crawl_dir)[A]


def test_a_few_clicks_say_little(crawl_dir: Path) -> None:
    log(crawl_dir, [(A, B), (B, A)], opened=B, times=2)

    renew(crawl_dir)

    assert 0 < popularity(crawl_dir)[B] < 0.15


def test_a_log_without_clicks_makes_nothing_popular(crawl_dir: Path) -> None:
    log(crawl_dir, [(A, B)], opened="")

    renew(crawl_dir)

    assert popularity(crawl_dir) == {}


def test_nothing_moves_by_default(crawl_dir: Path) -> None:
    before = Searcher(crawl_dir).rank("harbour")
    (crawl_dir / POPULARITY).write_text(json.dumps({C: 0.9, A: -0.9}))

    assert Searcher(crawl_dir).rank("harbour") == before


def test_popular_pages_rise_by_no_more_than_the_setting_says_and_the_explanation_says_so(
    crawl_dir: Path,
) -> None:
    plain = dict(Searcher(crawl_dir).rank("harbour"))
    (crawl_dir / POPULARITY).write_text(json.dumps({C: 0.5, A: -1.0, "http://unknown.example/": 1}))

    searcher = Searcher(crawl_dir, popularity=0.2)
    ranked = searcher.rank("harbour")

    assert [number for number, _ in ranked] == [3, 2, 1]
    assert dict(ranked) == pytest.approx({3: plain[3] * 1.1, 2: plain[2], 1: plain[1] * 0.8})
    parts = {part.what: part for part in searcher.explain("harbour", 3)}
    assert parts["popularity"].detail == "× 1.100"
    assert sum(part.contribution for part in parts.values()) == pytest.approx(ranked[0][1])
    assert "popularity" not in {part.what for part in searcher.explain("harbour", 2)}


@pytest.mark.parametrize("content", ["", "[]", "{", '{"http://a.example/": "much"}'])
def test_a_damaged_file_moves_nothing(crawl_dir: Path, content: str) -> None:
    plain = Searcher(crawl_dir).rank("harbour")
    (crawl_dir / POPULARITY).write_text(content)

    assert Searcher(crawl_dir, popularity=0.2).rank("harbour") == plain


def test_a_searcher_sees_a_new_popularity(crawl_dir: Path) -> None:
    searcher = Searcher(crawl_dir, popularity=0.2)
    before, generation = searcher.rank("harbour"), searcher.generation
    (crawl_dir / POPULARITY).write_text(json.dumps({C: 0.9}))

    assert searcher.rank("harbour") != before and searcher.generation != generation


@pytest.mark.parametrize("learns", [True, False])
def test_the_server_learns_where_the_owner_wants_it(crawl_dir: Path, learns: bool) -> None:
    log(crawl_dir, [(A, B), (B, A)], opened=B)

    recorder = Recorder(crawl_dir, 30, learns)
    recorder.start()
    recorder.close()

    assert (B in popularity(crawl_dir)) is learns


def test_the_setting_is_a_share() -> None:
    assert complaint("SEARCH_POPULARITY", "0.2") == ""
    assert "from 0 to 1" in complaint("SEARCH_POPULARITY", "2")
