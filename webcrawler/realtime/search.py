"""One real-time search, from the first answer of the index to the last list; for one thread at a time."""

from __future__ import annotations

import logging
import os
import socket
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path

from webcrawler import clock
from webcrawler.archive import discard_finds, discard_left_over
from webcrawler.archive.catalog import Catalog
from webcrawler.background import Views, hold_crawl
from webcrawler.crawl import CrawledPage
from webcrawler.errors import Unavailable, WebcrawlerError
from webcrawler.frontier import Frontier, inspect
from webcrawler.index import Finds, follower, indexable
from webcrawler.job import seed_link
from webcrawler.orderings import arguments_of, ordering_type
from webcrawler.orderings.topic import Likeness, Wanted, page_score
from webcrawler.realtime import journal
from webcrawler.realtime.examples import typical_words
from webcrawler.realtime.job import RealtimeJob
from webcrawler.realtime.journal import Found, Journal, Writer
from webcrawler.realtime.loop import QueryLoop
from webcrawler.realtime.result_list import Listing
from webcrawler.records import Link, Text
from webcrawler.search import Searcher
from webcrawler.urls import canonical, url_id

logger = logging.getLogger(__name__)

# What ends a search, by what ends a crawl; Scrapy's own limits are "closespider_…".
REASONS = {
    "finished": "nothing_left",
    "shutdown": "stopped",
    "cancelled": "stopped",
    **{own: own for own in ("enough", "max_pages", "max_time", "nothing_left", "stopped")},
}
AGENT = f"{socket.gethostname()}-{os.getpid()}"
PATIENCE_SECONDS = 10.0  # with an index that may still find old documents by what the last finds call them
JUDGED_AGAIN = 1_000  # texts that are kept to be judged by later examples


