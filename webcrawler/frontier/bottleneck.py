"""What holds a crawl back now: rules of thumb over what is known of it, the most telling first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from webcrawler.frontier.inspect import Standing

MANY_DOWNLOADED = 400  # two batches: more than that waits for parsers or for the disk
PAGES_A_PARSER = 16  # waiting for each parser: it has had no pause for a while
FEW_SERVERS = 8
SOON_SECONDS = 0.1  # too soon to mention
BUDGETS = ("budget-", "full")
CAUSES = (
    *("idle", "redis", "done", "budget", "no-worker", "disk", "parsers", "ending"),
    *("politeness", "retries", "slow-servers", "few-servers", "downloads"),
)


class Bottleneck(NamedTuple):
    """What holds a crawl back: one of CAUSES, and a sentence for people."""

    cause: str
    sentence: str


def bottleneck(
    crawling: bool,
    standing: Standing | None,
    unknown: str = "",
    gauges: Mapping[str, float] | None = None,
) -> Bottleneck:
    """What holds a crawl back now.

    Args:
        standing: of the frontier; None if it cannot be asked, and `unknown` says why.
        gauges: what the crawl's processes say, as `metrics.gauges` returns it; any may be missing.
    """
    if not crawling:
        return Bottleneck("idle", "No crawl runs on this data folder.")
    if standing is None:
        return Bottleneck(
            "redis", f"A crawl runs, but Redis is away: {unknown}. Nothing is leased until it answers."
        )
    return Bottleneck(*next(_causes(standing, gauges or {})))


def _causes(standing: Standing, gauges: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """What holds back a crawl that runs, the most telling first; each with a sentence."""
    if not standing.stats["queued"] and not standing.stats["leased"]:
        refused = standing.stats["refused"].items()
        if over := sum(number for why, number in refused if why.startswith(BUDGETS)):
            kept_out = _count(over, "link")
            yield "budget", f"Nothing is left to fetch within the budgets: they kept {kept_out} out."
        yield "done", "Nothing is left to fetch: every URL that was found is decided."
    if not standing.workers:
        yield "no-worker", "No worker is running: a crawl starts or ends, or its process has died."
    yield from _within(standing, gauges)
    if not standing.ready:
        yield from _no_server(standing, gauges)
    may_be_asked = standing.ready + standing.doubtful
    if may_be_asked < FEW_SERVERS and standing.waiting:
        few = f"{may_be_asked} of {may_be_asked + standing.waiting:,} may be asked"
        yield "few-servers", f"Few servers: {few}, and each has a pause after every page."
    most, limit = int(gauges.get("downloads_max", 0)), "; concurrency or the network is the limit"
    if most and gauges.get("downloads", 0) >= most:
        limit = f", and all {most:,} places (CONCURRENT_REQUESTS) are taken"
    yield "downloads", f"Downloads: {_count(may_be_asked, 'server')} may be asked{limit}."


def _within(standing: Standing, gauges: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """What the crawl's own processes hold up."""
    leased = standing.stats["leased"]
    downloaded = leased - standing.downloading
    batch, pages, parsers = (int(gauges.get(name, 0)) for name in ("batch_queue", "parser_pages", "parsers"))
    if gauges.get("batch_full"):
        yield "disk", f"Disk: the batch queue is full, {_count(batch, 'fetch')} wait to be written."
    if parsers and pages >= PAGES_A_PARSER * parsers:
        yield "parsers", f"Parsers: {pages:,} pages wait for {_count(parsers, 'parser process')}."
    if downloaded > MANY_DOWNLOADED:
        waiting = f"{downloaded:,} pages are downloaded and wait to be parsed and written"
        yield "disk", f"Parsers and disk: {waiting}."
    if not standing.stats["queued"]:
        last = "URL is" if leased == 1 else f"{leased:,} URLs are"
        yield "ending", f"The end is near: the last {last} being fetched."


def _no_server(standing: Standing, gauges: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """No server is ready: all have a pause, or give no answer."""
    if standing.doubtful > standing.waiting:
        slow = _count(standing.doubtful, "server")
        yield "slow-servers", f"Slow servers: of {slow} that may be asked none has answered in time so far."
    due, delay = standing.due_seconds, gauges.get("delay_seconds")
    when = f" The next is due in {due:.1f} s." if due is not None and due >= SOON_SECONDS else ""
    if standing.waiting:
        waiting = f"{_count(standing.waiting, 'server')} with {_count(standing.stats['queued'], 'URL')}"
        each = f" Each is asked at most every {delay:g} s." if delay else ""
        yield "politeness", f"Politeness: {waiting} must not be asked yet.{each}{when}"
    if standing.retrying:
        yield "retries", f"Tries: {_count(standing.retrying, 'URL')} wait to be tried again.{when}"
    yield "politeness", "Politeness: every server with URLs has a download now."


def _count(number: int, noun: str) -> str:
    ending = "" if number == 1 else "es" if noun.endswith(("s", "ch")) else "s"
    return f"{number:,} {noun}{ending}"
