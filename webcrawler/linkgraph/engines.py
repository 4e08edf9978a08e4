"""The same arithmetic by another library, under its name: a check, and a choice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import BadInput
from webcrawler.linkgraph.graph import Graph

ENGINES = ("scipy", "networkx")


def check(engine: str) -> None:
    """Raises BadInput: there is no such engine."""
    if engine not in ENGINES:
        raise BadInput(f"no engine {engine!r}: choose one of {', '.join(ENGINES)}")


def to_networkx(graph: Graph) -> Any:
    """As a DiGraph, page numbers for nodes; some 300 bytes a link."""
    import networkx  # slow to import, and rarely wanted

    nodes: Any = networkx.DiGraph()
    nodes.add_nodes_from(range(graph.pages))
    nodes.add_edges_from(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    return nodes


def by_page(scores: dict[int, float], pages: int) -> NDArray[np.float64]:
    return np.fromiter(map(scores.__getitem__, range(pages)), np.float64, pages)
