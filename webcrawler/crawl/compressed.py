"""Compressed bodies: inflated off the event loop, few large ones at a time; and is one complete?

Scrapy inflates what arrived and does not say whether it was all.
"""

from __future__ import annotations

import asyncio
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import brotli  # this one and the next come with Scrapy
from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest
from scrapy.http import Response

from webcrawler.crawl.open_leases import POLL_SECONDS, Room
from webcrawler.crawl.responses import CODINGS_MAX, Refused, codings_of, has_many_members

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd
if TYPE_CHECKING:
    from scrapy.crawler import Crawler


WAIT_SECONDS = 30.0  # for room, where a request has no deadline
SMALL_BODY_BYTES = 64 * 1024  # inflated within milliseconds, up to DOWNLOAD_MAXSIZE


class CompressedMiddleware(HttpCompressionMiddleware):
    """Inflates bodies as Scrapy does, but few large ones at a time. What cannot be inflated is not a page."""

    def __init__(self, *, crawler: Crawler) -> None:
        super().__init__(crawler=crawler)
        self._room = Room()

    async def process_response(self, request: Request, response: Response) -> Response:  # type: ignore[override]
        if "Content-Encoding" not in response.headers:
            return response
        codings = codings_of(response.headers)
        if not codings or not response.body:
            del response.headers["Content-Encoding"]
            return response
        refused, cause = Refused("not-indexable"), None
        if len(codings) <= CODINGS_MAX:
            try:
                return await self._inflated(request, response, codings)
            except Refused as error:
                refused = error
            except (IgnoreRequest, DownloadTimeoutError):  # past DOWNLOAD_MAXSIZE, or no room in time
                raise
            except Exception as error:  # each decoder has errors of its own
                refused, cause = Refused("unparsable", retry=True), error
        if response.status == 200:
            raise refused from cause
        return _plain(response, [], b"")  # of a redirect or an error the body does not matter

    async def _inflated(self, request: Request, response: Response, codings: list[bytes]) -> Response:
        if "lease" not in request.meta:  # of a robots.txt more is read than is inflated
            request.meta["download_maxsize"] = self._max_size
        deadline = request.meta.get("deadline", time.monotonic() + WAIT_SECONDS)
        while not self._room.take():
            if time.monotonic() > deadline:
                raise DownloadTimeoutError(f"no room to inflate {request.url}")
            await asyncio.sleep(POLL_SECONDS)
        try:
            for coding in reversed(codings):
                response = await self._inflate(request, response, coding)
        finally:
            self._room.give()
        self._room.hold(response)
        return response

    async def _inflate(self, request: Request, response: Response, coding: bytes) -> Response:
        """Undoes one coding, the last one."""
        if has_many_members(response.body, coding):
            raise Refused("not-indexable")
        inflate: Callable[[Request, Response], Response] = super().process_response  # type: ignore[assignment]
        coded = _plain(response, [coding], response.body)
        if len(coded.body) > SMALL_BODY_BYTES:
            return await asyncio.to_thread(inflate, request, coded)
        return inflate(request, coded)


def _plain(response: Response, codings: list[bytes], body: bytes) -> Response:
    """The response as bytes: of a TextResponse Scrapy would guess the character set, compressed or not."""
    headers = response.headers.copy()
    if codings:
        headers["Content-Encoding"] = codings
    else:
        del headers["Content-Encoding"]
    others = {name: getattr(response, name) for name in Response.attributes}
    return Response(**others | {"headers": headers, "body": body})


ROBOTS_MEMBERS_MAX = 64  # one behind the other; each costs a copy of those behind it
ENOUGH_BYTES = 512 * 1024  # inflated; what stands behind them is not read (RFC 9309, 2.5)


def is_whole(body: bytes, codings: Sequence[bytes]) -> bool:
    """Tell whether a body ends where its codings end, or holds as much as is read.

    Args:
        codings: as `codings_of` returns them.
    """
    for coding in reversed(codings):
        try:
            body, ended = _inflate(body, coding)
        except Exception:  # damaged; each decoder has errors of its own
            return False
        if not ended:
            return len(body) >= ENOUGH_BYTES
    return True


def _inflate(body: bytes, coding: bytes) -> tuple[bytes, bool]:
    """Return the first ENOUGH_BYTES, and whether the coded data came to their end."""
    if coding == b"br":
        brotlied = brotli.Decompressor()
        inflated = part = brotlied.process(body, output_buffer_limit=ENOUGH_BYTES)
        while part and len(inflated) < ENOUGH_BYTES:
            part = brotlied.process(b"", output_buffer_limit=ENOUGH_BYTES)
            inflated += part
        return inflated, brotlied.is_finished()
    inflated, magic = b"", body[:2]
    for _ in range(ROBOTS_MEMBERS_MAX):
        decoder = _decoder(body, coding)
        inflated += decoder.decompress(body, ENOUGH_BYTES)
        body = decoder.unused_data
        if not decoder.eof or len(inflated) >= ENOUGH_BYTES:
            return inflated, False
        if not body.startswith(magic):  # else another member follows
            return inflated, True
    return inflated, False


def _decoder(body: bytes, coding: bytes) -> zlib._Decompress | zstd.ZstdDecompressor:
    if coding == b"zstd":
        return zstd.ZstdDecompressor()
    if coding in (b"gzip", b"x-gzip"):
        return zlib.decompressobj(zlib.MAX_WBITS | 16)
    # Some send it without its header (RFC 9110, 8.4.1.2), which is recognised as RFC 1950, 2.2 has it.
    has_header = body[0] & 0x0F == 8 and int.from_bytes(body[:2]) % 31 == 0
    return zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
