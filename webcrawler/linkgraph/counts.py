"""The counts of Cho 1998, 2: how many pages link here (2), how many are linked to from here (4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.linkgraph.graph import Graph


def backlinks(graph: Graph) -> NDArray[np.int64]:
    """IB: shape (pages,)."""
    return np.bincount(graph.targets, minlength=graph.pages)


def forward_links(graph: Graph) -> NDArray[np.int64]:
    """IF: shape (pages,); 0 also for what was never fetched."""
    return np.diff(graph.starts)
