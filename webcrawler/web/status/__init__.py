"""What a person sees of the crawl: the status page, and the metrics for Prometheus."""

from webcrawler.web.status import routes
from webcrawler.web.status.metrics import CountRequests, Metrics
from webcrawler.web.status.overview import Overviews
from webcrawler.web.status.views import view_of

__all__ = ["CountRequests", "Metrics", "Overviews", "routes", "view_of"]
