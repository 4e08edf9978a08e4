"""One process derives index, ranks and words of a data folder, whatever strikes it when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from crawled import crawled, fetched
from localweb import crawl, page, scrapy, sites
from waiting import at_rest, holder, until

from webcrawler import background
from webcrawler.archive.catalog import Catalog
from webcrawler.background import Views, hold_crawl
from webcrawler.index import applied_seq
from webcrawler.linkgraph import stored
from webcrawler.search import vocabulary
from webcrawler.search.vocabulary import Vocabulary, VocabularyRenewal, load, remake, wait_until_made
from webcrawler.views import derive

FOLDER = "vocabulary"
Start = Callable[[], subprocess.Popen[bytes]]


def small_crawl(folder: Path, *titles: str) -> Path:
    return crawled(folder, *(fetched(f"http://a.test/{title}", title=title) for title in titles))


def catalog_of(folder: Path) -> closing[Catalog]:
    return closing(Catalog(folder / "catalog.sqlite", readonly=True))


def vocabulary_of(folder: Path) -> Vocabulary:
    with catalog_of(folder) as catalog:
        vocabulary = load(folder / FOLDER, catalog.identity)
    assert vocabulary is not None
    return vocabulary


def is_complete(folder: Path) -> bool:
    with catalog_of(folder) as catalog:
        last, ranks = catalog.last_seq(), stored.load(folder / "ranks", catalog.identity)
    applied = applied_seq(folder / "index"), applied_seq(folder / "anchors"), vocabulary_of(folder).seq
    return ranks is not None and {*applied, ranks.seq} == {last}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts one as a process; those that live at the end are ended."""
    started: list[subprocess.Popen[bytes]] = []

    def views() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "webcrawler.views", str(tmp_path)]
        started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE))
        return started[-1]

    yield views
    for process in started:
        process.terminate()
        process.communicate(timeout=240)


def test_it_waits_for_a_catalog_and_ends_after_the_crawl_with_all_derived(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as beside, hold_crawl(tmp_path):
        deriving = beside.submit(derive, tmp_path, {})
        until(lambda: holder(tmp_path), "the views")
        small_crawl(tmp_path, "Encryption", "Bread")
        assert not deriving.done()

    assert deriving.result()
    assert is_complete(tmp_path)
    assert vocabulary_of(tmp_path).frequency("bread") == 1


def test_there_is_one_of_them(tmp_path: Path) -> None:
    small_crawl(tmp_path, "Bread")
    with ThreadPoolExecutor(1) as beside, hold_crawl(tmp_path):
        beside.submit(derive, tmp_path, {})
        until(lambda: holder(tmp_path), "the views")

        assert not derive(tmp_path, {})


def test_without_a_catalog_it_ends(tmp_path: Path) -> None:
    assert derive(tmp_path, {})


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    small_crawl(tmp_path, "Bread")
    derive(tmp_path, {})
    before = [(tmp_path / name).stat() for name in (f"{FOLDER}/vocabulary.npz", "ranks/ranks.bin")]

    derive(tmp_path, {})
    wait_until_made(tmp_path)

    after = [(tmp_path / name).stat() for name in (f"{FOLDER}/vocabulary.npz", "ranks/ranks.bin")]
    assert [file.st_ino for file in after] == [file.st_ino for file in before]


@pytest.mark.parametrize("view", [FOLDER, "ranks"])
def test_a_disk_that_is_full_leaves_the_others_and_ends_it_all_the_same(tmp_path: Path, view: str) -> None:
    small_crawl(tmp_path, "Bread")
    (tmp_path / view).write_text("no folder can be made here")

    assert derive(tmp_path, {})

    with catalog_of(tmp_path) as catalog:
        assert applied_seq(tmp_path / "index") == catalog.last_seq()
    with pytest.raises(OSError):
        (tmp_path / view).mkdir(exist_ok=True)


def test_words_are_due_when_a_crawl_has_grown_by_a_fifth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(vocabulary, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(background, "REST", 0)
    small_crawl(tmp_path, *map(str, range(10)))
    with catalog_of(tmp_path) as catalog:
        renewing = VocabularyRenewal(catalog, tmp_path / FOLDER)
        assert renewing.is_due()
        renewing.renew()
        assert not renewing.is_due() and not renewing.is_behind()

        small_crawl(tmp_path, "a", "b")
        assert not renewing.is_due() and renewing.is_behind()
        small_crawl(tmp_path, "c")
        assert renewing.is_due()


@pytest.mark.slow
def test_killed_in_the_middle_it_leaves_the_old_ones_and_the_next_makes_the_new(
    tmp_path: Path, start: Start
) -> None:
    small_crawl(tmp_path, "Bread")
    assert derive(tmp_path, {})
    small_crawl(tmp_path, *map(str, range(200)))
    (tmp_path / FOLDER / "vocabulary.new").write_bytes(b"of one that died while it wrote")
    process = start()
    until(lambda: holder(tmp_path) == process.pid, "the views")

    process.kill()
    process.wait()

    old = vocabulary_of(tmp_path)
    assert (old.seq, old.frequency("bread")) == (1, 1)
    assert start().wait(240) == 0
    assert is_complete(tmp_path)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["vocabulary.npz"]


@pytest.mark.slow
def test_ensure_started_starts_one_in_the_place_of_one_that_died(tmp_path: Path) -> None:
    small_crawl(tmp_path, "Bread")
    views = Views(tmp_path)
    with hold_crawl(tmp_path):
        first = views.ensure_started()
        assert first is not None
        os.kill(first.pid, signal.SIGKILL)
        first.wait()

        second = views.ensure_started()

        assert second is not None
        until(lambda: holder(tmp_path) == second.pid, "the next ones")
    assert is_complete(at_rest(tmp_path))
    assert second.wait(240) == 0


@pytest.mark.slow
def test_remaking_the_words_takes_over_from_the_one_at_work(tmp_path: Path, start: Start) -> None:
    small_crawl(tmp_path, "Bread")
    with hold_crawl(tmp_path):
        first = start()
        until(lambda: holder(tmp_path) == first.pid, "the views")

        remake(tmp_path)

        assert first.wait(240) == 0
        assert vocabulary_of(tmp_path).frequency("bread") == 1


@pytest.mark.slow
def test_after_a_crawl_and_its_report_there_are_suggestions(tmp_path: Path) -> None:
    from test_realtime import WITH_INDEX

    with sites(web={"/": page("/a", "/b"), "*": page()}) as web:
        words, why = ("index", "-a", f"seeds={web['web'].url}/"), "its views outlive it"
        crawl(tmp_path, *words, process=why, ITEM_PIPELINES=WITH_INDEX)
    process = scrapy("report", folder=tmp_path)
    process.communicate(timeout=240)

    assert process.returncode == 0
    assert vocabulary_of(tmp_path).frequency("page") > 0
    assert (tmp_path / "views.log").exists()  # the crawl has started one
    at_rest(tmp_path)
