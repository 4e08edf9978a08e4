"""A fingerprinter as other people write it, after topics/request-response."""

from __future__ import annotations

from scrapy.utils.request import fingerprint
from w3lib.url import url_query_cleaner


class WithoutParameters:
    """Leaves parameters of URLs out that the settings name."""

    def __init__(self, ignored: list[str]) -> None:
        self._ignored = ignored

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings.getlist("IGNORED_PARAMETERS"))

    def fingerprint(self, request):
        return fingerprint(request.replace(url=url_query_cleaner(request.url, self._ignored, remove=True)))
