"""What an answer, or its absence, comes to; and which bodies are documents."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from scrapy.http import Response

from webcrawler.crawl.responses import (
    RETRY_AFTER_MAX_SECONDS,
    Refused,
    headers_of,
    reason_of,
    reason_of_error,
    redirect_target,
    retry_after_seconds,
)
from webcrawler.job import seed_link, sitemap_link
from webcrawler.parsing import HTML as HTML_KIND
from webcrawler.parsing import declared_kind, kind_of
from webcrawler.records import Lease

HTML = b"<!doctype html><title>x</title>"
A = seed_link("http://a.test/")
LEASE = Lease(A.id, A.url, A.spelling, "http://a.test", 1)

# ---- states and reasons

ANSWERS = [
    # (status, Content-Type, body, state, reason, worth a retry)
    (200, "text/html", HTML, "done", "document", False),
    (200, "application/xhtml+xml; charset=utf-8", HTML, "done", "document", False),
    (200, "text/html", b"", "done", "document", False),  # an empty page is a page
    (200, "text/plain", HTML, "failed", "not-indexable", False),
    (200, "application/pdf", b"%PDF-1.4", "failed", "not-indexable", False),
    (200, "", b"no tags at all", "failed", "not-indexable", False),
    (200, "application/xml", b"<urlset>", "failed", "not-indexable", False),  # a sitemap nobody asked for
    (204, "", b"", "failed", "not-indexable", False),
    (206, "text/html", HTML, "failed", "not-indexable", False),  # nobody asked for a part
    (304, "", b"", "done", "not-modified", False),
    *((status, "text/html", HTML, "failed", "not-found", False) for status in (400, 401, 403, 404, 410, 451)),
    # 522 is a CDN's "no connection to the server"
    *((status, "text/html", HTML, "failed", "server-error", True) for status in (500, 502, 503, 504, 522)),
    *((status, "text/html", HTML, "failed", "server-error", True) for status in (408, 429)),
    # 302 to nowhere; 999 is no status of any standard, and seen
    *((status, "text/html", HTML, "failed", "server-error", False) for status in (300, 302, 501, 505, 999)),
]


@pytest.mark.parametrize(("status", "kind", "body", "state", "reason", "retry"), ANSWERS)
def test_an_answer_comes_to_a_reason_of_the_table_of_states(
    status: int, kind: str, body: bytes, state: str, reason: str, retry: bool
) -> None:
    response = Response("http://a.test/", status, {"Content-Type": kind} if kind else {}, body)

    assert reason_of(response, None, LEASE) == (state, reason, retry)


LOCATIONS = [
    # (bytes, where they lead)
    (b"/caf\xe9?q=\xfc", "http://a.test/caf%E9?q=%FC"),
    (b"/\x93\xfa\x96\x7b.html", "http://a.test/%93%FA%96%7B.html"),
    ("/\u00fc".encode(), "http://a.test/%C3%BC"),
    ("http://b\u00fccher.example/\u00fc".encode(), "http://xn--bcher-kva.example/%C3%BC"),
    (b"/%E9 \xe9#\xe9", "http://a.test/%E9%20%E9"),
    (b"/Map.png", "http://a.test/Map.png"),
]


@pytest.mark.parametrize(("location", "url"), LOCATIONS)
def test_a_redirect_leads_where_its_bytes_say(location: bytes, url: str) -> None:
    target = redirect_target(302, location, "http://a.test/x", ("http",))

    assert target and (target.url, target.refused) == (url, "")


def test_a_redirect_is_done_and_one_to_itself_is_a_loop() -> None:
    response = Response("http://a.test/", 301)

    assert reason_of(response, seed_link("http://b.test/"), LEASE) == ("done", "redirect", False)
    assert reason_of(response, A, LEASE) == ("failed", "redirect-loop", False)


@pytest.mark.parametrize(
    ("error", "reason", "retry", "slow_down"),
    [
        (Refused("robots-disallowed"), "robots-disallowed", False, False),
        (Refused("robots-unreachable", retry=True), "robots-unreachable", True, False),
        (Refused("address-refused"), "address-refused", False, False),
        (DownloadTimeoutError(), "timeout", True, True),
        (DownloadCancelledError(), "too-large", False, False),
        (IgnoreRequest("past the limit when inflated"), "too-large", False, False),
        (CannotResolveHostError(), "unreachable", True, False),  # DNS failures are retried
        (DownloadConnectionRefusedError(), "unreachable", True, False),
        (DownloadFailedError(), "unreachable", True, False),
        (OSError(), "unreachable", True, False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_a_download_without_an_answer_has_a_reason(
    error: Exception, reason: str, retry: bool, slow_down: bool
) -> None:
    assert reason_of_error(error) == (reason, retry, slow_down)


def test_every_value_of_a_header_is_kept_whatever_its_bytes() -> None:
    response = Response("http://a.test/", headers={"Set-Cookie": [b"a=1", b"b=\xff"], "Age": b"1"})

    assert sorted(headers_of(response)) == [("Age", "1"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=\xff")]


# ---- Retry-After, RFC 9110 10.2.3

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *((value, 0) for value in (None, b"", b"   ", b"0", b"-5", b"-1", b"+5", b"120s", b"120 60")),
        *((value, 120) for value in (b"120", b" 120 ", b"0000120")),
        (b"120, 60", 0),  # two headers in one; the back-off holds all the same
        *((value, 0) for value in (b"1_000", b"nan", b"inf", b"-inf", b"1e9")),  # Python would take them
        *((value, 0) for value in (b"0x10", b"soon", b"\x00", b"12\x000", b"\xff" * 100)),
        (b"1.5", 0),  # no delay-seconds by the grammar, and no date
        (b"\xb2", 0),  # a digit of Latin-1 that is none
        ("١٢٠".encode(), 0),  # digits of Arabic
        *((value, RETRY_AFTER_MAX_SECONDS) for value in (b"86400", b"86401", b"999999999", b"1" + b"0" * 12)),
        (b"9" * 1_000_000, RETRY_AFTER_MAX_SECONDS),  # no float holds it
        (b"(" * 1_000_000, 0),  # comments within comments, to a parser of dates
        (b"," * 1_000_000, 0),
        (b"Fri, 20 Nov 2026 12:01:30 GMT", 90),
        (b"Fri, 20 Nov 2026 11:00:00 GMT", 0),  # past
        (b"Friday, 20-Nov-26 12:01:30 GMT", 90),  # obsolete formats: 5.6.7
        (b"Fri Nov 20 12:01:30 2026", 90),
        (b"Fri, 20 Nov 2026 12:01:30 -0000", 90),
        (b"Fri, 20 Nov 2026 07:01:30 EST", 90),  # no HTTP date, and clear
        (b"Fri, 20 Nov 2026 12:01:30 " + b"+" * 1_000_000, 90),
        (b"Thu, 01 Jan 1970 00:00:00 GMT", 0),
        (b"Wed, 01 Jan 0000 00:00:00 GMT", 0),
        (b"Mon, 01 Jan 0001 00:00:00 +2359", 0),
        (b"Fri, 31 Dec 9999 23:59:59 GMT", RETRY_AFTER_MAX_SECONDS),
        (b"Fri, 31 Dec 99999 23:59:59 GMT", 0),
        (b"Fri, 20 Nov 2026 12:01:30 +9999999999", 0),
        (b"Fri, 20 Nov 2026 25:61:61 GMT", 0),
        (b"2026-11-20T12:01:30Z", 0),
        (b"Fri, 99 Nov 2026 12:01:30 GMT", 0),
        (format_datetime(NOW + timedelta(days=400)).encode(), RETRY_AFTER_MAX_SECONDS),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: bytes | None, seconds: float) -> None:
    assert retry_after_seconds(value, NOW.timestamp()) == seconds


def test_a_date_without_a_zone_is_gmt_wherever_the_crawler_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert retry_after_seconds(b"Fri Nov 20 12:01:30 2026", NOW.timestamp()) == 90
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.binary() | st.from_regex(rb"\A[0-9]{1,400}\Z"))
def test_no_retry_after_raises_or_leaves_its_bounds(value: bytes) -> None:
    assert 0 <= retry_after_seconds(value, NOW.timestamp()) <= RETRY_AFTER_MAX_SECONDS


# ---- types

DOCUMENTS = [
    # by name
    ("text/html", HTML),
    ("TEXT/HTML ; charset=x", HTML),
    ("application/xhtml+xml", b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>'),
    ("text/html", b"plain words under the name of HTML"),
    ("text/html", b"BMW dealers in Berlin"),  # begins as a bitmap does, and is none
    ("text/html", b"Rar books"),
    # by looks, where there is no name
    *(("", body) for body in (HTML, b"\n\t <HTML>", b"\xef\xbb\xbf<html lang=en>")),
    *(("", body) for body in (b"<p>x", b"<!--comment--><p>x")),
    ("*/*", b"<h1 class=x>x"),
    ("application/unknown", b"<body>"),
]
OTHERS = [
    ("text/plain", HTML),
    ("application/json", b"{}"),
    ("application/xml", b"<html/>"),
    ("image/svg+xml", b"<svg>"),
    ("nonsense", HTML),
    # no name, no looks
    *(("", body) for body in (b"", b"words", b"<b2>", b"<pre>x")),
    ("", b" " * 2000 + b"<html>"),  # beyond the resource header
    # binary data under the name of HTML
    *(("text/html", image) for image in (b"\x89PNG\r\n\x1a\n", b"GIF89a...", b"\xff\xd8\xff\xe0")),
    ("text/html", b"RIFF\x0a\x0a\x0a\x0aWEBPVP8 "),
    ("text/html", b"BM\x36\x00\x0c\x00\x00\x00\x00\x00"),
    *(("text/html", packed) for packed in (b"PK\x03\x04\x14", b"\x1f\x8b\x08\x00", b"Rar!\x1a\x07\x00")),
    ("text/html", b"%PDF-1.7"),
    ("text/html", bytes(range(256)) * 4),  # noise
]


@pytest.mark.parametrize(("kind", "body"), DOCUMENTS)
def test_html_is_a_document_by_name_or_by_looks(kind: str, body: bytes) -> None:
    assert kind_of(kind, body, A.url) == HTML_KIND == declared_kind(kind, A.url)


@pytest.mark.parametrize(("kind", "body"), OTHERS)
def test_nothing_else_is_html(kind: str, body: bytes) -> None:
    assert kind_of(kind, body, A.url) != HTML_KIND


@given(st.text(max_size=40), st.binary(max_size=40))
def test_what_is_called_another_type_is_not_html_whatever_it_holds(kind: str, body: bytes) -> None:
    assert declared_kind(kind, A.url) == HTML_KIND or kind_of(kind, body, A.url) != HTML_KIND


URLSET = b"<?xml version='1.0'?><urlset>"
OF_SITEMAPS = [
    (200, "application/xml", URLSET, "done", "sitemap"),
    (200, "text/plain", b"http://a.test/1", "done", "sitemap"),  # what is in it, its parser says
    (200, "text/html", HTML, "done", "document"),
    (200, "text/html", URLSET, "done", "sitemap"),
    (304, "", b"", "done", "sitemap"),
    (404, "text/html", HTML, "failed", "not-found"),
]


@pytest.mark.parametrize(("status", "kind", "body", "state", "reason"), OF_SITEMAPS)
def test_what_is_fetched_as_a_sitemap_is_one_unless_it_is_html(
    status: int, kind: str, body: bytes, state: str, reason: str
) -> None:
    response = Response("http://a.test/map", status, {"Content-Type": kind} if kind else {}, body)
    lease = LEASE._replace(request=sitemap_link("http://a.test/map").request)

    assert reason_of(response, None, lease) == (state, reason, False)
