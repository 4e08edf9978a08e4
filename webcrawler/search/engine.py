"""From a query to page numbers, best first.

Whatever ranking is asked, pages are lowered, and none is left out: for their language, for being stuffed with
the words of the query, and for never having been fetched.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Reading
from webcrawler.search.masks import ENOUGH, FIELDS, PART, SHORT_FIELDS, Matched, all_words, match
from webcrawler.search.matches import Factor, Floats, Identifier, Matches, Part, typed
from webcrawler.search.rankings import DEFAULT, make_ranking
from webcrawler.search.results import Count, Labels, Related
from webcrawler.search.sections import best_sections
from webcrawler.search.shown import Pages
from webcrawler.text import Lexicon, Reference, general, overlapping
from webcrawler.text.query import Query, QueryTerm, nodes, parse

LANGUAGES = 20  # in which a query is analysed, those of the most pages
SKIPPING = 0.2  # of the pages: the function words of a language that has so many are skipped
TEXT = ("title", "body")
MAX_RANKED = 4_000  # pages that are put in order; nobody looks further
CRAWLED = 10  # hits that were fetched; where there are as many, nobody misses pages that never were
FOREIGN = 0.7  # by which the score of a page is multiplied that is in another language than the asker's,
PERHAPS_FOREIGN = 0.85  # and where the asker's is not known, in another than most pages
SPAM = 0.5  # by which the score of a stuffed page is multiplied: marks can be wrong
STUFFED_WORDS = 100  # of a text that can be stuffed: short ones name their subject often
# Share of a text that the MOST words of the query which it has most make up, from which on it is stuffed. On
# docweb, no three words make up more than .64 of a page: explanation/ranking.md.
STUFFED, MOST = 2 / 3, 3
RELEVANCE, CHANGED = SORTS = ("relevance", "changed")  # what comes first


class Question(NamedTuple):
    """What a person asks."""

    text: str  # any text is a query
    limit: int = 15  # hits
    ranking: str = DEFAULT
    start: int = 0  # hits before these
    within: Sequence[str] = ()  # earlier queries, as they were answered: only their hits count (SV)
    add: Sequence[str] = ()  # words to add to the query; they weigh less
    expand: bool = True  # let the thesaurus add words where there are few hits
    explain: bool = False  # each hit
    sort: str = RELEVANCE  # or CHANGED: what changed last comes first, whatever its relevance
    exact: bool = False  # answer the query as typed, even if a word is misspelled beyond doubt
    facets: bool = False  # count all matches by site, by language and by when they changed: 2 ms more
    language: str = ""  # of the asker, ISO 639: pages that are known to be in another one come lower


class Answer(NamedTuple):
    """Best first; of equal scores the lower page number."""

    query: Query  # as it was read
    total: int  # pages that satisfy it
    pages: NDArray[np.int32]  # page numbers, maybe only the best of them
    scores: NDArray[np.float64]
    explain: Callable[[Sequence[int]], list[list[Part]]]  # of page numbers among them
    sections: Callable[[Sequence[int]], dict[int, list[int]]]  # of page numbers, as `best_sections`
    shown: Pages  # what is shown of them
    partial: bool  # the deadline cut the search short
    short: bool  # titles and anchors were enough: there are more than `total`
    terms: tuple[QueryTerm, ...]  # for which prefixes of the query stand
    missing: tuple[str, ...]  # words that no page has, as they were typed
    counts: Mapping[str, list[Count]]  # by facet, where asked for
    servers: int  # that have documents, in the whole collection; more than a thousand count as so many
    added: Sequence[Related] = ()  # by the thesaurus
    related: Sequence[Related] = ()  # that might be added


class Beside(Protocol):
    """What an engine asks for beside the index, by page number."""

    @property
    def shown(self) -> Pages: ...

    def ranks_of(self, numbers: NDArray[np.int32]) -> Floats:
        """Return stored PageRank, mean 1."""

    def unseen(self) -> NDArray[np.int64]:
        """Return the numbers of the pages that this searcher may not see, ascending."""

    def changed(self) -> Floats:
        """Return when each page last changed, 0 where that is not known."""

    def may_be_shown(self, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which pages, never fetched, may be shown."""

    def linking_to(self, url: str) -> NDArray[np.int64]:
        """Return the numbers of the pages that link to a canonical URL."""


