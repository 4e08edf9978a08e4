"""The figures of focused crawls for people: a row a strategy, over all topics, mean and median."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

import numpy as np

from webcrawler.evaluation.focused.measures import FIRST, Run, marks_of
from webcrawler.evaluation.plots import COLOURS, DASHES, axes_of, save
from webcrawler.evaluation.report import aligned

BASELINE = "breadth"  # over servers in turn


def tables(runs: Sequence[Run], pages: int) -> str:
    """Relevant pages found, recall, the first ten; of crawls of so many pages."""
    shown = [_found(runs, pages), _shares(runs, pages)]
    if all(run.pool for run in runs):
        shown.append(_pooled(runs))
    return "\n\n".join(shown)


def by_strategy(runs: Sequence[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.strategy, []).append(run)
    return found


def times_baseline(runs: Sequence[Run], pages: int) -> dict[str, float]:
    """Relevant pages found as a multiple of what breadth-first found, over the topics that both crawled.

    Empty where nobody went breadth-first, or where that found nothing.
    """
    plain = {(run.query, run.seed): run.at(pages) for run in runs if run.strategy == BASELINE}
    ratios = {}
    for strategy, some in by_strategy(runs).items():
        both = [run for run in some if (run.query, run.seed) in plain]
        if below := sum(plain[run.query, run.seed] for run in both):
            ratios[strategy] = sum(run.at(pages) for run in both) / below
    return ratios


def _found(runs: Sequence[Run], pages: int) -> str:
    marks, times = marks_of(pages), times_baseline(runs, pages)
    heads = [*(f"@{mark}" for mark in marks), f"× {BASELINE}", "tried", "seconds"]
    rows = [["relevant pages found", "crawls", *heads]]
    for strategy, some in by_strategy(runs).items():
        cells = [_both([run.at(mark) for run in some], "{:.1f}") for mark in marks]
        ratio = f"{times[strategy]:.1f}" if strategy in times else "–"
        tried, seconds = fmean(run.tried for run in some), fmean(run.seconds for run in some)
        rows.append([strategy, str(len(some)), *cells, ratio, f"{tried:.0f}", f"{seconds:.1f}"])
    return aligned(rows)


def _shares(runs: Sequence[Run], pages: int) -> str:
    marks = marks_of(pages)
    heads = [*(f"recall @{mark}" for mark in marks), "harvest %", f"first {FIRST}", f"{FIRST} found"]
    rows = [["mean / median", "crawls", *heads]]
    for strategy, some in by_strategy(runs).items():
        cells = [_both([run.recall(mark) for run in some], "{:.2f}") for mark in marks]
        cells.append(_both([100 * run.harvest(pages) for run in some], "{:.1f}"))
        until = median(run.until() for run in some)
        cells.append("–" if until == float("inf") else f"{until:.0f}")
        cells.append(f"{sum(run.until() <= pages for run in some)} of {len(some)}")
        rows.append([strategy, str(len(some)), *cells])
    return aligned(rows)


def _pooled(runs: Sequence[Run]) -> str:
    rows = [["retrieval system rank, %", "crawls", "place in the pool", "of its top 100"]]
    for strategy, some in by_strategy(runs).items():
        pools = [run.pool for run in some if run.pool]
        places, tops = [pool.mean_place for pool in pools], [pool.top_share for pool in pools]
        rows.append([strategy, str(len(some)), _both(places, "{:.1f}"), _both(tops, "{:.1f}")])
    return aligned(rows)


def _both(values: Sequence[float], form: str) -> str:
    return f"{form.format(fmean(values))} / {form.format(median(values))}"


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
    fetched, most = np.arange(pages + 1), 1.0
    for number, (name, some) in enumerate(by_strategy(runs).items()):
        mean = np.mean([np.searchsorted(run.found, fetched, "right") for run in some], axis=0)
        most = max(most, float(mean[-1]))
        look = {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}
        axes.plot(fetched, mean, label=name, linewidth=max(0.9, 2.6 - 0.22 * number), **look)
    axes.set_xlim(0, pages)
    axes.set_ylim(0, 1.03 * most)
    queries = {run.query for run in runs}
    title = query or (f"mean of {len(queries)} topics" if len(queries) > 1 else queries.pop())
    axes.set_title(title, fontsize=10, parse_math=False)
    return save(figure, axes, file)
