"""Bytes that are not what their headers say, or that nobody can read."""

from __future__ import annotations

import gzip
import random

from zoo.exchange import Exchange, page
from zoo.server import Kind

hostile = Kind()
READ, UNREAD, OTHER = "done/document", "failed/unparsable", "failed/not-indexable"


def readable(it: Exchange) -> bytes:
    """A page of this server, in ASCII."""
    return page(it.home, "/found", text="readable words " * 200).encode()


async def called(it: Exchange, encoding: str, body: bytes | None = None) -> None:
    """A body, or else plain HTML, whatever its encoding is said to be."""
    await it.answer(readable(it) if body is None else body, f"Content-Encoding: {encoding}")


hostile.each("N10", OTHER, UNREAD)(
    an_unknown_content_encoding=lambda it: called(it, "snappy", random.Random(5).randbytes(2_000)),
)
hostile.each("N10", READ, finds=["/found"])(
    the_encoding_identity=lambda it: called(it, "identity"),
    a_content_encoding_of_binary_data=lambda it: called(it, "\xff\xfe\x01"),  # names none: it is not encoded
)
hostile.each("N10", UNREAD)(
    plain_html_called_gzip=lambda it: called(it, "gzip"),
    plain_html_called_deflate=lambda it: called(it, "deflate"),
)
hostile.each("N10", UNREAD, READ)(
    plain_html_called_brotli=lambda it: called(it, "br"),
    plain_html_called_zstd=lambda it: called(it, "zstd"),
    a_gzip_with_a_wrong_checksum=lambda it: called(it, "gzip", gzip.compress(readable(it))[:-8] + b"\0" * 8),
)


@hostile("N10", UNREAD, READ)
async def a_truncated_gzip(it: Exchange) -> None:
    body = gzip.compress(readable(it) * 200)
    await called(it, "gzip", body[: len(body) // 2])


@hostile("N10", UNREAD, READ)
async def a_gzip_with_a_flipped_byte(it: Exchange) -> None:
    body = bytearray(gzip.compress(readable(it) * 200))
    body[len(body) // 2] ^= 0xFF
    await called(it, "gzip", bytes(body))


hostile.each("N10", READ, "done/duplicate")(a_gzip_of_nothing=lambda it: called(it, "gzip", b""))
hostile.each("N16", OTHER)(
    random_bytes_called_html=lambda it: it.answer(random.Random(7).randbytes(200_000)),
    a_picture_called_html=lambda it: it.answer(b"\x89PNG\r\n\x1a\n" + bytes(10_000)),
    html_called_a_picture=lambda it: it.answer(readable(it), kind="image/png"),
)
hostile.each("N16", READ, finds=["/found"])(
    html_of_no_type=lambda it: it.answer(readable(it), kind=""),
    a_charset_of_binary_data=lambda it: it.answer(readable(it), kind='text/html; charset="\xff\x01\xfe"'),
)


@hostile("C6", READ)
async def iso_2022_jp_escapes(it: Exchange) -> None:
    await it.answer(readable(it) + b"\x1b$B\x1b(J\x1b$@" * 20_000, kind="text/html; charset=iso-2022-jp")


async def in_charset(it: Exchange, charset: str, body: bytes) -> None:
    await it.answer(body, kind=f"text/html; charset={charset}")


hostile.each("C6", READ, finds=["/found"])(
    utf_7=lambda it: in_charset(it, "utf-7", readable(it) + b"+ADw-script+AD4-"),
    utf_16_without_a_mark=lambda it: in_charset(it, "utf-16", readable(it).decode().encode("utf-16-le")),
    invalid_utf_8_and_lone_surrogates=lambda it: in_charset(
        it, "utf-8", readable(it) + b"\xed\xa0\x80\xc0\xaf\xf8\xff" * 10_000
    ),
    nul_bytes_and_bidirectional_marks=lambda it: it.answer(
        readable(it).replace(b"words", b"wo\0rds \xe2\x80\xae\xe2\x81\xa6")
    ),
    a_megabyte_of_combining_marks=lambda it: in_charset(
        it, "utf-8", readable(it) + b"e" + "\u0301".encode() * 500_000
    ),
    ten_thousand_meta_charsets=lambda it: it.answer(b'<meta charset="x-none">' * 10_000 + readable(it)),
)