class Engine:
    """Answers queries by one commit of the index; for one thread."""

    def __init__(self, reading: Reading, opened: Beside, reference: Reference | None) -> None:
        self.reading = reading
        self._opened, self._reference = opened, reference

    @cached_property
    def lexicon(self) -> Lexicon:
        """How the words of a query are looked up."""
        # a word that is not there is looked up in each field and segment: 1 ms in 16 languages
        holds = lru_cache(10_000)(partial(_holds, self.reading))
        return lexicon_of(self.reading.languages, self.reading.documents, holds)

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.reading)

    def answer(
        self, query: Query, question: Question, late: Callable[[], bool], shown: bool = True
    ) -> Answer:
        """Find the pages, score, adjust and sort them.

        Args:
            query: that of the question, or one in its place.
            late: tells whether the deadline has passed.
            shown: pages that were never fetched come last, and only those within the bounds of the crawl.
        Raises:
            BadInput: there is no such ranking.
        """
        rank, reading = make_ranking(question.ranking, self._general), self.reading
        queries = query, *(parse(text, lexicon=self.lexicon) for text in question.within)
        found, *others = self.found(queries, late)
        mask = np.logical_and.reduce([found.mask, *(other.mask for other in others)])
        leaves = (leaf for one in queries for leaf, wanted in nodes.leaves(one.root) if wanted)
        pages = self._pages(mask, shown and nodes.Is("uncrawled") not in leaves)
        terms = (*query.terms, *found.terms)
        words = {term: overlapping(term) for term in typed(terms)}
        matches = Matches(
            pages,
            reading,
            self._opened.ranks_of,
            [self._identifier(one, pages, late) for one in query.identifiers],
            {term: some for term, some in words.items() if some and words.keys().isdisjoint(some)},
        )
        scores = rank(terms, matches)
        scores.add([foreign(scores.values, matches, reading, question.language)])
        scores.add([spam(scores.values, matches, terms)])
        if shown:
            lowered = below(scores.values, reading.indexed[pages]) - scores.values
            scores.add([Factor("never fetched", "ranks below pages that were", lowered)])
        by = self._changed(pages) if question.sort == CHANGED else scores.values
        best = _best(pages, by, MAX_RANKED)
        visible = reading.indexed[pages[best]] if shown else np.ones(len(best), np.bool_)
        visible[~visible] = self._opened.may_be_shown(pages[best[~visible]])
        all_visible = np.delete(pages, best[~visible])
        missing = (one.spelled for one in query.terms if not one.added and not self.lexicon.holds(one.term))
        return Answer(
            query,
            len(all_visible),
            pages[best[visible]],
            scores.values[best[visible]],
            lambda some: scores.parts(np.searchsorted(pages, some).tolist()),
            lambda some: best_sections({term: matches.idf(term) for term in words}, reading, some),
            self._opened.shown,
            any(one.partial for one in (found, *others)),
            found.short,
            found.terms,
            tuple(dict.fromkeys(missing)),
            self._labels.counts(all_visible, self._opened.changed()) if question.facets else {},
            reading.few_servers,
        )

    def found(self, queries: Sequence[Query], late: Callable[[], bool]) -> list[Matched]:
        """Return the pages of each of several queries."""
        enough = sys.maxsize if queries[1:] else ENOUGH
        return [self._match(one.root, late, enough) for one in queries]

    def together(self, query: Query, late: Callable[[], bool]) -> int:
        """Return how many pages have all words of the query, but for words that no page has; 0 for none."""
        root = all_words(query.root, lambda word: self.lexicon.holds(word.term))
        found = self._match(root, late, sys.maxsize)
        return 0 if found.partial else len(self._pages(found.mask & self.reading.indexed, False))

    def _general(self) -> Reference:
        """Return how frequent words are in general, in the main language or in the collection itself."""
        reading = self.reading
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
        unseen = self._opened.unseen()
        mask[unseen[unseen < len(mask)]] = False
        crawled = mask & self.reading.indexed
        enough = rather_crawled and np.count_nonzero(crawled) >= CRAWLED
        return np.flatnonzero(crawled if enough else mask).astype(np.int32)

    def _match(self, root: nodes.Node, late: Callable[[], bool], enough: int = ENOUGH) -> Matched:
        return match(root, self.reading, self._opened.linking_to, late, enough, self._opened.changed)

    def _identifier(
        self, phrase: nodes.Phrase, pages: NDArray[np.int32], late: Callable[[], bool]
    ) -> Identifier:
        named = nodes.AnyOf(tuple(replace(phrase, field=field) for field in SHORT_FIELDS))
        held, called = (self._match(root, late).mask[pages] for root in (phrase, named))
        return Identifier(" ".join(phrase.spelled), phrase.terms, held, called)

    def _changed(self, pages: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return when the pages last changed; 0 where that is not known."""
        times = self._opened.changed()
        found = np.zeros(len(pages))
        known = pages < len(times)
        found[known] = times[pages[known]]
        return found


def lexicon_of(languages: Mapping[str, int], documents: int, holds: Callable[[str], bool]) -> Lexicon:
    """Return how the words of a query are looked up in a collection.

    Args:
        languages: how many of the documents are in each, the most first.
        holds: tells whether any page has a term.
    """
    skipped = tuple(name for name, pages in languages.items() if pages >= SKIPPING * documents) or ("en",)
    return Lexicon(tuple(languages)[:LANGUAGES], skipped, holds)


def _best(pages: NDArray[np.int32], by: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the places of the `limit` pages with the highest values; sorts no more than it must."""
    kept = np.arange(len(by))
    if len(by) > limit:
        kept = np.flatnonzero(by >= np.partition(by, -limit)[-limit])
    return kept[np.lexsort((pages[kept], -by[kept]))[:limit]]


def foreign(scores: Floats, matches: Matches, reading: Reading, language: str) -> Factor:
    """Lower pages in another language than the asker's, ISO 639, or, where it is "", than that of most."""
    spoken, factor = language or reading.main_language, FOREIGN if language else PERHAPS_FOREIGN
    worth = np.where(reading.foreign(spoken)[matches.pages], (factor - 1) * scores, 0.0)
    return Factor("language", f"another one than {spoken}: × {factor}", worth)


def spam(scores: Floats, matches: Matches, terms: Sequence[QueryTerm]) -> Factor:
    """Lower stuffed pages."""
    shares, factor = stuffed(terms, matches), SPAM
    return Factor(
        "stuffed",
        lambda place: f"{shares[place]:.0%} of its words are of the query: × {factor:g}",
        np.where(shares > 0, (factor - 1) * scores, 0.0),
    )


def stuffed(terms: Sequence[QueryTerm], matches: Matches) -> Floats:
    """Return which share of each matching page's text words of the query are; 0 below STUFFED.

    What a page repeats is told at the query, so that nothing has to be stored; words that only fill a page do
    no harm until they are asked for. Words of general language count as little as they say.

    Source: Ntoulas, Najork, Manasse, Fetterly 2006, "Detecting Spam Web Pages through Content Analysis", 4;
    there it is the share of words that are frequent everywhere, here of those of the query.
    Weakness: a text of copied sentences with the words put in between is below the share.
    """
    says = {one.term: one.telling for one in terms}
    lengths = np.maximum(matches.lengths("body").astype(np.float64), 1)
    words = list(dict.fromkeys(typed(terms)))
    if not words:
        return np.zeros(len(lengths))
    each = np.sort([says[word] * matches.counts("body", word) / lengths for word in words], axis=0)
    shares = each[-MOST:].sum(axis=0)
    return np.where((lengths >= STUFFED_WORDS) & (shares >= STUFFED), np.minimum(shares, 1.0), 0.0)


def below(scores: Floats, crawled: NDArray[np.bool_]) -> Floats:
    """Return the scores with those of uncrawled pages at most half of that of any crawled one."""
    if crawled.all() or not crawled.any():
        return scores
    most = max(float(scores[~crawled].max()), 0.0)
    floor = max(float(scores[crawled].min()), 0.0) / 2
    return np.where(crawled, scores, scores * floor / most) if most > floor else scores


def _holds(reading: Reading, term: str) -> bool:
    return any(reading.frequency(field, term) for field in (*FIELDS, PART))
