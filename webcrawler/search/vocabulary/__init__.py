"""Which words does the crawl know? A view: how they are spelled, which go together, what one may be typing.

`load` gives the `Vocabulary` of a data folder. It is made by `builder`, a process beside the crawls:
`documents` reads the catalog server by server, `build`, `thesaurus` and `suggestions` make lists of it, and
`stored` puts them in the place of the old ones. `spelling` and `completions` answer from them.
"""

from webcrawler.search.vocabulary.builder import remake, wait_until_made
from webcrawler.search.vocabulary.stored import load
from webcrawler.search.vocabulary.vocabulary import Vocabulary

__all__ = ["Vocabulary", "load", "remake", "wait_until_made"]
