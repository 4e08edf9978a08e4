"""HTTP messages that are no HTTP messages."""

from __future__ import annotations

import itertools

from zoo.exchange import Exchange, chunked, page
from zoo.server import Kind

hostile = Kind()
READ = "done/document"
BROKEN = "failed/unreachable"  # what came was no answer
CHUNKED = "Transfer-Encoding: chunked"


def framed(it: Exchange) -> bytes:
    """A page of this server, for any framing."""
    return page(it.home, text="some text and more " * 30).encode()


async def endless(it: Exchange, start: bytes, more: bytes) -> None:
    await it.send(start)
    await it.forever(more)


async def headed(it: Exchange, *lines: str, body: bytes | None = None) -> None:
    """A head with these lines, and then a body, or else the page."""
    await it.head(*lines)
    await it.send(framed(it) if body is None else body)


@hostile("N4", BROKEN)
async def endless_distinct_headers(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
    for number in itertools.count():
        await it.send(b"".join(b"X-%d-%d: %d\r\n" % (number, part, number) for part in range(1_000)))


hostile.each("N4", BROKEN)(
    endless_headers_without_a_blank_line=lambda it: endless(
        it, b"HTTP/1.1 200 OK\r\n", b"Set-Cookie: " + b"c" * 1_000 + b"\r\n"
    ),
    one_header_continued_for_ever=lambda it: endless(
        it, b"HTTP/1.1 200 OK\r\nX-Folded: a\r\n", b" and more\r\n" * 100
    ),
)
hostile.each("N5", BROKEN)(
    one_endless_header_line=lambda it: endless(it, b"HTTP/1.1 200 OK\r\nX-Long: ", b"a" * 10_000),
    one_endless_status_line=lambda it: endless(it, b"HTTP/1.1 200 ", b"O" * 10_000),
)
hostile.each("N6", BROKEN)(
    endless_early_hints=lambda it: it.forever(
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 100
    ),
    endless_processing=lambda it: it.forever(b"HTTP/1.1 102 Processing\r\n\r\n"),
)


@hostile("N6", READ)
async def a_few_early_hints(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3)
    await it.answer(page("After the hints"))


@hostile("N6", "failed/timeout")
async def switching_protocols(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
    await it.silence()


@hostile("N7", BROKEN, READ)
async def endless_chunk_extension(it: Exchange) -> None:
    await it.head(CHUNKED)
    await it.send(b"%x\r\n%s\r\n5;a=" % (len(framed(it)), framed(it)))
    await it.forever(b"x" * 10_000)


@hostile("N7", BROKEN, READ)
async def endless_trailers(it: Exchange) -> None:
    await it.head(CHUNKED)
    await it.send(b"%x\r\n%s\r\n0\r\n" % (len(framed(it)), framed(it)))
    await it.forever(b"X-Trailer: and more\r\n" * 100)


@hostile("N7", BROKEN, READ, "failed/too-large")
async def a_chunk_of_2_to_the_63(it: Exchange) -> None:
    await headed(it, CHUNKED, body=b"8000000000000000\r\n" + framed(it))


@hostile("N7", BROKEN, READ)
async def a_chunk_of_minus_one(it: Exchange) -> None:
    await headed(it, CHUNKED, body=b"-1\r\n" + framed(it) + b"\r\n0\r\n\r\n")


@hostile("N7", READ, "failed/timeout", "failed/too-large")
async def a_million_chunks_of_a_byte(it: Exchange) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in framed(it)) + b"1\r\nx\r\n" * 1_000_000
    await headed(it, CHUNKED, body=chunks + b"0\r\n\r\n")


@hostile("N7", READ)
async def chunks_that_are_honest(it: Exchange) -> None:
    await headed(it, CHUNKED, body=chunked([framed(it), b"the end"]))


hostile.each("N8", BROKEN)(
    a_negative_content_length=lambda it: headed(it, "Content-Length: -5"),
    two_content_lengths=lambda it: headed(it, "Content-Length: 10", "Content-Length: 400"),
    a_content_length_of_5000_digits=lambda it: headed(it, "Content-Length: " + "9" * 5_000),
    an_unknown_transfer_encoding=lambda it: headed(it, "Transfer-Encoding: gzip, snappy"),
)
hostile.each("N8", READ, BROKEN)(
    content_length_beside_chunks=lambda it: headed(
        it, "Content-Length: 5", CHUNKED, body=chunked([framed(it)])
    ),
    a_content_length_that_is_too_long=lambda it: headed(it, f"Content-Length: {len(framed(it)) + 1000}"),
)
hostile.each("N8", READ)(
    a_content_length_that_is_too_short=lambda it: headed(it, f"Content-Length: {len(framed(it)) - 100}")
)


@hostile("N11", READ, BROKEN)
async def a_reset_in_the_body(it: Exchange) -> None:
    await it.head("Content-Length: 100000")
    await it.send(framed(it))
    it.reset()


@hostile("N11", BROKEN)
async def a_reset_in_place_of_an_answer(it: Exchange) -> None:
    it.reset()


@hostile("N11", BROKEN)
async def a_close_in_place_of_an_answer(it: Exchange) -> None:
    pass


@hostile("N11", READ, BROKEN)
async def a_close_within_a_chunk(it: Exchange) -> None:
    await headed(it, CHUNKED, body=b"ffff\r\n" + framed(it))


@hostile("N16", READ)
async def headers_of_binary_data(it: Exchange) -> None:
    noise = bytes(set(range(256)) - set(b"\r\n:"))
    await it.send(b"HTTP/1.1 200 OK\r\nno colon at all\r\nX-Noise: " + noise + b"\r\n" + noise + b": x\r\n")
    await it.send(b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(framed(it)), framed(it)))


hostile.each("N18", BROKEN)(
    http_0_9=lambda it: it.send(framed(it)),
    garbage=lambda it: it.send(bytes(range(256)) * 1_000),
    # an alert: unexpected message
    tls_on_the_port_of_http=lambda it: it.send(b"\x15\x03\x01\x00\x02\x02\x16"),
    a_status_that_is_a_word=lambda it: it.send(b"HTTP/1.1 OK 200\r\n\r\n" + framed(it)),
)


@hostile("N18", BROKEN, READ)
async def http_9_9(it: Exchange) -> None:
    await it.send(b"HTTP/9.9 200 OK\r\nContent-Type: text/html\r\n\r\n" + framed(it))


@hostile("N18", "failed/robots-unreachable", raw=True)
async def an_ssh_server(it: Exchange) -> None:
    await it.send(b"SSH-2.0-OpenSSH_9.6\r\n")
    await it.silence()


hostile.each("N18", "failed/server-error", "failed/not-indexable", BROKEN)(
    a_status_of_twenty_digits=lambda it: it.answer(framed(it), status="99999999999999999999 OK"),
    a_negative_status=lambda it: it.answer(framed(it), status="-200 OK"),
)


@hostile("N18", READ)
async def a_status_without_a_phrase(it: Exchange) -> None:
    await it.answer(framed(it) + b"without a phrase", status="200")


@hostile("N21", "failed/not-found")
async def a_demand_for_a_password(it: Exchange) -> None:
    await it.answer("who are you?", 'WWW-Authenticate: Basic realm="all"', status="401 Unauthorized")
