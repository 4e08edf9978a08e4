"""Is another WARC library faster than ours? Writing and reading one page, side by side.

    python bench/warc.py PAGE.html [--rounds 500]

Contenders: zlib alone (the floor), our own framing over zlib with warcio as the reader, warcio for both, and
FastWARC for both, which is no dependency (pip install fastwarc). All deflate at level 1, but warcio, with
level 9 only. Milliseconds of CPU a record, the best of five.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import time
import zlib
from base64 import b32encode
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecord, WarcRecordType
from rich.console import Console
from rich.table import Table
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from webcrawler.archive.pages import PageStore, record_at, records
from webcrawler.records import Entry, Fetch, Lease, Place

URL = "http://a.test/page"
HEADERS = (("Content-Type", "text/html; charset=utf-8"), ("Server", "nginx"), ("Date", "today"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--rounds", type=int, default=500)
    told = parser.parse_args()
    body = told.page.read_bytes()
    table = Table(
        "", "write", "read one", "read all", title=f"ms a record, a page of {len(body) / 1000:.0f} kB"
    )
    with TemporaryDirectory() as folder:
        for name, contender in CONTENDERS.items():
            table.add_row(name, *(f"{ms:.3f}" for ms in contender(Path(folder) / name, body, told.rounds)))
    Console().print(table)


def best(step: Callable[[], object], rounds: int) -> float:
    """Milliseconds of CPU for one of the rounds that `step` does."""
    times = []
    for _ in range(5):
        began = time.process_time()
        step()
        times.append(time.process_time() - began)
    return min(times) / rounds * 1000


def repeat(step: Callable[[], object], rounds: int) -> Callable[[], None]:
    def all_rounds() -> None:
        for _ in range(rounds):
            step()

    return all_rounds


def with_zlib(folder: Path, body: bytes, rounds: int) -> tuple[float, ...]:
    packed = zlib.compress(body, 1, wbits=31)
    written = best(repeat(lambda: zlib.compress(body, 1, wbits=31), rounds), rounds)
    read = best(repeat(lambda: zlib.decompress(packed, wbits=31), rounds), rounds)
    return written, read, read


def with_ours(folder: Path, body: bytes, rounds: int) -> tuple[float, ...]:
    fetch = Fetch(Lease(1, URL, URL, "http://a.test", 5), "done", "document", 1.8e9, 0.5, 200, HEADERS, body)
    entry = Entry(fetch, hashlib.sha1(body).digest())
    store = PageStore(folder)
    places: list[Place] = []

    def write() -> None:
        places.extend(store.append(entry) for _ in range(rounds))
        store.sync()

    written = best(write, rounds)
    store.close()
    place = places[rounds // 2]
    one = best(repeat(lambda: record_at(folder, place), rounds), rounds)
    return written, one, best(lambda: sum(1 for _ in records(folder)), 5 * rounds)


def with_warcio(folder: Path, body: bytes, rounds: int) -> tuple[float, ...]:
    def write() -> None:
        nonlocal out
        out = BytesIO()
        writer = WARCWriter(out)
        for _ in range(rounds):
            head = StatusAndHeaders("200 OK", [*HEADERS, ("Content-Length", str(len(body)))], "HTTP/1.1")
            writer.write_record(writer.create_warc_record(URL, "response", BytesIO(body), http_headers=head))

    def read(data: bytes) -> None:
        for record in ArchiveIterator(BytesIO(data)):
            record.content_stream().read()

    out = BytesIO()
    written = best(write, rounds)
    whole = out.getvalue()
    return (
        written,
        best(repeat(lambda: read(whole[: len(whole) // rounds]), rounds), rounds),
        best(lambda: read(whole), rounds),
    )


def with_fastwarc(folder: Path, body: bytes, rounds: int) -> tuple[float, ...]:
    lines = "".join(f"{name}: {value}\r\n" for name, value in (*HEADERS, ("Content-Length", len(body))))
    head = f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode()
    digest = f"sha1:{b32encode(hashlib.sha1(body).digest()).decode()}"
    folder.mkdir()
    path = folder / "fast.warc.gz"

    def write() -> None:
        with path.open("wb") as file:
            for _ in range(rounds):
                record = WarcRecord()
                record.init_headers(WarcRecordType.response)
                record.headers["WARC-Date"] = datetime.fromtimestamp(1.8e9, UTC).isoformat()
                record.headers["WARC-Target-URI"] = URL
                record.headers["WARC-Payload-Digest"] = digest
                for name in ("State", "Tries", "Retry", "Seconds"):
                    record.headers[f"WARC-Crawl-{name}"] = "as ours"
                record.headers["Content-Type"] = "application/http; msgtype=response"
                record.set_bytes_content(head + body)
                member = BytesIO()
                packer = GzipWriter(member, compression_level=1)
                record.write(packer)
                packer.finish()
                file.write(member.getvalue())
            file.flush()
            os.fsync(file.fileno())

    def read(most: int) -> None:
        with path.open("rb") as file:
            for count, record in enumerate(FastIterator(file, parse_http=True), 1):
                content = record.reader.read()
                expected = int(record.headers["Content-Length"])  # one that is torn comes back short
                assert len(content) <= expected
                if count == most:
                    return

    written = best(write, rounds)
    return written, best(repeat(lambda: read(1), rounds), rounds), best(lambda: read(rounds), rounds)


CONTENDERS = {
    "zlib alone": with_zlib,
    "ours (warcio reads)": with_ours,
    "warcio": with_warcio,
    "FastWARC": with_fastwarc,
}


if __name__ == "__main__":
    main()
