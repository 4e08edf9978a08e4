"""Which ranking was better, as people see it and alone? Rankings compared query by query.

`collection` reads judged queries, and makes a data folder of a test collection; measures are those of
ir-measures (extra `judge`), which counts as trec_eval does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from types import ModuleType
from typing import Any

from webcrawler.errors import require
from webcrawler.evaluation import chance
from webcrawler.evaluation.chance import Compared, aligned
from webcrawler.evaluation.judged.collection import (
    Collection,
    Judgments,
    Paper,
    build,
    read,
    read_feedback,
    read_judgments,
)
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
    require("judge", "`webcrawler judge`")
    import ir_measures

    module: ModuleType = ir_measures
    return module


SAME = 1e-9  # a smaller difference between two measures does not count
HITS = 1000  # of a query that are looked at, as TREC does

Scores = Mapping[str, Mapping[str, float]]  # by query id and measure


@dataclass(frozen=True)
class Comparison:
    """The measures of each ranking on the same queries."""

    queries: Mapping[str, str]
    scores: Mapping[str, Scores]  # by ranking, of the list as served
    alone: Mapping[str, Scores]  # of the rank alone: nothing is folded, spread or added

    @cached_property
    def cells(self) -> dict[str, dict[str, Compared]]:
        """By measure and ranking; a trial is a query."""
        return {measure: chance.compared(_trials(self.scores, measure)) for measure in MEASURES}

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
        return {
            "rankings": {name: _means(of) for name, of in self.scores.items()},
            "alone": {name: _means(of) for name, of in self.alone.items()},
            "compared": [
                {"measure": measure, "ranking": ranking, **cell.as_json()}
                for measure, cells in self.cells.items()
                for ranking, cell in cells.items()
            ],
            "queries": [
                {"id": id, "query": text, "rankings": {name: of[id] for name, of in self.scores.items()}}
                for id, text in self.queries.items()
            ],
        }

    def _key(self, ranking: str, query: str) -> tuple[float, float]:
        of = self.scores[ranking][query]
        return round(of["nDCG@10"], 9), round(of["AP"], 9)


def _trials(scores: Mapping[str, Scores], measure: str) -> dict[str, dict[Hashable, float]]:
    return {name: {query: of[measure] for query, of in by.items()} for name, by in scores.items()}


def _means(scores: Scores) -> dict[str, float]:
    return {measure: fmean(of[measure] for of in scores.values()) for measure in MEASURES}


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


QUERY = 40  # characters shown of a query


def tables(comparison: Comparison) -> str:
    """Three tables: nDCG@10 and AP of each query, their means, and differences from the first ranking."""
    rankings = list(comparison.scores)
    rows = [["query", "", *(f"{name} {of}" for name in rankings for of in ("nDCG", "AP")), "won"]]
    for id, text in comparison.queries.items():
        of = [comparison.scores[name][id][measure] for name in rankings for measure in ("nDCG@10", "AP")]
        rows.append([id, text[:QUERY], *(f"{value:.3f}" for value in of), comparison.won(id) or "="])
    return "\n\n".join([aligned(rows), *_mean_tables(comparison, rankings), chance.LEGEND])


def _mean_tables(comparison: Comparison, rankings: Sequence[str]) -> Iterator[str]:
    """A row for each measure; the second table has the others' differences from the first ranking."""
    first, *others = rankings
    count = len(comparison.queries)
    means = [[f"mean of {count:,} {'query' if count == 1 else 'queries'}", "", *rankings]]
    differences = [[f"compared with {first}", "", *others]]
    for measure, cells in comparison.cells.items():
        alone = [fmean(of[measure] for of in comparison.alone[name].values()) for name in rankings]
        means.append([measure, "", *(cells[name].mean.shown(3) for name in rankings)])
        means.append(["", "ranking alone", *(f"{value:.3f}" for value in alone)])
        shown = [it.shown(3) if (it := cells[name].difference) else "–" for name in others]
        differences.append([measure, "", *shown])
    counts = [" / ".join(map(str, comparison.against(name, first))) for name in others]
    differences.append(["nDCG@10", "better / worse / as good", *counts])
    yield aligned(means)
    if others:
        yield aligned(differences)


__all__ = [
    "MEASURES",
    "Collection",
    "Comparison",
    "Judgments",
    "Paper",
    "build",
    "check_library",
    "compare",
    "measure",
    "read",
    "read_feedback",
    "read_judgments",
    "tables",
]
