"""Rankings compared query by query, by the measures of ir-measures, which counts as trec_eval does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import ModuleType
from typing import Any

from webcrawler.errors import BadInput
from webcrawler.evaluation.judged.collection import Judgments
from webcrawler.evaluation.laboratory import Progress
from webcrawler.search import Searcher

MEASURES = ("nDCG@10", "AP", "P@10", "R@100")
SHORT = {"nDCG@10": "nDCG", "AP": "AP", "P@10": "P@10", "R@100": "R@100"}
HITS = 1000  # of a query that are looked at, as TREC does
SAME = 1e-9  # a smaller difference between two measures does not count
QUERY = 40  # characters shown of a query
WIDTH = 6  # of a figure

Scores = Mapping[str, Mapping[str, float]]  # by query id and measure


def measure(
    runs: Mapping[str, Sequence[str]],
    grades: Mapping[str, Mapping[str, int]],
    measures: Sequence[str] = MEASURES,
) -> dict[str, dict[str, float]]:
    """The value of each measure by query id; 0 if a query was not answered.

    Args:
        runs: document ids by query id, the best first.
        grades: of documents by query id; a relevant one has 1 or more, which is its gain in nDCG.
    """
    library = check_library()
    by_name = {library.parse_measure(name): name for name in measures}
    qrels = [
        library.Qrel(query, document, grade) for query, of in grades.items() for document, grade in of.items()
    ]
    scored = [  # ranks as scores: trec_eval would break ties by id
        library.ScoredDoc(query, document, -place)
        for query, documents in runs.items()
        for place, document in enumerate(documents)
    ]
    found = {query: dict.fromkeys(measures, 0.0) for query in grades}
    for metric in library.iter_calc(list(by_name), qrels, scored) if scored else ():
        found[metric.query_id][by_name[metric.measure]] = float(metric.value)
    return found


def check_library() -> ModuleType:
    """The package ir_measures. Raises BadInput: it is not installed."""
    try:
        import ir_measures
    except ImportError:
        raise BadInput(
            "`scrapy judge` needs ir-measures: run `make dev`, or pip install ir-measures"
        ) from None
    module: ModuleType = ir_measures
    return module


@dataclass(frozen=True)
class Comparison:
    """The measures of each ranking on the same queries."""

    queries: Mapping[str, str]
    scores: Mapping[str, Scores]  # by ranking

    def means(self) -> dict[str, dict[str, float]]:
        """Over all queries, by ranking and measure."""
        return {
            ranking: {name: fmean(of[query][name] for query in self.queries) for name in MEASURES}
            for ranking, of in self.scores.items()
        }

    def won(self, query: str) -> str:
        """The ranking with the best nDCG@10, then AP; "" if several are equally good."""
        best = max(self._key(ranking, query) for ranking in self.scores)
        winners = [name for name in self.scores if self._key(name, query) == best]
        return winners[0] if len(winners) == 1 else ""

    def against(self, ranking: str, other: str) -> tuple[int, int, int]:
        """For how many queries the nDCG@10 of a ranking is better, worse and the same as the other's."""
        pairs = [(self.scores[ranking][query], self.scores[other][query]) for query in self.queries]
        gains = [mine["nDCG@10"] - others["nDCG@10"] for mine, others in pairs]
        better, worse = sum(gain > SAME for gain in gains), sum(gain < -SAME for gain in gains)
        return better, worse, len(gains) - better - worse

    def as_json(self) -> dict[str, Any]:
        """As docs/reference/commands.md describes it."""
        queries = [
            {"id": id, "query": text, "rankings": {name: of[id] for name, of in self.scores.items()}}
            for id, text in self.queries.items()
        ]
        return {"rankings": self.means(), "queries": queries}

    def tables(self) -> list[str]:
        """The lines of two tables: the measures of each query, and their means."""
        return [*self._by_query(), "", *self._means()]

    def _by_query(self) -> Iterator[str]:
        """For each query the measures under each ranking, and the ranking that won, or = for a tie."""
        group = WIDTH * len(MEASURES)
        yield " " * QUERY + "".join(f"  {name[:group]:>{group}}" for name in self.scores)
        yield f"{'query':{QUERY}}" + f"  {_row(SHORT)}" * len(self.scores) + "  won"
        for id, text in self.queries.items():
            figures = "".join(f"  {_figures(of[id])}" for of in self.scores.values())
            query = f"{id} {text}"
            query = query if len(query) <= QUERY else query[: QUERY - 2] + " …"
            yield f"{query:{QUERY}}{figures}  {self.won(id) or '='}"

    def _means(self) -> Iterator[str]:
        """The mean measures of each ranking; the last columns compare with the first, by nDCG@10."""
        first, number = next(iter(self.scores)), len(self.queries)
        head = f"{'mean of 1 query' if number == 1 else f'mean of {number:,} queries':{QUERY}}  {_row(SHORT)}"
        yield f"{head}  better / worse / as good as {first}" if len(self.scores) > 1 else head
        for name, figures in self.means().items():
            compared = " / ".join(f"{count:,}" for count in self.against(name, first))
            yield f"{name:{QUERY}}  {_figures(figures)}  {compared if name != first else ''}".rstrip()

    def _key(self, ranking: str, query: str) -> tuple[float, float]:
        of = self.scores[ranking][query]
        return round(of["nDCG@10"], 9), round(of["AP"], 9)


def compare(
    searcher: Searcher,
    judgments: Judgments,
    rankings: Sequence[str],
    names: Callable[[Sequence[int]], Mapping[int, str]],
    progress: Progress = lambda ranking, done, all: None,
) -> Comparison:
    """Search for every query with every ranking, and measure the hits.

    Args:
        names: document ids by page number; a page without one is left out.
    Raises:
        BadInput: there is no such ranking.
    """
    scores: dict[str, Scores] = {}
    for ranking in rankings:
        runs: dict[str, list[str]] = {}
        for done, (query, text) in enumerate(judgments.queries.items(), 1):
            numbers = [number for number, _ in searcher.rank(text, ranking, HITS)]
            known = names(numbers)
            runs[query] = [known[number] for number in numbers if number in known]
            progress(ranking, done, len(judgments.queries))
        scores[ranking] = measure(runs, judgments.grades)
    return Comparison(judgments.queries, scores)


def _row(cells: Mapping[str, str]) -> str:
    return "".join(f"{cells[name]:>{WIDTH}}" for name in MEASURES)


def _figures(of: Mapping[str, float]) -> str:
    return _row({name: f"{of[name]:.3f}" for name in MEASURES})
