"""WARC and ARC files of other crawlers: what a crawl of ours would have made of the same answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from io import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO

from scrapy.http import Response
from scrapy.utils._compression import _DecompressionMaxSizeExceeded, _inflate, _unbrotli, _unzstd
from scrapy.utils.gz import gunzip
from warcio.bufferedreaders import ChunkedDataReader

from webcrawler import clock
from webcrawler.archive.pages import next_record, whole_record
from webcrawler.crawl import CODINGS_MAX, has_many_members, headers_of, reason_of
from webcrawler.errors import BadInput
from webcrawler.records import Fetch
from webcrawler.repository.entries import EntryReader, lease_of, token_at

TAKEN = frozenset({"document", "redirect", "not-found"})
CHUNK_BYTES = 65_536
CLOCK_SECONDS = 86_400.0  # by which another machine's clock may be ahead
# As Scrapy undoes them; zlib and raw deflate both go by the name of deflate.
INFLATES: dict[str, Callable[..., bytes]] = {
    **dict.fromkeys(("gzip", "x-gzip"), gunzip),
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
WEB = ("http://", "https://")
ZIP = b"PK\x03\x04"
IS_ZIP = "it is a zip file, as .wacz are: unzip it, and name the WARC files in it"


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
        self.fault = ""  # why not all of it could be read; single records are counted

    def fetches(self) -> Iterator[Fetch]:
        """The answers to requests of web pages, as fetches; what is damaged is passed over and counted."""
        with self._path.open("rb") as file:
            is_zip = file.read(len(ZIP)) == ZIP
            self.fault = IS_ZIP if is_zip else "it has no record of WARC or ARC"
            for record in () if is_zip else self._records(file):
                self.fault = ""
                if fetch := self._fetch(record):
                    yield fetch

    def _records(self, file: BinaryIO) -> Iterator[Any]:
        """All records that are whole."""
        size, due = file.seek(0, SEEK_END), 0
        while due < size:
            self.offset = due
            try:
                record, due = whole_record(file, due, self._most_bytes)
            except Exception as error:  # whatever warcio makes of what is no record
                if self.fault and isinstance(error, BadInput):  # no record was read so far
                    self.fault = str(error)
                self._left_out["malformed"] += 1
                due = next_record(file, due + 1) or size
            else:
                yield record

    def _fetch(self, record: Any) -> Fetch | None:
        url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
        is_web = url[:8].lower().startswith(WEB)
        if record.rec_type not in ("response", "resource", "revisit") or not is_web:
            return None
        fetch: Fetch | None = None
        try:
            fetch, why = self._judged(record, url)
        except Exception:  # there is no end to what a record may lack
            why = "malformed"
        if why:
            self._left_out[why] += 1
        return fetch

    def _judged(self, record: Any, url: str) -> tuple[Fetch | None, str]:
        """The fetch, or why it is not taken."""
        digest = record.rec_headers.get_header("WARC-Payload-Digest") or ""
        if record.rec_type == "response" and digest:
            self._bodies.setdefault(digest, (self._path, self.offset))
        if not (fetched := _fetched(record)):
            return None, "no date of the past"
        lease = lease_of(url, token_at(fetched))
        if refusal := self._reader.refusal(lease):
            return None, refusal
        response = self._response(record, url, digest)
        if response is None:
            return None, "body elsewhere"
        if len(response.body) > self._most_bytes:
            return None, "too-large"
        headers = headers_of(response)
        target = self._reader.target(response.status, headers, lease)
        state, reason, retry = reason_of(response, target, lease, self._reader.kinds)
        if retry or reason not in TAKEN:
            return None, reason
        body = response.body
        return Fetch(lease, state, reason, fetched, 0.0, response.status, headers, body, target=target), ""

    def _response(self, record: Any, url: str, digest: str) -> Response | None:
        if record.rec_type == "resource":  # the bytes alone, without an answer
            kind = record.rec_headers.get_header("Content-Type") or ""
            return Response(url, 200, {"Content-Type": kind}, record.raw_stream.read(self._most_bytes + 1))
        http, body = record.http_headers, None
        if record.rec_type == "revisit" and (not http or http.get_statuscode() == "200"):
            if digest not in self._bodies:
                return None
            original, body = self._answer_at(*self._bodies[digest])
            http = http or original  # it may have no block (WARC 1.1, 6.7.2)
        headers: dict[str, list[bytes]] = {}
        for name, value in http.headers:
            headers.setdefault(name, []).append(value.encode("latin-1"))
        return Response(
            url, int(http.get_statuscode()), headers, self._body(record) if body is None else body
        )

    def _body(self, record: Any) -> bytes:
        """Without transfer and content codings; about `most_bytes` of what is longer."""
        stream, body = record.raw_stream, bytearray()
        if (record.http_headers.get_header("Transfer-Encoding") or "").lower() == "chunked":
            stream = ChunkedDataReader(stream)
        while len(body) <= self._most_bytes and (part := stream.read(CHUNK_BYTES)):
            body += part
        coded = bytes(body)
        codings = (record.http_headers.get_header("Content-Encoding") or "").lower().split(",")
        if len(codings) > CODINGS_MAX:
            raise ValueError(f"{len(codings)} content codings")
        for coding in reversed([coding.strip() for coding in codings]):
            if has_many_members(coded, coding.encode()):
                raise ValueError(f"too many parts, each compressed by {coding}")
            coded = self._inflated(coded, coding)
        return coded

    def _inflated(self, body: bytes, coding: str) -> bytes:
        """Some archives keep the header and not the coding: then the body is as it is."""
        if (inflate := INFLATES.get(coding)) is None:
            return body
        try:
            return inflate(body, max_size=self._most_bytes)
        except _DecompressionMaxSizeExceeded:
            return bytes(self._most_bytes + 1)  # too large, whatever is in it
        except Exception:  # each decoder has errors of its own
            return body

    def _answer_at(self, path: Path, offset: int) -> tuple[Any, bytes]:
        """Status with headers, and the body."""
        with path.open("rb") as file:
            record, _ = whole_record(file, offset, self._most_bytes)
            return record.http_headers, self._body(record)


def _fetched(record: Any) -> float:
    """When, as the record says, or else the answer; 0: neither has a date of the past."""
    by_record, by_server = record.rec_headers, record.http_headers or record.rec_headers
    told = (
        (datetime.fromisoformat, by_record.get_header("WARC-Date")),
        (parsedate_to_datetime, by_server.get_header("Date")),
    )
    for read, text in told:
        with suppress(TypeError, ValueError, OverflowError):
            when = read(text)
            seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
            if 0 < seconds < clock.now() + CLOCK_SECONDS:
                return clock.past(seconds)
    return 0.0
