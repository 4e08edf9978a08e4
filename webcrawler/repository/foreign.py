"""WARC and ARC files of other crawlers: what a crawl of ours would have made of the same answers."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from scrapy.http import Response
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from webcrawler.crawl import headers_of, reason_of
from webcrawler.errors import BadInput, BadUrl
from webcrawler.records import Fetch
from webcrawler.repository.entries import EntryReader, lease_of

TAKEN = frozenset({"document", "redirect", "redirect-loop", "not-found"})
CHUNK_BYTES = 65_536
WEB = ("http://", "https://")


class ForeignFile:
    """Reads one file, once.

    Args:
        bodies: of all files read so far, by digest: file and offset of the record that has the body.
        left_out: counts what is not taken, by reason.
        most_bytes: a larger body is left out.
    """

    def __init__(
        self,
        path: Path,
        reader: EntryReader,
        bodies: dict[str, tuple[Path, int]],
        left_out: Counter[str],
        most_bytes: int,
    ) -> None:
        self._path, self._reader, self._bodies, self._left_out = path, reader, bodies, left_out
        self._most_bytes = most_bytes
        self.offset = 0  # bytes read

    def fetches(self) -> Iterator[Fetch]:
        """The answers to requests of web pages, as fetches.

        Raises:
            BadInput: it is no WARC or ARC file, is damaged, or was compressed as a whole.
        """
        is_empty = True
        try:
            with self._path.open("rb") as file:
                records = ArchiveIterator(file, arc2warc=True)
                for record in records:
                    self.offset, is_empty = records.offset, False
                    if fetch := self._fetch(record):
                        yield fetch
        except (ArchiveLoadFailed, EOFError, OSError) as error:
            why = f"beyond byte {self.offset:,}: {_plain(error)}"
            raise BadInput(f"{self._path} cannot be read {why}") from None
        if is_empty:
            raise BadInput(f"{self._path} cannot be read: it has no records")

    def _fetch(self, record: Any) -> Fetch | None:
        url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
        if record.rec_type not in ("response", "resource", "revisit") or not url.startswith(WEB):
            return None
        why = ""
        try:
            fetch, why = self._judged(record, url)
        except BadUrl:
            fetch, why = None, "not a URL"
        except (ValueError, TypeError, LookupError, AttributeError, zlib.error):  # as warcio fails
            fetch, why = None, "malformed"
        if why:
            self._left_out[why] += 1
        return fetch

    def _judged(self, record: Any, url: str) -> tuple[Fetch | None, str]:
        """The fetch, or why it is not taken."""
        lease = lease_of(url)
        if refusal := self._reader.refusal(lease):
            return None, refusal
        response = self._response(record, url)
        if response is None:
            return None, "body elsewhere"
        if len(response.body) > self._most_bytes:
            return None, "too-large"
        headers = headers_of(response)
        target = self._reader.target(response.status, headers, lease)
        state, reason, retry = reason_of(response, target, lease, self._reader.kinds)
        if retry or reason not in TAKEN:
            return None, reason
        fetched = datetime.fromisoformat(record.rec_headers.get_header("WARC-Date")).timestamp()
        body = response.body
        return Fetch(lease, state, reason, fetched, 0.0, response.status, headers, body, target=target), ""

    def _response(self, record: Any, url: str) -> Response | None:
        digest = record.rec_headers.get_header("WARC-Payload-Digest") or ""
        if record.rec_type == "resource":  # the bytes alone, without an answer
            kind = record.rec_headers.get_header("Content-Type") or ""
            return Response(url, 200, {"Content-Type": kind}, self._body(record))
        status = int(record.http_headers.get_statuscode())
        headers: dict[str, list[str]] = {}
        for name, value in record.http_headers.headers:
            headers.setdefault(name, []).append(value)
        if record.rec_type == "revisit" and status == 200:
            body = self._body_at(*self._bodies[digest]) if digest in self._bodies else None
        else:
            body = self._body(record)
            if digest:
                self._bodies.setdefault(digest, (self._path, self.offset))
        return None if body is None else Response(url, status, headers, body)

    def _body(self, record: Any) -> bytes:
        """Without transfer and content encodings; a little more than `most_bytes` of what is longer."""
        stream, body = record.content_stream(), bytearray()
        while len(body) <= self._most_bytes and (part := stream.read(CHUNK_BYTES)):
            body += part
        return bytes(body)

    def _body_at(self, path: Path, offset: int) -> bytes | None:
        with path.open("rb") as file, suppress(ArchiveLoadFailed):
            file.seek(offset)
            for record in ArchiveIterator(file, arc2warc=True):
                return self._body(record)
        return None


def _plain(error: Exception) -> str:
    """What warcio says, in one line."""
    if "non-chunked gzip" in str(error):
        return "it was compressed as a whole, not record by record; `warcio recompress OLD NEW` mends that"
    return " ".join(str(error).split())[:200]
