"""`webcrawler serve`: the search page for what was crawled."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES

from webcrawler.commands._searched import cluster_searcher
from webcrawler.commands._terminal import Option, printable
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput
from webcrawler.orderings import whole_number
from webcrawler.repository import Imported, follow, receive, token_of
from webcrawler.robots import product_token
from webcrawler.settings import SETTINGS, complaint, is_yes, user_agent

if TYPE_CHECKING:  # slow to import, and Scrapy's own commands import ours
    from webcrawler.web import Config, Crawler

COMMAND_LINE = SETTINGS_PRIORITIES["cmdline"]
MANY = 300_000  # documents, of which one machine answers slowly


class Serve(Command):
    summary = "Open the search page for what was crawled"
    details = "Serves the search page, the status page and the API; also during a crawl. Ctrl-C ends it."
    options = (
        Option("--host", "127.0.0.1", "address to listen on (127.0.0.1, for this machine only)"),
        Option("--port", "8000", "port to listen on; 0 takes any free one (8000)"),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if self.crawl_dir.exists() and not self.crawl_dir.is_dir():
            raise BadInput(f"{self.crawl_dir} is not a folder: set CRAWL_DIR to the data folder")
        for name in SETTINGS:
            if name.startswith(("SERVE_", "QUERY_LOG_")) and (why := complaint(name, self.project[name])):
                raise BadInput(why)
        from webcrawler.index import indexed_documents
        from webcrawler.web import address_of, is_public, listen, make_app, serve

        logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s: %(message)s")
        logging.getLogger("warcio").setLevel(logging.ERROR)  # its warnings repeat what strangers send
        config, port = self._config(opts.host), whole_number("--port", opts.port, most=65_535)
        app = make_app(config)
        with closing(listen(config.host, port)) as bound:
            if is_public(config):
                print(f"warning: anyone who reaches {printable(opts.host)} can search here", file=sys.stderr)
            if not config.search_url and (told := outgrown(indexed_documents(self.crawl_dir / "index"))):
                print(told, file=sys.stderr)
            print(f"search page: {address_of(bound)}  (Ctrl-C ends it)", flush=True)
            serve(app, bound)

    def _config(self, host: str) -> Config:
        from webcrawler.web import Config

        on_command_line = [n for n in SETTINGS if (self.project.getpriority(n) or 0) >= COMMAND_LINE]
        return Config(
            crawl_dir=self.crawl_dir,
            host=host,
            title=self.project.get("SERVE_TITLE"),
            about=self.project.get("SERVE_ABOUT"),
            contact=self.project.get("USER_AGENT_CONTACT"),
            crawler=self._as_webmasters_see_it(),
            relevance=is_yes(self.project.get("SERVE_RELEVANCE")),
            redis_url=self.project.get("REDIS_URL"),
            frontier=self.project["FRONTIER_NAME"] or "index",
            feedback=is_yes(self.project.get("SERVE_FEEDBACK")),
            query_log_days=self.project.getint("QUERY_LOG_DAYS"),
            hosts=self._names("SERVE_HOSTS"),
            origins=self._names("SERVE_ORIGINS"),
            url=self.project.get("SERVE_URL"),
            search_url=self._search_url(),
            live=self.project.get("SERVE_LIVE"),
            live_jobs=self.project.getint("SERVE_LIVE_JOBS"),
            live_seconds=self.project.getint("SERVE_LIVE_SECONDS"),
            live_pages=self.project.getint("SERVE_LIVE_PAGES"),
            pages_token=token_of(self.project, "SERVE_PAGES_TOKEN"),
            take_in=self._take_in,
            live_settings=tuple(  # a search of the web is started with these, too
                (name, str(self.project[name])) for name in on_command_line if not name.startswith("SERVE_")
            ),
        )

    def _as_webmasters_see_it(self) -> Crawler:
        from webcrawler.web import Crawler

        number, agent = self.project.getfloat, user_agent(self.project)
        return Crawler(
            name=product_token(self.project["ROBOTSTXT_USER_AGENT"] or agent),
            user_agent=agent,
            obeys_robots=is_yes(self.project["ROBOTSTXT_OBEY"]),
            delay_seconds=number("FRONTIER_DELAY"),
            crawl_delay_max_seconds=number("CRAWL_DELAY_MAX"),
            gone_hours=number("REFRESH_GONE"),
            lost_days=number("REFRESH_LOST"),
            asks_forms=bool(self.project["FORMS"]),
            logs_in=bool(self.project["LOGIN_COOKIES"] or self.project["LOGIN_HEADERS"]),
        )

    def _search_url(self) -> str:
        """The setting, tried: what is wrong with it is told at the start."""
        if url := str(self.project.get("SEARCH_URL") or ""):
            cluster_searcher(url, self.crawl_dir)
        return url

    def _take_in(self, warc: bytes, go_on: Callable[[], None]) -> Imported:
        try:
            return receive(self.crawl_dir, warc, self.project, go_on)
        finally:  # what was taken in before a fault is there, too
            follow(self.crawl_dir, self.project)

    def _names(self, setting: str) -> tuple[str, ...]:
        return tuple(str(self.project.get(setting) or "").replace(",", " ").split())


def outgrown(documents: int) -> str:
    """A line that says what serves so many documents better; "" for fewer."""
    told = f"{documents:,} documents are many for one machine: a search cluster (SEARCH_URL) answers sooner"
    return f'{told}; see "From one machine to ten" in the documentation' if documents > MANY else ""
