"""The seeds of a run, what becomes of them, and the demo web that takes their place.

A seed that fails is named in the log, with what to do. Without seeds and with nothing to resume, the demo
web is crawled; it is served here meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from webcrawler.archive.catalog import Catalog
from webcrawler.crawl.peers import KINDS
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier
from webcrawler.job import Job
from webcrawler.records import Fetch, Lease, Link
from webcrawler.scope import read_begun

if TYPE_CHECKING:
    from webcrawler.demo import DemoWeb

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
    "blocked": "its server is blocked; `webcrawler frontier unblock` permits it",
}
OTHERWISE = "see `webcrawler frontier explain`"
AFTERWARDS = ", then `webcrawler frontier again` has it fetched"
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


PORTS = "demo.json"  # of the demo web, while nothing else is crawled in its folder
LOOPBACK = "http://127.0.0.1:"
ADDRESSES = ("127.0.0.1/32",)  # that the demo web is fetched from


def claim(folder: Path, job: Job, frontier: Frontier) -> None:
    """Says that other people's servers are crawled in this data folder, if a crawl has seeds.

    A search with seeds leaves whatever is crawled here as it was.

    Args:
        frontier: that of index crawls.
    Raises:
        BadInput: another crawl of this folder is crawling the demo web.
    """
    if (job.seeds or job.sitemaps) and not job.is_search:
        ports = folder / PORTS
        if ports.exists() and frontier.workers():
            raise BadInput("the demo web is being crawled in this folder: wait, or set CRAWL_DIR")
        ports.unlink(missing_ok=True)


def serve_demo(folder: Path, job: Job, frontier: Frontier) -> DemoWeb | None:
    """Starts the demo web of a data folder; None where there are seeds, or something else to resume."""
    if job.seeds or job.sitemaps:
        return None
    servers = frontier.servers()
    is_demo = (folder / PORTS).exists() and all(server.startswith(LOOPBACK) for server in servers)
    if (servers or read_begun(folder)) and not is_demo:
        return None
    catalog_path = folder / "catalog.sqlite"
    if job.is_search and catalog_path.exists():
        with closing(Catalog(catalog_path, readonly=True)) as catalog:
            if catalog.has_documents_beside(LOOPBACK):
                return None
    if not (job.is_search and servers):  # else it is known what is crawled here
        logger.warning("no seeds given: crawling the demo web, which this package serves on loopback")
    from webcrawler.demo import DemoWeb  # its pages are loaded only when they are served

    web = DemoWeb.for_folder(folder)
    web.start()
    return web
