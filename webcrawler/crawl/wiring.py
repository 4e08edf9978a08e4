"""The Scrapy settings of our spiders: which components a crawl is made of.

They are the spider's and not the project's, so that `scrapy shell` and `scrapy fetch` are Scrapy's own.
"""

from __future__ import annotations

from typing import Any

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
        "webcrawler.crawl.middlewares.before.ScopeMiddleware": 10,
        "webcrawler.crawl.middlewares.before.AddressMiddleware": 20,
        "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": 24,
        "webcrawler.crawl.middlewares.before.NameMiddleware": 25,  # the proxy's, if there is one
        "webcrawler.crawl.robots.RobotsMiddleware": 30,
        "webcrawler.crawl.middlewares.outcome.OutcomeMiddleware": 100,  # its clock starts behind robots.txt
        "webcrawler.crawl.middlewares.bodies.CompressedMiddleware": 590,
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
        "webcrawler.crawl.middlewares.before.LoginMiddleware": 990,  # behind all that reads or logs requests
        # What the frontier decides, or ours do.
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
        "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    },
    "DOWNLOAD_HANDLERS": {
        "http": "webcrawler.crawl.handlers.http.BoundedHandler",
        "https": "webcrawler.crawl.handlers.http.BoundedHandler",
        "ftp": "webcrawler.crawl.handlers.ftp.FtpHandler",  # these two only where PROTOCOLS names them
        "gopher": "webcrawler.crawl.handlers.gopher.GopherHandler",
        **dict.fromkeys(("file", "s3", "data")),  # a link to file:///etc/passwd must not be followed
    },
    "SPIDER_MIDDLEWARES": {
        "webcrawler.crawl.middlewares.outcome.PagesWithoutItemsMiddleware": 10,
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
