"""`scrapy evaluate`: which ordering finds the important pages first, which strategy those of a topic?"""

from __future__ import annotations

import argparse
import math
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webcrawler.commands import _focused, _interrupts, _targets
from webcrawler.commands.base import Command, printable
from webcrawler.errors import BadInput
from webcrawler.orderings import strategies

if TYPE_CHECKING:  # slow to import, and each `scrapy` command imports all of them
    from webcrawler.evaluation import Experiment, Progress, Recorded, Run, Wanted

ORDERINGS = "fifo,random,backlink,pagerank,blend"
HOT = "ib:10,ib:100,ir:13"
STRATEGIES = ",".join(mode.name for mode in strategies() if not mode.library)


class Evaluate(Command):
    def syntax(self) -> str:
        return "[options] GRAPH"

    def short_desc(self) -> str:
        return "Compare URL orderings on a recorded graph"

    def long_desc(self) -> str:
        return (
            "GRAPH is the data folder of a crawl (CRAWL_DIR), a *.graph-txt file, an edge list, or a folder "
            "with one of them. Virtual crawlers visit what can be reached from the start page in each order. "
            "With --focused they look for the pages of topics, in a recorded crawl."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--orderings", default=ORDERINGS, help=f"modes of a crawl; hot:MODE with --query ({ORDERINGS})"
        )
        parser.add_argument(
            "--start", default="", help="number or URL of the start page, or several (the first with links)"
        )
        parser.add_argument("--seeds", default="1", help="of orderings with chance in them, as 1,2,3 (1)")
        parser.add_argument(
            "--hot", default=HOT, help=f"which pages are hot: ib:10, ir:1%%, is:WORD+ib:5 … ({HOT})"
        )
        parser.add_argument(
            "--buffer", default="0", help="share of pages that can be kept, as 0.1, for P_BC (all)"
        )
        parser.add_argument(
            "--flush", default="ir", help="what leaves a full buffer first: least ir, least ib, or fifo (ir)"
        )
        parser.add_argument(
            "--reorder", default="1", help="percent of pages between two updates of ranks (1)"
        )
        parser.add_argument(
            "--query", default="", help="words of a topic, for orderings and metrics that want one"
        )
        parser.add_argument("--max-pages", default="0", help="stop each crawl after so many pages (all)")
        parser.add_argument(
            "--focused", metavar="TOPICS.json", help="compare strategies of focused crawling on these topics"
        )
        parser.add_argument(
            "--strategies", default="", help=f"modes that look for a topic's query ({STRATEGIES})"
        )
        parser.add_argument("--pages", default="", help="documents that each focused crawl fetches (1000)")
        parser.add_argument(
            "--known",
            default="0",
            help="so many random documents are indexed beforehand; --seeds draws them (0)",
        )
        parser.add_argument("--plots", metavar="DIR", help="draw the curves as SVG files")
        parser.add_argument("--json", metavar="FILE", help="write all figures")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise BadInput("name one graph: `scrapy evaluate crawl`, or a graph file; --help says more")
        if opts.focused is not None:
            self._answer_focused(Path(args[0]), opts)
            return
        _focused.refuse_without(opts)
        from webcrawler import evaluation

        seeds = [_whole(seed, "--seeds") for seed in _items(opts.seeds, "--seeds")]
        wanted, pages_max = _wanted(opts), _whole(opts.max_pages, "--max-pages")
        wanted_experiments = evaluation.experiments(_items(opts.orderings, "--orderings"), seeds, opts.query)
        starts = _items(opts.start, "--start") if opts.start else [""]
        _check_targets(opts)
        runs: list[Run] = []
        with self._until_interrupted(runs):
            recorded = evaluation.read(Path(args[0]))
            with evaluation.private_redis() as connection, _bars() as progress:
                for run in evaluation.runs(
                    recorded, starts, wanted_experiments, wanted, connection, progress, pages_max
                ):
                    runs.append(run)
        if runs:
            self._show(recorded, runs, opts)

    def _answer_focused(self, crawl_dir: Path, opts: argparse.Namespace) -> None:
        from webcrawler.evaluation import private_redis

        seeds = [_whole(seed, "--seeds") for seed in _items(opts.seeds, "--seeds")]
        _check_targets(opts)
        _unicode(opts.start, "--start")
        strategies = _items(opts.strategies or STRATEGIES, "--strategies")
        focused = _focused.Focused(crawl_dir, opts, strategies, seeds)
        with self._until_interrupted(focused.runs), private_redis() as connection, _tasks() as progress:
            focused.crawl(connection, progress)
        if focused.runs:
            focused.show()

    @contextmanager
    def _until_interrupted(self, runs: Sequence[object]) -> Iterator[None]:
        """By Ctrl-C, `kill`, or a terminal that is gone: the private Redis has to be ended in any case."""
        try:
            with _interrupts.made_of(signal.SIGTERM, signal.SIGHUP):
                yield
        except KeyboardInterrupt:
            self.exitcode = 1
            over = "these crawls were over" if runs else "no crawl was over"
            print(f"interrupted: {over}", file=sys.stderr)

    def _show(self, recorded: Recorded, runs: list[Run], opts: argparse.Namespace) -> None:
        """Tables first: they are safe when a file cannot be written after all."""
        from webcrawler.evaluation import tables

        for start, run in {run.start: run for run in runs}.items():
            print(f"From {start}: {run.pages:,} of {recorded.graph.pages:,} pages can be reached.", end="")
            hot = "; ".join(f"{name} {number:,}" for name, number in run.hot.items())
            print(f" Hot pages: {hot}." if hot else "")
        print("\n" + tables(runs), flush=True)
        if opts.json:
            figures = {"pages": recorded.graph.pages, "links": recorded.graph.links}
            _targets.write_json(Path(opts.json), {"graph": figures, "runs": [run.as_json() for run in runs]})
        if opts.plots:
            from webcrawler.evaluation import plots

            for file in plots.draw(recorded, runs, Path(opts.plots)):
                print(f"{printable(str(file))}")


