"""How important is each page of a finished graph? Counts of links, PageRank, hubs and authorities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import BadInput
from webcrawler.linkgraph.graph import Graph

ENGINES = ("scipy", "networkx")  # of the arithmetic; networkx is a check
DAMPING = 0.85  # of search (Brin 1998, 2.1.1)
HITS_CHANGE = 1e-12  # of all authorities together in a round, of their sum: enough
HITS_ROUNDS = 10_000  # at most
ROUNDING = 1e-6  # errors of networkx below 0


def check_engine(engine: str) -> None:
    """Raises BadInput: there is no such engine."""
    if engine not in ENGINES:
        raise BadInput(f"no engine {engine!r}: choose one of {', '.join(ENGINES)}")


def backlinks(graph: Graph) -> NDArray[np.int64]:
    """IB, how many pages link to each page, shape (pages,). Source: Cho 1998, 2 (2)."""
    return np.bincount(graph.targets, minlength=graph.pages)


def forward_links(graph: Graph) -> NDArray[np.int64]:
    """IF, how many pages each links to, shape (pages,); 0 if it was not fetched. Source: Cho 1998, 2 (4)."""
    return np.diff(graph.starts)


def pagerank(
    graph: Graph,
    damping: float = DAMPING,
    tolerance: float = 1e-8,
    start: NDArray[np.float64] | None = None,
    engine: str = "scipy",
) -> NDArray[np.float64]:
    """IR: how often is a surfer on each page who follows links, and sometimes starts again anywhere?

    IR(p) = (1 - d) + d · Σ IR(source) / c(source) over the pages that link to p, c: the pages it links to.
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
    enough = tolerance * (1 - damping) / damping
    rounds = math.ceil(math.log(enough / 2) / math.log(damping)) + 1  # the first change is 2 at most
    ranks = np.ones(graph.pages) if start is None else start / start.mean()
    if engine == "networkx":
        return _networkx_pagerank(graph, damping, enough, rounds, ranks)
    links = graph.matrix().T
    share = damping / np.maximum(forward_links(graph), 1)
    for _ in range(rounds):
        new: NDArray[np.float64] = np.asarray(links @ (ranks * share))
        new += 1 - new.mean()  # what no link carried: from surfers who start again, and from dangling pages
        change = np.abs(new - ranks).mean()
        ranks = new
        if change <= enough:
            break
    return ranks


def hits(graph: Graph, engine: str = "scipy") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The hub and the authority score of each page: h = A·a, a = Aᵀ·h, starting with all pages equal.

    A hub links to good pages, an authority is linked to by good hubs. By power iteration: Lanczos takes fewer
    rounds, but starts at random where eigenvalues are equal. Clusters that are equally dense keep what the
    start gives them: in a ring all pages are equal.

    Args:
        engine: "scipy", or "networkx" as a check, which gives any mixture of equally dense clusters.
    Returns:
        Two arrays of shape (pages,), hubs and authorities; each sums to 1. Without links all are equal.
    Raises:
        BadInput: there is no such engine; or networkx gave negative scores, as it may for such a mixture.

    Cost: two passes over the links a round; 28 rounds, half a second for the 3 million links of cnr-2000.
    Weakness: the densest cluster takes everything; what is not connected with it gets 0. If two differ by
    less than a thousandth in density, the weaker may keep a part, as the number of rounds is limited.

    Source: Kleinberg 1999, "Authoritative sources in a hyperlinked environment"; Mengozzi, "Page importance".
    """
    check_engine(engine)
    authority = np.full(graph.pages, 1 / max(graph.pages, 1))
    if not graph.links:
        return authority, authority.copy()
    if engine == "networkx":
        return _networkx_hits(graph)
    links = graph.matrix()
    back = links.T.tocsr()
    for _ in range(HITS_ROUNDS):
        new: NDArray[np.float64] = np.asarray(back @ (links @ authority))
        new /= new.sum()
        change = np.abs(new - authority).sum()
        authority = new
        if change <= HITS_CHANGE:
            break
    hub = np.asarray(links @ authority)
    return hub / hub.sum(), authority


def _networkx_pagerank(
    graph: Graph, damping: float, enough: float, rounds: int, start: NDArray[np.float64]
) -> NDArray[np.float64]:
    import networkx  # slow to import, and rarely wanted

    begin = dict(enumerate(start.tolist()))
    shares = networkx.pagerank(
        _to_networkx(graph), damping, nstart=begin, tol=enough / graph.pages, max_iter=rounds + 1
    )
    return _by_page(shares, graph.pages) * graph.pages


def _networkx_hits(graph: Graph) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import networkx

    found = [_by_page(scores, graph.pages) for scores in networkx.hits(_to_networkx(graph))]
    if not all(np.all(scores > -ROUNDING) for scores in found):  # nor NaN
        raise BadInput("networkx finds no hubs and authorities where clusters are equally dense: use scipy")
    hub, authority = (np.maximum(scores, 0) for scores in found)
    return hub / hub.sum(), authority / authority.sum()


def _to_networkx(graph: Graph) -> Any:
    """The graph as a DiGraph with page numbers as nodes; some 300 bytes a link."""
    import networkx

    nodes: Any = networkx.DiGraph()
    nodes.add_nodes_from(range(graph.pages))
    nodes.add_edges_from(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    return nodes


def _by_page(scores: dict[int, float], pages: int) -> NDArray[np.float64]:
    return np.fromiter(map(scores.__getitem__, range(pages)), np.float64, pages)
