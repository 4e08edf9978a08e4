"""Content-Encoding: gzip, deflate, Brotli and Zstandard are decoded, within bounds."""

from __future__ import annotations

import asyncio
import gzip
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest
from backports import zstd
from localweb import Answer, Site, crawl, page
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from webcrawler.crawl import open_leases
from webcrawler.crawl.compressed import CompressedMiddleware
from webcrawler.crawl.open_leases import PLACES
from webcrawler.crawl.responses import MEMBERS_MAX, Refused


def deflated(body: bytes, wbits: int = zlib.MAX_WBITS) -> bytes:
    packer = zlib.compressobj(wbits=wbits)
    return packer.compress(body) + packer.flush()


def packed_by_brotli(body: bytes) -> bytes:
    return brotli.compress(body, quality=1)  # at its best it takes a tenth of a second for a word


CODED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": deflated,
    "br": packed_by_brotli,
    "zstd": zstd.compress,
}
MAX_BYTES = 1_000_000


def middleware() -> CompressedMiddleware:
    return CompressedMiddleware.from_crawler(get_crawler(settings_dict={"DOWNLOAD_MAXSIZE": MAX_BYTES}))


def inflated(
    body: bytes, *codings: str, status: int = 200, by: CompressedMiddleware | None = None, **meta: float
) -> Response:
    response = Response("http://a.test/", status, {"Content-Encoding": list(codings)}, body)
    work = (by or middleware()).process_response(Request(response.url, meta=meta), response)
    return asyncio.run(work)


PACKED = gzip.compress(b"words", mtime=0)


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (PACKED, ["gzip"]),
        (PACKED, ["X-GZIP"]),
        (PACKED, ["identity, gzip"]),
        (deflated(b"words"), ["deflate"]),
        (deflated(b"words", -zlib.MAX_WBITS), ["deflate"]),  # without its header, as some send it
        (packed_by_brotli(b"words"), ["br"]),
        (zstd.compress(b"words"), ["zstd"]),
        (zstd.compress(b"wo") + zstd.compress(b"rds"), ["zstd"]),
        (packed_by_brotli(zstd.compress(PACKED)), ["gzip, zstd, br"]),
        (gzip.compress(PACKED, mtime=0), ["gzip, gzip"]),
        (gzip.compress(PACKED, mtime=0), ["gzip", "gzip"]),
        (b"words", ["identity"]),
        (b"words", [""]),
        (b"words", ["none"]),  # no codings: nothing is encoded
        (b"words", ["UTF-8"]),
        (b"words", ["8bit"]),
        (PACKED, ["none, gzip"]),
        (b"", ["gzip"]),  # a header without a body to go with it
    ],
)
def test_what_can_be_inflated_is_and_says_no_more_that_it_is_not(body: bytes, codings: list[str]) -> None:
    response = inflated(body, *codings)

    assert response.body == (b"words" if body else b"")
    assert "Content-Encoding" not in response.headers


