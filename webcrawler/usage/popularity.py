"""How popular pages are: what share of those who look at them opens them, whatever they asked."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np

from webcrawler.durable import replaced
from webcrawler.usage.clicks import counts, fit

NAME = "popularity.json"  # in the data folder
PRIOR = 10.0  # looks by people of the mean that are added to those at each page: a few clicks say little
MOST = 5_000  # pages that are kept, those that differ most from the mean


def renew(crawl_dir: Path) -> None:
    """Compute the popularity of pages from the log, and store it.

    popularity = (rate - mean) / (rate + mean), above -1 and below 1: 0 for a page that is opened as often as
    the mean of those that were looked at, and for one that nobody has looked at. The rate is clicks by looks,
    and looks are how often it was shown, times how likely somebody looks at a hit at that rank, by the click
    model: what always stands on top is not popular for that.

    Raises:
        BadInput: there is no log.
        OSError: the file cannot be written.
    """
    of = counts(crawl_dir)
    examined = fit(of).examined
    urls = sorted({url for _, url in of.pairs})
    place = {url: number for number, url in enumerate(urls)}
    page = np.array([place[url] for _, url in of.pairs], np.int64)[of.pair]
    looks = np.bincount(page, of.shown * examined[of.rank], len(urls))
    clicks = np.bincount(page, of.clicked, len(urls))
    mean = clicks.sum() / max(looks.sum(), 1.0)
    found = dict[str, float]()
    if mean:
        rate = (clicks + PRIOR * mean) / (looks + PRIOR)
        worth = (rate - mean) / (rate + mean)
        for number in np.argsort(-np.abs(worth), kind="stable")[:MOST].tolist():
            found[urls[number]] = round(float(worth[number]), 4)
    with replaced(crawl_dir / NAME) as file:
        file.write(f"{json.dumps(found)}\n".encode())


def popularity(crawl_dir: Path) -> dict[str, float]:
    """The stored popularity by URL; none where none can be read."""
    with suppress(OSError, ValueError, AttributeError):
        found = json.loads((crawl_dir / NAME).read_text("utf-8"))
        return {str(url): min(max(float(worth), -1.0), 1.0) for url, worth in found.items()}
    return {}
