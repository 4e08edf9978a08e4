"""Asks search forms for the records behind them, to which no link leads (SV): which words, and when.

`Form` is one search form, and knows its queries among URLs. `Pages` has the words of a site, `Evidence` what
the queries of a form have brought; it chooses the next word, by the rule of `expected_new`. `Asker` hands
queries to the frontier as URLs, one when nothing else of their server waits, and `Forms` has it at work.
Which forms there are, what was asked and what that has brought is read from the catalog, so a crawl that was
killed goes on without asking anything twice.

Source: Ntoulas, Zerfos and Cho 2005, "Downloading Textual Hidden Web Content Through Keyword Queries": the
adaptive policy, for sites that show a limited number of results.
Departs from their estimates: records that many queries have brought are not like those that none has brought.
A word's share of the unseen records is that among the records seen, where one that n queries have brought
counts REPEATED^(n - 1): nearly the records that were brought once, by which Good 1953, "The Population
Frequencies of Species", estimates what is unseen.
"""

from __future__ import annotations

import asyncio
import logging
from array import array
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import parse_qsl, quote_plus

import numpy as np

from webcrawler import clock, urls
from webcrawler.archive.catalog import Catalog, Outlink
from webcrawler.connection import RedisError, attempt, is_passing
from webcrawler.crawl.run.rules import LinkRules
from webcrawler.frontier import Frontier, inspect
from webcrawler.records import FORM, FORM_AND_LINK, Link
from webcrawler.text import content, lower_case, telling_terms, words
from webcrawler.urls import outlink, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]


class Form(NamedTuple):
    """A search form that sends its words by GET. One program and one text field are one form."""

    blank: (
        str  # canonical URL of the query for nothing; it ends with the text field: "http://a.example/find?q="
    )
    program: str  # "http://a.example/find"
    field: str  # name of the text field

    @classmethod
    def read(cls, blank: str) -> Self | None:
        """The form that asks for this URL when nothing is typed in; None: its text field is not the last."""
        program, _, query = blank.partition("?")
        fields = parse_qsl(query, keep_blank_values=True)
        return cls(blank, program, fields[-1][0]) if fields and not fields[-1][1] else None

    @property
    def server(self) -> str:
        return split(self.program)[0]

    @property
    def key(self) -> tuple[str, str]:
        """What makes it this form: others may differ in hidden fields, as pages say where one comes from."""
        return self.program, self.field

    def query(self, word: str) -> Link:
        """The link to the first page of results for a word. Words are sent as UTF-8."""
        target = outlink(self.blank + quote_plus(word), self.blank)
        return Link(target.url, target.id, target.spelling, rel=FORM, refused=target.refused)

    def word_of(self, url: str) -> str | None:
        """The word for which a canonical URL shows results, on any page of them; None: it is no query."""
        program, mark, query = url.partition("?")
        if not mark or program != self.program:
            return None
        return dict(parse_qsl(query, keep_blank_values=True)).get(self.field)


REPEATED = 0.2
LATEST = 20  # queries by which the unseen records are estimated: early ones were of the most frequent words
FIRST_GUESS = 10  # unseen records to a seen one, while no query has brought anything twice


class Past(NamedTuple):
    """What queries have brought, in their order. What was seen before the first is not hidden."""

    results: Integers  # of each query, different ones
    hidden: Integers  # of them those that were not seen before the first query
    new: Integers  # of those, the ones that no earlier query had brought
    before: Integers  # how many hidden records were seen before each query


def past(queries: Integers, results: Integers) -> Past:
    """Tell new results from old ones, whatever order they are given in.

    Args:
        queries: of each result, the query that has brought it, by the number of its page.
        results: page numbers; 0 is none, for queries without results. Numbers grow in the order of discovery,
            so what a query has brought to light has a higher one than the query.
    """
    pairs = np.unique(np.column_stack((queries, results)), axis=0).reshape(-1, 2)
    names, query = np.unique(pairs[:, 0], return_inverse=True)
    record, count = pairs[:, 1], len(names)
    is_hidden = record > (names[0] if count else 0)
    first = np.zeros(len(record), bool)
    first[np.unique(record, return_index=True)[1]] = True  # pairs are in the order of their queries
    is_new = first & (record > pairs[:, 0])
    total, hidden, new = (
        np.bincount(query[which], minlength=count) for which in (record > 0, is_hidden, is_new)
    )
    return Past(total, hidden, new, np.cumsum(new) - new)


def unseen(told: Past) -> float:
    """Estimate how many records are still hidden, by how many results of the latest queries were known.

    Source: the method of capture and recapture (Lincoln and Petersen), each query being a catch.
    """
    hidden, new, before = (part[-LATEST:] for part in told[1:])
    seen, known = float(told.new.sum()), float((hidden - new).sum())
    if not known:
        return FIRST_GUESS * (seen + 1)
    return max(1.0, float((hidden * before).sum()) / known - seen)


