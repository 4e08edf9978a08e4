"""The download handler: Scrapy's, with bounds on what Twisted reads before, between and after a body's bytes.

Scrapy bounds a download by DOWNLOAD_TIMEOUT and its body by DOWNLOAD_MAXSIZE. Bounded here are headers,
interim answers, the framing of chunks, and how many large bodies are received at a time. What passes a bound
is not HTTP: its connection is closed; so is one on which more than the response has come. Certificates are
verified. All that is private of Scrapy and Twisted is used in this file only.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from errno import ENOBUFS
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.contextfactory import _ScrapyCertificateOptions
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.exceptions import DownloadTimeoutError
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.ssl import platformTrust
from twisted.web._newclient import ParseError
from twisted.web.client import HTTPConnectionPool
from twisted.web.http import _ChunkedTransferDecoder
from twisted.web.http_headers import InvalidHeaderName

from webcrawler.crawl.open_leases import LARGE_BYTES, POLL_SECONDS, Room
from webcrawler.crawl.peers import Verifying
from webcrawler.crawl.run import Crawl
from webcrawler.parsing import free_large_blocks

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


LINE_BYTES_MAX = 64 * 1024  # of one header; Twisted's 16 KiB cuts real Content-Security-Policy headers
HEADER_BYTES_MAX = 256 * 1024  # of all headers, as browsers have it
HEADER_LINES_MAX = 256
INTERIM_MAX = 20  # answers 1xx before the one that counts
FRAMING_BYTES_MAX = 2**20  # chunk sizes and the like: the body in pieces of a few bytes each costs seconds


class BoundedParser(_LenientHTTPClientParser):
    """Reads one response. Its state begins as class attributes: Scrapy swaps the class of a parser in use."""

    MAX_LENGTH = LINE_BYTES_MAX
    room: Room
    _header_bytes = _header_lines = _interim = _framing_bytes = _body_bytes = 0
    _is_large = _has_place = _is_over = False
    _waits_since = 0.0

    def lineReceived(self, line: bytes) -> None:
        self._header_lines += 1
        self._header_bytes += len(line)
        if self._header_lines > HEADER_LINES_MAX or self._header_bytes > HEADER_BYTES_MAX:
            raise _too_much("headers")
        super().lineReceived(line)

    def headerReceived(self, name: bytes, value: bytes) -> None:
        with suppress(InvalidHeaderName):  # a browser leaves such a header out, and reads on
            super().headerReceived(name, value)  # type: ignore[no-untyped-call]

    def allHeadersReceived(self) -> None:
        self._interim += self.response.code < 200
        if self._interim > INTERIM_MAX:
            raise _too_much("interim answers")
        super().allHeadersReceived()  # type: ignore[no-untyped-call]

    def switchToBodyMode(self, decoder: Any) -> None:
        """Hands on chunks that arrived together as one piece: Scrapy sends a signal for each."""
        super().switchToBodyMode(decoder)  # type: ignore[no-untyped-call]
        if isinstance(decoder, _ChunkedTransferDecoder):
            self._pieces: list[bytes] = []
            self._deliver, decoder.dataCallback = decoder.dataCallback, self._pieces.append
            finish, decoder.finishCallback = decoder.finishCallback, self._finish_chunks
            self._finish: Callable[[bytes], None] = finish

    def rawDataReceived(self, data: bytes) -> None:
        self._body_bytes += len(data)
        if self._body_bytes > LARGE_BYTES and not self._is_large:
            self._is_large = True
            self._wait_for_room()
        decoder: Any = self.bodyDecoder
        if not isinstance(decoder, _ChunkedTransferDecoder):
            super().rawDataReceived(data)  # type: ignore[no-untyped-call]
            return
        self._framing_bytes += len(data)
        try:
            super().rawDataReceived(data)  # type: ignore[no-untyped-call]
        finally:
            self._deliver_pieces()
        if self._framing_bytes > FRAMING_BYTES_MAX:
            raise _too_much("chunks of a few bytes")

    def connectionLost(self, reason: Any = None) -> None:
        self._is_over = True
        if self._has_place:
            self.room.give()
        super().connectionLost(reason)

    def _wait_for_room(self) -> None:
        """Stops reading until there is room; the time of the download goes on, but is not its server's."""
        if self._is_over:
            return
        transport: Any = self.transport
        self._has_place = self.room.take()
        if self._has_place:
            transport.resumeProducing()
        else:
            self._waits_since = self._waits_since or time.monotonic()
            request = self.response._bodyProtocol._request
            self.room.waited_seconds[request] = time.monotonic() - self._waits_since
            transport.pauseProducing()
            asyncio.get_running_loop().call_later(POLL_SECONDS, self._wait_for_room)

    def _finish_chunks(self, rest: bytes) -> None:
        self._deliver_pieces()
        self._finish(rest)

    def _deliver_pieces(self) -> None:
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._framing_bytes -= len(data)
        if data:
            self._deliver(data)


def _too_much(of: str) -> Exception:
    error: Exception = ParseError(f"too many {of}", b"")  # type: ignore[no-untyped-call]
    return error


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    room: Room
    _currentRequest: Any

    def request(self, request: Any) -> Any:
        response = super().request(request)
        parser: Any = self._parser
        parser.__class__ = BoundedParser  # as Scrapy does it, and for its reasons
        parser.room = self.room
        return response

    def _finishResponse(self, rest: bytes) -> None:
        """Keeps no connection on which more than the response has come: the next would begin with that."""
        if rest:
            self._currentRequest.persistent = False
        super()._finishResponse(rest)


class _BoundedFactory(_LenientHTTP11ClientFactory):
    def __init__(self, room: Room, *arguments: Any) -> None:
        super().__init__(*arguments)  # type: ignore[no-untyped-call]
        self._room = room

    def buildProtocol(self, addr: Any) -> _BoundedProtocol:
        protocol = _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
        protocol.room = self._room
        return protocol


class _Pool(HTTPConnectionPool):
    """Keeps connections by server, those to a proxy too: what comes late on one answers no other server."""

    server = ("", "")  # scheme and host of the request that asks for a connection

    def getConnection(self, key: Any, endpoint: Any) -> Any:
        return super().getConnection((*key, self.server), endpoint)


class BoundedHandler(HTTP11DownloadHandler):
    """For DOWNLOAD_HANDLERS, http and https."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        free_large_blocks()
        from twisted.internet import reactor

        self._room = Room()
        pool: Any = _Pool(reactor)  # type: ignore[no-untyped-call]
        pool.maxPersistentPerHost = self._pool.maxPersistentPerHost
        pool._factory = partial(_BoundedFactory, self._room)
        self._pool: Any = pool
        trusted = platformTrust()  # type: ignore[no-untyped-call]
        given: Any = self._contextFactory  # versions and ciphers of TLS, where Scrapy's settings name some
        options = _ScrapyCertificateOptions(**given._get_cert_options_kwargs(), trustRoot=trusted)
        self._contextFactory: Any = Verifying(Crawl.of(crawler).certificates, options.getContext)

    async def download_request(self, request: Request) -> Response:
        address = urlparse_cached(request)
        self._pool.server = (address.scheme, address.netloc)  # read before anything is awaited
        try:
            response = await super().download_request(request)
        except DownloadTimeoutError as error:
            waited = self._room.waited_seconds.get(request, 0.0)
            if waited > request.meta.get("download_timeout", 0.0) / 2:  # else its server had time enough
                raise OSError(ENOBUFS, f"{waited:.0f} s without room for another large body") from error
            raise
        self._room.hold(response)
        return response
