"""When did a page change, as a sitemap or a feed writes it?"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

EARLIEST = 662_688_000.0  # 1991: before, there was no web
AHEAD_SECONDS = 86_400.0  # a local time without its zone, and clocks that are fast

# W3C Date and Time Formats, as sitemaps.org asks for; also without a zone, or with a space for the T.
_W3C = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?([Zz]|[+-]\d\d:?\d\d)?)?)?)?"
)


def moment(text: str, now: float) -> float:
    """Return a W3C date, or one of RFC 822 as RSS has them, in seconds; 0 for nonsense.

    Nonsense is what cannot be read, lies in the future, or before the web. A day alone stands for its
    beginning; without a zone, a time is UTC.
    """
    text = " ".join(text.split())
    try:
        if found := _W3C.fullmatch(text):
            year, month, day, time, zone = found.groups()
            iso = f"{year}-{month or '01'}-{day or '01'}T{time or '00:00'}{(zone or 'Z').upper()}"
            date = datetime.fromisoformat(iso)
        else:
            date = parsedate_to_datetime(text)
        seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return seconds if EARLIEST <= seconds <= now + AHEAD_SECONDS else 0.0
