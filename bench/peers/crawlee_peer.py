"""crawlee-python: its ParselCrawler over all hosts, queue in memory, nothing stored.

python crawlee_peer.py SEED COUNTS_FILE PAGES  (0: all; the proxy comes from http_proxy)
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.http_clients import ImpitHttpClient
from crawlee.proxy_configuration import ProxyConfiguration
from crawlee.storage_clients import MemoryStorageClient

FOLLOWED = re.compile(r"http://")
SKIPPED = re.compile(r".*\.(png|jpg|gif|svg|zip|gz|pdf|txt|js|css|tar|bz2|ps|h|c|py)$", re.IGNORECASE)


class CountingClient(ImpitHttpClient):
    """The default client, which follows redirects itself: here each of them is a request, as in Scrapy."""

    requests = 0

    def _get_client(self, proxy_url: str | None) -> Any:  # private: the environment pins the version
        client = super()._get_client(proxy_url)
        outer = self

        class Counting:
            async def request(self, **arguments: Any) -> Any:
                outer.requests += 1
                return await client.request(**arguments)

        return Counting()


async def crawl(seed: str, pages: int) -> dict[str, int]:
    client = CountingClient()
    crawler = ParselCrawler(
        http_client=client,
        storage_client=MemoryStorageClient(),
        max_request_retries=0,
        max_requests_per_crawl=pages or None,
        proxy_configuration=ProxyConfiguration(proxy_urls=[os.environ["http_proxy"]]),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=16, desired_concurrency=32, max_concurrency=32
        ),
        request_handler_timeout=timedelta(seconds=30),
        configure_logging=False,
    )
    documents = 0

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        nonlocal documents
        documents += 1
        await context.enqueue_links(strategy="all", include=[FOLLOWED], exclude=[SKIPPED])

    await crawler.run([seed])
    return {"requests": client.requests, "documents": documents}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(asyncio.run(crawl(sys.argv[1], int(sys.argv[3])))))
