"""What holds a crawl back now: rules of thumb over what is known of it, the most telling first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from webcrawler.frontier.inspect import ServerStanding, Standing

MANY_DOWNLOADED = 400  # two batches: more than that waits for parsers or for the disk
PAGES_A_PARSER = 16  # waiting for each parser: it has had no pause for a while
FEW_SERVERS = 8
SOON_SECONDS = 0.1  # too soon to mention
DOMINANT = 0.9  # share of the queue that makes one server the end of the crawl
LONG_SECONDS = 60.0  # what takes less needs no warning
BUDGETS = ("budget-", "full")
CAUSES = (
    *("idle", "redis", "done", "budget", "no-worker", "disk", "parsers", "ending"),
    *("one-server", "politeness", "retries", "slow-servers", "few-servers", "downloads"),
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
    ended: str = "",
) -> Bottleneck:
    """What holds a crawl back now.

    Args:
        standing: of the frontier; None if it cannot be asked, and `unknown` says why.
        gauges: what the crawl's processes say, by the names of `metrics.GAUGES`; any may be missing.
        ended: the limit at which the last crawl ended; "": at none.
    """
    known = gauges or {}
    if not crawling:
        at = f": the last one ended at its limit, {ended}" if ended else ""
        return Bottleneck("idle", f"No crawl runs on this data folder{at}.")
    if standing is None:
        return Bottleneck(
            "redis", f"A crawl runs, but Redis is away: {unknown}. Nothing is leased until it answers."
        )
    counts = standing.stats
    if not counts["queued"] and not counts["leased"]:
        return _done(counts["refused"])
    if not standing.workers:
        return Bottleneck(
            "no-worker", "No worker is running: a crawl starts or ends, or its process has died."
        )
    return _within(standing, known) or _queue(standing, known) or _downloads(standing, known)


def _done(refused: Mapping[str, int]) -> Bottleneck:
    if over := sum(number for why, number in refused.items() if why.startswith(BUDGETS)):
        return Bottleneck(
            "budget", f"Nothing is left to fetch within the budgets: they kept {_count(over, 'link')} out."
        )
    return Bottleneck("done", "Nothing is left to fetch: every URL that was found is decided.")


def _within(standing: Standing, gauges: Mapping[str, float]) -> Bottleneck | None:
    """What the crawl's own processes hold up."""
    leased = standing.stats["leased"]
    downloaded = leased - standing.downloading
    batch, pages, parsers = (int(gauges.get(name, 0)) for name in ("batch_queue", "parser_pages", "parsers"))
    if gauges.get("batch_full"):
        return Bottleneck(
            "disk", f"Disk: the batch queue is full, {_count(batch, 'fetch')} wait to be written."
        )
    if parsers and pages >= PAGES_A_PARSER * parsers:
        return Bottleneck(
            "parsers", f"Parsers: {pages:,} pages wait for {_count(parsers, 'parser process')}."
        )
    if downloaded > MANY_DOWNLOADED:
        waiting = f"{downloaded:,} pages are downloaded and wait to be parsed and written."
        return Bottleneck("disk", f"Parsers and disk: {waiting}")
    if not standing.stats["queued"]:
        last = "URL is" if leased == 1 else f"{leased:,} URLs are"
        return Bottleneck("ending", f"The end is near: the last {last} being fetched.")
    return None


def _queue(standing: Standing, gauges: Mapping[str, float]) -> Bottleneck | None:
    """What the servers hold up."""
    if told := _one_server(standing, gauges):
        return told
    if not standing.ready and standing.waiting >= standing.doubtful:
        return _politeness(standing, gauges)
    if not standing.ready:
        slow = _count(standing.doubtful, "server")
        return Bottleneck(
            "slow-servers", f"Slow servers: of {slow} that may be asked none has answered in time so far."
        )
    may_be_asked = standing.ready + standing.doubtful
    if may_be_asked < FEW_SERVERS and standing.waiting:
        few = f"Few servers: {may_be_asked} of {may_be_asked + standing.waiting:,} may be asked"
        return Bottleneck("few-servers", f"{few}, and each has a pause after every page.")
    return None


def _one_server(standing: Standing, gauges: Mapping[str, float]) -> Bottleneck | None:
    """One server that has nearly all of the queue: its pause bounds the crawl, whatever others do."""
    if not standing.servers or "delay_seconds" not in gauges:
        return None
    first, queued = standing.servers[0], standing.stats["queued"]
    pause = _pause(first, gauges)
    seconds = first.queued * pause
    if not queued or first.queued < DOMINANT * queued or seconds < LONG_SECONDS:
        return None
    share = f"{100 * first.queued // queued} % of the queue"
    return Bottleneck(
        "one-server",
        f"One server, {first.server}, holds {share}. It is asked at most every {pause:g} s, "
        f"so its {_count(first.queued, 'URL')} will take {_long(seconds)} or more.",
    )


def _pause(server: ServerStanding, gauges: Mapping[str, float]) -> float:
    return max(gauges["delay_seconds"], min(server.crawl_delay, gauges.get("crawl_delay_max_seconds", 0.0)))


def _politeness(standing: Standing, gauges: Mapping[str, float]) -> Bottleneck:
    due = standing.due_seconds
    when = f" The next is due in {due:.1f} s." if due is not None and due >= SOON_SECONDS else ""
    if standing.waiting:
        servers = _count(standing.waiting, "server")
        delay = gauges.get("delay_seconds")
        each = f" Each is asked at most every {delay:g} s." if delay else ""
        urls = _count(standing.stats["queued"], "URL")
        return Bottleneck(
            "politeness", f"Politeness: {servers} with {urls} must not be asked yet.{each}{when}"
        )
    if standing.retrying:
        return Bottleneck(
            "retries", f"Tries: {_count(standing.retrying, 'URL')} wait to be tried again.{when}"
        )
    return Bottleneck("politeness", "Politeness: every server with URLs has a download now.")


def _downloads(standing: Standing, gauges: Mapping[str, float]) -> Bottleneck:
    servers = _count(standing.ready + standing.doubtful, "server")
    most = int(gauges.get("downloads_max", 0))
    if most and gauges.get("downloads", 0) >= most:
        places = f"all {most:,} places (CONCURRENT_REQUESTS) are taken"
        return Bottleneck("downloads", f"Downloads: {servers} may be asked, and {places}.")
    return Bottleneck(
        "downloads", f"Downloads: {servers} may be asked; concurrency or the network is the limit."
    )


def _count(number: int, noun: str) -> str:
    ending = "" if number == 1 else "es" if noun.endswith(("s", "ch")) else "s"
    return f"{number:,} {noun}{ending}"


def _long(seconds: float) -> str:
    """A time of a minute or more: "57 minutes", "3.1 hours", "2.0 days"."""
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"
