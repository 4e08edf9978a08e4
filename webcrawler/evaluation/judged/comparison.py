"""Rankings compared query by query: the list that people see, and the ranking alone.

Measures are those of ir-measures, which counts as trec_eval does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from webcrawler import extras
from webcrawler.evaluation.judged.collection import Judgments
from webcrawler.evaluation.measures import SAME, Row, Table, intervals, p_values
from webcrawler.evaluation.runner import Progress
from webcrawler.search import Searcher

OF_BEST = ("Success@1", "Success@3", "RR")  # how soon one of a query's best documents comes
MEASURES = ("nDCG@10", "AP", "P@10", "R@100", *OF_BEST)

Grades = Mapping[str, Mapping[str, int]]  # by query id and document


def measure(
    runs: Mapping[str, Sequence[str]], grades: Grades, measures: Sequence[str] = MEASURES
) -> dict[str, dict[str, float]]:
    """The value of each measure by query id; 0 if a query was not answered.

    Args:
        runs: document ids by query id, the best first.
        grades: of documents by query id. A relevant one has 1 or more, which is its gain in nDCG; for
            OF_BEST only those count that have the highest grade of their query.
    """
    library = check_library()
    found = {query: dict.fromkeys(measures, 0.0) for query in grades}
    scored = [  # ranks as scores: trec_eval would break ties by id
        library.ScoredDoc(query, document, -place)
        for query, documents in runs.items()
        for place, document in enumerate(documents)
    ]
    for judged, names in (
        (grades, [name for name in measures if name not in OF_BEST]),
        (_best(grades), [name for name in measures if name in OF_BEST]),
    ):
        by_name = {library.parse_measure(name): name for name in names}
        qrels = [library.Qrel(query, *one) for query, of in judged.items() for one in of.items()]
        for metric in library.iter_calc(list(by_name), qrels, scored) if scored and names else ():
            found[metric.query_id][by_name[metric.measure]] = float(metric.value)
    return found


def _best(grades: Grades) -> dict[str, dict[str, int]]:
    return {
        query: {document: int(0 < grade == max(of.values())) for document, grade in of.items()}
        for query, of in grades.items()
    }


def check_library() -> ModuleType:
    """The package ir_measures. Raises BadInput: it is not installed."""
    extras.require("judge", "`webcrawler judge`")
    import ir_measures

    module: ModuleType = ir_measures
    return module


HITS = 1000  # of a query that are looked at, as TREC does

Scores = Mapping[str, Mapping[str, float]]  # by query id and measure


class Mean(NamedTuple):
    """The mean of each measure over all queries, and both ends of its 95 % interval."""

    value: Row
    low: Row
    high: Row


class Difference(NamedTuple):
    """By how much a ranking is better than the first one, and how likely chance alone gives as much."""

    mean: Mean
    p: Row
    queries: tuple[int, int, int]  # for which its nDCG@10 is better, worse, the same


@dataclass(frozen=True)
class Comparison:
    """The measures of each ranking on the same queries."""

    queries: Mapping[str, str]
    scores: Mapping[str, Scores]  # by ranking, of the list as served
    alone: Mapping[str, Scores]  # of the rank alone: nothing is folded, spread or added

    @cached_property
    def means(self) -> dict[str, Mean]:
        """By ranking."""
        return {ranking: _mean(self._table(of)) for ranking, of in self.scores.items()}

    @cached_property
    def alone_means(self) -> dict[str, Row]:
        """By ranking."""
        return {ranking: self._table(of).mean(axis=0) for ranking, of in self.alone.items()}

    @cached_property
    def differences(self) -> dict[str, Difference]:
        """Of each ranking but the first from the first."""
        first, *others = self.scores
        return {other: self._difference(other, first) for other in others}

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
        differences = {
            ranking: {"mean": _named(mean.value), "interval": _ends(mean), "p": _named(p)}
            for ranking, (mean, p, _) in self.differences.items()
        }
        return {
            "rankings": {ranking: _named(mean.value) for ranking, mean in self.means.items()},
            "intervals": {ranking: _ends(mean) for ranking, mean in self.means.items()},
            "alone": {ranking: _named(values) for ranking, values in self.alone_means.items()},
            "differences": differences,
            "queries": queries,
        }

    def _difference(self, ranking: str, other: str) -> Difference:
        table = self._table(self.scores[ranking]) - self._table(self.scores[other])
        return Difference(_mean(table), p_values(table), self.against(ranking, other))

    def _table(self, scores: Scores) -> Table:
        return np.array([[scores[query][name] for name in MEASURES] for query in self.queries])

    def _key(self, ranking: str, query: str) -> tuple[float, float]:
        of = self.scores[ranking][query]
        return round(of["nDCG@10"], 9), round(of["AP"], 9)


def compare(
    searcher: Searcher,
    judgments: Judgments,
    rankings: Sequence[str],
    names: Callable[[Sequence[int]], Mapping[int, str]],
    progress: Progress = lambda ranking, done, all: None,
    language: str = "",
) -> Comparison:
    """Search for every query with every ranking, and measure the hits.

    Args:
        names: document ids by page number; a page without one is left out.
        language: of who asks, ISO 639; the ranking alone knows nothing of it.
    Raises:
        BadInput: there is no such ranking.
    """
    scores: dict[str, Scores] = {}
    alone: dict[str, Scores] = {}
    for ranking in rankings:
        served, ranked = dict[str, list[str]](), dict[str, list[str]]()
        for done, (query, text) in enumerate(judgments.queries.items(), 1):
            served[query] = _documents(
                searcher.served(text, ranking, language=language), names, judgments.copies
            )
            numbers = [number for number, _ in searcher.rank(text, ranking, HITS)]
            ranked[query] = _documents(numbers, names, judgments.copies)
            progress(ranking, done, len(judgments.queries))
        scores[ranking], alone[ranking] = (measure(run, judgments.grades) for run in (served, ranked))
    return Comparison(judgments.queries, scores, alone)


def _documents(
    numbers: Sequence[int], names: Callable[[Sequence[int]], Mapping[int, str]], copies: Mapping[str, str]
) -> list[str]:
    """A copy counts as the document that was judged, at the place of the first of them."""
    known = names(numbers)
    found = (known[number] for number in numbers if number in known)
    return list(dict.fromkeys(copies.get(document, document) for document in found))


def _mean(table: Table) -> Mean:
    return Mean(table.mean(axis=0), *intervals(table))


def _named(values: Iterable[float]) -> dict[str, float]:
    return dict(zip(MEASURES, map(float, values), strict=True))


def _ends(mean: Mean) -> dict[str, list[float]]:
    return {
        name: [float(low), float(high)] for name, low, high in zip(MEASURES, mean.low, mean.high, strict=True)
    }


SHORT = ("nDCG", "AP", "P@10", "R@100", "S@1", "S@3", "RR")  # of MEASURES
BY_QUERY = 4  # measures shown of each query
QUERY = 40  # characters shown of a query
WIDTH = 6  # of a figure, and of one of a query
WIDE = 7  # of a mean


def tables(comparison: Comparison) -> list[str]:
    """The lines of two tables: the measures of each query, and their means."""
    return [*_by_query(comparison), "", *_means(comparison)]


def _by_query(comparison: Comparison) -> Iterator[str]:
    """For each query the measures under each ranking, and the ranking that won, or = for a tie."""
    group = WIDTH * BY_QUERY
    yield " " * QUERY + "".join(f"  {name[:group]:>{group}}" for name in comparison.scores)
    yield f"{'query':{QUERY}}" + f"  {_row(SHORT[:BY_QUERY])}" * len(comparison.scores) + "  won"
    for id, text in comparison.queries.items():
        shown = [[of[id][name] for name in MEASURES[:BY_QUERY]] for of in comparison.scores.values()]
        figures = "".join(f"  {_row(f'{one:.3f}' for one in row)}" for row in shown)
        query = f"{id} {text}"
        query = query if len(query) <= QUERY else query[: QUERY - 2] + " …"
        yield f"{query:{QUERY}}{figures}  {comparison.won(id) or '='}"


def _means(comparison: Comparison) -> Iterator[str]:
    """Of each ranking as served and alone; the others' differences from the first one."""
    first, number = next(iter(comparison.scores)), len(comparison.queries)
    head = "mean of 1 query" if number == 1 else f"mean of {number:,} queries"
    yield f"{head:{QUERY}}{_row(SHORT, WIDE)}"
    for ranking, mean in comparison.means.items():
        yield _line(ranking, mean.value)
        yield _line("  at least", mean.low)
        yield _line("  at most", mean.high)
        yield _line("  ranking alone", comparison.alone_means[ranking])
        if ranking in comparison.differences:
            (value, low, high), p, queries = comparison.differences[ranking]
            better, worse, same = (f"{count:,}" for count in queries)
            yield (
                _line(f"  compared with {first}", value, "+")
                + f"  better / worse / as good: {better} / {worse} / {same}"
            )
            yield _line("  at least", low, "+")
            yield _line("  at most", high, "+")
            yield _line("  p of a paired test", p)


def _line(name: str, values: Iterable[float], sign: str = "") -> str:
    return f"{name:{QUERY}}{_row((f'{value:{sign}.3f}' for value in values), WIDE)}"


def _row(cells: Iterable[str], width: int = WIDTH) -> str:
    return "".join(f"{cell:>{width}}" for cell in cells)
