"""The process beside a crawl that makes the vocabulary leaves one, whatever strikes it when."""

from __future__ import annotations

import json
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
from localweb import WITHOUT_INDEX, crawl, page, scrapy, sites
from waiting import at_rest, holder, until

from webcrawler import background
from webcrawler.archive.catalog import Catalog
from webcrawler.background import VOCABULARY, hold_crawl
from webcrawler.search.vocabulary import Vocabulary, builder, load
from webcrawler.search.vocabulary.builder import VocabularyRenewal

FOLDER = "vocabulary"


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
        return vocabulary_of(folder).seq == catalog.last_seq()


Start = Callable[[], subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts one as a process; those that live at the end are ended."""
    started: list[subprocess.Popen[bytes]] = []

    def one() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "webcrawler.search.vocabulary.builder", str(tmp_path)]
        started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE))
        return started[-1]

    yield one
    for process in started:
        process.terminate()
        process.communicate(timeout=240)


def test_it_ends_after_the_crawl_and_leaves_a_vocabulary(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as beside, hold_crawl(tmp_path):
        building = beside.submit(builder.keep_vocabulary, tmp_path)
        until(lambda: holder(tmp_path, VOCABULARY), "the builder")
        small_crawl(tmp_path, "Encryption", "Bread")  # it waits for a catalog
        assert not building.done()

    assert building.result()
    vocabulary = vocabulary_of(tmp_path)
    assert (vocabulary.seq, vocabulary.frequency("bread")) == (2, 1)


def test_there_is_one_of_them(tmp_path: Path) -> None:
    small_crawl(tmp_path, "Bread")
    with ThreadPoolExecutor(1) as beside, hold_crawl(tmp_path):
        beside.submit(builder.keep_vocabulary, tmp_path)
        until(lambda: holder(tmp_path, VOCABULARY), "the builder")

        assert not builder.keep_vocabulary(tmp_path)


@pytest.mark.slow
def test_killed_in_the_middle_it_leaves_the_old_one_and_the_next_makes_the_new(
    tmp_path: Path, start: Start
) -> None:
    small_crawl(tmp_path, "Bread")
    assert builder.keep_vocabulary(tmp_path)
    small_crawl(tmp_path, *map(str, range(200)))
    (tmp_path / FOLDER / "vocabulary.new").write_bytes(b"of one that died while it wrote")
    process = start()
    until(lambda: holder(tmp_path, VOCABULARY), "the builder")

    process.kill()
    process.wait()

    old = vocabulary_of(tmp_path)
    assert (old.seq, old.frequency("bread")) == (1, 1)
    assert start().wait(240) == 0
    assert is_complete(tmp_path)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["vocabulary.npz"]


def test_without_a_catalog_it_ends(tmp_path: Path) -> None:
    assert builder.keep_vocabulary(tmp_path)


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    small_crawl(tmp_path, "Bread")
    builder.keep_vocabulary(tmp_path)
    before = (tmp_path / FOLDER / "vocabulary.npz").stat()

    builder.keep_vocabulary(tmp_path)
    builder.wait_until_made(tmp_path)

    assert (tmp_path / FOLDER / "vocabulary.npz").stat().st_ino == before.st_ino


def test_a_disk_that_is_full_leaves_the_old_one_and_ends_it_all_the_same(tmp_path: Path) -> None:
    small_crawl(tmp_path, "Bread")
    (tmp_path / FOLDER).write_text("no folder can be made here")

    assert builder.keep_vocabulary(tmp_path)
    with pytest.raises(OSError):
        builder.wait_until_made(tmp_path)


def test_it_is_due_when_a_crawl_has_grown_by_a_fifth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "LEAST_SECONDS", 0.0)
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
def test_ensure_started_starts_one_in_the_place_of_one_that_died(tmp_path: Path) -> None:
    small_crawl(tmp_path, "Bread")
    with hold_crawl(tmp_path):
        VOCABULARY.ensure_started(tmp_path)
        pid = until(lambda: holder(tmp_path, VOCABULARY), "the builder")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

        VOCABULARY.ensure_started(tmp_path)

        until(lambda: holder(tmp_path, VOCABULARY) not in (0, pid), "another builder")
    assert is_complete(at_rest(tmp_path))


@pytest.mark.slow
def test_remaking_takes_over_from_the_one_at_work_and_starts_the_next(tmp_path: Path, start: Start) -> None:
    small_crawl(tmp_path, "Bread")
    with hold_crawl(tmp_path):
        first = start()
        until(lambda: holder(tmp_path, VOCABULARY), "the builder")

        builder.remake(tmp_path)

        assert first.wait(240) == 0
        assert is_complete(tmp_path)
        until(lambda: holder(tmp_path, VOCABULARY), "the next builder")
    at_rest(tmp_path)


@pytest.mark.slow
def test_after_a_crawl_and_its_report_there_are_suggestions(tmp_path: Path) -> None:
    pipelines = json.dumps(json.loads(WITHOUT_INDEX) | {"pipelines.fulltext.FullTextPipeline": 400})
    with sites(web={"/": page("/a", "/b"), "*": page()}) as web:
        words, why = ("index", "-a", f"seeds={web['web'].url}/"), "its builder outlives it"
        crawl(tmp_path, *words, process=why, ITEM_PIPELINES=pipelines)
    process = scrapy("report", folder=tmp_path)
    process.communicate(timeout=240)

    assert process.returncode == 0
    assert is_complete(tmp_path)
    assert vocabulary_of(tmp_path).frequency("page") > 0
    assert (tmp_path / "vocabulary.log").exists()  # the crawl has started one
    at_rest(tmp_path)