def shown(told: Past) -> float:
    """The most results that the site shows of a query: the highest number, if it came twice; else any."""
    most = told.results.max(initial=0)
    return float(most) if most and (told.results == most).sum() > 1 else np.inf


def expected_new(
    rows: Integers, words: Integers, brought: Integers, hidden: float, most: float = np.inf, count: int = 0
) -> Floats:
    """Return for each word how many new records a query for it should bring.

    About 10 ns for each word of each page.

    Args:
        rows, words: one of each pair says that this page has this word.
        brought: by how many queries each page was brought.
        hidden: records that nobody has seen.
        most: results that the site shows of a query.
        count: of words; 0: up to the highest.
    """
    weights = REPEATED ** np.maximum(brought - 1, 0.0)
    frequency = np.bincount(words, minlength=count)
    share = np.bincount(words, weights=weights[rows], minlength=count) / max(weights.sum(), 1e-300)
    new = hidden * share
    return np.asarray(new * np.minimum(1.0, most / np.maximum(frequency + new, 1e-300)), np.float64)


PATIENCE = 20  # queries in a row that bring nothing new, after which a form is left alone
PAGES = 50_000  # whose words are remembered, about 400 bytes each
FRAME = 0.5  # a word on a larger share of the pages stands around their content, or says nothing
FEW = 20  # pages that cannot tell what stands around
LEAST_CHARACTERS = 2


class Pages:
    """The words of a site's pages, but those of results. May be told the same twice, and in any order."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}  # by page number
        self.words: dict[str, int] = {}
        self._of_rows, self._of_words = array("q"), array("q")

    def add(self, number: int, text: str, language: str = "") -> None:
        if number in self.rows or len(self.rows) == PAGES:
            return
        row = self.rows[number] = len(self.rows)
        for word in _telling(text, language):
            self._of_rows.append(row)
            self._of_words.append(self.words.setdefault(word, len(self.words)))

    @property
    def postings(self) -> tuple[Integers, Integers]:
        """Of each word on each page the page's row, and the word's number."""
        return np.array(self._of_rows, np.int64), np.array(self._of_words, np.int64)


class Evidence:
    """What each query of a form has brought, beside the words of its site. For one thread.

    May be told the same things twice, and in any order.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._results: dict[str, set[int]] = {}  # page numbers, by the word asked for
        self._numbers: dict[str, int] = {}  # of the first page that showed results for a word
        self._vain: set[str] = set()  # words whose queries brought no page
        self._in_a_row = 0  # of those, since a query brought one

    def add_results(self, number: int, word: str, results: Iterable[int]) -> None:
        """A page of results for a word, by page numbers."""
        self._in_a_row = 0
        self._results.setdefault(word, set()).update(results)
        self._numbers[word] = min(number, self._numbers.get(word, number))

    def add_vain(self, word: str, by_now: bool = True) -> None:
        """A word was asked for, now or by an earlier crawl, and there is no page of results."""
        self._vain.add(word)
        self._in_a_row += by_now

    @property
    def asked(self) -> int:
        """Different words."""
        return len(self._results.keys() | self._vain)

    @property
    def is_exhausted(self) -> bool:
        """Have the latest queries brought nothing new?"""
        new = self.past.new[-PATIENCE:]
        return self._in_a_row >= PATIENCE or (len(new) == PATIENCE and not new.any())

    def next_word(self) -> str:
        """The word that should bring the most new records, of those not asked for; "": there is none."""
        known, (rows, words), told = self._pages, self._pages.postings, self.past
        gains = expected_new(rows, words, self._brought(), unseen(told), shown(told), len(known.words))
        if len(known.rows) >= FEW:
            gains[np.bincount(words, minlength=len(gains)) > FRAME * len(known.rows)] = 0.0
        gains[[known.words[word] for word in self._results.keys() | self._vain if word in known.words]] = 0.0
        best = int(gains.argmax()) if len(gains) else 0
        return list(known.words)[best] if len(gains) and gains[best] > 0 else ""

    @property
    def past(self) -> Past:
        """What the queries have brought so far."""
        pairs = [(self._numbers[word], one) for word, found in self._results.items() for one in (*found, 0)]
        queries, results = np.array(pairs, np.int64).reshape(-1, 2).T
        return past(queries, results)

    def _brought(self) -> Integers:
        rows = self._pages.rows
        counts = np.zeros(len(rows), np.int64)
        for found in self._results.values():
            counts[[rows[number] for number in found if number in rows]] += 1
        return counts


def _telling(text: str, language: str) -> set[str]:
    """The different words of a text that say what it is about, in lower case."""
    spelled = words(text)
    terms = telling_terms(spelled, language)
    return {
        lower
        for word, term in zip(spelled, terms, strict=True)
        if term and len(lower := lower_case(word)) >= LEAST_CHARACTERS and lower.isalnum()
    }


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
                        await asyncio.wait_for(self._changed.wait(), clock.FORMS_POLL_SECONDS)
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
