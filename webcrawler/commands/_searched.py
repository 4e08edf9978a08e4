"""What `search` and `serve` ask: the index of the data folder, or the cluster of SEARCH_URL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from webcrawler.errors import require

if TYPE_CHECKING:  # slow to import
    from webcrawler.search import Answering

PATIENCE_SECONDS = 10.0  # a person has typed a command, and nobody else waits


def cluster_searcher(url: str, crawl_dir: Path) -> Answering:
    """Make what searches a cluster.

    Raises:
        BadInput: the URL is not valid, or a library is missing.
    """
    require("opensearch", "SEARCH_URL")
    from webcrawler.opensearch import ClusterSearcher

    return ClusterSearcher(url, crawl_dir, deadline_seconds=PATIENCE_SECONDS)
