"""`scrapy frontier`: what waits, what is out, what has become of the rest."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from webcrawler import connection, urls
from webcrawler.archive.catalog import Catalog
from webcrawler.commands.base import Command, printable
from webcrawler.errors import BadInput, BadUrl
from webcrawler.frontier import Frontier, inspect, maintenance, ordering
from webcrawler.index import follower

USAGE = (
    "say `scrapy frontier stats`, `peek`, `quarantined`, `explain URL`, `block SERVER`, `unblock SERVER`"
    " or `clear`"
)
ALONE = ("stats", "peek", "quarantined", "clear")
WITH_ONE = ("explain", "block", "unblock")

MOMENTS = {"fetched": 1.0, "next": 0.001, "not_before_ms": 0.001}  # seconds in a unit


class FrontierCommand(Command):
    def syntax(self) -> str:
        return "[options] stats | peek | quarantined | explain URL | block SERVER | unblock SERVER | clear"

    def short_desc(self) -> str:
        return "Show, empty or stop the frontier: the URLs known and not yet fetched"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("-n", dest="limit", type=int, default=20, help="URLs that peek shows (20)")
        parser.add_argument("--name", default="index", help="of another spider's frontier (index)")
        parser.add_argument("--json", action="store_true", help="for programs")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        verb, rest = (args[0], args[1:]) if args else ("", [])
        if verb not in (*ALONE, *WITH_ONE) or len(rest) != (verb in WITH_ONE):
            raise BadInput(USAGE)
        if opts.limit < 0:
            raise BadInput(f"-n wants a number of URLs, not {opts.limit}")
        with connection.from_settings(self.project) as connected:
            frontier = Frontier(connected.client, ordering("fifo"), opts.name)
            if not frontier.stored_partitions():  # it will be made so: a block is to be found then
                wanted = self.project.getint("FRONTIER_PARTITIONS")
                frontier = Frontier(connected.client, ordering("fifo"), opts.name, partitions=wanted)
            if verb == "stats":
                _print(inspect.stats(frontier), opts.json)
            elif verb == "peek":
                _print(inspect.peek(frontier, opts.limit), opts.json)
            elif verb == "quarantined":
                found = inspect.quarantined(frontier)
                lines = list(map(_quarantined, found)) or ["nothing is quarantined"]
                _print(found if opts.json else lines, opts.json)
            elif verb == "explain":
                explained = self._explain(frontier, rest[0])
                _print(explained if opts.json else readable(explained), opts.json)
            elif verb in ("block", "unblock"):
                _print(self._block(frontier, rest[0], verb == "block"), opts.json)
            else:
                _print({"forgotten": maintenance.clear(frontier)}, opts.json)

    def _block(self, frontier: Frontier, name: str, blocked: bool) -> dict[str, Any]:
        """In Redis for all workers; in the catalog of this machine, from where the index follows."""
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
            follower.wait_until_caught_up(self.crawl_dir)
        return {
            "blocked" if blocked else "unblocked": servers,
            "urls_decided": decided,
            "documents_removed": removed,
        }

    def _explain(self, frontier: Frontier, url: str) -> dict[str, Any]:
        """What Redis says, and the newest fetch that the catalog knows."""
        found = inspect.explain(frontier, url)
        path = self.crawl_dir / "catalog.sqlite"
        if path.exists():
            catalog = Catalog(path, readonly=True)
            fetch = catalog.fetches.last(found["url"])
            catalog.close()
            if fetch is not None:
                found["last_fetch"] = {**fetch._asdict(), "place": fetch.place and fetch.place._asdict()}
                if found["state"] == "decided":
                    found["state"] = f"{fetch.state}/{fetch.reason}".rstrip("/")
        return found


def servers_named(name: str) -> list[str]:
    """The servers that a person means by http://host:port, or by a host: those of http and https.

    Raises:
        BadInput: with one line on what to write instead.
    """
    meant = [name] if "://" in name else [f"http://{name}", f"https://{name}"]
    try:
        return [urls.server(urls.canonical(url)) for url in meant]
    except BadUrl:
        raise BadInput(f"{name[:200]!r} is no server: write http://host or https://host:port") from None


def _quarantined(found: dict[str, Any]) -> str:
    return f"{_moment(found['quarantined_ms'] * 0.001)} {found['times']} times {found['url']}"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")


def _print(answer: Any, as_json: bool) -> None:
    if as_json:
        print(json.dumps(answer, indent=2))
    elif isinstance(answer, list):
        print("\n".join(map(printable, answer)) or "nothing waits")
    else:
        print("\n".join(_rows(answer, "")))


def readable(found: dict[str, Any]) -> dict[str, Any]:
    """For people: times as such, and only what says something."""
    shown: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, dict):
            shown[name] = readable(value)
        elif name in MOMENTS and value:
            shown[name.removesuffix("_ms")] = _moment(value * MOMENTS[name])
        elif value or name == "waiting":
            shown[name] = str(value) if name in ("id", "offset") else value
    return shown


def _rows(table: dict[str, Any], indent: str) -> list[str]:
    rows = []
    for name, value in table.items():
        if isinstance(value, dict):
            rows += [f"{indent}{name}:", *_rows(value, indent + "  ")]
        else:
            rows.append(f"{indent}{name:<{20 - len(indent)}} {printable(_shown(value))}")
    return rows


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
