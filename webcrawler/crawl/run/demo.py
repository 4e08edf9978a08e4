"""Without seeds and with nothing to resume, the demo web is crawled; it is served here meanwhile."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier
from webcrawler.job import Job
from webcrawler.scope import read_begun

if TYPE_CHECKING:
    from webcrawler.demo import DemoWeb

logger = logging.getLogger(__name__)
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
