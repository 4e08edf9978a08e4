"""More than anybody asked for: bodies without end, and bodies that grow when they are inflated."""

from __future__ import annotations

import gzip
import zlib
from functools import cache

import brotli
from backports import zstd

from zoo.exchange import Exchange, page
from zoo.server import Kind

hostile = Kind()
LARGE = "failed/too-large"
OTHER = "failed/not-indexable"
MIB = 2**20
ZEROS = bytes(MIB)
HOSTS = 12
START = b"<!doctype html><title>A bomb</title><p>"


async def endless(it: Exchange, body: bytes, *lines: str, **head: str) -> None:
    await it.head(*lines, **head)
    await it.forever(body)


hostile.each("N3", LARGE)(
    an_endless_body=lambda it: endless(it, b"<p>more</p>" * 5_000),
    an_endless_chunked_body=lambda it: endless(
        it, b"10000\r\n" + b"a" * 65_536 + b"\r\n", "Transfer-Encoding: chunked"
    ),
    a_declared_terabyte=lambda it: endless(it, ZEROS, "Content-Length: 1099511627776"),
)
hostile.each("N3", OTHER)(an_endless_film=lambda it: endless(it, ZEROS, kind="video/mp4"))
hostile.each("N3", LARGE, OTHER)(an_endless_body_of_no_type=lambda it: endless(it, ZEROS, kind=""))
hostile.each("N3", LARGE, "failed/not-found")(
    an_endless_404=lambda it: endless(it, b"not here " * 5_000, status="404 Not Found")
)


@hostile("N3", "done/document")
async def just_below_the_limit(it: Exchange) -> None:
    await it.answer(START + b"word " * (10 * MIB // 5 - 20))


hostile.each("N9", LARGE)(
    a_gzip_bomb=lambda it: it.answer(gzip_bomb(), "Content-Encoding: gzip"),
    a_deflate_bomb=lambda it: it.answer(deflated(-15), "Content-Encoding: deflate"),
    a_brotli_bomb=lambda it: it.answer(brotli_bomb(), "Content-Encoding: br"),
    a_zstd_bomb=lambda it: it.answer(zstd_bomb(), "Content-Encoding: zstd"),
)


@hostile("N9", OTHER)
async def a_bomb_within_eight_gzips(it: Exchange) -> None:
    body = gzip_bomb()
    for _ in range(7):
        body = gzip.compress(body)
    await it.answer(body, "Content-Encoding: " + ", ".join(["gzip"] * 8))


@hostile("N9", OTHER)
async def a_hundred_gzips_that_do_not_shrink(it: Exchange) -> None:
    """Layer upon layer of 8 MiB: each is cheap, all together stop the crawler."""
    body = gzip.compress(bytes(8 * MIB), 0)
    for _ in range(4):
        body = gzip.compress(body, 0)
    await it.answer(body, *["Content-Encoding: " + ", ".join(["gzip"] * 50)] * 2)


@hostile("N9", OTHER)
async def a_million_empty_frames_in_twenty_kilobytes(it: Exchange) -> None:
    """Each frame costs 15 µs, and so small a body is inflated at once."""
    frames = zstd.compress(START) + zstd.compress(b"") * 1_000_000
    await it.answer(gzip.compress(frames), "Content-Encoding: zstd, gzip")


@hostile("N9", OTHER, LARGE)
async def an_archive_that_is_also_encoded(it: Exchange) -> None:
    await it.answer(gzip.compress(gzip_bomb()), "Content-Encoding: gzip", kind="application/gzip")


hostile.each("N9", OTHER)(
    half_a_million_gzip_members=lambda it: it.answer(
        gzip.compress(START) + gzip.compress(b"") * 500_000, "Content-Encoding: gzip"
    ),
    an_archive_under_the_name_of_html=lambda it: it.answer(gzip_bomb()),
)


@hostile("R4", "done/document", robots=True)
async def a_robots_txt_of_a_gigabyte(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    for _ in range(10_000):
        await it.send(b"User-agent: *\nDisallow: /private\n" * 3_000)


@hostile("R4", "done/document", "failed/robots-unreachable", robots=True)
async def a_robots_txt_that_is_a_bomb(it: Exchange) -> None:
    await it.answer(gzip_bomb(), "Content-Encoding: gzip", kind="text/plain")


@hostile("R6", "done/document", robots=True)
async def robots_rules_of_many_wildcards(it: Exchange) -> None:
    rules = "User-agent: *\n" + ("Disallow: /" + "*a" * 500 + "$\n") * 400
    await it.answer(rules, kind="text/plain")


@hostile("N15", "failed/unreachable")
async def four_hundred_cookies_of_three_kilobytes(it: Exchange) -> None:
    cookies = [f"Set-Cookie: c{number}={'v' * 3_000}" for number in range(400)]
    await it.answer(page("Cookies"), *cookies)


@hostile("N15", "done/document")
async def fifty_cookies_for_all_of_com(it: Exchange) -> None:
    cookies = [f"Set-Cookie: c{number}={'v' * 3_000}; Domain=.com; Path=/" for number in range(50)]
    await it.answer(page("Fewer cookies", "/found"), *cookies)


@cache
def gzip_bomb() -> bytes:
    """A gigabyte in a megabyte: members follow each other."""
    return deflated(31) * 16


@cache
def deflated(wbits: int) -> bytes:
    """64 MiB in 64 KiB."""
    made = zlib.compressobj(9, wbits=wbits)
    return b"".join([made.compress(START), *(made.compress(ZEROS) for _ in range(64)), made.flush()])


@cache
def zstd_bomb() -> bytes:
    return zstd.compress(START + ZEROS * 64) * 16


@cache
def brotli_bomb() -> bytes:
    made = brotli.Compressor(quality=5)
    return b"".join([made.process(START), *(made.process(ZEROS) for _ in range(64)), made.finish()])


@hostile("N3", "done/document", addresses=HOSTS)
async def the_largest_pages_from_many_hosts(it: Exchange) -> None:
    await it.answer(page(it.path, *neighbours(it), text=str(it.number)).encode() + long_text())


@hostile("N9", "done/document", addresses=HOSTS)
async def the_largest_pages_in_a_few_kilobytes_from_many_hosts(it: Exchange) -> None:
    start = gzip.compress(page(it.path, *neighbours(it), text=str(it.number)).encode())
    await it.answer(start + packed_text(), "Content-Encoding: gzip")


def neighbours(it: Exchange) -> list[str]:
    """The other hosts of the same behaviour."""
    network, _, port = it.home.rpartition(".")
    return [f"{network}.{number + 1}:{port.partition(':')[2]}/" for number in range(HOSTS)]


@cache
def long_text() -> bytes:
    return b"word " * (9 * MIB // 5)


@cache
def packed_text() -> bytes:
    return gzip.compress(long_text())
