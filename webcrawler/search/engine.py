"""From a query to page numbers, best first."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import Unavailable
from webcrawler.index import Finds, Live, Reading
from webcrawler.search.adjusted import Adjusted
from webcrawler.search.facets import Count, Facets
from webcrawler.search.masks import ENOUGH, FIELDS, PART, SHORT_FIELDS, Matched, all_words, match
from webcrawler.search.matches import Identifier, Matches, Part, typed
from webcrawler.search.opened import Opened
from webcrawler.search.rankings import make_ranking
from webcrawler.search.sections import best_sections
from webcrawler.search.spam import SPAM, stuffed
from webcrawler.search.uncrawled import CRAWLED, FEW, ask_for_uncrawled, below
from webcrawler.text import Lexicon, Reference, general, overlapping
from webcrawler.text.query import AnyOf, Node, Phrase, Query, QueryTerm

LANGUAGES = 20  # in which a query is analysed, those of the most pages
SKIPPING = 0.2  # of the pages: the function words of a language that has so many are skipped
TEXT = ("title", "body")
FOREIGN = 0.7  # by which the score of a page is multiplied that is in another language than the asker's,
PERHAPS_FOREIGN = 0.85  # and where the asker's is not known, in another than most pages
MAX_RANKED = 4_000  # pages that are put in order; nobody looks further
RELEVANCE, CHANGED = SORTS = ("relevance", "changed")  # what comes first


class Answer(NamedTuple):
    """Best first; of equal scores the lower page number."""

    total: int  # pages that satisfy the query
    pages: NDArray[np.int32]  # page numbers, maybe only the best of them
    scores: NDArray[np.float64]
    explain: Callable[[int], list[Part]]  # of a page number among them
    sections: Callable[[Sequence[int]], dict[int, list[int]]]  # of page numbers, as `best_sections`
    partial: bool = False  # the deadline cut the search short
    short: bool = False  # titles and anchors were enough: there are more than `total`
    terms: tuple[QueryTerm, ...] = ()  # for which prefixes of the query stand
    missing: tuple[str, ...] = ()  # words that no page has, as they were typed
    counts: Mapping[str, list[Count]] = {}  # by facet, where asked for
    servers: int = 0  # that have documents, in the whole collection; more than a thousand count as so many


class Engine:
    """For one thread."""

    def __init__(
        self,
        crawl_dir: Path,
        opened: Opened,
        reference: Reference | None,
        fresh_seconds: float = 0.0,
        finds: Finds | None = None,
    ) -> None:
        self._live = Live(crawl_dir, fresh_seconds, finds)
        self._opened, self._reference = opened, reference
        self._reading: Reading | None = None
        self._lexicon: tuple[Reading | None, Lexicon] = None, Lexicon()  # of a reading
        self._facets = Facets()

    @property
    def generation(self) -> object:
        """The generation of the newest commit that can be read; None where nothing is indexed.

        Raises:
            Unavailable: there is an index, and no commit of it can be read, or it is of another catalog.
        """
        self._reading = self._live.reading()
        if self._reading:
            catalog = self._opened.catalog
            if catalog is not None and catalog.identity != self._live.catalog:
                # page numbers of one catalog are other pages in another
                raise Unavailable("the index is of another catalog: `scrapy reindex` builds it anew")
        return self._reading.generation if self._reading else None

    @property
    def lexicon(self) -> Lexicon:
        """How the words of a query are looked up in the commit whose `generation` was read last."""
        reading = self._reading
        if reading is None:
            return Lexicon()
        if self._lexicon[0] is not reading:
            counts, enough = reading.languages, SKIPPING * reading.documents
            skipped = tuple(name for name, pages in counts.items() if pages >= enough) or ("en",)
            # a word that is not there is looked up in each field and segment: 1 ms in 16 languages
            holds = lru_cache(10_000)(partial(_is_known, reading))
            self._lexicon = reading, Lexicon(tuple(counts)[:LANGUAGES], skipped, holds)
        return self._lexicon[1]

    def answer(
        self,
        query: Query,
        ranking: str,
        late: Callable[[], bool],
        within: Sequence[Query] = (),
        sort: str = RELEVANCE,
        uncrawled: str = "",
        facets: bool = False,
        language: str = "",
    ) -> Answer:
        """Search the commit whose `generation` was read last.

        Args:
            late: tells whether the deadline has passed.
            within: queries that a page has to satisfy as well; they do not count for its score.
            sort: what comes first; the newest change where it is CHANGED, whatever the score.
            uncrawled: when pages that were never fetched are among the answer, `few` or `always`; then only
                those within the bounds of the crawl. "": always, and all.
            facets: count the matches by site, language and change.
            language: of the asker, ISO 639: pages that are known to be in another one come lower. "": that
                of more than half of the pages, if there is one.
        Raises:
            BadInput: there is no such ranking.
        """
        order, reading = make_ranking(ranking, self._general), self._reading
        assert reading is not None, "the generation says whether there is anything to search"
        enough = sys.maxsize if within else ENOUGH
        found, *others = (self._match(one.root, late, enough) for one in (query, *within))
        mask = np.logical_and.reduce([found.mask, *(other.mask for other in others)])
        pages = self._pages(mask, uncrawled == FEW and not ask_for_uncrawled((query, *within)))
        identifiers = [self._identifier(one, pages, late) for one in query.identifiers]
        terms = (*query.terms, *found.terms)
        words = {term: overlapping(term) for term in typed(terms)}
        overlaps = {term: some for term, some in words.items() if some and words.keys().isdisjoint(some)}
        matches = Matches(pages, reading, self._opened.ranks_of, identifiers, overlaps)
        adjusted = Adjusted(order.scores(terms, matches))
        spoken = language or reading.main_language
        factor = FOREIGN if language else PERHAPS_FOREIGN
        foreign = np.where(reading.foreign(spoken)[pages], factor, 1.0)
        adjusted.replace(
            "language", lambda place: f"another one than {spoken}: × {factor}", foreign * adjusted.scores
        )
        self._demote_spam(adjusted, terms, matches)
        if uncrawled == FEW:
            lower = below(adjusted.scores, reading.indexed[pages])
            adjusted.replace("never fetched", lambda place: "ranks below pages that were", lower)
        scores = adjusted.scores
        best = _best(pages, scores if sort == RELEVANCE else self._changed(pages), MAX_RANKED)
        shown = self._shown(pages[best]) if uncrawled else np.ones(len(best), np.bool_)
        visible = np.delete(pages, best[~shown])
        missing = (one.spelled for one in query.terms if not one.added and not _is_known(reading, one.term))

        def explain(page: int) -> list[Part]:
            place = int(np.searchsorted(pages, page))
            return [*order.explain(terms, matches, place), *adjusted.parts(place)]

        return Answer(
            len(visible),
            pages[best[shown]],
            scores[best[shown]],
            explain,
            lambda some: best_sections({term: matches.idf(term) for term in typed(terms)}, reading, some),
            any(one.partial for one in (found, *others)),
            found.short,
            found.terms,
            tuple(dict.fromkeys(missing)),
            self._facets.counts(visible, reading, self._opened.changed()) if facets else {},
            reading.few_servers,
        )

    def _demote_spam(self, adjusted: Adjusted, terms: Sequence[QueryTerm], matches: Matches) -> None:
        """Multiply the scores of stuffed pages by SPAM."""
        if SPAM == 1 or not (shares := stuffed(terms, matches)).any():
            return
        adjusted.replace(
            "stuffed",
            lambda place: f"{shares[place]:.0%} of its words are of the query: × {SPAM:g}",
            np.where(shares > 0, SPAM * adjusted.scores, adjusted.scores),
        )

    def _general(self) -> Reference:
        """Return how frequent words are in general, in the main language or in the collection itself."""
        reading = self._reading
        assert reading is not None
        if known := self._reference or general(reading.main_language if reading.languages else "en"):
            return known
        total = max(1.0, sum(float(reading.lengths(field).sum()) for field in TEXT))
        return Reference(
            [("", 1 / total)],
            lambda term: sum(float(reading.posted(field, term).counts.sum()) for field in TEXT) / total,
        )

    def _pages(self, mask: NDArray[np.bool_], rather_crawled: bool) -> NDArray[np.int32]:
        """Return the page numbers that this searcher may see; only of crawled ones where there are enough.

        Changes the mask.
        """
        assert self._reading is not None
        unseen = self._opened.unseen()
        mask[unseen[unseen < len(mask)]] = False
        crawled = mask & self._reading.indexed
        enough = rather_crawled and np.count_nonzero(crawled) >= CRAWLED
        return np.flatnonzero(crawled if enough else mask).astype(np.int32)

    def _shown(self, pages: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which pages are not uncrawled ones out of the crawl's bounds."""
        assert self._reading is not None
        shown = self._reading.indexed[pages]
        shown[~shown] = self._opened.may_be_shown(pages[~shown])
        return shown

    def together(self, query: Query, late: Callable[[], bool]) -> int:
        """Return how many pages have all words of the query, but for words that no page has; 0 for none."""
        reading = self._reading
        assert reading is not None, "the generation says whether there is anything to search"
        root = all_words(query.root, lambda word: _is_known(reading, word.term))
        found = self._match(root, late, sys.maxsize)
        return 0 if found.partial else len(self._pages(found.mask & reading.indexed, False))

    def _match(self, root: Node, late: Callable[[], bool], enough: int = ENOUGH) -> Matched:
        assert self._reading is not None
        return match(root, self._reading, self._opened.linking_to, late, enough, self._opened.changed)

    def _identifier(self, phrase: Phrase, pages: NDArray[np.int32], late: Callable[[], bool]) -> Identifier:
        named = AnyOf(tuple(replace(phrase, field=field) for field in SHORT_FIELDS))
        held, called = (self._match(root, late).mask[pages] for root in (phrase, named))
        return Identifier(" ".join(phrase.spelled), phrase.terms, held, called)

    def _changed(self, pages: NDArray[np.int32]) -> NDArray[np.float64]:
        """When they last changed; 0 where that is not known."""
        times = self._opened.changed()
        known = pages < len(times)
        return np.where(known, times[np.where(known, pages, 0)], 0.0) if len(times) else np.zeros(len(pages))


def _is_known(reading: Reading, term: str) -> bool:
    return any(reading.frequency(field, term) for field in (*FIELDS, PART))


def _best(pages: NDArray[np.int32], by: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the places of the `limit` pages with the highest values; sorts no more than it must."""
    kept = np.arange(len(by))
    if len(by) > limit:
        kept = np.flatnonzero(by >= np.partition(by, -limit)[-limit])
    return kept[np.lexsort((pages[kept], -by[kept]))[:limit]]
