"""Nothing in the files of an index is executed, and what they name does not move."""

from __future__ import annotations

import os
import pickle
from contextlib import closing
from io import BytesIO
from pathlib import Path
from pickletools import genops

import pytest
from test_catalog import page, write
from whoosh.filedb.filestore import FileStorage
from whoosh.index import TOC

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import Unavailable
from webcrawler.index.files import load, loads
from webcrawler.index.folder import NAME, read_toc
from webcrawler.index.follower import Follower
from webcrawler.index.postings import Values
from webcrawler.search import Searcher

PAGE = "http://a.test/genome"


@pytest.fixture
def crawl_dir(tmp_path: Path) -> Path:
    """With one page, which is indexed."""
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        write(catalog, page(PAGE, 1.0, "the human genome"))
    follow(tmp_path)
    return tmp_path


def follow(crawl_dir: Path) -> None:
    with closing(Follower(crawl_dir)) as following:
        following.catch_up()
        following.optimize()


def test_classes_stand_in_an_index_under_names_that_do_not_move(crawl_dir: Path) -> None:
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
        ("webcrawler.index.follower", "reindex"),
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
    assert [hit.url for hit in Searcher(crawl_dir).search("genome").hits] == [PAGE]
