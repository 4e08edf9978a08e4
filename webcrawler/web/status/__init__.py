"""How the crawl and the server are: the status page, metrics for Prometheus, health for monitors."""

from webcrawler.web.status.health import Health
from webcrawler.web.status.metrics import CountRequests, Metrics
from webcrawler.web.status.overview import Overviews
from webcrawler.web.status.page import routes
from webcrawler.web.status.views import view_of

__all__ = ["CountRequests", "Health", "Metrics", "Overviews", "routes", "view_of"]
