"""What people read: a row a query, then the means and who won how often."""

from __future__ import annotations

from collections.abc import Mapping

from webcrawler.evaluation.judged.measures import MEASURES
from webcrawler.evaluation.judged.verdict import Verdict

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
