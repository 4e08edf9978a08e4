"""What stands between a crawl and its downloads, called as Scrapy calls it: what is stopped, what decided?"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import pytest
from handmade import Handmade, Make, answered, made, make
from scrapy import Request
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response
from twisted.web.iweb import UNKNOWN_LENGTH

from webcrawler.crawl.middlewares import (
    RESPELLINGS,
    SMALL_BODY_BYTES,
    AddressMiddleware,
    LoginMiddleware,
    PagesWithoutItemsMiddleware,
)
from webcrawler.crawl.responses import Refused
from webcrawler.job import sitemap_link
from webcrawler.parsing import PRIVATE, SITEMAP_BYTES

__all__ = ["made", "make"]  # fixtures

A = "http://127.0.0.1/"
LARGE = SMALL_BODY_BYTES + 1


def test_a_private_address_is_refused_before_it_is_asked(made: Handmade) -> None:
    middleware = AddressMiddleware(made.crawl)

    middleware.process_request(made.request(A))
    with pytest.raises(Refused, match="address-refused"):
        middleware.process_request(Request("http://10.0.0.1/"))


# ---- the time of a lease


def test_all_downloads_of_a_lease_have_the_time_of_one(made: Handmade) -> None:
    request = made.request(A)
    made.outcome.process_request(request)
    assert request.meta["download_timeout"] == pytest.approx(made.crawl.settings.getfloat("DOWNLOAD_TIMEOUT"))

    started = request.meta["started"] = request.meta["started"] - 50
    request.meta["deadline"] = started + 40
    made.outcome.process_request(request)

    assert (request.meta["started"], request.meta["deadline"]) == (started, started + 40)
    assert request.meta["download_timeout"] == 0.1  # it is over, and 0 would mean that there is no limit


def test_a_download_without_a_lease_has_times_of_its_own(made: Handmade) -> None:
    request = Request(A + "robots.txt", meta={"robots": 0})

    made.outcome.process_request(request)
    response = answered(request)

    assert made.outcome.process_response(request, response) is response
    assert request.meta == {"robots": 0}


# ---- what is decided, and what goes on


def test_a_document_goes_on_and_its_download_is_over(made: Handmade) -> None:
    request = made.request(A)
    response = answered(request, body=b"<title>x</title>")

    assert made.download(request, response) is response
    assert made.crawl.outcomes.fetch_of(response).body == response.body
    assert [report.lease.url for report in made.crawl.take_reports()] == [A]
    assert made.crawl.leases.downloading == set()


def test_anything_else_is_decided_with_its_headers_and_kept(made: Handmade) -> None:
    assert made.answer(A, status=404, body=b"no", X_Why="none") is None
    assert made.settle() == {A: "failed/not-found"}
    (kept,) = made.kept()
    assert (kept.status, kept.response.body) == (404, b"no")
    assert ("X-Why", "none") in kept.response.headers


def test_a_sitemap_that_has_not_changed_is_decided_without_being_read(made: Handmade) -> None:
    assert made.answer(sitemap_link(A + "map.xml"), status=304) is None
    assert made.settle() == {A + "map.xml": "done/sitemap"}


def test_a_redirect_to_another_spelling_goes_on_within_its_lease_a_few_times(made: Handmade) -> None:
    request: Any = made.request(A + "index.html", proxy="http://proxy.test")
    lease = request.meta["lease"]
    began = dict(request.meta) | {"started": 1.0}
    request.meta.update(began)

    for turn in range(RESPELLINGS):
        request = made.download(request, answered(request, 301, Location=("/", "/index.html")[turn % 2]))
        assert (request.meta["lease"], request.meta["respelled"]) == (lease, turn + 1)
        assert began.items() <= request.meta.items()
    assert made.crawl.take_reports() == []  # it is one download

    assert made.download(request, answered(request, 301, Location="/")) is None
    assert made.settle() == {A: "failed/redirect-loop"}


def test_what_was_wrong_with_a_certificate_stands_beside_what_came(made: Handmade) -> None:
    made.crawl.certificates.note("127.0.0.1", 443, "certificate-expired")

    made.answer("https://127.0.0.1/", status=404)
    made.settle()

    assert made.last("https://127.0.0.1/").error == "certificate-expired"
    assert made.stats["webcrawler/noted/certificate-expired"] == 1


# ---- what is not fetched to its end

PAGE, FILM = "text/html", "video/mp4"
STOPPED = [
    # (Content-Type, length, is it a sitemap, is it stopped)
    (FILM, LARGE, False, True),
    (FILM, UNKNOWN_LENGTH, False, True),
    (FILM, SMALL_BODY_BYTES, False, False),  # the connection is kept
    (PAGE, LARGE, False, False),
    (PAGE, UNKNOWN_LENGTH, False, False),
    ("application/pdf", LARGE, False, False),
    ("text/xml", LARGE, True, False),
    ("text/xml", LARGE, False, True),
]


@pytest.mark.parametrize(("kind", "length", "is_sitemap", "is_stopped"), STOPPED)
def test_what_is_large_and_not_read_is_stopped_at_its_headers(
    made: Handmade, kind: str, length: object, is_sitemap: bool, is_stopped: bool
) -> None:
    request = made.request(sitemap_link(A + "x") if is_sitemap else A + "x")

    with pytest.raises(StopDownload) if is_stopped else nullcontext():
        made.outcome.stop_what_is_no_document(Headers({"Content-Type": kind}), length, request)


SCRIPT, ZIP = "application/octet-stream", b"PK\x03\x04" + bytes(26)
BEGINNINGS = [
    # (Content-Type, first bytes, is it stopped)
    (SCRIPT, b"%PDF-1.7", False),
    ("application/x-force-download", b"\xef\xbb\xbf\n%PDF-1.7", False),
    ("text/plain; charset=utf-8", b"%PDF-1.7", False),
    ("application/msword", b"{\\rtf1", False),
    (SCRIPT, ZIP + b"[Content_Types].xml", False),
    (SCRIPT, ZIP + b"mimetypeapplication/epub+zip", False),
    (SCRIPT, ZIP + b"holiday/1.jpg", True),
    (SCRIPT, b"\x7fELF", True),
    ("text/plain", b"a log\n", True),
]


@pytest.mark.parametrize(("kind", "begins", "is_stopped"), BEGINNINGS)
def test_what_is_named_vaguely_is_stopped_when_its_first_bytes_show_nothing(
    made: Handmade, kind: str, begins: bytes, is_stopped: bool
) -> None:
    request, body = made.request(A + "get?id=1"), begins + Random(1).randbytes(4_000)

    made.outcome.stop_what_is_no_document(Headers({"Content-Type": kind}), LARGE, request)
    made.outcome.stop_what_begins_as_none(body[:3], request)
    with pytest.raises(StopDownload) if is_stopped else nullcontext():
        made.outcome.stop_what_begins_as_none(body[3:2_000], request)
    made.outcome.stop_what_begins_as_none(body[2_000:], request)  # it is decided once


def test_what_is_named_vaguely_and_packed_is_fetched_to_its_end(made: Handmade) -> None:
    body, request = Random(1).randbytes(4_000), made.request(A)

    def is_stopped(body: bytes, **headers: str) -> bool:
        named = {"Content-Type": SCRIPT} | {name.replace("_", "-"): value for name, value in headers.items()}
        made.outcome.stop_what_is_no_document(Headers(named), LARGE, request)
        try:
            made.outcome.stop_what_begins_as_none(body, request)
        except StopDownload:
            return True
        return False

    assert is_stopped(body)
    assert not is_stopped(gzip.compress(body), Content_Encoding="gzip")


@pytest.mark.parametrize(
    "name", ['attachment; filename="a report.epub"', "inline; filename*=UTF-8''%C3%BC.epub"]
)
def test_what_its_name_says_to_be_a_document_is_not_stopped(made: Handmade, name: str) -> None:
    request = made.request(A + "get?id=1")
    headers = Headers({"Content-Type": SCRIPT, "Content-Disposition": name})

    made.outcome.stop_what_is_no_document(headers, LARGE, request)
    made.outcome.stop_what_begins_as_none(bytes(2_000), request)


def test_what_came_with_a_redirect_to_another_spelling_is_not_read_as_the_page(made: Handmade) -> None:
    request = made.request(A)
    made.outcome.stop_what_is_no_document(Headers({"Content-Type": SCRIPT}), LARGE, request)
    made.outcome.stop_what_begins_as_none(b"moved", request)

    respelled = request.replace(meta={**request.meta, "respelled": 1})
    made.outcome.stop_what_is_no_document(Headers({"Content-Type": "text/html"}), LARGE, respelled)
    made.outcome.stop_what_begins_as_none(bytes(2_000), respelled)


def test_of_what_was_stopped_nothing_is_kept(made: Handmade) -> None:
    request = made.request(A)

    response = Response(A, 200, {"Content-Type": SCRIPT}, b"\x7fELF", ["download_stopped"], request)
    made.download(request, response)

    assert made.settle() == {A: "failed/not-indexable"}
    assert made.kept()[0].response.body == b""


def test_a_sitemap_may_be_as_large_as_the_standard_has_it(made: Handmade) -> None:
    assert made.request(sitemap_link(A + "map.xml")).meta["download_maxsize"] == SITEMAP_BYTES
    assert "download_maxsize" not in made.request(A + "page").meta


def test_what_has_no_lease_is_never_stopped(made: Handmade) -> None:
    made.outcome.stop_what_is_no_document(Headers({"Content-Type": FILM}), LARGE, Request(A + "robots.txt"))


# ---- pages of which a callback yields nothing


@pytest.mark.parametrize(
    ("yielded", "outcomes"),
    [([], {A: "done/document"}), ([Request(A)], {A: "done/document"}), ([{"an": "item"}], None)],
    ids=["nothing", "a request", "an item"],
)
def test_a_page_is_decided_here_unless_an_item_of_it_goes_on(
    made: Handmade, yielded: list[object], outcomes: dict[str, str] | None
) -> None:
    response = made.page(A)

    async def results() -> AsyncIterator[object]:
        for one in yielded:
            yield one

    async def passed_on() -> list[object]:
        found = PagesWithoutItemsMiddleware(made.crawl).process_spider_output(response, results())
        return [one async for one in found]

    assert asyncio.run(passed_on()) == yielded
    if outcomes:
        assert made.settle() == outcomes
    else:
        assert made.crawl.outcomes.fetch_of(response)


# ---- logins


@pytest.fixture
def with_login(tmp_path: Path, make: Make) -> Handmade:
    """Sends a header to one server; what it answers below /open/ may be found by all."""
    (tmp_path / "headers.json").write_text(json.dumps({"http://127.0.0.1": {"Authorization": "Bearer key"}}))
    return make(LOGIN_HEADERS=tmp_path / "headers.json", LOGIN_INDEXED=A + "open/*")


def test_a_login_is_sent_with_pages_of_its_server_and_with_nothing_else(with_login: Handmade) -> None:
    login = LoginMiddleware(with_login.crawl)
    page, robots = with_login.request(A), Request(A + "robots.txt", meta={"robots": 0})
    other = with_login.request("http://127.0.0.2/")

    for request in (page, robots, other):
        login.process_request(request)

    assert page.headers["Authorization"] == b"Bearer key"
    assert "Authorization" not in robots.headers and "Authorization" not in other.headers


def test_a_redirect_out_of_its_server_takes_no_login_along(with_login: Handmade) -> None:
    login, request = LoginMiddleware(with_login.crawl), with_login.request(A)
    login.process_request(request)

    moved = request.replace(url="http://127.0.0.1:81/")
    login.process_request(moved)

    assert "Authorization" not in moved.headers


@pytest.mark.parametrize(
    ("url", "is_private", "has_cookies"),
    [(A + "mine", True, False), (A + "open/1", False, False), ("http://127.0.0.2/", False, True)],
)
def test_an_answer_to_a_login_is_private_and_leaves_no_cookie(
    with_login: Handmade, url: str, is_private: bool, has_cookies: bool
) -> None:
    login, request = LoginMiddleware(with_login.crawl), with_login.request(url)
    login.process_request(request)

    response = login.process_response(request, answered(request, Set_Cookie="session=1"))

    assert (PRIVATE in response.headers, "Set-Cookie" in response.headers) == (is_private, has_cookies)
