"""WARC records: made of entries, and read again.

They are framed by hand, as warcio hashes each body twice and deflates at level 9 only, which takes six times
as long (bench/warc.py). It reads them.
"""

from __future__ import annotations

import json
import re
from base64 import b32decode, b32encode
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha1
from heapq import heappop, heappush
from http.client import responses
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from uuid import uuid4

from webcrawler import clock
from webcrawler.archive.pages._listed import is_here, names
from webcrawler.archive.pages._members import members, reader
from webcrawler.archive.pages._opened import FILE_BYTES, opened
from webcrawler.errors import Unavailable
from webcrawler.records import Entry, Fetch, Place

LONGEST_HEAD = 2**20  # bytes; ours have some hundreds, and the longest URL
REVISIT = "http://netpreserve.org/warc/1.1/revisit/"
KEPT = "find/kept"  # state of records made by `kept`
EARLY_SECONDS = 3600.0  # by which the first fetch of a file may be older than the file
_NAME = re.compile(r"(\d{8}T\d{6})-")
# They describe the bytes on the wire; kept under another name, as other archives do.
OF_THE_WIRE = frozenset({"content-encoding", "transfer-encoding", "content-length"})

Fields = list[tuple[str, str]]


def record(entry: Entry, search: str = "") -> bytes:
    """Args:
    search: the search of the web that made the fetch.
    """
    fetch, lease = entry.fetch, entry.fetch.lease
    fields = [
        ("WARC-Date", _date(fetch.fetched)),
        ("WARC-Target-URI", lease.spelling),
        ("WARC-Crawl-State", f"{fetch.state}/{fetch.reason}"),
        ("WARC-Crawl-Tries", str(lease.tries)),
        ("WARC-Crawl-Retry", "yes" if fetch.retry else "no"),
        ("WARC-Crawl-Seconds", f"{fetch.seconds:.6f}"),
        ("WARC-Crawl-Token", str(lease.token)),
    ]
    error = fetch.error.encode("utf-8", "replace").decode() if fetch.status else ""  # else it is in the block
    sometimes = {"Was": lease.was, "Request": lease.request, "Search": search, "Error": error}
    fields += [(f"WARC-Crawl-{name}", value) for name, value in sometimes.items() if value]
    if not fetch.status:
        failure = {"url": lease.url, "state": fetch.state, "reason": fetch.reason, "error": fetch.error}
        return framed("metadata", fields, "application/json", json.dumps(failure).encode())
    if fetch.status != 304:
        digest = b32encode(entry.digest or sha1(fetch.body).digest()).decode()
        fields.append(("WARC-Payload-Digest", f"sha1:{digest}"))
    content_type = "application/http; msgtype=response"
    if not entry.original:
        return framed("response", fields, content_type, _http_head(fetch), fetch.body)
    profile = "server-not-modified" if fetch.status == 304 else "identical-payload-digest"
    fields += [
        ("WARC-Profile", REVISIT + profile),
        ("WARC-Refers-To-Target-URI", entry.original.url),
        ("WARC-Refers-To-Date", _date(entry.original.fetched)),
    ]
    return framed("revisit", fields, content_type, _http_head(fetch))


def kept(url: str, search: str) -> bytes:
    """The record that says: this find of a search of the web is in the collection from now on.

    Args:
        url: as it was fetched.
    """
    fields = [
        ("WARC-Date", _date(clock.now())),
        ("WARC-Target-URI", url),
        ("WARC-Crawl-State", KEPT),
        ("WARC-Crawl-Search", search),
    ]
    return framed("metadata", fields, "application/json", b"{}")


def warcinfo(name: str) -> bytes:
    fields = [("WARC-Date", _date(clock.now())), ("WARC-Filename", name)]
    content = b"software: webcrawler\r\nformat: WARC File Format 1.1\r\n"
    return framed("warcinfo", fields, "application/warc-fields", content)


def framed(kind: str, fields: Fields, content_type: str, *blocks: bytes) -> bytes:
    fields = [
        ("WARC-Type", kind),
        ("WARC-Record-ID", f"<{uuid4().urn}>"),
        *fields,
        ("Content-Type", content_type),
        ("Content-Length", str(sum(map(len, blocks)))),
    ]
    return b"".join((b"WARC/1.1\r\n", _lines(fields), *blocks, b"\r\n\r\n"))


def _lines(fields: Fields) -> bytes:
    lines = [f"{name}: {value}".replace("\r", " ").replace("\n", " ") for name, value in fields]
    return "\r\n".join([*lines, "\r\n"]).encode()


def _http_head(fetch: Fetch) -> bytes:
    kept = [(f"X-Archive-Orig-{n}" if n.lower() in OF_THE_WIRE else n, value) for n, value in fetch.headers]
    status = f"HTTP/1.1 {fetch.status} {responses.get(fetch.status, '')}\r\n"
    return status.encode() + _lines([*kept, ("Content-Length", str(len(fetch.body)))])


