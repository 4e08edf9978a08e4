"""The copy of a page that the archive holds, found by its page number."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import Record, record_at
from webcrawler.errors import BadInput, Unavailable
from webcrawler.parsing import markup
from webcrawler.records import Document
from webcrawler.web.cached.sanitiser import MAX_CHARACTERS, Copy, forbids_copies, sanitised
from webcrawler.web.cached.simplifier import Marks

DAMAGED = "The copy of that page cannot be read: its file is missing or damaged."


class NoCopy(Exception):
    """Raised when there is nothing to show; `status` is 404, or 410 where there was something once."""

    def __init__(self, why: str, status: int = 404) -> None:
        super().__init__(why)
        self.status = status


class Archived(NamedTuple):
    url: str  # canonical
    title: str
    fetched: float
    copy: Copy


def archived(crawl_dir: Path, number: int, marks: Marks | None = None) -> Archived:
    """Raises NoCopy, and Unavailable where the catalog cannot be read now."""
    documents, title = _documents(crawl_dir, number)
    records = _records(crawl_dir / "pages", documents)
    record = _with_body(records)
    own = documents[0]
    body = _beginning(record.response.body)
    html = markup(body, own.content_type)
    copy = sanitised(html, record.response.url if len(documents) == 1 else own.url, marks)
    copy = copy._replace(cut=copy.cut or len(body) < len(record.response.body))
    if copy.noarchive or any(map(_forbids, records)):
        raise NoCopy("The authors of that page want no copies of it shown.")
    return Archived(own.url, title or own.url, own.fetched, copy)


def _documents(crawl_dir: Path, number: int) -> tuple[list[Document], str]:
    """The document, and its twin where it is a duplicate; its title."""
    path = crawl_dir / "catalog.sqlite"
    if not path.exists():
        raise NoCopy("Nothing was crawled yet.")
    try:
        catalog = Catalog(path, readonly=True)
    except BadInput as error:  # whoever looks did not choose this file
        raise Unavailable(str(error)) from error
    with closing(catalog):
        own = catalog.documents([number]).get(number)
        if own is None or own.noindex:
            raise NoCopy("There is no copy of such a page.")
        twin = catalog.documents([own.duplicate_of]) if own.duplicate_of else {}
        texts = catalog.texts([number, *twin])
        title = next((text.title for text in texts.values() if text.title), "")
        return [own, *twin.values()], title


def _beginning(body: bytes) -> bytes:
    """What is read of it: UTF-8 that ends within a character would be taken for another encoding."""
    end = MAX_CHARACTERS
    while end < len(body) and body[end] & 0xC0 == 0x80 and end > MAX_CHARACTERS - 4:
        end -= 1
    return body[:end]


def _records(folder: Path, documents: list[Document]) -> list[Record]:
    """Its own, which has no body where it is a duplicate, and that of its twin; those that can be read."""
    places, records = [document.place for document in documents if document.place], list[Record]()
    for place in places:
        with suppress(Unavailable):
            records.append(record_at(folder, place))
    if places and not records:
        raise NoCopy(DAMAGED, 410)
    return records


def _with_body(records: list[Record]) -> Record:
    if not records:
        raise NoCopy("No copy of that page was kept.")
    found = next((record for record in records if record.response.body), None)
    if found is None:
        raise NoCopy(DAMAGED, 410)
    return found


def _forbids(record: Record) -> bool:
    headers = record.response.headers
    return any(forbids_copies(value) for name, value in headers if name.lower() == "x-robots-tag")
