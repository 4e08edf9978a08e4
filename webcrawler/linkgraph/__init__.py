"""How important is a page, by who links to it?

`Graph` is a finished graph for `pagerank`, `hits` and counts; `Estimate` one that grows while a crawl goes
on, and `Rescorer` says which waiting URLs this changes.
"""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from webcrawler.linkgraph.ranker import Ranking
else:

    def __getattr__(name: str) -> Any:
        """Import what needs the frontier when it is asked for: searches need ranks alone."""
        if name != "Ranking":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from webcrawler.linkgraph.ranker import Ranking

        return Ranking


__all__ = [
    "DAMPING",
    "Estimate",
    "Graph",
    "Ranking",
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
