"""How important is a page? By who links to it, and by its words.

`Graph` is a finished graph for `pagerank`, `hits` and counts; `Estimate` one that grows while a crawl goes
on, and `Rescorer` says which waiting URLs this changes.
"""

from webcrawler.linkgraph import stored
from webcrawler.linkgraph.estimate import Estimate
from webcrawler.linkgraph.graph import (
    ENGINES,
    Graph,
    backlinks,
    catalog_graph,
    check_engine,
    distinct,
    forward_links,
)
from webcrawler.linkgraph.hits import hits
from webcrawler.linkgraph.pagerank import DAMPING, pagerank
from webcrawler.linkgraph.rescore import Rescorer
from webcrawler.linkgraph.similarity import Collection, Vector, combined, cosine, inner_product, vector

__all__ = [
    "DAMPING",
    "ENGINES",
    "Collection",
    "Estimate",
    "Graph",
    "Rescorer",
    "Vector",
    "backlinks",
    "catalog_graph",
    "check_engine",
    "combined",
    "cosine",
    "distinct",
    "forward_links",
    "hits",
    "inner_product",
    "pagerank",
    "stored",
    "vector",
]
