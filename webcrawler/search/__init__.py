"""Which hits first, and why? Rankings, snippets, and the crawl's own vocabulary.

`Searcher` answers a `Question` over one data folder with `Results`; `Answering` is what it shares with those
who answer from elsewhere. `corrections` finds other words for a query; `engine` finds the pages that satisfy
it (`masks`), scores them (`rankings`) and lowers some; `display` makes hits of the best, with what is `shown`
of them.
"""

from webcrawler.search.answering import DEADLINE_SECONDS, MAX_HITS, Answering
from webcrawler.search.display import cut_title
from webcrawler.search.engine import CHANGED, CRAWLED, SORTS, Answer, Engine, Question, lexicon_of
from webcrawler.search.masks import FIELDS, PART, Matched, all_words
from webcrawler.search.matches import HALF, Part
from webcrawler.search.opened import BEGINNING_BYTES, Opened
from webcrawler.search.results import (
    MOST,
    SERVERS,
    SINCE,
    Count,
    Related,
    Results,
    as_dict,
    day,
    seen,
    site_of,
    span,
)
from webcrawler.search.searcher import Searcher
from webcrawler.search.shown import Listed, Seen, title_of
from webcrawler.search.snippets import Snippets

__all__ = [
    "BEGINNING_BYTES",
    "CHANGED",
    "CRAWLED",
    "DEADLINE_SECONDS",
    "FIELDS",
    "HALF",
    "MAX_HITS",
    "MOST",
    "PART",
    "SERVERS",
    "SINCE",
    "SORTS",
    "Answer",
    "Answering",
    "Count",
    "Engine",
    "Listed",
    "Matched",
    "Opened",
    "Part",
    "Question",
    "Related",
    "Results",
    "Searcher",
    "Seen",
    "Snippets",
    "all_words",
    "as_dict",
    "cut_title",
    "day",
    "lexicon_of",
    "seen",
    "site_of",
    "span",
    "title_of",
]
