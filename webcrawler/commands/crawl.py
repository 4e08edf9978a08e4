"""`webcrawler crawl`: Scrapy's own command, which here checks its options before anything starts."""

from __future__ import annotations

import argparse
import json
import re
import sys
from argparse import RawDescriptionHelpFormatter
from asyncio import Future
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from inspect import getdoc
from pathlib import Path
from textwrap import fill
from typing import Any, ClassVar

# First, although a handler needs it much later: it asks for its call stack, which takes the longer the deeper
# that is and the more modules there are: .07 s of processor time here, .37 s there.
import scrapy.core.downloader.contextfactory  # noqa: F401
from scrapy import Spider
from scrapy.commands import BaseRunSpiderCommand, ScrapyHelpFormatter
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.spiderloader import get_spider_loader

from webcrawler import connection
from webcrawler.archive import DOCUMENTS, refuse_lost_records
from webcrawler.archive.catalog import Catalog
from webcrawler.background import hold_start
from webcrawler.commands._results_table import ResultsTable, console
from webcrawler.commands._terminal import Option
from webcrawler.commands.base import Command, check_file, check_folder, write_json
from webcrawler.connection import Connection, RedisError, retry
from webcrawler.crawl import run
from webcrawler.errors import BadInput, Unavailable, WebcrawlerError, require
from webcrawler.frontier import Frontier, maintenance, ordering
from webcrawler.job import Job, read_patterns
from webcrawler.realtime import RealtimeJob, journal
from webcrawler.settings import SETTINGS, complaint, unknown, words_of
from webcrawler.urls import AddressRules, Mirrors

BROKEN = ("batch_failed", "forms_failed", "machine_failed", "scheduler_failed", "views_failed")
STDOUT = "-"
LINE = 100  # of the help page
_EXTENSIONS, _MIDDLEWARES = "EXTENSIONS_BASE", "DOWNLOADER_MIDDLEWARES_BASE"
OPTIONAL = (  # components of Scrapy, and what enables each
    ("TELNETCONSOLE_ENABLED", _EXTENSIONS, "scrapy.extensions.telnet.TelnetConsole"),
    ("REMOTE_CONTROL_ENABLED", _EXTENSIONS, "scrapy.extensions.remote_control.RemoteControl"),
    ("COOKIES_ENABLED", _MIDDLEWARES, "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"),
)


class _Help(ScrapyHelpFormatter, RawDescriptionHelpFormatter):
    """Leaves the lines of a description as they are."""


