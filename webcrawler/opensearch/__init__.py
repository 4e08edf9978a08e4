"""What does a cluster of OpenSearch hold of all folders, and what does it answer?

Not for one machine: its index is Whoosh's, and stays so unless SINK_URL or SEARCH_URL is set. Pages are sent
with our own terms and hit lists: the cluster finds the pages that our index finds, and our rankings put them
in order.
"""

from webcrawler.opensearch.client import Cluster
from webcrawler.opensearch.refused import read as refused
from webcrawler.opensearch.searcher import ClusterSearcher
from webcrawler.opensearch.status import status, write_anew
from webcrawler.opensearch.view import Sinking

__all__ = ["Cluster", "ClusterSearcher", "Sinking", "refused", "status", "write_anew"]
