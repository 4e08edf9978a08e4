"""Gopher, by RFC 1436: one line asks, and the answer ends with the connection."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from mimetypes import guess_type
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes, unquote_to_bytes

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.http import Headers, Response

from webcrawler import urls
from webcrawler.crawl.handlers.reach import CHUNK_BYTES, CONTENT_TYPE, Line, Reach, page

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

TYPES = {"0": "text/plain", "1": CONTENT_TYPE, "h": "text/html"}  # by item type
LINES_MAX = 20_000  # of a menu
# Servers say that there is no such item by an item of type 3, whatever was asked for.
_ERROR = re.compile(rb"3([^\t\r\n]*)\t[^\r\n]*(?:\r?\n\.?)*")
_END = re.compile(rb"(?:^|\r?\n)\.\r?\n?$")  # RFC 1436, 3.1: a full stop ends text; many servers leave it out


class GopherHandler(BaseDownloadHandler):
    """For DOWNLOAD_HANDLERS, gopher. Menus become pages of HTML, and errors are answered as by HTTP."""

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._reach = Reach(crawler, "gopher")

    async def download_request(self, request: Request) -> Response:
        return await self._reach.response(request, lambda address, port: self._ask(request, address, port))

    async def _ask(self, request: Request, address: str, port: int) -> Response:
        item, selector = urls.gopher_item(urls.resolve(request.url))
        reader, writer = await asyncio.open_connection(address, port)
        with closing(writer):
            writer.write(unquote_to_bytes(selector) + b"\r\n")
            await writer.drain()
            content_type = TYPES.get(item) or guess_type(selector)[0] or "application/octet-stream"
            headers = Headers({"Content-Type": content_type})
            body = await self._reach.body(request, headers, _chunks(reader))
        if error := _ERROR.fullmatch(body):
            return Response(request.url, 404, body=error[1])
        if item == "1":
            body = await asyncio.to_thread(menu, body, request.url)
        elif item == "0":
            body = _END.sub(b"", body)
        return Response(request.url, 200, headers, body)


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while chunk := await reader.read(CHUNK_BYTES):
        yield chunk


def menu(body: bytes, url: str) -> bytes:
    """Return a menu as a page of HTML; its title is the first line that says something.

    Source: RFC 1436, 3.4 and 3.8. Item type i (a line of text) and selectors "URL:http://…" are of later use.
    """
    encoding = _encoding(body)
    lines = list(_lines(body.decode(encoding), encoding))
    said = (line.text.strip() for line in lines if any(map(str.isalnum, line.text)))
    return page(next(said, url), lines)


def _encoding(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _lines(text: str, encoding: str) -> Iterator[Line]:
    for line in text.splitlines()[:LINES_MAX]:
        if line == ".":
            return
        shown, *rest = line.split("\t")
        yield Line(shown[1:], _href(shown[:1], rest, encoding))


def _href(item: str, rest: list[str], encoding: str) -> str:
    """Where a line of a menu leads; "": nowhere."""
    if item in ("", "i", "3") or len(rest) < 3 or not rest[2].strip().isdecimal():
        return ""
    selector, host, port = rest[0], rest[1].strip(), rest[2].strip()
    if selector.startswith("URL:"):
        return selector[4:]
    host = f"[{host}]" if ":" in host else host
    return f"gopher://{host}:{port}/{item}{quote_from_bytes(selector.encode(encoding))}" if host else ""
