"""The configuration of the query server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webcrawler.repository import Imported

TakeIn = Callable[[bytes, Callable[[], None]], "Imported"]


@dataclass(frozen=True, slots=True)
class Crawler:
    """What webmasters are told of the crawls, by the settings that these have as well."""

    name: str = "webcrawler"  # looked up in robots.txt
    user_agent: str = "webcrawler"
    obeys_robots: bool = True
    delay_seconds: float = 1.0
    crawl_delay_max_seconds: float = 60.0
    gone_hours: float = 1.0  # REFRESH_GONE
    lost_days: float = 14.0  # REFRESH_LOST
    asks_forms: bool = False  # FORMS
    logs_in: bool = False  # LOGIN_COOKIES, LOGIN_HEADERS


@dataclass(frozen=True, slots=True)
class Config:
    """Plain values, and how pages are taken in; the command reads them from settings."""

    crawl_dir: Path
    title: str = "webcrawler"  # what the page calls itself
    host: str = "127.0.0.1"  # to listen on
    about: str = ""  # why these sites are crawled, for their webmasters
    contact: str = ""  # URL or e-mail of who answers them
    crawler: Crawler = Crawler()  # how it visits them
    relevance: bool = False  # does each hit show its relevance, as in WC?
    redis_url: str = ""  # "": the embedded server of crawl_dir, where one runs
    frontier: str = "index"  # that is shown: "index", or FRONTIER_NAME
    feedback: bool = False  # may visitors judge results?
    query_log_days: int = 0  # for which queries and clicks are kept; 0: they are not logged
    hosts: tuple[str, ...] = ()  # names it answers for, beside those of loopback
    origins: tuple[str, ...] = ()  # sites whose pages may search here, "https://example.org"
    url: str = ""  # public address, "https://example.org/find/"; "": by the Host header
    deadline_seconds: float = 1.0  # for one search of the index
    search_url: str = field(default="", repr=False)  # of a cluster to search; "": the index of crawl_dir
    fresh_seconds: float = 0.5  # that a new commit of the index may go unnoticed
    threads: int = 2  # for searches of the index
    live: str = "loopback"  # who may start searches of the web: "loopback", "all" or "off"
    live_jobs: int = 2  # such searches at once
    live_seconds: int = 120  # for each of them, at most
    live_pages: int = 300  # to fetch for each of them, at most
    pages_token: str = field(default="", repr=False)  # of those who may hand pages in; "": nobody may
    take_in: TakeIn | None = None  # takes in the pages of a WARC file, as `repository.receive` does
    live_settings: tuple[tuple[str, str], ...] = ()  # of the crawl, to be passed on to such a search

    @property
    def root(self) -> str:
        """The path of `url` that stands before those of the page: "/find"; "" for none."""
        _, slash, path = self.url.partition("://")[2].partition("/")
        return (slash + path).rstrip("/")
