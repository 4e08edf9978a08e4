"""One real-time search, from the first answer of the index to the last list; all of it in one thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from webcrawler.focus import Wanted, similarity
from webcrawler.frontier import Frontier
from webcrawler.frontier.orderings import arguments_of, ordering_type
from webcrawler.index import follower
from webcrawler.realtime.exploring import Exploring
from webcrawler.realtime.job import RealtimeJob
from webcrawler.realtime.journal import Found, Journal, Writer
from webcrawler.realtime.listing import Listing
from webcrawler.realtime.profile import typical_words
from webcrawler.records import Link, Text
from webcrawler.search import Searcher

CAUGHT_UP_SECONDS = 30.0  # that the last list waits for the index
# What ends a search, by what ends a crawl.
REASONS = {"finished": "nothing_left", "shutdown": "stopped"}
OWN_REASONS = ("enough", "max_pages", "max_time", "nothing_left", "stopped")


class Fetched(NamedTuple):
    """A document that this search fetched."""

    url: str  # canonical
    text: Text
    is_example: bool


class RealtimeSearch:
    """What it found so far, and what it is still to look at.

    Args:
        engine: of the index.
    Raises:
        BadInput: another search goes by this name.
    """

    def __init__(self, crawl_dir: Path, job: RealtimeJob, engine: str) -> None:
        self.job = job
        self._crawl_dir, self._engine = crawl_dir, engine
        self._writer = Writer(crawl_dir, job.name)
        self._started = time.time()
        self._searcher = Searcher(crawl_dir, engine=engine)
        self._wanted = Wanted.of(job.query) if job.query else None
        self._query = job.query
        self._listing = Listing(crawl_dir / "catalog.sqlite", self._searcher, self._similarity)
        self._exploring: Exploring | None = None
        self._generation: object = None
        self._examples: list[Text] = []
        self._urls: set[str] = set()
        self._hits: list[Found] = []
        self._note, self.fetched, self.similar, self.waiting = "", 0, 0, 0

    def begin(self) -> str:
        """The answer of the index; returns the mode to crawl in, with what the thesaurus adds."""
        if not self._query:
            return self.job.mode
        self._hits, results = self._listing.hits(self._query, self._urls)
        also = [word.spelled for word in (*results.added, *results.related)]
        takes = arguments_of(ordering_type(self.job.strategy))
        return self.job.with_words(also) if also and "also" in takes else self.job.mode

    def join(self, frontier: Frontier, admits: Callable[[Link], bool]) -> None:
        """Takes what the best documents of the index lead to into the frontier; once more is no harm."""
        catalog = self._crawl_dir / "catalog.sqlite"
        self._exploring = Exploring(catalog, self._searcher, frontier, admits)
        self._generation = self._searcher.generation
        if not self._exploring.step(self._query) and not self.job.seeds and self._exploring.begin_anywhere():
            self._note = "the index has no answer: it begins with the pages that were crawled first"

    def tell(self, fetched: Sequence[Fetched]) -> None:
        """Documents that were fetched since the last time."""
        for one in fetched:
            self._urls.add(one.url)
            self.fetched += 1
            if one.is_example:
                self._examples.append(one.text)
                if not self.job.query:
                    self._query = typical_words(self._examples)
                    self._wanted = Wanted.of(self._query) if self._query else None
            self.similar += self._similarity(one.text) >= self.job.similarity

    def step(self) -> int:
        """The query is run again where the index knows more; returns how many documents became candidates."""
        assert self._exploring is not None, "it joins a frontier first"
        generation = self._searcher.generation
        if generation == self._generation or not self._query:
            return 0
        candidates = self._exploring.step(self._query)
        self._hits, _ = self._listing.hits(self._query, self._urls)
        self._generation = generation
        return candidates

    def has_seen_all(self) -> bool:
        """Does the index hold all that was fetched, and was it asked since?"""
        return not self._lag() and (not self._query or self._searcher.generation == self._generation)

    def is_enough(self) -> bool:
        return 0 < self.job.enough <= self.similar

    def is_stopped(self) -> bool:
        """Has somebody asked for the end, in whatever process?"""
        return self._writer.is_stopped()

    def end(self, reason: str) -> Journal:
        """The last list, when the index holds all that was found; `reason` is the crawl's."""
        deadline = time.monotonic() + CAUGHT_UP_SECONDS
        while self._lag() and time.monotonic() < deadline:
            time.sleep(0.05)
        if self._query:
            self._hits, _ = self._listing.hits(self._query, self._urls)
        told = REASONS.get(reason, reason if reason in OWN_REASONS else "failed")
        journal = self.journal("finished", told)
        self._writer.close()
        return journal

    def journal(self, state: str = "running", reason: str = "") -> Journal:
        """How things stand, written down."""
        now = time.time()
        journal = Journal(
            job=self.job.name,
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
            waiting=self.waiting,
            note=self._note,
            hits=self._hits,
        )
        self._writer.write(journal)
        return journal

    def _similarity(self, text: Text) -> float:
        return similarity(self._wanted, text) if self._wanted else 0.0

    def _lag(self) -> int:
        path = self._crawl_dir / "catalog.sqlite"
        return follower.lag(self._crawl_dir, self._engine) if path.exists() else 0
