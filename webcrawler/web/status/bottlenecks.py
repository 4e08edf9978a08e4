"""What holds the crawl back now? A rule of thumb each, the most telling first."""

from __future__ import annotations

from webcrawler.frontier import Standing

MANY_DOWNLOADED = 400  # two batches: more than that waits for parsers or for the disk
FEW_SERVERS = 8
SOON_SECONDS = 0.1  # not worth a word


def held_back(crawling: bool, standing: Standing | None, unknown: str) -> str:
    """One sentence for people.

    Args:
        standing: of the frontier; None where it cannot be asked, `unknown` says why.
    """
    if not crawling:
        return "No crawl runs on this data folder."
    if standing is None:
        return f"A crawl runs; what holds it back is not known: {unknown}"
    counts = standing.stats
    may_be_asked = standing.ready + standing.doubtful
    downloaded = counts["leased"] - standing.downloading
    if not counts["queued"] and not counts["leased"]:
        return "Nothing is left to fetch: every URL that was found is decided."
    if not standing.workers:
        return "A crawl starts or ends: no worker has said lately that it lives."
    if downloaded > MANY_DOWNLOADED:
        return f"Parsers and disk: {downloaded:,} pages are downloaded and wait to be parsed and written."
    if not counts["queued"]:
        return f"The end is near: the last {_count(counts['leased'], 'URL')} are being fetched."
    if not standing.ready and standing.waiting >= standing.doubtful:
        return _politeness(standing)
    if not standing.ready:
        slow = _count(standing.doubtful, "server")
        return f"Slow servers: of {slow} that may be asked none has answered in time so far."
    if may_be_asked < FEW_SERVERS and standing.waiting:
        return (
            f"Few servers: {may_be_asked} of {may_be_asked + standing.waiting:,} may be asked, "
            "and each has a pause after every page."
        )
    return (
        f"Downloads: {_count(may_be_asked, 'server')} may be asked; concurrency or the network is the limit."
    )


def _politeness(standing: Standing) -> str:
    due = standing.due_seconds
    when = f" The next is due in {due:.1f} s." if due is not None and due >= SOON_SECONDS else ""
    if standing.waiting:
        servers = _count(standing.waiting, "server")
        return f"Politeness: {servers} with URLs must not be asked yet.{when}"
    if standing.retrying:
        return f"Tries: {_count(standing.retrying, 'URL')} wait to be tried again.{when}"
    return "Politeness: every server with URLs has a download now."


def _count(number: int, one: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {one}s"
