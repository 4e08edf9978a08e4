"""WARC files of others as they come: damaged, cut, with records that are allowed and rare."""

from __future__ import annotations

import gzip
import random
from base64 import b32encode
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha1
from io import BytesIO
from pathlib import Path

import pytest
from scrapy.settings import BaseSettings
from test_link_rules import GIVEN, rules

from webcrawler.archive.pages import next_record
from webcrawler.crawl.run import Sitemaps
from webcrawler.job import Job
from webcrawler.records import Fetch
from webcrawler.repository.entries import EntryReader
from webcrawler.repository.foreign import ForeignFile

A = "http://a.test/"
DATE = "2024-05-01T10:00:00Z"
MOST_BYTES = 100_000


def record(uri: str, block: bytes, kind: str = "response", date: str = DATE, **more: str) -> bytes:
    fields = {"WARC-Type": kind, "WARC-Date": date, "WARC-Target-URI": uri}
    fields |= {name.replace("_", "-"): value for name, value in more.items()}
    fields |= {"Content-Type": "application/http", "Content-Length": str(len(block))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.0\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


def answer(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in {"Content-Type": "text/html", **headers}.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def page(number: int) -> bytes:
    """A record whose body has many lines, as pages have."""
    return record(f"{A}{number}", answer(body(number)))


def body(number: int) -> bytes:
    return b"<p>%d\r\n\r\n<p>WARC/1.0 is a format\n" % number * 3


def read(path: Path, *contents: bytes) -> tuple[list[Fetch], Counter[str], list[str]]:
    """What files with these contents bring, in one import."""
    settings, job = BaseSettings(GIVEN | {"CRAWL_DIR": str(path)}), Job("fifo")
    bounds = rules(path)
    reader = EntryReader(None, bounds, Sitemaps.from_settings(settings, job, bounds))  # type: ignore[arg-type]
    found, left_out, faults = [], Counter[str](), []
    bodies: dict[str, tuple[Path, int]] = {}
    for number, content in enumerate(contents):
        (path / f"{number}.warc").write_bytes(content)
        file = ForeignFile(path / f"{number}.warc", reader, bodies, left_out, MOST_BYTES)
        found += list(file.fetches())
        faults.append(file.fault)
    return found, left_out, faults


def told(fetches: Iterable[Fetch]) -> dict[str, bytes]:
    return {fetch.lease.spelling: fetch.body for fetch in fetches}


def whole(*numbers: int) -> dict[str, bytes]:
    return {f"{A}{number}": body(number) for number in numbers}


GARBAGE = bytes(range(256)) * 400
BETWEEN = {
    "NUL bytes": b"\0" * 512,
    "many NUL bytes": b"\0" * 3_000_000,
    "any bytes": GARBAGE,
    "text": b"\nThe disk was full.\nhttp://a.test/ was fetched at 20240501100000\n\n",
    "the beginning of a gzip member": gzip.compress(GARBAGE)[:300],
    "a head without an end": b"WARC/1.0\r\nWARC-Type: response\r\n" + b"a" * 3_000_000,
    "a record of a negative length": b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: -5\r\n\r\n\r\n\r\n",
    "a record without a length": b"WARC/1.0\r\nWARC-Type: response\r\n\r\n\r\n\r\n",
    "a record that is too long": b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9999\r\n\r\n",
    "spaces": b"a" + b" " * 70_000,
}


@pytest.mark.parametrize("packed", [gzip.compress, bytes], ids=["packed", "plain"])
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
@pytest.mark.parametrize("place", [0, 1, 2, 4])
def test_records_on_both_sides_of_what_is_no_record_are_read(
    tmp_path: Path, packed: Callable[[bytes], bytes], between: bytes, place: int
) -> None:
    parts = [packed(page(number)) for number in range(4)]

    found, left_out, faults = read(tmp_path, b"".join([*parts[:place], between, *parts[place:]]))

    assert told(found) == whole(0, 1, 2, 3)
    assert (set(left_out), faults) == ({"malformed"}, [""])


@pytest.mark.parametrize("packed", [gzip.compress, bytes], ids=["packed", "plain"])
def test_a_url_may_end_as_a_record_begins(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    url = A + "WARC/1.0"
    named = record(url, answer(BODY), WARC_Record_ID="<urn:1>")

    found, left_out, _ = read(tmp_path, packed(page(0)) + packed(named) + packed(page(1)))

    assert (told(found), left_out) == (whole(0, 1) | {url: BODY}, {})


@pytest.mark.parametrize("packed", [gzip.compress, bytes], ids=["packed", "plain"])
def test_a_record_cut_anywhere_is_left_out_and_the_next_one_is_as_it_was(
    tmp_path: Path, packed: Callable[[bytes], bytes]
) -> None:
    first, cut, last = map(packed, (page(0), page(1), page(2)))

    for length in range(1, len(cut.removesuffix(b"\r\n\r\n")), 2):
        found, left_out, _ = read(tmp_path, first + cut[:length] + last)
        assert (told(found), left_out) == (whole(0, 2), {"malformed": 1}), length


def test_a_cut_record_is_never_taken_for_whole_where_its_length_leads_into_the_next_ones(
    tmp_path: Path,
) -> None:
    """To any byte of it, also where its heads end."""
    cut, long = (
        record(A + "cut", answer(b"<p>" + b"1" * 300)),
        record(A + "long", answer(b"<p>" + b"2" * 300)),
    )

    for length in range(len(cut) - 210, len(cut) - 4):
        found, left_out, _ = read(tmp_path, cut[:length] + long + page(1))
        assert set(told(found)) == {A + "long", A + "1"} and left_out == {"malformed": 1}, length


@pytest.mark.parametrize("slashes", ["http://a.test/a/", "http://a.test/"])
def test_a_record_cut_within_its_url_is_not_that_of_a_url_that_ends_as_a_record_begins(
    tmp_path: Path, slashes: str
) -> None:
    cut = record(slashes, answer(BODY)).partition(b"/\r\n")[0] + b"/"

    found, left_out, _ = read(tmp_path, page(0) + cut + page(1))

    assert (told(found), left_out) == (whole(0, 1), {"malformed": 1})


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_member_with_several_records_is_left_out_alone(tmp_path: Path, place: int) -> None:
    members = [gzip.compress(page(0)), gzip.compress(page(1))]

    found, left_out, faults = read(
        tmp_path, b"".join([*members[:place], gzip.compress(page(2) + page(3)), *members[place:]])
    )

    assert (told(found), left_out, faults) == (whole(0, 1), {"malformed": 1}, [""])


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        (b"http://a.test/ 192.0.2.1 20010203040506 text/html 9\n", True),
        (b"http://a.test/ was fetched at 20010203040506 by 9\n", False),
    ],
)
def test_behind_damage_a_record_begins_with_a_url_and_no_sentence(line: bytes, is_found: bool) -> None:
    assert bool(next_record(BytesIO(b"damage\n" + line), 0)) == is_found


@pytest.mark.parametrize("packed", [gzip.compress, bytes], ids=["packed", "plain"])
def test_of_a_file_cut_anywhere_the_last_record_is_left_out_and_counted(
    tmp_path: Path, packed: Callable[[bytes], bytes]
) -> None:
    first, cut = packed(page(0)), packed(page(1))

    for length in range(1, len(cut.removesuffix(b"\r\n\r\n")), 2):
        found, left_out, _ = read(tmp_path, first + cut[:length])
        assert (told(found), left_out) == (whole(0), {"malformed": 1}), length


def test_a_record_with_a_wrong_byte_in_it_is_left_out_alone(tmp_path: Path) -> None:
    parts = [bytearray(gzip.compress(page(number))) for number in range(3)]
    parts[1][len(parts[1]) // 2] ^= 0xFF

    found, left_out, _ = read(tmp_path, b"".join(parts))

    assert (told(found), left_out) == (whole(0, 2), {"malformed": 1})


def test_a_member_that_begins_at_the_end_of_what_is_read_at_a_time_is_found(tmp_path: Path) -> None:
    filler = gzip.compress(record(A, bytes(random.Random(1).randbytes(65_000)), "request"))

    for padding in range(0, 600, 50):
        found, _, _ = read(tmp_path, filler + b"\0" * padding + gzip.compress(page(1)))
        assert told(found) == whole(1), padding


@pytest.mark.parametrize("ends", [b"", b"\n", b"\r\n", b"\n\n", b"the rest\r\n\r\n", b"\r\n" * 5])
def test_records_of_a_plain_file_may_be_parted_by_other_lines(tmp_path: Path, ends: bytes) -> None:
    found, left_out, _ = read(tmp_path, page(0).removesuffix(b"\r\n\r\n") + ends + page(1))

    assert (told(found), left_out) == (whole(0, 1), {})


def arc(number: int, kind: str = "text/html") -> bytes:
    block = answer(b"<p>%d" % number)
    return b"%s%d 192.0.2.1 20010203040506 %s %d\n%b\n" % (
        A.encode(),
        number,
        kind.encode(),
        len(block),
        block,
    )


@pytest.mark.parametrize("packed", [gzip.compress, bytes], ids=["packed", "plain"])
def test_damage_in_an_arc_file_is_passed_over_as_well(
    tmp_path: Path, packed: Callable[[bytes], bytes]
) -> None:
    name = b"dns:a.test 192.0.2.1 20010203040506 text/dns 3\nabc\n"
    parts = [packed(arc(0)), packed(name), packed(arc(1))[:-20], b"\0" * 100 + b"\n", packed(arc(2))]

    found, left_out, _ = read(tmp_path, b"".join(parts))

    assert told(found) == {A + "0": b"<p>0", A + "2": b"<p>2"}
    assert left_out == {"malformed": 1}


NO_ARCHIVES = {
    "nothing": (b"", "no record"),
    "text": (b"no archive at all\n" * 9, "no record"),
    "NUL bytes": (b"\0" * 99_999, "no record"),
    "WACZ": (b"PK\x03\x04\x14\0\xff\xfe\x1b[2J" + gzip.compress(page(1)), "unzip it"),
    "compressed as a whole": (gzip.compress(page(0) + page(1)), "warcio recompress"),
    "two, each compressed as a whole": (2 * gzip.compress(page(0) + page(1)), "warcio recompress"),
}


@pytest.mark.parametrize(("content", "fault"), NO_ARCHIVES.values(), ids=NO_ARCHIVES)
def test_a_file_that_is_no_archive_is_told_of_without_its_bytes_and_others_are_read(
    tmp_path: Path, content: bytes, fault: str, capfd: pytest.CaptureFixture[str]
) -> None:
    found, _, faults = read(tmp_path, page(0), content, page(2))

    assert told(found) == whole(0, 2)
    assert (faults[0], faults[2]) == ("", "")
    assert fault in faults[1] and faults[1].isprintable()
    assert capfd.readouterr() == ("", "")


BODY = b"<p>a page"
SAME = {"WARC_Payload_Digest": "sha1:" + b32encode(sha1(BODY).digest()).decode()}
FIRST = record(A + "first", answer(BODY, ETag="1"), **SAME)


@pytest.mark.parametrize("packed", [gzip.compress, bytes], ids=["packed", "plain"])
@pytest.mark.parametrize("block", [b"", b"\r\n", answer(b"", ETag="2")], ids=["none", "a line", "a head"])
def test_a_revisit_record_has_the_body_of_the_first_and_without_a_block_its_headers_too(
    tmp_path: Path, packed: Callable[[bytes], bytes], block: bytes
) -> None:
    again = record(A + "again", block, "revisit", **SAME)

    for files in ([packed(FIRST) + packed(again)], [packed(FIRST), packed(again)]):
        found, left_out, _ = read(tmp_path, *files)
        assert (told(found), left_out) == ({A + "first": BODY, A + "again": BODY}, {})
        assert dict(found[1].headers)["Etag"] == ("2" if block.startswith(b"HTTP") else "1")
        assert found[1].status == 200


def test_a_revisit_record_of_what_is_nowhere_is_counted(tmp_path: Path) -> None:
    _, left_out, _ = read(tmp_path, record(A, b"", "revisit", **SAME) + record(A, b"", "revisit"))

    assert left_out == {"body elsewhere": 2}


@pytest.mark.parametrize(
    "date", ["2009-03-65T08:43:19-0800", "0000-00-00T00:00:00Z", "9999-12-31T00:00:00Z", ""]
)
def test_an_answer_whose_record_has_no_date_of_the_past_was_fetched_when_its_server_says(
    tmp_path: Path, date: str
) -> None:
    dated = record(A, answer(BODY, Date="Tue, 13 Jan 2009 18:05:10 GMT"), date=date)
    undated = [
        record(A, answer(BODY, Date=text), date=date) for text in ("soon", "Tue, 13 Jan 2099 18:05:10 GMT")
    ]

    (found,), left_out, _ = read(tmp_path, dated + b"".join(undated) + record(A, answer(BODY), date=date))

    assert found.fetched == 1231869910.0
    assert left_out == {"no date of the past": 3}


@pytest.mark.parametrize("scheme", ["HTTP", "Http", "hTTPs"])
def test_a_scheme_in_capitals_is_the_same(tmp_path: Path, scheme: str) -> None:
    (found,), _, _ = read(tmp_path, record(f"{scheme}://A.test/Up", answer(BODY)))

    assert (found.lease.url, found.body) == (f"{scheme.lower()}://a.test/Up", BODY)


def test_a_body_is_whole_or_too_large_and_never_a_part(tmp_path: Path) -> None:
    """Whatever its record says after it was read only so far."""
    large = [record(A + "large", answer(b"<p>" + b"x" * length)) for length in (MOST_BYTES, 10 * MOST_BYTES)]

    found, left_out, _ = read(tmp_path, gzip.compress(large[0]) + gzip.compress(large[1]) + page(1), large[1])

    assert (told(found), left_out) == (whole(1), {"too-large": 3})


def test_no_byte_of_a_file_reaches_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    odd = [record(A + "a b\x1b[2J", answer(BODY)), b"\x1b[2J", page(1)[:-9], b"\x1b[2J\r\n", page(2)]

    read(tmp_path, b"".join(odd))

    assert "\x1b" not in caplog.text and capfd.readouterr() == ("", "")
