"""FTP and Gopher: files, and folders and menus as pages with a link to each of their files.

Of FTP there is one connection for each download, passive and anonymous. The data come from the address that
was connected to, whatever address the server names: another one could be a private one. Gopher is read by RFC
1436: one line asks, and the answer ends with the connection.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from html import escape
from itertools import groupby
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes

import aioftp
from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotConfigured,
)
from scrapy.http import Headers, Response
from scrapy.utils._download_handlers import check_stop_download
from twisted.web.iweb import UNKNOWN_LENGTH

from webcrawler import urls
from webcrawler.crawl.peers import addresses
from webcrawler.settings import words_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


CHUNK_BYTES = 65_536


class Reach:
    """Downloads by one protocol.

    Raises:
        NotConfigured: PROTOCOLS does not name it.
    """

    def __init__(self, crawler: Crawler, protocol: str) -> None:
        settings = crawler.settings
        if protocol not in words_of(settings["PROTOCOLS"]):
            raise NotConfigured(f"PROTOCOLS does not name {protocol}")
        self._crawler = crawler
        self._timeout_s = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._bytes_max = settings.getint("DOWNLOAD_MAXSIZE")

    async def response(self, request: Request, ask: Callable[[str, int], Awaitable[Response]]) -> Response:
        """Return what `ask` gets from the first of the server's addresses that can be connected to.

        Args:
            ask: of an address and a port.
        Raises:
            DownloadFailedError, DownloadTimeoutError, CannotResolveHostError: there was no answer.
        """
        if "proxy" in request.meta:
            raise DownloadFailedError(f"proxies are used for HTTP only: {request.url}")
        host, port = urls.host_and_port(urls.server(urls.resolve(request.url)))
        try:
            async with asyncio.timeout(request.meta.get("download_timeout", self._timeout_s)):
                return await self._first(await addresses(host), port, ask)
        except TimeoutError:
            raise DownloadTimeoutError(f"no answer in time: {request.url}") from None
        except (OSError, EOFError) as error:
            raise DownloadFailedError(f"{request.url}: {error}") from error

    async def _first(
        self, found: list[str], port: int, ask: Callable[[str, int], Awaitable[Response]]
    ) -> Response:
        if not found:
            raise CannotResolveHostError("no address of this host is known, or may be connected to")
        for address in found[:-1]:
            try:
                return await ask(address, port)
            except ConnectionRefusedError:
                continue
        return await ask(found[-1], port)

    async def body(self, request: Request, headers: Headers, chunks: AsyncIterator[bytes]) -> bytes:
        """Return the body that comes in chunks, empty or cut short where a handler of a signal stops it.

        Raises:
            DownloadCancelledError: it is longer than DOWNLOAD_MAXSIZE.
        """
        most = request.meta.get("download_maxsize", self._bytes_max)
        size = headers.get("Content-Length")
        length = int(size) if size else UNKNOWN_LENGTH
        if check_stop_download(
            signals.headers_received, self._crawler, request, headers=headers, body_length=length
        ):
            return b""
        body = bytearray()
        async for chunk in chunks:
            body += chunk
            if most and len(body) > most:
                raise DownloadCancelledError(f"{request.url} is larger than {most:,} bytes")
            if check_stop_download(signals.bytes_received, self._crawler, request, data=chunk):
                break
        return bytes(body)


CONTENT_TYPE = "text/html; charset=utf-8"


class Line(NamedTuple):
    text: str
    href: str = ""  # "": no link


def page(title: str, lines: Iterable[Line]) -> bytes:
    """Return HTML in UTF-8: a paragraph for each link, and text between them as it stands."""
    parts = [f'<!doctype html>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n']
    for is_link, group in groupby(lines, key=lambda line: bool(line.href)):
        if is_link:
            parts += (f'<p><a href="{escape(href)}">{escape(text)}</a></p>\n' for text, href in group)
        else:
            text = escape("\n".join(line.text for line in group))
            parts.append(f"<pre>{text}</pre>\n")
    return "".join(parts).encode("utf-8", "replace")


FILES_MAX = 20_000  # of a folder
# What HTTP would answer, by the reply of RFC 959, 4.2.1; the others are faults of the server.
STATUSES = {"550": 404, "553": 404, "530": 403, "421": 503, "425": 503, "426": 503, "450": 503, "451": 503}


class FtpHandler(BaseDownloadHandler):
    """For DOWNLOAD_HANDLERS, ftp; with FTP_USER and FTP_PASSWORD, as Scrapy's own."""

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._reach = Reach(crawler, "ftp")
        self._login = crawler.settings["FTP_USER"], crawler.settings["FTP_PASSWORD"]

    async def download_request(self, request: Request) -> Response:
        return await self._reach.response(request, lambda address, port: self._ask(request, address, port))

    async def _ask(self, request: Request, address: str, port: int, encoding: str = "utf-8") -> Response:
        path, encoding = _path(request.url, encoding)
        client = aioftp.Client(encoding=encoding, parse_list_line_custom=_no_file)
        try:
            await client.connect(address, port)
            await client.login(*self._login)
            if path.endswith("/"):
                return await self._folder(request, client, path)
            return await self._file(request, client, path)
        except aioftp.StatusCodeError as error:
            status = STATUSES.get(str(error.received_codes[-1]), 500)
            return Response(request.url, status, body=" ".join(error.info or ()).encode())
        except ValueError:  # what the server says is no UTF-8
            if encoding != "utf-8":
                raise DownloadFailedError(f"{request.url}: its answers cannot be read") from None
            return await self._ask(request, address, port, "latin-1")
        finally:
            client.close()

    async def _folder(self, request: Request, client: Any, path: str) -> Response:
        await client.change_directory(path)  # to list what is not there is no error for some servers
        lines: list[Line] = []
        async for name, facts in client.list():
            shown = PurePosixPath(name).name + ("/" if facts["type"] == "dir" else "")
            if len(lines) < FILES_MAX and shown.strip("/") not in ("", ".", ".."):
                lines.append(Line(shown, "./" + quote(shown, encoding=client.encoding)))
        body = page(f"Index of {path} at {urls.server(request.url).partition('://')[2]}", sorted(lines))
        return Response(request.url, 200, {"Content-Type": CONTENT_TYPE}, body)

    async def _file(self, request: Request, client: Any, path: str) -> Response:
        headers = await _headers(client, path)
        modified, known = headers.get("Last-Modified"), request.headers.get("If-Modified-Since")
        if modified and known and _time(modified) <= _time(known):
            return Response(request.url, 304, headers)
        try:
            stream = await client.download_stream(path)
        except aioftp.StatusCodeError as error:
            with suppress(aioftp.StatusCodeError):
                await client.change_directory(path)
                return Response(request.url, 301, {"Location": request.url + "/"})
            raise error
        body = await self._reach.body(request, headers, stream.iter_by_block(CHUNK_BYTES))
        if stream.reader.at_eof():
            await stream.finish()  # says whether it is whole: 426 and 451 are not
        else:  # it was stopped
            stream.close()
        return Response(request.url, 200, headers, body)


