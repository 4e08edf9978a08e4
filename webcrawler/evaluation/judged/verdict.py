"""Rankings asked the same queries, measured, and compared query by query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from webcrawler.evaluation.judged.collection import Judgments
from webcrawler.evaluation.judged.measures import MEASURES, measure
from webcrawler.search import Searcher

HITS = 1000  # of a query that are looked at, as TREC does
SAME = 1e-9  # floats further apart differ

Progress = Callable[[str, int, int], None]
Scores = Mapping[str, Mapping[str, float]]  # by query id and measure


@dataclass(frozen=True)
class Verdict:
    """What each ranking reached."""

    queries: Mapping[str, str]
    scores: Mapping[str, Scores]  # by ranking

    def means(self) -> dict[str, dict[str, float]]:
        """Over all queries, by ranking and measure."""
        return {
            ranking: {name: fmean(of[query][name] for query in self.queries) for name in MEASURES}
            for ranking, of in self.scores.items()
        }

    def won(self, query: str) -> str:
        """The ranking with the best nDCG@10, then AP; "" where several are as good."""
        best = max(self._key(ranking, query) for ranking in self.scores)
        winners = [name for name in self.scores if self._key(name, query) == best]
        return winners[0] if len(winners) == 1 else ""

    def against(self, ranking: str, other: str) -> tuple[int, int, int]:
        """For how many queries the nDCG@10 of a ranking is better, worse, and as good as the other's."""
        pairs = [(self.scores[ranking][query], self.scores[other][query]) for query in self.queries]
        gains = [mine["nDCG@10"] - others["nDCG@10"] for mine, others in pairs]
        better, worse = sum(gain > SAME for gain in gains), sum(gain < -SAME for gain in gains)
        return better, worse, len(gains) - better - worse

    def as_json(self) -> dict[str, Any]:
        """The contract with programs is `rankings`."""
        queries = [
            {"id": id, "query": text, "rankings": {name: of[id] for name, of in self.scores.items()}}
            for id, text in self.queries.items()
        ]
        return {"rankings": self.means(), "queries": queries}

    def _key(self, ranking: str, query: str) -> tuple[float, float]:
        of = self.scores[ranking][query]
        return round(of["nDCG@10"], 9), round(of["AP"], 9)


def judge(
    searcher: Searcher,
    judgments: Judgments,
    rankings: Sequence[str],
    names: Callable[[Sequence[int]], Mapping[int, str]],
    progress: Progress = lambda ranking, done, all: None,
) -> Verdict:
    """Ask every query in every ranking.

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
    return Verdict(judgments.queries, scores)


SHORT = {"nDCG@10": "nDCG", "AP": "AP", "P@10": "P@10", "R@100": "R@100"}
QUERY = 40  # characters that are shown of one
WIDTH = 6  # of a figure


def per_query(verdict: Verdict) -> list[str]:
    """Under each ranking its measures; then the ranking that won, or = where several are as good."""
    group = WIDTH * len(MEASURES)
    lines = [
        " " * QUERY + "".join(f"  {name[:group]:>{group}}" for name in verdict.scores),
        f"{'query':{QUERY}}" + f"  {_row(SHORT)}" * len(verdict.scores) + "  won",
    ]
    for id, text in verdict.queries.items():
        figures = "".join(f"  {_figures(of[id])}" for of in verdict.scores.values())
        lines.append(f"{_cut(f'{id} {text}'):{QUERY}}{figures}  {verdict.won(id) or '='}")
    return lines


def means(verdict: Verdict) -> list[str]:
    """The last columns compare with the first ranking, by nDCG@10."""
    first = next(iter(verdict.scores))
    number = len(verdict.queries)
    head = f"{'mean of 1 query' if number == 1 else f'mean of {number:,} queries':{QUERY}}  {_row(SHORT)}"
    lines = [f"{head}  better / worse / as good as {first}" if len(verdict.scores) > 1 else head]
    for name, figures in verdict.means().items():
        compared = " / ".join(f"{count:,}" for count in verdict.against(name, first))
        lines.append(f"{name:{QUERY}}  {_figures(figures)}  {compared if name != first else ''}".rstrip())
    return lines


def _row(cells: Mapping[str, str]) -> str:
    return "".join(f"{cells[name]:>{WIDTH}}" for name in MEASURES)


def _figures(of: Mapping[str, float]) -> str:
    return _row({name: f"{of[name]:.3f}" for name in MEASURES})


def _cut(text: str) -> str:
    return text if len(text) <= QUERY else text[: QUERY - 2] + " …"