def _check_targets(opts: argparse.Namespace) -> None:
    """Raises BadInput: what was asked for could not be written."""
    if opts.plots:
        from webcrawler.evaluation import plots

        plots.check()
        _targets.check_folder(Path(opts.plots))
    if opts.json:
        _targets.check_file(Path(opts.json))


def _wanted(opts: argparse.Namespace) -> Wanted:
    from webcrawler.evaluation import Wanted, check_flush, hotness

    hot = tuple(_items(opts.hot, "--hot"))
    hotness.check(hot, _unicode(opts.query, "--query"))
    check_flush(opts.flush)
    share, percent = _share(opts.buffer, "--buffer", 1.0), _share(opts.reorder, "--reorder", 100.0)
    if not percent:
        raise BadInput("--reorder wants a percentage above 0, as 0.2")
    return Wanted(hot, share, opts.flush, percent, opts.query)


def _items(text: str, option: str) -> list[str]:
    found = [item.strip() for item in _unicode(text, option).split(",") if item.strip()]
    if not found:
        raise BadInput(f"{option} wants at least one item")
    return found


def _unicode(text: str, option: str) -> str:
    """The text; the bytes of an argument that were none arrive as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{option} wants UTF-8 text: other bytes are in it") from None
    return text


def _whole(text: str, option: str) -> int:
    if not (text.isdecimal() and len(text) < 18):
        raise BadInput(f"{option} wants whole numbers, not {text[:60]!r}")
    return int(text)


def _share(text: str, option: str, most: float) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found <= most:
        raise BadInput(f"{option} wants a number from 0 to {most:g}, not {text[:60]!r}")
    return found


@contextmanager
def _bars() -> Iterator[Progress]:
    """A bar for each crawl."""
    with _tasks() as show:

        def progress(one: Experiment, start: str, pages: int, visits: int) -> None:
            show(" ".join(filter(None, (one.mode, start))), visits, pages)

        yield progress


@contextmanager
def _tasks() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each thing that is told of, on a terminal; what is over makes room for the next."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
        tasks: dict[str, Any] = {}

        def progress(what: str, done: int, all: int) -> None:
            if what not in tasks:
                for over in tasks.values():
                    bars.update(over, visible=False)
                tasks[what] = bars.add_task(what, total=all)
            bars.update(tasks[what], completed=done)

        yield progress
