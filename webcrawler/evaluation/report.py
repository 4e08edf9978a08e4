"""The figures of many runs as tables for people: means over seeds and starts, and how far they are apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, stdev

from webcrawler.evaluation.laboratory import Run

EARLY = 5  # percent crawled, for the second table
Row = Sequence[str]


def tables(runs: Sequence[Run]) -> str:
    """Area under P_ST, hot pages found early, what a limited buffer keeps: one row an ordering and start."""
    hot = list(dict.fromkeys(name for run in runs for name in run.figures.auc))
    kept = list(dict.fromkeys(name for run in runs for name in run.figures.p_bc))
    shown = [_table("area under P_ST, %", hot, runs, lambda run, name: run.figures.auc.get(name), True)]
    shown += [
        _table(
            f"hot pages found at {EARLY} % crawled, %",
            hot,
            runs,
            lambda run, name: run.figures.p_st.get(name, [None] * 101)[EARLY],
        )
    ]
    if kept:
        shown.append(
            _table(
                "P_BC: hot in the final buffer, %", kept, runs, lambda run, name: run.figures.p_bc.get(name)
            )
        )
    if not hot:
        shown = shown[2:]
    return "\n\n".join(shown)


def grouped(runs: Sequence[Run]) -> dict[tuple[str, int | str | None], list[Run]]:
    """By ordering and start; by ordering over all starts, too, where there are several (start None)."""
    starts = list(dict.fromkeys(run.start for run in runs))
    found: dict[tuple[str, int | str | None], list[Run]] = {}
    for run in runs:
        found.setdefault((run.ordering, run.start), []).append(run)
    for run in runs if len(starts) > 1 else ():
        found.setdefault((run.ordering, None), []).append(run)
    return found


def _table(
    title: str,
    names: Sequence[str],
    runs: Sequence[Run],
    value: Callable[[Run, str], float | None],
    with_seconds: bool = False,
) -> str:
    rows = [[title, "start", *names, *(["seconds"] if with_seconds else [])]]
    for (ordering, start), some in grouped(runs).items():
        cells = [_cell([value(run, name) for run in some]) for name in names]
        seconds = [f"{fmean(run.seconds for run in some):.1f}"] if with_seconds else []
        rows.append([ordering, "all" if start is None else str(start), *cells, *seconds])
    return aligned(rows)


def _cell(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    spread = f" ± {stdev(known):.1f}" if len(known) > 1 else ""
    return f"{fmean(known):.1f}{spread}"


def aligned(rows: Sequence[Row]) -> str:
    """The first two columns to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number < 2 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
