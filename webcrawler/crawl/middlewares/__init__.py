"""What stands between an index crawl and its downloads: may this be fetched, and what came of it?"""

from webcrawler.crawl.middlewares.addresses import AddressMiddleware
from webcrawler.crawl.middlewares.bodies import CompressedMiddleware
from webcrawler.crawl.middlewares.http import BoundedHandler
from webcrawler.crawl.middlewares.outcome import OutcomeMiddleware, PagesWithoutItemsMiddleware

__all__ = [
    "AddressMiddleware",
    "BoundedHandler",
    "CompressedMiddleware",
    "OutcomeMiddleware",
    "PagesWithoutItemsMiddleware",
]
