"""Which hits first, and why? Query language, reference domain, rankings, snippets.

`Searcher` answers queries over one data folder; `Results` is what it gives back. A ranking is one file
(`peculiarity`) and a line in `rankings`.
"""

from webcrawler.search.searcher import Results, Searcher

__all__ = ["Results", "Searcher"]
