"""HTTP messages that are no HTTP messages."""

from __future__ import annotations

import itertools

from zoo.exchange import Exchange, chunked, page
from zoo.server import Kind

hostile = Kind()
BROKEN = "failed/unreachable"  # what came was no answer
CHUNKED = "Transfer-Encoding: chunked"


def framed(it: Exchange) -> bytes:
    """A page of this server, for any framing."""
    return page(it.home, text="some text and more " * 30).encode()


@hostile("N4", BROKEN)
async def endless_distinct_headers(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
    for number in itertools.count():
        await it.send(b"".join(b"X-%d-%d: %d\r\n" % (number, part, number) for part in range(1_000)))


@hostile("N4", BROKEN)
async def endless_headers_without_a_blank_line(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\n")
    await it.forever(b"Set-Cookie: " + b"c" * 1_000 + b"\r\n")


@hostile("N4", BROKEN)
async def one_header_continued_for_ever(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nX-Folded: a\r\n")
    await it.forever(b" and more\r\n" * 100)


@hostile("N5", BROKEN)
async def one_endless_header_line(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    await it.forever(b"a" * 10_000)


@hostile("N5", BROKEN)
async def one_endless_status_line(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 200 ")
    await it.forever(b"O" * 10_000)


@hostile("N6", BROKEN)
async def endless_early_hints(it: Exchange) -> None:
    await it.forever(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 100)


@hostile("N6", BROKEN)
async def endless_processing(it: Exchange) -> None:
    await it.forever(b"HTTP/1.1 102 Processing\r\n\r\n")


@hostile("N6", "done/document")
async def a_few_early_hints(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3)
    await it.answer(page("After the hints"))


@hostile("N6", "failed/timeout")
async def switching_protocols(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
    await it.silence()


@hostile("N7", BROKEN, "done/document")
async def endless_chunk_extension(it: Exchange) -> None:
    await it.head(CHUNKED)
    await it.send(b"%x\r\n%s\r\n5;a=" % (len(framed(it)), framed(it)))
    await it.forever(b"x" * 10_000)


@hostile("N7", BROKEN, "done/document")
async def endless_trailers(it: Exchange) -> None:
    await it.head(CHUNKED)
    await it.send(b"%x\r\n%s\r\n0\r\n" % (len(framed(it)), framed(it)))
    await it.forever(b"X-Trailer: and more\r\n" * 100)


@hostile("N7", BROKEN, "done/document", "failed/too-large")
async def a_chunk_of_2_to_the_63(it: Exchange) -> None:
    await it.head(CHUNKED)
    await it.send(b"8000000000000000\r\n" + framed(it))


@hostile("N7", BROKEN, "done/document")
async def a_chunk_of_minus_one(it: Exchange) -> None:
    await it.head(CHUNKED)
    await it.send(b"-1\r\n" + framed(it) + b"\r\n0\r\n\r\n")


@hostile("N7", "done/document", "failed/timeout", "failed/too-large")
async def a_million_chunks_of_a_byte(it: Exchange) -> None:
    await it.head(CHUNKED)
    await it.send(
        b"".join(b"1\r\n%c\r\n" % byte for byte in framed(it)) + b"1\r\nx\r\n" * 1_000_000 + b"0\r\n\r\n"
    )


@hostile("N7", "done/document")
async def chunks_that_are_honest(it: Exchange) -> None:
    await it.head(CHUNKED)
    await it.send(chunked([framed(it), b"the end"]))


@hostile("N8", BROKEN)
async def a_negative_content_length(it: Exchange) -> None:
    await it.head("Content-Length: -5")
    await it.send(framed(it))


@hostile("N8", BROKEN)
async def two_content_lengths(it: Exchange) -> None:
    await it.head("Content-Length: 10", "Content-Length: 400")
    await it.send(framed(it))


@hostile("N8", "done/document", BROKEN)
async def content_length_beside_chunks(it: Exchange) -> None:
    await it.head("Content-Length: 5", CHUNKED)
    await it.send(chunked([framed(it)]))


@hostile("N8", "done/document", BROKEN)
async def a_content_length_that_is_too_long(it: Exchange) -> None:
    await it.head(f"Content-Length: {len(framed(it)) + 1000}")
    await it.send(framed(it))


@hostile("N8", "done/document")
async def a_content_length_that_is_too_short(it: Exchange) -> None:
    await it.head(f"Content-Length: {len(framed(it)) - 100}")
    await it.send(framed(it))


@hostile("N8", BROKEN)
async def a_content_length_of_5000_digits(it: Exchange) -> None:
    await it.head("Content-Length: " + "9" * 5_000)
    await it.send(framed(it))


@hostile("N8", BROKEN)
async def an_unknown_transfer_encoding(it: Exchange) -> None:
    await it.head("Transfer-Encoding: gzip, snappy")
    await it.send(framed(it))


@hostile("N11", "done/document", BROKEN)
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


@hostile("N11", "done/document", BROKEN)
async def a_close_within_a_chunk(it: Exchange) -> None:
    await it.head(CHUNKED)
    await it.send(b"ffff\r\n" + framed(it))


@hostile("N16", "done/document")
async def headers_of_binary_data(it: Exchange) -> None:
    noise = bytes(set(range(256)) - set(b"\r\n:"))
    await it.send(b"HTTP/1.1 200 OK\r\nno colon at all\r\nX-Noise: " + noise + b"\r\n" + noise + b": x\r\n")
    await it.send(b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(framed(it)), framed(it)))


@hostile("N18", BROKEN)
async def http_0_9(it: Exchange) -> None:
    await it.send(framed(it))


@hostile("N18", BROKEN, "done/document")
async def http_9_9(it: Exchange) -> None:
    await it.send(b"HTTP/9.9 200 OK\r\nContent-Type: text/html\r\n\r\n" + framed(it))


@hostile("N18", BROKEN)
async def garbage(it: Exchange) -> None:
    await it.send(bytes(range(256)) * 1_000)


@hostile("N18", "failed/robots-unreachable", raw=True)
async def an_ssh_server(it: Exchange) -> None:
    await it.send(b"SSH-2.0-OpenSSH_9.6\r\n")
    await it.silence()


@hostile("N18", BROKEN)
async def tls_on_the_port_of_http(it: Exchange) -> None:
    await it.send(b"\x15\x03\x01\x00\x02\x02\x16")  # an alert: unexpected message


@hostile("N18", BROKEN)
async def a_status_that_is_a_word(it: Exchange) -> None:
    await it.send(b"HTTP/1.1 OK 200\r\n\r\n" + framed(it))


@hostile("N18", "failed/server-error", "failed/not-indexable", BROKEN)
async def a_status_of_twenty_digits(it: Exchange) -> None:
    await it.answer(framed(it), status="99999999999999999999 OK")


@hostile("N18", "failed/server-error", "failed/not-indexable", BROKEN)
async def a_negative_status(it: Exchange) -> None:
    await it.answer(framed(it), status="-200 OK")


@hostile("N18", "done/document")
async def a_status_without_a_phrase(it: Exchange) -> None:
    await it.answer(framed(it) + b"without a phrase", status="200")


@hostile("N21", "failed/not-found")
async def a_demand_for_a_password(it: Exchange) -> None:
    await it.answer("who are you?", 'WWW-Authenticate: Basic realm="all"', status="401 Unauthorized")
