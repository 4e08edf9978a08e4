"""Servers that take their time."""

from __future__ import annotations

import asyncio

from zoo.exchange import Exchange, page
from zoo.server import Kind

hostile = Kind()
LATE = "failed/timeout"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


hostile.each("N1", LATE)(no_answer=lambda it: it.silence())
hostile.each("N1", "failed/robots-unreachable", raw=True)(
    no_answer_not_even_for_robots=lambda it: it.silence()
)


async def trickled(it: Exchange, start: bytes, more: bytes) -> None:
    await it.send(start)
    await it.trickle(more)


hostile.each("N2", LATE)(
    a_trickled_status_line=lambda it: trickled(it, b"HTTP/1.1 200 ", b"O"),
    trickled_headers=lambda it: trickled(it, HEAD, b"X-Slow: yes\r\n"),
    a_trickled_body=lambda it: trickled(it, HEAD + b"Content-Length: 100000\r\n\r\n", b"<p>word</p>"),
    a_trickled_body_without_an_end=lambda it: trickled(it, HEAD + b"\r\n", b"<p>word</p>"),
    trickled_chunks=lambda it: trickled(it, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
)


@hostile("N2", LATE)
async def trickled_interim_answers(it: Exchange) -> None:
    while True:
        await it.send(b"HTTP/1.1 102 Processing\r\n\r\n")
        await asyncio.sleep(4)


@hostile("N2", LATE, "failed/redirect-loop")
async def respellings_that_each_take_a_while(it: Exchange) -> None:
    """/, /index.html and /index.htm are one canonical URL, and each sends on to the next."""
    await asyncio.sleep(2.5)
    turns = ["/", "/index.html", "/index.htm"]
    onward = turns[(turns.index(it.path) + 1) % 3] if it.path in turns else "/"
    await it.answer("", f"Location: {it.home}{onward}", status="302 Found")


@hostile("N2", "failed/robots-unreachable", robots=True)
async def a_trickled_robots_txt(it: Exchange) -> None:
    await trickled(it, b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", b"Disallow: /private\n")


@hostile("N2", "failed/robots-unreachable", robots=True)
async def a_robots_txt_behind_slow_redirects(it: Exchange) -> None:
    await asyncio.sleep(4)
    await it.answer("", "Location: /robots.txt", status="302 Found")


async def refused(it: Exchange, status: int, retry_after: str) -> None:
    await it.answer("later", f"Retry-After: {retry_after}", status=f"{status} Busy")


hostile.each("N14", "failed/server-error")(
    retry_after_ten_to_the_twelve=lambda it: refused(it, 503, "1000000000000"),
    retry_after_minus_one=lambda it: refused(it, 429, "-1"),
    retry_after_1970=lambda it: refused(it, 503, "Thu, 01 Jan 1970 00:00:00 GMT"),
    retry_after_garbage=lambda it: refused(it, 429, "\xff\x00 soon 99999999999999999999999999"),
)


@hostile("N2", "done/document")
async def a_page_that_takes_two_seconds(it: Exchange) -> None:
    await asyncio.sleep(2)
    await it.answer(page("Slow, but honest"))
