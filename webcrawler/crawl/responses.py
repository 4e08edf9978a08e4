"""What a response, or the lack of one, means: state, reason, and whether another try makes sense."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC
from email.message import Message
from email.utils import parsedate_to_datetime
from urllib.parse import quote_from_bytes

from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError, IgnoreRequest
from scrapy.http import Headers, Response

from webcrawler import clock, urls
from webcrawler.errors import BadUrl
from webcrawler.frontier import Report
from webcrawler.job import is_sitemap
from webcrawler.records import Lease, Link

SLOW_DOWN = frozenset({429, 503})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PARSED = frozenset({"document", "sitemap", "probe"})  # reasons of answers that are read
WORTH_A_RETRY = frozenset({408, 425, 429, 500, 502, 503, 504, 507, 509, *range(520, 528)})
RETRY_AFTER_MAX_SECONDS = 24 * 3600.0
CODINGS = frozenset({b"gzip", b"x-gzip", b"deflate", b"br", b"zstd"})
CODINGS_MAX = 3  # applied one after the other; real servers use one
# Gzip members or Zstandard frames, one behind the other: an empty one takes 5 and 15 µs, and inflated from
# another coding, a million of them come in 20 KB. Real servers send one.
MEMBERS_MAX = 1_000
_BEGINNINGS = {  # of a member, a frame, and a frame to be skipped (RFC 1952, 2.3; RFC 8878, 3.1)
    b"gzip": (b"\x1f\x8b\x08",),
    b"x-gzip": (b"\x1f\x8b\x08",),
    b"zstd": (b"\xb5\x2f\xfd", b"\x2a\x4d\x18"),
}
_RETRY_AFTER_BYTES = 64  # twice what a date takes; the rest of a longer one is garbage or more digits


class Refused(IgnoreRequest):
    """Raised before a download; `reason` is one of the table of states."""

    def __init__(self, reason: str, retry: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.retry = reason, retry


def reason_of(
    response: Response, target: Link | None, lease: Lease, kinds: Collection[str] = ()
) -> tuple[str, str, bool]:
    """(state, reason, worth a retry) of an answer; reasons are those of the table of states.

    "not-found" are all 4xx but 408, 425 and 429; those three are "server-error", as they may pass.

    Args:
        kinds: of documents that are read, beside HTML.
    """
    status = response.status
    if target is not None:
        return ("failed", "redirect-loop", False) if target.id == lease.id else ("done", "redirect", False)
    if status == 200:
        # Not at import time: spiders of other people do without parsers and what these need.
        from webcrawler.parsing import HTML, begins_as_sitemap, kind_of

        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        kind = kind_of(content_type, response.body, response.url)
        good = kind == HTML or kind in kinds
        # In place of a sitemap HTML is a page like any other, unless only its type says that it is HTML.
        if is_sitemap(lease) and (kind != HTML or begins_as_sitemap(response.body, content_type)):
            return "done", "sitemap", False
        if good and urls.is_probe(lease.url):
            return "done", "probe", False
        return ("done", "document", False) if good else ("failed", "not-indexable", False)
    if status == 304:
        return "done", "sitemap" if is_sitemap(lease) else "not-modified", False
    if status in WORTH_A_RETRY:
        return "failed", "server-error", True
    if 400 <= status < 500:
        return "failed", "not-found", False
    return "failed", "not-indexable" if 200 <= status < 300 else "server-error", False


def redirect_target(status: int, location: bytes | None, url: str, protocols: Collection[str]) -> Link | None:
    """Where the answer to a request of this URL leads; None where it is no redirect, or to no URL."""
    if status not in REDIRECTS or location is None:
        return None
    try:
        found = urls.outlink(href_of(location), url, protocols, "redirect")
    except BadUrl:
        return None
    return Link(found.url, found.id, found.spelling, rel="redirect", refused=found.refused)


def href_of(location: bytes) -> str:
    """A Location as browsers read it: bytes beyond ASCII are percent-encoded as they are, in any charset."""
    return quote_from_bytes(location, bytes(range(128)))


def reason_of_error(error: BaseException) -> tuple[str, bool, bool]:
    """(reason, worth a retry, the server asks to slow down) of a download that brought no answer."""
    match error:
        case Refused():
            return error.reason, error.retry, False
        case DownloadTimeoutError():
            return "timeout", True, True
        case DownloadCancelledError() | IgnoreRequest():  # past DOWNLOAD_MAXSIZE, or past it when inflated
            return "too-large", False, False
        case _:
            return "unreachable", True, False


def report_of(lease: Lease, seconds: float, response: Response, downloaded: bool = True) -> Report:
    """The end of a download that brought this answer, for the politeness of its server."""
    slow_down = response.status in SLOW_DOWN
    wait = retry_after_seconds(response.headers.get("Retry-After"), clock.now()) if slow_down else 0.0
    return Report(lease, seconds, slow_down, wait, downloaded)


def headers_of(response: Response) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values
    )


def file_name(headers: Headers) -> str:
    """The name under which a browser would save an answer with these headers (RFC 6266), or ""."""
    said = Message()
    said["Content-Disposition"] = (headers.get("Content-Disposition") or b"").decode("latin-1")
    return said.get_filename("")


def codings_of(headers: Headers) -> list[bytes]:
    """The codings in its Content-Encoding that are undone, in the order in which they were applied.

    Words such as "none" or "utf-8" stand where nothing is encoded; noise is told by its bytes.
    """
    listed = b",".join(headers.getlist("Content-Encoding")).lower().split(b",")
    return [coding for part in listed if (coding := part.strip()) in CODINGS]


def has_many_members(body: bytes, coding: bytes) -> bool:
    """Is it made of more gzip members or Zstandard frames than a real server sends? These cost time."""
    return sum(map(body.count, _BEGINNINGS.get(coding, ()))) > MEMBERS_MAX


def retry_after_seconds(value: bytes | None, now: float) -> float:
    """Seconds of a Retry-After header (RFC 9110 10.2.3), up to a day; 0 for no number and no later date."""
    text = (value or b"")[:_RETRY_AFTER_BYTES].decode("latin-1").strip()
    try:
        if text.isdecimal():
            seconds = float(text)
        else:
            date = parsedate_to_datetime(text)
            # The format of asctime names no zone, and HTTP knows GMT alone (RFC 9110, 5.6.7).
            seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), RETRY_AFTER_MAX_SECONDS)
