"""The state of crawl and server: status page, metrics for Prometheus, health for monitors."""

from webcrawler.web.status.metrics import CountRequests, Health, Metrics
from webcrawler.web.status.overview import Overviews, view_of
from webcrawler.web.status.page import routes

__all__ = ["CountRequests", "Health", "Metrics", "Overviews", "routes", "view_of"]
