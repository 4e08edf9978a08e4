"""FTP: files, and folders as pages with a link to each of their files.

One connection for each download, passive and anonymous. The data come from the address that was connected to,
whatever address the server names: another one could be a private one.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_to_bytes

import aioftp
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import DownloadFailedError
from scrapy.http import Headers, Response

from webcrawler import urls
from webcrawler.crawl.handlers.reach import CHUNK_BYTES, CONTENT_TYPE, Line, Reach, page

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

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
