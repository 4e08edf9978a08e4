"""What did I fetch, and who links to whom? One SQLite file; its central class is `Catalog`.

Documents, the history of fetches, links, texts, and the changes that views follow.
"""

from webcrawler.archive.catalog._blocks import LEAST_PAGES, NO_REPEATS, SAMPLED, Repeats
from webcrawler.archive.catalog._checks import Due, Known, Told
from webcrawler.archive.catalog._database import compact, snapshot, take_place
from webcrawler.archive.catalog._links import NOT_FETCHED, LinkRow, Outlink
from webcrawler.archive.catalog._rows import GONE, REFUSING, PastFetch, Verdict
from webcrawler.archive.catalog._signs import KnownSitemap
from webcrawler.archive.catalog._urls import Outcome
from webcrawler.archive.catalog.catalog import Catalog, blocked_servers

__all__ = [
    "GONE",
    "LEAST_PAGES",
    "NOT_FETCHED",
    "NO_REPEATS",
    "REFUSING",
    "SAMPLED",
    "Catalog",
    "Due",
    "Known",
    "KnownSitemap",
    "LinkRow",
    "Outcome",
    "Outlink",
    "PastFetch",
    "Repeats",
    "Told",
    "Verdict",
    "blocked_servers",
    "compact",
    "snapshot",
    "take_place",
]
