"""Indexes that older code left: they answer until they are rebuilt, and nothing in them is executed."""

from __future__ import annotations

import os
import pickle
import sqlite3
import tarfile
from contextlib import closing
from io import BytesIO
from pathlib import Path
from pickletools import genops

import pytest
from whoosh.filedb.filestore import FileStorage
from whoosh.index import TOC

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, Unavailable
from webcrawler.index import follower
from webcrawler.index.changes import Follower
from webcrawler.index.follower import lag
from webcrawler.index.whoosh.files import load, loads
from webcrawler.index.whoosh.folder import NAME, read_toc
from webcrawler.index.whoosh.values import Values
from webcrawler.search import Searcher

OLD = Path(__file__).parent / "fixtures" / "index-93d953f.tar.gz"


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    """As commit 93d953f left it, see `fixtures/README.md`."""
    with tarfile.open(OLD) as archive:
        archive.extractall(tmp_path, filter="data")
    Catalog(tmp_path / "catalog.sqlite").close()  # brings its tables up to date, as a crawl does
    return tmp_path


def found(crawl_dir: Path, query: str) -> set[str]:
    return {hit.url.rpartition("/")[2] for hit in Searcher(crawl_dir).search(query).hits}


def make_older(crawl_dir: Path) -> None:
    with closing(sqlite3.connect(crawl_dir / "catalog.sqlite")) as catalog:
        catalog.execute("DROP TABLE blocks")  # of migration 13
        catalog.execute("PRAGMA user_version = 12")


def follow(crawl_dir: Path) -> None:
    with Follower(crawl_dir) as following:
        following.catch_up()
        following.optimize()


def test_an_index_of_93d953f_answers(crawl_dir: Path) -> None:
    assert found(crawl_dir, "genome") == {"genome", "long"}
    assert found(crawl_dir, '"right genome"') == {"long"}  # at positions above 4,095
    assert found(crawl_dir, "anchor") == {"never-fetched", "star"}


def test_a_catalog_of_an_older_version_answers_until_it_is_brought_up_to_date(crawl_dir: Path) -> None:
    make_older(crawl_dir)

    assert found(crawl_dir, "genome") == {"genome", "long"}
    assert "older version: `scrapy reindex`" in Searcher(crawl_dir).search("genome").note
    assert lag(crawl_dir) > 0  # as `scrapy search` says
    with pytest.raises(BadInput, match="scrapy reindex"):
        Catalog(crawl_dir / "catalog.sqlite", readonly=True)


def test_an_index_of_93d953f_is_rebuilt_by_its_follower(
    crawl_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert "older version" in Searcher(crawl_dir).search("genome").note

    follow(crawl_dir)

    assert "rebuilt" in caplog.text
    assert "older version" not in Searcher(crawl_dir).search("genome").note
    assert found(crawl_dir, "genome") == {"genome", "long", "new"}
    assert found(crawl_dir, "human") == {"genome"}  # the other one was deleted
    assert found(crawl_dir, '"anchor of never-fetched"') == {"never-fetched"}


def test_an_index_of_93d953f_answers_until_the_new_one_is_complete(crawl_dir: Path) -> None:
    answers: list[set[str]] = []

    follower.wait_until_caught_up(crawl_dir, lambda applied, last: answers.append(found(crawl_dir, "genome")))

    assert answers[:-1] == [{"genome", "long"}] * (len(answers) - 1) != []
    assert found(crawl_dir, "genome") == {"genome", "long", "new"}


def test_a_follower_of_both_waits_until_a_crawl_brings_the_catalog_up_to_date(
    crawl_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_older(crawl_dir)

    assert follower.follow(crawl_dir)  # no crawl is alive

    assert "scrapy reindex" in caplog.text
    assert found(crawl_dir, "genome") == {"genome", "long"}


def test_classes_stand_in_an_index_under_names_that_do_not_move(crawl_dir: Path) -> None:
    follow(crawl_dir)

    toc = read_toc(crawl_dir / "index")
    pickled = [pickle.dumps(toc.schema, 2), pickle.dumps(toc.segments), pickle.dumps(Values.of([b"12"]), 3)]
    named = [str(name) for data in pickled for _, name, _ in genops(data) if "webcrawler" in str(name)]
    assert {name.split()[0] for name in named} == {"webcrawler.index"}


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("builtins", "eval"),
        ("whoosh.filedb.misc", "depickle"),  # which would read anything again
        ("webcrawler.index.follower", "main"),
        ("webcrawler.search", "Values"),
    ],
)
def test_a_pickle_names_nothing_but_parts_of_an_index(module: str, name: str) -> None:
    pickled = f"c{module}\n{name}\n.".encode()

    for read in (lambda: loads(pickled), lambda: load(BytesIO(pickled))):
        with pytest.raises(pickle.UnpicklingError, match="is not part of an index"):
            read()


class Planted:
    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> object:
        return os.mkdir, (str(self._file),)


@pytest.mark.parametrize("place", ["schema", "segments"])
def test_nothing_that_is_planted_in_a_commit_is_executed(
    crawl_dir: Path, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    toc, trace = read_toc(crawl_dir / "index"), crawl_dir / "trace"
    if place == "schema":
        toc.schema.planted = Planted(trace)
    else:
        toc.segments.append(Planted(trace))
    TOC(toc.schema, toc.segments, toc.generation + 1).write(FileStorage(str(crawl_dir / "index")), NAME)

    with pytest.raises(Unavailable, match="is not part of an index"):
        Searcher(crawl_dir).search("genome")
    follow(crawl_dir)

    assert not trace.exists()
    assert "rebuilt" in caplog.text
    assert found(crawl_dir, "genome") == {"genome", "long", "new"}
