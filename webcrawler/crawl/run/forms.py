"""Asks search forms for the records behind them, one word when nothing else of their server waits.

A query is a URL as any other: the frontier has it fetched, and results are pages whose links are followed.
Which forms there are, what was asked and what that has brought is read from the catalog, so a crawl that was
killed goes on without asking anything twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, suppress

from webcrawler import pace, urls
from webcrawler.archive.catalog import Catalog, Outlink
from webcrawler.connection import RedisError, attempt, is_passing
from webcrawler.crawl.run.rules import LinkRules
from webcrawler.forms import Evidence, Form, Pages
from webcrawler.frontier import Frontier, inspect
from webcrawler.records import FORM, FORM_AND_LINK, Link
from webcrawler.text import content

logger = logging.getLogger(__name__)
OF_FORMS = FORM, FORM_AND_LINK
PAUSE_SECONDS = 0.05  # between two looks, so that each sees several pages
NUMBERS = 1000  # pages read at a time


class Site:
    """A registrable domain: its pages, and its forms in the order in which they were found."""

    def __init__(self) -> None:
        self.pages = Pages()
        self.forms: dict[Form, Evidence] = {}
        self.keys: set[tuple[str, str]] = set()
        self.over: set[Form] = set()
        self.has_news = False

    @property
    def left(self) -> list[Form]:
        """The forms that may be asked for more."""
        return [form for form in self.forms if form not in self.over]

    @property
    def asked(self) -> int:
        return sum(evidence.asked for evidence in self.forms.values())


class Asker:
    """Chooses queries and hands them to the frontier. Blocks: for a thread of its own.

    Args:
        most, site_most: words asked of one form, and of all forms of a site, in all runs together.
    """

    def __init__(
        self, catalog: Catalog, frontier: Frontier, rules: LinkRules, most: int, site_most: int
    ) -> None:
        self._catalog, self._frontier, self._rules = catalog, frontier, rules
        self._most, self._site_most = most, site_most
        self._sites: defaultdict[str, Site] = defaultdict(Site)
        self.seq = 0  # the last change of the catalog that was read
        self._sent: set[int] = set()  # URL ids of queries

    def ask(self) -> bool:
        """Asks a word of each form whose server has nothing else to do; returns whether there may be more."""
        servers = {form.server for site in self._sites.values() for form in site.left}
        # Before the catalog is read: what had nothing to do by then has brought all that it was asked for.
        idle = {server for server in servers if not inspect.waiting(self._frontier, server)}
        self._read()
        more = [self._ask_site(site, idle) for site in self._sites.values()]
        return any(more)

    # ---- what the catalog says

    def _read(self) -> None:
        """Takes in what has been fetched since the last time."""
        last = self._catalog.last_seq()
        numbers = self._catalog.changed(self.seq, last).tolist() if last > self.seq else []
        for chosen in self._chosen(numbers):  # first, as pages are told from pages of results by them
            for links in self._catalog.links.followed(list(chosen)).values():
                self._find_forms(links)
        for chosen in self._chosen(numbers):
            self._read_pages(chosen)
        self.seq = last

    def _chosen(self, numbers: Sequence[int]) -> Iterator[dict[int, str]]:
        """Those of the chosen sites, some at a time: URLs by page number."""
        for start in range(0, len(numbers), NUMBERS):
            found = self._catalog.urls.of(numbers[start : start + NUMBERS])
            yield {number: url for number, url in found.items() if self._rules.forms.match(url)}

    def _find_forms(self, links: Sequence[Outlink]) -> None:
        for link in links:
            if link.rel in OF_FORMS and self._rules.forms.match(link.url) and (form := Form.read(link.url)):
                site = self._sites[_site_of(link.url)]
                if form.key not in site.keys:
                    logger.info("a search form: %s", form.blank)
                    site.keys.add(form.key)
                    site.forms[form] = Evidence(site.pages)
                    site.has_news = True

    def _read_pages(self, chosen: dict[int, str]) -> None:
        texts, links = self._catalog.texts(list(chosen)), self._catalog.links.followed(list(chosen))
        for number, url in chosen.items():
            site = self._sites[_site_of(url)]
            site.has_news = True
            words = {form: form.word_of(url) for form in site.forms}
            for form, word in words.items():
                if word:
                    site.forms[form].add_results(number, word.lower(), _results(form, links[number]))
            if (text := texts.get(number)) and all(word is None for word in words.values()):
                said = f"{text.title}\n{content.outside(text.body, text.around)}"
                site.pages.add(number, said, text.language)

    # ---- what is asked

    def _ask_site(self, site: Site, idle: Container[str]) -> bool:
        """One query at a time for each server, so that it is known what each has brought."""
        is_waiting, busy = False, set[str]()
        for form in site.left:
            if form.server not in idle:
                is_waiting = True
            elif site.has_news and form.server not in busy and self._ask_form(site, form):
                busy.add(form.server)
        site.has_news = is_waiting or bool(busy)
        return site.has_news

    def _ask_form(self, site: Site, form: Form) -> bool:
        """Asks the best word that was not asked yet; returns whether there was one."""
        evidence = site.forms[form]
        while evidence.asked < self._most and site.asked < self._site_most and not evidence.is_exhausted:
            if not (word := evidence.next_word()):
                return False  # pages that come later may have one
            link = self._rules.apply(form.query(word))
            was_sent = link.id in self._sent
            is_known = bool(link.refused) or self._catalog.fetches.last(link.url) is not None
            if not is_known and self._send(link):
                return True
            evidence.add_vain(word, by_now=was_sent or not is_known or bool(link.refused))
        site.over.add(form)
        new = int(evidence.past.new.sum())
        logger.info("asked %s for %d words: %d new URLs", form.program, evidence.asked, new)
        return False

    def _send(self, link: Link) -> bool:
        """Hands a query to the frontier; False: that has refused it."""
        is_new = bool(self._frontier.discover([link]))
        if is_new:
            self._sent.add(link.id)
        return is_new

    @property
    def queries(self) -> int:
        """How many were sent in this run."""
        return len(self._sent)


class Forms:
    """Has an `Asker` at work beside a crawl. For the event loop.

    Args:
        opened: what the asker uses; closed when it has ended.
        may_ask: are more pages wanted now?
        revive: as for `retry`.
        asked: called after each look with the number of new queries.
        failed: called with the error that has ended the asking.
    """

    def __init__(
        self,
        asker: Asker,
        opened: ExitStack,
        may_ask: Callable[[], bool],
        revive: Callable[[], object],
        asked: Callable[[int], object],
        failed: Callable[[Exception], object],
    ) -> None:
        self._asker, self._opened, self._may_ask = asker, opened, may_ask
        self._revive, self._asked, self._failed = revive, asked, failed
        self._changed = asyncio.Event()
        self._is_closed = False
        self.is_expecting = True  # something may be asked yet
        self._task = asyncio.ensure_future(self._run())

    def settled(self) -> None:
        """Pages were decided: there may be nothing left to wait for."""
        self.is_expecting = True
        self._changed.set()

    def seen_empty(self, seq: int) -> None:
        """The frontier was empty when the catalog's last change was this: another agent may have made it."""
        if seq > self._asker.seq and self._may_ask():
            self.settled()

    async def close(self) -> None:
        self._is_closed = True
        self._changed.set()
        await self._task

    async def _run(self) -> None:
        try:
            with self._opened:
                while not self._is_closed:
                    self._changed.clear()
                    await self._look()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._changed.wait(), pace.FORMS_POLL_SECONDS)
                    await asyncio.sleep(PAUSE_SECONDS)
        except Exception as error:
            logger.critical("cannot ask search forms", exc_info=True)
            self._failed(error)
        finally:
            self.is_expecting = False

    async def _look(self) -> None:
        before, has_more = self._asker.queries, False
        if self._may_ask():
            try:
                has_more = await asyncio.to_thread(self._asker.ask)
            except RedisError as error:
                if not is_passing(error):
                    raise
                logger.warning("no search form was asked, trying again: %s", error)
                await asyncio.to_thread(attempt, self._revive)
                has_more = True
        self.is_expecting = has_more or self._changed.is_set()
        self._asked(self._asker.queries - before)


def _site_of(url: str) -> str:
    return urls.registrable_domain(urls.server(url))


def _results(form: Form, links: Sequence[Outlink]) -> list[int]:
    """The page numbers of what a page of results leads to on its site, without further results."""
    site = _site_of(form.program)
    return [
        link.target
        for link in links
        if link.rel not in OF_FORMS and form.word_of(link.url) is None and _site_of(link.url) == site
    ]
