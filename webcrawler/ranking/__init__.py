"""How important is a page? By who links to it, and by its words.

`Graph` is a finished graph for `pagerank`, `hits` and counts; `Estimate` one that grows while a crawl goes
on, and `Rescorer` says which waiting URLs this changes.
"""

from webcrawler.ranking.catalogued import catalogued
from webcrawler.ranking.counts import backlinks, forward_links
from webcrawler.ranking.engines import ENGINES
from webcrawler.ranking.estimate import Estimate
from webcrawler.ranking.graph import Graph
from webcrawler.ranking.hits import hits
from webcrawler.ranking.pagerank import pagerank
from webcrawler.ranking.rescoring import Rescorer

__all__ = [
    "ENGINES",
    "Estimate",
    "Graph",
    "Rescorer",
    "backlinks",
    "catalogued",
    "forward_links",
    "hits",
    "pagerank",
]
