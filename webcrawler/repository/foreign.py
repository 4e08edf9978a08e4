"""WARC and ARC files of other crawlers: what a crawl of ours would have made of the same answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from scrapy.http import Response
from scrapy.utils._compression import _DecompressionMaxSizeExceeded, _inflate, _unbrotli, _unzstd
from scrapy.utils.gz import gunzip
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed

from webcrawler import clock
from webcrawler.archive.pages import next_record
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
        with self._path.open("rb") as file:
            for record in self._records(file):
                is_empty = False
                if fetch := self._fetch(record):
                    yield fetch
        if is_empty:
            raise BadInput(f"{self._path} cannot be read: it has no records")

    def _records(self, file: BinaryIO) -> Iterator[Any]:
        """All records; what is damaged is passed over, up to the next one that begins."""
        records = _archive(file)
        while True:
            try:
                if (record := next(iter(records), None)) is None:
                    return
                self.offset = records.offset
                if int(record.rec_headers.get_header("Content-Length") or 0) < 0:
                    raise ValueError("a record of a negative length")
            except Exception as error:  # whatever warcio makes of what is no record
                following = next_record(file, self.offset + 1)
                if not following:
                    why = f"beyond byte {self.offset:,}: {_plain(error)}"
                    raise BadInput(f"{self._path} cannot be read {why}") from None
                self._left_out["malformed"] += 1
                self.offset = file.seek(following)
                records = _archive(file)
            else:
                yield record

    def _fetch(self, record: Any) -> Fetch | None:
        url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
        if record.rec_type not in ("response", "resource", "revisit") or not url.startswith(WEB):
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
        when = datetime.fromisoformat(record.rec_headers.get_header("WARC-Date"))
        fetched = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        if not 0 < fetched < clock.now() + CLOCK_SECONDS:
            return None, "no date of the past"
        fetched = clock.past(fetched)
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
        status = int(record.http_headers.get_statuscode())
        headers: dict[str, list[bytes]] = {}
        for name, value in record.http_headers.headers:
            headers.setdefault(name, []).append(value.encode("utf-8", "surrogateescape"))
        if record.rec_type == "revisit" and status == 200:
            body = self._body_at(*self._bodies[digest]) if digest in self._bodies else None
        else:
            body = self._body(record)
        return None if body is None else Response(url, status, headers, body)

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

    def _body_at(self, path: Path, offset: int) -> bytes | None:
        with path.open("rb") as file, suppress(ArchiveLoadFailed):
            file.seek(offset)
            for record in ArchiveIterator(file, arc2warc=True):
                return self._body(record)
        return None


def _archive(file: BinaryIO) -> ArchiveIterator:
    """The records of a file; bytes of their HTTP headers that are no UTF-8 are not lost, as warcio has it."""
    records = ArchiveIterator(file, arc2warc=True)
    records.loader.http_parser.decode_header = partial(str, encoding="utf-8", errors="surrogateescape")
    return records


def _plain(error: Exception) -> str:
    """What warcio says, in one line."""
    if "non-chunked gzip" in str(error):
        return "it was compressed as a whole, not record by record; `warcio recompress OLD NEW` mends that"
    return " ".join(str(error).split())[:200]
