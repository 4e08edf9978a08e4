"""Takes in pages that others fetched, as if they had been crawled into this data folder.

They come in WARC files of other crawlers, or from searches on other machines (WC, "Future Work").
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from scrapy.settings import BaseSettings

from webcrawler import connection, urls
from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore
from webcrawler.background import VIEWS_NEED, Views, hold_crawl
from webcrawler.crawl.run import fill_again, has_begun, removal_limits
from webcrawler.errors import BadInput, TooLarge, Unavailable
from webcrawler.index import wait_until_caught_up
from webcrawler.job import Job
from webcrawler.records import Fetch
from webcrawler.repository.entries import WINDOW, EntryReader, entry_reader, in_batches
from webcrawler.repository.foreign import ForeignFile
from webcrawler.repository.rebuild import hold_alone, make_ranks_and_vocabulary
from webcrawler.settings import words_of

SOME = 200  # entries in one transaction
Progress = Callable[[str, int, int | None], None]


class Imported(NamedTuple):
    """What an import has done."""

    fetches: int  # new ones, taken in
    documents: int  # of them
    known: int  # fetches that had been taken in before
    left_out: dict[str, int]  # answers that are not taken, by reason
    frontier: dict[str, int] | None  # URLs by state; None where no crawl has begun
    faults: tuple[str, ...] = ()  # the files that could not be read, and why


def import_files(
    crawl_dir: Path, paths: Sequence[Path], settings: BaseSettings, progress: Progress
) -> Imported:
    """Copy the answers that are pages, redirects or "not found", and make views and frontier know them.

    May be repeated: what was taken in is known. Killed, it leaves what was taken in so far.

    Raises:
        BadInput: a file is missing, or a crawl is alive.
        Unavailable: the disk is full.
    """
    for path in paths:
        if not path.is_file():
            raise BadInput(f"there is no file {path}")
    crawl_dir.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        held.enter_context(hold_alone(crawl_dir))
        catalog_file = crawl_dir / "catalog.sqlite"
        catalog = held.enter_context(closing(Catalog(catalog_file, limits=removal_limits(settings))))
        pages = held.enter_context(closing(PageStore(crawl_dir / "pages")))
        reader = held.enter_context(entry_reader(settings))
        work = Intake(catalog, pages, reader, settings.getint("DOWNLOAD_MAXSIZE"))
        work.take_in(paths, progress)
    make_ranks_and_vocabulary(crawl_dir, progress)
    wait_until_caught_up(crawl_dir, lambda applied, last: progress("index", applied, last))
    frontier = None
    if has_begun(crawl_dir):
        with connection.from_settings(settings) as connected:
            frontier = fill_again(settings, connected, Job(), progress)["frontier"]
    return work.result(frontier)


class Intake:
    """Takes files into one data folder, and counts what comes of that.

    Args:
        most_bytes: a larger body is left out.
        refusal: why this fetch is left out; "" where it is taken in.
    """

    def __init__(
        self,
        catalog: Catalog,
        pages: PageStore,
        reader: EntryReader,
        most_bytes: int,
        refusal: Callable[[Fetch], str] = lambda fetch: "",
    ) -> None:
        self._catalog, self._pages, self._reader = catalog, pages, reader
        self._most_bytes, self._refusal = most_bytes, refusal
        self.fetches = self.documents = self.known = 0
        self.left_out: Counter[str] = Counter()
        self.faults: list[str] = []

    def take_in(self, paths: Sequence[Path], progress: Progress) -> None:
        """Each batch is durable before the next one begins; a batch that fails leaves those before it."""
        fetches = self._new(self._fetches(paths, progress))
        for some in in_batches(self._reader.entries(fetches), SOME):
            places = [self._pages.append(entry) for entry in some]
            self._pages.sync()
            self._catalog.write(list(zip(some, places, strict=True)))
            self.fetches += len(some)
            self.documents += sum(entry.fetch.reason == "document" for entry in some)

    def result(self, frontier: dict[str, int] | None = None) -> Imported:
        return Imported(
            self.fetches, self.documents, self.known, dict(self.left_out), frontier, tuple(self.faults)
        )

    def _new(self, fetches: Iterator[Fetch]) -> Iterator[Fetch]:
        """Those that the catalog does not have."""
        for some in in_batches(fetches, WINDOW):
            made = self._catalog.fetches.made([fetch.lease.id for fetch in some])
            for fetch in some:
                if (fetch.lease.id, fetch.fetched) in made:
                    self.known += 1
                else:
                    made.add((fetch.lease.id, fetch.fetched))
                    yield fetch

    def _fetches(self, paths: Sequence[Path], progress: Progress) -> Iterator[Fetch]:
        total, done = sum(path.stat().st_size for path in paths), 0
        bodies: dict[str, tuple[Path, int]] = {}
        for path in paths:
            file = ForeignFile(path, self._reader, bodies, self.left_out, self._most_bytes)
            for fetch in file.fetches():
                progress("pages", done + file.offset, total)
                if why := self._refusal(fetch):
                    self.left_out[why] += 1
                else:
                    yield fetch
            if file.fault:
                self.faults.append(f"{path} cannot be read: {file.fault}")
            done += path.stat().st_size


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
