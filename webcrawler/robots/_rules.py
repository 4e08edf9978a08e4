"""What an answer to /robots.txt means for one crawler."""

from __future__ import annotations

from webcrawler import urls
from webcrawler.robots._lines import read
from webcrawler.robots._matching import Matcher

COSTLY = 1_000  # parts of patterns; about half a millisecond a question


class Rules:
    """The rules of one robots.txt for one crawler; those for others are not kept.

    Attributes:
        crawl_delay: the longest pause asked for, 0 to 86,400 seconds, or None. No part of RFC 9309.
        sitemaps: what `Sitemap` lines name, as written.
    """

    __slots__ = ("_matcher", "crawl_delay", "sitemaps")

    def __init__(self, body: bytes, user_agent: str) -> None:
        """Read any bytes, whatever they are; up to 0.3 s for 500 KiB of rules."""
        group, self.sitemaps = read(body, user_agent)
        self.crawl_delay: float | None = max(group.delays, default=None)
        self._matcher = Matcher(group.rules)

    def allowed(self, url: str) -> bool:
        """Say whether a resolved URL of this server may be fetched; `/robots.txt` always may (2.2.2)."""
        path = urls.split(url)[1]
        return path.partition("?")[0] == "/robots.txt" or self._matcher.allows(path)

    @property
    def is_costly(self) -> bool:
        """Say whether a question may take too long for an event loop: up to about 0.1 s."""
        return self._matcher.cost > COSTLY

    @property
    def size(self) -> int:
        """How much of it is kept in memory, in rules."""
        return self._matcher.size + len(self.sitemaps)


def verdict(status: int | None, body: bytes, user_agent: str) -> Rules | None:
    """Return the rules that an answer to /robots.txt stands for; None when nothing may be fetched for now.

    Args:
        status: of the last answer, after at most five redirects; None when there was no answer.

    Source: 2.3.1.1 (2xx: its rules), 2.3.1.2 and 2.3.1.3 (too many redirects and 4xx: no rules), 2.3.1.4
    (5xx, no answer: complete disallow, to be asked again). Ours: 429 is a server that cannot answer now, as
    Google reads it; 206 is a part of the rules, and nobody knows what the others forbid.
    """
    if status in (None, 206, 429):
        return None
    if 200 <= status < 300:
        return Rules(body, user_agent)
    return ALLOW_ALL if 300 <= status < 500 else None


ALLOW_ALL = Rules(b"", "")