def _no_file(b: bytes) -> Any:
    """Read lines of `ls` that name nothing, as "total 16": the client leaves "." out."""
    if not b.startswith(b"total"):
        raise ValueError(b)
    return PurePosixPath("."), {"type": "unknown"}


def _path(url: str, encoding: str) -> tuple[str, str]:
    """The path of a URL without a type of transfer (RFC 1738, 3.2.2), and the encoding of its bytes."""
    raw = unquote_to_bytes(urls.split(urls.resolve(url))[1].partition(";type=")[0])
    try:
        return raw.decode(encoding), encoding
    except UnicodeDecodeError:
        return raw.decode("latin-1"), "latin-1"


async def _headers(client: Any, path: str) -> Headers:
    """What HTTP would say of a file. Its name tells its type; without an ending it is most often text."""
    name = PurePosixPath(path).name
    otherwise = "application/octet-stream" if "." in name else "text/plain"
    headers = Headers({"Content-Type": guess_type(name)[0] or otherwise})
    await client.command("TYPE I", "200")  # a size is that of a transfer of this type (RFC 3659, 4.2)
    with suppress(aioftp.StatusCodeError, ValueError):
        _, size = await client.command(f"SIZE {path}", "213")
        headers["Content-Length"] = str(int(size[-1]))
    with suppress(aioftp.StatusCodeError, ValueError):
        _, time = await client.command(f"MDTM {path}", "213")
        modified = datetime.strptime(time[-1].strip()[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        headers["Last-Modified"] = format_datetime(modified, usegmt=True)
    return headers


def _time(value: bytes) -> float:
    return parsedate_to_datetime(value.decode("latin-1")).timestamp()


TYPES = {"0": "text/plain", "1": CONTENT_TYPE, "h": "text/html"}  # by item type
LINES_MAX = 20_000  # of a menu
# Servers say that there is no such item by an item of type 3, whatever was asked for.
_ERROR = re.compile(rb"3([^\t\r\n]*)\t[^\r\n]*(?:\r?\n\.?)*")
_END = re.compile(rb"(?:^|\r?\n)\.\r?\n?$")  # RFC 1436, 3.1: a full stop ends text; many servers leave it out


class GopherHandler(BaseDownloadHandler):
    """For DOWNLOAD_HANDLERS, gopher. Menus become pages of HTML, and errors are answered as by HTTP."""

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._reach = Reach(crawler, "gopher")

    async def download_request(self, request: Request) -> Response:
        return await self._reach.response(request, lambda address, port: self._ask(request, address, port))

    async def _ask(self, request: Request, address: str, port: int) -> Response:
        item, selector = urls.gopher_item(urls.resolve(request.url))
        reader, writer = await asyncio.open_connection(address, port)
        with closing(writer):
            writer.write(unquote_to_bytes(selector) + b"\r\n")
            await writer.drain()
            content_type = TYPES.get(item) or guess_type(selector)[0] or "application/octet-stream"
            headers = Headers({"Content-Type": content_type})
            body = await self._reach.body(request, headers, _chunks(reader))
        if error := _ERROR.fullmatch(body):
            return Response(request.url, 404, body=error[1])
        if item == "1":
            body = await asyncio.to_thread(menu, body, request.url)
        elif item == "0":
            body = _END.sub(b"", body)
        return Response(request.url, 200, headers, body)


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while chunk := await reader.read(CHUNK_BYTES):
        yield chunk


def menu(body: bytes, url: str) -> bytes:
    """Return a menu as a page of HTML; its title is the first line that says something.

    Source: RFC 1436, 3.4 and 3.8. Item type i (a line of text) and selectors "URL:http://…" are of later use.
    """
    encoding = _encoding(body)
    lines = list(_lines(body.decode(encoding), encoding))
    said = (line.text.strip() for line in lines if any(map(str.isalnum, line.text)))
    return page(next(said, url), lines)


def _encoding(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _lines(text: str, encoding: str) -> Iterator[Line]:
    for line in text.splitlines()[:LINES_MAX]:
        if line == ".":
            return
        shown, *rest = line.split("\t")
        yield Line(shown[1:], _href(shown[:1], rest, encoding))


def _href(item: str, rest: list[str], encoding: str) -> str:
    """Where a line of a menu leads; "": nowhere."""
    if item in ("", "i", "3") or len(rest) < 3 or not rest[2].strip().isdecimal():
        return ""
    selector, host, port = rest[0], rest[1].strip(), rest[2].strip()
    if selector.startswith("URL:"):
        return selector[4:]
    host = f"[{host}]" if ":" in host else host
    return f"gopher://{host}:{port}/{item}{quote_from_bytes(selector.encode(encoding))}" if host else ""
