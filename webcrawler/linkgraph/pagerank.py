"""IR: how often would a surfer be on a page who follows links, and sometimes starts again anywhere?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import BadInput
from webcrawler.linkgraph.graph import Graph, by_page, check_engine, to_networkx

DAMPING = 0.85  # of search (Brin 1998, 2.1.1)


def pagerank(
    graph: Graph,
    damping: float = DAMPING,
    tolerance: float = 1e-8,
    start: NDArray[np.float64] | None = None,
    engine: str = "scipy",
) -> NDArray[np.float64]:
    """IR(p) = (1 - d) + d · Σ IR(source) / c(source) over the pages that link to p, c: the pages it links to.

    A page without links counts as linking to all pages.

    Args:
        damping: d, the chance to follow a link, 0 < d < 1; 0.85 for search (Brin 1998, 2.1.1), 0.9 for
            ordering (Cho 1998, 2).
        tolerance: what the error of a page may be in the mean, at least 1e-13.
        start: ranks to start from, shape (pages,), positive: the nearer to the result, the fewer rounds.
        engine: "scipy", or "networkx" as a check.
    Returns:
        Shape (pages,), mean 1; as `networkx.pagerank(alpha=d)` times the number of pages.
    Raises:
        BadInput: damping out of range, or an unknown engine.

    Cost: 16 bytes a link; ln(tolerance) / ln(damping) passes over the links at most, some 3 ms a million.
    """
    check_engine(engine)
    if not 0 < damping < 1:
        raise BadInput(f"damping must be between 0 and 1, as 0.85: not {damping:g}")
    if not graph.pages:
        return np.ones(0)
    # Each round leaves at most `damping` of the error: so this small a change means `tolerance` is met.
    change = tolerance * (1 - damping) / damping
    rounds = math.ceil(math.log(change / 2) / math.log(damping)) + 1  # the first change is 2 at most
    return (_networkx if engine == "networkx" else _scipy)(graph, damping, change, rounds, start)


def _scipy(
    graph: Graph, damping: float, enough: float, rounds: int, start: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Power iteration."""
    links = graph.matrix().T
    share = damping / np.maximum(np.diff(graph.starts), 1)
    ranks = np.ones(graph.pages) if start is None else start / start.mean()
    for _ in range(rounds):
        new: NDArray[np.float64] = np.asarray(links @ (ranks * share))
        new += 1 - new.mean()  # what no link carried: boredom, and all that dangling pages have
        change = np.abs(new - ranks).mean()
        ranks = new
        if change <= enough:
            break
    return ranks


def _networkx(
    graph: Graph, damping: float, enough: float, rounds: int, start: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    import networkx

    begin = None if start is None else dict(enumerate(start.tolist()))
    nodes = to_networkx(graph)
    shares = networkx.pagerank(nodes, damping, nstart=begin, tol=enough / graph.pages, max_iter=rounds + 1)
    return by_page(shares, graph.pages) * graph.pages
