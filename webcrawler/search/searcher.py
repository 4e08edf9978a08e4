"""Answers queries over one data folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic

from webcrawler.errors import BadInput
from webcrawler.search import display
from webcrawler.search.engine import Answer, Engine
from webcrawler.search.fold import PAGES, Ranked, fold, result_page
from webcrawler.search.matches import Part
from webcrawler.search.opened import Opened, readable
from webcrawler.search.rankings import DEFAULT
from webcrawler.search.results import Related, Results
from webcrawler.search.snippets import Snippets
from webcrawler.search.thesaurus import asked_for, may_widen, related
from webcrawler.text import Reference, english
from webcrawler.text.query import Nothing, Query, expanded, parse

MAX_HITS = 1000  # that can be looked through
MAX_EXPLAINED = 50  # of the hits of one answer, the first ones: it may take 25 ms a hit
DEADLINE_SECONDS = 1.0
_READING = 0.6  # share of the deadline for postings; the rest is for weighing and showing what was read
_FEW = 10  # with fewer hits the thesaurus adds words of its own accord


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
    ) -> None:
        """What is read of the index by the deadline gives a partial answer, and a note says so.

        `fresh_seconds`: how long a new commit may be overlooked; to look for one costs a millisecond.
        """
        self._crawl_dir, self._deadline_seconds = crawl_dir, deadline_seconds
        self._opened = Opened(crawl_dir)
        self._engine = Engine(crawl_dir, self._opened, reference or english(), fresh_seconds)

    @property
    @readable()
    def generation(self) -> object:
        """Of index, ranks and vocabulary: an answer is kept while it is the same, until the next commit."""
        return self._engine.generation, self._opened.generation

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
    ) -> Results:
        """Answer what a person typed; any text is a query. Ties go to the older page number.

        Args:
            within: earlier queries: only their hits count (SV, search within the results of a search).
            add: words to add to the query; they weigh less.
            expand: let the thesaurus add words where there are few hits.
        Raises:
            BadInput: a limit, a start or a ranking that cannot be.
            Unavailable: the index or the catalog is there and cannot be read.
        """
        started = monotonic()
        if not 1 <= limit <= MAX_HITS or not 0 <= start < MAX_HITS:
            raise BadInput(f"hits {start + 1} to {start + limit} cannot be shown: ask for 1 to {MAX_HITS}")
        if self._engine.generation is None:
            query = expanded(parse(text), asked_for(add))
            note = f"nothing is indexed in {self._crawl_dir} yet: `scrapy crawl index` fills it"
            seconds = monotonic() - started
            return Results(query.text, 0, seconds, [], note=note, asks=_asks(query), indexed=False)
        query, answer = self._read(text, add, lambda query: self._ask(query, ranking, within, started))
        added = list[Related]()
        near = related(query, self._opened.vocabulary)
        if expand and near and answer.total < _FEW and not answer.partial and may_widen(query.root):
            wider = expanded(query, asked_for([word.spelled for word in near]))
            found = self._ask(wider, ranking, within, started)
            if not found.partial:
                query, answer, added, near = wider, found, near, []
        return self._results(query, answer, started, start, limit, explain, added=added, related=near)

    @readable()
    def rank(self, text: str, ranking: str = DEFAULT, limit: int = MAX_HITS) -> list[tuple[int, float]]:
        """Page numbers and scores, nothing hidden, folded or added: for evaluation."""
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
    ) -> list[Part]:
        """The parts of one page's score; none where it does not answer the query.

        What the thesaurus added of its own accord has to be given in `add`. Raises as `search`.
        """
        if self._engine.generation is None:
            return []
        started = monotonic()
        _, answer = self._read(text, add, lambda query: self._ask(query, ranking, within, started))
        return answer.explain(number) if number in answer.pages else []

    def suggest(self, text: str, limit: int = 8) -> list[str]:
        """Whole queries that begin with what somebody has typed so far."""
        vocabulary = self._opened.vocabulary
        return vocabulary.completions(text, limit) if vocabulary else []

    def _read(self, text: str, add: Sequence[str], ask: Callable[[Query], Answer]) -> tuple[Query, Answer]:
        """Return the query and its answer; all in capitals and without a hit, its operators are words."""
        query = expanded(parse(text), asked_for(add))
        answer = ask(query)
        if answer.total or answer.partial or not query.text.isupper() or query.root == Nothing():
            return query, answer
        words = expanded(parse(text, capitals_are_words=True), asked_for(add))
        again = ask(words) if words.root != query.root else answer
        return (words, again) if again.total else (query, answer)

    def _ask(self, query: Query, ranking: str, within: Sequence[str], started: float) -> Answer:
        return self._engine.answer(query, ranking, self._late(started), [parse(other) for other in within])

    def _late(self, started: float) -> Callable[[], bool]:
        last = started + self._deadline_seconds * _READING
        return lambda: monotonic() >= last

    def _results(
        self,
        query: Query,
        answer: Answer,
        started: float,
        start: int,
        limit: int,
        explain: bool,
        added: list[Related],
        related: list[Related],
    ) -> Results:
        kept = self._kept(answer, start, limit)
        shown = result_page(kept, start, limit)
        typed = [one.term for one in query.terms if not one.added]
        snippets = Snippets(typed, [one.term for one in (*query.terms, *answer.terms)])
        hits = display.hits(shown, kept[0].score if kept else 0.0, snippets, self._opened)
        total = answer.total if kept or start else 0  # none of the few may be shown
        return Results(
            query.text,
            total,
            monotonic() - started,
            hits,
            [answer.explain(hit.number) for hit in hits[:MAX_EXPLAINED]] if explain else [],
            snippets,
            "; ".join(self._notes(query, answer)),
            start,
            start + limit < min(len(kept), MAX_HITS),
            answer.partial,
            answer.short,
            _asks(query),
            self._did_you_mean(query),
            added,
            related,
        )

    def _kept(self, answer: Answer, start: int, limit: int) -> list[Ranked]:
        """As many as have to be arranged for this result page, and one more where there are more."""
        needed = (start // (PAGES * limit) + 1) * PAGES * limit + 1
        return fold(display.visible(answer, self._opened, min(needed, MAX_HITS)), needed)

    def _notes(self, query: Query, answer: Answer) -> list[str]:
        late = f"stopped after {self._deadline_seconds:g} s: there may be more"
        capitals = "no page fits AND, OR, NOT as operators: in this query of capitals they were read as words"
        missing = f"no page has {', '.join(answer.missing[:5])}"
        return [
            *([capitals] if query.capitals_are_words else []),
            *query.notes,
            *([missing] if answer.missing and len(query.terms) > 1 else []),
            *([late] if answer.partial else []),
        ]

    def _did_you_mean(self, query: Query) -> str:
        """The query with better known spellings, as the vocabulary has them."""
        vocabulary, text = self._opened.vocabulary, query.text
        for one in query.terms if vocabulary else ():
            better = vocabulary.correction(one.spelled) if vocabulary and not one.added else ""
            if better:
                typed = rf"(?<![\w.:/-]){re.escape(one.spelled)}(?![\w:/]|[.]\w)"  # not in site:, -word
                text = re.sub(typed, better, text, flags=re.IGNORECASE)
        return text if text != query.text else ""


def _asks(query: Query) -> bool:
    return not isinstance(query.root, Nothing)


__all__ = ["DEADLINE_SECONDS", "MAX_HITS", "Results", "Searcher"]
