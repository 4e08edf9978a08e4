"""How good was a focused crawl? Measures of when relevant pages were fetched; tables, curves."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from webcrawler.evaluation.figures import aligned
from webcrawler.evaluation.focused.recorded_web import Recording
from webcrawler.evaluation.measures import Difference, Mean, difference
from webcrawler.evaluation.plots import axes_of, plot_curves, save

TOP = 100  # best pages of the pool
FIRST = 10  # relevant pages: enough to read for somebody who searches
MARKS = (100, 300, 1000)  # pages fetched, at which strategies are compared
BASELINE = "breadth"  # all servers in turn


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
        return self.found[relevant - 1] if len(self.found) >= relevant else float("inf")

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
            "first_10": None if until == float("inf") else int(until),
        }


def marks_of(pages: int) -> list[int]:
    """Where crawls of so many pages are measured: at 100, 300, 1000, and at their end."""
    return [*(mark for mark in MARKS if mark < pages), pages]


def tables(runs: Sequence[Run], pages: int) -> str:
    """Relevant pages found, recall, the first ten; of crawls of so many pages. A row for each strategy."""
    marks, times = marks_of(pages), times_baseline(runs, pages)
    numbers = [f"@{mark}" for mark in marks]
    found = [["relevant pages found", "crawls", *numbers, f"× {BASELINE}", "tried", "seconds"]]
    recalls = [f"recall @{mark}" for mark in marks]
    shares = [["mean / median", "crawls", *recalls, "harvest %", f"first {FIRST}", f"{FIRST} found"]]
    ranks = [["retrieval system rank, %", "crawls", "place in the pool", "of its top 100"]]
    for strategy, some in by_strategy(runs).items():
        name = [strategy, str(len(some))]
        numbers = [_both([run.at(mark) for run in some], 1) for mark in marks]
        ratio = f"{times[strategy]:.1f}" if strategy in times else "–"
        tried, seconds = fmean(run.tried for run in some), fmean(run.seconds for run in some)
        found.append([*name, *numbers, ratio, f"{tried:.0f}", f"{seconds:.1f}"])
        recalls = [_both([run.recall(mark) for run in some], 2) for mark in marks]
        harvest = _both([100 * run.harvest(pages) for run in some], 1)
        until = median(run.until() for run in some)
        first = "–" if until == float("inf") else f"{until:.0f}"
        in_time = sum(run.until() <= pages for run in some)
        shares.append([*name, *recalls, harvest, first, f"{in_time} of {len(some)}"])
        if pools := [run.pool for run in some if run.pool]:
            place = _both([pool.mean_place for pool in pools], 1)
            ranks.append([*name, place, _both([pool.top_share for pool in pools], 1)])
    shown = [found, shares, ranks] if all(run.pool for run in runs) else [found, shares]
    if len({run.query for run in runs}) > 1:
        shown.append(_compared(runs, pages))
    return "\n\n".join(map(aligned, shown))


MEASURES: dict[str, Callable[[Run, int], float]] = {
    "found": lambda run, pages: run.at(pages),
    "recall %": lambda run, pages: 100 * run.recall(pages),
    "harvest %": lambda run, pages: 100 * run.harvest(pages),
}


def comparisons(runs: Sequence[Run], pages: int) -> Iterator[tuple[str, str, Mean, Difference | None]]:
    """For each measure and strategy its mean, and its difference from the first strategy.

    A trial is a topic.
    """
    for measure, value in MEASURES.items():
        found: dict[str, dict[Hashable, float]] = {
            strategy: {run.query: value(run, pages) for run in some}
            for strategy, some in by_strategy(runs).items()
        }
        first = next(iter(found))
        for strategy, of in found.items():
            other = difference(of, found[first]) if strategy != first else None
            yield measure, strategy, Mean.of(list(of.values())), other


def compared(runs: Sequence[Run], pages: int) -> list[dict[str, Any]]:
    """`comparisons` with the keys of docs/reference/commands.md."""
    return [
        {
            "measure": measure,
            "strategy": strategy,
            "mean": mean.as_json(),
            "difference": other and other.as_json(),
        }
        for measure, strategy, mean, other in comparisons(runs, pages)
    ]


def _compared(runs: Sequence[Run], pages: int) -> list[list[str]]:
    """Means with intervals over topics, and differences where a paired test can tell them from chance."""
    names, topics = list(by_strategy(runs)), len({run.query for run in runs})
    means: dict[str, list[str]] = {name: [name, ""] for name in names}
    others = {name: [f"{name} compared with {names[0]}", ""] for name in names[1:]}
    for _, strategy, mean, other in comparisons(runs, pages):
        means[strategy].append(mean.shown())
        if strategy in others:
            others[strategy].append(other.shown() if other else "–")
    head = [f"mean of {topics} topics [95 % interval]", "", *(f"{name} @{pages}" for name in MEASURES)]
    return [head, *means.values(), *others.values()]


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
    if missing := len(recording.not_archived):
        lines.append(f"{missing:,} pages are not in the archive: their links came without the words around.")
    if not any(run.pool for run in runs):
        lines.append("No index, so no retrieval system rank: `webcrawler reindex` makes one.")
    return "\n".join(lines)


def by_strategy(runs: Sequence[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.strategy, []).append(run)
    return found


def times_baseline(runs: Sequence[Run], pages: int) -> dict[str, float]:
    """Relevant pages found as a multiple of what breadth-first found, over the topics that both crawled.

    Empty where nobody went breadth-first, or where that found nothing.
    """
    plain = {run.query: run.at(pages) for run in runs if run.strategy == BASELINE}
    ratios = {}
    for strategy, some in by_strategy(runs).items():
        both = [run for run in some if run.query in plain]
        if below := sum(plain[run.query] for run in both):
            ratios[strategy] = sum(run.at(pages) for run in both) / below
    return ratios


def _both(values: Sequence[float], digits: int) -> str:
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
