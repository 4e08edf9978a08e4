"""The project's settings, for Scrapy and for ourselves.

Each of ours can be given as a setting (`-s NAME=…`) or as an environment variable of the same name.
docs/reference/settings.md says the same for people; a test holds the two together.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from webcrawler import __version__

T = TypeVar("T")


class Setting(NamedTuple):
    """One setting of ours: what it is when nobody says otherwise, its unit, and what it may be."""

    default: object
    unit: str
    least: float
    most: float
    may_be_empty: bool  # set to nothing, it says something


SETTINGS: dict[str, Setting] = {}  # all of ours, in the order of this file


def given(
    name: str, default: T, unit: str, least: float = 0, most: float = 10**9, *, may_be_empty: bool = False
) -> T | str:
    """Return the environment's value of a setting, as text, else the default; Scrapy's getters read both.

    What is set to nothing is as if it were not set, unless it may be empty.
    """
    SETTINGS[name] = Setting(default, unit, least, most, may_be_empty)
    value = os.environ.get(name, default)
    return default if value == "" and not may_be_empty else value


# ---- Where things are

# The data folder: one for each machine, beside the project.
CRAWL_DIR = given("CRAWL_DIR", "crawl", "folder")
# Empty: a private server inside CRAWL_DIR, so that a first crawl needs no Redis.
REDIS_URL = given("REDIS_URL", "", "URL")
# When the private server syncs its log to disk; `always` costs about a third of its speed.
REDIS_FSYNC = given("REDIS_FSYNC", "everysec", "everysec|always")

# ---- Politeness

# Least pause between two fetches from one server; most crawlers keep a second.
FRONTIER_DELAY = given("FRONTIER_DELAY", 1.0, "seconds")
# Cap on the Crawl-delay of a robots.txt, as some ask for hours; 0 ignores Crawl-delay.
CRAWL_DELAY_MAX = given("CRAWL_DELAY_MAX", 60.0, "seconds")
# Least pause as a multiple of the last download's time (EW).
FRONTIER_SLOWNESS = given("FRONTIER_SLOWNESS", 10.0, "times")
# Downloads at a time from one server, over all workers.
FRONTIER_SERVER_CONCURRENCY = given("FRONTIER_SERVER_CONCURRENCY", 1, "downloads", 1)
# Attempts per URL before it has failed.
FRONTIER_TRIES = given("FRONTIER_TRIES", 3, "fetches", 1)
# Pause before the first retry; it doubles with each.
FRONTIER_BACKOFF = given("FRONTIER_BACKOFF", 30.0, "seconds")
# Partitions of a new frontier: one keeps an exact global order, more give domains a home among workers.
# 0: as it was made; a new one has one, or more for agents.
FRONTIER_PARTITIONS = given("FRONTIER_PARTITIONS", 0, "partitions", 0, 1024)

# ---- Budgets; 0: any number

# Queued URLs at most; beyond it each page adds at most one (EW).
FRONTIER_MAX_URLS = given("FRONTIER_MAX_URLS", 0, "URLs")
# URLs added of one server, at most.
BUDGET_SERVER = given("BUDGET_SERVER", 1_000_000, "URLs")
# URLs added of one registrable domain, at most.
BUDGET_DOMAIN = given("BUDGET_DOMAIN", 1_000_000, "URLs")
# Servers of one registrable domain, at most: wildcard names make servers without end.
BUDGET_DOMAIN_SERVERS = given("BUDGET_DOMAIN_SERVERS", 10_000, "servers")
# URLs added of one path prefix of a server, at most.
BUDGET_PREFIX = given("BUDGET_PREFIX", 100_000, "URLs")
# K new URLs of a domain in every N fetches (EW); empty: any number.
BUDGET_DOMAIN_SHARE = given("BUDGET_DOMAIN_SHARE", "", "K/N")
# A shape of URLs goes behind once its repeats exceed its new pages by this many, a server by four times this.
# A shape takes at least as many fetches before it is known, and a site may have ten shapes of traps.
BUDGET_REPEATS = given("BUDGET_REPEATS", 10, "pages")

# ---- Checks of documents

# Share of the fetches that go to checks while new URLs wait; a simulation found .25 to .3 best.
REFRESH_SHARE = given("REFRESH_SHARE", 0.3, "share", 0, 1)
# How it is decided which document is worth a check next: `expected`, `ep` or `eb`.
REFRESH_POLICY = given("REFRESH_POLICY", "expected", "expected|ep|eb")
# A document is left alone for so long after a check, however often it changes.
REFRESH_AT_MOST = given("REFRESH_AT_MOST", 1.0, "hours")
# A document that is answered 404 is removed by a second 404, so much later.
REFRESH_GONE = given("REFRESH_GONE", 1.0, "hours")
# A document that cannot be fetched is removed after so long.
REFRESH_LOST = given("REFRESH_LOST", 14.0, "days")

# Documents at most; beyond them better pages replace the least important ones. 0: any number.
COLLECTION_MAX = given("COLLECTION_MAX", 0, "documents")

# ---- Other spiders

# Name of the frontier, which spiders of one name share; empty: the spider's name.
FRONTIER_NAME = given("FRONTIER_NAME", "", "name")
# Mode of the frontier; the default is Scrapy's order: the highest Request.priority first.
FRONTIER_MODE = given("FRONTIER_MODE", "priority", "mode")
# Which requests are the same: as in Scrapy, so that a spider yields the same items, or by canonical URL.
FRONTIER_IDENTITY = given("FRONTIER_IDENTITY", "scrapy", "scrapy|canonical")
# How long a spider waits for seeds when nothing is left.
FRONTIER_IDLE = given("FRONTIER_IDLE", 0.0, "seconds")

# ---- What is fetched

# Schemes that are followed, of http, https, ftp and gopher; links to others are counted as refused.
PROTOCOLS = given("PROTOCOLS", "http,https", "schemes")
# Networks whose addresses are allowed although they are special, such as private ones.
ADDRESSES_ALLOWED = given("ADDRESSES_ALLOWED", "", "networks")
# Links whose path contains one of these texts are refused, as /cgi-bin/ always is.
TRAP_PATHS = given("TRAP_PATHS", "", "texts")
# Prefixes of URLs, and what each is a copy of: a link to the copy is one to that (EW). Only people know them.
MIRRORS = given("MIRRORS", "", "table")
# Kinds of documents read beside HTML, as far as their readers are installed. Not `text`: on the sites of
# documentation and software that have it, most is the source of pages, and fills the index a second time.
DOCUMENT_TYPES = given(
    "DOCUMENT_TYPES", "pdf,doc,docx,xlsx,pptx,odt,ods,odp,rtf,epub,markdown", "kinds", may_be_empty=True
)
# Is robots.txt obeyed? RFC 9309.
ROBOTSTXT_OBEY = given("ROBOTSTXT_OBEY", True, "yes or no")
# Which crawls read the sitemaps that robots.txt names: a broad one would find far more URLs than it visits.
SITEMAPS = given("SITEMAPS", "bounded", "bounded|all|off")
# Sitemaps read of one server in a run, those of indexes included; each may name 50,000 URLs.
SITEMAPS_MAX = given("SITEMAPS_MAX", 100, "sitemaps", 1)
# Pages whose search forms are filled in, to find what no link leads to: patterns of URLs, as for -a include=.
FORMS = given("FORMS", "", "patterns")
# Words asked of one form, in all runs; those after the first hundreds bring little.
FORMS_MAX = given("FORMS_MAX", 1000, "queries", 1)
# cookies.txt of sites that show more to those who have logged in, each sent to its own site only.
LOGIN_COOKIES = given("LOGIN_COOKIES", "", "file")
# JSON with headers by server, for sites where a token says who asks.
LOGIN_HEADERS = given("LOGIN_HEADERS", "", "file")
# Pages that searches may find although they were fetched with a login: patterns of URLs, as for -a include=.
LOGIN_INDEXED = given("LOGIN_INDEXED", "", "patterns")
# Empty: webcrawler/VERSION with USER_AGENT_CONTACT.
USER_AGENT = given("USER_AGENT", "", "text")
# Where people can write to you; please set it.
USER_AGENT_CONTACT = given("USER_AGENT_CONTACT", "", "URL or e-mail")
# Does a bad certificate fail a page? Else the fault is noted: nothing secret is sent, and the page is public.
DOWNLOAD_VERIFY_CERTIFICATES = given("DOWNLOAD_VERIFY_CERTIFICATES", False, "yes or no")
# Largest body, also after inflating; far above any page that people read.
DOWNLOAD_MAXSIZE = given("DOWNLOAD_MAXSIZE", 10 * 2**20, "bytes", 1, 10**12)
# Longest duration of one download, in all.
DOWNLOAD_TIMEOUT = given("DOWNLOAD_TIMEOUT", 30.0, "seconds", 0.1)
# Downloads at a time; 1 gives the exact order of a mode.
CONCURRENT_REQUESTS = given("CONCURRENT_REQUESTS", 32, "downloads", 1, 10_000)
# Niceness of a crawl: other programs of this machine go first; 0: all take turns.
CRAWL_NICE = given("CRAWL_NICE", 10, "niceness")

# ---- Parsing

# Parser processes; 0: one less than the machine has cores, at least one.
PARSER_WORKERS = given("PARSER_WORKERS", 0, "processes", 0, 256)
# Processor time for one page, after which its parser is killed.
PARSER_TIMEOUT = given("PARSER_TIMEOUT", 10.0, "seconds", 0.1)

# ---- Batch, index and search

# Documents written in one transaction, so that the disk is waited for once a batch.
BATCH_DOCUMENTS = given("BATCH_DOCUMENTS", 200, "documents", 1)
# How long a batch waits for more documents, at most.
BATCH_SECONDS = given("BATCH_SECONDS", 1.0, "seconds", 0.01)
# Is PageRank computed, for orderings that follow it and for search?
RANKER_ENABLED = given("RANKER_ENABLED", True, "yes or no")

# ---- The search page

# Names of the page, beside localhost and the address that it is bound to.
SERVE_HOSTS = given("SERVE_HOSTS", "", "names")
# Sites whose pages may search here from scripts; others only by a link or a form.
SERVE_ORIGINS = given("SERVE_ORIGINS", "", "origins")
# What the page calls itself.
SERVE_TITLE = given("SERVE_TITLE", "webcrawler", "text")
# Why these sites are crawled, in a sentence for their webmasters; empty: to search them here.
SERVE_ABOUT = given("SERVE_ABOUT", "", "text")
# Whether each result shows its relevance, as in WC; most people read the order alone.
SERVE_RELEVANCE = given("SERVE_RELEVANCE", False, "yes or no")
# Where people reach the page: links begin with its path, and browsers keep it as a search engine.
SERVE_URL = given("SERVE_URL", "", "URL")
# Whether results may be judged on the page, by anybody who sees it.
SERVE_FEEDBACK = given("SERVE_FEEDBACK", False, "yes or no")
# Days for which queries and clicks are kept, without who asked; 0: they are not logged.
QUERY_LOG_DAYS = given("QUERY_LOG_DAYS", 0, "days")
# Who may have the web searched from the page, which makes this machine fetch pages.
SERVE_LIVE = given("SERVE_LIVE", "loopback", "loopback|all|off")
# Searches of the web at once; each client has one.
SERVE_LIVE_JOBS = given("SERVE_LIVE_JOBS", 2, "searches", 1)
# Longest duration of one search of the web; nobody waits longer.
SERVE_LIVE_SECONDS = given("SERVE_LIVE_SECONDS", 120, "seconds", 1)
# Pages that one search of the web may fetch.
SERVE_LIVE_PAGES = given("SERVE_LIVE_PAGES", 300, "pages", 1)

# ---- Shared finds

# Secret of those who may hand pages in by POST /api/pages; empty: nobody may.
SERVE_PAGES_TOKEN = given("SERVE_PAGES_TOKEN", "", "token")
# Main index to which a search of the web hands what it keeps; empty: none.
SHARE_URL = given("SHARE_URL", "", "URL")
# The SERVE_PAGES_TOKEN of that main index.
SHARE_TOKEN = given("SHARE_TOKEN", "", "token")

# ---- Beyond one machine

# OpenSearch that gets the pages of this folder; empty: none.
SINK_URL = given("SINK_URL", "", "https://[user:password@]host[:port][,host…]/NAME")
# OpenSearch that is searched, in place of the index of this folder; as SINK_URL.
SEARCH_URL = given("SEARCH_URL", "", "https://[user:password@]host[:port][,host…]/NAME")
# Where the tables of this folder go, for jobs over all of them; empty: nowhere.
DATASET_URL = given("DATASET_URL", "", "folder or s3://BUCKET/PREFIX")
# Where WARC files go that are complete; empty: nowhere.
PAGES_URL = given("PAGES_URL", "", "folder or s3://BUCKET/PREFIX")
# Do they stay here as well once they are there?
PAGES_KEEP = given("PAGES_KEEP", True, "yes or no")

# ---- Scrapy's own

BOT_NAME = "webcrawler"
USER_AGENT = USER_AGENT or f"{BOT_NAME}/{__version__}"


def module(name: str) -> str:
    """Where `spiders` or `pipelines` is: beside this package in a checkout, within it where it is installed.

    Other projects have folders of these names. One place in each process: two would be two classes.
    """
    root = Path(__file__).parents[1]
    found = find_spec(name) if (root / "scrapy.cfg").is_file() else None
    is_ours = found and found.origin and (root / name / "__init__.py").samefile(found.origin)
    return name if is_ours else f"webcrawler.{name}"


def commands() -> str:
    """The module of the command that is asked for, if it is ours: of a package Scrapy imports all."""
    asked = next((word for word in sys.argv[1:] if word[:1] != "-"), "")
    own = f"webcrawler.commands.{asked}"
    is_ours = asked.isidentifier() and asked[0] != "_" and find_spec(own)
    return own if is_ours else "webcrawler.commands"


SPIDER_MODULES = [module("spiders")]
NEWSPIDER_MODULE = module("spiders")
COMMANDS_MODULE = commands()

# A link to file:///etc/passwd must not end in a public index; our spiders have handlers of their own for FTP.
DOWNLOAD_HANDLERS = {"file": None, "ftp": None, "s3": None, "data": None}

# As many look-ups of names as there are downloads, those that are exempt included: each may take long.
REACTOR_THREADPOOL_MAXSIZE = 512
# All addresses of a name, also by IPv6, until one answers; Scrapy's usual resolver has one by IPv4.
TWISTED_DNS_RESOLVER = "scrapy.resolver.CachingHostnameResolver"
DNSCACHE_ENABLED = False  # it never forgets: webcrawler/crawl/peers.py has one that does
DOWNLOAD_WARNSIZE = 0
COOKIES_ENABLED = False
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False  # runs any Python that it is sent
# What needs attention: a terminal has the live line beside it, the mail of a timer one line at the end. A job
# of Scrapyd has a log of its own.
LOG_LEVEL = os.environ.get("LOG_LEVEL") or ("INFO" if "SCRAPY_PROJECT" in os.environ else "WARNING")
FEED_EXPORT_ENCODING = "utf-8"

# ---- What is checked

WORDS = {  # of settings that are lists
    "PROTOCOLS": {"http", "https", "ftp", "gopher"},
    "DOCUMENT_TYPES": {
        "pdf",
        "doc",
        "docx",
        "xlsx",
        "pptx",
        "odt",
        "ods",
        "odp",
        "rtf",
        "epub",
        "markdown",
        "text",
    },
}
APART = {"origins": ";", "texts": " "}  # what no item of such a list has: a comma is missing
CHOICES = {
    "FRONTIER_IDENTITY": ("scrapy", "canonical"),
    "SERVE_LIVE": ("loopback", "all", "off"),
    "SITEMAPS": ("bounded", "all", "off"),
    "REFRESH_POLICY": ("expected", "ep", "eb"),
}


LEAST_TOKEN = 16  # characters: a short one can be guessed


def words_of(value: str | Sequence[str]) -> list[str]:
    """The words of a list setting, "http, https" as well; lower case."""
    found = value.split(",") if isinstance(value, str) else value
    return [word.strip().lower() for word in found if word.strip()]


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


def user_agent(settings: Mapping[Any, Any]) -> str:
    """An honest name of the crawler, and where people can write to."""
    name, contact = str(settings["USER_AGENT"]), settings["USER_AGENT_CONTACT"]
    return f"{name} (+{contact})" if contact and contact not in name else name


def complaint(name: str, value: object) -> str:
    """Say in one line why that value of a setting is not valid; "" when it is."""
    if name == "CRAWL_DIR" and os.pathsep in str(value) and not Path(str(value)).exists():
        return f"CRAWL_DIR={value} names several folders: `webcrawler merge` makes one of them"
    setting, good = SETTINGS[name], True
    if name in CHOICES and str(value) not in CHOICES[name]:
        return f"{name}={value} is not valid: choose one of {', '.join(CHOICES[name])}"
    if any(APART.get(setting.unit, ",") in word for word in words_of(str(value))):
        return f"{name}={value} is not valid: put commas between {setting.unit}"
    if name in WORDS and not WORDS[name].issuperset(words_of(str(value))):
        return f"{name}={value}: there are {', '.join(sorted(WORDS[name]))}; put commas between them"
    if setting.unit.startswith("folder or s3") and not re.fullmatch(
        r"(s3://[^/]+.*|(?!.*://).*)", str(value)
    ):
        return f"{name}={value} is neither a folder nor s3://BUCKET/PREFIX"
    if setting.unit == "token" and not re.fullmatch(rf"([!-~]{{{LEAST_TOKEN},}})?", str(value)):
        return f"{name} is not valid: {LEAST_TOKEN} or more letters and digits, as of `openssl rand -hex 32`"
    if name == "BUDGET_DOMAIN_SHARE" and not re.fullmatch(r"([0-9]+/0*[1-9][0-9]*)?", str(value)):
        return f"{name}={value} is not valid: K/N, such as 10/1000"
    try:
        match setting.default:
            case bool():
                is_yes(value)
            case int():
                good = setting.least <= int(str(value)) <= setting.most
            case float():
                good = setting.least <= float(str(value)) <= setting.most
    except ValueError:
        good = False
    wanted = setting.unit
    if not isinstance(setting.default, bool):
        wanted += f", from {setting.least:g} to {setting.most:,}"
    return "" if good else f"{name}={value} is not valid: {wanted}"


def is_as_not_set(option: str) -> bool:
    """Is this NAME=VALUE a setting of ours that is set to nothing, where that says nothing?"""
    name, _, value = option.partition("=")
    return name in SETTINGS and "=" in option and not value and not SETTINGS[name].may_be_empty


def unknown(settings: Iterable[str]) -> str:
    """Say of the first setting that begins like one of ours and is none which is meant; "" without any."""
    for name in settings:
        if name.startswith("FRONTIER_") and name not in SETTINGS:
            return f"there is no setting {name}; is {get_close_matches(name, SETTINGS, 1, 0)[0]} meant?"
    return ""


def _end_in_one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


# Ctrl-C while Scrapy and the commands are being imported, some seconds, is one line, no traceback. Only
# where Scrapy runs this project: other Scrapy projects import this module as well.
if os.environ.get("SCRAPY_SETTINGS_MODULE") == __name__:
    sys.excepthook = _end_in_one_line