class RealtimeSearch:
    """What a search has found so far.

    Args:
        settings: `uncrawled` says nothing here, as only fetched pages are listed.
        share: hands what is kept, by its canonical URLs, to a main index; returns a line for people.
    Attributes:
        waiting_pages: that the crawl has fetched, and `step` has still to look at.
    Raises:
        BadInput: another search has this name.
    """

    def __init__(
        self,
        crawl_dir: Path,
        job: RealtimeJob,
        share: Callable[[Collection[str]], str] | None = None,
    ) -> None:
        self.job, self._crawl_dir, self._share = job, crawl_dir, share
        earlier, asked = journal.killed(crawl_dir, job.name), journal.asked(crawl_dir, job.name)
        if earlier and asked.words != dict(job.asked):
            journal.give_up(crawl_dir, job.name)
            earlier = None
        self._mode = asked.mode if earlier else ""  # of its frontier, where it goes on
        self._is_resumed = earlier is not None
        discard_left_over(crawl_dir)
        self._writer = Writer(crawl_dir, job.name)
        self._held = ExitStack()  # until its finds are discarded: the views have to follow
        self._held.enter_context(hold_crawl(crawl_dir))
        self._started = clock.now() - (earlier["seconds"] if earlier else 0.0)
        self._finds = Finds()
        self._searcher = Searcher(crawl_dir, job=job.marks_finds, finds=self._finds)
        self._query = job.query
        self._wanted = Wanted.of(job.query) if job.query else None
        seeds = [seed_link(seed) for seed in job.seeds]
        self._seeds = {seed.id for seed in seeds}
        self._path = crawl_dir / "catalog.sqlite"
        self._listing = Listing(
            self._path, self._searcher, self._similarity, self._keeps, [seed.url for seed in seeds]
        )
        self._loop: QueryLoop | None = None
        self._generation: object = None  # of the index that was searched last
        self._examples: list[Text] = []
        self._example_ids: set[int] = set()  # URL ids
        self._likeness = Likeness()
        self._texts: dict[int, Text] = {}  # by URL id
        self._similar: set[int] = set()  # URL ids
        self._urls: dict[str, int] = {}  # canonical URL -> URL id, of the documents that were fetched
        self._hits: list[Found] = []
        self._note, self._about, self.fetched, self._kept = "", "", 0, 0
        self.waiting_pages: deque[CrawledPage] = deque()
        self._waiting_urls = 0
        self._not_indexed: list[str] = []  # canonical URLs of documents that were fetched
        self._last_seq = 0  # of the catalog, when the last of them was looked up
        self._busy = time.monotonic()  # when something was left to do
        if earlier and self._path.exists():
            self._resume(earlier)

    def _resume(self, earlier: Journal) -> None:
        """Knows again what it had found when it was killed; its frontier has kept what waits.

        Of finds that are not marked (keep=yes), only those in the last list are known.
        """
        listed = {hit["url"] for hit in earlier["hits"] if hit["source"] == "web"}
        with closing(Catalog(self._path, readonly=True, job=self.job.name)) as catalog:
            urls = {*listed, *map(canonical, catalog.finds().values())}
            found = [one for url in urls if (one := catalog.find(url))]
            texts = catalog.texts([one.number for one in found])
        for one in sorted(found, key=lambda one: one.fetched):
            self._note_page(url_id(one.url), one.url, texts.get(one.number), bool(one.duplicate_of))
        self.fetched = max(self.fetched, earlier["fetched"])
        logger.warning("going on with the search %s: %d pages are there", self.job.name, self.fetched)

    @property
    def rest(self) -> RealtimeJob:
        """The search as far as it is left to do."""
        seconds, job = clock.now() - self._started, self.job
        pages = max(1, job.max_pages - self.fetched) if job.max_pages else None
        left = max(1.0, job.max_time - seconds) if job.max_time else None
        return replace(job, max_pages=pages, max_time=left, resumed=self._is_resumed)

    @property
    def similar(self) -> int:
        """How many of the documents that were fetched, examples left out, are similar enough."""
        return len(self._similar)

    def begin(self) -> str:
        """Searches the index; returns the mode to crawl in, with words that the thesaurus adds."""
        found = self._first_answer()
        self._mode = self._mode or found
        journal.keep_asked(self._crawl_dir, self.job.name, journal.Asked(dict(self.job.asked), self._mode))
        return self._mode

    def _first_answer(self) -> str:
        if not self._query:
            return self.job.mode
        try:
            self._hits, results = self._listing.hits(self._query, self._urls)
        except Unavailable as error:
            logger.warning("the search begins without the index: %s", error)
            self._note = f"it begins without the index: {error}"
            return self.job.mode
        also = [word.spelled for word in (*results.added, *results.related)]
        takes = arguments_of(ordering_type(self.job.strategy))
        return self.job.with_words(also) if also and "also" in takes else self.job.mode

    def step(self, frontier: Frontier, admits: Callable[[Link], bool]) -> str:
        """Looks at what was fetched, and runs the query again where the index has changed.

        May be repeated when it fails.

        Args:
            frontier: takes in the links of the best documents.
            admits: may this link be followed?
        Returns:
            Why the search is over; "" while it goes on.
        """
        if self._writer.is_stopped():
            return "stopped"
        self._add_waiting()
        if 0 < self.job.enough <= self.similar:
            return "enough"
        if self._loop is None:
            of_search = self._path, self._searcher, frontier, admits
            self._begin_loop(QueryLoop(*of_search, self.job.marks_finds))
            return ""
        states, candidates = inspect.stats(frontier), 0  # what is not leased any more is in the catalog
        self._index_finds()
        is_behind = self._is_index_behind()
        generation = self._searcher.generation
        if generation != self._generation and self._query:
            candidates = self._loop.step(self._query)
            self._hits, _ = self._listing.hits(self._query, self._urls)
            self._generation = generation
        self._waiting_urls = states["queued"]
        if states["queued"] or states["leased"] or candidates or self.waiting_pages:
            self._busy = time.monotonic()
            return ""
        waits = is_behind and time.monotonic() - self._busy < PATIENCE_SECONDS
        return "" if waits else "nothing_left"

    def _begin_loop(self, loop: QueryLoop) -> None:
        """Takes the links of the best documents in the index into the frontier."""
        generation = self._searcher.generation
        is_answered = loop.step(self._query)
        self._note = ""
        if not is_answered and not self.job.seeds and loop.begin_anywhere():
            self._note = "the index has no answer: it begins with the pages that were crawled first"
        self._generation = generation if self._hits else None
        self._loop = loop

    def _add_waiting(self) -> None:
        while self.waiting_pages:
            self.add(self.waiting_pages[0])
            self.waiting_pages.popleft()  # only now: the step is repeated when it fails

    def _index_finds(self) -> None:
        """Have the searcher find what was fetched and is in the catalog by now."""
        if not self._not_indexed or not self._path.exists():
            return
        with closing(Catalog(self._path, readonly=True, job=self.job.marks_finds)) as catalog:
            documents = [catalog.find(url) for url in self._not_indexed]
            known = {document.number: document for document in documents if document}
            if known:
                self._finds.add(indexable(catalog, known), catalog.identity)
            self._last_seq = catalog.last_seq()
        missing = zip(self._not_indexed, documents, strict=True)
        self._not_indexed = [url for url, document in missing if document is None]

    def _is_index_behind(self) -> bool:
        """Say whether the index does not have all anchors of the finds, and may have them soon."""
        return (
            follower.anchors_applied(self._crawl_dir) < self._last_seq and Views(self._crawl_dir).is_at_work()
        )

    def add(self, page: CrawledPage) -> None:
        """A document that was fetched."""
        text = None if page.page.noindex else page.index_text
        self._note_page(page.fetch.lease.id, page.url, text, bool(page.duplicate_of))

    def _note_page(self, id: int, url: str, text: Text | None, is_duplicate: bool) -> None:
        """Args:
        text: None where it may not be in an index.
        """
        is_example = not self.job.query and self._is_example(id)
        if is_example and text:
            self._learn(id, text)
        if is_duplicate:
            return
        self._urls[url] = id
        self._not_indexed.append(url)
        self.fetched += 1
        if text and not is_example:
            if self._is_similar(text):
                self._similar.add(id)
            if not self.job.query and len(self._texts) < JUDGED_AGAIN:
                self._texts[id] = text

    def note_crawl(self, stats: Mapping[str, object], is_demo: bool) -> None:
        """Notes what people should know of the crawl: where it began, and why nothing came."""
        if is_demo:
            self._about = "no seeds were given: this is the demo web"
            return
        found = [key for key in stats if key.startswith(("webcrawler/failed/", "webcrawler/retry/"))]
        why = ", ".join(sorted({key.rpartition("/")[2] for key in found}))
        self._about = f"no page could be fetched: {why}" if why and not self.fetched else ""

    def end(self, reason: str) -> Journal:
        """Makes the last list, and discards what is not kept.

        Args:
            reason: why the crawl ended.
        """
        with suppress(WebcrawlerError, sqlite3.Error, OSError):
            self._add_waiting()
        try:
            self._index_finds()
            if self._query:
                self._hits, _ = self._listing.hits(self._query, self._urls)
        except Exception:  # whatever it is, the journal says how the search ended
            logger.exception("the last list is the one before")
        kept = self._discard_finds()
        self._held.close()
        self._finds.close()
        if self._share and kept:
            self._about = "; ".join(filter(None, (self._about, self._share(kept))))
        ended_by = "stopped" if reason.startswith("closespider_") else REASONS.get(reason, "failed")
        journal = self.journal("finished", ended_by)
        self._writer.close()
        return journal

    def _discard_finds(self) -> list[str]:
        """Returns the canonical URLs of what it has fetched and keeps."""
        gone: set[int] = set()
        try:
            if self.job.marks_finds and self._path.exists():
                kept = self._similar | self._example_ids if self.job.keep == "similar" else ()
                gone = discard_finds(self._crawl_dir, self.job.name, kept)
        except (WebcrawlerError, sqlite3.Error, OSError, ValueError) as error:
            logger.warning("what is not kept leaves with the next crawl or search: %s", error)
            gone = set(self._urls.values())
        for hit in self._hits:
            hit["kept"] = hit["source"] == "index" or self._urls[hit["url"]] not in gone
        urls = [url for url, id in self._urls.items() if id not in gone]
        self._kept = len(urls)
        return urls

    def journal(self, state: str = "running", reason: str = "") -> Journal:
        """Writes down how the search stands, and returns it."""
        now = clock.now()
        journal = Journal(
            job=self.job.name,
            agent=AGENT,
            query=self._query,
            strategy=self.job.strategy,
            state=state,
            reason=reason,
            started=self._started,
            updated=now,
            seconds=round(now - self._started, 3),
            fetched=self.fetched,
            similar=self.similar,
            enough=self.job.enough,
            waiting=self._waiting_urls,
            note="; ".join(filter(None, (self._note, self._about))),
            keep=self.job.keep,
            kept=self._kept,
            hits=self._hits,
        )
        self._writer.write(journal)
        return journal

    def _is_example(self, url_id: int) -> bool:
        """Is it the page of a seed, or one that a seed redirects to?"""
        if url_id in self._seeds:
            return True
        if not self._path.exists():
            return False
        with closing(Catalog(self._path, readonly=True)) as catalog:
            return not self._seeds.isdisjoint(catalog.links.redirecting_to(url_id))

    def _learn(self, id: int, example: Text) -> None:
        """Learns from one more example what is looked for, and judges again what was found."""
        self._example_ids.add(id)
        self._examples.append(example)
        self._likeness.add(example)
        self._query = typical_words(self._examples)
        self._similar -= self._texts.keys()
        self._similar |= {id for id, text in self._texts.items() if self._is_similar(text)}
        self._listing.forget()
        self._generation = None  # the index is searched again, changed or not

    def _similarity(self, text: Text) -> float:
        return page_score(self._wanted, text) if self._wanted else self._likeness.score(text)

    def _is_similar(self, text: Text) -> bool:
        return self._similarity(text) >= self.job.similarity

    def _keeps(self, similarity: float) -> bool:
        return self.job.keep == "yes" or (self.job.keep == "similar" and similarity >= self.job.similarity)
