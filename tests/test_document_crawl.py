"""A crawl reads the documents that its settings name, and says what it did not read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from inprocess import command
from localweb import Answer, Crawled, Route, Site, crawl, page
from papers import TYPES, owls, pdf, pdf_page

from webcrawler.archive.catalog import Catalog
from webcrawler.crawl import wiring

KINDS = ("pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp", "rtf", "epub", "md")
LINKED = [f"/owls.{ending}" for ending in KINDS] + [
    "/owls.txt",
    "/cut.pdf",
    "/scan.pdf",
    "/download",
    "/large.pdf",
]


@pytest.fixture(scope="module")
def web() -> Iterator[Site]:
    words = pdf_page("BT /F 12 Tf 50 700 Td (words) Tj ET")
    routes: dict[str, Route] = {
        "/": page(*LINKED),
        **{f"/owls.{ending}": Answer(owls(ending), kind=TYPES[ending]) for ending in KINDS},
        "/owls.txt": Answer("words", kind="text/plain"),
        "/cut.pdf": Answer(owls("pdf")[:500], kind="application/pdf"),
        "/scan.pdf": Answer(pdf(*pdf_page("")), kind="application/pdf"),
        "/download": Answer(pdf(*words), kind="application/octet-stream"),
        "/large.pdf": Answer(pdf(*words, "x" * 100_000), kind="application/octet-stream"),
    }
    site = Site(routes).start()
    yield site
    site.stop()


def crawled(web: Site, folder: Path, **settings: object) -> Crawled:
    web.asked.clear()
    return crawl(folder, "index", "-a", f"seeds={web.url}/", "-a", "mode=fifo", LOG_LEVEL="INFO", **settings)


@pytest.fixture(scope="module")
def reading_all(web: Site, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return crawled(web, tmp_path_factory.mktemp("all"))


@pytest.mark.slow
def test_documents_are_documents_like_pages(web: Site, reading_all: Crawled) -> None:
    read = [*(f"/owls.{ending}" for ending in KINDS), "/scan.pdf", "/download", "/large.pdf", "/"]

    assert reading_all.status == 0, reading_all.log
    assert reading_all.documents() == {web.url + path for path in read}


@pytest.mark.slow
def test_what_cannot_be_read_is_not_indexable_and_is_counted_by_its_kind(
    web: Site, reading_all: Crawled
) -> None:
    assert reading_all.reason(f"{web.url}/cut.pdf") == "failed/not-indexable"
    assert "damaged" in reading_all.fetch(f"{web.url}/cut.pdf").error
    assert web.times("/cut.pdf") == 1
    assert "'webcrawler/unread/pdf': 1" in reading_all.log


@pytest.mark.slow
def test_a_document_without_text_is_listed_as_what_may_be_a_scan(web: Site, tmp_path: Path) -> None:
    crawled(web, tmp_path, ITEM_PIPELINES=json.dumps(wiring.SETTINGS["ITEM_PIPELINES"]))

    listed = json.loads(command("pages", "--state", "empty", "--json", folder=tmp_path).out)

    assert [(one["url"], one["note"]) for one in listed] == [
        (f"{web.url}/scan.pdf", "no text: it may be a scan")
    ]


@pytest.mark.slow
def test_plain_text_is_read_where_it_is_asked_for(web: Site, reading_all: Crawled, tmp_path: Path) -> None:
    assert reading_all.frontier["states"]["refused"]["extension"] == 1  # /owls.txt
    explain = ("frontier", "explain", f"{web.url}/owls.txt", "--json")
    told = command(*explain, folder=reading_all.folder).out
    assert json.loads(told)["refused"] == "extension"

    asked = crawled(web, tmp_path, DOCUMENT_TYPES="text")

    assert asked.documents() == {f"{web.url}/", f"{web.url}/owls.txt"}


@pytest.mark.slow
def test_a_rebuild_reads_the_documents_again(web: Site, tmp_path: Path) -> None:
    before = crawled(web, tmp_path, ITEM_PIPELINES=json.dumps(wiring.SETTINGS["ITEM_PIPELINES"]))
    texts = words(before)

    rebuilt = command("rebuild", folder=tmp_path)

    assert rebuilt.status == 0, rebuilt.err
    again = Crawled(tmp_path, 0, "")
    assert words(again) == texts
    assert again.reason(f"{web.url}/cut.pdf") == "failed/not-indexable"


def words(crawled: Crawled) -> dict[str, int]:
    """How many words each document has."""
    with closing(Catalog(crawled.folder / "catalog.sqlite", readonly=True)) as catalog:
        numbers = [number for number, _ in catalog.urls.all()]
        return {one.url: one.word_count for one in catalog.documents(numbers).values()}
