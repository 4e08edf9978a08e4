"""A page as Scrapy's pipelines and feed exports see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from webcrawler.records import Fetch, Page, Text


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