def _date(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Response(NamedTuple):
    """A kept response; headers and body are empty in a metadata record, the body also in a revisit record."""

    headers: list[tuple[str, str]]
    body: bytes
    url: str  # as it was fetched


class Record(NamedTuple):
    """A record as it stands in a file."""

    place: Place
    kind: str  # "response", "revisit", "metadata"
    fetched: float
    state: str
    reason: str
    tries: int  # failed fetches before this one
    retry: bool  # it failed and was worth another try
    seconds: float
    status: int
    response: Response
    refers_to: str  # of a revisit: the URL that had this body
    error: str
    digest: bytes  # SHA-1 of the body, also of that which a revisit record leaves out
    # Empty or 0 also in records of versions that did not keep them:
    token: int  # of the lease
    was: str  # as the lease's
    request: str  # as the lease's
    search: str  # the search of the web that made the fetch


def records(folder: Path) -> Iterator[Record]:
    """All records of all files, oldest file first; what is damaged is left out."""
    for name in names(folder):
        with opened(folder, name, FILE_BYTES) as file:
            yield from records_from(file, name, 0)


def record_at(folder: Path, place: Place) -> Record:
    """The record at a place. Only reads, so the folder need not be ours to write.

    Raises:
        Unavailable: the file is missing or the record is broken.
    """
    path = folder / place.file
    try:
        with opened(folder, place.file) as file:
            found = next(records_from(file, place.file, place.offset), None)
            if found and found.place == place:
                return found
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error}.") from error
    raise Unavailable(f"{path} has no whole record of ours at {place.offset}.")


def records_from(
    file: BinaryIO, name: str, start: int, unreadable: Callable[[int], object] = lambda offset: None
) -> Iterator[Record]:
    """The records of a file from an offset on.

    Args:
        unreadable: is told the offset of each that is damaged, or none of ours.
    """
    for offset, _, member in members(file, start, unreadable):
        try:
            member.index(b"\r\n\r\n", 0, LONGEST_HEAD)  # warcio's time grows with its square
            record = next(reader(BytesIO(member)))
            found = _parsed(record, Place(name, offset)) if record.rec_type != "warcinfo" else None
        except Exception:  # of others: warcio and its fields fail in any way
            unreadable(offset)
            continue
        if found:
            yield found


def _parsed(record: Any, place: Place) -> Record:
    field = record.rec_headers.get_header
    body = record.content_stream().read()
    error = json.loads(body).get("error", "") if record.rec_type == "metadata" else field("WARC-Crawl-Error")
    http = record.http_headers
    digest = field("WARC-Payload-Digest") or ""
    state, _, reason = field("WARC-Crawl-State").partition("/")
    return Record(
        place,
        kind=record.rec_type,
        fetched=datetime.fromisoformat(field("WARC-Date")).timestamp(),
        state=state,
        reason=reason,
        tries=int(field("WARC-Crawl-Tries") or 0),
        retry=field("WARC-Crawl-Retry") == "yes",
        seconds=float(field("WARC-Crawl-Seconds") or 0),
        status=int(http.get_statuscode()) if http else 0,
        response=Response(http.headers if http else [], body if http else b"", field("WARC-Target-URI")),
        refers_to=field("WARC-Refers-To-Target-URI") or "",
        error=error or "",
        digest=b32decode(digest.removeprefix("sha1:")) if digest.startswith("sha1:") else b"",
        token=int(field("WARC-Crawl-Token") or 0),
        was=field("WARC-Crawl-Was") or "",
        request=field("WARC-Crawl-Request") or "",
        search=field("WARC-Crawl-Search") or "",
    )


def in_order(folder: Path, unreadable: Callable[[Place], object] = lambda place: None) -> Iterator[Record]:
    """All records of all files: those of one file as they stand, files merged by the times of the fetches.

    Several workers write at the same time, each to a file of its own. A file is opened when its time comes,
    as after years of nightly crawls there are more than a process may open.

    Args:
        unreadable: is told of each record that is damaged, or none of ours, and of what is no file, such as a
            pipe, which would be waited for; a torn record ends its file.
    """
    waiting = deque(sorted(names(folder), key=_begun))
    # Time up to now, number of the file, record, the rest of the file.
    heap: list[tuple[float, int, Record, Iterator[Record]]] = []
    opened = 0
    while heap or waiting:
        while waiting and (not heap or _begun(waiting[0]) - EARLY_SECONDS <= heap[0][0]):
            opened += 1
            _push(heap, 0.0, opened, _records(folder, waiting.popleft(), unreadable))
        if heap:
            time, number, record, rest = heappop(heap)
            yield record
            _push(heap, time, number, rest)


def _push(
    heap: list[tuple[float, int, Record, Iterator[Record]]], time: float, number: int, rest: Iterator[Record]
) -> None:
    if (record := next(rest, None)) is not None:
        heappush(heap, (max(time, record.fetched), number, record, rest))


def _records(folder: Path, name: str, unreadable: Callable[[Place], object]) -> Iterator[Record]:
    if is_here(folder, name) and not (folder / name).is_file():
        unreadable(Place(name, 0))
        return
    with opened(folder, name, FILE_BYTES) as file:
        yield from records_from(file, name, 0, lambda offset: unreadable(Place(name, offset)))


def _begun(name: str) -> float:
    """When the file was begun, by its name; 0 for names that are not ours."""
    found = _NAME.match(name)
    return datetime.strptime(found[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC).timestamp() if found else 0.0
