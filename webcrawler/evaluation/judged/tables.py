"""A comparison as people read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from webcrawler.evaluation.judged.comparison import Comparison
from webcrawler.evaluation.judged.measures import MEASURES

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
