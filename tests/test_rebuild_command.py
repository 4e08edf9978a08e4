"""`webcrawler rebuild`: WARC files and scope alone bring back what the catalog said of every URL."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from conftest import Run
from dumped import differences, dumped
from inprocess import command
from localweb import Answer, Route, Site, copy_at_rest, crawl, page, redirect, robots, scrapy, sites
from waiting import until

from webcrawler import clock
from webcrawler.archive.catalog import Catalog, take_place
from webcrawler.archive.pages._members import members
from webcrawler.background import hold_crawl
from webcrawler.errors import Unavailable
from webcrawler.search import Searcher

WITH_INDEX = json.dumps(
    {f"pipelines.{name}": 100 + n for n, name in enumerate((
        "duplicates.DuplicatesPipeline", "pages.PagesPipeline", "linkgraph.LinkGraphPipeline",
        "fulltext.FullTextPipeline",
    ))}
)  # fmt: skip
NEWER = re.compile(rb"WARC-Crawl-(?:Token|Was|Error): [^\r]*\r\n")
SITEMAP = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>/only-here</loc>'
    "<lastmod>2026-01-02</lastmod></url><url><loc>http://foreign.test/</loc></url></urlset>"
)
LINKS = (
    "/a /same /copy /changes /leaves /noindex /header /nofollow /moved /loop /missing /forbidden /broken "
    "/failing /image /own/index.html /removed mailto:a@b.test //[bad"
)


STEADY = [f"/steady/{n}" for n in range(9)]  # some are asked without their ETag, as an audit


def _steady(site: Site) -> Answer:
    headers = {"ETag": '"of all time"'}
    is_known = site.request.headers.get("If-None-Match") == headers["ETag"]
    return Answer(status=304, headers=headers) if is_known else Answer(site.request.path, headers=headers)


ROUTES: dict[str, Route] = {
    "/robots.txt": robots("User-agent: *", "Disallow: /forbidden", "Sitemap: /sitemap.xml"),
    "/sitemap.xml": Answer(SITEMAP, kind="text/xml"),
    "/": page(*LINKS.split(), *STEADY),
    "/a": page("/", "/a?session=1#part"),
    "/same": Answer("<title>The same</title><p>word for word <a href='/from-same'>on</a>"),
    "/copy": Answer("<title>The same</title><p>word for word <a href='/from-same'>on</a>"),
    "/noindex": Answer("<meta name=robots content=noindex>hidden <a href='/from-noindex'>x</a>"),
    "/header": Answer("hidden by a header", headers={"X-Robots-Tag": "noindex"}),
    "/nofollow": Answer("<meta name=robots content=nofollow>shy <a href='/from-nofollow'>x</a>"),
    **dict.fromkeys(STEADY, _steady),
    "/moved": redirect("/a", 302),
    "/loop": redirect("/loop"),
    "/broken": Answer("<title>\x00\xe9".encode("latin-1") + b"\xff<p>not UTF-8", headers={"X-Odd": "\xe9"}),
    "/failing": Answer("try later", 503),
    "/image": Answer(b"\x89PNG....", kind="image/png"),
    "/own/index.html": Answer("<link rel=canonical href='/own/'><title>Own</title>the words of its own"),
    "/removed": page("/from-removed"),
    "/only-here": page("/a"),
}  # fmt: skip


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Crawled, checked after some pages have changed, and searched beyond; one page was removed."""
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    options = {"ITEM_PIPELINES": WITH_INDEX, "REFRESH_GONE": 0, "FRONTIER_TRIES": 2, "RANKER_ENABLED": "yes"}
    go = partial(crawl, folder, **options)
    changing = {
        "/changes": Answer("<title>Before</title><a href='/from-before'>x</a>", headers={"ETag": '"1"'}),
        "/leaves": page("/a"),
    }
    away = {f"/{n}": Answer(f"<title>Aardvark {n}</title>{'aardvarks dig ' * n}") for n in range(1, 6)}
    away["/"] = Answer(f"<title>Aardvarks</title>aardvark {' '.join(f'<a href={n}>{n}</a>' for n in away)}")
    with sites(site={**ROUTES, **changing}, away={**away, "/6": page()}) as web:
        site = web["site"]
        where = ("-a", f"seeds={site.url}/", "-a", f"sitemaps={site.url}/sitemap.xml")
        first = go("index", *where, SITEMAPS="all")
        assert first.status == 0, first.log
        site.routes["/changes"] = Answer("<title>After</title><a href='/from-after'>x</a>")
        site.routes["/leaves"] = Answer("gone", 410)
        assert go("index", "-a", "refresh=once").status == 0
        assert go("realtime", "-a", "query=aardvark", "-a", f"seeds={web['away'].url}/").status == 0
        assert command("remove", f"{site.url}/removed", folder=folder).status == 0
    yield copy_at_rest(folder, folder.with_name("at-rest"))


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "crawl", symlinks=True))


