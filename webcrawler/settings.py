"""The project's settings, for Scrapy and for ourselves.

Each of ours can be given as a setting (`-s NAME=…`) or as an environment variable of the same name.
docs/reference/settings.md says the same for people; a test holds the two together.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Container
from types import TracebackType
from typing import NamedTuple, TypeVar

from webcrawler import __version__

T = TypeVar("T")


class Setting(NamedTuple):
    """One setting of ours: what it is when nobody says otherwise, its unit, and why that default."""

    default: object
    unit: str
    reason: str
    least: float


SETTINGS: dict[str, Setting] = {}  # all of ours, in the order of this file


def given(name: str, default: T, unit: str, reason: str, least: float = 0) -> T | str:
    """Return the environment's value of a setting, as text, else the default; Scrapy's getters read both."""
    SETTINGS[name] = Setting(default, unit, reason, least)
    return os.environ.get(name, default)


# Where things are
CRAWL_DIR = given("CRAWL_DIR", "crawl", "folder", "one data folder per machine, beside the project")
REDIS_URL = given("REDIS_URL", "", "URL", "empty: a private server inside CRAWL_DIR")
REDIS_FSYNC = given(
    "REDIS_FSYNC", "everysec", "everysec|always", "embedded server; always costs about a third"
)

# Politeness
FRONTIER_DELAY = given(
    "FRONTIER_DELAY", 1.0, "seconds", "between fetches of one server; what most robots keep"
)
CRAWL_DELAY_MAX = given("CRAWL_DELAY_MAX", 60.0, "seconds", "cap on a robots.txt Crawl-delay; 0 ignores it")
FRONTIER_SLOWNESS = given(
    "FRONTIER_SLOWNESS", 10.0, "times", "pause as a multiple of the last download time (EW)"
)
FRONTIER_SERVER_CONCURRENCY = given(
    "FRONTIER_SERVER_CONCURRENCY", 1, "downloads", "at a time from one server", 1
)
FRONTIER_TRIES = given("FRONTIER_TRIES", 3, "fetches", "before a URL has failed", 1)
FRONTIER_DEATHS = given("FRONTIER_DEATHS", 3, "workers", "died with a URL; then it is leased alone. 0: never")
FRONTIER_BACKOFF = given("FRONTIER_BACKOFF", 30.0, "seconds", "before the first retry; doubles")
FRONTIER_PARTITIONS = given(
    "FRONTIER_PARTITIONS", 1, "slots", "one exact global order; more is for Redis Cluster", 1
)

# Budgets; 0: any number
FRONTIER_MAX_URLS = given(
    "FRONTIER_MAX_URLS", 0, "URLs", "waiting; from then on a page brings in one new URL (EW)"
)
BUDGET_SERVER = given("BUDGET_SERVER", 1_000_000, "URLs", "taken in of one server")
BUDGET_DOMAIN = given("BUDGET_DOMAIN", 1_000_000, "URLs", "taken in of one registrable domain")
BUDGET_DOMAIN_SERVERS = given(
    "BUDGET_DOMAIN_SERVERS", 10_000, "servers", "of one registrable domain: wildcard names"
)
BUDGET_PREFIX = given("BUDGET_PREFIX", 100_000, "URLs", "taken in of one path prefix of a server")
BUDGET_DOMAIN_SHARE = given(
    "BUDGET_DOMAIN_SHARE", "", "K/N", "K new URLs of a domain in every N fetches (EW); empty: any"
)
BUDGET_REPEATS = given(
    "BUDGET_REPEATS", 20, "pages", "more repeats than news of a prefix: it goes behind the others"
)

# Spiders that are not ours
FRONTIER_NAME = given(
    "FRONTIER_NAME", "", "name", "empty: the spider's; spiders of one name share a frontier"
)
FRONTIER_MODE = given("FRONTIER_MODE", "priority", "mode", "Scrapy's: highest Request.priority first")
FRONTIER_IDLE = given("FRONTIER_IDLE", 0.0, "seconds", "a spider waits for seeds when nothing is left")

# What is fetched
PROTOCOLS = given("PROTOCOLS", "http,https", "schemes", "others are counted as refused")
ADDRESSES_ALLOWED = given(
    "ADDRESSES_ALLOWED", "", "networks", "special addresses are refused unless named here"
)
TRAP_PATHS = given(
    "TRAP_PATHS", "", "texts", "paths that hold one of them are refused, as /cgi-bin/ always is"
)
ROBOTSTXT_OBEY = given("ROBOTSTXT_OBEY", True, "yes or no", "RFC 9309")
USER_AGENT = given("USER_AGENT", "", "text", "empty: webcrawler/VERSION with USER_AGENT_CONTACT")
USER_AGENT_CONTACT = given(
    "USER_AGENT_CONTACT", "", "URL or e-mail", "so that people can write in; please set it"
)
DOWNLOAD_MAXSIZE = given("DOWNLOAD_MAXSIZE", 10 * 2**20, "bytes", "of a body, also after inflating", 1)
DOWNLOAD_TIMEOUT = given("DOWNLOAD_TIMEOUT", 30.0, "seconds", "for one download, in all", 0.1)
CONCURRENT_REQUESTS = given("CONCURRENT_REQUESTS", 32, "downloads", "1 gives the exact order of a mode", 1)
CRAWL_NICE = given("CRAWL_NICE", 10, "niceness", "who searches on this machine comes first; 0: takes turns")

# Parsing
PARSER_WORKERS = given("PARSER_WORKERS", 0, "processes", "0: one less than the cores, at least one")
PARSER_TIMEOUT = given(
    "PARSER_TIMEOUT", 10.0, "seconds", "of processor time for one page; its parser is killed then", 0.1
)
PARSER_MEMORY = given("PARSER_MEMORY", 448, "MiB", "for one parser process", 64)

# Batch, index and search
BATCH_DOCUMENTS = given("BATCH_DOCUMENTS", 200, "documents", "written in one transaction", 1)
BATCH_SECONDS = given("BATCH_SECONDS", 1.0, "seconds", "a batch waits at most so long", 0.01)
RANKER_ENABLED = given(
    "RANKER_ENABLED", True, "yes or no", "PageRank for orderings that follow it, and for search"
)
INDEX_ENGINE = given(
    "INDEX_ENGINE", "whoosh", "whoosh|tantivy", "whoosh needs nothing more; tantivy grows further"
)
SEARCH_REFERENCE = given("SEARCH_REFERENCE", "", "file", "'word frequency' lines in place of general English")

# The search page
SERVE_RATE = given(
    "SERVE_RATE", "6000/minute", "requests/period", "of one client; a person asks 20. Empty: any"
)
SERVE_TRUSTED_PROXIES = given(
    "SERVE_TRUSTED_PROXIES", "", "networks", "whose X-Forwarded-For says who the client is"
)
SERVE_HOSTS = given(
    "SERVE_HOSTS", "", "names", "that the page is asked for by, beside localhost and its address"
)
SERVE_METRICS = given("SERVE_METRICS", "127.0.0.0/8,::1", "networks", "that may read /metrics: this machine")
SERVE_TITLE = given("SERVE_TITLE", "webcrawler", "text", "what the page calls itself")
SERVE_URL = given("SERVE_URL", "", "URL", "where people reach the page, for browsers that add it")
SERVE_FEEDBACK = given("SERVE_FEEDBACK", False, "yes or no", "results may be judged on the page, by anybody")
SERVE_LIVE = given(
    "SERVE_LIVE", "loopback", "loopback|all|off", "who may have the web searched from the page"
)
SERVE_LIVE_JOBS = given("SERVE_LIVE_JOBS", 2, "searches", "of the web at once; a client has one", 1)
SERVE_LIVE_SECONDS = given("SERVE_LIVE_SECONDS", 120, "seconds", "for one of them; nobody waits longer", 1)
SERVE_LIVE_PAGES = given("SERVE_LIVE_PAGES", 300, "pages", "that one of them may fetch", 1)
SERVE_SCRAPYD = given("SERVE_SCRAPYD", "", "URL", "of a Scrapyd that runs them; empty: child processes")

# Scrapy's own

BOT_NAME = "webcrawler"
USER_AGENT = USER_AGENT or f"{BOT_NAME}/{__version__}"

SPIDER_MODULES = ["spiders"]
NEWSPIDER_MODULE = "spiders"
COMMANDS_MODULE = "webcrawler.commands"

# http and https only: a link to file:///etc/passwd must not end in a public index.
DOWNLOAD_HANDLERS = {"file": None, "ftp": None, "s3": None, "data": None}

REACTOR_THREADPOOL_MAXSIZE = 32  # DNS
DOWNLOAD_WARNSIZE = 0
COOKIES_ENABLED = False
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False  # runs any Python that it is sent
# A terminal has the live line, and only what needs attention beside it.
LOG_LEVEL = os.environ.get("LOG_LEVEL", "WARNING" if sys.stderr.isatty() else "INFO")
FEED_EXPORT_ENCODING = "utf-8"

# What was a setting once, and what holds now.
REMOVED = {
    "FRONTIER_SLOW": "a download that takes 3 seconds is slow",
    "SERVE_SCRAPYD_PROJECT": "the project is called webcrawler in a Scrapyd, too",
}
SCHEMES = {"http", "https"}
CHOICES = {"INDEX_ENGINE": ("whoosh", "tantivy"), "SERVE_LIVE": ("loopback", "all", "off")}


def is_yes(value: object) -> bool:
    """Read yes or no, as people write it.

    Raises:
        ValueError: it is neither.
    """
    word = str(value).strip().lower()
    if word in ("1", "yes", "true", "on"):
        return True
    if word in ("0", "no", "false", "off", "none", ""):
        return False
    raise ValueError(f"{value!r} is neither yes nor no")


def complaint(name: str, value: object) -> str:
    """Say in one line why that value of a setting will not do; "" when it will."""
    setting, good = SETTINGS[name], True
    if name in CHOICES and str(value) not in CHOICES[name]:
        return f"{name}={value} will not do: choose one of {', '.join(CHOICES[name])}"
    if name == "PROTOCOLS" and not {word.strip().lower() for word in str(value).split(",")} <= SCHEMES:
        return f"PROTOCOLS={value}: there are {', '.join(sorted(SCHEMES))}"
    if name == "BUDGET_DOMAIN_SHARE" and not re.fullmatch(r"([0-9]+/0*[1-9][0-9]*)?", str(value)):
        return f"{name}={value} will not do: K/N, such as 10/1000"
    try:
        match setting.default:
            case bool():
                is_yes(value)
            case int():
                good = int(str(value)) >= setting.least
            case float():
                good = setting.least <= float(str(value)) < float("inf")
    except ValueError:
        good = False
    wanted = (
        setting.unit if isinstance(setting.default, bool) else f"{setting.unit}, from {setting.least:g} up"
    )
    return "" if good else f"{name}={value} will not do: {wanted}"


def removed(settings: Container[object]) -> list[str]:
    """Return one line for each name that is set, here or in the environment, and no longer does anything."""
    return [
        f"{name} is no setting any more: {instead}"
        for name, instead in REMOVED.items()
        if name in settings or name in os.environ
    ]


def _end_in_one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


# Ctrl-C while Scrapy and the commands are being imported, some seconds, is one line, no traceback. Only
# where Scrapy runs this project: other people's projects import this module as well.
if os.environ.get("SCRAPY_SETTINGS_MODULE") == __name__:
    sys.excepthook = _end_in_one_line
