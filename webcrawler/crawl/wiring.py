"""What Scrapy is told of a crawl: the components that it is made of, and the item of a page.

The settings are the spider's and not the project's: `scrapy shell` and `scrapy fetch` are Scrapy's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from webcrawler.records import Fetch, Page, Text
from webcrawler.settings import module

_PIPELINES = module("pipelines")

SETTINGS: dict[str, Any] = {
    "SCHEDULER": "webcrawler.scheduler.Scheduler",
    "ITEM_PIPELINES": {  # before any of the user's: an item that is dropped was fetched all the same
        f"{_PIPELINES}.duplicates.DuplicatesPipeline": 1,
        f"{_PIPELINES}.pages.PagesPipeline": 2,
        f"{_PIPELINES}.linkgraph.LinkGraphPipeline": 3,
        f"{_PIPELINES}.fulltext.FullTextPipeline": 4,
    },
    "FEED_EXPORT_FIELDS": ["url", "title", "text", "fetched", "status", "server", "outlinks", "duplicate_of"],
    "EXTENSIONS": {
        "webcrawler.crawl.run.Crawl": 0,
        "webcrawler.crawl.run.live.LiveLine": 500,
        "scrapy.extensions.logstats.LogStats": None,
        "scrapy.extensions.memusage.MemoryUsage": None,
    },
    "DOWNLOADER_MIDDLEWARES": {
        "webcrawler.crawl.middlewares.ScopeMiddleware": 10,
        "webcrawler.crawl.middlewares.AddressMiddleware": 20,
        "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": 24,
        "webcrawler.crawl.middlewares.NameMiddleware": 25,  # the proxy's, if there is one
        "webcrawler.crawl.robots.RobotsMiddleware": 30,
        "webcrawler.crawl.middlewares.OutcomeMiddleware": 100,  # its clock starts behind robots.txt
        "webcrawler.crawl.compressed.CompressedMiddleware": 590,
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
        "webcrawler.crawl.middlewares.LoginMiddleware": 990,  # behind all that reads or logs requests
        # What the frontier decides, or ours do.
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
        "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    },
    "DOWNLOAD_HANDLERS": {
        "http": "webcrawler.crawl.http.BoundedHandler",
        "https": "webcrawler.crawl.http.BoundedHandler",
        "ftp": "webcrawler.crawl.ftp_gopher.FtpHandler",  # these two only where PROTOCOLS names them
        "gopher": "webcrawler.crawl.ftp_gopher.GopherHandler",
        **dict.fromkeys(("file", "s3", "data")),  # a link to file:///etc/passwd must not be followed
    },
    "SPIDER_MIDDLEWARES": {
        "webcrawler.crawl.middlewares.PagesWithoutItemsMiddleware": 10,
        "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None,
        "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
        "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
    },
    "DOWNLOAD_DELAY": 0,  # politeness is the frontier's
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1000,
    "CONCURRENT_ITEMS": 1,  # of one response, which has one; Scrapy starts so many tasks for each
    "DOWNLOAD_FAIL_ON_DATALOSS": False,  # half a page is better than none, after the last try
    "REDIRECT_ENABLED": False,
    "RETRY_ENABLED": False,
}


@dataclass(slots=True, repr=False)
class CrawledPage:
    """One document; the fields before `page` are what feed exports write (FEED_EXPORT_FIELDS)."""

    url: str  # canonical
    title: str
    text: str  # all visible text
    fetched: str  # ISO 8601, UTC
    status: int
    server: str
    outlinks: list[str]  # canonical URLs
    duplicate_of: str | None  # a hint; the catalog has the verdict
    page: Page = field(kw_only=True)
    fetch: Fetch = field(kw_only=True)

    @classmethod
    def of(cls, fetch: Fetch, page: Page) -> CrawledPage:
        when = datetime.fromtimestamp(fetch.fetched, UTC).isoformat(timespec="milliseconds")
        outlinks = [link.url for link in page.links]
        lease = fetch.lease
        return cls(
            lease.url, page.title, page.text, when, fetch.status, lease.server, outlinks, None,
            page=page, fetch=fetch,
        )  # fmt: skip

    @property
    def index_text(self) -> Text:
        """What of the page is searched."""
        from webcrawler.parsing import index_text  # not at import time: spiders of other people do without

        return index_text(self.page)

    def __repr__(self) -> str:
        return f"<CrawledPage {self.url}>"
