"""`scrapy frontier` in other people's projects: the frontier of one of their spiders."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings, Settings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.project import inside_project
from scrapy.utils.request import RequestFingerprinterProtocol

from webcrawler import connection, urls
from webcrawler.addon import WebCrawlerAddon
from webcrawler.commands._terminal import JSON, Option, printable
from webcrawler.commands.base import Command, rows
from webcrawler.crawl.dropin import identity_of, key_of_get, options, seeds_key
from webcrawler.errors import BadInput, BadUrl
from webcrawler.frontier import Frontier, inspect, maintenance, ordering
from webcrawler.orderings import whole_number
from webcrawler.records import Link

ALONE = ("stats", "peek", "quarantined", "clear")
WITH_ONE = ("explain", "again", "block", "unblock")
SCHEDULER = "webcrawler.scheduler.Scheduler"
DAY_SECONDS = 86400.0

MOMENTS = {  # seconds in a unit
    "next": 0.001,
    "not_before_ms": 0.001,
    **dict.fromkeys(("fetched", "checked", "changed", "missing_since", "failing_since", "gone_since"), 1.0),
    "not_before": 1.0,
}
ONE_LINE = 'ADDONS = {"webcrawler.addon.WebCrawlerAddon": 500}'


class Elsewhere(Command):
    __module__ = "webcrawler.commands"  # not a command of the project itself

    program = "scrapy"
    arguments = (
        "stats | peek | quarantined | explain URL | again URL | block SERVER or URL | unblock SERVER | clear"
    )
    summary = "Show what the frontier of a spider holds, fetch pages again, block servers"
    options = (
        Option("-n", "20", "how many requests peek shows (20)", "LIMIT"),
        Option("--name", None, "of the spider, or FRONTIER_NAME (the project's only spider)"),
        JSON,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        verb, rest = args[0] if args else "", args[1:]
        if verb not in (*ALONE, *WITH_ONE) or len(rest) != (verb in WITH_ONE):
            raise BadInput(f"use `scrapy frontier` with one of: {self.arguments}")
        limit = whole_number("-n", opts.n)
        crawler = wired(self.project, opts.name)
        spider, theirs = crawler.spidercls, crawler.settings
        settings = options(theirs, spider.name)
        if not settings["REDIS_URL"] and not Path(settings["CRAWL_DIR"], "redis").exists():
            raise BadInput(
                f"there is no frontier in {settings['CRAWL_DIR']} yet: run `scrapy crawl {spider.name}` "
                "first, or set CRAWL_DIR or REDIS_URL as for that"
            )
        with connection.from_settings(settings) as connected:
            mode = ordering(settings["FRONTIER_MODE"])
            partitions = settings.getint("FRONTIER_PARTITIONS")
            frontier = Frontier(connected.client, mode, settings["FRONTIER_NAME"], partitions=partitions)
            if verb in ("stats", "peek", "quarantined", "explain"):
                refuse_unknown(frontier)
            match verb:
                case "peek":
                    found: Any = inspect.peek(frontier, limit)
                case "explain":
                    found = inspect.explain(frontier, rest[0], _key_of_get(frontier, crawler, rest[0]))
                case "again":
                    seed = {"url": urls.resolve(rest[0]), "dont_filter": True}
                    seeds = seeds_key(spider, theirs)
                    connected.client.rpush(seeds, json.dumps(seed))
                    found = {"pushed": seed["url"], "key": seeds}
                case "block" if is_page(rest[0]):
                    _open(frontier, crawler)
                    key = _key_of_get(frontier, crawler, rest[0])
                    frontier.discover([Link(key, urls.url_id(key), rest[0])], within_budgets=False)
                    found = {"blocked": [key], "urls_decided": frontier.refuse([key], "blocked")}
                case "block" | "unblock":
                    servers, blocked = servers_named(rest[0]), verb == "block"
                    decided = sum(frontier.block(server, blocked) for server in servers)
                    found = {f"{verb}ed": servers, "urls_decided": decided}
                case "clear":
                    found = {"forgotten": maintenance.clear(frontier)}
                case _:
                    found = getattr(inspect, verb)(frontier, *rest)
        print(json.dumps(found, indent=2) if opts.json else as_text(verb, found))


def _open(frontier: Frontier, crawler: Crawler) -> None:
    settings = options(crawler.settings, crawler.spidercls.name)
    frontier.open(settings["FRONTIER_MODE"])
    frontier.identify_by(identity_of(settings["FRONTIER_IDENTITY"], _fingerprinter(crawler)))


def _key_of_get(frontier: Frontier, crawler: Crawler, url: str) -> str:
    """Raises BadInput: the frontier goes by fingerprints of another class than the project."""
    fingerprinter = _fingerprinter(crawler)
    if ":" in frontier.identity:
        frontier.refuse_other_identity(identity_of("scrapy", fingerprinter))
    return key_of_get(frontier.identity, url, fingerprinter.fingerprint)


def _fingerprinter(crawler: Crawler) -> RequestFingerprinterProtocol:
    made_by = load_object(crawler.settings["REQUEST_FINGERPRINTER_CLASS"])
    fingerprinter: RequestFingerprinterProtocol = build_from_crawler(made_by, crawler)
    return fingerprinter


def wired(project: BaseSettings, name: str | None) -> Crawler:
    """A crawler of the spider that is not started, with the settings that its crawl has.

    Raises:
        BadInput: its crawl would not use the frontier; the message says what is to be changed.
    """
    if not inside_project():
        raise BadInput(
            "there is no Scrapy project here: go to the folder of its scrapy.cfg; "
            "`webcrawler frontier` is for what `webcrawler crawl` has crawled"
        )
    loader = get_spider_loader(project)
    spiders = sorted(loader.list())
    name = name or project["FRONTIER_NAME"] or (spiders[0] if len(spiders) == 1 else None)
    if name is None:
        raise BadInput(f"name the spider, --name {' or '.join(spiders) or 'NAME'}")
    named: type[Spider] = type("Named", (Spider,), {"name": name})
    spider = loader.load(name) if name in spiders else named  # FRONTIER_NAME may be any
    assert isinstance(project, Settings)  # as Scrapy makes it for its commands
    crawler = Crawler(spider, project)
    settings = crawler.settings
    chosen = settings["SCHEDULER"]
    addons = [load_object(addon) for addon in build_component_list(settings.getwithbase("ADDONS"))]
    if WebCrawlerAddon in addons:
        settings.set("SCHEDULER", SCHEDULER, priority="addon")  # as the add-on, which would log what is wrong
        if settings["SCHEDULER"] != SCHEDULER:
            raise BadInput(f"SCHEDULER = {chosen!r} takes the place of the frontier: remove it")
    elif chosen != SCHEDULER:
        raise BadInput(f"{name} does not use this frontier: put {ONE_LINE} into the settings of the project")
    crawler.addons.load_settings(settings)
    return crawler


def as_text(verb: str, found: Any) -> str:
    """What a verb has found, without `--json`."""
    if verb == "peek":
        return "\n".join(map(printable, found)) or "nothing waits"
    if verb == "quarantined":
        return "\n".join(map(_quarantined, found)) or "nothing is quarantined"
    held_back = [printable(found.pop("held_back")), ""] if verb == "stats" and "held_back" in found else []
    return "\n".join([*held_back, *rows(readable(found) if verb == "explain" else found)])


def refuse_unknown(frontier: Frontier) -> None:
    """Raises BadInput: there is no frontier of that name; the message names those that are there."""
    if not frontier.stored_partitions():
        found = {key.split("}:", 1)[1][:-5] for key in frontier.keys_of("{crawl:") if key.endswith(":meta")}
        names = ", ".join(sorted(found)) or "none"
        raise BadInput(f"there is no frontier named {frontier.name[:200]!r}; those that exist: {names}")


def servers_named(name: str) -> list[str]:
    """The server http://host:port, or for a host alone its http and https servers.

    Raises:
        BadInput: the name is neither, or that of a page.
    """
    if is_page(name):
        raise BadInput(
            f"{name[:200]!r} is not a server but a page: write http://host:port; `webcrawler remove` is for "
            "pages"
        )
    origins = [name] if "://" in name else [f"http://{name}", f"https://{name}"]
    try:
        return [urls.server(urls.canonical(url)) for url in origins]
    except BadUrl:
        raise BadInput(f"{name[:200]!r} is not a server: write http://host or https://host:port") from None


def is_page(name: str) -> bool:
    return bool(set(name.split("://")[-1]) & set("/?#"))


def _quarantined(found: dict[str, Any]) -> str:
    times = f"{found['times']} {found['kills'] or 'times'}"
    return printable(f"{_moment(found['quarantined_ms'] * 0.001)} {times} {found['url']}")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")


def _days(days: float) -> str:
    """ "7.5 days", but "5 h" where it is less than one."""
    from webcrawler.search import span

    return f"{days:,.{int(days < 10)}f} days" if days >= 1 else span(days * DAY_SECONDS)


def readable(found: dict[str, Any]) -> dict[str, Any]:
    """For people: times as text, and nothing that is empty."""
    shown: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, dict):
            shown[name] = readable(value)
        elif name in MOMENTS and value:
            shown[name.removesuffix("_ms")] = _moment(value * MOMENTS[name])
        elif name == "checks":
            shown[name] = [f"{_moment(check['fetched'])} {check['found']}" for check in value]
        elif name == "changes_every_days":
            low, middle, high = map(_days, value)
            shown["changes"] = f"about every {middle} ({low} to {high})"
        elif isinstance(value, float) and value:
            shown[name] = f"{value:.3g}"
        elif value or name in ("waiting", "ahead"):
            shown[name] = str(value) if name in ("id", "offset") else value
    return shown
