"""How important is a page, by who links to it?

`Graph` is a finished graph for `pagerank`, `hits` and counts; `Estimate` one that grows while a crawl goes
on, and `Rescorer` says which waiting URLs this changes. The module `frontier_updates`, which needs the
frontier, is imported by name: searches need ranks alone.
"""

from webcrawler.linkgraph import stored
from webcrawler.linkgraph.estimate import Estimate, Rescorer
from webcrawler.linkgraph.graph import (
    DAMPING,
    Graph,
    backlinks,
    catalog_graph,
    check_engine,
    distinct,
    forward_links,
    hits,
    pagerank,
)

__all__ = [
    "DAMPING",
    "Estimate",
    "Graph",
    "Rescorer",
    "backlinks",
    "catalog_graph",
    "check_engine",
    "distinct",
    "forward_links",
    "hits",
    "pagerank",
    "stored",
]
