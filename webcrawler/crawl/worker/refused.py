"""The word by which a middleware says that a URL is not to be fetched."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest


class Refused(IgnoreRequest):
    """Raised before a download; `reason` is one of the table of states."""

    def __init__(self, reason: str, retry: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.retry = reason, retry
