"""An HTTP proxy that relays more than a response never lends one server's text to another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

import pytest
from localweb import crawl
from test_blocking import WITH_INDEX

from webcrawler.archive.catalog import Catalog

HOSTS, PAGES = ("http://surplus.test", "http://victim.test"), range(1, 9)


def response(text: str) -> bytes:
    body = f"<!doctype html><title>{text}</title><p>{text}</p>".encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def page(url: str) -> bytes:
    parts = urlsplit(url)
    if parts.path == "/robots.txt":
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    links = "".join(f"<a href=/{number}>{number}</a>" for number in PAGES) if parts.path == "/" else ""
    return response(f"own words of {parts.netloc}{parts.path} {links}")


class Proxy:
    """After each page of surplus.test it sends another response that nobody has asked for.

    Args:
        late: not together with the page, but when the next request has come on the connection.
    """

    def __init__(self, late: bool) -> None:
        self.is_late = late
        self.connections: list[list[str]] = []  # URLs asked for on each
        proxy = self

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                asked: list[str] = []
                proxy.connections.append(asked)
                owed = b""
                while line := self.rfile.readline():
                    while self.rfile.readline().strip():
                        pass
                    asked.append(line.split()[1].decode())
                    surplus = response("words of surplus") if "surplus.test" in asked[-1] else b""
                    self.wfile.write(owed + page(asked[-1]) + (b"" if late else surplus))
                    owed = surplus if late else b""

        class Server(ThreadingTCPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass  # a crawler that hangs up

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()


@pytest.fixture
def proxy(request: pytest.FixtureRequest) -> Iterator[Proxy]:
    proxy = Proxy(late=request.param)
    yield proxy
    proxy.server.shutdown()
    proxy.server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("proxy", [True, False], indirect=True, ids=["late", "at once"])
def test_surplus_of_one_server_is_no_page_of_another_nor_is_its_line_used_again(
    tmp_path: Path, proxy: Proxy
) -> None:
    job = ("index", "-a", f"seeds={','.join(f'{host}/' for host in HOSTS)}")
    settings = {"PROTOCOLS": "http", "ITEM_PIPELINES": WITH_INDEX}
    crawl(tmp_path, *job, variables={"http_proxy": proxy.url}, **settings)

    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as catalog:
        urls = dict(catalog.urls.all())
        found = {urls[number]: text.title for number, text in catalog.texts(list(urls)).items()}
    victims = {f"{HOSTS[1]}/{name}" for name in ("", *PAGES)}
    assert victims <= found.keys()
    assert all(found[url].startswith(f"own words of {url[7:]}") for url in victims)
    assert all(len({urlsplit(url).netloc for url in asked}) == 1 for asked in proxy.connections if asked)
    if not proxy.is_late:
        assert len(found) == 2 * (1 + len(PAGES))
        assert all(len(asked) == 1 for asked in proxy.connections if "surplus" in "".join(asked))
