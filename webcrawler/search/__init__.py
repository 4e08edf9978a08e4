"""Which hits first, and why? Rankings, snippets, and the crawl's own vocabulary.

`Searcher` answers queries over one data folder with `Results`. `engine` finds the pages that satisfy a query
(`masks`) and scores them (`rankings`); `display` makes hits of the best. `related` adds words that the crawl
uses alike.
"""

from webcrawler.search.display import cut_title
from webcrawler.search.engine import SORTS
from webcrawler.search.matches import Part
from webcrawler.search.results import Related, Results, as_dict
from webcrawler.search.searcher import MAX_HITS, Searcher
from webcrawler.search.snippets import Snippets
from webcrawler.search.when import day, seen, span

__all__ = [
    "MAX_HITS",
    "SORTS",
    "Part",
    "Related",
    "Results",
    "Searcher",
    "Snippets",
    "as_dict",
    "cut_title",
    "day",
    "seen",
    "span",
]
