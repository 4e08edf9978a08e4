"""Orderings compared in one call, and what came out, for programs and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webcrawler.evaluation import tidy
from webcrawler.evaluation.figures import Metrics, Run, compared, tables
from webcrawler.evaluation.laboratory import experiments, runs
from webcrawler.evaluation.pace import Pace
from webcrawler.evaluation.provenance import described, provenance
from webcrawler.evaluation.recorded import Recorded, read
from webcrawler.evaluation.runner import Progress, processors

SEEDS = range(1, 11)  # of orderings that use chance


@dataclass(frozen=True)
class Results:
    """The crawls of one graph, by start and ordering, and their figures."""

    graph: Recorded
    runs: Sequence[Run]
    pace: Pace | None = None  # None: without a clock

    def __str__(self) -> str:
        return tables(self.runs)

    def rows(self) -> list[dict[str, Any]]:
        """Tidy: a row for each figure of each crawl (`ordering`, `start`, `seed`, `measure`, `of`, …)."""
        return [row for run in self.runs for row in run.rows()]

    def to_pandas(self) -> Any:
        """`rows` as a pandas.DataFrame. Raises BadInput: pandas is not installed."""
        return tidy.to_pandas(self.rows())

    def to_polars(self) -> Any:
        """`rows` as a polars.DataFrame. Raises BadInput: polars is not installed."""
        return tidy.to_polars(self.rows())

    def compared(self) -> list[dict[str, Any]]:
        """Means with 95 % intervals, and differences from the first ordering, each with a paired test."""
        return compared(self.runs)

    def as_json(self) -> dict[str, Any]:
        """All figures, and where they come from; keys as in docs/reference/commands.md."""
        return {
            "graph": {"pages": self.graph.graph.pages, "links": self.graph.graph.links},
            "provenance": provenance(described(self.graph)) | {"pace": self.pace and self.pace._asdict()},
            "compared": self.compared(),
            "runs": [run.as_json() for run in self.runs],
        }


def compare(
    graph: Recorded | Path | str,
    orderings: Sequence[str],
    *,
    starts: Sequence[str] = ("",),
    seeds: Sequence[int] = SEEDS,
    metrics: Metrics | None = None,
    pages_max: int = 0,
    jobs: int = 0,
    pace: Pace | None = None,
    progress: Progress = lambda step, done, all: None,
) -> Results:
    """Crawl a graph in each order and measure it: what `scrapy evaluate` does.

    Args:
        graph: or where it is, as `read` takes it.
        orderings: modes; also the path of a class of your own, "module.Class".
        starts: names, URLs or numbers of start pages; "": the first page with links.
        seeds: of orderings that use chance, a crawl for each.
        metrics: which pages are important, and what else is measured.
        pages_max: visits after which a crawl stops; 0: all pages.
        jobs: crawls at a time, in processes; 0: as many as there are processors. It changes no figure.
        pace: how long downloads take and how far apart they are, to compare orderings by time as well.
    Raises:
        BadInput: there is no such graph, ordering or start page, or --hot is wrong.
    """
    recorded, metrics = graph if isinstance(graph, Recorded) else read(graph), metrics or Metrics()
    crawls = experiments(orderings, seeds, metrics.query)
    found = runs(recorded, starts, crawls, metrics, progress, pages_max, jobs or processors(), pace)
    return Results(recorded, [run for _, run in sorted(found, key=lambda one: one[0])], pace)
