"""Which hits first, and why? Query language, rankings, thesaurus, snippets.

`Searcher` answers queries over one data folder; `Results` is what it gives back. A query (`query`) is matched
and weighed by an engine (`engines`), in page numbers; `folding` and `showing` make hits of the best. A
ranking is a file in `rankings` and a line in its `names`.
"""

from webcrawler.search.results import Related, Results
from webcrawler.search.searcher import Searcher

__all__ = ["Related", "Results", "Searcher"]
