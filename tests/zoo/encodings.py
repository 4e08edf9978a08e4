"""Bytes that are not what their headers say, or that nobody can read."""

from __future__ import annotations

import gzip
import random

from zoo.exchange import Exchange, page
from zoo.server import Kind

hostile = Kind()
UNREAD = "failed/unparsable"
OTHER = "failed/not-indexable"


def readable(it: Exchange) -> bytes:
    """A page of this server, in ASCII."""
    return page(it.home, "/found", text="readable words " * 200).encode()


@hostile("N10", OTHER, UNREAD)
async def an_unknown_content_encoding(it: Exchange) -> None:
    await it.answer(random.Random(5).randbytes(2_000), "Content-Encoding: snappy")


@hostile("N10", OTHER, UNREAD)
async def a_content_encoding_of_binary_data(it: Exchange) -> None:
    await it.answer(readable(it), "Content-Encoding: \xff\xfe\x01")


@hostile("N10", "done/document", finds=["/found"])
async def the_encoding_identity(it: Exchange) -> None:
    await it.answer(readable(it), "Content-Encoding: identity")


@hostile("N10", UNREAD)
async def plain_html_called_gzip(it: Exchange) -> None:
    await it.answer(readable(it), "Content-Encoding: gzip")


@hostile("N10", UNREAD, "done/document")
async def plain_html_called_brotli(it: Exchange) -> None:
    await it.answer(readable(it), "Content-Encoding: br")


@hostile("N10", UNREAD, "done/document")
async def plain_html_called_zstd(it: Exchange) -> None:
    await it.answer(readable(it), "Content-Encoding: zstd")


@hostile("N10", UNREAD)
async def plain_html_called_deflate(it: Exchange) -> None:
    await it.answer(readable(it), "Content-Encoding: deflate")


@hostile("N10", UNREAD, "done/document")
async def a_truncated_gzip(it: Exchange) -> None:
    body = gzip.compress(readable(it) * 200)
    await it.answer(body[: len(body) // 2], "Content-Encoding: gzip")


@hostile("N10", UNREAD, "done/document")
async def a_gzip_with_a_wrong_checksum(it: Exchange) -> None:
    body = gzip.compress(readable(it))
    await it.answer(body[:-8] + b"\0" * 8, "Content-Encoding: gzip")


@hostile("N10", UNREAD, "done/document")
async def a_gzip_with_a_flipped_byte(it: Exchange) -> None:
    body = bytearray(gzip.compress(readable(it) * 200))
    body[len(body) // 2] ^= 0xFF
    await it.answer(bytes(body), "Content-Encoding: gzip")


@hostile("N10", "done/document", "done/duplicate")
async def a_gzip_of_nothing(it: Exchange) -> None:
    await it.answer(b"", "Content-Encoding: gzip")


@hostile("N16", OTHER)
async def random_bytes_called_html(it: Exchange) -> None:
    await it.answer(random.Random(7).randbytes(200_000))


@hostile("N16", OTHER)
async def a_picture_called_html(it: Exchange) -> None:
    await it.answer(b"\x89PNG\r\n\x1a\n" + bytes(10_000))


@hostile("N16", OTHER)
async def html_called_a_picture(it: Exchange) -> None:
    await it.answer(readable(it), kind="image/png")


@hostile("N16", "done/document", finds=["/found"])
async def html_of_no_type(it: Exchange) -> None:
    await it.answer(readable(it), kind="")


@hostile("N16", "done/document", finds=["/found"])
async def a_charset_of_binary_data(it: Exchange) -> None:
    await it.answer(readable(it), kind='text/html; charset="\xff\x01\xfe"')


@hostile("C6", "done/document", finds=["/found"])
async def utf_7(it: Exchange) -> None:
    await it.answer(readable(it) + b"+ADw-script+AD4-", kind="text/html; charset=utf-7")


@hostile("C6", "done/document", finds=["/found"])
async def utf_16_without_a_mark(it: Exchange) -> None:
    await it.answer(readable(it).decode().encode("utf-16-le"), kind="text/html; charset=utf-16")


@hostile("C6", "done/document")
async def iso_2022_jp_escapes(it: Exchange) -> None:
    await it.answer(readable(it) + b"\x1b$B\x1b(J\x1b$@" * 20_000, kind="text/html; charset=iso-2022-jp")


@hostile("C6", "done/document", finds=["/found"])
async def invalid_utf_8_and_lone_surrogates(it: Exchange) -> None:
    await it.answer(readable(it) + b"\xed\xa0\x80\xc0\xaf\xf8\xff" * 10_000, kind="text/html; charset=utf-8")


@hostile("C6", "done/document", finds=["/found"])
async def nul_bytes_and_bidirectional_marks(it: Exchange) -> None:
    await it.answer(readable(it).replace(b"words", b"wo\0rds \xe2\x80\xae\xe2\x81\xa6"))


@hostile("C6", "done/document", finds=["/found"])
async def a_megabyte_of_combining_marks(it: Exchange) -> None:
    await it.answer(readable(it).decode() + "e" + "\u0301" * 500_000, kind="text/html; charset=utf-8")


@hostile("C6", "done/document", finds=["/found"])
async def ten_thousand_meta_charsets(it: Exchange) -> None:
    await it.answer(b'<meta charset="x-none">' * 10_000 + readable(it))
