"""From records back to what the batch once wrote: each fetch, and what the parsers say of its page."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from scrapy.settings import BaseSettings

from webcrawler import urls
from webcrawler.archive import broken, unread
from webcrawler.archive.pages import Record, record_at
from webcrawler.crawl import PARSED, redirect_target
from webcrawler.crawl.run import LinkRules, Sitemaps, parser_pool
from webcrawler.errors import BadUrl, ParserKilled, StoreAway, Unavailable, Unreadable
from webcrawler.job import Job, is_sitemap
from webcrawler.parsing import ParserPool, index_text, with_headers
from webcrawler.records import Entry, Fetch, Lease, Link, Page, Place, Sitemap

WINDOW = 64  # records at the parsers at a time
Parsing = Future[Page] | Future[Sitemap | None] | None  # None: there is nothing to be read
T = TypeVar("T")
LOST_BODY = "the bytes that it repeats are in no file"


class EntryReader:
    """Makes entries of fetches as spider and pipelines do, and keeps their order.

    Args:
        rules, sitemaps: judge the links, and what sitemaps name.
    """

    def __init__(self, parsers: ParserPool, rules: LinkRules, sitemaps: Sitemaps) -> None:
        self._parsers, self._rules, self._sitemaps = parsers, rules, sitemaps
        self.kinds = rules.kinds  # of documents that are read

    def entries(self, fetches: Iterable[Fetch]) -> Iterator[Entry]:
        """The entry of each fetch, in their order; the next ones are at the parsers meanwhile.

        Raises:
            Unavailable: the parsers were stopped from outside.
        """
        waiting: deque[tuple[Fetch, Parsing]] = deque()
        for fetch in fetches:
            waiting.append((fetch, self._begin(fetch)))
            if len(waiting) > WINDOW:
                yield self._end(*waiting.popleft())
        while waiting:
            yield self._end(*waiting.popleft())

    def stored(self, records: Iterable[Record], folder: Path) -> Iterator[tuple[Entry, Record]]:
        """The entries of our own records; those of which no URL can be made are left out.

        Args:
            folder: where the records stand, for bodies that others of them leave out.
        """
        sources: deque[Record] = deque()
        for entry in self.entries(self._fetches(records, folder, sources)):
            yield entry, sources.popleft()

    def _begin(self, fetch: Fetch) -> Parsing:
        """Hand a fetch to the parsers, if there is a page or a sitemap to be read."""
        if fetch.state != "done" or fetch.reason not in PARSED or fetch.status != 200:
            return None
        content_type = dict(fetch.headers).get("Content-Type", "")
        url, protocols = fetch.lease.spelling, self._rules.protocols
        if fetch.reason == "sitemap":
            return self._parsers.parse_sitemap(fetch.body, url, content_type, fetch.fetched, protocols)
        forms = self._rules.forms.match(fetch.lease.url)
        return self._parsers.parse(fetch.body, url, content_type, protocols, forms)

    def _end(self, fetch: Fetch, parsing: Parsing) -> Entry:
        try:
            found = parsing.result() if parsing else None
        except ParserKilled as error:
            return Entry(broken(fetch, str(error)), archive=True)
        except Unreadable as error:
            return Entry(unread(fetch, str(error)), archive=True)
        if isinstance(found, Page):
            return self._entry(fetch, with_headers(found, fetch.headers, self._parsers.robot))
        if fetch.reason == "sitemap" and parsing:
            return self._sitemaps.entry(fetch, found)
        return Entry(fetch, archive=True)

    def _fetches(self, records: Iterable[Record], folder: Path, sources: deque[Record]) -> Iterator[Fetch]:
        bodies: dict[bytes, Place] = {}
        for record in _in_turn(records, bodies):
            try:
                fetch = self._fetch(record, folder, bodies)
            except BadUrl:
                continue
            sources.append(record)
            yield fetch

    def _fetch(self, record: Record, folder: Path, bodies: dict[bytes, Place]) -> Fetch:
        token = record.token or token_at(record.fetched)
        lease = lease_of(record.response.url, token, record.tries, record.was, record.request)
        target = self.target(record.status, record.response.headers, lease)
        fetch = Fetch(
            lease,
            record.state,
            record.reason,
            record.fetched,
            record.seconds,
            record.status,
            tuple(record.response.headers),
            record.response.body,
            record.retry,
            target,
            record.error,
        )
        if record.kind == "revisit" and record.status == 200:
            return _with_body(fetch, folder, bodies.get(record.digest))
        return fetch

    def refusal(self, lease: Lease) -> str:
        """Why this URL would not be fetched today: protocol, domain, removed, scope …; "" where it would."""
        link = Link(lease.url, lease.id, lease.spelling, rel="import")
        if lease.url.partition(":")[0] not in self._rules.protocols:
            return "scheme"
        return self._rules.apply(link).refused

    def target(self, status: int, headers: Iterable[tuple[str, str]], lease: Lease) -> Link | None:
        """Where an answer with these headers leads."""
        location = next((value for name, value in headers if name.lower() == "location"), None)
        href = None if location is None else location.encode("latin-1", "replace")
        found = redirect_target(status, href, lease.spelling, self._rules.protocols)
        if found is None:
            return None
        judge = self._sitemaps.moved if is_sitemap(lease) else self._rules.apply_redirect
        return judge(lease, found)

    def _entry(self, fetch: Fetch, page: Page) -> Entry:
        """As the spider and the pipelines make it."""
        if fetch.reason == "probe":
            return Entry(fetch, text=index_text(page), simhash=page.simhash, archive=True)
        links = self._rules.apply_to_all(page.links)
        if page.nofollow:
            links = tuple(link._replace(rel="nofollow") for link in links)
        return Entry(
            fetch,
            hashlib.sha1(fetch.body, usedforsecurity=False).digest(),
            links=links,
            text=None if page.noindex else index_text(page),
            noindex=page.noindex,
            refused=page.refused,
            archive=True,
            simhash=page.simhash,
            canonical=self._rules.canonical_id(page),
        )


def _in_turn(records: Iterable[Record], bodies: dict[bytes, Place]) -> Iterator[Record]:
    """The records, and where bodies stand; those whose body is not known yet come last, as clocks err."""
    late: list[Record] = []
    for record in records:
        if record.kind == "response" and record.digest:
            bodies.setdefault(record.digest, record.place)
        if record.kind == "revisit" and record.status == 200 and record.digest not in bodies:
            late.append(record)
        else:
            yield record
    yield from late


@contextmanager
def entry_reader(settings: BaseSettings) -> Iterator[EntryReader]:
    """A reader with parsers on all cores, and the rules of its crawls."""
    job = Job()
    rules = LinkRules.from_settings(settings, job)
    parsers = parser_pool(settings, spare=0)
    try:
        yield EntryReader(parsers, rules, Sitemaps.from_settings(settings, job, rules))
    finally:
        parsers.kill()


def in_batches(things: Iterator[T], most: int) -> Iterator[list[T]]:
    while some := list(islice(things, most)):
        yield some


def token_at(fetched: float) -> int:
    """That of a lease given at this time, for fetches whose lease is not known: tokens follow the clock."""
    return int(fetched * 1_000_000)


def lease_of(url: str, token: int = 0, tries: int = 0, was: str = "", request: str = "") -> Lease:
    """Raises BadUrl: it is no URL.

    Args:
        url: as it was fetched.
    """
    found = urls.outlink(url, url)
    server = urls.server(found.url)
    return Lease(found.id, found.url, found.spelling, server, token, tries, request, was=was)


def lost_record(url: str, fetched: float) -> Fetch:
    """A fetch of which nothing but its time is known any more, to be made again."""
    lease = lease_of(url, token_at(fetched))
    return broken(Fetch(lease, "failed", "", fetched), "its record is lost")


def _with_body(fetch: Fetch, folder: Path, place: Place | None) -> Fetch:
    try:
        return (
            replace(fetch, body=record_at(folder, place).response.body) if place else broken(fetch, LOST_BODY)
        )
    except StoreAway:
        raise
    except Unavailable as error:
        return broken(fetch, str(error))