@pytest.mark.slow
@pytest.mark.parametrize("is_damaged", [False, True])
def test_the_catalog_says_the_same_of_every_url(folder: Path, run: Run, is_damaged: bool) -> None:
    before = dumped(folder)
    for view in () if is_damaged else ("index", "anchors", "ranks", "vocabulary"):
        shutil.rmtree(folder / view, ignore_errors=True)
    for file in folder.glob("catalog.sqlite*"):
        file.write_bytes(b"damaged" * 999) if is_damaged else file.unlink()

    told = json.loads(run("rebuild", "--json", folder=folder).out)

    assert differences(before, dumped(folder)) == {}
    assert told["documents"] == len(before["documents"]) and told["unreadable"] == 0
    assert {row[3] for row in before["fetches"]} == {"done", "failed"}
    assert before["signs"] and before["finds"] == []


@pytest.mark.slow
def test_what_the_crawl_met_is_what_makes_rebuilding_hard(crawled: Path) -> None:
    reasons = {f"{row[3]}/{row[4]}" for row in dumped(crawled)["fetches"]}

    hidden = {row[0].rpartition("/")[2] for row in dumped(crawled)["documents"] if row[10]}
    assert hidden == {"noindex", "header"}
    assert reasons >= {
        *("done/document", "done/duplicate", "done/redirect", "done/sitemap", "failed/not-found"),
        *("failed/redirect-loop", "failed/robots-disallowed", "failed/server-error", "failed/not-indexable"),
        "done/not-modified",
    }


@pytest.mark.slow
def test_what_was_there_stays_while_a_crawl_is_alive_or_the_catalog_is_read(folder: Path, run: Run) -> None:
    before = dumped(folder)

    with hold_crawl(folder):
        assert "a crawl or a search of the web is running" in run("rebuild", folder=folder).err
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as reader:
        reader.execute("BEGIN").execute("SELECT * FROM urls").fetchone()
        assert "end `webcrawler serve`" in run("rebuild", folder=folder).err

    assert dumped(folder) == before and not (folder / "rebuilt").exists()


@pytest.mark.slow
def test_searches_find_the_same_and_removals_and_blocks_are_obeyed(folder: Path, run: Run) -> None:
    def hits(words: str) -> list[tuple[str, int, str]]:
        found = Searcher(folder, deadline_seconds=60).search(words).hits
        return [(hit.url, hit.relevance, hit.snippet) for hit in found]

    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        blocked = catalog.find(hits("aardvark dig")[0][0])
        assert blocked
        catalog.block(blocked.server)
    run("reindex", folder=folder)
    expected = {words: hits(words) for words in ("page", "same", "to moved", "aardvark", "from-removed")}

    run("rebuild", folder=folder)

    assert expected == {words: hits(words) for words in expected}
    assert expected["page"] and not expected["aardvark"]


@pytest.mark.slow
def test_killed_it_leaves_what_was_there_and_may_be_repeated(folder: Path, run: Run) -> None:
    before = dumped(folder)
    process = scrapy("rebuild", folder=folder)
    until((folder / "rebuilt" / "catalog.sqlite").exists, "a new catalog", process)
    process.kill()
    process.communicate()
    assert dumped(folder) == before

    run("rebuild", folder=folder)

    assert differences(before, dumped(folder)) == {} and not (folder / "rebuilt").exists()


def where_answered(folder: Path, path: str) -> tuple[Path, int, int]:
    """The file with the first answer for this path, and where in it the answer begins and ends."""
    for file in sorted((folder / "pages").glob("*.warc.gz")):
        with file.open("rb") as opened:
            for begin, end, record in members(opened, 0):
                head = record.partition(b"\r\n\r\n")[0]
                is_of_path = re.search(rb"Target-URI: \S+" + path.encode() + rb"\r", head)
                if b"WARC-Type: response" in head and is_of_path:
                    return file, begin, end
    raise LookupError(path)


