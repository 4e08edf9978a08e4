"""A page as Scrapy's pipelines and feed exports see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from webcrawler.records import Entry, Page


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
    entry: Entry = field(kw_only=True)  # what the pipelines hand to the batch

    @classmethod
    def of(cls, entry: Entry, page: Page) -> CrawledPage:
        fetch = entry.fetch
        entry.noindex = page.noindex
        when = datetime.fromtimestamp(fetch.fetched, UTC).isoformat(timespec="milliseconds")
        outlinks = [link.url for link in page.links]
        lease = fetch.lease
        return cls(
            lease.url, page.title, page.text, when, fetch.status, lease.server, outlinks, None,
            page=page, entry=entry,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<CrawledPage {self.url}>"
