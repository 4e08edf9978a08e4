"""Takes the pages of other crawlers' WARC files into a data folder, as if they had been crawled into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from scrapy.settings import BaseSettings

from webcrawler import connection
from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore
from webcrawler.crawl.run import fill_again, has_begun, removal_limits
from webcrawler.errors import BadInput
from webcrawler.index import wait_until_caught_up
from webcrawler.job import Job
from webcrawler.records import Fetch
from webcrawler.repository.entries import WINDOW, EntryReader, entry_reader, in_batches
from webcrawler.repository.foreign import ForeignFile
from webcrawler.repository.rebuild import hold_alone, make_ranks_and_vocabulary

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
