"""robots.txt in a crawl: asked once for each server, kept in Redis."""

from webcrawler.crawl.robots.cache import RobotsCache
from webcrawler.crawl.robots.middleware import RobotsMiddleware

__all__ = ["RobotsCache", "RobotsMiddleware"]
