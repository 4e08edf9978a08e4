"""Which words does the crawl know, how are they spelled, which go together, and what may a person be typing?

`load` gives the `Vocabulary` of a data folder, which is made as one of its views: `documents` reads the
catalog, and the lists of words, `thesaurus` and `completions` are made of what it collects.
"""

from __future__ import annotations

import time
from contextlib import closing, nullcontext
from pathlib import Path

import numpy as np

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.background import Renewal, Views
from webcrawler.search.vocabulary.completions import suggested
from webcrawler.search.vocabulary.documents import Collected
from webcrawler.search.vocabulary.stored import (
    NAME,
    Correction,
    Lists,
    Vocabulary,
    Words,
    load,
    store,
    stored_seq,
)
from webcrawler.search.vocabulary.thesaurus import thesaurus
from webcrawler.text import listed

__all__ = ["NAME", "Correction", "Vocabulary", "VocabularyRenewal", "load", "remake", "wait_until_made"]

GROWTH = 1.2
FIRST_SECONDS = 600.0  # most crawls are over by then; the index waits while it is made, some 3 ms a document
WORDS = 100_000  # the most frequent
FOLDER = "vocabulary"


class VocabularyRenewal(Renewal):
    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog, self._folder = catalog, folder
        super().__init__(catalog.last_seq, stored_seq(folder, catalog.identity), GROWTH, FIRST_SECONDS)

    def make(self, seq: int) -> str:
        store(self._folder, build(self._catalog, seq), seq, self._catalog.identity)
        return "the vocabulary"


def make(catalog: Catalog, folder: Path) -> None:
    """Put a new vocabulary in the place of the one that is there.

    Raises:
        OSError: it cannot be stored; the old one stays.
    """
    VocabularyRenewal(catalog, folder).make(catalog.last_seq())


def build(catalog: Catalog, until: int) -> Lists:
    """Make the vocabulary of the documents of the changes up to that seq."""
    english = listed("en")
    collected = Collected(catalog, until)
    spelled, documents = list(collected.numbers), np.array(collected.documents, np.int32)
    chosen = np.argsort(-documents, kind="stable")[:WORDS]
    often = {spelled[word]: int(documents[word]) * collected.step for word in chosen.tolist()}
    words = sorted(english.keys() | often.keys())
    counts = np.array([often.get(word, 0) for word in words], np.int32)
    known = Words(words, counts, np.array([word in english for word in words], bool))
    return Lists(known, thesaurus(collected), suggested(collected, english, catalog))


def wait_until_made(crawl_dir: Path) -> None:
    """Wait until there is a vocabulary of what the catalog had at the call; make it where nobody does.

    Raises:
        OSError: it cannot be stored.
    """
    folder = crawl_dir / FOLDER
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        last = catalog.last_seq()
        while stored_seq(folder, catalog.identity) < last:
            with Views(crawl_dir).lock() or nullcontext() as held:
                if held:
                    make(catalog, folder)
                else:
                    time.sleep(clock.COMPANION_POLL_SECONDS)


def remake(crawl_dir: Path) -> None:
    """Make a vocabulary even if there is one; searchers have the old one until it is complete.

    Raises:
        OSError: it cannot be stored.
    """
    with (
        Views(crawl_dir).take_over(),
        closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog,
    ):
        make(catalog, crawl_dir / FOLDER)
