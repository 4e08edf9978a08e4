"""Hubs and authorities: who points to the good pages, and who is pointed to by those that know?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.ranking import engines
from webcrawler.ranking.graph import Graph


def hits(graph: Graph, engine: str = "scipy") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The hub and the authority of each page: h = A·a, a = Aᵀ·h, from all pages alike.

    Args:
        engine: "scipy", or "networkx" as a check (which cannot do a graph without links).
    Returns:
        Two arrays of shape (pages,), each sums to 1; without any link all pages are alike.
    Raises:
        BadInput: an unknown engine.

    Weakness: the densest cluster takes all; what is not connected with it gets 0.

    Source: Kleinberg 1999, "Authoritative sources in a hyperlinked environment"; Mengozzi, "Page importance".
    """
    engines.check(engine)
    if not graph.links:
        alike = np.full(graph.pages, 1 / max(graph.pages, 1))
        return alike, alike.copy()
    if engine == "networkx":
        import networkx

        hubs, authorities = networkx.hits(engines.to_networkx(graph))
        return engines.by_page(hubs, graph.pages), engines.by_page(authorities, graph.pages)
    from scipy.sparse.linalg import LinearOperator, eigsh  # slow to import, and nothing else here wants it

    links = graph.matrix()
    twice = LinearOperator(links.shape, matvec=lambda a: np.asarray(links.T @ (links @ a)), dtype=np.float64)
    _, vectors = eigsh(twice, k=1, v0=np.ones(graph.pages))  # Lanczos: far fewer rounds than by powers
    authority = np.abs(vectors[:, 0])
    hub = np.asarray(links @ authority)
    return hub / hub.sum(), authority / authority.sum()