class Crawl(Command, BaseRunSpiderCommand):
    # Made below, after the checks: Scrapy would make it first, and log a page before one clear line.
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, object]] = {}

    arguments = "[SPIDER | URL … | @FILE] [-a mode=breadth] [-a max_pages=N] [-a max_time=S] …"
    summary = "Crawl from URLs; without any continue the last crawl, or crawl the demo web"
    details = (
        f"{summary}. `webcrawler crawl realtime -a query=WORDS` searches the web: it answers "
        "from the index first, then from pages that the best answers lead to. "
        "The arguments (-a) of both spiders are listed below."
    )
    options = (
        Option("--rescore", False, "continue in another mode: recompute the priorities of waiting URLs"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        where = "write the results of realtime as JSON; without FILE to standard output"
        parser.add_argument("--json", metavar="FILE", nargs="?", const=STDOUT, help=where)
        parser.formatter_class = _Help
        whole = re.sub("`.*?`", lambda code: code[0].replace(" ", "\0"), parser.description or "")
        parser.description = fill(whole, LINE).replace("\0", " ")
        takes = {"index": Job, "realtime": RealtimeJob}
        parts = (f"{name} takes, as -a NAME=VALUE\n{taken(job)}" for name, job in takes.items())
        parser.epilog = "\n\n".join(parts)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        spider = self._spider(self._named(args, opts), opts)
        reads = getattr(spider, "job_type", object)  # spiders of ours say what their arguments make
        if issubclass(reads, Job | RealtimeJob):
            self._check_settings()
        protocols = words_of(self.project["PROTOCOLS"])
        search = _RealtimeSearch(self.crawl_dir, opts, protocols) if issubclass(reads, RealtimeJob) else None
        is_index = issubclass(reads, Job) and not search
        if search:
            from webcrawler.repository import main_index  # which needs SciPy, and a crawl does not

            main_index(self.project)  # what is wrong with it is said before anything is opened
        mirrors = Mirrors.read(self.project["MIRRORS"])
        read_patterns(self.project["FORMS"])
        run.Logins.read(self.project)
        job = Job.read(**opts.spargs).of_originals(mirrors) if is_index else None
        if job:
            job.check_protocols(protocols)
        agents = run.Agents(job.agents if job else 1)
        with ExitStack() as held:
            if search or job:
                held.enter_context(self._check(opts, job))
                self._leave_out(spider)
            self._start(agents)
            self.crawler_process = AsyncCrawlerProcess(self.project)
            crawler = self._create_crawler(spider)
            if search:
                held.enter_context(search.shown_live(crawler))
            crawling = self.crawler_process.crawl(crawler, **opts.spargs)
            self.crawler_process.start()
            with suppress(RuntimeError):  # it ended before it had extensions
                run.Crawl.of(crawler).abandon()
        failure = self._failure(crawler, crawling)
        if not agents.is_first:
            sys.exit(1 if failure else 0)  # the first says it for all
        failed = ", ".join(agents.failed())
        if failure or failed:
            raise Unavailable(failure or f"{failed}: the log says more; the same command goes on")
        if search:
            search.conclude()
        elif job and (told := told_at_end(crawler.stats.get_stats(), has_line=sys.stderr.isatty())):
            print(told, file=sys.stderr)

    def _leave_out(self, spider: type[Spider]) -> None:
        """Take what is disabled out of the components that Scrapy imports, be they enabled or not.

        Not for other people's spiders, which may enable one as late as in `from_crawler`.
        """
        settings = self.project.copy()
        spider.update_settings(settings)
        for enabled, kind, component in OPTIONAL:
            if not settings.getbool(enabled):
                self.project[kind].pop(component, None)

    def _failure(self, crawler: Crawler, crawling: Future[None]) -> str:
        """What the crawl of this process failed of, and what to do; "" where it did not."""
        assert self.crawler_process is not None, "it has run the crawl"
        if self.crawler_process.bootstrap_failed:
            error = crawling.exception() if crawling.done() and not crawling.cancelled() else None
            is_told = isinstance(error, RedisError | WebcrawlerError)
            return f"the crawl could not start: {error if is_told else 'the log says why'}"
        if crawler.stats.get_value("webcrawler/frontier_lost"):
            return "the crawl lost its frontier: `webcrawler frontier rebuild` fills it again"
        if crawler.stats.get_value("finish_reason") in BROKEN:
            return "the crawl failed: the log says why; the same command goes on where it stood"
        if crawler.stats.get_value("webcrawler/nothing_crawled"):
            return "nothing was crawled: the log says what became of each seed"
        return ""

    def _start(self, agents: run.Agents) -> None:
        """Start the other agents; what each writes tells which it is.

        Raises:
            BadInput: they would write to one file.
        """
        settings = self.project
        feeds = settings.getdict("FEEDS")
        if agents.total > 1 and (shared := [str(feed) for feed in feeds if "%(agent)s" not in str(feed)]):
            raise BadInput(
                f"each agent writes a file of its own, not {shared[0]}: put %(agent)s into its name, "
                "as in -O pages-%(agent)s.jsonl"
            )
        if agents.total > 1 and settings["LOG_FILE"] and not settings.getbool("LOG_FILE_APPEND"):
            Path(settings["LOG_FILE"]).write_bytes(b"")  # once, not by each
            settings.set("LOG_FILE_APPEND", True, priority="cmdline")
        agents.start()
        settings.set(run.AGENTS, agents)
        own = {str(feed).replace("%(agent)s", str(agents.number)): how for feed, how in feeds.items()}
        settings.set("FEEDS", own, priority="cmdline")
        if agents.total > 1:
            settings.set("LOG_FORMAT", f"agent {agents.number}: {settings['LOG_FORMAT']}", priority="cmdline")

    def _spider(self, args: list[str], opts: argparse.Namespace) -> type[Spider]:
        loader = get_spider_loader(self.project)
        there_are = f"there are {', '.join(sorted(loader.list()))}"
        if len(args) != 1:
            raise BadInput(f"name one spider, before --json, or seeds; {there_are}")
        try:
            spider = loader.load(args[0])
        except KeyError:
            raise BadInput(f"no spider is called {args[0]!r}; {there_are}; a URL has https://") from None
        if opts.json and not issubclass(getattr(spider, "job_type", object), RealtimeJob):
            raise BadInput("--json is for realtime; pages come as JSON with -O pages.jsonl")
        return spider

    def _named(self, args: list[str], opts: argparse.Namespace) -> list[str]:
        """The arguments with the spider `index` in place of its seeds, or of nothing."""
        if args and all("://" in arg or arg.startswith("@") for arg in args):
            if opts.spargs.get("seeds"):
                raise BadInput("name the seeds once: as arguments, or by -a seeds=")
            if len(args) > 1 and any(arg.startswith("@") for arg in args):
                raise BadInput("@FILE stands alone: write all seeds into it")
            opts.spargs["seeds"] = args[0] if args[0].startswith("@") else "\n".join((*args, ""))
            return ["index"]
        return args or ([] if opts.json else ["index"])

    def _check_settings(self) -> None:
        """Raises BadInput: one is not valid, or a file that one names cannot be written."""
        if why := unknown(self.project):
            raise BadInput(why)
        for name in SETTINGS:
            if why := complaint(name, self.project[name]):
                raise BadInput(why)
        if self.project["PAGES_URL"]:
            require("s3", "PAGES_URL")
        AddressRules(words_of(self.project["ADDRESSES_ALLOWED"]))
        for name in filter(None, (self.project["LOG_FILE"], *self.project.getdict("FEEDS"))):
            file = str(name).removeprefix("file://")
            if not set(file) & set(":%"):  # else it is elsewhere, or Scrapy makes its name
                check_folder(Path(file).parent)
                check_file(Path(file))

    def _check(self, opts: argparse.Namespace, job: Job | None) -> Connection:
        """Open everything that may be configured wrongly; the connection keeps an embedded server running."""
        path = self.crawl_dir / "catalog.sqlite"
        # No rebuild or purge exchanges anything meanwhile, and no other crawl begins.
        with run.lock_folder(self.crawl_dir), hold_start(self.crawl_dir), ExitStack() as on_error:
            held = on_error.enter_context(connection.from_settings(self.project))
            if job:
                mode = maintenance.mode_of(held.client, job.mode)
                partitions = self.project.getint("FRONTIER_PARTITIONS")
                if not partitions:
                    unmade = Frontier(held.client, ordering(mode))
                    partitions = maintenance.partitions_for(unmade, job.agents)
                frontier = Frontier(held.client, ordering(mode), partitions=partitions)
                run.refuse_if_lost(self.crawl_dir, frontier)
                run.refuse_other_checks(held, frontier, job.refresh)
                run.claim(self.crawl_dir, job, frontier)
                if opts.rescore:
                    maintenance.rescore(frontier, mode)
                retry(lambda: frontier.open(mode), held.revive)
                if bounds := run.keep_scope(self.crawl_dir, job):
                    print(bounds, file=sys.stderr)
            with closing(Catalog(path)) as catalog:
                if job:
                    refuse_lost_records(self.crawl_dir / "pages", catalog)
                    if job.seeds or job.sitemaps:  # which are in the frontier only when Scrapy has started
                        run.begin(self.crawl_dir, mode, catalog)
            on_error.pop_all()
        return held


def taken(job: type[Job]) -> str:
    """What `read` of a job says of each argument."""
    return (getdoc(job.read) or "").partition("Args:\n")[2].partition("\nRaises:")[0]


def told_at_end(stats: Mapping[str, Any], *, has_line: bool) -> str:
    """What a crawl brought, in one line; "" where the live line has said it all: no checks were made."""
    found = Counter[str]()
    for name, number in stats.items():
        before, _, kind = name.rpartition("/")
        if before == "webcrawler/checked":
            found["unchanged" if kind == "not-modified" else kind] += number
    new = sum(stats.get(f"webcrawler/{outcome}", 0) for outcome in DOCUMENTS)
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(found.items()))
    if found:
        return f"checked {sum(found.values()):,} documents: {kinds}; {new:,} new"
    failed = sum(number for name, number in stats.items() if name.startswith("webcrawler/failed/"))
    ended = stats.get("finish_reason")
    return "" if has_line else f"crawled {new:,} new documents, {failed:,} URLs failed; ended: {ended}"


class _RealtimeSearch:
    """One run of the spider `realtime`: its options, its list on the terminal, its journal as JSON.

    Raises:
        BadInput: an option is wrong; nothing was changed.
    """

    def __init__(self, crawl_dir: Path, opts: argparse.Namespace, protocols: Collection[str]) -> None:
        if opts.rescore:
            raise BadInput("--rescore is for index: a search has a frontier of its own")
        self._crawl_dir, self._json = crawl_dir, opts.json
        feeds = [*(opts.output or ()), *(opts.overwrite_output or ())]
        feeds_stdout = any(feed.partition(":")[0] == STDOUT for feed in feeds)
        if feeds_stdout and opts.json == STDOUT:
            raise BadInput("--json and the feed would both go to standard output: write --json FILE")
        name = opts.spargs.get("job", "")
        if opts.spargs.keys() == {"job"} and journal.killed(crawl_dir, name):  # it goes on by its name
            opts.spargs |= journal.asked(crawl_dir, name).words
        job = RealtimeJob.read(**opts.spargs).with_judged(crawl_dir)
        job.check_protocols(protocols)
        self._job = opts.spargs["job"] = job.name  # the spider's, too
        if journal.is_alive(crawl_dir, self._job):
            raise BadInput(f"a search with job={self._job} is going on: choose another name")
        if opts.json not in (None, STDOUT):
            check_file(Path(opts.json))
        self._console = console(on_stderr=feeds_stdout or opts.json == STDOUT)

    @contextmanager
    def shown_live(self, crawler: Crawler) -> Iterator[None]:
        """Show what the crawler finds until the block ends."""

        def is_ending() -> bool:  # the index answers before there is an engine
            slot = crawler._engine and crawler._engine._slot
            return bool(slot and slot.closing)

        self._table = ResultsTable(self._console, is_ending)
        crawler.signals.connect(self._table.update, journal.CHANGED)
        try:
            yield
        finally:
            self._table.close()

    def conclude(self) -> None:
        """Print the final table, and write the journal as JSON.

        Raises:
            Unavailable: the search failed.
        """
        last = journal.read(self._crawl_dir, self._job)
        if last is None:
            raise Unavailable("the search could not start: the log says why")
        if last["state"] == "running":  # a second Ctrl-C
            last |= {"state": "finished", "reason": "stopped"}
        self._table.end(last)
        if self._json == STDOUT:
            print(json.dumps(last, indent=2))
        elif self._json:
            write_json(Path(self._json), last)
        if last["reason"] == "failed":
            raise Unavailable("the search failed: the log says why")
