"""Takes in what searches on other machines have found (WC, "Future Work"), also beside a crawl."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import NamedTemporaryFile

from scrapy.settings import BaseSettings

from webcrawler import connection, urls
from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore
from webcrawler.background import VIEWS_NEED, Views, hold_crawl
from webcrawler.crawl.run import removal_limits
from webcrawler.errors import BadInput, TooLarge, Unavailable
from webcrawler.records import Fetch
from webcrawler.repository.entries import entry_reader
from webcrawler.repository.importing import Imported, Intake
from webcrawler.settings import words_of

MOST_RECORDS = 1_000
MOST_UNPACKED_BYTES = 256 * 2**20  # of the records, and of the pages in them
CHUNK_BYTES = 65_536
UNPACKED_CHUNK_BYTES = 2**20
PATIENCE_SECONDS = 2.0  # a companion that ends holds the lock for some milliseconds, a rebuild for minutes
LARGE = f"at most {MOST_RECORDS:,} records and {MOST_UNPACKED_BYTES:,} unpacked bytes at a time: send less"
HEAD_BYTES = 65_536  # of a record, with that of the answer in it: each line of it costs its reader memory
HEAD_END = b"\r\n\r\n"
NO_END = f"a record's headers, or those of its answer, do not end within {HEAD_BYTES:,} bytes"
NOT_GZIP = "it is no WARC file compressed record by record with gzip, or it is cut short"


def receive(
    crawl_dir: Path, warc: bytes, settings: BaseSettings, go_on: Callable[[], None] = lambda: None
) -> Imported:
    """Take in the documents of a WARC file. What is returned is durable; `follow` has searches find it.

    The frontier is not told. May be repeated: what was taken in is known. May run beside crawls and other
    calls.

    Args:
        go_on: called between pages; what it raises ends the work, and what was taken in until then stays.
    Raises:
        TooLarge: nothing, or a part, was taken in.
        BadInput: it cannot be read; nothing of it, or what stands before the fault, was taken in.
        Unavailable: a command that must be alone is at work, or the disk is full.
    """
    check_size(warc)
    crawl_dir.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        held.enter_context(hold_crawl(crawl_dir, PATIENCE_SECONDS))
        file = held.enter_context(NamedTemporaryFile(suffix=".warc.gz"))
        file.write(warc)
        file.flush()
        work = _open(crawl_dir, settings, held)
        work.take_in([Path(file.name)], lambda step, done, total: go_on())
        for fault in work.faults:  # whoever sent it need not know our files
            raise BadInput(fault.replace(file.name, "what was sent"))
    return work.result()


def follow(crawl_dir: Path, settings: BaseSettings) -> None:
    """Have the views made of what is in the catalog, by a process that then ends."""
    if (crawl_dir / "catalog.sqlite").exists():
        Views(crawl_dir).ensure_started(connection.serialized(settings, others=VIEWS_NEED))


def _open(crawl_dir: Path, settings: BaseSettings, held: ExitStack) -> Intake:
    try:
        limits, refusal = removal_limits(settings), _bounds(settings)
        catalog = held.enter_context(closing(Catalog(crawl_dir / "catalog.sqlite", limits=limits)))
        pages = held.enter_context(closing(PageStore(crawl_dir / "pages")))
        reader = held.enter_context(entry_reader(settings))
    except BadInput as error:  # of the owner of the folder, not of the sender
        raise Unavailable(str(error)) from error
    return Intake(catalog, pages, reader, settings.getint("DOWNLOAD_MAXSIZE"), refusal)


def check_size(warc: bytes) -> None:
    """Unpack the gzip members, and keep only their heads: some kilobytes may unpack to gigabytes.

    Raises:
        TooLarge: there are too many records, or bytes in them.
        BadInput: it is not gzip, is cut short, or a head has no end.
    """
    records = unpacked = start = 0
    inflate, chunk, head = None, b"", b""
    try:
        while chunk or start < len(warc):
            if not chunk:
                chunk, start = warc[start : start + CHUNK_BYTES], start + CHUNK_BYTES
            inflate = inflate or zlib.decompressobj(wbits=31)
            part = inflate.decompress(chunk, UNPACKED_CHUNK_BYTES)
            unpacked, chunk = unpacked + len(part), inflate.unconsumed_tail or inflate.unused_data
            head += part[: HEAD_BYTES - len(head)]
            if len(head) == HEAD_BYTES and head.count(HEAD_END) < 2:
                raise BadInput(NO_END)
            if inflate.eof:
                records, inflate, head = records + 1, None, b""
            if records > MOST_RECORDS or unpacked > MOST_UNPACKED_BYTES:
                raise TooLarge(LARGE)
    except zlib.error:
        raise BadInput(NOT_GZIP) from None
    if inflate or not records:
        raise BadInput(NOT_GZIP)


def _bounds(settings: BaseSettings) -> Callable[[Fetch], str]:
    """Why a fetch is left out: documents only, at URLs that a crawl would follow and connect to.

    It raises TooLarge where there are too many bytes of them in all.
    """
    addresses, total = urls.AddressRules(words_of(settings["ADDRESSES_ALLOWED"])), 0

    def refusal(fetch: Fetch) -> str:
        nonlocal total
        total += len(fetch.body)
        if total > MOST_UNPACKED_BYTES:
            raise TooLarge(LARGE)
        if fetch.reason != "document":
            return fetch.reason
        if refused := urls.outlink(fetch.lease.spelling, fetch.lease.url, rel="import").refused:
            return refused
        server = fetch.lease.server
        host, port = urls.host_and_port(server)
        permits = addresses.permits_port(port, server.partition(":")[0]) and addresses.permits_host(host)
        return "" if permits else "address-refused"

    return refusal
