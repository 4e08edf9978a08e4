"""In which order? Every ranking is one file, and a row in `registry`.

`bm25f` combines the fields of a page and is the default, with `called` for what the page is named by itself
and others, and `feedback` for queries that are sentences;
`hitlists` counts types of hits and how near they stand (GO); `peculiarity` is WC's. `importance` says what
PageRank adds to a score.
"""

from webcrawler.search.rankings.page_importance import importance
from webcrawler.search.rankings.registry import DEFAULT, RANKINGS, Row, make_ranking

__all__ = ["DEFAULT", "RANKINGS", "Row", "importance", "make_ranking"]
