"""Which words does the crawl know, how are they spelled, which go together, and what may a person be typing?

`load` gives the `Vocabulary` of a data folder. `builder` makes it, a process beside the crawls: `documents`
reads the catalog, and the lists of `spelling`, `thesaurus` and `completions` are made of what it collects.
"""

from webcrawler.search.vocabulary.builder import VocabularyRenewal, remake, wait_until_made
from webcrawler.search.vocabulary.spelling import Correction
from webcrawler.search.vocabulary.stored import Vocabulary, load

__all__ = ["Correction", "Vocabulary", "VocabularyRenewal", "load", "remake", "wait_until_made"]
