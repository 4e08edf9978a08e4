"""The project's settings, for Scrapy and for ourselves.

Each of ours can be given as a setting (`-s NAME=…`) or as an environment variable of the same name.
docs/reference/settings.md says the same for people; a test holds the two together.
"""

from __future__ import annotations

import os
import re
import sys
from typing import NamedTuple

from webcrawler import __version__


class Setting(NamedTuple):
    """One setting: what it is when nobody says otherwise, its unit, and why that default."""

    default: object
    unit: str
    reason: str
    least: float = 0


SETTINGS: dict[str, Setting] = {
    # Where things are
    "CRAWL_DIR": Setting("crawl", "folder", "one data folder per machine, beside the project"),
    "REDIS_URL": Setting("", "URL", "empty: a private server inside CRAWL_DIR"),
    "REDIS_FSYNC": Setting("everysec", "everysec|always", "embedded server; always costs about a third"),
    # Politeness
    "FRONTIER_DELAY": Setting(1.0, "seconds", "between fetches of one server; what most robots keep"),
    "CRAWL_DELAY_MAX": Setting(60.0, "seconds", "cap on a robots.txt Crawl-delay; 0 ignores it"),
    "FRONTIER_SLOWNESS": Setting(10.0, "times", "pause as a multiple of the last download time (EW)"),
    "FRONTIER_SLOW": Setting(
        3.0, "seconds", "a download so long is slow: one at a time from there (UO)", 0.1
    ),
    "FRONTIER_SERVER_CONCURRENCY": Setting(1, "downloads", "at a time from one server", 1),
    "FRONTIER_TRIES": Setting(3, "fetches", "before a URL has failed", 1),
    "FRONTIER_DEATHS": Setting(3, "workers", "died with a URL; then it is leased alone. 0: never"),
    "FRONTIER_BACKOFF": Setting(30.0, "seconds", "before the first retry; doubles"),
    "FRONTIER_PARTITIONS": Setting(1, "slots", "one exact global order; more is for Redis Cluster", 1),
    # Budgets; 0: any number
    "FRONTIER_MAX_URLS": Setting(0, "URLs", "waiting; from then on a page brings in one new URL (EW)"),
    "BUDGET_SERVER": Setting(1_000_000, "URLs", "taken in of one server"),
    "BUDGET_DOMAIN": Setting(1_000_000, "URLs", "taken in of one registrable domain"),
    "BUDGET_DOMAIN_SERVERS": Setting(10_000, "servers", "of one registrable domain: wildcard names"),
    "BUDGET_PREFIX": Setting(100_000, "URLs", "taken in of one path prefix of a server"),
    "BUDGET_DOMAIN_SHARE": Setting("", "K/N", "K new URLs of a domain in every N fetches (EW); empty: any"),
    "BUDGET_REPEATS": Setting(20, "pages", "more repeats than news of a prefix: it goes behind the others"),
    # Spiders that are not ours
    "FRONTIER_NAME": Setting("", "name", "empty: the spider's; spiders of one name share a frontier"),
    "FRONTIER_MODE": Setting("priority", "mode", "Scrapy's: highest Request.priority first"),
    "FRONTIER_IDLE": Setting(0.0, "seconds", "a spider waits for seeds when nothing is left"),
    # What is fetched
    "PROTOCOLS": Setting("http,https", "schemes", "others are counted as refused"),
    "ADDRESSES_ALLOWED": Setting("", "networks", "special addresses are refused unless named here"),
    "TRAP_PATHS": Setting("", "texts", "paths that hold one of them are refused, as /cgi-bin/ always is"),
    "ROBOTSTXT_OBEY": Setting(True, "yes or no", "RFC 9309"),
    "USER_AGENT": Setting("", "text", "empty: webcrawler/VERSION with USER_AGENT_CONTACT"),
    "USER_AGENT_CONTACT": Setting("", "URL or e-mail", "so that people can write in; please set it"),
    "DOWNLOAD_MAXSIZE": Setting(10 * 2**20, "bytes", "of a body, also after inflating", 1),
    "DOWNLOAD_TIMEOUT": Setting(30.0, "seconds", "for one download, in all", 0.1),
    "CONCURRENT_REQUESTS": Setting(32, "downloads", "1 gives the exact order of a mode", 1),
    "CRAWL_NICE": Setting(10, "niceness", "who searches on this machine comes first; 0: takes turns"),
    # Parsing
    "PARSER_WORKERS": Setting(0, "processes", "0: one less than the cores, at least one"),
    "PARSER_TIMEOUT": Setting(
        10.0, "seconds", "of processor time for one page; its parser is killed then", 0.1
    ),
    "PARSER_MEMORY": Setting(448, "MiB", "for one parser process", 64),
    # Batch, index and search
    "BATCH_DOCUMENTS": Setting(200, "documents", "written in one transaction", 1),
    "BATCH_SECONDS": Setting(1.0, "seconds", "a batch waits at most so long", 0.01),
    "RANKER_ENABLED": Setting(True, "yes or no", "PageRank for orderings that follow it, and for search"),
    "INDEX_ENGINE": Setting("whoosh", "whoosh|tantivy", "whoosh needs nothing more; tantivy grows further"),
    "SEARCH_REFERENCE": Setting("", "file", "'word frequency' lines in place of general English"),
    # The search page
    "SERVE_RATE": Setting("6000/minute", "requests/period", "of one client; a person asks 20. Empty: any"),
    "SERVE_TRUSTED_PROXIES": Setting("", "networks", "whose X-Forwarded-For says who the client is"),
    "SERVE_HOSTS": Setting("", "names", "that the page is asked for by, beside localhost and its address"),
    "SERVE_METRICS": Setting("127.0.0.0/8,::1", "networks", "that may read /metrics: this machine"),
    "SERVE_TITLE": Setting("webcrawler", "text", "what the page calls itself"),
    "SERVE_URL": Setting("", "URL", "where people reach the page, for browsers that add it"),
    "SERVE_FEEDBACK": Setting(False, "yes or no", "results may be judged on the page, by anybody"),
    "SERVE_LIVE": Setting("loopback", "loopback|all|off", "who may have the web searched from the page"),
    "SERVE_LIVE_JOBS": Setting(2, "searches", "of the web at once; a client has one", 1),
    "SERVE_LIVE_SECONDS": Setting(120, "seconds", "for one of them; nobody waits longer", 1),
    "SERVE_LIVE_PAGES": Setting(300, "pages", "that one of them may fetch", 1),
    "SERVE_SCRAPYD": Setting("", "URL", "of a Scrapyd that runs them; empty: child processes"),
    "SERVE_SCRAPYD_PROJECT": Setting("webcrawler", "name", "of the project there"),
}


SCHEMES = {"http", "https"}
CHOICES = {"INDEX_ENGINE": ("whoosh", "tantivy"), "SERVE_LIVE": ("loopback", "all", "off")}


def is_yes(value: object) -> bool:
    """Yes or no, as people write it.

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
    """Why that value of a setting will not do, in one line; "" when it will."""
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


def _given(name: str) -> object:
    """From the environment, else the default; Scrapy's getters turn text into numbers."""
    return os.environ.get(name, SETTINGS[name].default)


globals().update({name: _given(name) for name in SETTINGS})

BOT_NAME = "webcrawler"
USER_AGENT = globals()["USER_AGENT"] or f"{BOT_NAME}/{__version__}"

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
