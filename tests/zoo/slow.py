"""Servers that take their time."""

from __future__ import annotations

import asyncio

from zoo.exchange import Exchange, page
from zoo.server import Kind

hostile = Kind()
LATE = "failed/timeout"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@hostile("N1", LATE)
async def no_answer(it: Exchange) -> None:
    await it.silence()


@hostile("N1", "failed/robots-unreachable", raw=True)
async def no_answer_not_even_for_robots(it: Exchange) -> None:
    await it.silence()


@hostile("N2", LATE)
async def a_trickled_status_line(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 200 ")
    await it.trickle(b"O")


@hostile("N2", LATE)
async def trickled_headers(it: Exchange) -> None:
    await it.send(HEAD)
    await it.trickle(b"X-Slow: yes\r\n")


@hostile("N2", LATE)
async def a_trickled_body(it: Exchange) -> None:
    await it.send(HEAD + b"Content-Length: 100000\r\n\r\n")
    await it.trickle(b"<p>word</p>")


@hostile("N2", LATE)
async def a_trickled_body_without_an_end(it: Exchange) -> None:
    await it.send(HEAD + b"\r\n")
    await it.trickle(b"<p>word</p>")


@hostile("N2", LATE)
async def trickled_chunks(it: Exchange) -> None:
    await it.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    await it.trickle(b"1\r\nx\r\n")


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
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    await it.trickle(b"Disallow: /private\n")


@hostile("N2", "failed/robots-unreachable", robots=True)
async def a_robots_txt_behind_slow_redirects(it: Exchange) -> None:
    await asyncio.sleep(4)
    await it.answer("", "Location: /robots.txt", status="302 Found")


@hostile("N14", "failed/server-error")
async def retry_after_ten_to_the_twelve(it: Exchange) -> None:
    await it.answer("later", "Retry-After: 1000000000000", status="503 Busy")


@hostile("N14", "failed/server-error")
async def retry_after_minus_one(it: Exchange) -> None:
    await it.answer("later", "Retry-After: -1", status="429 Busy")


@hostile("N14", "failed/server-error")
async def retry_after_1970(it: Exchange) -> None:
    await it.answer("later", "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT", status="503 Busy")


@hostile("N14", "failed/server-error")
async def retry_after_garbage(it: Exchange) -> None:
    await it.answer("later", "Retry-After: \xff\x00 soon 99999999999999999999999999", status="429 Busy")


@hostile("N2", "done/document")
async def a_page_that_takes_two_seconds(it: Exchange) -> None:
    await asyncio.sleep(2)
    await it.answer(page("Slow, but honest"))
