"""Is a compressed robots.txt complete? Scrapy inflates what arrived and does not say whether it was."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Sequence

import brotli  # this one and the next come with Scrapy

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MEMBERS_MAX = 64  # one behind the other; each costs a copy of those behind it
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
    for _ in range(MEMBERS_MAX):
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
