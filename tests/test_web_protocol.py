"""Raw bytes against the real server: what is not a request, what never becomes one, and who is slow."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
import uvicorn

from webcrawler.web import Config, make_app
from webcrawler.web.app import MAX_HEAD_BYTES, AnyAddress, listen
from webcrawler.web.security import HEADERS, MAX_BODY_BYTES, MAX_UPLOAD_BYTES

HOST = b"Host: localhost\r\n"
END = b"GET /robots.txt HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
INVALID = b"Invalid HTTP request received."  # the whole answer to what is no request
MANY = 200


@contextmanager
def served(crawl_dir: Path, keep_alive_seconds: int = 5) -> Iterator[tuple[str, int]]:
    """The application that `webcrawler serve` serves, on a port of its own."""
    app = make_app(Config(crawl_dir, feedback=True))
    bound = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        app,
        http=AnyAddress,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=keep_alive_seconds,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    try:
        yield bound.getsockname()
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    with served(tmp_path_factory.mktemp("crawl")) as address:
        yield address


def said(address: tuple[str, int], *pieces: bytes) -> bytes:
    """All that the server says until it closes the line."""
    with closing(socket.create_connection(address, timeout=20)) as line:
        for piece in pieces:
            line.sendall(piece)
        found = b""
        with suppress(ConnectionError):
            while piece := line.recv(65_536):
                found += piece
        return found


@pytest.mark.parametrize(
    "request_, status",
    [
        (b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", 200),
        (b"GET /robots.txt HTTP/1.0\r\n" + HOST + b"\r\n", 200),
        (b"GET /robots.txt?q=f\xc3\xbcr HTTP/1.0\r\n" + HOST + b"\r\n", 200),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),  # TLS
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400),  # no Host
        (b"GET / HTTP/1.1\r\n" + HOST + HOST + b"Connection: close\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + HOST + b"X: \x00\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 20_000 + b"\r\nConnection: close\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 100_000, 400),  # and no end
        (b"GET /" + b"a" * 25_000 + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", 414),
        (b"GET /" + b"a" * 100_000, 400),
        (b"CONNECT evil.test:443 HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", 405),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\na", 400),
        (b"POST /judge HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n", 400),
        (b"POST /judge HTTP/1.1\r\n" + HOST + b"Content-Length: 999999\r\nConnection: close\r\n\r\n", 413),
    ],
)
def test_bytes_that_are_no_good_request_are_refused_and_sealed(
    address: tuple[str, int], request_: bytes, status: int
) -> None:
    answer = said(address, request_)

    assert answer.startswith(b"HTTP/1.1 %d" % status), answer[:200]
    head = answer.partition(b"\r\n\r\n")[0].lower()
    for name, value in HEADERS.items() if INVALID not in answer else ():
        assert f"{name}: {value}".lower().encode() in head
    assert b"\r\nserver:" not in head


@pytest.mark.parametrize("path, most", [("/judge", MAX_BODY_BYTES), ("/api/live", MAX_UPLOAD_BYTES)])
def test_chunked_body_over_the_limit_is_too_large_and_no_failure(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture, path: str, most: int
) -> None:
    head = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n" + HOST + b"\r\n"
    chunk = b"1000\r\n" + b"a" * 0x1000 + b"\r\n"
    chunks = [*[chunk] * (most // 0x1000 + 1), b"0\r\n\r\n"]

    answer = said(address, f"POST {path} HTTP/1.1\r\n".encode() + head, *chunks, END)

    assert answer.startswith(b"HTTP/1.1 413")
    assert f"{most:,} bytes at most".encode() in answer
    assert caplog.records == []


def test_idle_connection_reset_leaves_no_trace(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Timers of later connections run later: when those were closed, all of the reset one are over."""
    with served(tmp_path, keep_alive_seconds=1) as address:
        line = socket.create_connection(address, timeout=20)
        line.sendall(b"GET /robots.txt HTTP/1.1\r\n" + HOST + b"\r\n")
        line.recv(65_536)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()

        said(address, b"GET /robots.txt HTTP/1.1\r\n" + HOST + b"\r\n")  # closed when idle for a second

    assert caplog.records == []


def test_answer_is_not_split_by_what_is_asked(address: tuple[str, int]) -> None:
    """No header of a request's making: CR and LF in the query stay encoded."""
    request = b"GET /search?q=a%0d%0aX-Evil:%20b HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"

    assert b"\r\nx-evil" not in said(address, request).partition(b"\r\n\r\n")[0].lower()


def test_many_slow_clients_are_held_and_others_are_answered(address: tuple[str, int]) -> None:
    lines = [socket.create_connection(address) for _ in range(MANY)]
    for number, line in enumerate(lines):
        line.sendall(b"GET /healthz HTTP/1.1\r\nX: "[: number % 20])

    assert said(address, END).startswith(b"HTTP/1.1 200")
    for line in lines:
        line.close()


def test_head_is_not_collected_without_end(address: tuple[str, int]) -> None:
    """An endless head is cut off soon after its bound: who sends it cannot send a tenfold of that."""

    async def send() -> int:
        _, writer = await asyncio.open_connection(*address)
        writer.write(b"GET / HTTP/1.1\r\n")
        sent = 0
        with suppress(ConnectionError):
            while sent < 1_000 * MAX_HEAD_BYTES:
                writer.write(b"X: a\r\n" * 1_000)
                await writer.drain()
                sent += 6_000
        writer.close()
        return sent

    assert asyncio.run(send()) < 1_000 * MAX_HEAD_BYTES


def test_heads_of_several_requests_do_not_add_up(address: tuple[str, int]) -> None:
    """Each piece ends within the head of the next request."""
    padding = b"X: " + b"a" * (MAX_HEAD_BYTES // 4) + b"\r\n"
    start, rest = b"GET /robots.txt HTTP/1.1\r\n" + padding, HOST + b"\r\n"
    found = b""
    with closing(socket.create_connection(address, timeout=20)) as line:
        line.sendall(start)
        for number in range(1, 7):
            line.sendall(rest + start)
            while found.count(b"HTTP/1.1 200") < number:
                piece = line.recv(65_536)
                assert piece, found[-200:]
                found += piece


def test_server_listens_on_loopback_unless_told_otherwise(tmp_path: Path) -> None:
    assert Config(tmp_path).host == "127.0.0.1"
