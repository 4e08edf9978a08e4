"""What downloads by FTP and Gopher have in common: addresses, time and size, and pages with links."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from scrapy import signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotConfigured,
)
from scrapy.http import Headers, Response
from scrapy.utils._download_handlers import check_stop_download
from twisted.web.iweb import UNKNOWN_LENGTH

from webcrawler import urls
from webcrawler.crawl.resolver import addresses
from webcrawler.settings import words_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

CHUNK_BYTES = 65_536


class Reach:
    """Downloads by one protocol.

    Raises:
        NotConfigured: PROTOCOLS does not name it.
    """

    def __init__(self, crawler: Crawler, protocol: str) -> None:
        settings = crawler.settings
        if protocol not in words_of(settings["PROTOCOLS"]):
            raise NotConfigured(f"PROTOCOLS does not name {protocol}")
        self._crawler = crawler
        self._timeout_s = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._bytes_max = settings.getint("DOWNLOAD_MAXSIZE")

    async def response(self, request: Request, ask: Callable[[str, int], Awaitable[Response]]) -> Response:
        """Return what `ask` gets from the first of the server's addresses that can be connected to.

        Args:
            ask: of an address and a port.
        Raises:
            DownloadFailedError, DownloadTimeoutError, CannotResolveHostError: there was no answer.
        """
        if "proxy" in request.meta:
            raise DownloadFailedError(f"proxies are used for HTTP only: {request.url}")
        host, port = urls.host_and_port(urls.server(urls.resolve(request.url)))
        try:
            async with asyncio.timeout(request.meta.get("download_timeout", self._timeout_s)):
                return await self._first(await addresses(host), port, ask)
        except TimeoutError:
            raise DownloadTimeoutError(f"no answer in time: {request.url}") from None
        except (OSError, EOFError) as error:
            raise DownloadFailedError(f"{request.url}: {error}") from error

    async def _first(
        self, found: list[str], port: int, ask: Callable[[str, int], Awaitable[Response]]
    ) -> Response:
        if not found:
            raise CannotResolveHostError("no address of this host is known, or may be connected to")
        for address in found[:-1]:
            try:
                return await ask(address, port)
            except ConnectionRefusedError:
                continue
        return await ask(found[-1], port)

    async def body(self, request: Request, headers: Headers, chunks: AsyncIterator[bytes]) -> bytes:
        """Return the body that comes in chunks, empty or cut short where a handler of a signal stops it.

        Raises:
            DownloadCancelledError: it is longer than DOWNLOAD_MAXSIZE.
        """
        most = request.meta.get("download_maxsize", self._bytes_max)
        size = headers.get("Content-Length")
        length = int(size) if size else UNKNOWN_LENGTH
        if check_stop_download(
            signals.headers_received, self._crawler, request, headers=headers, body_length=length
        ):
            return b""
        body = bytearray()
        async for chunk in chunks:
            body += chunk
            if most and len(body) > most:
                raise DownloadCancelledError(f"{request.url} is larger than {most:,} bytes")
            if check_stop_download(signals.bytes_received, self._crawler, request, data=chunk):
                break
        return bytes(body)


CONTENT_TYPE = "text/html; charset=utf-8"


class Line(NamedTuple):
    text: str
    href: str = ""  # "": no link


def page(title: str, lines: Iterable[Line]) -> bytes:
    """Return HTML in UTF-8: a paragraph for each link, and text between them as it stands."""
    parts = [f'<!doctype html>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n']
    for is_link, group in groupby(lines, key=lambda line: bool(line.href)):
        if is_link:
            parts += (f'<p><a href="{escape(href)}">{escape(text)}</a></p>\n' for text, href in group)
        else:
            text = escape("\n".join(line.text for line in group))
            parts.append(f"<pre>{text}</pre>\n")
    return "".join(parts).encode("utf-8", "replace")
