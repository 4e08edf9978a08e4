"""/cached: the archived copy of a page, sanitised, below a banner with its URL and date."""

from __future__ import annotations

import asyncio
from contextlib import closing
from html import escape
from pathlib import Path
from typing import NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import Record, record_at
from webcrawler.errors import BadInput, StoreAway, Unavailable
from webcrawler.parsing import HTML, kind_of, markup
from webcrawler.records import Document, Text
from webcrawler.search import Snippets
from webcrawler.text.query import parse
from webcrawler.web.config import Config
from webcrawler.web.parameters import MAX_NUMBER, read
from webcrawler.web.render import NotNow, page
from webcrawler.web.sanitiser import MAX_CHARACTERS, Copy, forbids_copies, sanitised

AT_ONCE = 2  # a copy takes some milliseconds, of the worst page half a second
MAX_WAITING = 50  # requests for a copy, with those that are answered
# No script runs here, even if the sanitiser should let one through. `allow-same-origin` is for our own style
# sheet, and harmless without `allow-scripts`.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox allow-same-origin allow-forms allow-popups "
    "allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Robots-Tag": "noindex, nofollow, noarchive"}
DAMAGED = "The copy of that page cannot be read: its file is missing or damaged."


class ArchivedPage(NamedTuple):
    url: str  # canonical
    title: str
    fetched: float
    language: str  # "": not known
    copy: Copy


def routes(config: Config) -> list[Route]:
    places, turns = asyncio.Semaphore(MAX_WAITING), asyncio.Semaphore(AT_ONCE)

    async def show(request: Request) -> Response:
        given = read(request)
        number, query = given.whole("number", None, 1, MAX_NUMBER), given.one("q")
        if places.locked():
            raise NotNow("too many copies are asked for: try again in a moment")
        async with places, turns:
            found = await run_in_threadpool(archived, config.crawl_dir, number, query)
        answer = page(request, "cached.html", found=found, query=query)
        answer.headers.update(HEADERS)
        return answer

    return [Route("/cached", show)]


def archived(crawl_dir: Path, number: int, query: str = "") -> ArchivedPage:
    """The copy of the page with this number, with the words of the query marked.

    Raises:
        HTTPException: there is none that may be shown: 404, or 410 where there was one once.
        Unavailable: the catalog cannot be read now, or the store that has the copy.
    """
    documents, texts = _documents(crawl_dir, number)
    places = [document.place for document in documents if document.place]
    if not places:
        raise _no_copy("No copy of that page was kept.")
    records, away = list[Record](), None  # those that can be read
    for place in places:
        try:
            records.append(record_at(crawl_dir / "pages", place))
        except StoreAway as error:
            away = error
        except Unavailable:
            pass
    record = next((record for record in records if record.response.body), None)  # a duplicate has no body
    if record is None:
        raise away or _no_copy(DAMAGED, 410)

    own, body = documents[0], _beginning(record.response.body)
    url = record.response.url if len(documents) == 1 else own.url
    words = [one.term for one in parse(query).terms] if query.strip() else []
    # Other documents are read in the parser's sandbox only: their text is in the catalog.
    is_html = kind_of(own.content_type, body, url) in (HTML, "")
    html = markup(body, own.content_type) if is_html else _paragraphs(texts)
    copy = sanitised(html, url, Snippets(words).mark if words else None)
    copy = copy._replace(cut=copy.cut or (is_html and len(body) < len(record.response.body)))
    headers = [header for record in records for header in record.response.headers]
    if copy.noarchive or any(name.lower() == "x-robots-tag" and forbids_copies(v) for name, v in headers):
        raise _no_copy("The authors of that page want no copies of it shown.")
    title = next((text.title for text in texts if text.title), own.url)
    language = next((text.language for text in texts if text.language), "")
    return ArchivedPage(own.url, title, own.fetched, language, copy)


def _no_copy(why: str, status: int = 404) -> HTTPException:
    return HTTPException(status, why, HEADERS)


def _documents(crawl_dir: Path, number: int) -> tuple[list[Document], list[Text]]:
    """The document, followed by those with the same bytes that may have the body; and their texts."""
    path = crawl_dir / "catalog.sqlite"
    if not path.exists():
        raise _no_copy("Nothing was crawled yet.")
    try:
        catalog = Catalog(path, readonly=True)
    except BadInput as error:  # no fault of the visitor
        raise Unavailable(str(error)) from error
    with closing(catalog):
        own = catalog.documents([number]).get(number)
        if own is None or own.noindex:
            raise _no_copy("There is no copy of such a page.")
        twins = {own.duplicate_of, catalog.first_with_bytes_of(number)} - {0, number}
        twin = catalog.documents(sorted(twins))
        texts = catalog.texts([number, *twin])
        return [own, *twin.values()], list(texts.values())


def _paragraphs(texts: list[Text]) -> str:
    """The text of a document, as HTML with a paragraph for each of its lines."""
    body = next((text.body for text in texts), "")
    return "".join(f"<p>{escape(line)}</p>" for line in body.splitlines())


def _beginning(body: bytes) -> bytes:
    """The part that is read; text cut within a UTF-8 character would be taken for another encoding."""
    end = MAX_CHARACTERS
    while end < len(body) and body[end] & 0xC0 == 0x80 and end > MAX_CHARACTERS - 4:
        end -= 1
    return body[:end]
