"""`webcrawler evaluate`: which ordering, which strategy, which policy of fetching pages again is better?"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence, Sized
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webcrawler import urls
from webcrawler.commands import _terminal, base
from webcrawler.commands._terminal import Option
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput, BadUrl, require
from webcrawler.orderings import number, strategies, whole_number

if TYPE_CHECKING:  # slow to import, and Scrapy's own commands import ours
    from webcrawler.evaluation import Metrics, Run, focused

ORDERINGS = "fifo,random,backlink,pagerank,blend"
HOT = "ib:10,ib:100,ir:13"
STRATEGIES = ",".join(mode.name for mode in strategies() if mode.needs != "classifier")
PAGES, PAGES_MAX = "1000", 10**6
SEEDS_MAX, JOBS_MAX = 10_000, 1_000
BUDGETS, WINDOW = "0.01,0.05,0.2", "2012-2015"
POLICIES = "uniform,importance,proportional,nutch,stormcrawler,ep,eb,expected,oracle"
# What belongs to one kind of comparison: its options and their defaults.
ONLY = {
    "--focused TOPICS.json": {"strategies": "", "pages": ""},
    "--freshness": {"policies": POLICIES, "budgets": BUDGETS, "window": WINDOW},
}


# The figures for --json, and what draws them.
Compared = tuple[Mapping[str, Any], Callable[[Path], Sequence[Path]]]


class Evaluate(Command):
    arguments = "GRAPH"
    summary = "Compare orderings on a recorded graph, strategies for a topic, or policies of fetching again"
    details = (
        "GRAPH is the data folder of a crawl (CRAWL_DIR), a *.graph-txt file, an edge list, or a folder "
        "with one of them. Virtual crawlers visit all pages that the start page leads to, in each order. "
        "With --focused they look for pages about given topics, in a recorded crawl. With --freshness, name "
        "files of traces or synthetic?pages=20000&servers=300: which policy keeps a collection freshest?"
    )
    options = (
        Option("--orderings", ORDERINGS, f"modes to compare; hot:MODE needs --query ({ORDERINGS})"),
        Option("--start", "", "numbers or URLs of start pages (the first page with links)"),
        Option("--seeds", "", "crawls of each ordering that uses chance, or their seeds as 1,2,7 (10)"),
        Option("--jobs", "", "crawls at a time (as many as there are processors)"),
        Option("--hot", HOT, f"which pages are hot: ib:10, ir:1%%, is:WORD+ib:5 … ({HOT})"),
        Option("--buffer", "0", "share of the pages that can be kept, as 0.1, for P_BC (all)"),
        Option("--flush", "ir", "what leaves a full buffer first: least ir, least ib, or fifo (ir)"),
        Option("--reorder", "1", "percent of the pages between two updates of ranks (1)"),
        Option("--query", "", "words of a topic, for orderings and metrics that need them"),
        Option("--max-pages", "0", "stop each crawl after this many pages (all)"),
        Option("--focused", None, "compare strategies of focused crawling on these topics", "TOPICS.json"),
        Option("--strategies", "", f"modes to compare with --focused ({STRATEGIES})"),
        Option("--pages", "", f"documents that each focused crawl fetches ({PAGES})"),
        Option("--freshness", False, "compare when to fetch pages again"),
        Option("--policies", POLICIES, f"policies to compare with --freshness ({POLICIES})"),
        Option("--budgets", BUDGETS, f"with --freshness: fetches a page and day ({BUDGETS})"),
        Option("--window", WINDOW, f"with --freshness: years of the traces ({WINDOW})"),
        Option("--plots", None, "draw the curves as SVG files", "DIR"),
        Option("--json", None, "write all figures as JSON", "FILE"),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        kinds = {"--freshness": opts.freshness, "--focused TOPICS.json": opts.focused is not None}
        if not args or (len(args) > 1 and not opts.freshness):
            raise BadInput("name one graph: `webcrawler evaluate crawl`, or a graph file; --help says more")
        if all(kinds.values()):
            raise BadInput("give --focused or --freshness, not both")
        for kind, options in ONLY.items():
            for name, default in options.items():
                if not kinds[kind] and getattr(opts, name) != default:
                    raise BadInput(f"--{name} belongs to {kind}")
        if opts.seeds and opts.focused is not None:
            raise BadInput("--seeds is for orderings and --freshness")
        if opts.jobs and opts.freshness:
            raise BadInput("--jobs is for orderings and strategies; --freshness has one process")
        seeds, jobs = _seeds(opts.seeds), _jobs(opts.jobs)
        if opts.plots:
            require("plots", "--plots")
            base.check_folder(Path(opts.plots))
        if opts.json:
            base.check_file(Path(opts.json))
        if opts.freshness:
            compared = self._compare_policies(args, opts, seeds or [1])
        elif opts.focused is not None:
            compared = self._compare_strategies(Path(args[0]), opts, jobs)
        else:
            compared = self._compare_orderings(Path(args[0]), opts, seeds, jobs)
        if compared:
            figures, draw = compared
            if opts.json:
                base.write_json(Path(opts.json), figures)
            for file in draw(Path(opts.plots)) if opts.plots else ():
                print(_terminal.printable(str(file)))

    def _compare_orderings(
        self, graph: Path, opts: argparse.Namespace, seeds: Sequence[int], jobs: int
    ) -> Compared | None:
        from webcrawler import evaluation

        metrics, pages_max = _metrics(opts), whole_number("--max-pages", opts.max_pages)
        orderings = base.comma_separated(opts.orderings, "--orderings")
        experiments = evaluation.experiments(orderings, seeds or evaluation.SEEDS, opts.query)
        starts = base.comma_separated(opts.start, "--start") if opts.start else [""]
        found: dict[int, Run] = {}
        with self.interruptible(lambda: _over(found)):
            recorded = evaluation.read(graph)
            with _terminal.progress_bars() as progress:
                for number, run in evaluation.runs(
                    recorded, starts, experiments, metrics, progress, pages_max, jobs
                ):
                    found[number] = run
        if not found:
            return None
        results = evaluation.Results(recorded, [found[number] for number in sorted(found)])
        pages = recorded.graph.pages
        for start, run in {run.start: run for run in results.runs}.items():
            hot = "; ".join(f"{name} {number:,}" for name, number in run.hot.items())
            reached = f"From {start}: {run.pages:,} of {pages:,} pages can be reached."
            print(f"{reached} Hot pages: {hot}." if hot else reached)
        print(f"\n{results}", flush=True)  # before files, which may fail
        return results.as_json(), partial(evaluation.plots.draw, recorded, results.runs)

    def _compare_strategies(self, crawl_dir: Path, opts: argparse.Namespace, jobs: int) -> Compared | None:
        from webcrawler.evaluation import focused

        experiments = _experiments(opts)
        recording = focused.Recording(crawl_dir)
        experiments.check()
        found: dict[int, list[focused.Run]] = {}
        with self.interruptible(lambda: _over(found)), _terminal.progress_bars() as progress:
            for number, of_topic in focused.runs(recording, experiments, progress, jobs):
                found[number] = of_topic
        if not found:
            return None
        runs = [run for number in sorted(found) for run in found[number]]
        pages, topics = experiments.pages, [topic.query for topic in experiments.topics]
        print(focused.summary(runs, pages, topics, recording))
        print("\n" + focused.tables(runs, pages), flush=True)  # before files, which may fail
        figures = {
            "documents": len(recording.documents),
            "pages": pages,
            "compared": focused.compared(runs, pages),
            "runs": [run.as_json(pages) for run in runs],
        }
        return figures, partial(focused.draw, runs, pages)

    def _compare_policies(
        self, sources: Sequence[str], opts: argparse.Namespace, seeds: Sequence[int]
    ) -> Compared | None:
        from webcrawler.evaluation import freshness

        policies = base.comma_separated(opts.policies, "--policies")
        freshness.check(policies)
        budgets = [
            number("--budgets", text, lambda it: 0 < it <= 1000, "above 0, fetches a page and day")
            for text in base.comma_separated(opts.budgets, "--budgets")
        ]
        worlds = freshness.worlds([base.utf8(source, "the world") for source in sources], seeds, opts.window)
        runs: list[freshness.Run] = []
        with self.interruptible(lambda: _over(runs)), _terminal.progress_bars() as progress:
            for run in freshness.runs(worlds, policies, budgets, progress):
                runs.append(run)
        if not runs:
            return None
        print(freshness.summary(worlds))
        print("\n" + freshness.tables(runs), flush=True)  # before files, which may fail
        return {"runs": freshness.as_json(runs)}, partial(freshness.draw, runs)


def _seeds(text: str) -> list[int]:
    """Seeds 1 to N for a number N, the seeds themselves where there is a comma; none: the default."""
    if "," in text:
        return [whole_number("--seeds", seed) for seed in base.comma_separated(text, "--seeds")]
    return list(range(1, whole_number("--seeds", text, 1, SEEDS_MAX) + 1)) if text else []


def _jobs(text: str) -> int:
    from webcrawler.evaluation import processors

    return whole_number("--jobs", text, 1, JOBS_MAX) if text else processors()


def _metrics(opts: argparse.Namespace) -> Metrics:
    from webcrawler.evaluation import Metrics, check_flush, hotness

    hot = tuple(base.comma_separated(opts.hot, "--hot"))
    hotness.check(hot, base.utf8(opts.query, "--query"))
    check_flush(opts.flush)
    percent = number("--reorder", opts.reorder, lambda it: 0 <= it <= 100, "from 0 to 100")
    if not percent:
        raise BadInput("--reorder must be above 0 percent, as 0.2")
    share = number("--buffer", opts.buffer, lambda it: 0 <= it <= 1, "from 0 to 1")
    return Metrics(hot, share, opts.flush, percent, opts.query)


def _experiments(opts: argparse.Namespace) -> focused.Experiments:
    from webcrawler.evaluation.focused import Experiments, read_topics

    given = [url.strip() for url in base.utf8(opts.start, "--start").split(",") if url]
    try:
        starts = [urls.canonical(url) for url in given]
    except BadUrl:
        raise BadInput(f"--start={opts.start[:200]}: the crawl has no such document; write its URL") from None
    strategies = base.comma_separated(opts.strategies or STRATEGIES, "--strategies")
    pages = whole_number("--pages", opts.pages or PAGES, 1, PAGES_MAX)
    return Experiments(read_topics(Path(opts.focused)), strategies, pages, starts)


def _over(runs: Sized) -> str:
    return "these crawls were over" if runs else "no crawl was over"