@pytest.mark.parametrize(
    ("body", "codings", "reason"),
    [
        (b"words", "gzip, snappy", "unparsable"),
        (PACKED, "gzip, gzip, gzip, gzip", "not-indexable"),  # more than anybody means
        (b"words", "gzip", "unparsable"),
        (b"words", "br", "unparsable"),
        (b"words", "zstd", "unparsable"),
        (b"words", "deflate", "unparsable"),
    ],
)
def test_what_cannot_be_inflated_is_no_page(body: bytes, codings: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        inflated(body, codings)


def test_of_a_redirect_or_an_error_the_body_does_not_matter() -> None:
    assert inflated(b"words", "gzip", status=301).body == b""


# ---- bounds


@pytest.mark.parametrize("coding", CODED)
def test_body_is_inflated_up_to_the_largest_size_and_no_byte_further(coding: str) -> None:
    assert len(inflated(CODED[coding](bytes(MAX_BYTES)), coding).body) == MAX_BYTES

    with pytest.raises(IgnoreRequest) as larger:
        inflated(CODED[coding](bytes(MAX_BYTES + 1)), coding)
    assert not isinstance(larger.value, Refused)  # it is too large, and nothing else is wrong


@pytest.mark.slow
@pytest.mark.parametrize("outer", CODED)
@pytest.mark.parametrize("inner", CODED)
def test_bound_holds_for_each_of_two_codings(inner: str, outer: str) -> None:
    bomb = CODED[outer](CODED[inner](bytes(50 * MAX_BYTES)))
    assert len(bomb) < MAX_BYTES

    with pytest.raises(IgnoreRequest):
        inflated(bomb, inner, outer)


SKIPPED = struct.pack("<II", 0x184D2A50, 0)  # a frame that holds nothing of the text (RFC 8878, 3.1.2)
EMPTY = {"gzip": gzip.compress(b""), "x-gzip": gzip.compress(b""), "zstd": zstd.compress(b"")}


@pytest.mark.parametrize(
    ("coding", "member"), [*EMPTY.items(), ("zstd", SKIPPED)], ids=[*EMPTY, "zstd, skipped"]
)
def test_members_one_behind_the_other_are_read_up_to_a_number(coding: str, member: bytes) -> None:
    """A million of them are 20 KB under another coding, and took twenty seconds on the event loop."""
    last = gzip.compress(b"words") if "gzip" in coding else zstd.compress(b"words")
    body = member * (MEMBERS_MAX - 1) + last

    assert inflated(body, coding).body == b"words"
    with pytest.raises(Refused, match="not-indexable"):
        inflated(member + body, coding)
    with pytest.raises(Refused, match="not-indexable"):
        inflated(packed_by_brotli(member + body), coding, "br")


# ---- room for large bodies


def without_patience(by: CompressedMiddleware, body: bytes, coding: str = "gzip") -> Response | Exception:
    """What inflating comes to where nothing waits for room."""
    try:
        return inflated(body, coding, by=by, deadline=0.0)
    except Exception as error:
        return error


@pytest.mark.parametrize(
    ("body", "coding", "end"),
    [
        (PACKED, "gzip", Response),
        (b"words", "br", Refused),
        (EMPTY["gzip"] * (MEMBERS_MAX + 1), "gzip", Refused),
        (gzip.compress(bytes(MAX_BYTES + 1)), "gzip", IgnoreRequest),
    ],
    ids=["whole", "damaged", "too many members", "too large"],
)
def test_however_inflating_ends_its_room_is_given_back(body: bytes, coding: str, end: type) -> None:
    inflate = middleware()

    found = [without_patience(inflate, body, coding) for _ in range(PLACES + 1)]

    assert all(isinstance(one, end) for one in found)


def test_bodies_that_somebody_works_on_leave_no_room_until_they_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(open_leases, "LARGE_BYTES", 1)
    monkeypatch.setattr(open_leases, "HELD_BYTES_MAX", 1)
    inflate = middleware()

    held = without_patience(inflate, PACKED)
    assert isinstance(held, Response)
    assert isinstance(without_patience(inflate, PACKED), DownloadTimeoutError)

    del held
    assert isinstance(without_patience(inflate, PACKED), Response)


# ---- in a crawl


def coded(coding: str, *links: str) -> Answer:
    plain = str(page(*links).body)
    return Answer(CODED[coding](plain.encode()), headers={"Content-Encoding": coding})


@pytest.mark.slow
def test_crawl_asks_for_all_codings_and_follows_the_links_of_each(tmp_path: Path) -> None:
    site = Site({"/": page(*CODED)} | {f"/{coding}": coded(coding, f"from-{coding}") for coding in CODED})
    site.routes |= {f"/from-{coding}": page() for coding in CODED}
    site.start()

    crawled = crawl(tmp_path, "index", "-a", f"seeds={site.url}/")

    assert {one.headers["Accept-Encoding"] for one in site.received} == {"gzip, deflate, br, zstd"}
    assert {crawled.reason(f"{site.url}/from-{coding}") for coding in CODED} == {"done/document"}
    site.stop()
