"""Answers queries over one data folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic

from webcrawler.errors import BadInput
from webcrawler.index import Finds, follower
from webcrawler.search.corrected import Corrected, corrected
from webcrawler.search.display import PAGES, fold, hits, result_page, visible
from webcrawler.search.engine import RELEVANCE, SORTS, Answer, Engine
from webcrawler.search.matches import Part
from webcrawler.search.opened import Opened, readable
from webcrawler.search.rankings import DEFAULT
from webcrawler.search.related import added_terms, may_widen, related
from webcrawler.search.results import Related, Results
from webcrawler.search.snippets import Snippets
from webcrawler.search.uncrawled import FEW
from webcrawler.text import Reference
from webcrawler.text.query import Nothing, Query, expanded, other_reading, parse

MAX_HITS = 1000  # that can be looked through
MAX_EXPLAINED = 50  # of the hits of one answer, the first ones: it may take 25 ms a hit
DEADLINE_SECONDS = 1.0
_READING = 0.6  # share of the deadline for reading postings; the rest is for ranking and showing hits
_FEW = 10  # with fewer hits, the thesaurus adds words by itself


class Searcher:
    """Sees the newest commit with every search, also while a follower commits.

    A thread needs a searcher of its own.
    """

    def __init__(
        self,
        crawl_dir: Path,
        reference: Reference | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
        fresh_seconds: float = 0.0,
        job: str = "",
        finds: Finds | None = None,
    ) -> None:
        """
        Args:
            reference: how frequent words are in general; by default in the language of most pages, if that is
                known, else in the collection itself.
            deadline_seconds: what is read of the index by then gives a partial answer, and a note says so.
            fresh_seconds: how long a new commit may be missed; to look for one takes a millisecond.
            job: name of a search of the web; its finds are seen, those of others are not.
            finds: of that search, which the index need not have yet.
        """
        self._crawl_dir, self._deadline_seconds = crawl_dir, deadline_seconds
        self._opened = Opened(crawl_dir, job)
        self._engine = Engine(crawl_dir, self._opened, reference, fresh_seconds, finds)

    @property
    @readable()
    def generation(self) -> object:
        """Changes with index, ranks and vocabulary: answers may be cached while it is the same."""
        return self._engine.generation, self._opened.generation

    @property
    @readable()
    def last_fetch(self) -> int:
        """Ascends with the fetches, by which it may change what is said of a hit: when it was checked."""
        return self._opened.catalog.checks.last_seq() if self._opened.catalog else 0

    def check(self) -> None:
        """Open what searches read.

        Raises:
            Unavailable: the index or the catalog is there and cannot be read.
        """
        _ = self._engine.generation, self._opened.catalog

    @readable()
    def search(
        self,
        text: str,
        limit: int = 15,
        ranking: str = DEFAULT,
        start: int = 0,
        within: Sequence[str] = (),
        add: Sequence[str] = (),
        expand: bool = True,
        explain: bool = False,
        sort: str = RELEVANCE,
        exact: bool = False,
        facets: bool = False,
        language: str = "",
    ) -> Results:
        """Answer what a person typed; any text is a query. Ties go to the older page number.

        Args:
            within: earlier queries, as they were answered: only their hits count (SV, search within the
                results of a search).
            add: words to add to the query; they weigh less.
            expand: let the thesaurus add words where there are few hits.
            sort: `relevance`, or `changed`: what changed last comes first, whatever its relevance.
            exact: answer the query as typed, even if a word is misspelled beyond doubt.
            facets: count all matches by site, by language and by when they changed; takes 2 ms more,
                and the first time after a commit 40 µs a server.
            language: of the asker, ISO 639: pages that are known to be in another one come lower.
        Raises:
            BadInput: a limit, a start, a ranking or an order that cannot be.
            Unavailable: the index or the catalog is there and cannot be read.
        """
        if not 1 <= limit <= MAX_HITS or not 0 <= start < MAX_HITS:
            raise BadInput(f"hits {start + 1} to {start + limit} cannot be shown: ask for 1 to {MAX_HITS}")
        if sort not in SORTS:
            raise BadInput(f"no order {sort[:40]!r}: sort by {' or '.join(SORTS)}")
        is_indexed = self._engine.generation is not None
        typed = self._parsed(text)  # loads word frequencies, once: that is not to eat up the deadline
        started = monotonic()
        if not is_indexed:
            wider = expanded(typed, added_terms(add, self._engine.lexicon))
            asks, note = wider.root != Nothing(), self._not_indexed()
            return Results(typed.text, 0, monotonic() - started, [], note=note, asks=asks, indexed=False)
        better = self._corrected(typed, lambda: monotonic() >= started + self._deadline_seconds * _READING)
        instead = better.text if better.certain and not exact else ""
        ask = partial(
            self._ask,
            ranking=ranking,
            within=within,
            started=started,
            sort=sort,
            facets=facets,
            language=language,
        )
        query, answer, near, added = self._widened(instead or text, add, expand, ask)
        results = self._results(query, answer, started, start, limit, explain, sort)
        offered = better.text if not instead and better.text != typed.text else ""
        return replace(
            results,
            query=typed.text,
            added=added,
            related=near,
            corrected=instead,
            counts=answer.counts,
            did_you_mean=offered,
            other_reading=other_reading(query.text, query.dashed),
        )

    @readable()
    def served(self, text: str, ranking: str = DEFAULT, limit: int = 15, language: str = "") -> list[int]:
        """Return the page numbers of all result pages of `limit` hits in their order, for evaluation.

        They are those of `search`, to the last of MAX_HITS; there is no deadline, and nothing is shown.
        """
        if self._engine.generation is None:
            return []
        ask = partial(
            self._engine.answer,
            ranking=ranking,
            late=lambda: False,
            uncrawled=FEW,
            language=language,
        )
        better = self._corrected(self._parsed(text), lambda: False)
        _, answer, *_ = self._widened(better.text if better.certain else text, (), True, ask)
        kept = fold(visible(answer, self._opened, MAX_HITS), MAX_HITS)
        starts = range(0, len(kept), limit)
        return [hit.number for start in starts for hit in result_page(kept, start, limit, answer.servers)]

    @readable()
    def rank(self, text: str, ranking: str = DEFAULT, limit: int = MAX_HITS) -> list[tuple[int, float]]:
        """Return page numbers and scores for evaluation; nothing is hidden, folded or added."""
        if self._engine.generation is None:
            return []
        _, answer = self._read(text, (), lambda query: self._engine.answer(query, ranking, lambda: False))
        return list(zip(answer.pages[:limit].tolist(), answer.scores[:limit].tolist(), strict=True))

    @readable()
    def explain(
        self,
        text: str,
        number: int,
        ranking: str = DEFAULT,
        within: Sequence[str] = (),
        add: Sequence[str] = (),
        language: str = "",
    ) -> list[Part]:
        """Return the parts of one page's score; none where it does not answer the query.

        Words that the thesaurus added by itself have to be given in `add`, and a query that was answered
        instead as `text`. Raises as `search` does.
        """
        if self._engine.generation is None:
            return []
        started = monotonic()
        ask = partial(self._ask, ranking=ranking, within=within, started=started, language=language)
        _, answer = self._read(text, add, ask)
        return answer.explain(number) if number in answer.pages else []

    def suggest(self, text: str, limit: int = 8) -> list[str]:
        """Return whole queries that begin with what a person has typed so far."""
        vocabulary = self._opened.vocabulary
        return vocabulary.completions(text, limit) if vocabulary else []

    def _not_indexed(self) -> str:
        if self._opened.catalog and (behind := follower.lag(self._crawl_dir)):
            return f"the index is still being made, {behind:,} changes to go: `scrapy report` waits for it"
        return f"nothing is indexed in {self._crawl_dir} yet: `scrapy crawl index` fills it"

    def _widened(
        self, text: str, add: Sequence[str], expand: bool, ask: Callable[[Query], Answer]
    ) -> tuple[Query, Answer, list[Related], list[Related]]:
        """Return the query and its answer; for want of hits, related words, and those that were added."""
        query, answer = self._read(text, add, ask)
        near = related(query, self._opened.vocabulary)
        if expand and near and answer.total < _FEW and not answer.partial and may_widen(query.root):
            wider = expanded(query, added_terms([word.spelled for word in near], self._engine.lexicon))
            found = ask(wider)
            if not found.partial:
                return wider, found, [], near
        return query, answer, near if answer.total < _FEW else [], []

    def _read(self, text: str, add: Sequence[str], ask: Callable[[Query], Answer]) -> tuple[Query, Answer]:
        """Return the query and its answer; all in capitals and without a hit, its operators are words."""
        query = expanded(self._parsed(text), added_terms(add, self._engine.lexicon))
        answer = ask(query)
        if answer.total or answer.partial or not query.text.isupper() or query.root == Nothing():
            return query, answer
        words = expanded(self._parsed(text, capitals_are_words=True), added_terms(add, self._engine.lexicon))
        again = ask(words) if words.root != query.root else answer
        return (words, again) if again.total else (query, answer)

    def _parsed(self, text: str, capitals_are_words: bool = False) -> Query:
        return parse(text, capitals_are_words, self._engine.lexicon)

    def _ask(
        self,
        query: Query,
        ranking: str,
        within: Sequence[str],
        started: float,
        sort: str = RELEVANCE,
        facets: bool = False,
        language: str = "",
    ) -> Answer:
        last = started + self._deadline_seconds * _READING
        parsed = [self._parsed(other) for other in within]
        return self._engine.answer(
            query, ranking, lambda: monotonic() >= last, parsed, sort, FEW, facets, language
        )

    def _corrected(self, typed: Query, late: Callable[[], bool]) -> Corrected:
        together = partial(self._engine.together, late=late)
        return corrected(typed, self._opened.vocabulary, lambda other: together(self._parsed(other)))

    def _results(
        self, query: Query, answer: Answer, started: float, start: int, limit: int, explain: bool, sort: str
    ) -> Results:
        # As many as have to be arranged for this result page, and one more to know whether there are more.
        needed = (start // (PAGES * limit) + 1) * PAGES * limit + 1
        kept = fold(visible(answer, self._opened, min(needed, MAX_HITS)), needed)
        typed = [one.term for one in query.terms if not one.added]
        every = [one.term for one in (*query.terms, *answer.terms)]
        snippets = Snippets(typed, every, query.lexicon.languages)
        in_order = sort != RELEVANCE
        shown = kept[start : start + limit] if in_order else result_page(kept, start, limit, answer.servers)
        found = hits(shown, max((one.score for one in kept), default=0.0), snippets, self._opened, answer)
        return Results(
            query.text,
            answer.total if kept or start else 0,  # none of the few may be shown
            monotonic() - started,
            found,
            [answer.explain(hit.number) for hit in found[:MAX_EXPLAINED]] if explain else [],
            snippets,
            "; ".join(self._notes(query, answer)),
            start,
            more=start + limit < min(len(kept), MAX_HITS),
            partial=answer.partial,
            at_least=answer.short,
            asks=query.root != Nothing(),
        )

    def _notes(self, query: Query, answer: Answer) -> Iterator[str]:
        if query.capitals_are_words:
            yield "no page fits AND, OR, NOT as operators: in this query of capitals they were read as words"
        yield from query.notes
        for word in query.dashed[:3]:
            yield f"{word.spelled} was read as {'an option' if word.is_option else 'a word to leave out'}"
        if answer.missing and len(query.terms) > 1:
            yield f"no page has {', '.join(answer.missing[:5])}"
        if answer.partial:
            yield f"stopped after {self._deadline_seconds:g} s: there may be more"