@pytest.mark.slow
def test_a_damaged_record_is_named_and_costs_no_other(folder: Path, run: Run) -> None:
    before = {row[0] for row in dumped(folder)["documents"]}
    path, begin, end = where_answered(folder, "/only-here")  # /same would cost /copy, which refers to it
    content = bytearray(path.read_bytes())
    content[(begin + end) // 2] ^= 0xFF
    path.write_bytes(content + b"\x1f\x8b\x08 no record")

    told = json.loads(run("rebuild", "--json", folder=folder).out)

    assert told["unreadable"] == 1
    assert len(before - {row[0] for row in dumped(folder)["documents"]}) <= 1


@pytest.mark.slow
def test_what_is_no_file_and_a_head_that_does_not_end_are_passed_over_and_named(
    folder: Path, run: Run
) -> None:
    before = {row[0] for row in dumped(folder)["documents"]}
    os.mkfifo(folder / "pages/20260101T000000-pipe.warc.gz")
    head = b"WARC/1.1\r\nWARC-Type: response\r\nX-Long: " + bytes(4 * 2**20)
    (folder / "pages/20260101T000001-long.warc.gz").write_bytes(zlib.compress(head, wbits=31))

    told = json.loads(run("rebuild", "--json", folder=folder).out)

    assert told["unreadable"] == 2
    assert told["passed_over"] == ["20260101T000000-pipe.warc.gz at 0", "20260101T000001-long.warc.gz at 0"]
    assert {row[0] for row in dumped(folder)["documents"]} == before


@pytest.mark.slow
def test_a_body_may_stand_behind_the_record_that_repeats_it(folder: Path, run: Run) -> None:
    before = {row[0] for row in dumped(folder)["documents"]}
    for number, path in enumerate(sorted((folder / "pages").glob("*.warc.gz"))):
        with path.open("rb") as file:
            kept = [member for _, _, member in members(file, 0)]
        path.unlink()
        content = b"".join(zlib.compress(member, wbits=31) for member in reversed(kept))
        path.with_name(f"no-time-{number}.warc.gz").write_bytes(content)

    run("rebuild", folder=folder)

    assert {row[0] for row in dumped(folder)["documents"]} == before


@pytest.mark.slow
def test_records_of_older_versions_bring_back_documents_and_links(folder: Path, run: Run) -> None:
    """They do not say which lease they are of, nor what it was before."""
    before = dumped(folder)
    for path in (folder / "pages").glob("*.warc.gz"):
        with path.open("rb") as file:
            kept = [NEWER.sub(b"", member) for _, _, member in members(file, 0)]
        path.write_bytes(b"".join(zlib.compress(member, wbits=31) for member in kept))

    run("rebuild", folder=folder)

    after = dumped(folder)
    assert all(after[table] == before[table] for table in ("urls", "links", "texts"))
    places = -2  # the last columns, file and offset
    assert [row[:places] for row in after["documents"]] == [row[:places] for row in before["documents"]]


def test_a_catalog_takes_the_place_of_another_with_all_that_is_in_its_log(tmp_path: Path) -> None:
    for folder, word in ((tmp_path / "new", "kept"), (tmp_path / "old", "gone")):
        folder.mkdir()
        path = folder / "catalog.sqlite"
        Catalog(path).close()
        with closing(sqlite3.connect(path)) as writer, closing(Catalog(path, readonly=True)):
            writer.execute("INSERT INTO meta VALUES ('word', ?)", (word,))
            writer.commit()
            writer.close()  # the reader is the last to close it, and cannot write the log back

    take_place(tmp_path / "new" / "catalog.sqlite", tmp_path / "old" / "catalog.sqlite")

    with closing(sqlite3.connect(tmp_path / "old" / "catalog.sqlite")) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'word'").fetchone() == ("kept",)


def test_a_catalog_is_replaced_when_who_reads_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("new", "old"):
        Catalog(tmp_path / name).close()
        with closing(sqlite3.connect(tmp_path / name)) as db:
            db.execute("INSERT INTO meta VALUES ('word', ?)", (name,))
            db.commit()
    reader = Catalog(tmp_path / "old", readonly=True)
    monkeypatch.setattr(time, "sleep", lambda _: reader.close())  # while the next try is waited for

    take_place(tmp_path / "new", tmp_path / "old")

    with closing(sqlite3.connect(tmp_path / "old")) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'word'").fetchone() == ("new",)


def test_a_catalog_is_not_replaced_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "CATALOG_WAIT_SECONDS", 0.01)
    for name in ("new", "old"):
        Catalog(tmp_path / name).close()

    with (
        closing(Catalog(tmp_path / "old", readonly=True)),
        pytest.raises(Unavailable, match=r"database is locked.*end `webcrawler serve`"),
    ):
        take_place(tmp_path / "new", tmp_path / "old")


def test_without_warc_files_it_says_so(tmp_path: Path, run: Run) -> None:
    assert "there are no WARC files" in run("rebuild", folder=tmp_path).err
