"""Which hits first, and why? Rankings, snippets, and the crawl's own vocabulary.

`Searcher` answers a `Question` over one data folder with `Results`. `corrections` finds other words for a
query; `engine` finds the pages that satisfy it (`masks`), scores them (`rankings`) and lowers some;
`display` makes hits of the best.
"""

from webcrawler.search.answering import MAX_HITS, Answering
from webcrawler.search.display import cut_title
from webcrawler.search.engine import SORTS, Question
from webcrawler.search.matches import Part
from webcrawler.search.results import Related, Results, as_dict, day, seen, span
from webcrawler.search.searcher import Searcher
from webcrawler.search.snippets import Snippets

__all__ = [
    "MAX_HITS",
    "SORTS",
    "Answering",
    "Part",
    "Question",
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
