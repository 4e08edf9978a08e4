"""`webcrawler import`: pages that other crawlers have stored, taken in as if they had been crawled."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import subprocess
from base64 import b32encode
from collections.abc import Iterable
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import brotli
import pytest
from conftest import Run
from dumped import dumped
from localweb import crawl, page, sites
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from webcrawler.archive.pages._members import members
from webcrawler.background import hold_crawl
from webcrawler.search import Searcher

pytestmark = pytest.mark.slow

A = "http://a.test"
HTML = {"Content-Type": "text/html"}


class Kept(NamedTuple):
    """A record as another crawler may write it."""

    path: str
    body: bytes = b""
    status: str = "200 OK"
    headers: dict[str, str] = HTML
    kind: str = "response"
    date: str = "2026-01-02T03:04:05Z"
    server: str = A
    fields: dict[str, str] = {}


def warc(path: Path, records: Iterable[Kept], version: str = "WARC/1.0", gzipped: bool = True) -> Path:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=gzipped, warc_version=version)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "another crawler"}))
        for one in records:
            http = StatusAndHeaders(one.status, list(one.headers.items()), protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(
                    one.server + one.path,
                    one.kind,
                    payload=io.BytesIO(one.body),
                    http_headers=http if one.kind != "resource" else None,
                    warc_content_type="text/html" if one.kind == "resource" else "",
                    warc_headers_dict={"WARC-Date": one.date, **one.fields},
                )
            )
    return path


DIGEST = "sha1:" + b32encode(sha1(b"<title>Same quokka</title>").digest()).decode()
BROTLI = brotli.compress(b"<title>Brotli quokka</title>", quality=1)
PACKED = gzip.compress(b"<title>Packed quokka</title><a href=/next>next</a>")
CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PACKED), PACKED)
TAKEN = [
    Kept("/", b"<title>Plain quokka</title><a href=/packed>packed</a>"),
    Kept("/packed", CHUNKED, headers={**HTML, "Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}),
    Kept("/dom", b"<title>Quokka of a browser</title>", kind="resource"),
    Kept("/moved", status="301 Moved", headers={"Location": "/packed"}),
    Kept("/gone", b"not here", "404 Not Found"),
    Kept("/brotli", BROTLI, headers={**HTML, "Content-Encoding": "br"}),
    Kept("/home", b"<title>Home quokka</title>"),
    Kept("/again", b"<title>Same quokka</title>"),
    Kept("/twin", kind="revisit", fields={"WARC-Payload-Digest": DIGEST}, date="2026-01-02T03:04:06Z"),
]
LEFT = {
    "not-indexable": Kept("/image", b"\x89PNG", headers={"Content-Type": "image/png"}),
    "server-error": Kept("/busy", b"", "503 Busy"),
    "too-large": Kept("/large", b"<p>" + b"x" * 100_000),
    "body elsewhere": Kept("/lost", kind="revisit", fields={"WARC-Payload-Digest": "sha1:ELSEWHERE"}),
    "redirect-loop": Kept("/home", status="301 Moved", headers={"Location": "/home#top"}),
    "no date of the past": Kept("/future", b"<p>", date="9999-12-31T23:59:59-23:59"),
    "malformed": Kept("/", b"<p>", status="OK"),
    "removed": Kept("/removed", b"<p>"),
}
IGNORED = [
    Kept("/", b"<p>", server="gopher://a.test"),
    Kept("/", b"", kind="request", status="GET / HTTP/1.1"),
    Kept("", b"20260102030405\na.test. 300 IN A 192.0.2.1", server="dns:a.test", kind="resource"),
    Kept("/", b"{}", server="urn:pageinfo:http://a.test", kind="resource"),
]


def titles(folder: Path) -> list[str]:
    return [hit.title for hit in Searcher(folder, deadline_seconds=60).search("quokka").hits]


def test_bytes_of_a_redirect_lead_where_a_crawl_of_ours_would_go(tmp_path: Path, run: Run) -> None:
    moved = [
        Kept(f"/{n}", status="302 Found", headers={"Location": to}) for n, to in enumerate(("/~", "/\u00fc"))
    ]
    file = warc(tmp_path / "theirs.warc", moved, gzipped=False)
    file.write_bytes(file.read_bytes().replace(b"/~", b"/\xe9"))

    run("import", str(file))

    links = dumped(tmp_path / "crawl")["links"]
    assert {target for _, target, *_ in links} == {f"{A}/%E9", f"{A}/%C3%BC"}


@pytest.mark.parametrize("version", ["WARC/1.0", "WARC/1.1"])
@pytest.mark.parametrize("gzipped", [True, False])
def test_pages_redirects_and_missing_pages_are_taken_in_and_the_rest_is_counted(
    tmp_path: Path, run: Run, version: str, gzipped: bool
) -> None:
    folder = tmp_path / "crawl"
    file = warc(tmp_path / "theirs.warc", [*LEFT.values(), *TAKEN, *IGNORED], version, gzipped)
    run("remove", f"{A}/removed")

    told = json.loads(run("import", str(file), "--json", "-s", "DOWNLOAD_MAXSIZE=50000").out)

    assert told == {
        "fetches": len(TAKEN),
        "documents": 7,
        "known": 0,
        "left_out": dict.fromkeys(LEFT, 1),
        "frontier": None,
        "faults": [],
    }
    rows = {row[0].removeprefix(A): f"{row[3]}/{row[4]}" for row in dumped(folder)["fetches"]}
    assert rows == {
        **dict.fromkeys(("/", "/packed", "/dom", "/again", "/brotli", "/home"), "done/document"),
        "/twin": "done/duplicate",
        "/moved": "done/redirect",
        "/gone": "failed/not-found",
    }
    links = {(source, target, rel) for source, target, _, rel in dumped(folder)["links"]}
    assert links == {
        (f"{A}/", f"{A}/packed", ""),
        (f"{A}/packed", f"{A}/next", ""),
        (f"{A}/moved", f"{A}/packed", "redirect"),
    }
    words = ("Plain", "Packed", "Same", "Brotli", "Home")
    assert set(titles(folder)) == {*(f"{word} quokka" for word in words), "Quokka of a browser"}


def test_a_file_imported_again_changes_nothing_and_a_rebuild_has_its_pages(tmp_path: Path, run: Run) -> None:
    folder, file = tmp_path / "crawl", warc(tmp_path / "theirs.warc.gz", TAKEN)
    run("import", str(file))
    before = dumped(folder)

    assert json.loads(run("import", str(file), "--json").out)["known"] == len(TAKEN)
    assert dumped(folder) == before
    run("rebuild")
    assert dumped(folder) == before


def test_what_two_files_of_one_import_have_is_taken_in_once(tmp_path: Path, run: Run) -> None:
    files = [warc(tmp_path / name, TAKEN) for name in ("theirs.warc.gz", "copy.warc.gz")]

    told = json.loads(run("import", *map(str, files), "--json").out)

    assert (told["fetches"], told["known"]) == (len(TAKEN), len(TAKEN))


def test_documents_of_other_kinds_are_taken_in_as_a_crawl_would(tmp_path: Path, run: Run) -> None:
    notes = Kept("/notes.md", b"# Notes on a quokka", headers={"Content-Type": "text/markdown"})
    file = warc(tmp_path / "theirs.warc.gz", [notes])

    assert json.loads(run("import", str(file), "--json", "-s", "DOCUMENT_TYPES=pdf").out)["documents"] == 0
    run("import", str(file))

    assert titles(tmp_path / "crawl") == ["Notes on a quokka"]


def test_arc_files_are_read_as_well(tmp_path: Path, run: Run) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Old quokka</title>"
    about = b"1 0 crawler\nURL IP-address Archive-date Content-type Archive-length\n"
    file = tmp_path / "old.arc"
    file.write_bytes(
        b"filedesc://old.arc 0.0.0.0 20010203040506 text/plain %d\n%b\n" % (len(about), about)
        + b"http://a.test/ 192.0.2.1 20010203040506 text/html %d\n%b\n" % (len(answer), answer)
    )

    run("import", str(file))

    (hit,) = Searcher(tmp_path / "crawl", deadline_seconds=60).search("quokka").hits
    assert (hit.title, hit.fetched) == ("Old quokka", 981173106.0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive at all", "cannot be read"),
        (b"", "cannot be read"),
        (b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9\r\n\r\nHTTP/1.1\n\r\n\r\n", "cannot be read"),
        (
            gzip.compress(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n" * 2),
            "warcio recompress",
        ),
    ],
    ids=["text", "nothing", "no URL", "compressed as a whole"],
)
def test_what_is_no_warc_file_is_refused_in_one_line(
    tmp_path: Path, run: Run, content: bytes, message: str
) -> None:
    (tmp_path / "file").write_bytes(content)

    answered = run("import", str(tmp_path / "file"))

    (line,) = [line for line in answered.err.splitlines() if line.startswith("error:")]
    assert message in line and answered.status == 2


def test_a_file_that_cannot_be_read_is_told_of_when_the_others_were_taken_in(
    tmp_path: Path, run: Run
) -> None:
    good = [warc(tmp_path / f"{number}.warc.gz", [TAKEN[number]]) for number in (0, 2)]
    (tmp_path / "bad.wacz").write_bytes(b"PK\x03\x04\xff\x1b[2J")

    answered = run("import", str(good[0]), str(tmp_path / "bad.wacz"), str(good[1]), "--json")

    told = json.loads(answered.out)
    assert (answered.status, told["documents"], len(told["faults"])) == (2, 2, 1)
    (line,) = [line for line in answered.err.splitlines() if line.startswith("error:")]
    assert "bad.wacz" in line and "unzip it" in line and "\x1b" not in answered.err
    assert set(titles(tmp_path / "crawl")) == {"Plain quokka", "Quokka of a browser"}


@pytest.mark.parametrize("place", [0, 1, 2], ids=["about the file", "first", "second"])
def test_a_record_of_a_negative_length_is_passed_over(tmp_path: Path, run: Run, place: int) -> None:
    file = warc(tmp_path / "theirs.warc.gz", TAKEN[:3])
    with file.open("rb") as opened:
        records = [record for _, _, record in members(opened, 0)]
    records[place] = re.sub(rb"(?m)^Content-Length: \d+", b"Content-Length: -9", records[place], count=1)
    file.write_bytes(b"".join(map(gzip.compress, records)))

    told = json.loads(run("import", str(file), "--json").out)

    assert told["left_out"] == {"malformed": 1}
    assert told["fetches"] == (3 if place == 0 else 2)


def test_what_stands_before_a_torn_record_is_taken_in(tmp_path: Path, run: Run) -> None:
    file = warc(tmp_path / "theirs.warc.gz", TAKEN[:2])
    file.write_bytes(file.read_bytes()[:-20])

    run("import", str(file))

    assert {row[0] for row in dumped(tmp_path / "crawl")["documents"]} >= {f"{A}/"}


def test_without_files_or_beside_a_crawl_it_says_what_to_do(tmp_path: Path, run: Run) -> None:
    file = warc(tmp_path / "theirs.warc.gz", TAKEN)

    assert "name the files" in run("import").err
    assert "there is no file" in run("import", "missing.warc").err
    (tmp_path / "crawl").mkdir(exist_ok=True)
    with hold_crawl(tmp_path / "crawl"):
        assert "end it first" in run("import", str(file)).err


def test_of_two_answers_the_later_one_counts_whoever_fetched_it(tmp_path: Path, run: Run) -> None:
    for year, title in ((2025, "Middle"), (2026, "New"), (2024, "Old")):
        kept = Kept("/", f"<title>{title} quokka</title>".encode(), date=f"{year}-01-02T03:04:05Z")
        run("import", str(warc(tmp_path / f"{year}.warc.gz", [kept])))

    assert titles(tmp_path / "crawl") == ["New quokka"]


def test_a_crawl_that_goes_on_fetches_nothing_that_was_imported_and_follows_its_links(
    tmp_path: Path, run: Run
) -> None:
    folder = tmp_path / "crawl"
    with sites(
        site={"/": page("/kept", "/other"), "/kept": page(), "/other": page(), "/next": page()}
    ) as web:
        site = web["site"]
        crawl(folder, "index", "-a", f"seeds={site.url}/", "-a", "max_pages=1")
        kept = Kept("/kept", b"<title>Kept</title><a href=/next>next</a>", server=site.url)

        told = json.loads(run("import", str(warc(tmp_path / "theirs.warc.gz", [kept])), "--json").out)
        crawl(folder, "index")

    assert told["frontier"]["queued"] == 2
    assert sorted(site.pages) == ["/", "/next", "/other"]


@pytest.mark.skipif(not shutil.which("wget"), reason="the test takes wget's files")
def test_all_html_that_wget_has_stored_is_taken_in(tmp_path: Path, run: Run) -> None:
    with sites(site={"/": page("/a", "/b", "/missing"), "/a": page("/"), "/b": page("/a")}) as web:
        asked = ["wget", "-q", "-r", "-e", "robots=off", "--warc-file=theirs", f"{web['site'].url}/"]
        subprocess.run(asked, cwd=tmp_path, check=False)

    told = json.loads(run("import", str(tmp_path / "theirs.warc.gz"), "--json").out)

    assert (told["documents"], told["fetches"], told["left_out"]) == (3, 4, {})
