"""From a question to results: corrections, the answer of an engine, what is shown of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, Protocol

from webcrawler.errors import BadInput
from webcrawler.search.corrections import Corrected, added_terms, corrected, may_widen, related
from webcrawler.search.display import PAGES, fold, hits, result_page, visible
from webcrawler.search.engine import RELEVANCE, SORTS, Answer, Question
from webcrawler.search.matches import Part
from webcrawler.search.opened import Opened, readable
from webcrawler.search.rankings import DEFAULT
from webcrawler.search.results import Results
from webcrawler.search.snippets import Snippets
from webcrawler.text import Lexicon
from webcrawler.text.query import Query, expanded, nodes, other_reading, parse

MAX_HITS = 1000  # that can be looked through
MAX_EXPLAINED = 50  # of the hits of one answer, the first ones
DEADLINE_SECONDS = 1.0
_READING = 0.6  # share of the deadline for reading postings; the rest is for ranking and showing hits
_FEW = 10  # with fewer hits, the thesaurus adds words by itself

Late = Callable[[], bool]  # has the deadline passed?


class Answers(Protocol):
    """What answers queries. `Engine` is one."""

    @property
    def lexicon(self) -> Lexicon: ...

    def answer(self, query: Query, question: Question, late: Late, shown: bool = True) -> Answer: ...

    def together(self, query: Query, late: Late) -> int: ...


class Answering(ABC):
    """Answers questions, whatever finds and ranks the pages. A thread needs one of its own."""

    def __init__(self, opened: Opened, deadline_seconds: float) -> None:
        self._opened, self._deadline_seconds = opened, deadline_seconds

    @property
    @abstractmethod
    def generation(self) -> object:
        """Changes with what is searched: answers may be cached while it is the same."""

    @property
    def last_fetch(self) -> int:
        """Ascends with what may change what is said of a hit."""
        return 0

    @property
    @abstractmethod
    def documents(self) -> int:
        """How many pages can be searched."""

    @abstractmethod
    def check(self) -> None:
        """Raises Unavailable: what is searched is there and cannot be read."""

    @abstractmethod
    def _engine(self, texts: Sequence[str] = ()) -> Answers | None:
        """Return what answers now, prepared for some queries; None where nothing is indexed."""

    @abstractmethod
    def _not_indexed(self) -> str:
        """Return why nothing is."""

    @abstractmethod
    def _why_partial(self) -> str:
        """Return why an answer may lack pages."""

    def search(self, text: str, *args: Any, **wanted: Any) -> Results:
        """Answer what a person typed; the arguments are those of `Question`, in its order or by name."""
        return self.answer(Question(text, *args, **wanted))

    @readable()
    def answer(self, question: Question) -> Results:
        """Answer a question. Ties go to the older page number.

        Raises:
            BadInput: a limit, a start, a ranking or an order that cannot be.
            Unavailable: what answers cannot be read.
        """
        limit, start = question.limit, question.start
        if not 1 <= limit <= MAX_HITS or not 0 <= start < MAX_HITS:
            raise BadInput(f"hits {start + 1} to {start + limit} cannot be shown: ask for 1 to {MAX_HITS}")
        if question.sort not in SORTS:
            raise BadInput(f"no order {question.sort[:40]!r}: sort by {' or '.join(SORTS)}")
        engine = self._engine([question.text, *question.within, *question.add])
        # loads word frequencies, once: that is not to eat up the deadline
        typed = parse(question.text, lexicon=engine.lexicon if engine else Lexicon())
        started = monotonic()
        if engine is None:
            asks = expanded(typed, added_terms(question.add, Lexicon())).root != nodes.NOTHING
            note = self._not_indexed()
            return Results(typed.text, 0, monotonic() - started, [], note=note, asks=asks, indexed=False)
        late = self._deadline(started)
        better = self._corrected(engine, typed, late)
        instead = better.text if better.certain and not question.exact else ""
        answer = self._read(engine, question._replace(text=instead or question.text), late)
        return replace(
            self._results(answer, question, started),
            query=typed.text,
            corrected=instead,
            did_you_mean=better.text if not instead and better.text != typed.text else "",
        )

    @readable()
    def served(self, text: str, ranking: str = DEFAULT, limit: int = 15, language: str = "") -> list[int]:
        """Return the page numbers of all result pages of `limit` hits in their order, for evaluation.

        They are those of `search`, to the last of MAX_HITS; there is no deadline, and nothing is shown.
        """
        if (engine := self._engine([text])) is None:
            return []
        better = self._corrected(engine, parse(text, lexicon=engine.lexicon), lambda: False)
        asked = Question(better.text if better.certain else text, ranking=ranking, language=language)
        answer = self._read(engine, asked, lambda: False)
        best = fold(visible(answer, MAX_HITS), MAX_HITS)
        starts = range(0, len(best), limit)
        return [hit.number for start in starts for hit in result_page(best, start, limit, answer.servers)]

    @readable()
    def rank(self, text: str, ranking: str = DEFAULT, limit: int = MAX_HITS) -> list[tuple[int, float]]:
        """Return page numbers and scores for evaluation; nothing is hidden, folded or added."""
        if (engine := self._engine([text])) is None:
            return []
        asked = Question(text, ranking=ranking, expand=False)
        answer = self._read(engine, asked, lambda: False, shown=False)
        return list(zip(answer.pages[:limit].tolist(), answer.scores[:limit].tolist(), strict=True))

    @readable()
    def explain(self, text: str, number: int, **wanted: Any) -> list[Part]:
        """Return the parts of one page's score; none where it does not answer the query.

        The arguments are those of `Question`. Words that the thesaurus added by itself have to be given in
        `add`, and a query that was answered instead as `text`. Raises as `search` does.
        """
        if (engine := self._engine([text])) is None:
            return []
        asked = Question(text, expand=False, **wanted)
        answer = self._read(engine, asked, self._deadline(monotonic()))
        found = answer.shown.numbered(number)
        return answer.explain([found])[0] if found in answer.pages else []

    def suggest(self, text: str, limit: int = 8) -> list[str]:
        """Return whole queries that begin with what a person has typed so far."""
        vocabulary = self._opened.vocabulary
        return vocabulary.completions(text, limit) if vocabulary else []

    def _deadline(self, started: float) -> Late:
        last = started + self._deadline_seconds * _READING
        return lambda: monotonic() >= last

    def _corrected(self, engine: Answers, typed: Query, late: Late) -> Corrected:
        return corrected(
            typed,
            self._opened.vocabulary,
            lambda text: engine.together(parse(text, lexicon=engine.lexicon), late),
        )

    def _read(self, engine: Answers, question: Question, late: Late, shown: bool = True) -> Answer:
        """Return the answer to a question, for want of hits with words of the thesaurus.

        All in capitals and without a hit, its operators are words.
        """
        add = added_terms(question.add, engine.lexicon)
        query = expanded(parse(question.text, lexicon=engine.lexicon), add)
        answer = engine.answer(query, question, late, shown)
        if not (answer.total or answer.partial) and query.text.isupper() and query.root != nodes.NOTHING:
            words = expanded(parse(question.text, True, engine.lexicon), add)
            again = engine.answer(words, question, late, shown) if words.root != query.root else answer
            answer = again if again.total else answer
        if answer.total >= _FEW:
            return answer
        near = related(answer.query, self._opened.vocabulary)
        if question.expand and near and not answer.partial and may_widen(answer.query.root):
            wider = expanded(answer.query, added_terms([word.spelled for word in near], engine.lexicon))
            more = engine.answer(wider, question, late, shown)
            if not more.partial:
                return more._replace(added=near)
        return answer._replace(related=near)

    def _results(self, answer: Answer, question: Question, started: float) -> Results:
        query, start, limit = answer.query, question.start, question.limit
        # As many as have to be arranged for this result page, and one more to know whether there are more.
        needed = (start // (PAGES * limit) + 1) * PAGES * limit + 1
        best = fold(visible(answer, min(needed, MAX_HITS)), needed)
        typed = [one.term for one in query.terms if not one.added]
        every = [one.term for one in (*query.terms, *answer.terms)]
        snippets = Snippets(typed, every)
        page = best[start : start + limit]
        if question.sort == RELEVANCE:
            page = result_page(best, start, limit, answer.servers)
        shown = hits(page, max((one.score for one in best), default=0.0), snippets, answer)
        explained = [one.number for one in page[:MAX_EXPLAINED]] if question.explain else []
        return Results(
            query.text,
            answer.total if best or start else 0,  # none of the few may be shown
            monotonic() - started,
            shown,
            "; ".join(self._notes(answer)),
            answer.short,
            answer.partial,
            start,
            more=start + limit < min(len(best), MAX_HITS),
            other_reading=other_reading(query.text, query.dashed),
            explanations=answer.explain(explained),
            snippets=snippets,
            asks=query.root != nodes.NOTHING,
            added=list(answer.added),
            related=list(answer.related),
            counts=answer.counts,
        )

    def _notes(self, answer: Answer) -> Iterator[str]:
        query = answer.query
        if query.capitals_are_words:
            yield "in this query of capitals, AND, OR and NOT were read as words"
        yield from query.notes
        for word in query.dashed[:3]:
            yield f"{word.spelled} was read as {'an option' if word.is_option else 'a word to leave out'}"
        if answer.missing and len(query.terms) > 1:
            yield f"no page has {', '.join(answer.missing[:5])}"
        if answer.partial:
            yield f"{self._why_partial()}: there may be more"
