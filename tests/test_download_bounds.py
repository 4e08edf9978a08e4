"""What is read of an answer before and between the bytes of its body has an end; so have large bodies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.core.downloader.handlers import http11
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.protocol import Protocol
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError
from twisted.web.client import HTTPConnectionPool

from webcrawler.crawl import http
from webcrawler.crawl.http import HEADER_LINES_MAX, INTERIM_MAX, LINE_BYTES_MAX, BoundedHandler, BoundedParser
from webcrawler.crawl.open_leases import HELD_BYTES_MAX, LARGE_BYTES, PLACES, Room

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


class Answer(Protocol):
    """A parser with a request behind it, and what it has made of the bytes that came."""

    def __init__(self) -> None:
        self.rest: list[bytes] = []
        self.body = b""
        self._request = Request("http://a.test/")  # as Scrapy's reader of a body has it
        self.parser = BoundedParser(SimpleNamespace(method=b"GET"), self.rest.append)  # type: ignore[no-untyped-call]
        self.parser.room = Room()
        self.parser.makeConnection(StringTransport())
        self.parser._responseDeferred.addCallback(self._got)

    def _got(self, response: Any) -> None:
        self.response = response
        response.deliverBody(self)

    def dataReceived(self, data: bytes) -> None:
        self.body += data

    def receive(self, data: bytes) -> Answer:
        self.parser.dataReceived(data)
        return self


def test_scrapy_and_twisted_still_have_what_the_handler_overrides() -> None:
    protocol, parser = http11._LenientHTTP11ClientProtocol, http11._LenientHTTPClientParser

    assert http11.HTTP11DownloadHandler.download_request
    assert protocol.request and protocol._finishResponse
    assert HTTPConnectionPool._factory and HTTPConnectionPool.getConnection
    assert parser.lineReceived and parser.headerReceived and parser.allHeadersReceived
    assert parser.switchToBodyMode and parser.rawDataReceived


def test_as_many_headers_as_are_allowed_are_read_and_one_more_is_an_error() -> None:
    fields = b"X: y\r\n" * (HEADER_LINES_MAX - 2)  # the status line and the empty one are lines too

    assert Answer().receive(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n").response.code == 200
    with pytest.raises(ParseError):
        Answer().receive(b"HTTP/1.1 200 OK\r\nX: z\r\n" + fields + b"\r\n")


def test_headers_end_at_a_number_of_bytes_folded_or_not() -> None:
    with pytest.raises(ParseError):
        Answer().receive(HTML + (b" " + b"a" * (LINE_BYTES_MAX - 2) + b"\n") * 5)


def test_interim_answers_end_and_a_few_do_not_matter() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n"

    assert Answer().receive(interim * INTERIM_MAX + HTML + b"\r\n").response.code == 200
    with pytest.raises(ParseError):
        Answer().receive(interim * (INTERIM_MAX + 1))


def test_a_header_with_a_name_that_is_none_is_left_out_and_the_others_are_kept() -> None:
    answer = Answer().receive(b"HTTP/1.1 200 OK\r\nX \xff: 1\r\nX-Good: 2\r\n\r\n")

    assert list(answer.response.headers.getAllRawHeaders()) == [(b"X-Good", [b"2"])]


def chunks(parts: list[bytes]) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts if part) + b"0\r\n\r\n"


@given(parts=st.lists(st.binary(max_size=40), max_size=20), cuts=st.lists(st.integers(0, 900), max_size=8))
def test_chunks_come_to_their_body_however_they_are_cut(parts: list[bytes], cuts: list[int]) -> None:
    wire, answer = chunks(parts), Answer().receive(HTML + b"Transfer-Encoding: chunked\r\n\r\n")

    at = [0, *sorted(min(cut, len(wire)) for cut in cuts), len(wire)]
    for start, end in pairwise(at):
        if start < end:
            answer.receive(wire[start:end])

    assert answer.body == b"".join(parts)
    assert answer.rest == [b""]


def test_a_body_in_pieces_of_a_byte_ends_when_the_framing_is_a_megabyte() -> None:
    answer = Answer().receive(HTML + b"Transfer-Encoding: chunked\r\n\r\n")

    with pytest.raises(ParseError):
        for _ in range(100):
            answer.receive(b"1\r\nx\r\n" * 10_000)


# ---- room


def response_of(number_of_bytes: int) -> Response:
    return Response("http://a.test/", body=bytes(number_of_bytes))


def test_a_few_large_bodies_are_received_at_a_time() -> None:
    room = Room()

    assert [room.take() for _ in range(PLACES + 1)] == [True] * PLACES + [False]
    room.give()
    assert room.take()


def test_large_bodies_that_somebody_works_on_leave_no_room_until_they_are_gone() -> None:
    room, waiting = Room(), response_of(HELD_BYTES_MAX)
    room.hold(waiting)

    assert not room.take()
    del waiting
    assert room.take()


def test_small_bodies_need_no_room() -> None:
    room, small = Room(), [response_of(LARGE_BYTES) for _ in range(60)]
    for response in small:
        room.hold(response)

    assert room.take()


# ---- room, from the first byte of a body to the end of its download

BODY = HTML + b"Content-Length: %d\r\n\r\n" % (4 * LARGE_BYTES)


def download(room: Room, received: int = LARGE_BYTES + 1) -> Answer:
    """One that goes on, of which so many bytes of the body have come."""
    answer = Answer()
    answer.parser.room = room
    return answer.receive(BODY).receive(bytes(received))


def is_reading(answer: Answer) -> bool:
    return bool(answer.parser.transport.producerState != "paused")


def free(room: Room) -> int:
    """How many places there are left."""
    taken = [room.take() for _ in range(PLACES)]
    for _ in filter(None, taken):
        room.give()
    return sum(taken)


def cut(answer: Answer) -> None:
    answer.parser.connectionLost(Failure(ConnectionLost()))


def complete(answer: Answer) -> None:
    answer.receive(bytes(3 * LARGE_BYTES - 1))
    answer.parser.connectionLost(Failure(ConnectionDone()))


@pytest.mark.parametrize("end", [cut, complete])
def test_however_a_large_download_ends_its_place_is_given_back(end: Callable[[Answer], None]) -> None:
    room = Room()
    downloads = [download(room) for _ in range(PLACES)]
    assert free(room) == 0

    for number, one in enumerate(downloads, 1):
        end(one)
        assert free(room) == number


def test_a_large_body_takes_one_place_and_a_small_one_none() -> None:
    room = Room()

    small, large = download(room, LARGE_BYTES), download(room)
    assert free(room) == PLACES - 1

    large.receive(bytes(9))
    assert free(room) == PLACES - 1
    cut(small)
    assert free(room) == PLACES - 1


@pytest.fixture(autouse=True)
def looking_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "POLL_SECONDS", 0.0)


def test_a_large_body_for_which_there_is_no_room_is_read_on_when_there_is() -> None:
    async def waits() -> None:
        room = Room()
        first, *_ = [download(room) for _ in range(PLACES)]
        late = download(room)
        await turns()
        assert not is_reading(late)

        cut(first)
        await turns()
        assert is_reading(late)
        assert free(room) == 0

    asyncio.run(waits())


def test_a_download_that_ends_while_it_waits_takes_no_place_later() -> None:
    async def ends() -> None:
        room = Room()
        downloads = [download(room) for _ in range(PLACES + 1)]
        for one in reversed(downloads):
            cut(one)
        await turns()
        assert free(room) == PLACES

    asyncio.run(ends())


@pytest.mark.parametrize(
    ("waited_seconds", "fault"), [(0.0, DownloadTimeoutError), (4.0, DownloadTimeoutError), (6.0, OSError)]
)
def test_a_server_that_had_half_of_the_time_or_more_is_not_excused(
    monkeypatch: pytest.MonkeyPatch, waited_seconds: float, fault: type[Exception]
) -> None:
    async def is_late(*_: object) -> None:
        raise DownloadTimeoutError

    monkeypatch.setattr(http11.HTTP11DownloadHandler, "download_request", is_late)
    handler, request = (
        object.__new__(BoundedHandler),
        Request("http://a.test/", meta={"download_timeout": 10.0}),
    )
    handler._room, handler._pool = Room(), SimpleNamespace()
    handler._room.waited_seconds[request] = waited_seconds

    with pytest.raises((DownloadTimeoutError, OSError)) as raised:
        asyncio.run(handler.download_request(request))
    assert raised.type is fault


async def turns() -> None:
    """Lets the event loop go round a few times."""
    for _ in range(5):
        await asyncio.sleep(0)
