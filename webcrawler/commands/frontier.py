"""`webcrawler frontier`: which URLs wait or are leased, and what became of the others."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import asdict
from functools import partial
from secrets import token_hex
from typing import Any

from scrapy.utils.conf import arglist_to_dict

from webcrawler import connection, metrics, urls
from webcrawler.archive.catalog import Catalog
from webcrawler.background import hold_start, is_held
from webcrawler.commands._elsewhere import as_text, refuse_unknown, servers_named
from webcrawler.commands._terminal import JSON, Option, printable, progress_bars
from webcrawler.commands.base import Command
from webcrawler.connection import Connection
from webcrawler.crawl import RobotsCache, run
from webcrawler.crawl.dropin import key_of_get
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier, bottleneck, inspect, maintenance, ordering, standing
from webcrawler.index import wait_until_caught_up
from webcrawler.job import Job
from webcrawler.orderings import whole_number
from webcrawler.parsing import readable_kinds, unread_endings
from webcrawler.records import Link
from webcrawler.refresh import checks_of, outlook
from webcrawler.robots import deciding_line
from webcrawler.scope import Patterns, expand, read
from webcrawler.settings import words_of

ALONE = ("stats", "peek", "quarantined", "clear", "rebuild")
WITH_ONE = ("explain", "again", "block", "unblock")
SHOWN = 3  # pages that link to a URL
REBUILT_WITH = {"mode", "query", "then", "domains"}  # arguments of a crawl


class FrontierCommand(Command):
    arguments = (
        "stats | peek | quarantined | explain URL | again URL | block SERVER | unblock SERVER "
        "| clear | rebuild"
    )
    summary = (
        "Show the URLs not yet fetched, check pages again, block servers, clear the frontier "
        "or fill it from the catalog"
    )
    options = (
        Option("-n", "20", "how many URLs peek shows (20)", "LIMIT"),
        Option("--name", "index", "whose frontier: the name of a spider (index)"),
        Option("--alone", False, "rebuild: no other data folder shares the frontier any more"),
        JSON,
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        what = "of rebuild: mode and domains, as for `webcrawler crawl index` (those of the newest crawl)"
        parser.add_argument("-a", dest="spargs", action="append", default=[], metavar="NAME=VALUE", help=what)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        verb, rest = args[0] if args else "", list[Any](args[1:])
        if verb not in (*ALONE, *WITH_ONE) or len(rest) != (verb in WITH_ONE):
            raise BadInput(f"use `webcrawler frontier` with one of: {self.arguments}")
        limit = whole_number("-n", opts.n)
        job = self._job(verb, opts)
        with self._connected(verb) as connected:
            frontier = Frontier(connected.client, ordering("fifo"), opts.name)
            if opts.name != "index":
                refuse_unknown(frontier)
            if not frontier.stored_partitions():  # a block has to be where the first crawl will look for it
                partitions = self.project.getint("FRONTIER_PARTITIONS")
                frontier = Frontier(connected.client, ordering("fifo"), opts.name, partitions=partitions)
            if verb == "rebuild":
                rest = [connected, job, opts.alone]
            decides = verb in ("clear", "rebuild") and frontier.name == "index"
            with hold_start(self.crawl_dir) if decides else nullcontext():
                found = self._found(frontier, verb, rest, limit)
        if opts.json:
            print(json.dumps(found, indent=2))
        else:
            if verb == "stats":
                scope = read(self.crawl_dir)
                found["scope"] = {"bounds": scope.told or "all", "removed": len(scope.removed)}
                del found["held_back_by"]
            print(as_text(verb, found))

    def _connected(self, verb: str) -> Connection:
        """Connect to Redis. A rebuild does without a log that the private server cannot read."""
        try:
            return connection.from_settings(self.project)
        except connection.DamagedLog:
            if verb != "rebuild":
                raise
        self.catalog().close()  # raises where there is none
        aside = printable(str(connection.set_log_aside(self.project)))
        print(f"the private Redis begins anew: the log that it cannot read is in {aside}", file=sys.stderr)
        return connection.from_settings(self.project)

    def _found(self, frontier: Frontier, verb: str, rest: list[Any], limit: int) -> Any:
        match verb:
            case "peek":
                return inspect.peek(frontier, limit)
            case "quarantined":
                return inspect.quarantined(frontier)
            case "rebuild":
                return self._rebuild(*rest)
            case "block" | "unblock":
                return self._block(frontier, rest[0], verb == "block")
        own: dict[str, Callable[..., Any]] = {
            "stats": self._stats,
            "clear": self._clear,
            "explain": self._explain,
            "again": self._again,
        }
        return own[verb](frontier, *rest)

    def _stats(self, frontier: Frontier) -> dict[str, Any]:
        """The table of states, what holds the crawl back, and the scope."""
        found = standing(frontier, 1)
        if frontier.name == "index":
            crawling = is_held(self.crawl_dir / "crawls.lock")
            gauges = metrics.gauges(self.crawl_dir)
        else:  # of a spider, which says no more of itself than that it lives
            crawling, gauges = found.workers > 0, {}
        told = bottleneck(crawling, found, gauges=gauges)
        scope = asdict(read(self.crawl_dir))
        return found.stats | {"held_back": told.sentence, "held_back_by": told.cause, "scope": scope}

    def _job(self, verb: str, opts: argparse.Namespace) -> Job:
        """What `-a` says. Raises BadInput: it says more than the mode and the domains of a rebuild."""
        try:
            given = arglist_to_dict(opts.spargs)
        except ValueError:
            raise BadInput("write -a NAME=VALUE") from None
        if given and verb != "rebuild":
            raise BadInput("-a is for rebuild")
        if others := given.keys() - REBUILT_WITH:
            raise BadInput(f"rebuild takes no {', '.join(sorted(others))}: name it to the crawl that follows")
        if verb == "rebuild" and opts.name != "index":
            raise BadInput("only the frontier of `webcrawler crawl index` has a catalog to be rebuilt from")
        return Job.read(**given)

    def _rebuild(self, connected: Connection, job: Job, alone: bool) -> dict[str, Any]:
        """Fill the frontier from the catalog of this data folder."""
        self.catalog().close()  # raises where there is none
        with progress_bars() as progress:
            return run.fill_again(self.project, connected, job, progress, anew=True, alone=alone)

    def _clear(self, frontier: Frontier) -> dict[str, Any]:
        forgotten = maintenance.clear(frontier)
        if frontier.name == "index":
            run.forget(self.crawl_dir)
        return {"forgotten": forgotten}

    def _block(self, frontier: Frontier, name: str, blocked: bool) -> dict[str, Any]:
        """Block or unblock in Redis for all workers, and in the catalog and index of this data folder."""
        servers = servers_named(name)
        decided = sum(frontier.block(server, blocked) for server in servers)
        removed = 0
        if (self.crawl_dir / "catalog.sqlite").exists():
            with closing(Catalog(self.crawl_dir / "catalog.sqlite")) as catalog:
                for server in servers:
                    if blocked:
                        removed += catalog.block(server)
                    else:
                        catalog.unblock(server)
            wait_until_caught_up(self.crawl_dir)
        return {
            "blocked" if blocked else "unblocked": servers,
            "urls_decided": decided,
            "documents_removed": removed,
        }

    def _again(self, frontier: Frontier, what: str) -> dict[str, int]:
        """Queue decided URLs before all others: one, those of a server, or those that a pattern means."""
        if frontier.identity != "canonical":  # of a spider, which has no catalog
            key = key_of_get(frontier.identity, what, nonce=token_hex(8))
            return {"queued": frontier.discover([Link(key, urls.url_id(key), what)], within_budgets=False)}
        mirrors = urls.Mirrors.read(self.project["MIRRORS"])
        named = Patterns(map(mirrors.original, expand(what)))
        with closing(self.catalog()) as catalog:
            numbers = [number for number, url in catalog.urls.all() if named.match(url)]
            due = catalog.checks.due(numbers) + catalog.checks.due(numbers, documents=False)
        if not numbers:
            print(f"no URL of the catalog matches {printable(what)}", file=sys.stderr)
        return {"known": len(numbers), "queued": frontier.again(checks_of(due))}

    def _explain(self, frontier: Frontier, url: str) -> dict[str, Any]:
        """The URL's state in Redis; its last fetch, and who names it, according to the catalog."""
        mirrors = urls.Mirrors.read(self.project["MIRRORS"])
        if frontier.identity != "canonical":
            found = inspect.explain(frontier, url, key_of_get(frontier.identity, url))
        else:
            found = inspect.explain(frontier, mirrors.original(urls.canonical(url)))
        unread = unread_endings(readable_kinds(words_of(self.project["DOCUMENT_TYPES"])))
        if urls.ending(found["url"]) in unread:
            found["refused"] = found["refused"] or "extension"
        found["refused"] = found["refused"] or read(self.crawl_dir).refusal(found["url"])
        found["robots"] = self._robots(frontier, found["url"])
        path = self.crawl_dir / "catalog.sqlite"
        if path.exists():
            with closing(Catalog(path, readonly=True)) as catalog:
                fetch = catalog.fetches.last(found["url"])
                document = catalog.find(found["url"])
                due = catalog.checks.due([document.number]) if document else []
                if found["priority"]:
                    sources = catalog.links.sources_of(found["url"]).tolist()
                    found["priority"]["in_links"] = len(sources)
                    found["priority"]["linked_from"] = list(catalog.urls.of(sources[:SHOWN]).values())
                found["sitemaps"] = [sitemap for sitemap, _ in catalog.signs.of(found["url"])]
                found["refresh"] = outlook(catalog, self.crawl_dir, self.project, found["url"])
                if found["state"] in ("queued", "leased"):
                    found["refresh"]["why"] = f"it is {found['state']} already"
            if fetch is not None:
                found["last_fetch"] = {**fetch._asdict(), "place": fetch.place and fetch.place._asdict()}
                if found["state"] == "decided":
                    found["state"] = due[0].was if due else f"{fetch.state}/{fetch.reason}".rstrip("/")
        return found

    def _robots(self, frontier: Frontier, url: str) -> dict[str, Any]:
        """What the robots.txt of its server says of a URL, and in which line."""
        agent = self.project["ROBOTSTXT_USER_AGENT"] or self.project["USER_AGENT"]
        polite = frontier.politeness
        cache = RobotsCache(frontier.client, partial(frontier.shared_key, "robots"), agent, polite)
        robots, _ = cache.get(urls.server(url))
        if robots is None:
            return {"says": "not asked yet"}
        is_read = robots.status is not None and 200 <= robots.status < 300
        line = deciding_line(robots.body, agent, url) if is_read else ""
        rules = robots.rules
        says = "unreachable" if rules is None else "allowed" if rules.allowed(url) else "disallowed"
        return {"says": says, "line": line, "status": robots.status, "fetched": robots.fetched}
