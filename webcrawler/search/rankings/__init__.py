"""In which order? A ranking is a file, and a row in `registry`.

`bm25f`, the default, combines the fields of a page with what the page is called by itself and by others, and
`feedback` adds to it for queries that are sentences. `hitlists` counts types of hits and how near each other
they stand (GO); `peculiarity` is WC's. `weights` holds what they share.
"""

from webcrawler.search.rankings.registry import DEFAULT, RANKINGS, Row, make_ranking
from webcrawler.search.rankings.weights import importance

__all__ = ["DEFAULT", "RANKINGS", "Row", "importance", "make_ranking"]
