"""How does any spider use the frontier? With `SCHEDULER`, or the add-on, and nothing else.

`SpiderWorker` hands leases to a spider's callbacks and takes what they yield for the links of the lease;
`kept` turns requests into JSON and back; `seeds` reads those that people push to a Redis key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webcrawler.crawl.dropin.worker import SpiderWorker
from webcrawler.crawl.worker import Worker

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

__all__ = ["SpiderWorker", "worker_of"]


def worker_of(crawler: Crawler) -> Worker:
    """The worker that its settings bring along; one of its own for a spider that names the scheduler only."""
    return crawler.get_extension(Worker) or SpiderWorker.from_crawler(crawler)  # type: ignore[type-abstract]
