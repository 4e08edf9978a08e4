"""`webcrawler reindex` as people type it: it builds the index anew, what is interrupted leaves nothing."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from localweb import scrapy
from searched import entry, publish

from webcrawler.archive.catalog import Catalog
from webcrawler.background import Views
from webcrawler.errors import BadInput, Unavailable
from webcrawler.index import folder, live, schema
from webcrawler.index.folder import indexed_documents
from webcrawler.index.follower import reindex, wait_until_caught_up
from webcrawler.search import Searcher


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    publish(tmp_path, [entry(("http://a.test/1", "Molecular biology", "Genes and proteins"))])
    return tmp_path


@pytest.mark.slow
def test_it_says_in_one_line_what_it_does(crawl_dir: Path) -> None:
    process = scrapy("reindex", folder=crawl_dir)
    said, told = process.communicate(timeout=60)

    assert (process.returncode, said.count("\n"), told.count("\n")) == (0, 1, 1), told
    assert told.startswith("rebuilding the index")
    assert Searcher(crawl_dir, deadline_seconds=60).search("molecular").total == 1


def test_an_index_of_another_version_says_what_to_do_and_is_built_anew_by_its_follower(
    crawl_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (live, schema, folder):
        monkeypatch.setattr(module, "VERSION", schema.VERSION + 1)
    with pytest.raises(Unavailable, match="made by another version: `webcrawler reindex`"):
        Searcher(crawl_dir, deadline_seconds=60).search("molecular")

    wait_until_caught_up(crawl_dir)

    assert Searcher(crawl_dir, deadline_seconds=60).search("molecular").total == 1


@pytest.mark.parametrize("readonly", [True, False])
def test_a_catalog_of_another_version_says_what_to_do(crawl_dir: Path, readonly: bool) -> None:
    with closing(sqlite3.connect(crawl_dir / "catalog.sqlite")) as db:
        db.execute("PRAGMA user_version = 12")

    with pytest.raises(BadInput, match="another version of this program: `webcrawler rebuild`"):
        Catalog(crawl_dir / "catalog.sqlite", readonly)


@pytest.mark.parametrize("readonly", [True, False])
def test_a_database_of_somebody_else_is_no_catalog_and_stays_as_it_is(tmp_path: Path, readonly: bool) -> None:
    path = tmp_path / "catalog.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE mine (number INTEGER)")

    with pytest.raises(BadInput, match="is not a catalog"):
        Catalog(path, readonly)

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


@pytest.mark.slow
def test_told_to_end_it_says_one_line_and_leaves_the_index_as_it_was(crawl_dir: Path) -> None:
    lock = Views(crawl_dir).lock()
    assert lock is not None
    with lock:  # it waits for this
        process = scrapy("reindex", folder=crawl_dir)
        assert process.stderr is not None
        assert process.stderr.readline().startswith("rebuilding the index")
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)

    assert process.returncode == 1
    assert told.count("\n") == 1 and told.startswith("interrupted: ")
    assert indexed_documents(crawl_dir / "index") == 1


@pytest.mark.slow
def test_interrupted_it_leaves_nothing_half_built(crawl_dir: Path) -> None:
    def interrupt(applied: int, last: int) -> None:
        assert (crawl_dir / "index.new").exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reindex(crawl_dir, interrupt)

    assert not list(crawl_dir.glob("*.new"))
    assert indexed_documents(crawl_dir / "index") == 1
