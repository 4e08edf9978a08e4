"""`scrapy reindex` as people type it: old crawls come up to date, what is interrupted leaves nothing."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from localweb import scrapy
from searched import entry, publish
from test_catalog import BEFORE_LEVELS

from webcrawler.archive.catalog import Catalog
from webcrawler.background import FOLLOWER
from webcrawler.errors import BadInput, Unavailable
from webcrawler.index.follower import reindex
from webcrawler.index.whoosh import live, schema
from webcrawler.index.whoosh.folder import indexed_documents
from webcrawler.search import Searcher


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    publish(tmp_path, [entry(("http://a.test/1", "Molecular biology", "Genes and proteins"))])
    return tmp_path


UNDO = (
    *BEFORE_LEVELS,
    *(f"DROP TABLE {name}" for name in ("duplicates", "inlink_counts", "inlinks", "unlinked", "gone")),
    *(f"DROP TABLE {name}" for name in ("checks", "signs", "sitemaps", "finds")),
    *(f"DROP INDEX {name}" for name in ("fetches_by_seq", "documents_at_risk", "fetches_by_audit")),
    *(f"ALTER TABLE fetches DROP COLUMN {name}" for name in ("seq", "changed", "since", "modified")),
    *(f"ALTER TABLE fetches DROP COLUMN {name}" for name in ("audit", "conditional")),
    *(
        f"ALTER TABLE documents DROP COLUMN {name}"
        for name in ("canonical", "checked", "changed", "text_digest")
    ),
    *(f"ALTER TABLE documents DROP COLUMN {name}" for name in ("missing_since", "failing_since")),
    *(f"ALTER TABLE servers DROP COLUMN {name}" for name in ("voters", "incident_since", "probed")),
    *(f"ALTER TABLE servers DROP COLUMN missing_{name}" for name in ("words", "simhash")),
    *(f"ALTER TABLE urls DROP COLUMN {name}" for name in ("removed", "spelling")),
)


def with_older_tables(crawl_dir: Path) -> Path:
    """As before the migrations that came last."""
    path = crawl_dir / "catalog.sqlite"
    with closing(sqlite3.connect(path)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        assert version == 13, "undo the newest migration here, too"
        for statement in UNDO:
            db.execute(statement)
        db.execute("PRAGMA user_version = 2")
        db.commit()
    return path


@pytest.mark.slow
def test_a_crawl_of_an_older_version_says_what_to_do_and_is_brought_up_to_date(crawl_dir: Path) -> None:
    path = with_older_tables(crawl_dir)
    with pytest.raises(BadInput, match="made by an older version: `scrapy reindex`"):
        Catalog(path, readonly=True)

    process = scrapy("reindex", folder=crawl_dir)
    said, told = process.communicate(timeout=60)

    assert (process.returncode, said.count("\n"), told.count("\n")) == (0, 1, 1), told
    assert told.startswith("rebuilding the index")
    assert Searcher(crawl_dir, deadline_seconds=60).search("molecular").total == 1


def test_an_index_of_a_version_that_cannot_be_read_says_what_to_do(
    crawl_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "OLDEST", schema.VERSION + 1)

    with pytest.raises(Unavailable, match="made by another version: `scrapy reindex`"):
        Searcher(crawl_dir, deadline_seconds=60).search("molecular")


def test_an_index_of_an_older_version_answers_and_says_what_to_do(
    crawl_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "VERSION", schema.VERSION + 1)

    results = Searcher(crawl_dir, deadline_seconds=60).search("molecular")

    assert results.total == 1
    assert "built by an older version: `scrapy reindex`" in results.note


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
    lock = FOLLOWER.lock(crawl_dir)
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
