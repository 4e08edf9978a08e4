"""`scrapy evaluate`: which ordering, which strategy, which policy of fetching pages again is better?"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webcrawler import urls
from webcrawler.commands import base
from webcrawler.commands.base import Command, Option
from webcrawler.errors import BadInput, BadUrl
from webcrawler.orderings import strategies

if TYPE_CHECKING:  # slow to import, and each `scrapy` command imports all of them
    from webcrawler.evaluation import Metrics, Run, focused

ORDERINGS = "fifo,random,backlink,pagerank,blend"
HOT = "ib:10,ib:100,ir:13"
STRATEGIES = ",".join(mode.name for mode in strategies() if not mode.library)
PAGES, PAGES_MAX = "1000", 10**6
Compared = tuple[Mapping[str, Any], Sequence[Path]]  # the figures for --json, the files that were drawn
BUDGETS, WINDOW = "0.01,0.05,0.2", "2012-2015"
POLICIES = "uniform,importance,proportional,nutch,stormcrawler,ep,eb,harmonic,expected,oracle"
# What belongs to one kind of comparison: its options and their defaults.
ONLY = {
    "--focused TOPICS.json": {"strategies": "", "known": "0", "pages": ""},
    "--freshness": {"policies": POLICIES, "budgets": BUDGETS, "window": WINDOW},
}


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
        Option("--seeds", "1", "seeds of orderings that use chance, as 1,2,3 (1)"),
        Option("--hot", HOT, f"which pages are hot: ib:10, ir:1%%, is:WORD+ib:5 … ({HOT})"),
        Option("--buffer", "0", "share of the pages that can be kept, as 0.1, for P_BC (all)"),
        Option("--flush", "ir", "what leaves a full buffer first: least ir, least ib, or fifo (ir)"),
        Option("--reorder", "1", "percent of the pages between two updates of ranks (1)"),
        Option("--query", "", "words of a topic, for orderings and metrics that need them"),
        Option("--max-pages", "0", "stop each crawl after this many pages (all)"),
        Option("--focused", None, "compare strategies of focused crawling on these topics", "TOPICS.json"),
        Option("--strategies", "", f"modes to compare with --focused ({STRATEGIES})"),
        Option("--pages", "", f"documents that each focused crawl fetches ({PAGES})"),
        Option("--known", "0", "random documents known beforehand, chosen by --seeds (0)"),
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
            raise BadInput("name one graph: `scrapy evaluate crawl`, or a graph file; --help says more")
        if all(kinds.values()):
            raise BadInput("give --focused or --freshness, not both")
        seeds = [base.whole_number(seed, "--seeds") for seed in base.comma_separated(opts.seeds, "--seeds")]
        for kind, options in ONLY.items():
            for name, default in options.items():
                if not kinds[kind] and getattr(opts, name) != default:
                    raise BadInput(f"--{name} belongs to {kind}")
        if opts.plots:
            from webcrawler.evaluation import plots

            plots.check()
            base.check_folder(Path(opts.plots))
        if opts.json:
            base.check_file(Path(opts.json))
        if opts.freshness:
            figures, files = self._compare_policies(args, opts, seeds)
        else:
            compare = self._compare_orderings if opts.focused is None else self._compare_strategies
            figures, files = compare(Path(args[0]), opts, seeds)
        if opts.json and figures:
            base.write_json(Path(opts.json), figures)
        for file in files:
            print(base.printable(str(file)))

    def _compare_orderings(self, graph: Path, opts: argparse.Namespace, seeds: Sequence[int]) -> Compared:
        from webcrawler import evaluation

        metrics, pages_max = _metrics(opts), base.whole_number(opts.max_pages, "--max-pages")
        orderings = base.comma_separated(opts.orderings, "--orderings")
        experiments = evaluation.experiments(orderings, seeds, opts.query)
        starts = base.comma_separated(opts.start, "--start") if opts.start else [""]
        runs: list[Run] = []
        with self.interruptible(lambda: _over(runs)):
            recorded = evaluation.read(graph)
            with evaluation.private_redis() as connection, base.progress_bars() as progress:
                for run in evaluation.runs(
                    recorded, starts, experiments, metrics, connection, progress, pages_max
                ):
                    runs.append(run)
        if not runs:
            return {}, ()
        pages, links = recorded.graph.pages, recorded.graph.links
        for start, run in {run.start: run for run in runs}.items():
            hot = "; ".join(f"{name} {number:,}" for name, number in run.hot.items())
            reached = f"From {start}: {run.pages:,} of {pages:,} pages can be reached."
            print(f"{reached} Hot pages: {hot}." if hot else reached)
        print("\n" + evaluation.tables(runs), flush=True)  # before files, which may fail
        figures = {"graph": {"pages": pages, "links": links}, "runs": [run.as_json() for run in runs]}
        return figures, evaluation.plots.draw(recorded, runs, Path(opts.plots)) if opts.plots else ()

    def _compare_strategies(
        self, crawl_dir: Path, opts: argparse.Namespace, seeds: Sequence[int]
    ) -> Compared:
        from webcrawler.evaluation import focused, private_redis

        experiments = _experiments(opts, seeds)
        recording = focused.Recording(crawl_dir)
        experiments.check()
        runs: list[focused.Run] = []
        with (
            self.interruptible(lambda: _over(runs)),
            private_redis() as connection,
            base.progress_bars() as progress,
        ):
            for of_topic in focused.runs(recording, experiments, connection, progress):
                runs += of_topic
        if not runs:
            return {}, ()
        pages, topics = experiments.pages, [topic.query for topic in experiments.topics]
        print(focused.summary(runs, pages, experiments.known, topics, recording))
        print("\n" + focused.tables(runs, pages), flush=True)  # before files, which may fail
        figures = {
            "documents": len(recording.documents),
            "not_archived": len(recording.not_archived),
            "pages": pages,
            "known": experiments.known,
            "runs": [run.as_json(pages) for run in runs],
        }
        return figures, focused.draw(runs, pages, Path(opts.plots)) if opts.plots else ()

    def _compare_policies(
        self, sources: Sequence[str], opts: argparse.Namespace, seeds: Sequence[int]
    ) -> Compared:
        from webcrawler.evaluation import freshness

        policies = base.comma_separated(opts.policies, "--policies")
        freshness.check(policies)
        budgets = [_budget(text) for text in base.comma_separated(opts.budgets, "--budgets")]
        worlds = freshness.worlds([base.utf8(source, "the world") for source in sources], seeds, opts.window)
        runs: list[freshness.Run] = []
        with self.interruptible(lambda: _over(runs)), base.progress_bars() as progress:
            for run in freshness.runs(worlds, policies, budgets, progress):
                runs.append(run)
        if not runs:
            return {}, ()
        print(freshness.summary(worlds))
        print("\n" + freshness.tables(runs), flush=True)  # before files, which may fail
        figures = {"runs": freshness.as_json(runs)}
        return figures, freshness.draw(runs, Path(opts.plots)) if opts.plots else ()


def _budget(text: str) -> float:
    return base.number(text, "--budgets", lambda it: 0 < it <= 1000, "above 0, fetches a page and day")


def _metrics(opts: argparse.Namespace) -> Metrics:
    from webcrawler.evaluation import Metrics, check_flush, hotness

    hot = tuple(base.comma_separated(opts.hot, "--hot"))
    hotness.check(hot, base.utf8(opts.query, "--query"))
    check_flush(opts.flush)
    percent = base.number(opts.reorder, "--reorder", lambda it: 0 <= it <= 100, "from 0 to 100")
    if not percent:
        raise BadInput("--reorder must be above 0 percent, as 0.2")
    share = base.number(opts.buffer, "--buffer", lambda it: 0 <= it <= 1, "from 0 to 1")
    return Metrics(hot, share, opts.flush, percent, opts.query)


def _experiments(opts: argparse.Namespace, seeds: Sequence[int]) -> focused.Experiments:
    from webcrawler.evaluation.focused import Experiments, read_topics

    given = [url.strip() for url in base.utf8(opts.start, "--start").split(",") if url]
    try:
        starts = [urls.canonical(url) for url in given]
    except BadUrl:
        raise BadInput(f"--start={opts.start[:200]}: the crawl has no such document; write its URL") from None
    strategies = base.comma_separated(opts.strategies or STRATEGIES, "--strategies")
    pages = base.whole_number(opts.pages or PAGES, "--pages", 1, PAGES_MAX)
    known = base.whole_number(opts.known, "--known", 0, PAGES_MAX)
    return Experiments(read_topics(Path(opts.focused)), strategies, pages, starts, known, seeds)


def _over(runs: Sequence[object]) -> str:
    return "these crawls were over" if runs else "no crawl was over"
