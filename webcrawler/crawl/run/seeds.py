"""What becomes of the seeds of a run: one that fails is named in the log, with what to do."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from webcrawler.archive.catalog import Catalog
from webcrawler.crawl.certificates import KINDS
from webcrawler.records import Fetch, Lease, Link

logger = logging.getLogger(__name__)

ADVICE = {
    "not-found": "check the address",
    "unreachable": "check the address, and whether the server runs",
    "timeout": "check whether the server runs; DOWNLOAD_TIMEOUT sets how long it may take",
    "robots-disallowed": "its robots.txt forbids it; name another page, or ask the owner",
    "robots-unreachable": "check the address, and whether the server runs and answers for its robots.txt",
    "address-refused": "private addresses and unusual ports are refused; see ADDRESSES_ALLOWED",
    "not-indexable": "it is no page or document that is read; name one, or a sitemap with -a sitemaps=",
    **dict.fromkeys(KINDS, "DOWNLOAD_VERIFY_CERTIFICATES=no fetches it all the same"),
    "blocked": "its server is blocked; `scrapy frontier unblock` permits it",
}
OTHERWISE = "see `scrapy frontier explain`"
AFTERWARDS = ", then `scrapy frontier again` has it fetched"
SHOWN = 3  # that are named at the end of a run


class Seeds:
    """Follows seeds, and what they redirect to, through a run. For the event loop."""

    def __init__(self, links: Iterable[Link]) -> None:
        self._named = list(dict.fromkeys(link.url for link in links))
        self._leading_to = {url: [url] for url in self._named}  # seeds, by the URL that they lead to
        self._answers: dict[str, str] = {}  # by URL: the status or the error of its last fetch

    def fetched(self, fetch: Fetch) -> None:
        """A download is over."""
        url = fetch.lease.url
        if url in self._leading_to:
            status = f"status {fetch.status}" if fetch.status else ""
            self._answers[url] = ", ".join(filter(None, (status, fetch.error)))
            if fetch.target:
                self._leading_to.setdefault(fetch.target.url, []).extend(self._leading_to.pop(url))

    def settled(self, lease: Lease, outcome: str) -> None:
        """What came of a lease, as the batch tells it."""
        kind, _, reason = outcome.partition("/")
        is_first = kind == "retry" and not lease.tries
        if lease.was.startswith("done/") or not (is_first or kind in ("failed", "quarantined")):
            return
        ending = "it is tried again" if is_first else ADVICE.get(reason, OTHERWISE) + AFTERWARDS
        for seed in self._leading_to.get(lease.url, ()):
            where = seed if seed == lease.url else f"{seed}, which leads to {lease.url},"
            answer = self._answers[lease.url]
            why = (reason or kind) + ("" if answer.startswith("Refused:") else f" ({answer})")
            logger.warning("the seed %s failed: %s; %s", where, why, ending)

    def failing(self, catalog: Catalog) -> dict[str, str]:
        """Why seeds have failed, or what they lead to, in this run or an earlier one.

        Where none were named: why URLs have failed that no page links to, as seeds of earlier runs do.
        """
        if not self._named:
            return dict(catalog.checks.failing_unlinked(SHOWN))
        failing = catalog.fetches.failing(self._named)
        return {self._named[n]: outcome.removeprefix("failed/") for n, _, _, outcome in failing}

    def are_all(self, failing: Mapping[str, str], catalog: Catalog) -> bool:
        """Did nothing come of any seed?"""
        return len(failing) == len(self._named) if self._named else not catalog.count_documents()
