"""WARC files: valid for other tools, whole after a crash, enough to rebuild the states from."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from base64 import b32encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import randbytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders

from webcrawler.archive.pages import PageStore, Record, record_at, records
from webcrawler.errors import BadInput, Unavailable
from webcrawler.records import Entry, Fetch, Lease, Original, Place

URL, SPELLING = "http://a.test/", "http://a.test/index.html"
BODY = "<p>naïve</p>".encode() * 100
HEADERS = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("Content-Length", "77"))
BEGINNING = """
import os, resource, signal, sys
from pathlib import Path
from test_pages import entry
from webcrawler.archive.pages import PageStore
from webcrawler.errors import Unavailable
store = PageStore(Path(sys.argv[1]) / "pages")
"""


def entry(body: bytes = BODY, status: int = 200, state: str = "done", reason: str = "document") -> Entry:
    lease = Lease(1, URL, SPELLING, "http://a.test", 5, tries=2)
    fetch = Fetch(lease, state, reason, 1790000000.123456, 0.5, status, HEADERS, body)
    return Entry(fetch, hashlib.sha1(body).digest())


def revisit() -> Entry:
    return replace(entry(reason="duplicate"), original=Original("http://b.test/", 5.0))


def failure() -> Entry:
    lease = Lease(1, URL, SPELLING, "http://a.test", 5)
    return Entry(Fetch(lease, "failed", "timeout", 1790000001, 30, retry=True, error="no answer in 30 s"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PageStore]:
    store = PageStore(tmp_path / "pages")
    yield store
    store.close()


@pytest.mark.parametrize("url", ["ftp://a.test/x", "gopher://a.test/0/x", "http://a.test/x"])
def test_an_answer_of_any_protocol_is_read_as_it_was_stored(
    store: PageStore, tmp_path: Path, url: str
) -> None:
    lease = Lease(1, url, url, url.rpartition("/")[0], 5)
    place = store.append(Entry(replace(entry().fetch, lease=lease), entry().digest))
    store.sync()

    found = record_at(tmp_path / "pages", place)

    assert (found.status, found.response.body, found.response.url) == (200, BODY, url)
    assert ("Content-Type", "text/html") in found.response.headers


def kept(tmp_path: Path) -> list[Record]:
    return list(records(tmp_path / "pages"))


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "pages").iterdir())


def written(store: PageStore, one: Entry) -> tuple[Record, StatusAndHeaders]:
    """A record as we read it, and its fields as an independent reader does."""
    place = store.append(one)
    store.sync()
    with (store.folder / place.file).open("rb") as stream:
        _, found = ArchiveIterator(stream)
    return record_at(store.folder, place), found.rec_headers


def told(script: str, tmp_path: Path) -> list[str]:
    """What a process says that does this with a store."""
    command = [sys.executable, "-c", BEGINNING + script, str(tmp_path)]
    return subprocess.run(
        command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True
    ).stdout.split()


# Valid WARC, read by an independent reader


def test_warcio_reads_every_record_and_confirms_its_digest(store: PageStore, tmp_path: Path) -> None:
    for one in (entry(), revisit(), failure(), entry(b"", 302, reason="redirect"), entry(b"gone", 404)):
        store.append(one)
    store.sync()

    kinds = []
    with files(tmp_path)[0].open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            record.content_stream().read()
            kinds.append(record.rec_type)
            assert record.digest_checker.passed is not False

    assert kinds == ["warcinfo", "response", "revisit", "metadata", "response", "response"]


def test_response_record_says_what_the_standard_asks_and_describes_the_decoded_body(store: PageStore) -> None:
    record, fields = written(store, entry())

    assert fields.protocol == "WARC/1.1"
    assert fields["WARC-Target-URI"] == SPELLING
    assert fields["WARC-Date"] == "2026-09-21T14:13:20.123456Z"
    assert fields["WARC-Payload-Digest"] == "sha1:" + b32encode(hashlib.sha1(BODY).digest()).decode()
    assert fields["Content-Type"] == "application/http; msgtype=response"
    assert fields["WARC-Crawl-State"] == "done/document"
    assert record.response.headers == [
        ("Content-Type", "text/html"),
        ("X-Archive-Orig-Content-Encoding", "gzip"),
        ("X-Archive-Orig-Content-Length", "77"),
        ("Content-Length", str(len(BODY))),
    ]


def test_revisit_record_refers_to_the_first_url_and_has_no_body(store: PageStore) -> None:
    record, fields = written(store, revisit())

    assert (record.kind, record.refers_to, record.response.body) == ("revisit", "http://b.test/", b"")
    assert fields["WARC-Profile"].endswith("/revisit/identical-payload-digest")
    assert fields["WARC-Refers-To-Date"] == "1970-01-01T00:00:05.000000Z"


def test_answer_304_is_a_revisit_of_the_page_as_it_was_fetched(store: PageStore) -> None:
    one = entry(b"", 304, reason="not-modified")
    record, fields = written(store, replace(one, digest=b"", original=Original(SPELLING, 5.0)))

    assert (record.kind, record.status, record.refers_to) == ("revisit", 304, SPELLING)
    assert fields["WARC-Profile"].endswith("/revisit/server-not-modified")
    assert fields["WARC-Refers-To-Date"] == "1970-01-01T00:00:05.000000Z"
    assert fields["WARC-Payload-Digest"] is None


def test_line_break_in_a_header_makes_no_header_of_its_own(store: PageStore) -> None:
    one = entry()
    fetch = replace(one.fetch, headers=(("X-Odd", "a\r\nSet-Cookie: b"),))

    record, _ = written(store, replace(one, fetch=fetch))

    assert [name for name, _ in record.response.headers] == ["X-Odd", "Content-Length"]


# Places


def test_each_place_gives_its_own_response_back(store: PageStore) -> None:
    bodies = [randbytes(size) for size in (0, 1, 300, 70_000, 1_000_000)]
    places = [store.append(entry(body)) for body in bodies]
    store.sync()

    for place, body in reversed(list(zip(places, bodies, strict=True))):
        headers, found, url = record_at(store.folder, place).response
        assert (found, url) == (body, SPELLING)
        assert dict(headers)["Content-Length"] == str(len(body))


def test_records_tell_all_places_in_order(store: PageStore, tmp_path: Path) -> None:
    places = [store.append(one) for one in (entry(), revisit(), failure(), entry())]
    store.sync()

    assert [record.place for record in kept(tmp_path)] == places


def test_file_is_made_at_the_first_append_and_another_by_each_store(tmp_path: Path) -> None:
    stores = [PageStore(tmp_path / "pages") for _ in range(3)]
    assert files(tmp_path) == []

    places = [store.append(entry()) for store in stores[:2]]
    for store in stores:
        store.close()

    assert {place.file for place in places} == {path.name for path in files(tmp_path)}


def test_full_file_is_followed_by_another(tmp_path: Path) -> None:
    store = PageStore(tmp_path / "pages", max_file_bytes=2000)
    places = []
    for _ in range(5):  # each a batch
        places.append(store.append(entry(randbytes(900))))
        store.sync()
    store.close()

    assert len(files(tmp_path)) == 3
    assert {record.place for record in kept(tmp_path)} == set(places)
    assert all(record_at(store.folder, place).response.url == SPELLING for place in places)


def test_place_that_is_not_there_is_unavailable(store: PageStore) -> None:
    place = store.append(entry())
    store.sync()

    for wrong in (Place("missing.warc.gz", 0), Place(place.file, place.offset + 1), Place(place.file, 10**9)):
        with pytest.raises(Unavailable):
            record_at(store.folder, wrong)


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadInput, match="cannot be written"):
        PageStore(tmp_path / "file" / "pages")


# States can be rebuilt


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (entry(), ("response", "done", "document", 2, False, 0.5, 200, "")),
        (revisit(), ("revisit", "done", "duplicate", 2, False, 0.5, 200, "")),
        (entry(b"", 302, reason="redirect"), ("response", "done", "redirect", 2, False, 0.5, 302, "")),
        (
            entry(b"no", 404, "failed", "not-found"),
            ("response", "failed", "not-found", 2, False, 0.5, 404, ""),
        ),
        (
            entry(b"?", 799, "failed", "server-error"),
            ("response", "failed", "server-error", 2, False, 0.5, 799, ""),
        ),
        (failure(), ("metadata", "failed", "timeout", 0, True, 30.0, 0, "no answer in 30 s")),
    ],
)
def test_record_says_what_the_fetch_came_to(
    store: PageStore, one: Entry, expected: tuple[object, ...]
) -> None:
    record, _ = written(store, one)

    said = (record.kind, record.state, record.reason, record.tries, record.retry, record.seconds)
    assert (*said, record.status, record.error) == expected
    assert record.fetched == one.fetch.fetched
    assert record.response.url == SPELLING


header_texts = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20)


@given(body=st.binary(max_size=3000), value=header_texts)
def test_whatever_came_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, body: bytes, value: str
) -> None:
    store = PageStore(tmp_path_factory.mktemp("pages"))
    one = entry().fetch
    fetch = Fetch(one.lease, "done", "document", 5.0, status=200, headers=(("X-Any", value),), body=body)
    place = store.append(Entry(fetch))
    store.close()

    headers, found, _ = record_at(store.folder, place).response

    assert (found, dict(headers)["X-Any"]) == (body, value)


# Crashes


def test_record_that_was_torn_at_any_byte_costs_only_itself(store: PageStore, tmp_path: Path) -> None:
    whole, torn = store.append(entry()), store.append(failure())
    store.sync()
    path = files(tmp_path)[0]
    content = path.read_bytes()

    for end in range(torn.offset, len(content)):
        path.write_bytes(content[:end])
        assert [record.place for record in kept(tmp_path)] == [whole]
        path.write_bytes(content[:end] + bytes(len(content) - end))
        assert [record.place for record in kept(tmp_path)][:1] == [whole]

    path.write_bytes(content[: torn.offset + 5])
    with pytest.raises(Unavailable):
        record_at(store.folder, torn)


@pytest.mark.slow
def test_what_was_synced_outlives_kill_9(tmp_path: Path) -> None:
    script = """
print(*store.append(entry()), flush=True)
store.sync()
store.append(entry())
os.kill(os.getpid(), signal.SIGKILL)
"""
    name, offset = told(script, tmp_path)

    assert kept(tmp_path)[0].place == Place(name, int(offset))
    assert record_at(tmp_path / "pages", Place(name, int(offset))).response.body == BODY


def test_disk_that_is_full_is_unavailable_and_a_new_file_follows(tmp_path: Path) -> None:
    script = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store.append(entry())
resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
try:
    store.sync()
except Unavailable as error:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(*store.append(entry()))
    store.close()
"""
    name, offset = told(script, tmp_path)

    assert [record.place for record in kept(tmp_path)] == [Place(name, int(offset))]
    assert len(files(tmp_path)) == 2
