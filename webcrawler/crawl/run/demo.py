"""Without seeds and with nothing to resume, the demo web is crawled; it is served here meanwhile."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier
from webcrawler.job import Job
from webcrawler.urls import AddressRules

logger = logging.getLogger(__name__)
LOOPBACK = "http://127.0.0.1:"


def is_demo(server: str) -> bool:
    return server.startswith(LOOPBACK)


class Demo:
    """The demo web of a run: its seeds, and the one address that it may be fetched from."""

    def __init__(self, folder: Path) -> None:
        from webcrawler.demo import DemoWeb  # its pages are loaded only when they are served

        self._web = DemoWeb.for_folder(folder)
        self._web.start()
        self.seeds = tuple(self._web.seeds)
        self.addresses = AddressRules(["127.0.0.1/32"])
        self.stop = self._web.stop

    @classmethod
    def for_run(cls, folder: Path, job: Job, frontier: Frontier) -> Demo | None:
        """None where there are seeds, or something else to resume."""
        ports = folder / "demo.json"
        if job.seeds and job.is_search:
            return None  # whatever is crawled here otherwise goes on as it was
        if job.seeds:
            if ports.exists() and frontier.workers():
                raise BadInput("the demo web is being crawled in this folder: wait, or set CRAWL_DIR")
            ports.unlink(missing_ok=True)  # from now on it is a crawl of other people's servers
            return None
        servers = frontier.servers()
        if servers and not (ports.exists() and all(map(is_demo, servers))):
            return None
        if job.is_search and _has_others(folder / "catalog.sqlite"):
            return None
        if not (job.is_search and servers):  # else it is known what is crawled here
            logger.warning("no seeds given: crawling the demo web, which this package serves on loopback")
        return cls(folder)


def _has_others(path: Path) -> bool:
    """Does this catalog know documents of other people's servers?"""
    if not path.exists():
        return False
    with closing(Catalog(path, readonly=True)) as catalog:
        return catalog.has_documents_beside(LOOPBACK)
