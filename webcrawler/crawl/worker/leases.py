"""What this process has leased from the frontier, and the reports of downloads that are over."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress

from redis.exceptions import RedisError

from webcrawler.crawl.worker.downloads import Downloads
from webcrawler.frontier import Frontier, Leased, Report, Reports
from webcrawler.records import Lease


class Leases:
    """For the event loop, except `lease`.

    Args:
        concurrency: downloads at a time, as for Downloads.
    """

    def __init__(self, concurrency: int) -> None:
        self.downloads = Downloads(concurrency)
        self.open: dict[str, Lease] = {}  # by URL: leased here and not yet decided
        self.downloading: set[str] = set()  # those of them whose download is not over
        self.reports = Reports()
        self.changed = asyncio.Event()  # set when a download is over, a lease is decided or a link is new
        self._may_hold_unknown = False  # Redis may count leases as ours that are not in `open`

    def lease(self, frontier: Frontier, limit: int, reports: Sequence[Report], doubtful: int) -> Leased:
        """Lease more URLs, in one round trip; blocks. The arguments are those of `Frontier.lease`."""
        connections = frontier.connections
        sys.audit("webcrawler.lease.before")
        try:
            found = frontier.lease(limit, reports, doubtful)
        except RedisError:
            self._may_hold_unknown = True  # the call may have been carried out, its answer lost
            raise
        sys.audit("webcrawler.lease.after")
        self.open.update((lease.url, lease) for lease in found.leases)
        self.downloading.update(lease.url for lease in found.leases)
        sys.audit("webcrawler.lease.known")
        # A Redis that was restored may hold leases decided long ago; a call given up may be obeyed late.
        if self._may_hold_unknown or frontier.connections != connections or not self.open:
            self._may_hold_unknown = True
            with suppress(RedisError):  # tried again with the next lease
                frontier.reclaim(self.open)
                self._may_hold_unknown = False
        return found

    def report(self, report: Report) -> None:
        """A download is over: its server may be asked again when politeness allows it."""
        self.end_download(report.lease.url)
        self.reports.put(report)
        self.changed.set()

    def end_download(self, url: str) -> None:
        self.downloading.discard(url)
        self.downloads.end(url)

    def close(self, lease: Lease) -> None:
        """A lease is decided; one that was leased anew meanwhile stays open."""
        if self.open.get(lease.url) == lease:
            del self.open[lease.url]
