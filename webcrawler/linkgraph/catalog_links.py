"""The graph of a catalog."""

from __future__ import annotations

from webcrawler.archive.catalog import Catalog
from webcrawler.linkgraph.graph import Graph


def catalog_graph(catalog: Catalog) -> Graph:
    """Every URL that was fetched or linked to; page number n is page n - 1.

    A redirect is a link to its target, the only one of its page. Links with rel=nofollow do not count.
    """
    sources, targets = catalog.links.arrays()
    return Graph.of(sources - 1, targets - 1, catalog.urls.count())
