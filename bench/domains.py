"""A web of many domains of one size behind one proxy on loopback: who shares it out has something to share.

    python bench/domains.py [--domains 200] [--pages 10] [--delay-ms 50]

directory.test links to the front page of each domain; a page to three of its own domain and one of another.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from urllib.parse import urlsplit

WORDS, VOCABULARY = 80, 20_000


@contextmanager
def many_domains(domains: int, pages: int, delay_ms: int) -> Iterator[str]:
    """The URL of a proxy that serves them, in a process of its own."""
    options = {"--domains": domains, "--pages": pages, "--delay-ms": delay_ms}
    words = [str(part) for option in options.items() for part in option]
    server = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()


@cache
def page(host: str, path: str, domains: int, pages: int) -> bytes:
    """Always the same for a URL, and like no other page."""
    draw = random.Random(host + path)
    if host == "directory.test":
        links = [f"http://d{n}.test/" for n in range(domains)]
    else:
        links = [f"/{draw.randrange(pages)}" for _ in range(2)]
        links += [f"/{(int(path[1:] or -1) + 1) % pages}"]
        links += [f"http://d{draw.randrange(domains)}.test/{draw.randrange(pages)}"]
    text = " ".join(f"w{draw.randrange(VOCABULARY)}" for _ in range(WORDS))
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return f"<!doctype html><title>{host}{path}</title><p>{text}<p>{anchors}".encode()


async def serve(domains: int, pages: int, delay_ms: int) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := (await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""):
            url = urlsplit(request.split(b" ", 2)[1].decode())
            await asyncio.sleep(delay_ms / 1000)
            body = page(url.hostname or "", url.path, domains, pages)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--domains", type=int, default=200, metavar="N")
    parser.add_argument("--pages", type=int, default=10, metavar="N", help="of each domain (10)")
    parser.add_argument("--delay-ms", type=int, default=50, metavar="MS", help="before each answer (50)")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.domains, arguments.pages, arguments.delay_ms))
