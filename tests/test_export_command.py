"""`webcrawler export`: documents as WARC files that other programs can read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import pytest
from conftest import Run
from dumped import dumped
from fastwarc.warc import ArchiveIterator, WarcRecordType
from localweb import Answer, Site, copy_at_rest, crawl, page, sites
from test_rebuild_command import WITH_INDEX
from warcio.checker import Checker

TWIN = "<title>Twin</title><p>wombat wombat"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Site]]:
    """Five documents, two of them equal, one checked and unchanged; a redirect and a missing page."""
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    routes = {
        "/": page("/a", "/twin/1", "/twin/2", "/moved", "/missing"),
        "/a": page("/umlaut"),
        "/umlaut": Answer("<title>Käfer</title>".encode("latin-1"), kind="text/html; charset=latin-1"),
        **dict.fromkeys(("/twin/1", "/twin/2"), Answer(TWIN)),
        "/moved": Answer(status=301, headers={"Location": "/a"}),
    }
    with sites(site=routes) as web:
        for more in ((), ("-a", "refresh=once")):
            done = crawl(folder, "index", "-a", f"seeds={web['site'].url}/", *more, ITEM_PIPELINES=WITH_INDEX)
            assert done.status == 0, done.log
    yield copy_at_rest(folder, folder.with_name("at-rest")), web["site"]


@pytest.fixture
def folder(crawled: tuple[Path, Site], tmp_path: Path) -> Path:
    return Path(copytree(crawled[0], tmp_path / "crawl"))


def pages_in(file: Path) -> dict[str, bytes]:
    """What FastWARC reads: the bodies of the responses by path; it checks their digests."""
    found = {}
    for record in ArchiveIterator(file.open("rb")):
        if record.record_type == WarcRecordType.response:
            assert record.verify_payload_digest()
            found["/" + record.headers["WARC-Target-URI"].split("/", 3)[3]] = record.reader.read()
    return found


@pytest.mark.slow
def test_each_document_is_a_whole_record_that_other_readers_find_valid(folder: Path, run: Run) -> None:
    file = folder / "out.warc.gz"

    told = json.loads(run("export", str(file), "--json", folder=folder).out)

    assert told == {"documents": 5, "missing": 0, "private": 0}
    pages = pages_in(file)
    assert set(pages) == {"/", "/a", "/umlaut", "/twin/1", "/twin/2"}
    assert pages["/twin/1"] == pages["/twin/2"] == TWIN.encode()
    checker = Checker(SimpleNamespace(inputs=[str(file)], verbose=False))  # as from its command line
    checker.process_all()
    assert checker.exit_value == 0


@pytest.mark.slow
def test_a_duplicate_whose_bytes_are_kept_nowhere_is_counted_as_missing(folder: Path, run: Run) -> None:
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as db, db:
        url = "SELECT number FROM urls WHERE path = '/twin/1'"
        db.execute(f"UPDATE documents SET digest = x'00' WHERE number = ({url})")

    told = json.loads(run("export", str(folder / "out.warc.gz"), "--json", folder=folder).out)

    assert told["missing"] == 1 and b"" not in pages_in(folder / "out.warc.gz").values()


@pytest.mark.slow
def test_another_folder_that_imports_it_has_the_same_documents(folder: Path, run: Run) -> None:
    run("export", str(folder / "out.warc.gz"), folder=folder)
    run("import", str(folder / "out.warc.gz"), folder=folder / "other")

    before, after = (dumped(one)["documents"] for one in (folder, folder / "other"))
    assert {(row[0], row[4]) for row in before} == {(row[0], row[4]) for row in after} != set()


@pytest.mark.slow
def test_a_query_or_a_time_chooses_documents(folder: Path, run: Run) -> None:
    def chosen(*options: str) -> set[str]:
        run("export", str(folder / "out.warc.gz"), *options, folder=folder)
        return set(pages_in(folder / "out.warc.gz"))

    assert chosen("--query", "wombat") in ({"/twin/1"}, {"/twin/2"})  # the other is its duplicate
    assert chosen("--since", "2020-01-01", "--until", "2999-01-01T12:00") == chosen()
    answered = run("export", str(folder / "none.warc.gz"), "--until", "2020-01-01", folder=folder)
    assert "no document is chosen" in answered.err and not (folder / "none.warc.gz").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name one file"),
        (("a.warc.gz", "--to", "https://search.example.org"), "name one file"),
        (("a.jsonl",), "name one that ends in .warc.gz"),
        (("a.CSV",), "`webcrawler crawl -O pages"),
        (("a.wacz",), "it writes WARC files"),
        (("a.warc",), "ends in .warc.gz"),  # what is written is compressed
        (("--to", ""), "is not the URL of a main index"),
        (("a.warc.gz", "--since", "yesterday"), "--since must be a day or a time"),
    ],
)
def test_bad_arguments_are_named(run: Run, arguments: tuple[str, ...], message: str) -> None:
    assert message in run("export", *arguments).err
