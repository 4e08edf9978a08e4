"""Curves like Graphs 1-10 of Cho 1998, and the histogram of Graph 6, as SVG files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler import linkgraph
from webcrawler.evaluation import measures
from webcrawler.evaluation.laboratory import Run
from webcrawler.evaluation.recorded import Recorded

# Distinguishable without full colour vision (Okabe and Ito 2008), and by their dashes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
GREY = "#888888"
SIZE_INCHES = (6.4, 4.4)
NAME_CHARACTERS = 60  # of a file; four bytes each at most
CLASSES = 60  # of the histogram, at most
NAMES = {"ib": "backlinks, I(P) = IB(P)", "ir": "PageRank, I(P) = IR(P)"}


def draw(recorded: Recorded, runs: Sequence[Run], folder: Path) -> list[Path]:
    """One file for each --hot and start, one for each metric's P_CS, and the histogram of backlinks."""
    files: list[Path] = []
    for start in dict.fromkeys(run.start for run in runs):
        some = [run for run in runs if run.start == start]
        place = "" if len({run.start for run in runs}) == 1 else f"-from-{start}"
        for name in (name for name, number in some[0].hot.items() if number):
            files.append(_draw_p_st(some, name, _free(folder, f"p_st-{name}{place}", files)))
        for name in some[0].figures.p_cs:
            files.append(_draw_p_cs(some, name, _free(folder, f"p_cs-{name}{place}", files)))
    files.append(_draw_histogram(linkgraph.backlinks(recorded.graph), folder / "backlinks.svg"))
    return files


def _free(folder: Path, name: str, taken: Sequence[Path]) -> Path:
    """A file with a plain name, numbered if the name, cut to length, is already taken."""
    plain = re.sub(r"[^\w.-]+", "-", name.replace("%", "pct"))[:NAME_CHARACTERS].strip("-")
    files = (folder / f"{plain}{number}.svg" for number in chain([""], (f"-{n}" for n in count(2))))
    return next(file for file in files if file not in taken)


def _draw_p_st(runs: Sequence[Run], name: str, file: Path) -> Path:
    figure, axes = axes_of("% of pages crawled", "% of hot pages found")
    hot, pages = runs[0].hot[name], runs[0].pages
    axes.plot(measures.PERCENTS, measures.ideal(pages, hot), color=GREY, linestyle=":", label="ideal")
    _means(axes, runs, lambda run: run.figures.p_st[name])
    axes.set_title(f"P_ST, hot: {name} ({hot:,} of {pages:,} pages)", fontsize=10, parse_math=False)
    return save(figure, axes, file)


def _draw_p_cs(runs: Sequence[Run], name: str, file: Path) -> Path:
    figure, axes = axes_of("% of pages crawled", "% of them among the best as many")
    axes.axhline(100, color=GREY, linestyle=":", label="ideal")
    _means(axes, runs, lambda run: run.figures.p_cs[name])
    axes.set_title(f"P_CS, {NAMES.get(name, name)} ({runs[0].pages:,} pages)", fontsize=10)
    return save(figure, axes, file)


def _means(axes: Any, runs: Sequence[Run], curve: Callable[[Run], list[float | None]]) -> None:
    """A curve for each ordering, the mean over seeds; and the diagonal of a crawler that picks at random."""
    means = {
        name: np.mean(np.array([curve(run) for run in runs if run.ordering == name], np.float64), axis=0)
        for name in dict.fromkeys(run.ordering for run in runs)
    }
    plot_curves(axes, measures.PERCENTS, means)
    axes.plot(measures.PERCENTS, measures.PERCENTS, color=GREY, linewidth=1, label="at random")


def plot_curves(axes: Any, across: NDArray[Any], curves: Mapping[str, NDArray[np.float64]]) -> None:
    """Later curves are thinner, so that all of several equal ones are visible."""
    for number, (name, curve) in enumerate(curves.items()):
        look = {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}
        axes.plot(across, curve, label=name, linewidth=max(0.9, 2.6 - 0.22 * number), **look)


def _draw_histogram(backlinks: NDArray[np.int64], file: Path) -> Path:
    """Graph 6: how many pages have how many backlinks; rare counts are averaged over a class."""
    figure, axes = axes_of("backlinks", "pages with so many")
    most = int(backlinks.max())
    edges = np.concatenate(([0], np.unique(np.geomspace(1, most + 1, CLASSES).astype(np.int64))))
    counts, _ = np.histogram(backlinks, edges)
    heights = counts / np.diff(edges)
    axes.stairs(heights, edges, fill=True, color=COLOURS[0])
    axes.set_yscale("log")
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(0, most + 1)
    axes.set_ylim(heights[heights > 0].min() / 2, heights.max() * 2)
    axes.set_title(f"Backlink counts of {len(backlinks):,} pages", fontsize=10)
    return save(figure, axes, file, legend=False)


def axes_of(across: str, up: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # without pyplot: no state, no window

    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    axes: Any = figure.add_subplot()
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 103)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure: Any, axes: Any, file: Path, legend: bool = True) -> Path:
    """Write an SVG file whose text is searchable; equal figures give equal files."""
    import matplotlib

    if legend:
        for text in axes.legend(fontsize=8, frameon=False).get_texts():
            text.set_parse_math(False)  # the name of an ordering may contain a $
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": file.name}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file
