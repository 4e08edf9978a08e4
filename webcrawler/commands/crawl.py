"""`scrapy crawl`: Scrapy's own, that checks what was asked before anything starts."""

from __future__ import annotations

import argparse
from contextlib import ExitStack, suppress
from typing import ClassVar

from scrapy import Spider
from scrapy.commands import BaseRunSpiderCommand
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.spiderloader import get_spider_loader

from spiders.index import IndexSpider
from spiders.realtime import RealtimeSpider
from webcrawler import connection
from webcrawler.commands import _realtime
from webcrawler.commands.base import Command
from webcrawler.connection import Connection, retry
from webcrawler.crawl import run
from webcrawler.crawl.worker import read_words
from webcrawler.errors import BadInput, Unavailable
from webcrawler.frontier import Frontier, maintenance, ordering
from webcrawler.job import Job
from webcrawler.settings import SETTINGS, complaint
from webcrawler.urls import AddressRules

BROKEN = ("batch_failed", "scheduler_failed")


class Crawl(Command, BaseRunSpiderCommand):
    # Made below, after the checks: Scrapy would make it first, and log a page before one clear line.
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, object]] = {}

    def syntax(self) -> str:
        return (
            "[options] SPIDER [-a mode=breadth] [-a seeds=URL,URL | @FILE] [-a max_pages=N] [-a max_time=S] …"
        )

    def short_desc(self) -> str:
        return "Crawl; without seeds go on where the last crawl stopped, or crawl the demo web"

    def long_desc(self) -> str:
        return (
            f"{self.short_desc()}. `scrapy crawl realtime -a query=WORDS` answers from the index, then from "
            "what its best pages lead to. docs/reference/commands.md lists the arguments (-a) of both."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--rescore",
            action="store_true",
            help="go on in another mode: recompute the priorities of what waits",
        )
        parser.add_argument(
            "--json",
            metavar="FILE",
            nargs="?",
            const=_realtime.STDOUT,
            help="what realtime has found, for programs; without FILE on standard output",
        )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        spider = self._spider(args, opts)
        search = _realtime.Search(self.crawl_dir, opts) if issubclass(spider, RealtimeSpider) else None
        with ExitStack() as held:
            if search or issubclass(spider, IndexSpider):
                held.enter_context(self._check(opts, None if search else Job.read(**opts.spargs)))
            self.crawler_process = AsyncCrawlerProcess(self.project)
            crawler = self._create_crawler(spider)
            if search:
                held.enter_context(search.on_screen(crawler))
            self.crawler_process.crawl(crawler, **opts.spargs)
            self.crawler_process.start()
            with suppress(RuntimeError):  # it did not come so far as to have extensions
                run.Crawl.of(crawler).abandon()
        if self.crawler_process.bootstrap_failed:
            raise Unavailable("the crawl could not start, the log says why")
        if crawler.stats.get_value("finish_reason") in BROKEN:
            raise Unavailable("the crawl broke, the log says why; the same command goes on where it stood")
        if search:
            search.conclude()

    def _spider(self, args: list[str], opts: argparse.Namespace) -> type[Spider]:
        if len(args) != 1:
            raise BadInput("name one spider, before --json: `scrapy crawl index`; `scrapy list` shows them")
        try:
            spider = get_spider_loader(self.project).load(args[0])
        except KeyError:
            raise BadInput(f"no spider is called {args[0]!r}; `scrapy list` shows them") from None
        if opts.json and not issubclass(spider, RealtimeSpider):
            raise BadInput("--json is for realtime; pages come as JSON with -O pages.jsonl")
        return spider

    def _check(self, opts: argparse.Namespace, job: Job | None) -> Connection:
        """Opens all that can be asked wrongly; the connection keeps an embedded server up for the crawl."""
        for name in SETTINGS:
            if why := complaint(name, self.project[name]):
                raise BadInput(why)
        AddressRules(read_words(self.project["ADDRESSES_ALLOWED"]))
        run.lock_folder(self.crawl_dir).close()
        held = connection.from_settings(self.project)
        try:
            if job:
                self._check_mode(held, job, opts.rescore)
        except BaseException:
            held.close()
            raise
        return held

    def _check_mode(self, held: Connection, job: Job, rescore: bool) -> None:
        partitions = self.project.getint("FRONTIER_PARTITIONS")
        mode = maintenance.mode_of(held.client, job.mode)
        frontier = Frontier(held.client, ordering(mode), partitions=partitions)
        if rescore:
            maintenance.rescore(frontier, mode)
        retry(lambda: frontier.open(mode), held.revive)
