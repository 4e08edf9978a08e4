"""Which hits first, and why? Rankings, thesaurus, snippets.

`Searcher` answers queries over one data folder; `Results` is what it gives back. A query is matched
and weighed by `engine`, in page numbers; `fold` and `display` make hits of the best. A ranking is a file in
`rankings` and a row in its `registry`.
"""

from webcrawler.search.matches import Part
from webcrawler.search.results import Related, Results, as_dict
from webcrawler.search.searcher import MAX_HITS, Searcher
from webcrawler.search.snippets import Snippets

__all__ = ["MAX_HITS", "Part", "Related", "Results", "Searcher", "Snippets", "as_dict"]
