"""How many relevant pages after how many fetches: a line a strategy, the mean over all topics, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from webcrawler.evaluation.focused.measures import Run
from webcrawler.evaluation.focused.report import by_strategy
from webcrawler.evaluation.plots import COLOURS, DASHES, axes_of, save


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
