"""How good was a focused crawl? Measures of when relevant pages were fetched; tables, curves."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from webcrawler.evaluation import chance
from webcrawler.evaluation.chance import Compared, aligned
from webcrawler.evaluation.focused.recorded_web import Recording
from webcrawler.evaluation.plots import axes_of, plot_curves, save

TOP = 100  # best pages of the pool
FIRST = 10  # relevant pages: enough to read for somebody who searches
MARKS = (100, 300, 1000)  # pages fetched, at which strategies are compared


class Pooled(NamedTuple):
    """How one strategy did; each page of the pool counts once."""

    mean_place: float  # of its pages, in percent of the pool: 0 is best; chance gives 50
    top_share: float  # of the pool's best 100 pages, those that it fetched; in percent


def pooled(fetched: Mapping[str, Sequence[int]], ranked: Sequence[int]) -> dict[str, Pooled]:
    """By strategy.

    Args:
        fetched: page numbers by strategy.
        ranked: page numbers, best first; pages that it lacks do not answer the query, and share the places
            behind all others.
    """
    pool = set().union(*fetched.values())
    answers = [number for number in ranked if number in pool]
    place = {number: float(at) for at, number in enumerate(answers)}
    behind = (len(answers) + len(pool) - 1) / 2  # the mean of the places that are left
    top = set(answers[:TOP])
    last = max(1, len(pool) - 1)
    return {
        strategy: Pooled(
            100 * fmean(place.get(number, behind) for number in set(pages)) / last if pages else 100.0,
            100 * len(top.intersection(pages)) / max(1, len(top)),
        )
        for strategy, pages in fetched.items()
    }


class Run(NamedTuple):
    """One focused crawl; places are counted from 1."""

    strategy: str  # as it was asked for: "shark"
    query: str
    relevant: int  # pages that it could have found
    fetched: int  # pages, of any kind
    found: tuple[int, ...]  # places of the relevant ones, ascending
    tried: int = 0  # URLs: pages, and what came to none, as redirects do
    seconds: float = 0.0
    pool: Pooled | None = None  # beside the others; None where there is no index to rank by

    def at(self, pages: int) -> int:
        """Relevant pages among the first so many."""
        return bisect_right(self.found, pages)

    def harvest(self, pages: int) -> float:
        """The harvest rate: relevant share of the first pages; of fewer where nothing was left to fetch."""
        return self.at(pages) / max(1, min(pages, self.fetched))

    def recall(self, pages: int) -> float:
        """Found share of the relevant pages; 1 where there are none to find."""
        return self.at(pages) / self.relevant if self.relevant else 1.0

    def until(self, relevant: int = FIRST) -> float:
        """Pages fetched when so many relevant ones were there; infinite where they never were."""
        return self.found[relevant - 1] if len(self.found) >= relevant else inf

    def as_json(self, pages: int) -> dict[str, Any]:
        """With its measures; keys as in docs/reference/commands.md."""
        marks = marks_of(pages)
        until = self.until()
        return {
            **self._asdict(),
            "pool": self.pool and {name: round(value, 2) for name, value in self.pool._asdict().items()},
            "found_at": {str(n): self.at(n) for n in marks},
            "harvest_rate": {str(n): round(self.harvest(n), 4) for n in marks},
            "recall": {str(n): round(self.recall(n), 4) for n in marks},
            "first_10": None if until == inf else int(until),
        }


def marks_of(pages: int) -> list[int]:
    """Where crawls of so many pages are measured: at 100, 300, 1000, and at their end."""
    return [*(mark for mark in MARKS if mark < pages), pages]


def tables(runs: Sequence[Run], pages: int) -> str:
    """A row for each strategy: mean and median of its crawls of so many pages; then differences."""
    marks, has_pools = marks_of(pages), all(run.pool for run in runs)
    head = ["relevant pages found", "crawls", *(f"@{mark}" for mark in marks), "recall", "harvest %"]
    head += [f"first {FIRST}", f"{FIRST} found", *(["place in the pool", "of its top 100"] * has_pools)]
    rows = [head]
    for strategy, some in by_strategy(runs).items():
        until = median(run.until() for run in some)
        pools = [run.pool for run in some if run.pool] if has_pools else []
        row = [strategy, str(len(some)), *(_both([run.at(mark) for run in some]) for mark in marks)]
        row.append(_both([run.recall(pages) for run in some], 2))
        row.append(_both([100 * run.harvest(pages) for run in some]))
        row += ["–" if until == inf else f"{until:.0f}", f"{sum(run.until() <= pages for run in some)}"]
        row += [_both(of) for of in zip(*pools, strict=True)]
        rows.append(row)
    if len({run.query for run in runs}) < 2:
        return aligned(rows)
    cells = {(name, ""): of for name, of in comparisons(runs, pages).items()}
    head_of_means = f"mean of {len({run.query for run in runs})} topics at {pages}", ""
    return "\n\n".join([aligned(rows), chance.tables(head_of_means, list(MEASURES), cells), chance.LEGEND])


MEASURES: dict[str, Callable[[Run, int], float]] = {
    "found": lambda run, pages: run.at(pages),
    "recall %": lambda run, pages: 100 * run.recall(pages),
    "harvest %": lambda run, pages: 100 * run.harvest(pages),
}


def comparisons(runs: Sequence[Run], pages: int) -> dict[str, dict[str, Compared]]:
    """By strategy and measure; a trial is a topic."""
    cells: dict[str, dict[str, Compared]] = {}
    for measure, value in MEASURES.items():
        figures: dict[str, dict[Hashable, float]] = {
            name: {run.query: value(run, pages) for run in some} for name, some in by_strategy(runs).items()
        }
        for name, cell in chance.compared(figures).items():
            cells.setdefault(name, {})[measure] = cell
    return cells


def compared(runs: Sequence[Run], pages: int) -> list[dict[str, Any]]:
    """`comparisons` with the keys of docs/reference/commands.md."""
    return [
        {"measure": measure, "strategy": strategy, **cell.as_json()}
        for strategy, cells in comparisons(runs, pages).items()
        for measure, cell in cells.items()
    ]


def summary(runs: Sequence[Run], pages: int, topics: Sequence[str], recording: Recording) -> str:
    """What has to be known to read the tables: how many pages, and what limits the comparison.

    Args:
        pages: to be fetched by each crawl.
        topics: all queries; those without a run are named.
    """
    relevant = {run.query: run.relevant for run in runs}
    counts = "; ".join(f"{query} {number:,}" for query, number in relevant.items())
    documents = f"{len(recording.documents):,} documents, up to {pages:,} fetched in each crawl"
    lines = [f"{documents}. Relevant: {counts}."]
    if any(run.fetched < pages for run in runs):
        lines.append("Some crawls fetched everything they could reach, so their order hardly counts.")
    if left := [query for query in topics if query not in relevant]:
        lines.append(f"Left out, as nothing is relevant: {'; '.join(left)}.")
    if not any(run.pool for run in runs):
        lines.append("No index, so no retrieval system rank: `webcrawler reindex` makes one.")
    return "\n".join(lines)


def by_strategy(runs: Sequence[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.strategy, []).append(run)
    return found


def _both(values: Sequence[float], digits: int = 1) -> str:
    return f"{fmean(values):.{digits}f} / {median(values):.{digits}f}"


def draw(runs: Sequence[Run], pages: int, folder: Path) -> list[Path]:
    """`found.svg`: all topics together; a file for each topic, numbered, where there are several."""
    files = [_draw(runs, pages, "", folder / "found.svg")]
    queries = list(dict.fromkeys(run.query for run in runs))
    for number, query in enumerate(queries, 1) if len(queries) > 1 else ():
        some = [run for run in runs if run.query == query]
        files.append(_draw(some, pages, query, folder / f"found-{number}.svg"))
    return files


def _draw(runs: Sequence[Run], pages: int, query: str, file: Path) -> Path:
    figure, axes = axes_of("pages fetched", "relevant pages found")
    fetched = np.arange(pages + 1)
    means = {
        strategy: np.mean([np.searchsorted(run.found, fetched, "right") for run in some], axis=0)
        for strategy, some in by_strategy(runs).items()
    }
    plot_curves(axes, fetched, means)
    axes.set_xlim(0, pages)
    axes.set_ylim(0, 1.03 * max(1.0, *(float(mean[-1]) for mean in means.values())))
    queries = {run.query for run in runs}
    title = query or (f"mean of {len(queries)} topics" if len(queries) > 1 else queries.pop())
    axes.set_title(title, fontsize=10, parse_math=False)
    return save(figure, axes, file)
