"""Who links to whom, as two arrays; and how important that makes each page: PageRank, hubs, authorities."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, require

if TYPE_CHECKING:  # slow to import, and a search reads ranks only
    from scipy.sparse import csr_array

ENGINES = ("scipy", "networkx")  # of the arithmetic; networkx is a check
LINKS_AT_ONCE = 4_000_000  # of PageRank: 32 MB
DAMPING = 0.85  # of search (Brin 1998, 2.1.1)
HITS_CHANGE = 1e-12  # of all authorities together in a round, of their sum: enough
HITS_ROUNDS = 10_000  # at most
ROUNDING = 1e-6  # errors of networkx below 0

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class Graph(NamedTuple):
    """Page i, from 0, links to targets[starts[i]:starts[i + 1]]: ascending, never itself, none twice."""

    starts: IntArray  # shape (pages + 1,)
    targets: NDArray[np.int32]  # shape (links,)

    @classmethod
    def of(cls, sources: ArrayLike, targets: ArrayLike, pages: int) -> Graph:
        """Of the links sources[i] -> targets[i]; self-links and repeats are dropped.

        Costs a pass over links that ascend by source and target, and a sort over others.

        Raises:
            BadInput: a number is not in 0 … pages - 1.
        """
        return cls.of_parts([(np.asarray(sources), np.asarray(targets))], pages)

    @classmethod
    def of_parts(cls, parts: Iterable[tuple[IntArray, IntArray]], pages: int) -> Graph:
        """As `of`, of links that come in parts: all links of a source in one, by ascending source.

        Memory: 4 bytes a link and 8 a page, beside a part.
        """
        starts, targets = np.zeros(pages + 1, np.int64), bytearray()
        for source, target in parts:
            for ends in (source, target):
                if ends.size and not 0 <= ends.min() <= ends.max() < pages:
                    raise BadInput(f"a link leads from or to a page that is not in 0 … {pages - 1}")
            kept = source != target
            source, target = source[kept], target[kept]
            links = source.astype(np.int64) * pages + target
            if not np.all(links[1:] > links[:-1]):
                source, target = np.divmod(distinct(links), pages)
            np.add.at(starts, source + 1, 1)
            targets += target.astype(np.int32).tobytes()
        return cls(np.cumsum(starts, out=starts), np.frombuffer(targets, np.int32))

    @property
    def pages(self) -> int:
        return len(self.starts) - 1

    @property
    def links(self) -> int:
        return len(self.targets)

    @property
    def sources(self) -> NDArray[np.int32]:
        """The source of each link, shape (links,)."""
        return np.repeat(np.arange(self.pages, dtype=np.int32), np.diff(self.starts))

    def outlinks(self, page: int) -> NDArray[np.int32]:
        return self.targets[self.starts[page] : self.starts[page + 1]]

    def matrix(self) -> csr_array[np.float64, tuple[int, int]]:
        """Shape (pages, pages); [i, j] is 1 where page i links to page j."""
        from scipy.sparse import csr_array

        starts = self.starts.astype(np.int32) if self.links < 2**31 else self.starts
        shape = (self.pages, self.pages)
        return csr_array((np.ones(self.links), self.targets, starts), shape=shape)


def distinct(values: IntArray) -> IntArray:
    """Each value once, ascending. np.unique has hashed since NumPy 2.3: 7 s for 3 million, not 0.4."""
    ascending = np.sort(values)
    first = np.ones(len(ascending), bool)
    first[1:] = ascending[1:] != ascending[:-1]
    return ascending[first]


def catalog_graph(catalog: Catalog) -> Graph:
    """The graph of all URLs that were fetched or linked to; page number n of the catalog is page n - 1.

    A redirect counts as its page's only link. Links with rel=nofollow do not count.
    """
    with catalog.tables.at_rest():
        parts = ((sources - 1, targets - 1) for sources, targets in catalog.links.arrays())
        return Graph.of_parts(parts, catalog.urls.count())


def check_engine(engine: str) -> None:
    """Raises BadInput: there is no such engine."""
    if engine not in ENGINES:
        raise BadInput(f"no engine {engine!r}: choose one of {', '.join(ENGINES)}")


def backlinks(graph: Graph) -> IntArray:
    """IB, how many pages link to each page, shape (pages,). Source: Cho 1998, 2 (2)."""
    return np.bincount(graph.targets, minlength=graph.pages)


def forward_links(graph: Graph) -> IntArray:
    """IF, how many pages each links to, shape (pages,); 0 if it was not fetched. Source: Cho 1998, 2 (4)."""
    return np.diff(graph.starts)


def pagerank(
    graph: Graph,
    damping: float = DAMPING,
    tolerance: float = 1e-8,
    start: FloatArray | None = None,
    engine: str = "scipy",
) -> FloatArray:
    """PageRank: how often a random surfer visits each page, following links and at times starting anew.

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

    Cost: 32 bytes a page; ln(tolerance) / ln(damping) passes over the links at most, some 3 ms a million.
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
    for _ in range(rounds):
        new = damping * _passed_on(graph, ranks)
        new += 1 - new.mean()  # what no link carried: from surfers who start again, and from dangling pages
        ranks -= new
        change = np.abs(ranks, out=ranks).mean()
        ranks = new
        if change <= enough:
            break
    return ranks


def _passed_on(graph: Graph, ranks: FloatArray) -> FloatArray:
    """What each page gets where all pass their ranks on, in equal shares to those they link to.

    Some links at a time: a matrix has 8 bytes more for each. It is made by its fields, as scipy's way copies
    what is a part of an array.
    """
    from scipy.sparse import csc_array

    begin = np.searchsorted(graph.starts, np.arange(0, graph.links, LINKS_AT_ONCE), side="right") - 1
    end = np.searchsorted(graph.starts, graph.links)  # of the pages that link
    got = np.zeros(graph.pages)
    for first, last in pairwise([*np.unique(begin).tolist(), int(end)]):
        starts = graph.starts[first : last + 1]
        links: Any = csc_array((graph.pages, last - first))
        links.indptr = (starts - starts[0]).astype(np.int32)
        links.indices = graph.targets[starts[0] : starts[-1]]
        links.data = np.ones(len(links.indices))
        got += links @ (ranks[first:last] / np.maximum(np.diff(starts), 1))
    return got


def hits(graph: Graph, engine: str = "scipy") -> tuple[FloatArray, FloatArray]:
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
        new: FloatArray = np.asarray(back @ (links @ authority))
        new /= new.sum()
        change = np.abs(new - authority).sum()
        authority = new
        if change <= HITS_CHANGE:
            break
    hub = np.asarray(links @ authority)
    return hub / hub.sum(), authority


def _networkx_pagerank(
    graph: Graph, damping: float, enough: float, rounds: int, start: FloatArray
) -> FloatArray:
    require("graph", "the engine networkx")
    import networkx  # slow to import, and rarely wanted

    begin = dict(enumerate(start.tolist()))
    shares = networkx.pagerank(
        _to_networkx(graph), damping, nstart=begin, tol=enough / graph.pages, max_iter=rounds + 1
    )
    return _by_page(shares, graph.pages) * graph.pages


def _networkx_hits(graph: Graph) -> tuple[FloatArray, FloatArray]:
    require("graph", "the engine networkx")
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


def _by_page(scores: dict[int, float], pages: int) -> FloatArray:
    return np.fromiter(map(scores.__getitem__, range(pages)), np.float64, pages)
