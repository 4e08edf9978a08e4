"""What downloads by FTP and Gopher have in common: permitted addresses, time, size, and who may stop them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

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
