"""Which words does the crawl know? A view: how they are spelled, which go together, what one may be typing.

`load` gives the `Vocabulary` of a data folder. It is made by `lexicographer`, a process beside the crawls:
`collecting` reads the catalog server by server, `thesaurus`, `phrases` and `building` make lists of it,
`stored` puts them in the place of the old ones; `spelling` and `completing` answer from them.
"""

from webcrawler.search.vocabulary.lexicographer import remake, wait_until_made
from webcrawler.search.vocabulary.stored import load
from webcrawler.search.vocabulary.vocabulary import Vocabulary

__all__ = ["Vocabulary", "load", "remake", "wait_until_made"]
